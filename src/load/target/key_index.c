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

/* Servers want an index that has all documents, in the order of their bytes. */
static bool may_be_of_key(const index_spec_t *index) {
    bson_iter_t at, locale;
    const bool simple =
        !bson_iter_init_find(&at, &index->options, "collation") ||
        (bson_iter_init(&at, &index->options) &&
         bson_iter_find_descendant(&at, "collation.locale", &locale) && BSON_ITER_HOLDS_UTF8(&locale) &&
         strcmp(bson_iter_utf8(&locale, NULL), "simple") == 0);
    return simple && !bson_read_true(&index->options, "sparse") &&
           !bson_read_true(&index->options, "hidden") &&
           !bson_has_field(&index->options, "partialFilterExpression");
}

/* name: of the index that servers make. */
static bool check(const index_spec_t *index, const char *name, err_t *err) {
    if (bson_has_field(&index->options, "expireAfterSeconds"))
        return err_set(
            err, STATUS_USAGE,
            "the index %s has the fields of the shard key, so that it is there before the load, and "
            "would remove documents while they are loaded: leave ;expire=SECONDS out, and set that "
            "behind the load (collMod). Nothing was touched",
            index->name);
    return may_be_of_key(index) || strcmp(index->name, name) != 0 ||
           err_set(err, STATUS_USAGE,
                   "the index %s is sparse, partial, hidden or of a collation, and servers give another one "
                   "that name, which the shard key needs: give it another name (--index with ;name=NAME), or "
                   "choose another --shard-key. Nothing was touched",
                   name);
}

bool job_check_key_index(const job_t *job, const shardkey_t *key, err_t *err) {
    index_spec_t of_key;
    bool ok = true;
    describe(key, &of_key);
    for (size_t i = 0; ok && !key->is_id && i < job->index_count; i++)
        ok = !collection_same_keys(&job->indexes[i], &of_key) || check(&job->indexes[i], of_key.name, err);
    collection_free_index(&of_key);
    return ok;
}

bool job_asks_for_unique_key(const job_t *job, const shardkey_t *key) {
    index_spec_t of_key;
    bool asks = false;
    describe(key, &of_key);
    for (size_t i = 0; !asks && i < job->index_count; i++)
        asks = bson_read_true(&job->indexes[i].options, "unique") &&
               collection_same_keys(&job->indexes[i], &of_key);
    collection_free_index(&of_key);
    return asks;
}

bool job_build_key_index(const job_t *job, const shardkey_t *key, err_t *err) {
    index_spec_t of_key;
    int64_t ignored;
    bool ok = true;
    describe(key, &of_key);
    for (size_t i = 0; ok && !key->is_id && i < job->index_count; i++)
        if (collection_same_keys(&job->indexes[i], &of_key) && may_be_of_key(&job->indexes[i]))
            ok = collection_build_index(job->server, job->client, &job->indexes[i], &ignored, err);
    collection_free_index(&of_key);
    return ok;
}
