/* clients: one round of one measure. All clients start at once, and send until they have sent enough, the time is over, or a
 * signal comes. Each writes into a tally_t of its own; these are added up when all have ended. */
#include "base/clock.h"
#include "base/conceal.h"
#include "base/numbers.h"
#include "base/stop.h"
#include "base/text.h"
#include "query/query.h"
#include "server/server.h"

#include <math.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

static const int64_t LATE_NS = 1000000, NAP_NS = 100000000; /* a signal is noticed after a nap */

typedef struct {
    const clients_round_t *round;
    const measure_t *measure;
    server_t *server;
    int64_t ended_ns; /* when the schedule of the round has ended, from the round's beginning */
    pthread_mutex_t lock;
    pthread_cond_t opened;
    bool open;
    /* of an open loop: the schedule from its beginning, and what of it is still to come */
    arrivals_t schedule, arrivals;
    _Atomic(answer_t *) first; /* keeps the first answer; NULL: a client has it, or none is kept */
    _Atomic bool ends;         /* a thread could not be made */
    int64_t began_ns;
} crew_t;

typedef struct {
    crew_t *crew;
    mongoc_client_t *client;
    pthread_t thread;
    uint64_t chance;
    tally_t found;
} sender_t;

static void nap_until(int64_t when_ns) {
    for (int64_t now; (now = clock_now_ns()) < when_ns && !stop_signal();) {
        const int64_t left = when_ns - now < NAP_NS ? when_ns - now : NAP_NS;
        nanosleep(&(struct timespec){.tv_nsec = left}, NULL);
    }
}

/* The driver looks for a server whose connection broke only a second later, and until then says of each request why it
 * broke. False: the patience is over, or a signal came; why has the sentence. */
static bool wait_for_server(const sender_t *sender, const request_t *request, err_t *why) {
    server_t *server = sender->crew->server;
    const mongoc_read_prefs_t *prefs =
        request->prefs ? request->prefs : mongoc_client_get_read_prefs(sender->client);
    bson_t *ping = BCON_NEW("ping", BCON_INT32(1));
    patience_t patience = server_patience(server);
    bson_error_t error;
    bool answers, again;
    do {
        answers = mongoc_client_command_simple(sender->client, "admin", ping, prefs, NULL, &error);
        again = !answers && server_again(server, sender->client, &patience, &error, NULL,
                                         "see whether the server answers", why);
    } while (again);
    bson_destroy(ping);
    return answers;
}

static const request_t *choose(sender_t *sender) {
    const work_t *work = sender->crew->measure->work;
    return &work->requests[work->count == 1
                               ? 0
                               : (uint64_t)(((__uint128_t)chance_next(&sender->chance) * work->count) >> 64)];
}

static void count_answer(sender_t *sender, const request_t *request, uint64_t documents, int64_t due_ns,
                         int64_t sent_ns, int64_t now_ns) {
    const crew_t *crew = sender->crew;
    tally_t *found = &sender->found;
    const int64_t latency_ns = now_ns - due_ns, lag_ns = sent_ns - due_ns;
    double examined = isnan(request->documents)
                          ? (double)documents
                          : fmin(request->documents, crew->measure->work->all_documents);
    if (isinf(examined) || request->documents < 0) /* all documents of a view: their number is not known */
        examined = NAN;
    hist_add(&found->latency, latency_ns);
    hist_add(&found->service, now_ns - sent_ns);
    course_add(&found->course, crew->measure->elapsed_ns + now_ns - crew->began_ns, latency_ns);
    moments_add(&found->lag, (double)lag_ns);
    found->most_lag_ns = fmax(found->most_lag_ns, (double)lag_ns);
    moments_add(&found->per_ms, examined * 1e6 / (double)(latency_ns ? latency_ns : 1));
    found->returned += documents;
    found->empty += !documents;
    found->late += lag_ns > LATE_NS;
}

/* Sends the request that is due, and counts its answer. False: this client ends. */
static bool send_one(sender_t *sender, int64_t due_ns) {
    crew_t *crew = sender->crew;
    tally_t *found = &sender->found;
    const request_t *request = choose(sender);
    answer_t counted = {.keep = false}, *first = atomic_exchange(&crew->first, NULL);
    bson_error_t error;
    err_t why;
    const int64_t sent_ns = crew->round->rate > 0 ? clock_now_ns() : due_ns,
                  until_ns = crew->round->timeout_ns ? sent_ns + crew->round->timeout_ns : INT64_MAX;
    const bool ok = request_send(request, sender->client, first ? first : &counted, until_ns, &error);
    const int64_t now_ns = clock_now_ns();
    const bool in_time = now_ns <= until_ns;
    if (ok && in_time) {
        count_answer(sender, request, first ? first->count : counted.count, due_ns, sent_ns, now_ns);
        return true;
    }
    if (first) { /* the first answer is that of another request, then */
        answer_end(first);
        answer_begin(first, crew->round->keeps);
        atomic_store(&crew->first, first);
    }
    if (stop_signal()) /* interrupted, not failed */
        return false;
    found->timeouts += !in_time;
    found->failures += in_time;
    if (in_time && !found->failure[0]) {
        snprintf(found->failure, sizeof found->failure, "%s", error.message);
        conceal_known(found->failure);
    }
    if (ok || wait_for_server(sender, request, &why))
        return true;
    if (!stop_signal()) {
        side_t *side = crew->measure->work->side;
        pthread_mutex_lock(&crew->lock);
        snprintf(side->gone, sizeof side->gone, "%.500s", why.text);
        pthread_mutex_unlock(&crew->lock);
    }
    return false;
}

static bool goes_on(const crew_t *crew) {
    return !atomic_load_explicit(&crew->ends, memory_order_relaxed) && !stop_signal();
}

static void run_closed(sender_t *sender) {
    const crew_t *crew = sender->crew;
    const clients_round_t *round = crew->round;
    for (uint64_t sent = 0; goes_on(crew); sent++) {
        const int64_t now = clock_now_ns();
        const bool enough =
            round->count ? sent >= round->count : sent && now - crew->began_ns >= round->duration_ns;
        if (enough || !send_one(sender, now))
            return;
    }
}

int64_t arrivals_next(arrivals_t *arrivals) {
    const double drawn = (double)(chance_next(&arrivals->chance) >> 11) * 0x1p-53,
                 left = (double)(arrivals->count - arrivals->number),
                 end_ns = (double)arrivals->count * 1e9 / arrivals->rate,
                 even_ns = (double)arrivals->number++ * 1e9 / arrivals->rate;
    arrivals->poisson_ns -= (end_ns - arrivals->poisson_ns) * expm1(log1p(-drawn) / left);
    return (int64_t)(arrivals->poisson ? arrivals->poisson_ns : even_ns);
}

/* Takes the next request of the schedule. False: there are no more. */
static bool take_next(crew_t *crew, uint64_t *number, int64_t *due_ns) {
    pthread_mutex_lock(&crew->lock);
    const bool more = crew->arrivals.number < crew->arrivals.count;
    *number = crew->arrivals.number;
    if (more)
        *due_ns = crew->began_ns + arrivals_next(&crew->arrivals);
    pthread_mutex_unlock(&crew->lock);
    return more;
}

/* Lasts until the schedule has ended, even if the last request is answered before: otherwise the rate would seem higher
 * than it is. */
static void run_open(sender_t *sender) {
    crew_t *crew = sender->crew;
    const clients_round_t *round = crew->round;
    const int64_t end_ns = crew->began_ns + crew->ended_ns;
    uint64_t number;
    int64_t due_ns;
    while (goes_on(crew) && take_next(crew, &number, &due_ns)) {
        nap_until(due_ns);
        const int64_t now_ns = clock_now_ns();
        if (!goes_on(crew) || (number && now_ns > end_ns + round->rest_ns))
            return;
        if (number + 1 == crew->schedule.count) /* the last one, after which the schedule has a gap */
            sender->found.lagged =
                (double)(now_ns - due_ns) > 1e9 / round->rate + (double)crew->ended_ns / 100;
        if (!send_one(sender, due_ns))
            return;
    }
    nap_until(end_ns);
}

static void *work(void *context) {
    sender_t *sender = context;
    crew_t *crew = sender->crew;
    pthread_mutex_lock(&crew->lock);
    while (!crew->open)
        pthread_cond_wait(&crew->opened, &crew->lock);
    pthread_mutex_unlock(&crew->lock);
    if (crew->round->rate > 0)
        run_open(sender);
    else
        run_closed(sender);
    return NULL;
}

/* ---- adding up ---- */

static void add_failures(tally_t *to, const tally_t *from) {
    if (!to->failure[0])
        snprintf(to->failure, sizeof to->failure, "%s", from->failure);
    to->failures += from->failures;
}

static void add_up(tally_t *to, const tally_t *from) {
    hist_merge(&to->latency, &from->latency);
    hist_merge(&to->service, &from->service);
    course_merge(&to->course, &from->course);
    moments_merge(&to->lag, &from->lag);
    moments_merge(&to->per_ms, &from->per_ms);
    to->most_lag_ns = fmax(to->most_lag_ns, from->most_lag_ns);
    to->returned += from->returned;
    to->empty += from->empty;
    to->timeouts += from->timeouts;
    to->late += from->late;
    to->lagged += from->lagged;
    add_failures(to, from);
}

/* How many requests were due. After a signal only those count that were due a while before: until then they were not late. */
static uint64_t count_due(const crew_t *crew) {
    const int64_t until_ns = stop_came_ns() - NAP_NS - crew->began_ns;
    arrivals_t arrivals = crew->schedule;
    uint64_t due = 0;
    if (!stop_signal())
        return arrivals.count;
    while (due < arrivals.count && arrivals_next(&arrivals) < until_ns)
        due++;
    return due;
}

/* The requests that were not answered in time, and, of an open loop, those that were due and not sent. */
static uint64_t count_skipped(const crew_t *crew, const tally_t *all) {
    const uint64_t due = count_due(crew), settled = all->latency.moments.count + all->failures;
    return due > settled + all->timeouts ? due - settled : all->timeouts;
}

/* The measure got no answer in a whole round: it is asked no more, and its failure says why. */
static void fall_silent(measure_t *measure, const clients_round_t *round) {
    char words[UNITS_MAX], *failure = measure->found->failure;
    measure->silent = true;
    if (!failure[0] && !measure->work->side->gone[0])
        snprintf(failure, sizeof measure->found->failure, "no request was answered within --timeout (%s)",
                 units_time(words, (double)round->timeout_ns / 1e9));
}

/* The requests of a round that a signal cut off are counted, but the round has no figures of its own. */
bool clients_end_round(const clients_round_t *round, measure_t *measure, err_t *err) {
    side_t *side = measure->work->side;
    const hist_t *hist = side->round;
    const bool single = hist->moments.count == 1 && !hist->beyond;
    const round_t found = {.n = hist->moments.count,
                           .p50_ms = (single ? hist->moments.mean : hist_quantile_ns(hist, 0.5)) / 1e6,
                           .p99_ms = hist_quantile_ns(hist, 0.99) / 1e6,
                           .elapsed_ns = side->round_ns};
    *side->round = (hist_t){.beyond = 0};
    side->round_ns = 0;
    if (stop_signal() || !found.elapsed_ns)
        return true;
    if (!found.n)
        fall_silent(measure, round);
    if (!GROW(measure->rounds, measure->round_room, measure->round_count + 1, err))
        return false;
    measure->rounds[measure->round_count++] = found;
    return true;
}

static void add_slice(const crew_t *crew, const tally_t *all, measure_t *measure) {
    side_t *side = measure->work->side;
    const int64_t elapsed_ns = clock_now_ns() - crew->began_ns;
    add_up(measure->found, all);
    measure->elapsed_ns += elapsed_ns;
    measure->slots = course_reach(&measure->found->course, measure->elapsed_ns);
    hist_merge(side->round, &all->latency);
    side->round_ns += elapsed_ns;
}

/* Adds what the clients found. Of rounds for warming up only failures are kept. */
static void add_all(const crew_t *crew, sender_t **senders, measure_t *measure) {
    tally_t *all = &senders[0]->found;
    for (uint32_t i = 1; i < measure->clients; i++)
        add_up(all, &senders[i]->found);
    if (!crew->round->counts) {
        add_failures(measure->found, all);
        if (!all->latency.moments.count && all->failures + all->timeouts)
            fall_silent(measure, crew->round);
        return;
    }
    const uint64_t skipped = count_skipped(crew, all);
    all->latency.beyond += skipped;
    all->service.beyond += skipped;
    add_slice(crew, all, measure);
}

/* ---- a round ---- */

/* *started: how many have a thread. */
static bool start_all(crew_t *crew, sender_t **senders, uint32_t *started, err_t *err) {
    const uint32_t count = crew->measure->clients;
    bool ok = true;
    for (uint32_t i = 0; i < count; i++) {
        if (!(senders[i] = calloc(1, sizeof **senders)))
            return err_memory(err, sizeof **senders);
        *senders[i] = (sender_t){.crew = crew, .chance = (crew->round->number + 1) * UINT64_C(1000003) + i};
        if (!(senders[i]->client = server_take(crew->server, err)))
            return false;
    }
    for (; ok && *started < count; *started += ok)
        ok = pthread_create(&senders[*started]->thread, NULL, work, senders[*started]) == 0 ||
             err_set(err, STATUS_HOST, "no more than %u threads can be made; ask for fewer --clients",
                     *started);
    pthread_mutex_lock(&crew->lock);
    atomic_store(&crew->ends, !ok);
    crew->began_ns = clock_now_ns();
    crew->open = true;
    pthread_cond_broadcast(&crew->opened);
    pthread_mutex_unlock(&crew->lock);
    return ok;
}

static crew_t make_crew(const clients_round_t *round, measure_t *measure) {
    crew_t crew = {.round = round, .measure = measure, .server = measure->work->side->server};
    if (round->rate > 0) {
        const double due = round->count ? (double)round->count * measure->clients
                                        : ceil((double)round->duration_ns / 1e9 * round->rate);
        crew.schedule = (arrivals_t){.rate = round->rate,
                                     .count = (uint64_t)fmax(due, 1),
                                     .poisson = round->poisson,
                                     .chance = chance_mix(round->number + 1)};
        crew.arrivals = crew.schedule;
        crew.ended_ns = (int64_t)fmin((double)crew.schedule.count * 1e9 / round->rate, 1e18); /* 31 years */
    }
    if (!measure->answered) {
        answer_begin(&measure->answer, round->keeps);
        crew.first = &measure->answer;
    }
    pthread_mutex_init(&crew.lock, NULL);
    pthread_cond_init(&crew.opened, NULL);
    return crew;
}

bool clients_run(const clients_round_t *round, measure_t *measure, err_t *err) {
    crew_t crew = make_crew(round, measure);
    sender_t **senders = calloc(measure->clients, sizeof *senders);
    uint32_t started = 0;
    const bool ok = senders ? start_all(&crew, senders, &started, err)
                            : err_memory(err, measure->clients * sizeof *senders);
    for (uint32_t i = 0; i < started; i++)
        pthread_join(senders[i]->thread, NULL);
    if (ok && started)
        add_all(&crew, senders, measure);
    if (!measure->answered && atomic_load(&crew.first))
        answer_end(&measure->answer);
    else
        measure->answered = true;
    for (uint32_t i = 0; senders && i < measure->clients && senders[i]; i++) {
        server_give(crew.server, senders[i]->client);
        free(senders[i]);
    }
    free(senders);
    pthread_cond_destroy(&crew.opened);
    pthread_mutex_destroy(&crew.lock);
    return ok;
}
