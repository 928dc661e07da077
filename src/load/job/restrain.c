/* restrain: a load that goes slower than it could: --max-rate. */
#include "base/numbers.h"
#include "load/job/job.h"
#include "load/rate/rate_step.h"

#include <stdio.h>

/* The least number of batches a second, so that a low rate is an even one. */
enum { LEAST_BATCHES = 10 };

/* With --max-rate auto a batch is over soon: who comes while it is worked on does not wait long for a core. */
enum { AUTO_BATCH = 100, AUTO_BYTES = 32 * 1024 };

/* And each shard has one in at most this share of the time. While batches are alone, their time does not show whether a
 * server has cores left for others; with more, readers on a host of two cores waited many times as long. */
static const double AUTO_SHARE = 0.4;

static void keep_batches_small(load_state_t *loading, const load_spec_t *spec) {
    const uint64_t share = spec->max_rate / LEAST_BATCHES ? spec->max_rate / LEAST_BATCHES : 1,
                   documents = spec->max_rate_auto    ? AUTO_BATCH
                               : spec->max_rate_bytes ? UINT64_MAX
                                                      : share,
                   bytes = spec->max_rate_auto    ? AUTO_BYTES
                           : spec->max_rate_bytes ? share
                                                  : UINT64_MAX;
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
                                        .places = spec->max_rate_auto ? CHUNKMAP_MOST_SHARDS + 1 : 0,
                                        .limit = RATE_STEP_START,
                                        .most = AUTO_SHARE};
    if (spec->dry_run || (!spec->max_rate && !spec->max_rate_auto))
        return true;
    keep_batches_small(loading, spec);
    job->result->batch = loading->batch_documents;
    loading->throttle = throttle_new(&options);
    return loading->throttle || err_memory(err, options.places);
}

/* The reason why a load with --max-rate auto waited. */
static void say_why(throttle_t *throttle, char *out, size_t room) {
    double worst = 0;
    for (size_t place = 0; place <= CHUNKMAP_MOST_SHARDS; place++) {
        const double times = throttle_place(throttle, place).worst;
        worst = times > worst ? times : worst;
    }
    if (worst > 0)
        snprintf(out, room, "--max-rate auto: batches took up to %.1f times as long as usual", worst);
    else
        snprintf(out, room, "--max-rate auto: it begins slowly");
}

void job_release(job_t *job) {
    load_result_t *result = job->result;
    const load_spec_t *spec = job->spec;
    throttle_t *throttle = job->loading.throttle;
    char rate[UNITS_MAX];
    if (!throttle)
        return;
    const throttle_waited_t waited = throttle_waited(throttle);
    result->throttled_ns = (waited.for_rate_ns + waited.for_limits_ns) / result->threads;
    if (waited.for_rate_ns)
        snprintf(result->throttled_by, sizeof result->throttled_by, "--max-rate %s%s",
                 spec->max_rate_bytes ? units_size(rate, (double)spec->max_rate)
                                      : units_rate(rate, (double)spec->max_rate),
                 spec->max_rate_bytes ? "/s" : " docs/s");
    else if (waited.for_limits_ns)
        say_why(throttle, result->throttled_by, sizeof result->throttled_by);
    throttle_free(throttle);
    job->loading.throttle = NULL;
}
