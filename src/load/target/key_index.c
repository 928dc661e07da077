/* A collection gets an index of its shard key when it is sharded, under the name that servers give it. One of the same fields that is
 * asked for, unique or under another name, could not be built behind that. So it is built first, and servers take it for the
 * shard key. */
#include "load/job/job.h"
#include "server/bson_read.h"

#include <stdlib.h>
#include <string.h>

static void describe(const shardkey_t *key, index_spec_t *spec) {
    bson_copy_to(&key->spec, &spec->keys);
    bson_init(&spec->options);
    collection_name_index(&spec->keys, spec->name);
}

static bool is_hidden(const index_spec_t *index) {
    return bson_read_true(&index->options, "hidden");
}

/* Servers want an index that has all documents, in the order of their bytes. */
static bool may_be_of_key(const index_spec_t *index) {
    bson_iter_t at, locale;
    const bool simple =
        !bson_iter_init_find(&at, &index->options, "collation") ||
        (bson_iter_init(&at, &index->options) &&
         bson_iter_find_descendant(&at, "collation.locale", &locale) && BSON_ITER_HOLDS_UTF8(&locale) &&
         strcmp(bson_iter_utf8(&locale, NULL), "simple") == 0);
    return simple && !bson_read_true(&index->options, "sparse") && !is_hidden(index) &&
           !bson_has_field(&index->options, "partialFilterExpression");
}

static bool refuse_expiry(const index_spec_t *index, err_t *err) {
    return err_set(
        err, STATUS_USAGE,
        "the index %s has the fields of the shard key, so that it is there before the load, and would remove "
        "documents while they are loaded: leave ;expire=SECONDS out, and set that behind the load (collMod). "
        "Nothing was touched",
        index->name);
}

/* Servers build no second one that differs in that alone. */
static bool refuse_hidden(const index_spec_t *index, err_t *err) {
    return err_set(
        err, STATUS_USAGE,
        "the index %s is hidden and has the fields of the shard key, whose index cannot be: " JOB_NO_METADATA
        ", or choose another --shard-key. Nothing was touched",
        index->name);
}

static bool refuse_name(const job_t *job, const index_spec_t *index, const char *is, err_t *err) {
    return err_set(
        err, STATUS_USAGE,
        "the index %s %s, and servers give another one that name, which the shard key needs: %s, or choose "
        "another --shard-key. Nothing was touched",
        index->name, is,
        job_has_asked(job, index) ? "give it another name (--index with ;name=NAME)"
                                  : JOB_NO_METADATA
            ", and build this one behind the load, under another name");
}

/* name: of the index that servers make. */
static bool check(const job_t *job, const index_spec_t *index, const char *name, err_t *err) {
    if (bson_has_field(&index->options, "expireAfterSeconds"))
        return refuse_expiry(index, err);
    if (is_hidden(index))
        return refuse_hidden(index, err);
    return may_be_of_key(index) || strcmp(index->name, name) != 0 ||
           refuse_name(job, index, "is sparse, partial or of a collation", err);
}

static bool is_of_key(const shardkey_t *key, const index_spec_t *index) {
    index_spec_t of_key;
    describe(key, &of_key);
    const bool same = collection_same_keys(index, &of_key);
    collection_free_index(&of_key);
    return same;
}

/* Will servers take one that is asked for, and make none? */
static bool is_asked_for(const job_t *job, const shardkey_t *key) {
    for (size_t i = 0; i < job->index_count; i++)
        if (is_of_key(key, &job->indexes[i]) && may_be_of_key(&job->indexes[i]))
            return true;
    return false;
}

bool job_check_key_index(const job_t *job, const shardkey_t *key, err_t *err) {
    index_spec_t of_key;
    bool ok = true;
    describe(key, &of_key);
    const bool made = !key->is_id && !is_asked_for(job, key);
    for (size_t i = 0; ok && !key->is_id && i < job->index_count; i++) {
        const index_spec_t *index = &job->indexes[i];
        if (is_of_key(key, index))
            ok = check(job, index, of_key.name, err);
        else if (made && strcmp(index->name, of_key.name) == 0)
            ok = refuse_name(job, index, "has other fields", err);
    }
    collection_free_index(&of_key);
    return ok;
}

bool job_asks_for_unique_key(const job_t *job, const shardkey_t *key) {
    bool asks = false;
    for (size_t i = 0; !asks && i < job->index_count; i++)
        asks = bson_read_true(&job->indexes[i].options, "unique") && is_of_key(key, &job->indexes[i]);
    return asks;
}

bool job_build_key_index(const job_t *job, const shardkey_t *key, err_t *err) {
    collection_built_t ignored;
    bool ok = true;
    for (size_t i = 0; ok && !key->is_id && i < job->index_count; i++)
        if (is_of_key(key, &job->indexes[i]) && may_be_of_key(&job->indexes[i]))
            ok = collection_build_index(job->server, job->client, &job->indexes[i], &ignored, err);
    return ok;
}
