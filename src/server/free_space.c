/* Free space on the disks of the servers, while a load runs. free_space.h has the contract. */
#include "server/free_space.h"
#include "base/clock.h"
#include "base/log.h"
#include "base/numbers.h"
#include "base/text.h"
#include "base/threads.h"
#include "server/bson_read.h"
#include "server/server_inner.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const int64_t EVERY_NS = 10000LL * SERVER_MS, CONNECT_NS = 1000LL * SERVER_MS,
                     ANSWER_NS = 3000LL * SERVER_MS, MOMENT_NS = 50LL * SERVER_MS;
/* the size of an oplog by MongoDB's default: a share of the disk, within bounds */
static const double LOW_SHARE = 0.05, OPLOG_SHARE = 0.05, OPLOG_LEAST = 990e6, OPLOG_MOST = 50e9;

enum { MOST_HOSTS = 64 /* a replica set has at most 50 */, MOST_DISKS = 1024 };

typedef struct {
    char name[200]; /* of a member, or "shard s0" */
    double free_bytes, size;
    int64_t seen_ns;
    free_space_verdict_t warned; /* of what the user knows */
} disk_t;

struct free_space {
    char database[64];
    mongoc_client_t *hosts[MOST_HOSTS];
    size_t host_count;
    server_kind_t kind;
    double to_come; /* text */

    pthread_mutex_t lock; /* guards the members below */
    pthread_cond_t changed;
    bool stopping;
    int users; /* the load and the thread */
    disk_t disks[MOST_DISKS];
    size_t disk_count;
};

free_space_verdict_t free_space_judge(double free_bytes, double size, double needed) {
    if (free_bytes < size * LOW_SHARE)
        return FREE_SPACE_LOW;
    return free_bytes < needed ? FREE_SPACE_SHORT : FREE_SPACE_FINE;
}

double free_space_needed(double text, double size, bool has_oplog) {
    const double oplog = fmin(fmax(size * OPLOG_SHARE, OPLOG_LEAST), OPLOG_MOST);
    return has_oplog ? text + fmin(text, oplog) : text;
}

/* ---- disks, with the lock held ---- */

/* What a server says of a database that it does not have is 0 of 0. */
static void note(free_space_t *space, const char *name, const bson_t *stats) {
    const double size = bson_read_number(stats, "fsTotalSize"), used = bson_read_number(stats, "fsUsedSize");
    disk_t *disk = space->disks, *end = disk + space->disk_count;
    while (disk < end && strcmp(disk->name, name) != 0)
        disk++;
    if (!(size > 0) || isnan(used) || disk == space->disks + MOST_DISKS)
        return;
    space->disk_count += disk == end;
    snprintf(disk->name, sizeof disk->name, "%s", name);
    disk->free_bytes = size - used;
    disk->size = size;
    disk->seen_ns = clock_now_ns();
}

/* A router's answer has those of the shards' primaries in `raw`, by "s0" or "s0/a:1,b:2". */
static void note_all(free_space_t *space, const char *host, const bson_t *reply) {
    bson_iter_t shards;
    bson_t raw, stats;
    char name[sizeof space->disks->name];
    note(space, host, reply);
    if (!bson_read_field(reply, "raw", &raw))
        return;
    for (bson_iter_init(&shards, &raw); bson_iter_next(&shards);) {
        const char *key = bson_iter_key(&shards);
        snprintf(name, sizeof name, "shard %.*s", (int)strcspn(key, "/"), key);
        if (bson_read_document(&shards, &stats))
            note(space, name, &stats);
    }
}

static void warn(const free_space_t *space, disk_t *disk) {
    char left[UNITS_MAX], size[UNITS_MAX], bytes[UNITS_MAX], more[80] = "";
    const double share = space->kind == SERVER_ROUTER ? (double)space->disk_count : 1;
    const double needed =
        free_space_needed(space->to_come / share, disk->size, space->kind != SERVER_STANDALONE);
    const free_space_verdict_t verdict = free_space_judge(disk->free_bytes, disk->size, needed);
    if (verdict <= disk->warned)
        return;
    disk->warned = verdict;
    if (verdict == FREE_SPACE_SHORT)
        snprintf(more, sizeof more, ", and what is still to be loaded may need %s",
                 units_size(bytes, needed));
    log_warn("the disk of %s has %s of %s free%s: make room, because a server ends when its disk is full",
             disk->name, units_size(left, disk->free_bytes), units_size(size, disk->size), more);
}

/* Of several disks, the sentence names the one with the least free space. */
static void explain(const free_space_t *space, err_t *err) {
    char ago[UNITS_MAX], left[UNITS_MAX], size[UNITS_MAX];
    const disk_t *worst = NULL;
    for (const disk_t *disk = space->disks; disk < space->disks + space->disk_count; disk++)
        if (!worst || disk->free_bytes < worst->free_bytes)
            worst = disk;
    if (worst && (!(space->to_come > 0) || worst->warned))
        err_add(err,
                "; %s before that, the disk of %s had %s of %s free: if it is full, make room before you "
                "start the server",
                units_time(ago, (double)(clock_now_ns() - worst->seen_ns) / 1e9), worst->name,
                units_size(left, worst->free_bytes), units_size(size, worst->size));
}

/* ---- the thread ---- */

/* Called with the lock, which it gives up while it waits for the answer. */
static void ask(free_space_t *space, mongoc_client_t *host) {
    bson_t reply, *command = BCON_NEW("dbStats", BCON_INT32(1));
    pthread_mutex_unlock(&space->lock);
    const bool ok = mongoc_client_command_simple(host, space->database, command, NULL, &reply, NULL);
    pthread_mutex_lock(&space->lock);
    if (ok)
        note_all(space, mongoc_uri_get_hosts(mongoc_client_get_uri(host))->host_and_port, &reply);
    bson_destroy(command);
    bson_destroy(&reply);
}

/* The load and the thread call it with the lock; the last of them frees everything. */
static void leave(free_space_t *space) {
    const bool last = --space->users == 0;
    pthread_cond_signal(&space->changed);
    pthread_mutex_unlock(&space->lock);
    if (!last)
        return;
    for (size_t i = 0; i < space->host_count; i++)
        mongoc_client_destroy(space->hosts[i]);
    pthread_mutex_destroy(&space->lock);
    pthread_cond_destroy(&space->changed);
    free(space);
}

static void *watch(void *context) {
    free_space_t *space = context;
    pthread_mutex_lock(&space->lock);
    while (!space->stopping) {
        const int64_t due_ns = clock_now_ns() + EVERY_NS;
        for (size_t i = 0; i < space->host_count && !space->stopping; i++)
            ask(space, space->hosts[i]);
        for (size_t i = 0; i < space->disk_count && !space->stopping; i++)
            warn(space, &space->disks[i]);
        for (bool due = false; !due && !space->stopping;)
            due = condition_wait_until(&space->changed, &space->lock, due_ns);
    }
    leave(space);
    return NULL;
}

/* ---- for the load ---- */

static void add_host(free_space_t *space, const server_t *server, const char *name) {
    const server_options_t options = {.patience_ns = CONNECT_NS, .reply_ns = ANSWER_NS};
    address_t address;
    err_t ignored;
    if (!address_of_hosts(&server->address, name, NULL, &address, &ignored))
        return;
    connect_set_options(address.uri, &options);
    mongoc_uri_set_option_as_bool(address.uri, MONGOC_URI_DIRECTCONNECTION, true);
    space->hosts[space->host_count] = mongoc_client_new_from_uri(address.uri);
    space->host_count += space->hosts[space->host_count] != NULL;
    address_free(&address);
}

free_space_t *free_space_begin(server_t *server, mongoc_client_t *client, uint64_t to_come) {
    free_space_t *space = ZEROED(free_space_t);
    pthread_t thread;
    size_t count;
    if (!space)
        return NULL;
    snprintf(space->database, sizeof space->database, "%s", server_database(server));
    space->kind = server->facts.kind;
    space->to_come = (double)to_come;
    space->users = 2;
    pthread_mutex_init(&space->lock, NULL);
    condition_init(&space->changed);
    /* the driver knows all members of a replica set, and all routers of the URI, one of which is enough */
    mongoc_server_description_t **all = mongoc_client_get_server_descriptions(client, &count);
    for (size_t i = 0; i < count && space->host_count < (space->kind == SERVER_ROUTER ? 1 : MOST_HOSTS); i++)
        if (strcmp(mongoc_server_description_type(all[i]), "Unknown") != 0)
            add_host(space, server, mongoc_server_description_host(all[i])->host_and_port);
    mongoc_server_descriptions_destroy_all(all, count);
    if (caller_start_thread(&thread, watch, space) == 0) {
        pthread_detach(thread);
        return space;
    }
    space->users = 1;
    free_space_end(space, NULL);
    return NULL;
}

void free_space_end(free_space_t *space, err_t *err) {
    if (!space)
        return;
    pthread_mutex_lock(&space->lock);
    space->stopping = true;
    pthread_cond_signal(&space->changed);
    /* a thread that asks nobody ends at once */
    const int64_t due_ns = clock_now_ns() + MOMENT_NS;
    for (bool due = false; space->users > 1 && (!due || caller_current());)
        due = condition_wait_until(&space->changed, &space->lock, caller_current() ? INT64_MAX : due_ns);
    if (err && err->status == STATUS_SERVER)
        explain(space, err);
    connect_outlived |= space->users > 1;
    leave(space);
}
