#include "base/host.h"
#include "base/log.h"
#include "load/job/job.h"

#include <stdio.h>

/* Each shard takes batches from several threads at once; more than this many do not come by default. */
enum { THREADS_A_SHARD = 4 };

bool job_connect(job_t *job, err_t *err) {
    const load_spec_t *spec = job->spec;
    load_result_t *result = job->result;
    server_options_t options = {.uri = spec->uri,
                                .patience_ns = spec->patience_ns,
                                .connections =
                                    (spec->threads ? result->threads : JOB_MOST_DEFAULT_THREADS) + 2,
                                .unsafe = spec->unsafe && !spec->retry};
    if (spec->unsafe && spec->max_rate_auto && !spec->retry)
        return err_set(err, STATUS_USAGE,
                       "--max-rate auto goes by the time until the majority has a batch, which --unsafe does "
                       "not wait for: give a rate, or leave one of them out");
    /* a connection a thread, the driver's own for each host, an input a feeder */
    if (!host_want_descriptors("--threads", options.connections + 12, err))
        return false;
    if (!(job->server = server_connect(&options, err)) || !(job->client = server_take(job->server, err)))
        return false;
    snprintf(result->namespace, sizeof result->namespace, "%s", server_namespace(job->server));
    snprintf(result->where, sizeof result->where, "%s", server_where(job->server));
    if (spec->unsafe && spec->retry)
        log_note("--unsafe has no effect on --retry: a fix counts only when it lasts");
    else if (spec->unsafe && !spec->trial)
        log_warn("--unsafe: only the URI's own write concern is waited for, and on a standalone not even the "
                 "journal; documents that are counted as loaded can be lost when a server dies");
    return true;
}

static bool drop_target(job_t *job, err_t *err) {
    const bool any = job->place.exists && !job->place.empty;
    job_enter(job, TIMELINE_DROPPING);
    bool ok = job_tell_dropped(job, err) && job_drop(job, err);
    job->dropped = ok && any;
    return ok;
}

static bool make_target(job_t *job, err_t *err) {
    const load_spec_t *spec = job->spec;
    const collection_options_t options = {
        .own_ids = job->schema->id != NULL, .compressor = spec->compressor, .options = job->options};
    job_enter(job, TIMELINE_CREATING);
    if (!spec->retry && !collection_make(job->server, job->client, &options, &job->place, err))
        return false;
    job_keep_collations(job);
    job->result->clustered = job->place.clustered;
    if (server_facts(job->server)->kind == SERVER_ROUTER)
        job_enter(job, TIMELINE_PLACING);
    if (!job_open_shards(job, err))
        return false;
    job_enter(job, TIMELINE_LOOKING);
    uint32_t useful = (uint32_t)job_shard_count(job) * THREADS_A_SHARD;
    useful = useful < JOB_MOST_DEFAULT_THREADS ? useful : JOB_MOST_DEFAULT_THREADS;
    if (job->existing == EXISTING_REPLACE)
        job->result->threads = 1; /* documents are replaced in the order of their records */
    else if (!spec->threads && useful > job->result->threads)
        job->result->threads = useful;
    return true;
}

bool job_may_retry(job_t *job, err_t *err) {
    if (!job->place.exists && !collection_look(job->server, job->client, &job->place, err))
        return false;
    return job->place.exists ||
           err_set(err, STATUS_USAGE,
                   "%s does not exist, so there is nothing to load again into; check --uri",
                   server_namespace(job->server));
}

/* The load is written down before the header is read again: so whoever drops the collection sees one of both. */
bool job_open_target(job_t *job, err_t *err) {
    const load_spec_t *spec = job->spec;
    if (!collection_is_whole(job->server, job->client, err) ||
        !collection_look(job->server, job->client, &job->place, err))
        return false;
    if (spec->retry && !job_may_retry(job, err))
        return false;
    job->result->clustered = job->place.clustered;
    if (job->place.expiry[0] && !spec->drop)
        log_warn("the server removes documents from %s by %s, in time also those of this load: status 0 says "
                 "that they were there, and `tipple verify` names those that are not there any more",
                 server_namespace(job->server), job->place.expiry);
    if (!spec->retry && !job_may_make(job, err))
        return false;
    if (!job_may_shard(job, err))
        return false;
    if ((!spec->drop && !job_look_at_catalog(job, err)) || !job_check_existing(job, err) ||
        !job_check_key_of_ids(job, &job->shard_key, err) || (!spec->drop && !job_check_unique_ids(job, err)))
        return false;
    if (spec->dry_run)
        return true;
    if (!store_mongo_need(&job->store, job->server, job->client, err))
        return false;
    return job_enroll(job, err) && (!spec->drop || drop_target(job, err)) && make_target(job, err) &&
           job_open_catalog(job, err);
}
