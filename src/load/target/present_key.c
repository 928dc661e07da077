/* present_key: a collection that is sharded already has a key, which stays. What is asked for has to go with it, also where the
 * bounds of its chunks cannot be put in order here. */
#include "base/document.h"
#include "load/job/job.h"
#include "server/cluster.h"

#include <stdlib.h>

static bool refuse(const job_t *job, const shardkey_t *present, err_t *err) {
    char *text = ejson_print(&present->spec, true, NULL);
    err_set(err, STATUS_USAGE,
            "%s is sharded on %s already, not on --shard-key %s; leave the option out, or --drop the "
            "collection",
            server_namespace(job->server), text ? text : "...", job->spec->shard_key);
    free(text);
    return false;
}

static bool check_wanted(const job_t *job, const shardkey_t *present, err_t *err) {
    if (!job->spec->shard_key)
        return true;
    if (job->one_shard || !collection_same_keys(&present->spec, &job->shard_key.spec))
        return refuse(job, present, err);
    return true;
}

bool job_check_present_key(const job_t *job, err_t *err) {
    sharding_t sharding;
    bool ok = sharding_read(job->server, job->client, NULL, &sharding, err);
    if (ok && sharding.sharded)
        ok = check_wanted(job, &sharding.key, err) && job_check_unique_indexes(job, &sharding.key, true, err);
    sharding_free(&sharding);
    return ok;
}
