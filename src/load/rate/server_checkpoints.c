#include "load/rate/server_checkpoints.h"
#include "base/clock.h"
#include "base/log.h"
#include "server/bson_read.h"
#include "server/server.h"

#include <math.h>
#include <pthread.h>
#include <stdlib.h>

static const int64_t EVERY_NS = 1000000000;

/* A server that is slow to answer is left alone. */
enum { CONNECT_MS = 1000, ANSWER_MS = 2000 };

struct server_checkpoints_watch {
    mongoc_uri_t *uri;
    int64_t origin_ns;
    server_checkpoints_t found;
    pthread_t thread;
    pthread_mutex_t lock;
    pthread_cond_t ending;
    bool ends;
};

/* ---- what the server says: its fields have moved with 7.0 ---- */

bool server_checkpoints_read(const bson_t *status, int64_t at_ns, flush_sample_t *sample) {
    static const struct {
        const char *running, *number, *recent;
    } places[] = {{"wiredTiger.transaction.transaction checkpoint currently running",
                   "wiredTiger.transaction.transaction checkpoint generation",
                   "wiredTiger.transaction.transaction checkpoint most recent time (msecs)"},
                  {"wiredTiger.checkpoint.progress state", "wiredTiger.checkpoint.generation",
                   "wiredTiger.checkpoint.most recent time (msecs)"}};
    for (size_t i = 0; i < sizeof places / sizeof *places; i++) {
        *sample = (flush_sample_t){.at_ns = at_ns,
                                   .running = bson_read_number(status, places[i].running) > 0,
                                   .number = bson_read_number(status, places[i].number),
                                   .recent_ms = bson_read_number(status, places[i].recent)};
        if (!isnan(sample->number) && !isnan(sample->recent_ms))
            return true;
    }
    return false;
}

static void add(server_checkpoints_t *flushes, int64_t began_ns, int64_t ended_ns) {
    if (flushes->count < SERVER_CHECKPOINTS_MOST)
        flushes->items[flushes->count++] = (flush_t){began_ns > 0 ? began_ns : 0, ended_ns};
}

void server_checkpoints_compare(server_checkpoints_t *flushes, const flush_sample_t *before,
                                const flush_sample_t *now) {
    const bool another = now->number > before->number, anew = now->number < before->number;
    const bool ended = now->running ? before->running && another : before->running || another;
    if (anew || !ended)
        return;
    const int64_t ended_ns = before->at_ns + (now->at_ns - before->at_ns) / 2;
    int64_t began_ns = ended_ns - (int64_t)(now->recent_ms * 1e6);
    if (before->running && began_ns > before->at_ns)
        began_ns = before->at_ns;
    add(flushes, began_ns, ended_ns);
}

/* ---- asking ---- */

static mongoc_client_t *connect_to(const mongoc_uri_t *uri) {
    mongoc_client_t *client = mongoc_client_new_from_uri(uri);
    if (client)
        mongoc_client_set_error_api(client, MONGOC_ERROR_API_VERSION_2);
    return client;
}

static bool ask(mongoc_client_t *client, int64_t origin_ns, flush_sample_t *sample, bson_error_t *error) {
    bson_t reply;
    error->code = 0;
    const bool ok = server_load_status(client, &reply, error) &&
                    server_checkpoints_read(&reply, clock_now_ns() - origin_ns, sample);
    bson_destroy(&reply);
    return ok;
}

typedef struct {
    flush_sample_t last;
    int64_t since_ns; /* the checkpoint under way in it, if there is one, was seen first then */
    bool any, answered;
} looks_t;

/* False: it is over. */
static bool wait_until(server_checkpoints_watch_t *watch, int64_t ns) {
    const struct timespec deadline = clock_to_timespec(ns);
    pthread_mutex_lock(&watch->lock);
    while (!watch->ends && pthread_cond_timedwait(&watch->ending, &watch->lock, &deadline) == 0)
        ;
    const bool goes_on = !watch->ends;
    pthread_mutex_unlock(&watch->lock);
    return goes_on;
}

/* Takes one look; false: no answer, or none that tells. */
static bool look(server_checkpoints_watch_t *watch, mongoc_client_t *client, looks_t *looks,
                 bson_error_t *error) {
    flush_sample_t now;
    looks->answered = ask(client, watch->origin_ns, &now, error);
    if (!looks->answered)
        return false;
    if (looks->any)
        server_checkpoints_compare(&watch->found, &looks->last, &now);
    if (!looks->any || !looks->last.running || now.number > looks->last.number)
        looks->since_ns = now.at_ns;
    looks->last = now;
    return watch->found.known = looks->any = true;
}

static void *run(void *context) {
    server_checkpoints_watch_t *watch = context;
    mongoc_client_t *client = connect_to(watch->uri);
    looks_t looks = {.any = false};
    bson_error_t error;
    for (bool goes_on = client != NULL; goes_on;) {
        const int64_t began_ns = clock_now_ns();
        /* it may not be asked, or has another storage engine; one that is away for a while comes back */
        if (!look(watch, client, &looks, &error) && (!looks.any || error.domain == MONGOC_ERROR_SERVER))
            break;
        goes_on = wait_until(watch, began_ns + EVERY_NS);
    }
    if (looks.answered && look(watch, client, &looks, &error) && looks.last.running)
        add(&watch->found, looks.since_ns, looks.last.at_ns);
    if (client)
        mongoc_client_destroy(client);
    return NULL;
}

/* ---- from the load's thread ---- */

static void free_watch(server_checkpoints_watch_t *watch) {
    mongoc_uri_destroy(watch->uri);
    pthread_cond_destroy(&watch->ending);
    pthread_mutex_destroy(&watch->lock);
    free(watch);
}

server_checkpoints_watch_t *server_checkpoints_start(const server_t *server, int64_t origin_ns) {
    if (server_facts(server)->kind == SERVER_ROUTER)
        return NULL;
    server_checkpoints_watch_t *watch = calloc(1, sizeof *watch);
    pthread_condattr_t attributes;
    if (!watch)
        return NULL;
    watch->origin_ns = origin_ns;
    watch->uri = mongoc_uri_copy(server_address(server)->uri);
    mongoc_uri_set_option_as_int32(watch->uri, MONGOC_URI_CONNECTTIMEOUTMS, CONNECT_MS);
    mongoc_uri_set_option_as_int32(watch->uri, MONGOC_URI_SERVERSELECTIONTIMEOUTMS, CONNECT_MS);
    mongoc_uri_set_option_as_int32(watch->uri, MONGOC_URI_SOCKETTIMEOUTMS, ANSWER_MS);
    pthread_mutex_init(&watch->lock, NULL);
    pthread_condattr_init(&attributes);
    pthread_condattr_setclock(&attributes, CLOCK_MONOTONIC);
    pthread_cond_init(&watch->ending, &attributes);
    pthread_condattr_destroy(&attributes);
    if (caller_start_thread(&watch->thread, run, watch) == 0)
        return watch;
    free_watch(watch);
    return NULL;
}

void server_checkpoints_stop(server_checkpoints_watch_t *watch, server_checkpoints_t *found) {
    if (!watch)
        return;
    pthread_mutex_lock(&watch->lock);
    watch->ends = true;
    pthread_cond_signal(&watch->ending);
    pthread_mutex_unlock(&watch->lock);
    pthread_join(watch->thread, NULL);
    *found = watch->found;
    if (!found->known)
        log_detail("the server does not tell of its checkpoints");
    free_watch(watch);
}
