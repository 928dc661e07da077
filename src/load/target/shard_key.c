/* shard_key: what has to go with the key by which a collection is sharded, or is about to be: unique indexes, the values of records,
 * and `_id`s that the data bring. A key stays for good, so all of it is checked before anything is touched. */
#include "base/document.h"
#include "base/log.h"
#include "base/numbers.h"
#include "format/record/own_id.h"
#include "load/plan/sample.h"
#include "load/run/job.h"
#include "server/bson_read.h"
#include "server/cluster.h"

#include <stdlib.h>
#include <string.h>

/* ---- `_id`s ----
 *
 * Where the `_id`s of documents are the data's own, two records may have one; servers notice that only where the shard key
 * brings both to one shard. A collection may be sharded by a load, by a user before it, or while it runs; and its shard key may get
 * more fields. So this is checked before the first byte, and each time before something counts as done. */

static bool check_field(const job_t *job, const char *path, err_t *err) {
    const own_id_t *id = job->schema->id;
    if (!own_id_decides(id, path, err))
        return false;
    if (job->existing == EXISTING_REJECT || !id->kept || strcmp(path, "_id") == 0)
        return true;
    return err_set(err, STATUS_USAGE,
                   "--existing %s does not go with '%s' in the shard key: two documents with one _id could "
                   "be on two shards, and %s; use _id as the shard key",
                   existing_names[job->existing], path,
                   job->existing == EXISTING_REPLACE ? "only one of them would be replaced"
                                                     : "both would be kept");
}

bool job_check_key_of_ids(const job_t *job, const shardkey_t *key, err_t *err) {
    for (size_t i = 0; job->schema->id && i < key->count; i++)
        if (!check_field(job, key->fields[i].path, err))
            return false;
    return true;
}

/* True where any key of the data's own fields will do: documents of a dump may lie wherever they lay before. */
static bool any_key_will_do(const job_t *job) {
    return job->schema->id->kept && job->existing == EXISTING_REJECT;
}

static bool check_hidden(const job_t *job, err_t *err) {
    bool sharded;
    if (!sharding_is_any(job->server, job->client, &sharded, err))
        return false;
    return !sharded || err_set(err, STATUS_USAGE,
                               "%s is sharded, and this user may not read by which key: if that is not made "
                               "of the _id, two records with one _id could be on two shards, and nobody "
                               "would notice. The role clusterMonitor has what it takes",
                               server_namespace(job->server));
}

static bool check_now(const job_t *job, const sharding_t *sharding, err_t *err) {
    if (!sharding->sharded || job_check_key_of_ids(job, &sharding->key, err))
        return true;
    const err_t why = *err;
    char *key = ejson_print(&sharding->key.spec, true, NULL);
    err_set(err, why.status, "%s is sharded on %s: %.1000s", server_namespace(job->server), key ? key : "...",
            why.text);
    free(key);
    return false;
}

bool job_check_unique_ids(const job_t *job, err_t *err) {
    sharding_t sharding;
    if (!job->schema->id || any_key_will_do(job) || !job->place.exists ||
        server_facts(job->server)->kind != SERVER_ROUTER)
        return true;
    const bool ok = sharding_read(job->server, job->client, job->place.uuid, &sharding, err) &&
                    (sharding.hidden ? check_hidden(job, err) : check_now(job, &sharding, err));
    sharding_free(&sharding);
    return ok;
}

/* ---- unique indexes ----
 *
 * A shard can only see that a value is there twice on itself. So servers build a unique index of a sharded collection only where
 * it begins with the shard key, or with the `_id`. They say so when the index is built: after the load, and after --drop. */

/* By the fields' names, whatever their order or kind, as a server sees it. */
static bool fits(const index_spec_t *index, const shardkey_t *key) {
    bson_iter_t at;
    size_t same = 0;
    bool more = bson_iter_init(&at, &index->keys) && bson_iter_next(&at);
    if (more && strcmp(bson_iter_key(&at), "_id") == 0)
        return true;
    for (; more && same < key->count && strcmp(bson_iter_key(&at), key->fields[same].path) == 0; same++)
        more = bson_iter_next(&at);
    return same == key->count;
}

static bool check_unique_indexes(const job_t *job, const shardkey_t *key, bool present, err_t *err) {
    for (size_t i = 0; i < job->index_count; i++) {
        const index_spec_t *index = &job->indexes[i];
        if (!bson_read_true(&index->options, "unique") || fits(index, key))
            continue;
        char *text = ejson_print(&key->spec, true, NULL);
        err_set(err, STATUS_USAGE,
                "the unique index %s cannot be built where %s is sharded on %s: such an index has to begin "
                "with the shard key, or with _id. %s --shard-key the first fields of the index, or none; or "
                "%s. No record was loaded",
                index->name, server_namespace(job->server), text ? text : "...",
                present ? "The key stays until --drop: with that, give" : "Give",
                job_has_asked(job, index) ? "take --index without ;unique" : JOB_NO_METADATA);
        free(text);
        return false;
    }
    return true;
}

/* ---- the index of the key ----
 *
 * A collection gets an index of its shard key when it is sharded, under the name that servers give it. One of the same fields that is
 * asked for, unique or under another name, could not be built after that. So it is built first, and servers take it for the
 * shard key. What servers do not take, they refuse when indexes are built, after the load. */

/* Servers want an index that has all documents, in the order of their bytes. */
static bool may_be_of_key(const index_spec_t *index) {
    const bool simple = !bson_has_field(&index->options, "collation") ||
                        strcmp(bson_read_text(&index->options, "collation.locale"), "simple") == 0;
    return simple && !bson_read_true(&index->options, "sparse") &&
           !bson_read_true(&index->options, "hidden") &&
           !bson_has_field(&index->options, "partialFilterExpression");
}

static bool refuse_expiry(const index_spec_t *index, err_t *err) {
    return err_set(err, STATUS_USAGE,
                   "the index %s has the fields of the shard key, so that it is there before the load, and "
                   "would remove documents while they are loaded: leave expireAfterSeconds out, and set that "
                   "after the load (collMod). Nothing was touched",
                   index->name);
}

static bool is_of_key(const shardkey_t *key, const index_spec_t *index) {
    return collection_same_keys(&index->keys, &key->spec);
}

static bool check_key_index(const job_t *job, err_t *err) {
    const shardkey_t *key = &job->shard_key;
    bool ok = true;
    for (size_t i = 0; ok && !key->is_id && i < job->index_count; i++)
        ok = !bson_has_field(&job->indexes[i].options, "expireAfterSeconds") ||
             !is_of_key(key, &job->indexes[i]) || refuse_expiry(&job->indexes[i], err);
    return ok;
}

bool job_build_key_index(const job_t *job, const shardkey_t *key, err_t *err) {
    collection_built_t ignored;
    bool ok = true;
    for (size_t i = 0; ok && !key->is_id && i < job->index_count; i++)
        if (is_of_key(key, &job->indexes[i]) && may_be_of_key(&job->indexes[i]))
            ok = collection_build_index(job->server, job->client, &job->indexes[i], &ignored, err);
    return ok;
}

/* ---- values ----
 *
 * Where most records have no value for a field of the shard key, most documents go to one shard: some records are checked. */

static size_t count_without(const sample_t *sample, const char *path) {
    bson_iter_t at;
    size_t count = 0;
    for (size_t i = 0; i < sample->count; i++)
        count += bson_iter_init_find(&at, sample->keys[i], path) && BSON_ITER_HOLDS_NULL(&at);
    return count;
}

/* A column that a format names may be empty for a while; of records that bring their own fields the name may be wrong. */
static bool judge_field(const job_t *job, const char *path, size_t without, size_t looked_at, err_t *err) {
    char none[UNITS_MAX], all[UNITS_MAX];
    units_count(none, without);
    units_count(all, looked_at);
    if (without == looked_at && schema_any_fields(job->schema))
        return err_set(err, STATUS_USAGE,
                       "--shard-key %s: none of the %s records that were looked at has a value of '%s', and "
                       "all documents would go to one shard. Check the name; or shard the empty collection "
                       "yourself (sh.shardCollection), and load into that. Nothing was touched",
                       job->spec->shard_key, all, path);
    if (without > looked_at / 2)
        log_warn("--shard-key %s: %s of the %s records that were looked at have no value of '%s': their "
                 "documents may all go to one shard, and a shard key stays for good",
                 job->spec->shard_key, none, all, path);
    return true;
}

static bool check_key_values(const job_t *job, err_t *err) {
    shardkey_t key = job->shard_key;
    sample_t sample = {NULL, 0};
    for (size_t i = 0; i < key.count; i++)
        key.fields[i].hashed = false; /* the values themselves */
    bool ok = key.is_id || (key.count == 1 && strcmp(key.fields[0].path, "_id") == 0) ||
              sample_take(job->schema, &job->manifest, &key, &sample, err);
    for (size_t i = 0; ok && sample.count && i < key.count; i++)
        ok = strcmp(key.fields[i].path, "_id") == 0 ||
             judge_field(job, key.fields[i].path, count_without(&sample, key.fields[i].path), sample.count,
                         err);
    sample_free(&sample);
    return ok;
}

/* ---- all of it ---- */

/* The collection is about to be sharded. */
bool job_check_new_key(const job_t *job, err_t *err) {
    return check_unique_indexes(job, &job->shard_key, false, err) && check_key_index(job, err) &&
           (!job->spec->shard_key || check_key_values(job, err));
}

static bool refuse_key(const job_t *job, const shardkey_t *present, err_t *err) {
    char *text = ejson_print(&present->spec, true, NULL);
    err_set(err, STATUS_USAGE,
            "%s is sharded on %s already, not on --shard-key %s; leave the option out, or --drop the "
            "collection",
            server_namespace(job->server), text ? text : "...", job->spec->shard_key);
    free(text);
    return false;
}

bool job_check_present_key(const job_t *job, err_t *err) {
    sharding_t sharding;
    bool ok = sharding_read(job->server, job->client, NULL, &sharding, err);
    if (ok && sharding.sharded) {
        const bool same = !job->one_shard && collection_same_keys(&sharding.key.spec, &job->shard_key.spec);
        ok = (same || !job->spec->shard_key || refuse_key(job, &sharding.key, err)) &&
             check_unique_indexes(job, &sharding.key, true, err);
    }
    sharding_free(&sharding);
    return ok;
}
