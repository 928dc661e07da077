#include "query/clients.h"
#include "base/clock.h"
#include "base/numbers/chance.h"
#include "base/stop.h"

#include <errno.h>
#include <math.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

typedef struct {
    const clients_round_t *round;
    const work_t *work;
    uint64_t due; /* open loop: how many requests the whole round has; 0: as many as the time allows */
    pthread_mutex_t lock;
    pthread_cond_t opened;
    bool open;
    _Atomic uint64_t next;     /* open loop: the next request that is due */
    _Atomic(answer_t *) first; /* keeps the first answer; NULL: somebody has taken it, or none is kept */
    _Atomic bool ends;         /* a client failed */
    int64_t began_ns;
} clients_t;

typedef struct {
    clients_t *crew;
    mongoc_client_t *client;
    pthread_t thread;
    uint64_t chance;
    hist_t hist;
    moments_t per_ms;
    uint64_t returned, empty, failures;
    bson_error_t error;
} member_t;

static void nap_until(int64_t when_ns) {
    for (int64_t now; (now = clock_now_ns()) < when_ns && !stop_signal();) {
        /* at most so long, to notice signals */
        int64_t left = when_ns - now < 100000000 ? when_ns - now : 100000000;
        struct timespec nap = {.tv_sec = 0, .tv_nsec = left};
        nanosleep(&nap, NULL);
    }
}

/* Sends one request; its latency counts from `due_ns`. */
static bool send_one(member_t *member, int64_t due_ns) {
    clients_t *crew = member->crew;
    const work_t *work = crew->work;
    const request_t *request =
        &work->requests[work->count == 1
                            ? 0
                            : (uint64_t)(((__uint128_t)chance_next(&member->chance) * work->count) >> 64)];
    answer_t counted = {.keep = false}, *first = atomic_exchange(&crew->first, NULL),
             *answer = first ? first : &counted;
    bool ok = request_send(request, member->client, answer, &member->error);
    int64_t took_ns = clock_now_ns() - due_ns;
    if (!ok && stop_signal()) /* interrupted, not failed: what was measured before remains valid */
        return false;
    if (!ok) {
        member->failures++;
        atomic_store(&crew->ends, true);
        return false;
    }
    double documents =
        isnan(request->documents) ? (double)answer->count : fmin(request->documents, work->all_documents);
    if (isinf(documents) || request->documents < 0) /* all of a view: the number is not known either */
        documents = NAN;
    hist_add(&member->hist, took_ns);
    moments_add(&member->per_ms, documents * 1e6 / (double)(took_ns ? took_ns : 1));
    member->returned += answer->count;
    member->empty += !answer->count;
    return true;
}

static bool goes_on(const clients_t *crew) {
    return !atomic_load_explicit(&crew->ends, memory_order_relaxed) && !stop_signal();
}

static void run_closed(member_t *member) {
    const clients_round_t *round = member->crew->round;
    for (uint64_t sent = 0; goes_on(member->crew); sent++) {
        const int64_t now = clock_now_ns();
        const bool enough =
            round->count ? sent >= round->count : sent && now - member->crew->began_ns >= round->duration_ns;
        if (enough || !send_one(member, now))
            return;
    }
}

/* Of a round that counts, all that became due in its time is sent, however long that takes. */
static bool is_over(const clients_t *crew, uint64_t number, int64_t after_ns) {
    const clients_round_t *round = crew->round;
    if (round->count)
        return number >= crew->due;
    const int64_t now_ns = round->counts ? after_ns : clock_now_ns() - crew->began_ns;
    return number && (after_ns >= round->duration_ns || now_ns >= round->duration_ns);
}

static void run_open(member_t *member) {
    clients_t *crew = member->crew;
    const double apart_ns = 1e9 / crew->round->rate;
    int64_t next_ns =
        0; /* the round lasts until another request would be due, or it would seem a higher rate */
    while (goes_on(crew)) {
        uint64_t number = atomic_fetch_add(&crew->next, 1);
        int64_t after_ns = (int64_t)((double)number * apart_ns);
        if (is_over(crew, number, after_ns))
            break;
        next_ns = (int64_t)((double)(number + 1) * apart_ns);
        nap_until(crew->began_ns + after_ns);
        if (!goes_on(crew) || !send_one(member, crew->began_ns + after_ns))
            return;
    }
    nap_until(crew->began_ns + next_ns);
}

static void *work(void *context) {
    member_t *member = context;
    clients_t *crew = member->crew;
    pthread_mutex_lock(&crew->lock);
    while (!crew->open)
        pthread_cond_wait(&crew->opened, &crew->lock);
    pthread_mutex_unlock(&crew->lock);
    if (crew->round->rate > 0)
        run_open(member);
    else
        run_closed(member);
    return NULL;
}

static void add_up(const clients_t *crew, const member_t *member, const server_t *server,
                   measure_t *measure) {
    if (member->failures && !measure->failures) {
        snprintf(measure->failure, sizeof measure->failure, "%s", member->error.message);
        address_conceal(server_address(server), measure->failure);
    }
    measure->failures += member->failures;
    if (!crew->round->counts)
        return;
    hist_merge(measure->hist, &member->hist);
    moments_merge(&measure->per_ms, &member->per_ms);
    measure->returned += member->returned;
    measure->empty += member->empty;
}

/* Starts all clients at once. Tells how many were started. */
static bool start_all(clients_t *crew, member_t **members, uint32_t count, measure_t *measure,
                      server_t *server, uint32_t *started, err_t *err) {
    bool ok = true;
    for (uint32_t i = 0; i < count; i++) {
        if (!(members[i] = calloc(1, sizeof **members)))
            return err_memory(err, sizeof **members);
        *members[i] = (member_t){.crew = crew, .chance = (crew->round->number + 1) * UINT64_C(1000003) + i};
        if (!(members[i]->client = server_take(server, err)))
            return false;
    }
    if (!measure->answered) {
        answer_begin(&measure->answer, measure->keeps);
        atomic_store(&crew->first, &measure->answer);
    }
    for (*started = 0; ok && *started < count; *started += ok)
        ok = pthread_create(&members[*started]->thread, NULL, work, members[*started]) == 0 ||
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

bool clients_run(const clients_round_t *round, measure_t *measure, server_t *server, err_t *err) {
    clients_t crew = {.round = round, .work = measure->work, .due = round->count * measure->clients};
    member_t **members = calloc(measure->clients, sizeof *members);
    if (!members)
        return err_memory(err, measure->clients * sizeof *members);
    pthread_mutex_init(&crew.lock, NULL);
    pthread_cond_init(&crew.opened, NULL);
    uint32_t started = 0;
    bool asked = !measure->answered;
    bool ok = start_all(&crew, members, measure->clients, measure, server, &started, err);
    for (uint32_t i = 0; i < started; i++)
        pthread_join(members[i]->thread, NULL);
    if (ok && round->counts)
        measure->elapsed_ns += clock_now_ns() - crew.began_ns;
    for (uint32_t i = 0; i < measure->clients && members[i]; i++) {
        if (ok)
            add_up(&crew, members[i], server, measure);
        server_give(server, members[i]->client);
        free(members[i]);
    }
    if (asked && ok && !measure->failures && !stop_signal())
        measure->answered = true;
    else if (asked)
        answer_end(&measure->answer);
    pthread_cond_destroy(&crew.opened);
    pthread_mutex_destroy(&crew.lock);
    free(members);
    return ok;
}
