#include "target/presence.h"
#include "base/clock.h"
#include "base/host.h"
#include "target/inner.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* Longer than a server is usually away, so that a load that waits for one is not taken for dead. */
enum { LEASE_MS = 20000 };

static const int64_t BEAT_NS = 4000000000;

struct presence {
    server_t *server;
    mongoc_client_t *client;
    bson_oid_t id;
    int64_t beat_ns;
};

static void name_loads(const server_t *server, char name[300]) {
    snprintf(name, 300, "%s.tipple.loads", server_collection(server));
}

/* date: a field that gets this host's time, and tells of it; or NULL. */
static bool write_load(presence_t *presence, const char *date, const bson_t *fields, err_t *err) {
    bson_t command = BSON_INITIALIZER, updates, statement, query, update, set, now;
    char name[300], host[256] = "", processes[HOST_PROCESSES];
    name_loads(presence->server, name);
    BSON_APPEND_UTF8(&command, "update", name);
    BSON_APPEND_ARRAY_BEGIN(&command, "updates", &updates);
    BSON_APPEND_DOCUMENT_BEGIN(&updates, "0", &statement);
    BSON_APPEND_DOCUMENT_BEGIN(&statement, "q", &query);
    BSON_APPEND_OID(&query, "_id", &presence->id);
    bson_append_document_end(&statement, &query);
    BSON_APPEND_DOCUMENT_BEGIN(&statement, "u", &update);
    BSON_APPEND_DOCUMENT_BEGIN(&update, "$currentDate", &now);
    BSON_APPEND_BOOL(&now, "seen", true);
    if (!presence->beat_ns)
        BSON_APPEND_BOOL(&now, "since", true);
    bson_append_document_end(&update, &now);
    if (date || fields)
        BSON_APPEND_DOCUMENT_BEGIN(&update, "$set", &set);
    if (date) {
        gethostname(host, sizeof host - 1);
        host_processes(processes);
        BSON_APPEND_DATE_TIME(&set, date, clock_wall_ms());
        BSON_APPEND_UTF8(&set, "host", host);
        BSON_APPEND_INT32(&set, "process", (int32_t)getpid());
        BSON_APPEND_UTF8(&set, "processes", processes);
    }
    if (fields)
        bson_concat(&set, fields);
    if (date || fields)
        bson_append_document_end(&update, &set);
    bson_append_document_end(&statement, &update);
    BSON_APPEND_BOOL(&statement, "upsert", true);
    bson_append_document_end(&updates, &statement);
    bson_append_array_end(&command, &updates);
    bool ok = server_command(presence->server, presence->client, server_database(presence->server), &command,
                             true, NULL, err);
    bson_destroy(&command);
    presence->beat_ns = clock_now_ns();
    return ok;
}

presence_t *presence_open(server_t *server, mongoc_client_t *client, const bson_t *fields, err_t *err) {
    presence_t *presence = calloc(1, sizeof *presence);
    if (!presence) {
        err_memory(err, sizeof *presence);
        return NULL;
    }
    presence->server = server;
    presence->client = client;
    bson_oid_init(&presence->id, NULL);
    if (write_load(presence, "started", fields, err))
        return presence;
    free(presence);
    return NULL;
}

bool presence_beat(presence_t *presence, uint64_t documents, err_t *err) {
    if (clock_now_ns() - presence->beat_ns < BEAT_NS)
        return true;
    bson_t *fields = BCON_NEW("documents", BCON_INT64((int64_t)documents));
    bool ok = write_load(presence, NULL, fields, err);
    bson_destroy(fields);
    return ok;
}

bool presence_close(presence_t *presence, const bson_t *fields, err_t *err) {
    bool ok = !presence || write_load(presence, "ended", fields, err);
    free(presence);
    return ok;
}

/* Of this host, and no longer there: nobody needs to wait for the end of its lease. */
static bool is_gone(const bson_t *load, const char *here) {
    bson_iter_t processes, process;
    return bson_iter_init_find(&processes, load, "processes") && BSON_ITER_HOLDS_UTF8(&processes) &&
           bson_iter_init_find(&process, load, "process") &&
           host_is_gone(here, bson_iter_utf8(&processes, NULL), bson_iter_as_int64(&process));
}

static alive_t read_load(const bson_t *load) {
    alive_t alive = {.process = 0};
    bson_iter_t at;
    for (bool ok = bson_iter_init(&at, load); ok && bson_iter_next(&at);) {
        const char *key = bson_iter_key(&at);
        if (strcmp(key, "_id") == 0 && BSON_ITER_HOLDS_OID(&at))
            bson_oid_copy(bson_iter_oid(&at), &alive.id);
        else if (strcmp(key, "host") == 0 && BSON_ITER_HOLDS_UTF8(&at))
            snprintf(alive.host, sizeof alive.host, "%s", bson_iter_utf8(&at, NULL));
        else if (strcmp(key, "process") == 0)
            alive.process = bson_iter_as_int64(&at);
        else if (strcmp(key, "started") == 0 && BSON_ITER_HOLDS_DATE_TIME(&at))
            alive.started_ms = bson_iter_date_time(&at);
        else if (strcmp(key, "documents") == 0)
            alive.documents = bson_iter_as_int64(&at);
    }
    return alive;
}

static bool take_alive(const bson_t *reply, alive_t **alive, size_t *count, err_t *err) {
    char here[HOST_PROCESSES];
    bson_iter_t at;
    bson_t load;
    size_t room = 0;
    host_processes(here);
    if (!inner_batch(reply, &at))
        return true;
    while (inner_next(&at, &load)) {
        if (is_gone(&load, here))
            continue;
        if (*count == room) {
            room = room ? 2 * room : 16;
            alive_t *larger = realloc(*alive, room * sizeof *larger);
            if (!larger)
                return err_memory(err, room * sizeof *larger);
            *alive = larger;
        }
        (*alive)[(*count)++] = read_load(&load);
    }
    return true;
}

bool presence_list(server_t *server, mongoc_client_t *client, alive_t **alive, size_t *count, err_t *err) {
    char name[300];
    bson_t reply;
    name_loads(server, name);
    bson_t *command =
        BCON_NEW("aggregate", BCON_UTF8(name), "pipeline", "[", "{", "$match", "{", "ended", "{", "$exists",
                 BCON_BOOL(false), "}", "$expr", "{", "$gt", "[", BCON_UTF8("$seen"), "{", "$subtract", "[",
                 BCON_UTF8("$$NOW"), BCON_INT32(LEASE_MS), "]", "}", "]", "}", "}", "}", "{", "$project", "{",
                 "processes", BCON_INT32(1), "process", BCON_INT32(1), "host", BCON_INT32(1), "started",
                 BCON_INT32(1), "documents", BCON_INT32(1), "}", "}", "]", "cursor", "{", "batchSize",
                 BCON_INT32(10000), "}", "readConcern", "{", "level", BCON_UTF8("majority"), "}");
    bool ok = server_command(server, client, server_database(server), command, false, &reply, err);
    bson_destroy(command);
    *alive = NULL;
    *count = 0;
    ok = ok && take_alive(&reply, alive, count, err);
    bson_destroy(&reply);
    return ok;
}

bool presence_count(server_t *server, mongoc_client_t *client, size_t *alive, err_t *err) {
    alive_t *loads;
    bool ok = presence_list(server, client, &loads, alive, err);
    free(loads);
    return ok;
}

const bson_oid_t *presence_id(const presence_t *presence) {
    return &presence->id;
}

server_t *presence_server(const presence_t *presence) {
    return presence->server;
}

mongoc_client_t *presence_client(const presence_t *presence) {
    return presence->client;
}
