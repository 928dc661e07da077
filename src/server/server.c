#include "server/server.h"
#include "base/clock.h"
#include "base/host.h"
#include "base/numbers.h"
#include "base/stop.h"
#include "server/absence.h"
#include "server/await.h"
#include "server/bson_read.h"
#include "server/refusal.h"
#include "server/server_inner.h"

#include <stdio.h>
#include <string.h>
#include <time.h>

enum { UUID_MAJOR = 6 };

static const int64_t FIRST_PAUSE_NS = 10 * SERVER_MS, LONGEST_PAUSE_NS = 1000 * SERVER_MS,
                     NAP_NS = 10 * SERVER_MS,
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

int64_t server_patience_ns(const server_t *server) {
    return server->patience_ns;
}

const mongoc_write_concern_t *server_data_concern(const server_t *server) {
    return server->data;
}

const mongoc_write_concern_t *server_catalog_concern(const server_t *server) {
    return server->catalog;
}

mongoc_client_t *server_take(server_t *server, err_t *err) {
    mongoc_client_t *client = mongoc_client_pool_try_pop(server->pool);
    if (client)
        await_stop(client);
    else
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
    /* after a server was lost, cleaning up must not wait that long again */
    if (server->gave_up && patience > LONGEST_PAUSE_NS)
        patience = LONGEST_PAUSE_NS;
    return (patience_t){.deadline_ns = clock_now_ns() + patience, .pause_ns = FIRST_PAUSE_NS};
}

void server_answered(server_t *server) {
    if (server->gave_up)
        server->gave_up = false;
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
    err_set(err, (status_t)(128 + number), "interrupted while the server did not answer%s",
            server->resumes ? "; the same command resumes from there" : "");
    return true;
}

bool server_again(server_t *server, mongoc_client_t *client, patience_t *patience, const bson_error_t *error,
                  const bson_t *reply, const char *doing, err_t *err) {
    if (refusal_of(error, reply) == REFUSAL_GONE)
        return server_wait(server, client, patience, error, reply, doing, err);
    patience->tries++;
    return refusal_explain(server_address(server), error, reply, doing, err);
}

/* A server that has never answered may be another than is meant. */
static const char *what_then(const server_t *server, bool own_names) {
    return own_names ? "make these names known and reachable here, or, where one server is enough, add "
                       "directConnection=true to the URI; then run the same command again"
           : !server->catalog
               ? "see that the server runs and that the URI has its host and port, then run the same "
                 "command again"
           : server->resumes ? "when the server is back, the same command resumes from there"
                             : "when the server is back, run the same command again";
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
    if (left <= 0) {
        bson_error_t last = *error;
        char time[UNITS_MAX];
        const bool own_names =
            absence_describe(&server->address, client, error, last.message, sizeof last.message);
        refusal_explain(server_address(server), &last, reply, doing, err);
        err_add(err, "; that lasted for longer than --patience (%s): %s",
                units_time(time, server->patience_ns), what_then(server, own_names && !server->catalog));
        server->gave_up = true;
        return false;
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

static void error_of(const bson_iter_t *at, uint32_t domain, bson_error_t *error) {
    bson_iter_t field;
    memset(error, 0, sizeof *error);
    error->domain = domain;
    if (bson_iter_recurse(at, &field) && bson_iter_find(&field, "code"))
        error->code = (uint32_t)bson_iter_as_int64(&field);
    if (bson_iter_recurse(at, &field) && bson_iter_find(&field, "errmsg") && BSON_ITER_HOLDS_UTF8(&field))
        bson_strncpy(error->message, bson_iter_utf8(&field, NULL), sizeof error->message);
}

/* A reply may be ok and still contain failures. */
static bool write_failed(const bson_t *reply, bson_error_t *error) {
    bson_iter_t iter, first;
    if (bson_iter_init_find(&iter, reply, "writeErrors") && BSON_ITER_HOLDS_ARRAY(&iter) &&
        bson_iter_recurse(&iter, &first) && bson_iter_next(&first) && BSON_ITER_HOLDS_DOCUMENT(&first)) {
        error_of(&first, MONGOC_ERROR_SERVER, error);
        return true;
    }
    if (bson_iter_init_find(&iter, reply, "writeConcernError") && BSON_ITER_HOLDS_DOCUMENT(&iter)) {
        error_of(&iter, MONGOC_ERROR_WRITE_CONCERN, error);
        return true;
    }
    return false;
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
        bson_concat(&whole, server->catalog_option);
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
    if (ok)
        server_answered(server);
    if (!reply)
        bson_destroy(&answer);
    else if (!bson_steal(reply, &answer))
        bson_init(reply);
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
                     "the server at %s does not tell which process it is, so that nothing could be "
                     "proved durable: is it a MongoDB server?",
                     server->address.hosts);
    bson_destroy(&reply);
    return ok;
}
