/* server: the one target of a run: what it is, what it allows, and commands to it that survive a short absence.
 * server_connect and server_destroy belong to the main thread; any thread may call all other functions. */
#ifndef TIPPLE_SERVER_SERVER_H
#define TIPPLE_SERVER_SERVER_H

#include "base/err.h"
#include "server/address.h"

#include <mongoc/mongoc.h>
#include <stdint.h>

typedef enum { SERVER_STANDALONE, SERVER_REPLICA_SET, SERVER_ROUTER } server_kind_t;

typedef struct {
    const char *uri;      /* with /database.collection as its path */
    int64_t patience_ns;  /* how long a server may be gone before status 4 */
    uint32_t connections; /* most connections the pool may hold */
    bool unsafe;          /* --unsafe: write concern as the URI says */
    bool reads;           /* only queries: an answer may take hours, and a read-only server is enough */
    bool resumes;         /* what is cut off goes on from there when the same command is run again */
} server_options_t;

typedef struct {
    server_kind_t kind;
    char version[32]; /* "6.0.5" */
    int major, minor;
    uint32_t max_document_bytes, max_message_bytes, max_batch;
} server_facts_t;

typedef struct server server_t;

/* Connects, waits for a primary as long as the patience allows, and learns the facts. Wrong password, TLS mismatch, URI
 * without a collection: status 1, and the sentence says what to change. Unreachable: status 4. The caller has called
 * mongoc_init. */
server_t *server_connect(const server_options_t *options, err_t *err);

/* The same collection and user at other hosts: one of several routers, or, with `set` (the name of its replica set),
 * one shard. Otherwise as server_connect. */
server_t *server_beside(const server_t *server, const char *hosts, const char *set, uint32_t connections,
                        int64_t patience_ns, err_t *err);

/* All clients must have been given back. Returns at once: the driver's monitors, which wake only every half second, end
 * in the background. In a program of somebody else's it waits for those that use TLS: at exit OpenSSL frees its tables under
 * them. NULL is allowed. */
void server_destroy(server_t *server);
/* The last call of a command: ends the process at once if monitors may still use TLS. Otherwise it does nothing. */
void server_end_process(int status);

const server_facts_t *server_facts(const server_t *server);
/* Appends "only if the collection is still this one", if the server knows that (6.0). uuid NULL: any collection. */
void server_append_uuid(const server_t *server, const uint8_t uuid[16], bson_t *command);
const char *server_database(const server_t *server);
const char *server_collection(const server_t *server); /* without the database */
const char *server_namespace(const server_t *server);  /* "mot.results" */
const char *server_where(const server_t *server);      /* hosts, for people; never a password */
const address_t *server_address(const server_t *server);
int64_t server_patience_ns(const server_t *server);

/* A client of the pool. Each thread takes its own and gives it back when it ends. NULL with err: none is left. */
mongoc_client_t *server_take(server_t *server, err_t *err);
void server_give(server_t *server, mongoc_client_t *client);

/* The write concerns of data and of the catalog: majority and journal on replica sets and routers; on a standalone w:1
 * (data) and j:true (catalog). With --unsafe, data uses the URI's own. Owned by the server. */
const mongoc_write_concern_t *server_data_concern(const server_t *server);
const mongoc_write_concern_t *server_catalog_concern(const server_t *server);

/* Runs an idempotent command on the primary, and tries again through elections and lost connections until the patience
 * is over. reply is always initialised, and the caller destroys it; may be NULL. With `writes`, the catalog's write
 * concern is added. A refusal, also of a single statement of a write, sets a sentence and its status; the reply still
 * holds the server's own words then (server_code). */
bool server_command(server_t *server, mongoc_client_t *client, const char *database, const bson_t *command,
                    bool writes, bson_t *reply, err_t *err);

/* From now on the run restores what it has changed. If a signal came, or patience is over, there are a few seconds left
 * for that; after them every command fails soon. */
void server_clean_up(server_t *server);

/* The error code of a command's reply: its own, or that of its first write error; 0: none. */
int server_code(const bson_t *reply);

/* One period of patience: from the first try of something until it succeeds or is given up. */
typedef struct {
    int64_t deadline_ns, pause_ns;
    uint32_t tries;
} patience_t;

patience_t server_patience(const server_t *server);

/* After a failed try. True: it has waited a little, and another try is worth it. False, with the sentence: the error is
 * a refusal, the patience is over (status 4), or a signal asks to stop (130, 143). `doing` completes "could not
 * ...". */
bool server_again(server_t *server, mongoc_client_t *client, patience_t *patience, const bson_error_t *error,
                  const bson_t *reply, const char *doing, err_t *err);

/* The same for a failure that is known to be worth another try, whatever its code. */
bool server_wait(server_t *server, mongoc_client_t *client, patience_t *patience, const bson_error_t *error,
                 const bson_t *reply, const char *doing, err_t *err);

/* Call it after each success: when patience was used up once, later calls get little of it until a server answers
 * again. */
void server_answered(server_t *server);

/* For standalones: identifies the server process (topologyVersion.processId as hex), to prove that the process that
 * acknowledged w:1 writes is the one that answered a later j:true write. */
bool server_process(server_t *server, mongoc_client_t *client, char hex[25], err_t *err);

#endif
