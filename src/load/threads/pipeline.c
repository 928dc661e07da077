#include "load/threads/pipeline.h"
#include "base/clock.h"
#include "base/stop.h"
#include "input/cutter.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static const int64_t LOOK_NS = 50000000;

uint32_t pipeline_usual_threads(void) {
    const long cpus = sysconf(_SC_NPROCESSORS_ONLN);
    return cpus * 2 < 4 ? 4 : cpus * 2 > 16 ? 16 : (uint32_t)cpus * 2;
}

bool pipeline_open(pipeline_t *pipeline, uint64_t memory, uint32_t threads, err_t *err) {
    const uint64_t half = memory / CUTTER_BUFFER / 2, most = 2 * (uint64_t)threads;
    team_init(&pipeline->team);
    pipeline->pool = pool_new(memory, CUTTER_BUFFER);
    pipeline->queue = queue_new((size_t)(half > most ? most : half < 2 ? 2 : half));
    return (pipeline->pool && pipeline->queue) || err_memory(err, 1);
}

static block_t *next_block(pipeline_worker_t *worker, int64_t wait_ns) {
    const int64_t start = clock_now_ns();
    block_t *block = worker->rest ? worker->rest
                                  : queue_pop(worker->pipeline->queue, wait_ns, worker->part, worker->parts);
    worker->rest = block ? block->next : NULL;
    __atomic_store_n(&worker->waited_ns, worker->waited_ns + clock_now_ns() - start, __ATOMIC_RELAXED);
    return block;
}

static bool work_on(pipeline_worker_t *worker, block_t *block, bool *waiting, err_t *err) {
    const pipeline_work_t *work = worker->work;
    if (block && !work->block(worker->context, block, err))
        return false;
    return !work->between ||
           work->between(worker->context, !block && *waiting && queue_is_drained(worker->pipeline->queue),
                         waiting, err);
}

static void *run(void *context) {
    pipeline_worker_t *worker = context;
    pipeline_t *pipeline = worker->pipeline;
    const int64_t start = clock_now_ns();
    bool waiting = false;
    err_t err;
    for (;;) {
        block_t *block = next_block(worker, waiting ? LOOK_NS : -1);
        if (!block && queue_ended(pipeline->queue))
            break;
        if (stop_signal() || pipeline_failed(pipeline))
            pipeline_free_block(pipeline, block);
        else if (!work_on(worker, block, &waiting, &err))
            pipeline_fail(pipeline, &err);
    }
    if (!pipeline_failed(pipeline) && worker->work->end && !worker->work->end(worker->context, &err))
        pipeline_fail(pipeline, &err);
    worker->took_ns = clock_now_ns() - start;
    return NULL;
}

bool pipeline_start(pipeline_t *pipeline, pipeline_worker_t *worker, err_t *err) {
    worker->pipeline = pipeline;
    worker->parts = worker->parts ? worker->parts : 1;
    return team_start(&pipeline->team, run, worker, "lower --threads", err);
}

void pipeline_fail(pipeline_t *pipeline, const err_t *err) {
    team_fail(&pipeline->team, err);
    if (pipeline->failed)
        pipeline->failed(pipeline->context);
    pool_close(pipeline->pool);
    queue_close(pipeline->queue);
}

bool pipeline_failed(pipeline_t *pipeline) {
    return team_failed(&pipeline->team);
}

void pipeline_free_block(pipeline_t *pipeline, block_t *block) {
    if (!block)
        return;
    pool_give(pipeline->pool, &block->buffer);
    if (block->counted)
        pipeline->settled(pipeline->context);
    for (late_t *late; (late = block->late);) {
        block->late = late->next;
        free(late);
    }
    free(block->rejects);
    free(block);
}

void pipeline_close(pipeline_t *pipeline) {
    if (pipeline->queue)
        queue_close(pipeline->queue);
}

bool pipeline_join(pipeline_t *pipeline, err_t *err) {
    return team_join(&pipeline->team, err);
}

struct kept_dialect {
    struct kept_dialect *next;
    dialect_t dialect;
};

const dialect_t *pipeline_keep(pipeline_t *pipeline, const dialect_t *dialect) {
    static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER; /* of all pipelines: once a file */
    pthread_mutex_lock(&lock);
    struct kept_dialect *kept = pipeline->dialects;
    while (kept && memcmp(dialect, &kept->dialect, sizeof *dialect) !=
                       0) // NOLINT(bugprone-suspicious-memory-comparison)
        kept = kept->next;
    if (!kept && (kept = malloc(sizeof *kept))) {
        memcpy(&kept->dialect, dialect, sizeof *dialect); /* padding too: it is zero in all of them */
        kept->next = pipeline->dialects;
        pipeline->dialects = kept;
    }
    pthread_mutex_unlock(&lock);
    return kept ? &kept->dialect : NULL;
}

void pipeline_free(pipeline_t *pipeline) {
    for (struct kept_dialect *kept; (kept = pipeline->dialects); free(kept))
        pipeline->dialects = kept->next;
    pool_destroy(pipeline->pool);
    queue_destroy(pipeline->queue);
}
