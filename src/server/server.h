/* server: one MongoDB deployment, and what all of tipple does with it.
 *
 * A URI is parsed into an address: what the driver gets, the collection in its path. Its secrets are remembered (base/conceal.h).
 * server_connect makes a server of it: a pool of connections, the facts that the deployment says of itself, the write
 * concerns of data and of the catalog, and the patience of this run. Everything else in this room works on a server and a
 * client of its pool; a thread takes a client of its own.
 *
 *     address -> connect -> server -> command, cursor            (this header)
 *                              |----> collection, indexes        collection.h
 *                              |----> cluster, chunks            cluster.h: how it is sharded, placing, balancing
 *                              |----> writer, routers, direct    send.h: batches, one message at a time
 *                              '----> free space                 free_space.h: warnings of full disks
 *
 * Patience: a server may be away (an election, a restart, a network). What failed is tried again until --patience is over;
 * then the run ends with status 4, and the same command goes on. A refusal is not tried again: it is a sentence with a status,
 * ours first, then the words of the server or the driver, then what to do. Codes of servers are a table (server_errors.h); usual
 * mistakes in a URI are one, too (connect.c).
 *
 * server_connect and server_destroy belong to the main thread; any thread may call all other functions here. */
#ifndef TIPPLE_SERVER_SERVER_H
#define TIPPLE_SERVER_SERVER_H

#include "server/server_errors.h"

#include <mongoc/mongoc.h>
#include <stdint.h>

/* ---- address.c: the URI of a target in its parts. Read-only after address_parse ---- */

typedef struct {
    mongoc_uri_t *uri; /* without the path */
    char *database, *collection;
    char *name;  /* "mot.results" */
    char *hosts; /* for people: "a:27017,b:27017" */
} address_t;

/* A bad URI: status 1 with the right shape; no part of the URI that could hold a secret is quoted. */
bool address_parse(address_t *address, const char *text, err_t *err);

/* Of a URI that names no collection: the database in its path, or "". NULL: it names one, or is no URI of MongoDB, or
 * memory is out. To be freed. */
char *address_of_database(const char *text);

/* The URI with this path, "database.collection", in place of its own. NULL: memory is out. To be freed; it may hold a
 * password. */
char *address_with_collection(const char *text, const char *name, err_t *err);

/* For a command that the user pastes: the URI as it was given, if it is of this collection ("mot.results") and nothing in it
 * is secret; else ".../mot.results", whose hosts the user fills in. NULL: memory is out. To be freed. */
char *address_to_paste(const char *text, const char *name, err_t *err);

void address_free(address_t *address);

/* The same user, options and collection at other hosts ("a:1,b:2"): members of the replica set `set`, or, with NULL, a
 * router. */
bool address_of_hosts(const address_t *address, const char *hosts, const char *set, address_t *other,
                      err_t *err);

/* ---- connect.c, server.c: the target of a run, and commands to it that survive a short absence ---- */

typedef enum { SERVER_STANDALONE, SERVER_REPLICA_SET, SERVER_ROUTER } server_kind_t;

typedef struct {
    const char *uri;      /* with /database.collection as its path */
    int64_t patience_ns;  /* how long a server may be gone before status 4 */
    uint32_t connections; /* most connections the pool may hold */
    bool unsafe;          /* --unsafe: write concern as the URI says */
    bool reads;           /* only queries: an answer may take hours, and a read-only server is enough */
    int64_t reply_ns;     /* a connection that waits longer for a reply is closed; 0: as the URI says */
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
server_t *server_of_hosts(const server_t *server, const char *hosts, const char *set, uint32_t connections,
                          int64_t patience_ns, err_t *err);

/* All clients must have been given back. Returns at once: the driver's monitors, which wake only every half second, end
 * in the background. In the program of another author it waits for those that use TLS: at exit OpenSSL frees its tables under
 * them. NULL is allowed. */
void server_destroy(server_t *server);
/* The last call of a command: ends the process at once if threads may still use TLS or the driver. Otherwise it does nothing. */
void server_end_process(int status);

const server_facts_t *server_facts(const server_t *server);
/* Appends "only if the collection is still this one", if the server knows that (6.0). uuid NULL: any collection. */
void server_append_uuid(const server_t *server, const uint8_t uuid[16], bson_t *command);
const char *server_database(const server_t *server);
const char *server_collection(const server_t *server); /* without the database */
const char *server_namespace(const server_t *server);  /* "mot.results" */
const char *server_where(const server_t *server);      /* hosts, for people; never a password */
const address_t *server_address(const server_t *server);

/* A client of the pool. Each thread takes its own and gives it back when it ends. NULL with err: none is left. */
mongoc_client_t *server_take(server_t *server, err_t *err);
void server_give(server_t *server, mongoc_client_t *client);

/* Runs an idempotent command on the primary, and tries again through elections and lost connections until the patience
 * is over. reply is always initialised, and the caller destroys it; may be NULL. With `writes`, the catalog's write
 * concern is added. A refusal, even of a single statement of a write, sets a sentence and its status; the reply still
 * holds the server's own words then (server_code). */
bool server_command(server_t *server, mongoc_client_t *client, const char *database, const bson_t *command,
                    bool writes, bson_t *reply, err_t *err);

/* The same for a command that reads from the server's own database; destroys the command. */
bool server_ask(server_t *server, mongoc_client_t *client, bson_t *command, bson_t *reply, err_t *err);

/* From now on the run restores what it has changed. If a signal came, or patience is over, there are a few seconds left
 * for that; after them every command fails soon. */
void server_clean_up(server_t *server);

/* The error code of a command's reply: its own, or that of its first write error; 0: none. */
int server_code(const bson_t *reply);

/* One period of patience: from the first try of something until it succeeds or is given up. */
typedef struct {
    int64_t deadline_ns, pause_ns;
    int64_t say_ns; /* when the user hears that a first connection is waited for */
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

/* For standalones: identifies the server process (topologyVersion.processId as hex), to prove that the process that
 * acknowledged w:1 writes is the one that answered a later j:true write. */
bool server_process(server_t *server, mongoc_client_t *client, char hex[25], err_t *err);

/* ---- cursors ---- */

/* Sends a command whose answer is a cursor, and reads its documents, batch by batch. The driver's own functions
 * refuse a filter with keys that a server takes (an empty one, one that is no UTF-8), some versions confuse the database
 * and the collection of an aggregation (Debian 13 has one of them), and they end the process where a reply is not as it
 * should be. One thread, with a client of its own. */

typedef struct {
    mongoc_client_t *client;
    mongoc_client_session_t *session; /* the cursor's: only the session that made a cursor may continue it */
    mongoc_read_prefs_t *prefs;
    bson_t same;          /* the session and the server, for all requests */
    const char *database; /* owned by the caller, and lives as long as the cursor */
    int64_t id;           /* the cursor's id at the server; 0: there are no more batches */
    int64_t batch;        /* how many documents a batch is to have; 0: as many as the server likes */
    bson_t reply;         /* the last one */
    bson_iter_t rest;     /* the part of the batch that was not read yet */
    bson_t document;
    bool open, failed; /* zeroed: the cursor was not begun */
    bson_error_t error;
} command_cursor_t;

/* Sends the command and waits for the first batch. options, as for the driver's own functions: batchSize, which the command
 * has to have, too, and readConcern; NULL: none, nor the client's read concern. prefs NULL: the client's. */
void command_cursor_begin(command_cursor_t *cursor, mongoc_client_t *client, const char *database,
                          const bson_t *command, const bson_t *options, const mongoc_read_prefs_t *prefs);
/* The same for a find; more options: what it has besides. */
void command_cursor_find(command_cursor_t *cursor, mongoc_client_t *client, const char *database,
                         const char *collection, const bson_t *filter, const bson_t *options,
                         const mongoc_read_prefs_t *prefs);
/* The next document, borrowed until the next call. False: there are no more, or something failed. */
bool command_cursor_next(command_cursor_t *cursor, const bson_t **document);
/* What the driver or the server said; the reply belongs to the cursor. */
bool command_cursor_failed(command_cursor_t *cursor, bson_error_t *error, const bson_t **reply);
void command_cursor_end(command_cursor_t *cursor); /* A zeroed cursor is allowed. Zeroes the cursor. */

/* ---- how many cores a server has, and how long it was busy, by its own account (serverStatus, hostInfo) ---- */

/* The serverStatus of the primary, or of the other end of a direct connection. The caller destroys the reply, also after a
 * failure. */
bool server_load_status(mongoc_client_t *client, bson_t *reply, bson_error_t *error);

/* How many cores the server may use; NAN: it does not say. */
double server_load_cores(mongoc_client_t *client);

/* ---- connect.c: what the errors of the driver and of servers mean ---- */

/* What an error of the driver or of a server means; the driver's own are passing where the network is at fault. */
code_class_t refusal_of(const bson_error_t *error, const bson_t *reply);

/* Turns a driver's error into a sentence with what to do; always false. `doing` completes "could not ...". */
bool refusal_explain(const address_t *address, const bson_error_t *error, const bson_t *reply,
                     const char *doing, err_t *err);

#endif
