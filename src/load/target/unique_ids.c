/* Where the `_id`s of documents are the data's own, two records may have one; servers notice that only where the shard key
 * brings both to one shard. A collection may be sharded by a load, by a person before it, or while it runs; and its
 * shard key may get more fields. So this is asked before the first byte, and each time before something counts as done. */
#include "base/document.h"
#include "format/record/own_id.h"
#include "load/job/job.h"
#include "server/cluster.h"

#include <stdlib.h>
#include <string.h>

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

/* Would any key of the data's own fields do? Those of a dump may lie wherever they lay before. */
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
