#include "catalog/heartbeat.h"
#include "base/clock.h"
#include "base/log.h"
#include "base/threads.h"
#include "catalog/store/store_mongo.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>

enum { BEATS_A_LEASE = 5, LEAST_MS = 20 };

struct heartbeat {
    server_t *server;
    mongoc_client_t *client;
    store_t *store;
    load_id_t load;
    int64_t every_ns;
    uint64_t (*documents)(void *context);
    void *context;
    pthread_t thread;
    pthread_mutex_t lock;
    pthread_cond_t stop;
    bool stopping; /* guarded by the lock */
    atomic_ullong count;
};

/* False: the heartbeat is to stop. */
static bool wait_for_next(heartbeat_t *heartbeat, int64_t due_ns) {
    bool timed_out = false;
    pthread_mutex_lock(&heartbeat->lock);
    while (!heartbeat->stopping && !timed_out)
        timed_out = condition_wait_until(&heartbeat->stop, &heartbeat->lock, due_ns);
    const bool goes_on = !heartbeat->stopping;
    pthread_mutex_unlock(&heartbeat->lock);
    return goes_on;
}

static void *beat(void *context) {
    heartbeat_t *heartbeat = context;
    uint64_t number = 1; /* the load's entry was beat 1 */
    int64_t due_ns = clock_now_ns() + heartbeat->every_ns;
    while (wait_for_next(heartbeat, due_ns)) {
        err_t err;
        due_ns = clock_now_ns() + heartbeat->every_ns;
        if (heartbeat->store->beat(heartbeat->store, &heartbeat->load, ++number,
                                   heartbeat->documents(heartbeat->context), &err))
            atomic_fetch_add(&heartbeat->count, 1);
        else
            log_detail("a sign of life was not acknowledged: %s", err.text);
    }
    return NULL;
}

static void close_all(heartbeat_t *heartbeat) {
    store_mongo_close(heartbeat->store);
    server_give(heartbeat->server, heartbeat->client);
    pthread_mutex_destroy(&heartbeat->lock);
    pthread_cond_destroy(&heartbeat->stop);
    free(heartbeat);
}

heartbeat_t *heartbeat_start(server_t *server, const load_id_t *load, int64_t lease_ms,
                             uint64_t (*documents)(void *context), void *context, err_t *err) {
    heartbeat_t *heartbeat = calloc(1, sizeof *heartbeat);
    if (!heartbeat) {
        err_memory(err, sizeof *heartbeat);
        return NULL;
    }
    const int64_t every_ms = lease_ms / BEATS_A_LEASE;
    *heartbeat = (heartbeat_t){.server = server,
                               .load = *load,
                               .every_ns = (every_ms < LEAST_MS ? LEAST_MS : every_ms) * 1000000,
                               .documents = documents,
                               .context = context};
    pthread_mutex_init(&heartbeat->lock, NULL);
    condition_init(&heartbeat->stop);
    bool ok = (heartbeat->client = server_take(server, err)) &&
              (heartbeat->store = store_mongo_open(server, heartbeat->client, err));
    if (ok && caller_start_thread(&heartbeat->thread, beat, heartbeat) == 0)
        return heartbeat;
    if (ok)
        err_set(err, STATUS_HOST, "no more threads can be made; lower --threads");
    close_all(heartbeat);
    return NULL;
}

uint64_t heartbeat_count(const heartbeat_t *heartbeat) {
    return atomic_load(&heartbeat->count);
}

void heartbeat_stop(heartbeat_t *heartbeat) {
    if (!heartbeat)
        return;
    pthread_mutex_lock(&heartbeat->lock);
    heartbeat->stopping = true;
    pthread_cond_signal(&heartbeat->stop);
    pthread_mutex_unlock(&heartbeat->lock);
    pthread_join(heartbeat->thread, NULL);
    close_all(heartbeat);
}
