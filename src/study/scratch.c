#include "study/scratch.h"
#include "base/clock.h"
#include "base/host/host.h"
#include "base/log.h"
#include "base/stop.h"
#include "base/text.h"
#include "server/bson_read.h"
#include "server/collection.h"
#include "server/presplit/undo.h"
#include "server/server_errors.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <unistd.h>

static const int64_t LEASE_NS = 60000000000, RENEW_NS = 15000000000;

/* Renews the mark while the main thread does something that takes long. */
typedef struct {
    pthread_t thread;
    pthread_mutex_t lock;
    pthread_cond_t over;
    mongoc_client_t *client;
    bool runs, ends, lost; /* lost: the mark belongs to another study now */
} keeper_t;

struct scratch {
    char *uri;
    int64_t patience_ns;
    server_t *server;
    mongoc_client_t *client;
    char name[256]; /* with the database, for people */
    char mark[300]; /* the collection of the mark */
    bson_oid_t owner;
    int64_t until_ns; /* until then the mark is ours */
    bool no_checkpoints, marked;
    keeper_t keeper;
};

/* ---- its URI ---- */

/* The first `count` of "a,b,c"; 0: all. */
static size_t hosts_length(const char *hosts, size_t length, size_t count) {
    for (size_t i = 0; count && i < length; i++)
        if (hosts[i] == ',' && --count == 0)
            return i;
    return length;
}

/* Copies the options except those that will get other values ("w="), each after an ampersand. */
static void copy_query(text_t *to, const char *query, const char *const *but, size_t count) {
    while (*query) {
        const size_t length = strcspn(query, "&");
        bool other = false;
        for (size_t i = 0; i < count; i++)
            other = other || strncasecmp(query, but[i], strlen(but[i])) == 0;
        if (!other)
            text_print(to, "&%.*s", (int)length, query);
        query += length + (query[length] != '\0');
    }
}

/* A driver that was built without a compressor ignores it, without an error that a program could see. */
static bool has_compressors(const address_t *address, const char *wire, err_t *err) {
    const bson_t *known = mongoc_uri_get_compressors(address->uri);
    for (const char *at = wire; *at;) {
        char name[32];
        const size_t length = strcspn(at, ",");
        snprintf(name, sizeof name, "%.*s", (int)length, at);
        if (strcmp(name, "none") != 0 && !(known && bson_has_field(known, name)))
            return err_set(err, STATUS_USAGE,
                           "'%s' is no wire compressor that this tipple was built with: leave it out", name);
        at += length + (at[length] == ',');
    }
    return true;
}

char *scratch_uri(const char *uri, const char *tail, size_t routers, const char *wire, const char *concern,
                  err_t *err) {
    address_t address;
    if (!address_parse(&address, uri, err)) /* if this succeeds, everything is where it should be */
        return NULL;
    address_free(&address);
    const char *authority = strstr(uri, "://") + 3;
    const size_t authority_length = strcspn(authority, "/");
    const char *at = memrchr(authority, '@', authority_length);
    const char *hosts = at ? at + 1 : authority, *path = authority + authority_length;
    const size_t path_length = strcspn(path, "?");
    const char *query = path[path_length] ? path + path_length + 1 : "";
    text_t text = {.length = 0};
    const char *but[2];
    size_t but_count = 0;
    if (wire)
        but[but_count++] = "compressors=";
    if (concern)
        but[but_count++] = "w=";
    const size_t length = hosts_length(hosts, authority_length - (size_t)(hosts - authority), routers);
    text_print(&text, "%.*s%.*s%.*s%s", (int)(hosts - uri), uri, (int)length, hosts, (int)path_length, path,
               tail);
    const size_t options = text.length;
    copy_query(&text, query, but, but_count);
    if (wire && strcmp(wire, "none") != 0)
        text_print(&text, "&compressors=%s", wire);
    if (concern)
        text_print(&text, "&w=%s", concern);
    if (text.length > options)
        text.bytes[options] = '?';
    char *made = text_take(&text, err);
    if (!made)
        return NULL;
    bool ok = address_parse(&address, made, err);
    if (ok) {
        ok = !wire || has_compressors(&address, wire, err);
        address_free(&address);
    } else {
        err_where(err, "the collection for trials (the target's name with %s after it)", tail);
    }
    if (ok)
        return made;
    free(made);
    return NULL;
}

/* ---- the mark ---- */

/* Makes the mark, or renews it if it is ours. *code: CODE_DUPLICATE_KEY if it belongs to another study. */
static bool write_mark(scratch_t *scratch, mongoc_client_t *client, int64_t for_ns, int *code, err_t *err) {
    char host[256] = "", processes[HOST_PROCESSES];
    bson_t reply;
    gethostname(host, sizeof host - 1);
    host_processes(processes);
    bson_t *command =
        BCON_NEW("update", BCON_UTF8(scratch->mark), "updates", "[", "{", "q", "{", "_id", BCON_UTF8("mark"),
                 "owner", BCON_OID(&scratch->owner), "}", "u", "[", "{", "$set", "{", "until", "{", "$add",
                 "[", BCON_UTF8("$$NOW"), BCON_INT64(for_ns / 1000000), "]", "}", "host", "{", "$literal",
                 BCON_UTF8(host), "}", "processes", "{", "$literal", BCON_UTF8(processes), "}", "process",
                 BCON_INT32((int32_t)getpid()), "}", "}", "]", "upsert", BCON_BOOL(true), "}", "]");
    bool ok =
        server_command(scratch->server, client, server_database(scratch->server), command, true, &reply, err);
    *code = ok ? 0 : server_code(&reply);
    bson_destroy(command);
    bson_destroy(&reply);
    return ok;
}

typedef struct {
    bool there, alive;
    bson_oid_t owner;
    char host[256];
    int64_t process;
} mark_t;

static void take_mark(const bson_t *document, mark_t *mark) {
    bson_iter_t at;
    const char *processes = "";
    char here[HOST_PROCESSES];
    bool leased = false;
    mark->there = true;
    for (bool ok = bson_iter_init(&at, document); ok && bson_iter_next(&at);) {
        const char *key = bson_iter_key(&at);
        if (strcmp(key, "owner") == 0 && BSON_ITER_HOLDS_OID(&at))
            bson_oid_copy(bson_iter_oid(&at), &mark->owner);
        else if (strcmp(key, "host") == 0 && BSON_ITER_HOLDS_UTF8(&at))
            snprintf(mark->host, sizeof mark->host, "%s", bson_iter_utf8(&at, NULL));
        else if (strcmp(key, "processes") == 0 && BSON_ITER_HOLDS_UTF8(&at))
            processes = bson_iter_utf8(&at, NULL);
        else if (strcmp(key, "process") == 0)
            mark->process = bson_iter_as_int64(&at);
        else if (strcmp(key, "leased") == 0)
            leased = bson_iter_as_bool(&at);
    }
    host_processes(here);
    mark->alive = leased && !host_is_gone(here, processes, mark->process);
}

static bool read_mark(scratch_t *scratch, mark_t *mark, err_t *err) {
    bson_t reply, document;
    bson_iter_t marks;
    *mark = (mark_t){.there = false};
    bson_t *command =
        BCON_NEW("aggregate", BCON_UTF8(scratch->mark), "pipeline", "[", "{", "$match", "{", "_id",
                 BCON_UTF8("mark"), "}", "}", "{", "$addFields", "{", "leased", "{", "$gt", "[",
                 BCON_UTF8("$until"), BCON_UTF8("$$NOW"), "]", "}", "}", "}", "]", "cursor", "{", "}");
    bool ok = server_command(scratch->server, scratch->client, server_database(scratch->server), command,
                             false, &reply, err);
    bson_destroy(command);
    if (ok && bson_read_batch(&reply, &marks) && bson_read_next(&marks, &document))
        take_mark(&document, mark);
    bson_destroy(&reply);
    return ok;
}

static bool remove_mark(scratch_t *scratch, const bson_oid_t *owner, err_t *err) {
    bson_t *command =
        BCON_NEW("delete", BCON_UTF8(scratch->mark), "deletes", "[", "{", "q", "{", "_id", BCON_UTF8("mark"),
                 "owner", BCON_OID(owner), "}", "limit", BCON_INT32(1), "}", "]");
    bool ok = server_command(scratch->server, scratch->client, server_database(scratch->server), command,
                             true, NULL, err);
    bson_destroy(command);
    return ok;
}

static bool is_busy(const scratch_t *scratch, const mark_t *mark, err_t *err) {
    return err_set(
        err, STATUS_USAGE,
        "another study (process %lld on %s) tries things out in %s at this moment: wait for its end. If it "
        "was killed, that is known within a minute",
        (long long)mark->process, mark->host, server_namespace(scratch->server));
}

/* *left: a study that died has left something here. */
static bool take_over(scratch_t *scratch, bool *left, err_t *err) {
    mark_t mark;
    collection_t place;
    int code;
    if (!read_mark(scratch, &mark, err) ||
        !collection_identity(scratch->server, scratch->client, &place, err))
        return false;
    if (place.exists && !mark.there)
        return err_set(
            err, STATUS_USAGE,
            "%s exists, and it is not a study's: trials would be made in a collection of this name. Rename "
            "or drop it",
            server_namespace(scratch->server));
    if (mark.alive)
        return is_busy(scratch, &mark, err);
    *left = mark.there;
    if (mark.there && !remove_mark(scratch, &mark.owner, err))
        return false;
    const int64_t now = clock_now_ns();
    scratch->marked = write_mark(scratch, scratch->client, LEASE_NS, &code, err);
    scratch->until_ns = now + LEASE_NS;
    if (code == CODE_DUPLICATE_KEY && read_mark(scratch, &mark, err)) /* another study was faster */
        is_busy(scratch, &mark, err);
    return scratch->marked;
}

/* ---- from beginning to end ---- */

static void clear_zones(scratch_t *scratch) {
    undone_t undone;
    err_t ignored;
    if (server_facts(scratch->server)->kind != SERVER_ROUTER)
        return;
    undo(scratch->server, scratch->client, NULL, &undone);
    if (!undone.hidden)
        undo_tell(scratch->server, &undone, "", &ignored);
}

static bool join(scratch_t *scratch, err_t *err) {
    const server_options_t options = {
        .uri = scratch->uri, .patience_ns = scratch->patience_ns, .connections = 3};
    return (scratch->server = server_connect(&options, err)) &&
           (scratch->client = server_take(scratch->server, err));
}

static void leave(scratch_t *scratch) {
    if (scratch->client)
        server_give(scratch->server, scratch->client);
    server_destroy(scratch->server);
    scratch->client = NULL;
    scratch->server = NULL;
}

scratch_t *scratch_open(const char *uri, const char *tail, int64_t patience_ns, err_t *err) {
    bool left = false;
    char *own = scratch_uri(uri, tail, 0, NULL, NULL, err);
    scratch_t *scratch = own ? calloc(1, sizeof *scratch) : NULL;
    if (!scratch) {
        if (own)
            err_memory(err, sizeof *scratch);
        free(own);
        return NULL;
    }
    scratch->uri = own;
    scratch->patience_ns = patience_ns;
    bool ok = join(scratch, err);
    if (ok) {
        bson_oid_init(&scratch->owner, NULL);
        snprintf(scratch->name, sizeof scratch->name, "%s", server_namespace(scratch->server));
        snprintf(scratch->mark, sizeof scratch->mark, "%s" OWN_MARK, server_collection(scratch->server));
        ok = take_over(scratch, &left, err);
    }
    if (ok && left) {
        log_note("%s is left from a study that was killed: dropped", server_namespace(scratch->server));
        clear_zones(scratch);
        ok = scratch_drop(scratch, err);
    }
    if (ok)
        return scratch;
    err_t why = *err, ignored;
    scratch_close(scratch, &ignored);
    *err = why;
    return NULL;
}

server_t *scratch_server(const scratch_t *scratch) {
    return scratch->server;
}

mongoc_client_t *scratch_client(const scratch_t *scratch) {
    return scratch->client;
}

static bool is_lost(scratch_t *scratch, err_t *err) {
    scratch->marked = false;
    return err_set(err, STATUS_SERVER,
                   "%s has become another study's, because this one did nothing for too long",
                   server_namespace(scratch->server));
}

static bool keeper_lost(keeper_t *keeper) {
    pthread_mutex_lock(&keeper->lock);
    const bool lost = keeper->lost;
    pthread_mutex_unlock(&keeper->lock);
    return lost;
}

static bool keep(scratch_t *scratch, int64_t for_ns, err_t *err) {
    const int64_t now = clock_now_ns();
    int code;
    if (scratch->keeper.runs)
        return !keeper_lost(&scratch->keeper) || is_lost(scratch, err);
    if (scratch->until_ns - now > for_ns + RENEW_NS)
        return true;
    if (write_mark(scratch, scratch->client, for_ns + LEASE_NS, &code, err)) {
        scratch->until_ns = now + for_ns + LEASE_NS;
        return true;
    }
    return code == CODE_DUPLICATE_KEY && is_lost(scratch, err);
}

/* True: it is to end. */
static bool keeper_waits(keeper_t *keeper) {
    struct timespec until;
    clock_gettime(CLOCK_MONOTONIC, &until);
    until.tv_sec += RENEW_NS / 1000000000;
    pthread_mutex_lock(&keeper->lock);
    while (!keeper->ends && pthread_cond_timedwait(&keeper->over, &keeper->lock, &until) == 0)
        ;
    const bool ends = keeper->ends;
    pthread_mutex_unlock(&keeper->lock);
    return ends;
}

/* If a server is away, it continues: the next try may succeed. */
static void *keeper_work(void *context) {
    scratch_t *scratch = context;
    keeper_t *keeper = &scratch->keeper;
    int code = 0;
    while (code != CODE_DUPLICATE_KEY && !keeper_waits(keeper)) {
        err_t ignored;
        write_mark(scratch, keeper->client, LEASE_NS, &code, &ignored);
    }
    pthread_mutex_lock(&keeper->lock);
    keeper->lost = code == CODE_DUPLICATE_KEY;
    pthread_mutex_unlock(&keeper->lock);
    return NULL;
}

bool scratch_hold(scratch_t *scratch, err_t *err) {
    keeper_t *keeper = &scratch->keeper;
    pthread_condattr_t monotonic;
    if (!(keeper->client = server_take(scratch->server, err)))
        return false;
    pthread_condattr_init(&monotonic);
    pthread_condattr_setclock(&monotonic, CLOCK_MONOTONIC);
    pthread_mutex_init(&keeper->lock, NULL);
    pthread_cond_init(&keeper->over, &monotonic);
    pthread_condattr_destroy(&monotonic);
    keeper->runs = pthread_create(&keeper->thread, NULL, keeper_work, scratch) == 0;
    return keeper->runs || err_set(err, STATUS_HOST, "no more threads can be made");
}

static void end_keeper(scratch_t *scratch) {
    keeper_t *keeper = &scratch->keeper;
    if (!keeper->client)
        return;
    if (keeper->runs) {
        pthread_mutex_lock(&keeper->lock);
        keeper->ends = true;
        pthread_cond_signal(&keeper->over);
        pthread_mutex_unlock(&keeper->lock);
        pthread_join(keeper->thread, NULL);
        scratch->marked = scratch->marked && !keeper->lost;
    }
    pthread_cond_destroy(&keeper->over);
    pthread_mutex_destroy(&keeper->lock);
    server_give(scratch->server, keeper->client);
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

bool scratch_begin(scratch_t *scratch, int64_t for_ns, bool *checkpoint, err_t *err) {
    if (!keep(scratch, for_ns, err))
        return false;
    const bool made = scratch_checkpoint(scratch);
    if (checkpoint)
        *checkpoint = made;
    return true;
}

static bool drop_mark(scratch_t *scratch, err_t *err) {
    bson_t reply;
    bson_t *command = BCON_NEW("drop", BCON_UTF8(scratch->mark));
    const bool ok = server_command(scratch->server, scratch->client, server_database(scratch->server),
                                   command, true, &reply, err) ||
                    server_code(&reply) == CODE_NAMESPACE_NOT_FOUND;
    bson_destroy(command);
    bson_destroy(&reply);
    return ok;
}

bool scratch_close(scratch_t *scratch, err_t *err) {
    enum { MORE_TRIES = 2 };
    if (!scratch)
        return true;
    end_keeper(scratch);
    bool ok = !scratch->marked || (scratch_drop(scratch, err) && drop_mark(scratch, err));
    /* after a signal, a server that does not answer soon is given up; but a busy cluster needs time for a drop */
    for (int i = 0; !ok && stop_signal() && i < MORE_TRIES; i++) {
        leave(scratch);
        ok = join(scratch, err) && scratch_drop(scratch, err) && drop_mark(scratch, err);
    }
    if (!ok)
        err_where(err, "%s and its catalog are still there, and the next study of this target drops them",
                  scratch->name);
    leave(scratch);
    free(scratch->uri);
    free(scratch);
    return ok;
}
