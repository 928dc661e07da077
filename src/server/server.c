/* Commands to a server that may be away for a while, cursors over their answers, and what a server says of its own work.
 * server.h has the contract. */
#include "base/clock.h"
#include "base/err.h"
#include "base/host.h"
#include "base/log.h"
#include "base/numbers.h"
#include "base/stop.h"
#include "base/text.h"
#include "server/bson_read.h"
#include "server/server.h"
#include "server/server_errors.h"
#include "server/server_inner.h"

#include <bson/bson.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { UUID_MAJOR = 6 };

static const int64_t FIRST_PAUSE_NS = 10 * SERVER_MS, LONGEST_PAUSE_NS = 1000 * SERVER_MS,
                     NAP_NS = 10 * SERVER_MS, SAY_FIRST_NS = 1500 * SERVER_MS,
                     SAY_EACH_NS = 10000LL * SERVER_MS,
                     CLEAN_UP_NS = 4000LL * SERVER_MS; /* STOP_GRACE_SECONDS is all the time there is */

const server_facts_t *server_facts(const server_t *server) {
    return &server->facts;
}

void server_append_uuid(const server_t *server, const uint8_t uuid[16], bson_t *command) {
    if (uuid && server->facts.major >= UUID_MAJOR)
        BSON_APPEND_BINARY(command, "collectionUUID", BSON_SUBTYPE_UUID, uuid, 16);
}

const char *server_database(const server_t *server) {
    return server->address.database;
}

const char *server_collection(const server_t *server) {
    return server->address.collection;
}

const char *server_namespace(const server_t *server) {
    return server->address.name;
}

const char *server_where(const server_t *server) {
    return server->address.hosts;
}

const address_t *server_address(const server_t *server) {
    return &server->address;
}

mongoc_client_t *server_take(server_t *server, err_t *err) {
    mongoc_client_t *client = mongoc_client_pool_try_pop(server->pool);
    if (!client)
        err_set(err, STATUS_HOST, "more threads than connections to %s: lower %s", server->address.hosts,
                server->reads ? "--clients" : "--threads");
    return client;
}

void server_give(server_t *server, mongoc_client_t *client) {
    if (client)
        mongoc_client_pool_push(server->pool, client);
}

/* ---- patience ---- */

patience_t server_patience(const server_t *server) {
    int64_t patience = server->patience_ns;
    const int64_t left = server->clean_until_ns - clock_now_ns();
    if (server->clean_until_ns && patience > left)
        patience = left;
    /* after a server was lost, later commands wait for less time */
    if (server->gave_up && patience > LONGEST_PAUSE_NS)
        patience = LONGEST_PAUSE_NS;
    const int64_t now = clock_now_ns();
    return (patience_t){
        .deadline_ns = now + patience, .pause_ns = FIRST_PAUSE_NS, .say_ns = now + SAY_FIRST_NS};
}

void server_clean_up(server_t *server) {
    if (!stop_signal() && !server->gave_up)
        return;
    server->clean_until_ns = clock_now_ns() + CLEAN_UP_NS;
    server->gave_up = false;
}

static bool stopped(server_t *server, err_t *err) {
    int number = stop_signal();
    if (!number || clock_now_ns() < server->clean_until_ns)
        return false;
    server->gave_up = true;
    err_set(err, (status_t)(128 + number), "interrupted while the server did not answer");
    return true;
}

bool server_again(server_t *server, mongoc_client_t *client, patience_t *patience, const bson_error_t *error,
                  const bson_t *reply, const char *doing, err_t *err) {
    if (refusal_of(error, reply) == CODE_PASSING)
        return server_wait(server, client, patience, error, reply, doing, err);
    patience->tries++;
    return refusal_explain(server_address(server), error, reply, doing, err);
}

bool server_wait(server_t *server, mongoc_client_t *client, patience_t *patience, const bson_error_t *error,
                 const bson_t *reply, const char *doing, err_t *err) {
    patience->tries++;
    if (stopped(server, err))
        return false;
    int64_t left = patience->deadline_ns - clock_now_ns();
    if (left <= 0 && !(host_has_descriptors(err) && host_has_threads(err))) {
        server->gave_up = true;
        return false;
    }
    bson_error_t said = *error;
    char time[UNITS_MAX];
    const char *hint = connect_describe(&server->address, client, &said);
    if (left <= 0) {
        refusal_explain(server_address(server), &said, reply, doing, err);
        err_add(err, "; that lasted for longer than --patience (%s): %s%s run the same command again",
                units_time(time, (double)server->patience_ns / 1e9),
                server->catalog ? "when the server is back" : hint, server->catalog ? "," : ", then");
        server->gave_up = true;
        return false;
    }
    if (!server->catalog && clock_now_ns() >= patience->say_ns) {
        log_note("waiting: %s; %s; --patience ends in %s", said.message, hint,
                 units_time(time, (double)left / 1e9));
        patience->say_ns += SAY_EACH_NS;
    }
    int64_t until = clock_now_ns() + (patience->pause_ns < left ? patience->pause_ns : left);
    patience->pause_ns =
        patience->pause_ns * 2 < LONGEST_PAUSE_NS ? patience->pause_ns * 2 : LONGEST_PAUSE_NS;
    for (int64_t now; (now = clock_now_ns()) < until;) {
        struct timespec nap = {.tv_nsec = until - now < NAP_NS ? until - now : NAP_NS};
        nanosleep(&nap, NULL);
        if (stopped(server, err))
            return false;
    }
    return true;
}

/* ---- commands ---- */

/* A reply may be ok and still contain failures. */
static bool write_failed(const bson_t *reply, bson_error_t *error) {
    bson_iter_t list, code;
    bson_t said;
    const bool refused = bson_read_list(reply, "writeErrors", &list) && bson_read_next(&list, &said);
    if (!refused && !bson_read_field(reply, "writeConcernError", &said))
        return false;
    bson_set_error(error, refused ? MONGOC_ERROR_SERVER : MONGOC_ERROR_WRITE_CONCERN,
                   bson_iter_init_find(&code, &said, "code") ? (uint32_t)bson_iter_as_int64(&code) : 0, "%s",
                   bson_read_text(&said, "errmsg"));
    return true;
}

int server_code(const bson_t *reply) {
    bson_iter_t iter;
    bson_error_t error;
    if (bson_iter_init_find(&iter, reply, "code"))
        return (int)bson_iter_as_int64(&iter);
    return write_failed(reply, &error) ? (int)error.code : 0;
}

/* "run 'find' on mot.results.tipple.files" */
static void name_command(const char *database, const bson_t *command, char *text, size_t size) {
    bson_iter_t first;
    bool named = bson_iter_init(&first, command) && bson_iter_next(&first);
    bool collection = named && BSON_ITER_HOLDS_UTF8(&first);
    snprintf(text, size, "run '%s' on %s%s%s", named ? bson_iter_key(&first) : "", database,
             collection ? "." : "", collection ? bson_iter_utf8(&first, NULL) : "");
}

bool server_command(server_t *server, mongoc_client_t *client, const char *database, const bson_t *command,
                    bool writes, bson_t *reply, err_t *err) {
    char doing[400];
    bson_t whole, answer;
    bson_error_t error;
    bool ok;
    if (server->gave_up && stopped(server, err)) {
        if (reply)
            bson_init(reply);
        return false;
    }
    name_command(database, command, doing, sizeof doing);
    bson_copy_to(command, &whole);
    if (writes)
        bson_concat(&whole, server->catalog);
    patience_t patience = server_patience(server);
    for (;;) {
        ok = mongoc_client_command_simple(client, database, &whole, NULL, &answer, &error);
        if (ok && writes)
            ok = !write_failed(&answer, &error);
        if (ok || !server_again(server, client, &patience, &error, &answer, doing, err))
            break;
        bson_destroy(&answer);
    }
    bson_destroy(&whole);
    if (ok && server->gave_up) /* it is back */
        server->gave_up = false;
    if (!reply)
        bson_destroy(&answer);
    else if (!bson_steal(reply, &answer))
        bson_init(reply);
    return ok;
}

bool server_ask(server_t *server, mongoc_client_t *client, bson_t *command, bson_t *reply, err_t *err) {
    const bool ok = server_command(server, client, server->address.database, command, false, reply, err);
    bson_destroy(command);
    return ok;
}

bool server_process(server_t *server, mongoc_client_t *client, char hex[25], err_t *err) {
    bson_t *hello = BCON_NEW("hello", BCON_INT32(1)), reply;
    bool ok = server_command(server, client, "admin", hello, false, &reply, err);
    bson_destroy(hello);
    const bson_oid_t *process = bson_read_oid(&reply, "topologyVersion.processId");
    if (ok && process)
        bson_oid_to_string(process, hex);
    else if (ok)
        ok = err_set(err, STATUS_USAGE,
                     "the server at %s does not report which process it is, so that nothing could be "
                     "proved durable: is it a MongoDB server?",
                     server->address.hosts);
    bson_destroy(&reply);
    return ok;
}

/* ---- cursors ---- */

/* Chooses the server to ask, and the session, for the command and for all later requests of its cursor. */
static bool choose(command_cursor_t *cursor) {
    mongoc_session_opt_t *plain = mongoc_session_opts_new();
    mongoc_session_opts_set_causal_consistency(plain, false);
    cursor->session = mongoc_client_start_session(cursor->client, plain, &cursor->error);
    mongoc_session_opts_destroy(plain);
    mongoc_server_description_t *server =
        cursor->session ? mongoc_client_select_server(cursor->client, false, cursor->prefs, &cursor->error)
                        : NULL;
    if (!server || !mongoc_client_session_append(cursor->session, &cursor->same, &cursor->error)) {
        mongoc_server_description_destroy(server);
        return false;
    }
    bson_append_int32(&cursor->same, "serverId", -1, (int32_t)mongoc_server_description_id(server));
    mongoc_server_description_destroy(server);
    return true;
}

/* ---- replies ---- */

static bool has_no_cursor(command_cursor_t *cursor) {
    bson_set_error(&cursor->error, MONGOC_ERROR_CURSOR, MONGOC_ERROR_CURSOR_INVALID_CURSOR,
                   "the server's reply has no cursor that can be read");
    return false;
}

/* The collection of the cursor, as the server calls it: "database.collection". "": the reply does not name it. */
static const char *collection_of(const command_cursor_t *cursor) {
    const char *dot = strchr(bson_read_text(&cursor->reply, "cursor.ns"), '.');
    return dot ? dot + 1 : "";
}

/* Takes the reply, and of it the cursor's id and its batch. */
static bool take(command_cursor_t *cursor, bson_t *reply, const char *batch) {
    bson_iter_t id;
    bson_destroy(&cursor->reply);
    bson_steal(&cursor->reply, reply);
    if (!bson_read_at(&cursor->reply, "cursor.id", &id) || !BSON_ITER_HOLDS_NUMBER(&id) ||
        !bson_read_list(&cursor->reply, batch, &cursor->rest) || !*collection_of(cursor))
        return has_no_cursor(cursor);
    cursor->id = bson_iter_as_int64(&id);
    return true;
}

/* ---- requests ---- */

void command_cursor_begin(command_cursor_t *cursor, mongoc_client_t *client, const char *database,
                          const bson_t *command, const bson_t *options, const mongoc_read_prefs_t *prefs) {
    bson_t driver = BSON_INITIALIZER, reply;
    bson_iter_t option;
    *cursor = (command_cursor_t){.client = client, .database = database, .open = true};
    bson_init(&cursor->reply);
    bson_init(&cursor->same);
    cursor->prefs = mongoc_read_prefs_copy(prefs ? prefs : mongoc_client_get_read_prefs(client));
    if (options && bson_iter_init_find(&option, options, "batchSize"))
        cursor->batch = bson_iter_as_int64(&option);
    bool ok = choose(cursor);
    if (ok) {
        /* otherwise the driver adds the client's read concern */
        if (options && bson_iter_init_find(&option, options, "readConcern"))
            bson_append_iter(&driver, NULL, 0, &option);
        bson_concat(&driver, &cursor->same);
        ok = (options ? mongoc_client_read_command_with_opts : mongoc_client_command_with_opts)(
            client, database, command, cursor->prefs, &driver, &reply, &cursor->error);
        if (ok) {
            ok = take(cursor, &reply, "cursor.firstBatch");
        } else {
            bson_destroy(&cursor->reply);
            bson_steal(&cursor->reply, &reply);
        }
    }
    cursor->failed = !ok;
    bson_destroy(&driver);
}

void command_cursor_find(command_cursor_t *cursor, mongoc_client_t *client, const char *database,
                         const char *collection, const bson_t *filter, const bson_t *options,
                         const mongoc_read_prefs_t *prefs) {
    bson_t command = BSON_INITIALIZER;
    bson_append_utf8(&command, "find", -1, collection, -1);
    bson_append_document(&command, "filter", -1, filter);
    bson_copy_to_excluding_noinit(options, &command, "readConcern", NULL);
    command_cursor_begin(cursor, client, database, &command, options, prefs);
    bson_destroy(&command);
}

/* The next batch, which may be empty. */
static bool get_more(command_cursor_t *cursor) {
    bson_t command = BSON_INITIALIZER, reply;
    bson_append_int64(&command, "getMore", -1, cursor->id);
    bson_append_utf8(&command, "collection", -1, collection_of(cursor), -1);
    if (cursor->batch > 0)
        bson_append_int64(&command, "batchSize", -1, cursor->batch);
    bool ok = mongoc_client_command_with_opts(cursor->client, cursor->database, &command, cursor->prefs,
                                              &cursor->same, &reply, &cursor->error);
    bson_destroy(&command);
    if (ok)
        return take(cursor, &reply, "cursor.nextBatch");
    bson_destroy(&cursor->reply);
    bson_steal(&cursor->reply, &reply);
    return false;
}

bool command_cursor_next(command_cursor_t *cursor, const bson_t **document) {
    while (cursor->open && !cursor->failed) {
        if (bson_iter_next(&cursor->rest)) {
            cursor->failed = !bson_read_document(&cursor->rest, &cursor->document) && !has_no_cursor(cursor);
            *document = &cursor->document;
            return !cursor->failed;
        }
        if (!cursor->id)
            return false;
        cursor->failed = !get_more(cursor);
    }
    return false;
}

bool command_cursor_failed(command_cursor_t *cursor, bson_error_t *error, const bson_t **reply) {
    *error = cursor->error;
    *reply = &cursor->reply;
    return cursor->failed;
}

/* If the connection is lost, no new one is made to close the cursor: the server closes it after some time. */
static void close_at_server(command_cursor_t *cursor) {
    const bool lost = cursor->failed && cursor->error.domain != MONGOC_ERROR_SERVER &&
                      cursor->error.domain != MONGOC_ERROR_CURSOR;
    if (!cursor->id || !*collection_of(cursor) || lost)
        return;
    bson_t *command = BCON_NEW("killCursors", BCON_UTF8(collection_of(cursor)), "cursors", "[",
                               BCON_INT64(cursor->id), "]");
    mongoc_client_command_with_opts(cursor->client, cursor->database, command, cursor->prefs, &cursor->same,
                                    NULL, NULL);
    bson_destroy(command);
}

void command_cursor_end(command_cursor_t *cursor) {
    if (!cursor->open)
        return;
    close_at_server(cursor);
    if (cursor->session)
        mongoc_client_session_destroy(cursor->session);
    bson_destroy(&cursor->reply);
    bson_destroy(&cursor->same);
    mongoc_read_prefs_destroy(cursor->prefs);
    *cursor = (command_cursor_t){.open = false};
}

/* ---- the server's own work ---- */

bool server_load_status(mongoc_client_t *client, bson_t *reply, bson_error_t *error) {
    bson_t *command = BCON_NEW("serverStatus", BCON_INT32(1));
    const bool ok = mongoc_client_command_simple(client, "admin", command, NULL, reply, error);
    bson_destroy(command);
    return ok;
}

double server_load_cores(mongoc_client_t *client) {
    bson_t *command = BCON_NEW("hostInfo", BCON_INT32(1)), reply;
    bool ok = mongoc_client_command_simple(client, "admin", command, NULL, &reply, NULL);
    double all = ok ? bson_read_number(&reply, "system.numCores") : NAN,
           own = ok ? bson_read_number(&reply, "system.numCoresAvailableToProcess") : NAN;
    bson_destroy(command);
    bson_destroy(&reply);
    return own > 0 && own < all ? own : all;
}
