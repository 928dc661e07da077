/* restrain: a load that is told to go slower than it could: --max-rate and --polite. */
#include "base/numbers/units.h"
#include "load/job/job.h"

#include <stdio.h>

/* At least so many batches go in a second, so that a low rate is an even one. */
enum { LEAST_BATCHES = 10 };

/* A polite batch is over soon: who comes while it is worked on does not wait long for a core. */
enum { RATE_BATCH = 100, RATE_BYTES = 32 * 1024 };

static void keep_batches_small(load_state_t *loading, const load_spec_t *spec) {
    uint64_t documents = spec->polite ? RATE_BATCH : UINT64_MAX,
             bytes = spec->polite ? RATE_BYTES : UINT64_MAX;
    uint64_t *rated = spec->max_rate_bytes ? &bytes : &documents, share = spec->max_rate / LEAST_BATCHES;
    if (spec->max_rate && share < *rated)
        *rated = share ? share : 1;
    if (documents < loading->batch_documents)
        loading->batch_documents = (uint32_t)documents;
    if (bytes < loading->batch_bytes)
        loading->batch_bytes = (size_t)bytes;
}

bool job_restrain(job_t *job, err_t *err) {
    const load_spec_t *spec = job->spec;
    load_state_t *loading = &job->loading;
    const throttle_options_t options = {.per_second = spec->max_rate,
                                        .bytes = spec->max_rate_bytes,
                                        .places = spec->polite ? CHUNKMAP_MOST_SHARDS + 1 : 0};
    const rate_options_t polite = {.server = job->server,
                                   .route = loading->route,
                                   .places = options.places,
                                   .threads = job->result->threads};
    if (spec->dry_run || (!spec->max_rate && !spec->polite))
        return true;
    keep_batches_small(loading, spec);
    job->result->batch = loading->batch_documents;
    if (!(loading->throttle = throttle_new(&options)))
        return err_memory(err, options.places);
    if (spec->polite)
        job->polite = rate_open(&polite, loading->throttle, job->client, err);
    return !spec->polite || job->polite;
}

void job_release(job_t *job) {
    load_result_t *result = job->result;
    const load_spec_t *spec = job->spec;
    throttle_t *throttle = job->loading.throttle;
    char slowed_down_for[sizeof result->throttled_by], rate[UNITS_MAX];
    if (!throttle)
        return;
    rate_close(job->polite, slowed_down_for, sizeof slowed_down_for);
    job->polite = NULL;
    int64_t by_rate = throttle_waited_for_rate(throttle), by_limits = throttle_waited_for_limits(throttle);
    result->throttled_ns = (by_rate + by_limits) / result->threads;
    result->slowed_down_ns = by_limits / result->threads;
    if (by_rate > by_limits)
        snprintf(result->throttled_by, sizeof result->throttled_by, "--max-rate %s%s",
                 spec->max_rate_bytes ? units_size(rate, spec->max_rate)
                                      : units_rate(rate, (double)spec->max_rate),
                 spec->max_rate_bytes ? "/s" : " docs/s");
    else if (by_limits)
        snprintf(result->throttled_by, sizeof result->throttled_by, "%s", slowed_down_for);
    throttle_free(throttle);
    job->loading.throttle = NULL;
}
