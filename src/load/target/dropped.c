/* dropped: a drop takes away what a user has set. Whatever this load does not make again is named before the drop, in one
 * paragraph. Only balancing that is off is off again when the collection is placed anew. */
#include "base/document.h"
#include "base/log.h"
#include "load/job/job.h"
#include "server/bson_read.h"
#include "server/cluster.h"

#include <stdlib.h>
#include <string.h>

/* The paragraph: a line for each thing that is lost, after a heading. */
typedef struct {
    const job_t *job;
    bool any;
} loss_t;

static bool lose(loss_t *loss, text_t *line, err_t *err) {
    char *words = text_take(line, err);
    if (!words)
        return false;
    if (!loss->any)
        log_warn("--drop of %s takes away settings that this load does not make again. Set again what is "
                 "still needed after the load:",
                 server_namespace(loss->job->server));
    loss->any = true;
    log_paste(words);
    free(words);
    return true;
}

static bool lose_document(loss_t *loss, const char *what, const bson_t *document, const char *more,
                          err_t *err) {
    text_t line = {.length = 0};
    text_append(&line, what);
    ejson_append(&line, document, true);
    text_append(&line, more);
    return lose(loss, &line, err);
}

/* ---- options and indexes ---- */

/* A load has options of its own for the first two; the last two say nothing without a validator. */
static bool is_loss(const job_t *job, const bson_t *options, const char *option) {
    const bool of_validator = strncmp(option, "validation", 10) == 0;
    return strcmp(option, "clusteredIndex") != 0 && strcmp(option, "storageEngine") != 0 &&
           strcmp(option, "autoIndexId") != 0 && !job_has_option(job, option) &&
           (!of_validator || bson_has_field(options, "validator"));
}

static bool lose_options(loss_t *loss, err_t *err) {
    const job_t *job = loss->job;
    bson_t reply, entry, options, lost = BSON_INITIALIZER;
    bson_iter_t at;
    bool ok = collection_ask(job->server, job->client, &reply, err);
    if (ok && bson_read_batch(&reply, &at) && bson_read_next(&at, &entry) &&
        bson_read_field(&entry, "options", &options) && bson_iter_init(&at, &options))
        while (bson_iter_next(&at))
            if (is_loss(job, &options, bson_iter_key(&at)))
                bson_append_iter(&lost, NULL, 0, &at);
    if (!bson_empty(&lost))
        ok = lose_document(loss, "options ", &lost, "", err);
    bson_destroy(&lost);
    bson_destroy(&reply);
    return ok;
}

static bool is_built_again(const job_t *job, const index_spec_t *index) {
    const bool collated = job_has_option(job, "collation");
    bool again = false;
    for (size_t i = 0; !again && i < job->index_count; i++)
        again = collection_same_index(index, &job->indexes[i],
                                      collated && job_gets_collation(job, &job->indexes[i]));
    return again;
}

static bool is_of_key(const index_spec_t *index, const shardkey_t *key, bool unique) {
    index_spec_t of_key = {.keys = key->spec, .name = ""};
    bson_init(&of_key.options);
    if (unique)
        BSON_APPEND_BOOL(&of_key.options, "unique", true);
    const bool same = collection_same_index(index, &of_key, false);
    bson_destroy(&of_key.options);
    return same;
}

static bool is_unique(const sharding_t *sharding) {
    return bson_read_true(&sharding->entry, "unique");
}

/* Of the `_id`, or of the shard key, with which it goes; or it comes with the new one. */
static bool is_servers_own(const job_t *job, const bson_t *listed, const index_spec_t *index,
                           const sharding_t *sharding) {
    const char *wanted = job->spec->shard_key;
    shardkey_t key;
    err_t ignored;
    if (strcmp(index->name, "_id_") == 0 || bson_has_field(listed, "clustered"))
        return true;
    if (sharding && sharding->sharded && is_of_key(index, &sharding->key, is_unique(sharding)))
        return true;
    if (!wanted || job_shards_nothing(job) || !shardkey_parse(wanted, &key, &ignored))
        return false;
    const bool own = is_of_key(index, &key, false);
    shardkey_free(&key);
    return own;
}

static bool lose_indexes(loss_t *loss, const sharding_t *sharding, err_t *err) {
    const job_t *job = loss->job;
    bson_t reply, listed;
    bson_iter_t at;
    err_t ignored;
    bool ok = true;
    /* who may drop it may not always list its indexes */
    if (collection_ask_indexes(job->server, job->client, &reply, &ignored) && bson_read_batch(&reply, &at))
        while (ok && bson_read_next(&at, &listed)) {
            index_spec_t index;
            if (!collection_take_index(&listed, &index, &ignored))
                continue;
            if (!is_servers_own(job, &listed, &index, sharding) && !is_built_again(job, &index))
                ok = lose_document(loss, "index ", &listed, "", err);
            collection_free_index(&index);
        }
    bson_destroy(&reply);
    return ok;
}

static bool lose_made(loss_t *loss, const sharding_t *sharding, err_t *err) {
    const job_t *job = loss->job;
    return !job->place.exists || job->spec->trial ||
           (lose_options(loss, err) && lose_indexes(loss, sharding, err));
}

/* ---- of a sharded collection ---- */

/* No two `_id`s are the same anyway. */
static bool lose_key(loss_t *loss, const sharding_t *sharding, err_t *err) {
    const job_t *job = loss->job;
    const shardkey_t *key = &sharding->key;
    const bool unique = is_unique(sharding) && !job_asks_for_unique_key(job, key);
    return key->is_id || (job->spec->shard_key && !unique) ||
           lose_document(loss, "shard key ", &key->spec, unique ? ", unique" : "", err);
}

/* The size of its chunks, and whether they are merged and moved: servers keep no other switches. */
static bool lose_chunks(loss_t *loss, const sharding_t *sharding, err_t *err) {
    static const char *const switches[] = {"maxChunkSizeBytes", "enableAutoMerge", "permitMigrations"};
    bson_t set = BSON_INITIALIZER;
    bson_iter_t at;
    for (size_t i = 0; i < COUNT(switches); i++)
        if (bson_iter_init_find(&at, &sharding->entry, switches[i]) &&
            (BSON_ITER_HOLDS_BOOL(&at) ? !bson_iter_bool(&at) : bson_iter_as_int64(&at) > 0))
            bson_append_iter(&set, NULL, 0, &at);
    const bool ok = bson_empty(&set) || lose_document(loss, "chunks ", &set, "", err);
    bson_destroy(&set);
    return ok;
}

static bool lose_range(loss_t *loss, const bson_t *range, err_t *err) {
    bson_t min, max;
    text_t line = {.length = 0};
    text_append(&line, "zone range ");
    ejson_append_text(&line, bson_read_text(range, "tag"));
    if (bson_read_field(range, "min", &min) && bson_read_field(range, "max", &max)) {
        text_append(&line, " from ");
        ejson_append(&line, &min, true);
        text_append(&line, " to ");
        ejson_append(&line, &max, true);
    }
    return lose(loss, &line, err);
}

static bool lose_zones(loss_t *loss, const zones_t *zones, err_t *err) {
    const char *name = server_namespace(loss->job->server);
    bool ok = true;
    for (size_t i = 0; ok && i < zones->ranges.count; i++) {
        const bson_t *range = zones->ranges.documents[i];
        if (!zones_is_own(name, bson_read_text(range, "tag")))
            ok = lose_range(loss, range, err);
    }
    return ok;
}

bool job_tell_dropped(job_t *job, err_t *err) {
    loss_t loss = {.job = job};
    zones_t zones = {.hidden = false};
    sharding_t sharding;
    balancing_t balancing;
    if (server_facts(job->server)->kind != SERVER_ROUTER)
        return lose_made(&loss, NULL, err);
    const bool ok =
        sharding_read(job->server, job->client, NULL, &sharding, err) &&
        zones_read(job->server, job->client, &zones, err) &&
        balancing_read(job->server, job->client, &balancing, err) && lose_zones(&loss, &zones, err) &&
        (!sharding.sharded || (lose_key(&loss, &sharding, err) && lose_chunks(&loss, &sharding, err))) &&
        lose_made(&loss, &sharding, err);
    /* a load may hold another collection, which had this name before */
    job->was_off = ok && sharding.unbalanced && (balancing.state == BALANCING_OFF || balancing.renamed);
    sharding_free(&sharding);
    zones_free(&zones);
    return ok;
}
