/* A shard key stays for good: where most records have no value for a field of it, most documents go to one shard. Some records
 * are looked at before the collection is sharded by it. */
#include "base/log.h"
#include "base/numbers.h"
#include "load/before/sample.h"
#include "load/job/job.h"

#include <string.h>

static size_t count_without(const sample_t *sample, size_t field) {
    size_t count = 0;
    for (size_t i = 0; i < sample->count; i++) {
        bson_iter_t at;
        bool any = bson_iter_init(&at, sample->keys[i]);
        for (size_t number = 0; any && number <= field; number++)
            any = bson_iter_next(&at);
        count += any && BSON_ITER_HOLDS_NULL(&at);
    }
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

bool job_check_key_values(const job_t *job, err_t *err) {
    shardkey_t key = job->shard_key;
    sample_t sample = {NULL, 0};
    for (size_t i = 0; i < key.count; i++)
        key.fields[i].hashed = false; /* the values themselves */
    bool ok = key.is_id || (key.count == 1 && strcmp(key.fields[0].path, "_id") == 0) ||
              sample_take(job->schema, &job->manifest, &key, &sample, err);
    for (size_t i = 0; ok && sample.count && i < key.count; i++)
        ok = strcmp(key.fields[i].path, "_id") == 0 ||
             judge_field(job, key.fields[i].path, count_without(&sample, i), sample.count, err);
    sample_free(&sample);
    return ok;
}
