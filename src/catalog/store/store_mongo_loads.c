/* Loads in MongoDB: how a load enters, beats and ends, and reading the loads that have not ended. */
#include "base/clock.h"
#include "base/host.h"
#include "base/log.h"
#include "base/text.h"
#include "base/threads.h"
#include "catalog/store/entry_bson.h"
#include "catalog/store/store_mongo_inner.h"
#include "server/bson_read.h"

#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

bool store_mongo_is_gone(const bson_t *load, const char *here) {
    const int64_t process = (int64_t)store_mongo_number(load, "process");
    return *here && strcmp(bson_read_text(load, "processes"), here) == 0 && process > 0 &&
           kill((pid_t)process, 0) != 0 && errno == ESRCH;
}

static load_seen_t load_from_bson(const bson_t *document, const char *here) {
    load_seen_t load = {.beat = store_mongo_number(document, "beat"),
                        .documents = store_mongo_number(document, "documents"),
                        .process = (int64_t)store_mongo_number(document, "process"),
                        .silent_ms = (int64_t)store_mongo_number(document, "silent"),
                        .started_ms = store_mongo_date(document, "started"),
                        .since_ms = store_mongo_date(document, "since"),
                        .leaving = bson_has_field(document, "leaving"),
                        .ended = bson_has_field(document, "ended") || store_mongo_is_gone(document, here),
                        .forgets = strcmp(bson_read_text(document, "command"), "forget") == 0};
    const bson_oid_t *id = bson_read_oid(document, "_id");
    if (id)
        load.id = load_id_from_oid(id);
    snprintf(load.host, sizeof load.host, "%s", bson_read_text(document, "host"));
    return load;
}

/* Reads the loads that have not said that they ended, page by page, like entries. */
bool store_mongo_read_loads(store_t *store, loads_t *loads, err_t *err) {
    store_mongo_t *mongo = store_mongo_of(store);
    char here[HOST_PROCESSES];
    bool ok = true;
    bson_t *fields =
        BCON_NEW("beat", BCON_BOOL(true), "command", BCON_BOOL(true), "leaving", BCON_BOOL(true), "documents",
                 BCON_BOOL(true), "host", BCON_BOOL(true), "process", BCON_BOOL(true), "processes",
                 BCON_BOOL(true), "started", BCON_BOOL(true), "since", BCON_BOOL(true), "silent", "{",
                 "$subtract", "[", BCON_UTF8("$$NOW"), BCON_UTF8("$seen"), "]", "}");
    host_processes(here);
    for (size_t count = 1; ok && count;) {
        bson_t reply, document;
        bson_iter_t documents;
        bson_oid_t last;
        load_id_to_oid(loads->count ? &loads->loads[loads->count - 1].id : &(load_id_t){{0}}, &last);
        bson_t *find =
            BCON_NEW("find", BCON_UTF8(mongo->loads), "filter", "{", "_id", "{", "$gt", BCON_OID(&last), "}",
                     "ended", "{", "$exists", BCON_BOOL(false), "}", "}", "projection", BCON_DOCUMENT(fields),
                     "sort", "{", "_id", BCON_INT32(1), "}", "limit", BCON_INT32(STORE_MONGO_PAGE),
                     "batchSize", BCON_INT32(STORE_MONGO_PAGE), "singleBatch", BCON_BOOL(true));
        ok = store_mongo_find(mongo, find, &reply, &documents, err);
        count = 0;
        for (; store_mongo_next(mongo, &documents, &document, &ok, err); count++) {
            const load_seen_t load = load_from_bson(&document, here);
            ok = GROW(loads->loads, loads->room, loads->count + 1, err) &&
                 (memcmp(load.id.bytes, last.bytes, sizeof last.bytes) > 0 ||
                  err_set(err, STATUS_SERVER, "the server at %s gives loads (%s) that were not asked for",
                          server_where(mongo->server), mongo->loads));
            if (ok)
                loads->loads[loads->count++] = load;
            load_id_to_oid(&load.id, &last);
        }
        bson_destroy(&reply);
    }
    bson_destroy(fields);
    return ok;
}

/* Changes a load. lives: unless it has ended. makes: adds it if it is missing. Frees the update. */
static bool change(store_t *store, const load_id_t *id, bool lives, bool makes, bson_t *update, err_t *err) {
    bson_t query = BSON_INITIALIZER;
    bson_oid_t oid;
    uint64_t matched;
    load_id_to_oid(id, &oid);
    BSON_APPEND_OID(&query, "_id", &oid);
    if (lives)
        BCON_APPEND(&query, "ended", "{", "$exists", BCON_BOOL(false), "}");
    bson_t *statements = BCON_NEW("0", "{", "q", BCON_DOCUMENT(&query), "u", BCON_DOCUMENT(update), "upsert",
                                  BCON_BOOL(makes), "}");
    bool ok =
        store_mongo_update(store_mongo_of(store), store_mongo_of(store)->loads, statements, &matched, err);
    bson_destroy(statements);
    bson_destroy(&query);
    bson_destroy(update);
    return ok;
}

bool store_mongo_beat(store_t *store, const load_id_t *load, uint64_t number, uint64_t documents,
                      err_t *err) {
    return change(store, load, true, false,
                  BCON_NEW("$max", "{", "beat", BCON_INT64((int64_t)number), "documents",
                           BCON_INT64((int64_t)documents), "}", "$currentDate", "{", "seen", BCON_BOOL(true),
                           "}"),
                  err);
}

bool store_mongo_enroll(store_t *store, load_id_t *id, const bson_t *fields, err_t *err) {
    char host[256] = "", processes[HOST_PROCESSES];
    bson_t first = BSON_INITIALIZER;
    bson_oid_t oid;
    bson_oid_init(&oid, NULL);
    *id = load_id_from_oid(&oid);
    gethostname(host, sizeof host - 1);
    host_processes(processes);
    BCON_APPEND(&first, "beat", BCON_INT64(1), "documents", BCON_INT64(0), "host", BCON_UTF8(host), "process",
                BCON_INT32((int32_t)getpid()), "processes", BCON_UTF8(processes), "started",
                BCON_DATE_TIME(clock_wall_ms()));
    bson_concat(&first, fields);
    bson_t *update = BCON_NEW("$setOnInsert", BCON_DOCUMENT(&first), "$currentDate", "{", "seen",
                              BCON_BOOL(true), "since", BCON_BOOL(true), "}");
    bson_destroy(&first);
    return change(store, id, false, true, update, err);
}

bool store_mongo_leave(store_t *store, const load_id_t *id, err_t *err) {
    return change(store, id, false, false,
                  BCON_NEW("$currentDate", "{", "seen", BCON_BOOL(true), "leaving", BCON_BOOL(true), "}"),
                  err);
}

bool store_mongo_end(store_t *store, const load_id_t *id, const bson_t *fields, err_t *err) {
    return change(store, id, false, false,
                  BCON_NEW("$set", BCON_DOCUMENT(fields), "$currentDate", "{", "seen", BCON_BOOL(true),
                           "ended", BCON_BOOL(true), "}"),
                  err);
}

/* ---- the heartbeat ---- */

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

const atomic_ullong *heartbeat_count(const heartbeat_t *heartbeat) {
    return &heartbeat->count;
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
