/* A shard can only see that a value is there twice on itself. So servers build a unique index of a sharded collection only where
 * it begins with the shard key, or with the `_id`. They say so when the index is built: behind the load, and behind --drop. */
#include "base/document.h"
#include "load/job/job.h"
#include "server/bson_read.h"

#include <stdlib.h>
#include <string.h>

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

bool job_check_unique_indexes(const job_t *job, const shardkey_t *key, bool present, err_t *err) {
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
