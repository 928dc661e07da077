#include "load/rate/rate.h"
#include "base/caller.h"
#include "base/clock.h"
#include "base/host/host.h"
#include "base/log.h"
#include "load/rate/rate_step.h"
#include "server/chunks/config.h"
#include "server/server_load.h"

#include <math.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const int64_t ROUND_NS = 500000000, PATIENCE_NS = 1000000000;

/* A look at so many reads, or at what a round brought, is believed to so much. */
static const double HALF_BELIEVED_READS = 100, ROUND_WEIGHT = 0.4;

/* Of a server's cores, what counts as free also where nothing is. */
static const double LEAST_FREE = 0.1;

enum { DESCRIPTORS_A_SHARD = 32 };

/* A server that is asked. */
typedef struct {
    char name[128]; /* of the shard; empty: the target itself */
    server_t *server;
    mongoc_client_t *client; /* NULL: it does not tell */
    server_load_sample_t before;
    double cores;
    rate_step_usual_t reads, cpu; /* microseconds of one; cores busy */
    server_load_t strain;
} source_t;

/* Where batches go: numbered as in throttle. */
typedef struct {
    rate_step_t pace;
    rate_step_usual_t batches; /* nanoseconds a document */
    double documents;          /* of a batch */
    const source_t *source;    /* of a shard */
    int sign;                  /* by which it slowed down the last time */
    bool at_work;              /* in the last round */
} collection_t;

/* What threads waited for, by the sign that told them to. */
typedef struct {
    int64_t waited_ns;
    double pressure;
    char words[256]; /* of the worst moment */
} blame_t;

enum { BLAME_BATCHES = SERVER_LOAD_SIGNS, BLAME_START, BLAMES };

struct polite {
    rate_options_t options;
    throttle_t *throttle;
    source_t *sources;
    size_t source_count;
    collection_t *places;
    size_t collection_count; /* that were there in the last round */
    blame_t blames[BLAMES];
    pthread_t thread;
    pthread_mutex_t lock;
    pthread_cond_t ending;
    bool started, ends;
};

/* ---- the servers ---- */

/* The first look: may it be asked at all? */
static bool open_source(source_t *source, err_t *err) {
    bson_error_t error;
    rate_step_learn_init(&source->reads);
    rate_step_learn_init(&source->cpu);
    if (!source->server || !(source->client = server_take(source->server, err)))
        return false; /* err: why it is not there */
    if (server_load_ask(source->client, &source->before, &error)) {
        source->cores = server_load_cores(source->client);
        return true;
    }
    server_give(source->server, source->client);
    source->client = NULL;
    return err_set(err, STATUS_SERVER, "%s", server_load_refusal(&error));
}

/* Whoever does not tell is told of, the first by name. */
static void tell_of_silence(const rate_t *polite, const source_t *first, size_t silent, const char *why) {
    char others[32] = "";
    bool shard = first->name[0];
    if (silent > 1)
        snprintf(others, sizeof others, " and %zu more", silent - 1);
    log_note("%s%s%s will not say how hard %s at work (%s): --polite goes by the time that batches take%s",
             shard ? "the shard " : "the server", first->name, others, silent > 1 ? "they are" : "it is", why,
             silent < polite->source_count ? " there" : "");
}

/* The shards, as far as they let us in. A router tells of nobody but itself. */
static bool open_shards(rate_t *polite, mongoc_client_t *client, err_t *err) {
    server_t *server = polite->options.server;
    const source_t *first = NULL;
    config_list_t shards;
    bson_t all = BSON_INITIALIZER;
    err_t why;
    size_t silent = 0;
    bool hidden = false;
    if (!config_find(server, client, "shards", &all, NULL, &shards, &hidden, &why)) {
        log_note("the cluster's shards are not known (%s): --polite goes by the time that batches take",
                 hidden ? "this user may not read its config database; the role clusterMonitor would do"
                        : why.text);
        return true;
    }
    polite->sources = calloc(shards.count + 1, sizeof *polite->sources);
    bool ok = polite->sources != NULL || err_memory(err, shards.count * sizeof *polite->sources);
    /* the driver watches each member with two connections more */
    ok = ok && host_want_descriptors(polite->options.threads * 3 + shards.count * DESCRIPTORS_A_SHARD, err);
    for (size_t i = 0; ok && i < shards.count; i++) {
        bson_iter_t id;
        err_t this;
        if (!bson_iter_init_find(&id, shards.documents[i], "_id") || !BSON_ITER_HOLDS_UTF8(&id))
            continue;
        source_t *source = &polite->sources[polite->source_count++];
        snprintf(source->name, sizeof source->name, "%s", bson_iter_utf8(&id, NULL));
        source->server = config_open_shard(server, &shards, source->name, 1, PATIENCE_NS, &this);
        if (!open_source(source, &this) && !silent++) {
            first = source;
            why = this;
        }
    }
    if (silent)
        tell_of_silence(polite, first, silent, why.text);
    config_free(&shards);
    return ok;
}

static bool open_server(rate_t *polite, err_t *err) {
    err_t why;
    if (!(polite->sources = calloc(1, sizeof *polite->sources)))
        return err_memory(err, sizeof *polite->sources);
    polite->source_count = 1;
    polite->sources->server = polite->options.server;
    if (!open_source(polite->sources, &why))
        tell_of_silence(polite, polite->sources, 1, why.text);
    return true;
}

/* ---- twice a second ---- */

/* Is the load as good as not there, as far as this server is concerned? */
static bool is_alone(const rate_t *polite, const source_t *source) {
    for (size_t i = 0; i < polite->collection_count; i++) {
        const collection_t *place = &polite->places[i];
        if (place->at_work && (!place->source || place->source == source) &&
            place->pace.limit > 2 * RATE_STEP_LEAST)
            return false;
    }
    return true;
}

static void look_at(const rate_t *polite, source_t *source) {
    server_load_sample_t now;
    bson_error_t error;
    source->strain = (server_load_t){.pressure = 0};
    if (!source->client || !server_load_ask(source->client, &now, &error))
        return;
    double reads, read_us = server_load_read_us(&source->before, &now, &reads);
    const bool alone = is_alone(polite, source);
    rate_step_learn(&source->reads, read_us, reads / (reads + HALF_BELIEVED_READS), alone);
    rate_step_learn(&source->cpu, server_load_busy_cores(&source->before, &now), ROUND_WEIGHT, alone);
    const double free_cores = fmax(source->cores - source->cpu.usual, source->cores * LEAST_FREE);
    const server_load_compared_t compared = {rate_step_times(&source->reads),
                                             (source->cpu.now - source->cpu.usual) /
                                                 server_load_spare(free_cores)};
    source->strain = server_load_judge(&source->before, &now, &compared);
    source->before = now;
}

/* The shard that a place is; NULL: whatever a router makes of it, or the only server. */
static const source_t *source_of(rate_t *polite, const chunkmap_t *map, size_t place) {
    const char *name = map && place ? chunkmap_shard_name(map, place - 1) : NULL;
    const source_t *known = polite->places[place].source;
    if (!name || (known && strcmp(known->name, name) == 0))
        return known;
    for (size_t i = 0; i < polite->source_count; i++)
        if (strcmp(polite->sources[i].name, name) == 0)
            return polite->places[place].source = &polite->sources[i];
    return NULL;
}

/* Of a place that no one shard stands behind: the worst of all. */
static const source_t *worst(const rate_t *polite) {
    const source_t *found = NULL;
    for (size_t i = 0; i < polite->source_count; i++)
        if (!found || polite->sources[i].strain.pressure > found->strain.pressure)
            found = &polite->sources[i];
    return found;
}

/* How many times as long as usual the batches of a place take. */
static double judge_batches(collection_t *place, const throttle_figures_t *figures) {
    if (figures->batches) {
        double documents = (double)figures->documents / (double)figures->batches;
        /* the command itself costs something: batches that were cut short are not to be compared */
        if (documents >= place->documents / 2)
            rate_step_learn(&place->batches, (double)figures->under_way_ns / (double)figures->documents,
                            ROUND_WEIGHT, place->pace.limit <= 1);
        place->documents = fmax(documents, place->documents);
        return rate_step_times(&place->batches);
    }
    double since = (double)figures->silent_ns / (place->documents * place->batches.usual);
    return fmax(since, rate_step_times(&place->batches));
}

static void blame(blame_t *one, double pressure, const source_t *source, const char *words) {
    if (pressure < one->pressure)
        return;
    bool named = source && source->name[0];
    one->pressure = pressure;
    snprintf(one->words, sizeof one->words, "%s%s%s", named ? source->name : "", named ? ": " : "", words);
}

static void step(rate_t *polite, size_t number, const source_t *source) {
    static const server_load_t none = {.pressure = 0};
    collection_t *place = &polite->places[number];
    throttle_figures_t figures = throttle_take(polite->throttle, number);
    const server_load_t *strain = source ? &source->strain : &none;
    polite->blames[place->sign].waited_ns += figures.waited_ns;
    place->at_work = figures.batches || figures.silent_ns || figures.waiting;
    if (!place->at_work && place->pace.limit > 0)
        return;
    double times = judge_batches(place, &figures), by_batches = rate_step_batches(times);
    bool by_server = strain->pressure >= by_batches;
    char words[80];
    snprintf(words, sizeof words, "batches take %.1f times as long as one alone", times);
    if (rate_step_step(&place->pace, by_server ? strain->pressure : by_batches)) {
        place->sign = by_server ? strain->sign : BLAME_BATCHES;
        blame(&polite->blames[place->sign], by_server ? strain->pressure : by_batches,
              by_server ? source : place->source, by_server ? strain->reason : words);
        log_detail("polite: %s%s%s; %.2f batches at once from now on", source ? source->name : "",
                   source && source->name[0] ? ": " : "", by_server ? strain->reason : words,
                   place->pace.limit);
    }
    throttle_limit(polite->throttle, number, place->pace.limit);
}

static void look_around(rate_t *polite) {
    for (size_t i = 0; i < polite->source_count; i++)
        look_at(polite, &polite->sources[i]);
    chunkmap_t *map = polite->options.route ? route_map(polite->options.route) : NULL;
    polite->collection_count = 1 + (map ? chunkmap_shards(map) : 0);
    if (polite->collection_count > polite->options.places)
        polite->collection_count = polite->options.places;
    for (size_t i = 0; i < polite->collection_count; i++)
        step(polite, i, i ? source_of(polite, map, i) : worst(polite));
    chunkmap_free(map);
}

static void *run(void *context) {
    rate_t *polite = context;
    int64_t due = clock_now_ns();
    pthread_mutex_lock(&polite->lock);
    while (!polite->ends) {
        int64_t now = clock_now_ns();
        due = due + ROUND_NS > now ? due + ROUND_NS : now + ROUND_NS / 2;
        struct timespec until = clock_to_timespec(due);
        while (!polite->ends && pthread_cond_timedwait(&polite->ending, &polite->lock, &until) == 0)
            ;
        if (polite->ends)
            break;
        pthread_mutex_unlock(&polite->lock);
        look_around(polite);
        pthread_mutex_lock(&polite->lock);
    }
    pthread_mutex_unlock(&polite->lock);
    return NULL;
}

/* ---- from start to end ---- */

static void init_lock(rate_t *polite) {
    pthread_condattr_t monotonic;
    pthread_condattr_init(&monotonic);
    pthread_condattr_setclock(&monotonic, CLOCK_MONOTONIC);
    pthread_mutex_init(&polite->lock, NULL);
    pthread_cond_init(&polite->ending, &monotonic);
    pthread_condattr_destroy(&monotonic);
}

rate_t *rate_open(const rate_options_t *options, throttle_t *throttle, mongoc_client_t *client, err_t *err) {
    rate_t *polite = calloc(1, sizeof *polite);
    if (!polite) {
        err_memory(err, sizeof *polite);
        return NULL;
    }
    polite->options = *options;
    polite->throttle = throttle;
    init_lock(polite);
    polite->places = calloc(options->places, sizeof *polite->places);
    bool ok = polite->places || err_memory(err, options->places * sizeof *polite->places);
    for (size_t i = 0; ok && i < options->places; i++) {
        polite->places[i] = (collection_t){.pace = rate_step_begin(options->threads), .sign = BLAME_START};
        rate_step_learn_init(&polite->places[i].batches);
    }
    blame(&polite->blames[BLAME_START], 0, NULL, "it began slowly");
    ok = ok && (server_facts(options->server)->kind == SERVER_ROUTER ? open_shards(polite, client, err)
                                                                     : open_server(polite, err));
    if (ok && caller_start_thread(&polite->thread, run, polite) != 0)
        ok = err_set(err, STATUS_HOST, "no more threads can be made; lower --threads");
    polite->started = ok;
    if (ok)
        return polite;
    rate_close(polite, NULL, 0);
    return NULL;
}

static void free_source(const rate_t *polite, source_t *source) {
    if (source->client)
        server_give(source->server, source->client);
    if (source->server != polite->options.server)
        server_destroy(source->server);
}

void rate_close(rate_t *polite, char *why, size_t size) {
    const blame_t *most = NULL;
    if (!polite)
        return;
    if (polite->started) {
        pthread_mutex_lock(&polite->lock);
        polite->ends = true;
        pthread_cond_signal(&polite->ending);
        pthread_mutex_unlock(&polite->lock);
        pthread_join(polite->thread, NULL);
    }
    for (size_t i = 0; polite->started && i < polite->options.places; i++)
        polite->blames[polite->places[i].sign].waited_ns += throttle_take(polite->throttle, i).waited_ns;
    for (size_t i = 0; i < BLAMES; i++)
        if (polite->blames[i].waited_ns && (!most || polite->blames[i].waited_ns > most->waited_ns))
            most = &polite->blames[i];
    if (size)
        snprintf(why, size, "%s", most ? most->words : "");
    for (size_t i = 0; i < polite->source_count; i++)
        free_source(polite, &polite->sources[i]);
    free(polite->sources);
    free(polite->places);
    pthread_mutex_destroy(&polite->lock);
    pthread_cond_destroy(&polite->ending);
    free(polite);
}
