/* dropped: what a drop takes away with a collection that a person has set, most of it where it is sharded. Balancing that is off
 * is noted, and is off again behind the load; of all else a person is told, with the commands that restore it. */
#include "base/ejson.h"
#include "base/log.h"
#include "load/job/job.h"
#include "server/bson_read.h"
#include "server/chunks/sharding.h"
#include "server/presplit/zones.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

/* A command for the mongo shell. */
static bool paste(text_t *line, err_t *err) {
    char *words = text_take(line, err);
    const bool any = words;
    if (any)
        log_paste(words);
    free(words);
    return any;
}

static bool print_range(const char *name, const bson_t *range, err_t *err) {
    bson_t min, max;
    text_t line = {.length = 0};
    text_append(&line, "sh.updateZoneKeyRange(");
    ejson_append_text(&line, name);
    text_append(&line, ", ");
    bool known = bson_read_field(range, "min", &min) && ejson_append_for_shell(&line, &min);
    text_append(&line, ", ");
    known = known && bson_read_field(range, "max", &max) && ejson_append_for_shell(&line, &max);
    text_append(&line, ", ");
    ejson_append_text(&line, zones_of_range(range));
    text_append(&line, ")");
    if (known)
        return paste(&line, err);
    text_free(&line);
    return true;
}

static bool print_balancing(const char *name, const sharding_t *sharding, err_t *err) {
    text_t line = {.length = 0};
    text_append(&line, "db.adminCommand({configureCollectionBalancing: ");
    ejson_append_text(&line, name);
    if (sharding->chunk_bytes)
        text_print(&line, ", chunkSize: %" PRId64, sharding->chunk_bytes >> 20);
    text_append(&line, sharding->unmerged ? ", enableAutoMerger: false})" : "})");
    return paste(&line, err);
}

static bool print_moves(const char *name, err_t *err) {
    text_t line = {.length = 0};
    text_append(&line, "sh.disableMigrations(");
    ejson_append_text(&line, name);
    text_append(&line, ")");
    return paste(&line, err);
}

/* The size of its chunks, and whether they are merged and moved: other switches are nothing that a server keeps. */
static bool print_settings(const char *name, const sharding_t *sharding, err_t *err) {
    const bool balancing = sharding->chunk_bytes || sharding->unmerged;
    if (!balancing && !sharding->unmoved)
        return true;
    log_warn("--drop of %s takes away how a person has set its chunks. If that is to be so again after the "
             "load:",
             name);
    return (!balancing || print_balancing(name, sharding, err)) &&
           (!sharding->unmoved || print_moves(name, err));
}

/* The load shards it by another one, if none is given. */
static bool tell_key(const job_t *job, const shardkey_t *key, err_t *err) {
    if (job->spec->shard_key || key->is_id)
        return true;
    char *text = ejson_print(&key->spec, true, NULL);
    if (!text)
        return err_memory(err, key->spec.len);
    log_warn("--drop of %s takes away its shard key %s, and without --shard-key it will be sharded on "
             "{ \"_id\" : 1 }",
             server_namespace(job->server), text);
    free(text);
    return true;
}

/* Of `_id`s no two are the same anyway. */
static bool tell_unique(const job_t *job, const sharding_t *sharding, err_t *err) {
    const shardkey_t *key = &sharding->key;
    if (!sharding->unique || key->is_id || job_asks_for_unique_key(job, key))
        return true;
    text_t fields = {.length = 0};
    for (size_t i = 0; i < key->count; i++)
        text_print(&fields, "%s%s:1", i ? "," : "", key->fields[i].path);
    char *text = text_take(&fields, err);
    if (text)
        log_warn("--drop of %s takes away that no two documents have the same shard key. If that is to be so "
                 "again: --shard-key '%s' --index '%s;unique'",
                 server_namespace(job->server), text, text);
    free(text);
    return text != NULL;
}

static bool tell_sharding(const job_t *job, const sharding_t *sharding, err_t *err) {
    return (!sharding->sharded || (tell_key(job, &sharding->key, err) && tell_unique(job, sharding, err) &&
                                   print_settings(server_namespace(job->server), sharding, err))) &&
           job_tell_made(job, sharding, err);
}

/* Servers take no range of another key. */
static bool is_of_another_key(const job_t *job, const sharding_t *sharding) {
    const char *wanted = job->spec->shard_key;
    shardkey_t key;
    err_t ignored;
    if (!sharding->sharded || job_shards_nothing(job) ||
        !shardkey_parse(wanted ? wanted : "_id", &key, &ignored))
        return false;
    const bool another = !shardkey_same(&key, &sharding->key);
    shardkey_free(&key);
    return another;
}

static bool tell_zones(const job_t *job, const zones_t *zones, const sharding_t *sharding, err_t *err) {
    const char *name = server_namespace(job->server);
    bool ok = true;
    if (zones->others)
        log_warn("--drop of %s takes away its zone ranges that a person has set (%zu). If they are to be "
                 "there again%s after the load:",
                 name, zones->others,
                 is_of_another_key(job, sharding)
                     ? ", load with --drop and the shard key that they are of, and"
                     : "");
    for (size_t i = 0; ok && i < zones->ranges.count; i++)
        if (!zones_is_own(zones, name, zones->ranges.documents[i]) &&
            strcmp(zones_namespace(zones->ranges.documents[i]), name) == 0)
            ok = print_range(name, zones->ranges.documents[i], err);
    return ok;
}

bool job_tell_dropped(job_t *job, err_t *err) {
    zones_t zones;
    sharding_t sharding;
    balancer_t hold = BALANCER_ON;
    if (server_facts(job->server)->kind != SERVER_ROUTER)
        return job_tell_made(job, NULL, err);
    bool ok = zones_read(job->server, job->client, NULL, &zones, err) &&
              (!zones.unbalanced || balancer_look(job->server, job->client, &hold, NULL, err));
    job->was_off = hold == BALANCER_PERSONS || hold == BALANCER_IN_DOUBT;
    if (ok) {
        ok = sharding_read(job->server, job->client, NULL, &sharding, err) &&
             tell_zones(job, &zones, &sharding, err) && tell_sharding(job, &sharding, err);
        sharding_free(&sharding);
    }
    zones_free(&zones);
    return ok;
}

/* In the catalog, whose header is there and outlives the drop: whoever loads next, it is done. */
bool job_note_dropped(job_t *job, err_t *err) {
    return !job->was_off || balancer_note_off(job->server, job->client, err);
}

void job_keep_off(job_t *job) {
    const char *name = server_namespace(job->server);
    bool owed;
    err_t err;
    if (balancer_keep_off(job->server, job->client, &owed, &err) || !owed)
        return;
    char *quoted = ejson_text(name);
    log_warn("balancing of %s was off before --drop, and is on now: sh.disableBalancing(%s) turns it off "
             "again (%s)",
             name, quoted ? quoted : "...", err.text);
    free(quoted);
}
