#include "study/scratch.h"
#include "base/log.h"
#include "base/stop.h"
#include "base/text.h"
#include "catalog/heartbeat.h"
#include "catalog/store/store_mongo.h"
#include "server/cluster.h"
#include "server/collection.h"
#include "server/server_errors.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* A study whose server was away for a while is still alive. */
enum { SILENT_MS = 3 * STORE_LEASE_MS, MOST_TAIL = 40, ID_FROM = 6 };

typedef struct {
    server_t *server;
    mongoc_client_t *client;
} joined_t;

struct scratch {
    char *target; /* its URI */
    const char *tail;
    int64_t patience_ns;
    joined_t studies; /* of the catalog in which studies are entered */
    store_t *store;
    load_id_t id;
    heartbeat_t *heartbeat; /* NULL: the study is not entered */
    char *place;
    joined_t own;
    char name[256]; /* of the collection, with the database */
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

/* The URI of a study's collection. */
static char *place_of(const scratch_t *scratch, const load_id_t *id, err_t *err) {
    char tail[MOST_TAIL];
    size_t used = (size_t)snprintf(tail, sizeof tail, "%s.", scratch->tail);
    for (size_t i = ID_FROM; i < sizeof id->bytes; i++)
        used += (size_t)snprintf(tail + used, sizeof tail - used, "%02x", id->bytes[i]);
    return scratch_uri(scratch->target, tail, err);
}

/* ---- connections ---- */

static bool join(const scratch_t *scratch, const char *uri, joined_t *joined, err_t *err) {
    const server_options_t options = {.uri = uri, .patience_ns = scratch->patience_ns, .connections = 3};
    return (joined->server = server_connect(&options, err)) &&
           (joined->client = server_take(joined->server, err));
}

static void leave(joined_t *joined) {
    if (joined->client)
        server_give(joined->server, joined->client);
    server_destroy(joined->server);
    *joined = (joined_t){.server = NULL};
}

static bool join_own(scratch_t *scratch, err_t *err) {
    const bool ok = join(scratch, scratch->place, &scratch->own, err);
    if (ok)
        snprintf(scratch->name, sizeof scratch->name, "%s", server_namespace(scratch->own.server));
    return ok;
}

static bool join_studies(scratch_t *scratch, err_t *err) {
    char *uri = scratch_uri(scratch->target, scratch->tail, err);
    const bool ok =
        uri && join(scratch, uri, &scratch->studies, err) &&
        (scratch->store = store_mongo_open(scratch->studies.server, scratch->studies.client, err));
    free(uri);
    return ok;
}

/* ---- other studies ---- */

static uint64_t no_documents(void *context) {
    (void)context;
    return 0;
}

static bool enter(scratch_t *scratch, err_t *err) {
    bson_t *fields = BCON_NEW("command", BCON_UTF8("study"));
    const bool ok = store_mongo_enroll(scratch->store, &scratch->id, fields, err);
    bson_destroy(fields);
    scratch->heartbeat =
        ok ? heartbeat_start(scratch->studies.server, &scratch->id, STORE_LEASE_MS, no_documents, NULL, err)
           : NULL;
    return scratch->heartbeat != NULL;
}

static bool end_entry(scratch_t *scratch, const load_id_t *id, err_t *err) {
    bson_t *fields = BCON_NEW("command", BCON_UTF8("study"));
    const bool ok = store_mongo_end(scratch->store, id, fields, err);
    bson_destroy(fields);
    return ok;
}

static void clear_zones(const joined_t *joined) {
    restored_t restored;
    err_t err;
    if (server_facts(joined->server)->kind == SERVER_ROUTER &&
        !cluster_restore(joined->server, joined->client, NULL, &restored, &err) && !restored.hidden)
        log_warn("%s: %s", server_namespace(joined->server), err.text);
}

static bool drop_left(scratch_t *scratch, const load_id_t *id, err_t *err) {
    joined_t joined = {.server = NULL};
    char *place = place_of(scratch, id, err);
    bool ok = place && join(scratch, place, &joined, err);
    if (ok) {
        log_note("%s is left from a study that was killed: dropped", server_namespace(joined.server));
        clear_zones(&joined);
        ok = collection_drop(joined.server, joined.client, err) && end_entry(scratch, id, err);
    }
    leave(&joined);
    free(place);
    return ok;
}

/* Drops what dead studies have left. *alive: how many others run. */
static bool look_at_others(scratch_t *scratch, size_t *alive, err_t *err) {
    loads_t loads = {0};
    bool ok = scratch->store->read_loads(scratch->store, &loads, err);
    *alive = 0;
    for (size_t i = 0; ok && i < loads.count; i++) {
        const load_seen_t *load = &loads.loads[i];
        if (load_id_equal(&load->id, &scratch->id))
            continue;
        if (load_seems_to_run(load, SILENT_MS))
            ++*alive;
        else
            ok = drop_left(scratch, &load->id, err);
    }
    loads_free(&loads);
    return ok;
}

/* A study that begins at this moment may lose its entry: then nobody drops what it leaves if it is killed, too. */
static bool drop_studies(scratch_t *scratch, err_t *err) {
    server_t *server = scratch->studies.server;
    char name[300];
    bson_t reply;
    snprintf(name, sizeof name, "%s" OWN_LOADS, server_collection(server));
    bson_t *command = BCON_NEW("drop", BCON_UTF8(name));
    const bool ok = server_command(server, scratch->studies.client, server_database(server), command, true,
                                   &reply, err) ||
                    server_code(&reply) == CODE_NAMESPACE_NOT_FOUND;
    bson_destroy(command);
    bson_destroy(&reply);
    return ok;
}

/* ---- from beginning to end ---- */

static bool open_all(scratch_t *scratch, err_t *err) {
    size_t alive;
    free(place_of(scratch, &scratch->id,
                  err)); /* a name that is too long is refused before a server is asked */
    return err->status == STATUS_OK && join_studies(scratch, err) && enter(scratch, err) &&
           look_at_others(scratch, &alive, err) && (scratch->place = place_of(scratch, &scratch->id, err)) &&
           join_own(scratch, err);
}

scratch_t *scratch_open(const char *uri, const char *tail, int64_t patience_ns, err_t *err) {
    scratch_t *scratch = calloc(1, sizeof *scratch);
    char *target = strdup(uri);
    if (!scratch || !target) {
        free(scratch);
        free(target);
        err_memory(err, sizeof *scratch);
        return NULL;
    }
    *scratch = (scratch_t){.target = target, .tail = tail, .patience_ns = patience_ns};
    *err = (err_t){.status = STATUS_OK};
    if (open_all(scratch, err))
        return scratch;
    err_t why = *err, ignored;
    scratch_close(scratch, &ignored);
    *err = why;
    return NULL;
}

const char *scratch_place(const scratch_t *scratch) {
    return scratch->place;
}

server_t *scratch_server(const scratch_t *scratch) {
    return scratch->own.server;
}

mongoc_client_t *scratch_client(const scratch_t *scratch) {
    return scratch->own.client;
}

bool scratch_drop(scratch_t *scratch, err_t *err) {
    return collection_drop(scratch->own.server, scratch->own.client, err);
}

bool scratch_checkpoint(scratch_t *scratch) {
    bson_error_t error;
    if (scratch->no_checkpoints)
        return false;
    bson_t *command = BCON_NEW("fsync", BCON_INT32(1));
    bool ok = mongoc_client_command_simple(scratch->own.client, "admin", command, NULL, NULL, &error);
    bson_destroy(command);
    scratch->no_checkpoints = !ok;
    if (!ok)
        log_detail("no checkpoints between trials: %s", error.message);
    return ok;
}

static void leave_all(scratch_t *scratch) {
    heartbeat_stop(scratch->heartbeat);
    store_mongo_close(scratch->store);
    leave(&scratch->own);
    leave(&scratch->studies);
    scratch->heartbeat = NULL;
    scratch->store = NULL;
}

static bool drop_all(scratch_t *scratch, err_t *err) {
    size_t alive;
    return (!scratch->own.client || scratch_drop(scratch, err)) && end_entry(scratch, &scratch->id, err) &&
           look_at_others(scratch, &alive, err) && (alive || drop_studies(scratch, err));
}

bool scratch_close(scratch_t *scratch, err_t *err) {
    enum { MORE_TRIES = 2 };
    if (!scratch)
        return true;
    bool ok = !scratch->heartbeat || drop_all(scratch, err);
    /* after a signal, a server that does not answer soon is given up; but a busy cluster needs time for a drop */
    for (int i = 0; !ok && stop_signal() && i < MORE_TRIES; i++) {
        leave_all(scratch);
        ok = join_studies(scratch, err) && (!scratch->place || join_own(scratch, err)) &&
             drop_all(scratch, err);
    }
    if (!ok)
        err_where(err, "%s and its catalog are still there, and the next study of this target drops them",
                  scratch->name);
    leave_all(scratch);
    free(scratch->target);
    free(scratch->place);
    free(scratch);
    return ok;
}
