/* store_mongo: the catalog in two collections next to the data,
 *
 *   NAME.tipple.files   the header: {_id: "catalog", ...}, see store_mongo_header.c;
 *                       an entry for each input, see entry_bson.h
 *   NAME.tipple.loads   a document for each load: {_id, beat, leaving, ended, host, process, processes, started, seen,
 *                       documents, ...}
 *
 * Writes are majority and journaled (on a standalone: journaled). Reads are from the primary, of the data that it has
 * now: a majority read may be older than what was just acknowledged. What was read is believed only as long as
 * conditional writes agree with it. */
#ifndef TIPPLE_CATALOG_STORE_STORE_MONGO_H
#define TIPPLE_CATALOG_STORE_STORE_MONGO_H

#include "catalog/store/store.h"
#include "server/server.h"

enum { STORE_LEASE_MS = 20000 };

/* The client stays the caller's, and nothing else may use it while the store is open. NULL: err. */
store_t *store_mongo_open(server_t *server, mongoc_client_t *client, err_t *err);
/* The same, unless *store is open already. */
static inline bool store_mongo_need(store_t **store, server_t *server, mongoc_client_t *client, err_t *err) {
    return *store || (*store = store_mongo_open(server, client, err));
}
void store_mongo_close(store_t *store); /* NULL is allowed */

/* Enters a new load with its first beat: it is alive from now on. fields: its settings, kept unchanged. */
bool store_mongo_enroll(store_t *store, load_id_t *id, const bson_t *fields, err_t *err);
/* Says that the load is about to end: of two that say so before they look whether the other one runs, at least one sees
 * that it is the last. */
bool store_mongo_leave(store_t *store, const load_id_t *id, err_t *err);
/* Marks the load as ended. */
bool store_mongo_end(store_t *store, const load_id_t *id, const bson_t *fields, err_t *err);

/* True if a load, as it was written down, belongs to a process of this host (host_processes) that no longer exists. Then
 * nobody needs to wait for the end of its lease. */
bool store_mongo_is_gone(const bson_t *load, const char *here);

/* Makes the unique indexes that keep two loads from registering one input twice. */
bool store_mongo_prepare(store_t *store, err_t *err);

/* heartbeat: a load's sign of life, sent by a thread of its own, so that it continues whatever the load waits for. */

typedef struct heartbeat heartbeat_t;

/* Beats five times in a lease. documents: tells how far the load is; the heartbeat's thread calls it. NULL: failed, see
 * err. */
heartbeat_t *heartbeat_start(server_t *server, const load_id_t *load, int64_t lease_ms,
                             uint64_t (*documents)(void *context), void *context, err_t *err);

/* How many beats were acknowledged. Any thread. */
uint64_t heartbeat_count(const heartbeat_t *heartbeat);

/* Ends the thread and frees the heartbeat. NULL is allowed. */
void heartbeat_stop(heartbeat_t *heartbeat);

#endif
