/* store_mongo: the catalog in two collections next to the data,
 *
 *   NAME.tipple.files   the header: {_id: "catalog", ...}, see store_mongo.c;
 *                       an entry for each input, see entry_bson.h
 *   NAME.tipple.loads   a document for each load: {_id, beat, leaving, ended, host, process, processes, started, seen,
 *                       documents, ...}, see store_mongo_loads.c
 *
 * Writes are majority and journaled (on a standalone: journaled). Reads are from the primary and of what it has now,
 * because a majority read may be older than what was just acknowledged. What was read counts only as long as
 * conditional writes agree with it. */
#ifndef TIPPLE_CATALOG_STORE_STORE_MONGO_H
#define TIPPLE_CATALOG_STORE_STORE_MONGO_H

#include "catalog/store/store.h"
#include "server/server.h"

#include <stdatomic.h>

enum { STORE_LEASE_MS = 20000 };

/* The client stays the caller's; nothing else may use it while the store is open. NULL: err. */
store_t *store_mongo_open(server_t *server, mongoc_client_t *client, err_t *err);
/* The same, unless *store is open already. */
static inline bool store_mongo_need(store_t **store, server_t *server, mongoc_client_t *client, err_t *err) {
    return *store || (*store = store_mongo_open(server, client, err));
}
void store_mongo_close(store_t *store); /* NULL is allowed */

/* ---- this process's own load ---- */

/* Enters a new load with its first beat: it is alive from now on. fields: its settings, kept unchanged. */
bool store_mongo_enroll(store_t *store, load_id_t *id, const bson_t *fields, err_t *err);
/* Says that the load is about to end. If two loads say so before either looks for the other, at least one of them sees
 * that it is the last. */
bool store_mongo_leave(store_t *store, const load_id_t *id, err_t *err);
/* Marks the load as ended. */
bool store_mongo_end(store_t *store, const load_id_t *id, const bson_t *fields, err_t *err);

/* True if a load, as its document says, belongs to a process of this host (host_processes) that no longer exists. Then
 * nobody needs to wait for the end of its lease. */
bool store_mongo_is_gone(const bson_t *load, const char *here);

/* A load's sign of life. It has a thread of its own, so that it continues whatever the load waits for. */
typedef struct heartbeat heartbeat_t;

/* Beats five times in a lease. documents: reports how far the load is; called by the heartbeat's thread. NULL: err. */
heartbeat_t *heartbeat_start(server_t *server, const load_id_t *load, int64_t lease_ms,
                             uint64_t (*documents)(void *context), void *context, err_t *err);
/* How many beats were acknowledged. Any thread. */
const atomic_ullong *heartbeat_count(const heartbeat_t *heartbeat);
/* Ends the thread and frees the heartbeat. NULL is allowed. */
void heartbeat_stop(heartbeat_t *heartbeat);

#endif
