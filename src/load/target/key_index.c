/* A collection gets an index of its shard key when it is sharded, under the name that servers give it. One of the same fields that is
 * asked for, unique or under another name, could not be built after that. So it is built first, and servers take it for the
 * shard key. What servers do not take, they refuse when indexes are built, after the load. */
#include "load/job/job.h"
#include "server/bson_read.h"

#include <stdlib.h>
#include <string.h>

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

bool job_check_key_index(const job_t *job, err_t *err) {
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
