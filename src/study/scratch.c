#include "study/scratch.h"
#include "base/host.h"
#include "base/log.h"
#include "base/stop.h"
#include "catalog/store/store_mongo.h"
#include "server/bson_read.h"
#include "server/cluster.h"
#include "server/collection.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* A study gives no sign of life between its loads, and while it verifies hours of data. */
static const double SILENT_MS = 24 * 3600e3;

enum { ID = 12, MOST_TAIL = 40 };

struct scratch {
    char *target, *place; /* the URIs of the target and of the collection */
    int64_t patience_ns;
    server_t *server;
    mongoc_client_t *client;
    bool no_checkpoints;
};

char *scratch_uri(const char *uri, const char *tail, err_t *err) {
    address_t address;
    text_t text = {.length = 0};
    if (!address_parse(&address, uri, err)) /* if this succeeds, the first '?' after the path ends the name */
        return NULL;
    address_free(&address);
    const char *path = strchr(strstr(uri, "://") + 3, '/');
    const size_t length = (size_t)(path - uri) + strcspn(path, "?");
    text_print(&text, "%.*s%s%s", (int)length, uri, tail, strcmp(uri + length, "?") == 0 ? "" : uri + length);
    return text_take(&text, err);
}

/* ---- connections ---- */

static void leave(scratch_t *scratch) {
    if (scratch->client)
        server_give(scratch->server, scratch->client);
    server_destroy(scratch->server);
    free(scratch->place);
    scratch->client = NULL;
    scratch->server = NULL;
    scratch->place = NULL;
}

/* Of the study with this tail and identifier. */
static bool join(scratch_t *scratch, const char *tail, const char *id, err_t *err) {
    char whole[MOST_TAIL];
    snprintf(whole, sizeof whole, "%s.%.*s", tail, ID, id);
    scratch->place = scratch_uri(scratch->target, whole, err);
    const server_options_t options = {
        .uri = scratch->place, .patience_ns = scratch->patience_ns, .connections = 2};
    return scratch->place && (scratch->server = server_connect(&options, err)) &&
           (scratch->client = server_take(scratch->server, err));
}

/* ---- what dead studies have left ---- */

/* By the last load into the collection. */
static bool is_dead(const scratch_t *scratch, const char *loads, bool *dead, err_t *err) {
    char here[HOST_PROCESSES];
    bson_t reply, load;
    bson_iter_t at;
    bson_t *command =
        BCON_NEW("find", BCON_UTF8(loads), "sort", "{", "_id", BCON_INT32(-1), "}", "limit", BCON_INT32(1),
                 "projection", "{", "process", BCON_BOOL(true), "processes", BCON_BOOL(true), "silent", "{",
                 "$subtract", "[", BCON_UTF8("$$NOW"), BCON_UTF8("$seen"), "]", "}", "}");
    host_processes(here);
    const bool ok = server_command(scratch->server, scratch->client, server_database(scratch->server),
                                   command, false, &reply, err);
    *dead = ok && bson_read_batch(&reply, &at) && bson_read_next(&at, &load) &&
            (store_mongo_is_gone(&load, here) || bson_read_number(&load, "silent") > SILENT_MS);
    bson_destroy(command);
    bson_destroy(&reply);
    return ok;
}

static void clear_zones(const scratch_t *scratch) {
    restored_t restored;
    err_t err;
    if (server_facts(scratch->server)->kind == SERVER_ROUTER &&
        !cluster_restore(scratch->server, scratch->client, NULL, &restored, &err) && !restored.hidden)
        log_warn("%s: %s", server_namespace(scratch->server), err.text);
}

static bool drop_left(const scratch_t *scratch, const char *tail, const char *id, err_t *err) {
    scratch_t left = {.target = scratch->target, .patience_ns = scratch->patience_ns};
    bool ok = join(&left, tail, id, err);
    if (ok) {
        log_note("%s is left from a study that was killed: dropped", server_namespace(left.server));
        clear_zones(&left);
        ok = scratch_drop(&left, err);
    }
    leave(&left);
    return ok;
}

/* Each study is known by its catalog: a collection of nearly this name without one is a user's. */
static bool drop_dead(const scratch_t *scratch, const char *tail, err_t *err) {
    const char *own = server_collection(scratch->server);
    const int length = (int)strlen(own) - ID;
    char from[300], to[300];
    bson_t reply, listed;
    bson_iter_t at;
    snprintf(from, sizeof from, "%.*s", length, own);
    snprintf(to, sizeof to, "%.*s/", length - 1, own); /* what comes after the dot */
    bson_t *command = BCON_NEW("listCollections", BCON_INT32(1), "filter", "{", "name", "{", "$gte",
                               BCON_UTF8(from), "$lt", BCON_UTF8(to), "}", "}");
    bool ok = server_command(scratch->server, scratch->client, server_database(scratch->server), command,
                             false, &reply, err),
         dead;
    if (ok && bson_read_batch(&reply, &at))
        while (ok && bson_read_next(&at, &listed)) {
            const char *name = bson_read_text(&listed, "name"), *id = name + length;
            if (strspn(id, "0123456789abcdef") == ID && strcmp(id + ID, OWN_LOADS) == 0)
                ok = is_dead(scratch, name, &dead, err) && (!dead || drop_left(scratch, tail, id, err));
        }
    bson_destroy(command);
    bson_destroy(&reply);
    return ok;
}

/* ---- from beginning to end ---- */

scratch_t *scratch_open(const char *uri, const char *tail, int64_t patience_ns, err_t *err) {
    scratch_t *scratch = calloc(1, sizeof *scratch);
    char id[25];
    bson_oid_t drawn;
    if (!scratch || !(scratch->target = strdup(uri))) {
        free(scratch);
        err_memory(err, sizeof *scratch);
        return NULL;
    }
    bson_oid_init(&drawn, NULL);
    bson_oid_to_string(&drawn, id);
    scratch->patience_ns = patience_ns;
    if (join(scratch, tail, id + sizeof id - 1 - ID, err) && drop_dead(scratch, tail, err))
        return scratch;
    leave(scratch);
    free(scratch->target);
    free(scratch);
    return NULL;
}

const char *scratch_place(const scratch_t *scratch) {
    return scratch->place;
}

server_t *scratch_server(const scratch_t *scratch) {
    return scratch->server;
}

mongoc_client_t *scratch_client(const scratch_t *scratch) {
    return scratch->client;
}

bool scratch_drop(scratch_t *scratch, err_t *err) {
    return collection_drop(scratch->server, scratch->client, err);
}

bool scratch_checkpoint(scratch_t *scratch) {
    bson_error_t error;
    if (scratch->no_checkpoints)
        return false;
    bson_t *command = BCON_NEW("fsync", BCON_INT32(1));
    bool ok = mongoc_client_command_simple(scratch->client, "admin", command, NULL, NULL, &error);
    bson_destroy(command);
    scratch->no_checkpoints = !ok;
    if (!ok)
        log_detail("no checkpoints between trials: %s", error.message);
    return ok;
}

bool scratch_close(scratch_t *scratch, err_t *err) {
    enum { TRIES = 3 };
    if (!scratch)
        return true;
    bool ok = scratch_drop(scratch, err);
    /* after a signal, a server that does not answer soon is given up; but a busy cluster needs time for a drop */
    for (int i = 1; !ok && stop_signal() && i < TRIES; i++) {
        server_clean_up(scratch->server);
        ok = scratch_drop(scratch, err);
    }
    if (!ok)
        err_where(err, "%s and its catalog are still there, and the next study of this target drops them",
                  server_namespace(scratch->server));
    leave(scratch);
    free(scratch->target);
    free(scratch);
    return ok;
}
