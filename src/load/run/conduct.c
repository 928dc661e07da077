/* The main thread while data moves: what the coordinator asks for, done with threads, queues and a server. */
#include "base/clock.h"
#include "base/log.h"
#include "base/stop.h"
#include "base/threads.h"
#include "load/run/coordinator.h"
#include "load/run/job.h"
#include "server/bson_read.h"

#include <time.h>

static const int64_t CHECKPOINT_NS = 1000000000, LOOK_NS = 500000000, FOLLOW_NS = 5000000000,
                     STALE_NS = 100000000, ROUND_NS = 20000000, PORTION_NS = 2000000000;

typedef struct {
    job_t *job;
    int64_t followed_ns;
    size_t portion; /* so many pieces waited for feeders when the last one was handed out */
    struct {
        int64_t at_ns;
        uint64_t bytes;
    } read[2]; /* text, at two moments of the last two seconds */
    coordinator_t coordinator;
} conductor_t;

static counts_t so_far(const job_t *job) {
    loader_counters_t sum = {.total_ns = 0};
    for (uint32_t i = 0; i < job->loader_count; i++)
        loader_add_counters(job->loaders[i], &sum);
    return sum.counts;
}

static int64_t now(void *context) {
    (void)context;
    return clock_awake_or_not_ns();
}

static uint64_t own_beats(void *context) {
    return heartbeat_count(((conductor_t *)context)->job->heartbeat);
}

/* Will the next piece of the same stream be handed out right after this one? */
static bool stream_goes_on(const job_t *job, const work_t *work) {
    const ledger_t *ledger = &job->ledger;
    const work_t *next = work + 1;
    return next < ledger->works + ledger->work_count && !next->handed_out &&
           (next->state == WORK_OURS || next->state == WORK_CHECK) &&
           ledger->inputs[next->input].group == ledger->inputs[work->input].group &&
           input_is_in_stream(job->files[work - ledger->works].input);
}

static bool nap(conductor_t *conductor, int64_t ns, err_t *err);

/* A load that replaced documents did not end well. From now on this piece is ours, so it begins no more messages a lease
 * later; and those that were on their way have come. */
static bool outlive_others(conductor_t *conductor, err_t *err) {
    job_t *job = conductor->job;
    if (!job->inherited || job->outlived)
        return true;
    log_note("an earlier load failed while it replaced documents: waiting %lld s, until none of its messages "
             "can arrive any more",
             (long long)(job->lease_ms / 1000));
    job->outlived = true;
    return nap(conductor, job->lease_ms * 1000000, err);
}

static bool hand_out(void *context, work_t *work, err_t *err) {
    conductor_t *conductor = context;
    job_t *job = conductor->job;
    load_file_t *file = &job->files[work - job->ledger.works];
    if (work->state == WORK_OURS && !outlive_others(conductor, err))
        return false;
    while (file->feeding &&
           !pipeline_failed(&job->loading.pipeline)) { /* of an ownership that was lost: it ends soon */
        const struct timespec pause = {.tv_nsec = 1000000};
        job_answer(job);
        if (!coordinator_confirm(&conductor->coordinator,
                                 err)) /* it may wait for senders, and they for this */
            return false;
        nanosleep(&pause, NULL);
    }
    if (!job_tell_file(job, work, file, err))
        return false;
    hand_out_add(job->hand_out, (size_t)(file - job->files), stream_goes_on(job, work));
    bool idle;
    conductor->portion = hand_out_waiting(job->hand_out, &idle);
    return true;
}

/* ---- waiting ---- */

/* Text, as far as is known. What is done of an input that goes on may count as well: rather too much than too little. */
static uint64_t to_come(const job_t *job, const feeder_progress_t *fed) {
    if (!job->to_read || fed->done_bytes >= job->to_read)
        return 0; /* of a stream nobody knows */
    return fed->done_bytes ? (uint64_t)((double)(job->to_read - fed->done_bytes) * (double)fed->text_bytes /
                                        (double)fed->disk_bytes)
                           : UINT64_MAX;
}

static void show_progress(job_t *job) {
    const feeder_progress_t fed = job->feeder ? feeder_progress(job->feeder) : (feeder_progress_t){0};
    const counts_t counts = so_far(job);
    const uint64_t documents = counts.loaded + counts.already_there, limit = job->spec->limit;
    job->documents = documents;
    rejects_to_come(job->loading.rejects, to_come(job, &fed));
    if (progress_is_due(&job->progress)) {
        const progress_state_t state = {.bytes = fed.done_bytes,
                                        .total_bytes = job->feeder ? job_bytes_to_read(job) : 0,
                                        .records = counts.read,
                                        .most_records = limit == UINT64_MAX ? 0 : limit,
                                        .documents = documents,
                                        .rejected = counts.rejected};
        progress_show(&job->progress, &state);
    }
    caller_tell_progress(documents, fed.disk_bytes);
    timeline_point(&job->result->course, documents, fed.disk_bytes);
}

static bool is_idle(job_t *job) {
    const load_state_t *loading = &job->loading;
    return !loading->blocks && (loading->feeding_over || (job->hand_out && hand_out_is_idle(job->hand_out)));
}

/* One stretch of waiting, of a round at most. */
static bool wait_a_round(job_t *job, int64_t until_ns, bool *idle) {
    load_state_t *loading = &job->loading;
    const int64_t round_ns = clock_now_ns() + ROUND_NS;
    pthread_mutex_lock(&loading->lock);
    *idle = is_idle(job);
    if (!*idle && !pipeline_failed(&loading->pipeline) && !loading->asking)
        condition_wait_until(&loading->changed, &loading->lock, round_ns < until_ns ? round_ns : until_ns);
    *idle = is_idle(job);
    const bool failed = pipeline_failed(&loading->pipeline);
    pthread_mutex_unlock(&loading->lock);
    return !failed;
}

/* While feeders read the second half of a portion of small pieces, the next one is taken. A large piece is a portion, and the
 * next one is taken when a feeder has nothing to read and the senders will soon have nothing to send: so a load has no more
 * of them than it needs, and other loads get their share. */
static bool is_hungry(const conductor_t *conductor, bool idle) {
    const job_t *job = conductor->job;
    bool may_feed = false;
    const size_t waiting = job->hand_out ? hand_out_waiting(job->hand_out, &may_feed) : 0;
    if (waiting && !idle)
        return waiting < conductor->portion / 2;
    return idle || (may_feed && queue_runs_low(job->loading.pipeline.queue));
}

/* How much is taken at once. */
static void measure(conductor_t *conductor, int64_t at_ns) {
    const job_t *job = conductor->job;
    const uint64_t read = job->feeder ? feeder_progress(job->feeder).text_bytes : 0;
    if (at_ns - conductor->read[1].at_ns >= PORTION_NS / 2) {
        conductor->read[0] = conductor->read[1];
        conductor->read[1].at_ns = at_ns;
        conductor->read[1].bytes = read;
    }
    const uint64_t bytes = read - conductor->read[0].bytes;
    if (job->existing != EXISTING_REPLACE)
        conductor->coordinator.piece_bytes = bytes < JOB_LEAST_PORTION  ? JOB_LEAST_PORTION
                                             : bytes > JOB_MOST_PORTION ? JOB_MOST_PORTION
                                                                        : bytes;
}

static bool stopped(err_t *err) {
    return stop_signal() && !stop_interrupted(err);
}

/* How far the majority is after the primary, as the primary says. NAN: it does not. */
static double lag_of(mongoc_client_t *client) {
    bson_t *hello = BCON_NEW("hello", BCON_INT32(1)), reply;
    mongoc_client_command_simple(client, "admin", hello, NULL, &reply, NULL);
    const double lag = (bson_read_number(&reply, "lastWrite.lastWriteDate") -
                        bson_read_number(&reply, "lastWrite.majorityWriteDate")) /
                       1e3;
    bson_destroy(hello);
    bson_destroy(&reply);
    return lag;
}

/* What there is to do in every round, however long we wait. */
static bool do_a_round(conductor_t *conductor, int64_t until_ns, bool *idle, err_t *err) {
    job_t *job = conductor->job;
    if (!wait_a_round(job, until_ns, idle)) {
        *err = job->loading.pipeline.team.err;
        return false;
    }
    job_answer(job);
    show_progress(job);
    const int64_t at_ns = clock_now_ns();
    measure(conductor, at_ns);
    if (at_ns - conductor->followed_ns >= (job->loading.stale ? STALE_NS : FOLLOW_NS)) {
        conductor->followed_ns = at_ns;
        job_follow_shards(job);
        if (metrics_on() && !job->loading.stale)
            metrics_lag(lag_of(job->client));
    }
    return !stopped(err);
}

static bool wait_for_change(void *context, int64_t most_ns, bool may_take, bool *hungry, bool *idle,
                            err_t *err) {
    conductor_t *conductor = context;
    const int64_t until_ns = clock_now_ns() + most_ns;
    for (*idle = *hungry = false; !*idle && !(*hungry && may_take) && clock_now_ns() < until_ns;) {
        if (!do_a_round(conductor, until_ns, idle, err))
            return false;
        *hungry = is_hungry(conductor, *idle);
    }
    return true;
}

static bool nap(conductor_t *conductor, int64_t ns, err_t *err) {
    const int64_t from_ns = clock_now_ns(), until_ns = from_ns + ns;
    bool idle, ok = true;
    while (ok && clock_now_ns() < until_ns) {
        const struct timespec pause = {.tv_nsec = ROUND_NS};
        ok = do_a_round(conductor, until_ns, &idle, err);
        nanosleep(&pause, NULL);
    }
    conductor->job->result->waited_ns += clock_now_ns() - from_ns;
    return ok;
}

static void tell_lost(job_t *job) {
    const load_file_t *first = NULL;
    size_t count = 0;
    for (size_t i = 0; i < job->file_count; i++) {
        load_file_t *file = &job->files[i];
        if (!file->epoch || (file->work->state == WORK_OURS && file->work->epoch == file->epoch))
            continue;
        const bool ended = file->work->state == WORK_DONE || file->work->again, /* it is begun anew */
            lost = !ended || file->work->by_others;
        first = lost && !count++ ? file : first;
        file->epoch = 0;
    }
    if (count == 1)
        log_note("another load has taken over %s, because this one gave no sign of life for too long",
                 first->input->name);
    else if (count)
        log_note(
            "another load has taken over %s and %zu more, because this one gave no sign of life for too long",
            first->input->name, count - 1);
}

static bool collect(void *context, err_t *err) {
    return job_collect(((conductor_t *)context)->job, err);
}

static void written(void *context, int64_t confirmed_ns) {
    job_t *job = ((conductor_t *)context)->job;
    if (job->ledger.lost != job->lost_told) {
        job->lost_told = job->ledger.lost;
        tell_lost(job);
    }
    atomic_store_explicit(&job->loading.confirmed_ns, confirmed_ns, memory_order_release);
    job_send_torn(job);
}

static void waits_for(void *context, const load_seen_t *load) {
    job_t *job = ((conductor_t *)context)->job;
    if (job->waits_told)
        return;
    job->waits_told = true;
    if (load)
        log_note("the load of process %lld on %s works on the rest; this one waits until that is done, and "
                 "takes over if the other one dies",
                 (long long)load->process, load->host);
    else
        log_note("other loads work on the rest; this one waits until they are done, and takes over if one of "
                 "them dies");
}

static bool enough(void *context) {
    return load_state_is_fed(&((conductor_t *)context)->job->loading);
}

static bool wait_to_look(void *context, err_t *err) {
    return nap(context, LOOK_NS, err);
}

static coordinator_t coordinator_of(conductor_t *conductor) {
    const job_t *job = conductor->job;
    const others_t others = {.self = job->id,
                             .lease_ns = job->lease_ms * 1000000,
                             .context = conductor,
                             .now = now,
                             .own_beats = own_beats,
                             .wait = wait_to_look,
                             .waits_for = waits_for};
    return (coordinator_t){.store = job->store,
                           .ledger = &conductor->job->ledger,
                           .least_pieces = 1,
                           .piece_bytes = job->existing == EXISTING_REPLACE ? 0 : JOB_LEAST_PORTION,
                           .checkpoint_ns = CHECKPOINT_NS,
                           .others = others,
                           .context = conductor,
                           .hand_out = hand_out,
                           .wait = wait_for_change,
                           .collect = collect,
                           .written = written,
                           .enough = enough};
}

/* A limit may end the reading while the last records of files wait for the catalog; few go into the queue at once, and who
 * sends them may ask this thread. */
static bool send_rest(conductor_t *conductor, err_t *err) {
    const job_t *job = conductor->job;
    bool hungry, idle, ok = true;
    for (bool more = enough(conductor); ok && more;) {
        ok = wait_for_change(conductor, CHECKPOINT_NS, false, &hungry, &idle, err);
        more = job->torn || !idle;
        ok = ok && coordinator_flush(&conductor->coordinator, err) &&
             coordinator_confirm(&conductor->coordinator, err);
    }
    return ok;
}

bool job_conduct(job_t *job, err_t *err) {
    conductor_t conductor = {.job = job, .followed_ns = clock_now_ns()};
    conductor.coordinator = coordinator_of(&conductor);
    return coordinator_run(&conductor.coordinator, err) && send_rest(&conductor, err) &&
           catalog_check_collection(job->store, &job->settings, job->loading.generation, err);
}

bool job_flush(job_t *job, err_t *err) {
    conductor_t conductor = {.job = job};
    conductor.coordinator = coordinator_of(&conductor);
    return coordinator_flush(&conductor.coordinator, err);
}

bool job_wait(job_t *job, block_t **done, err_t *err) {
    conductor_t conductor = {.job = job, .followed_ns = clock_now_ns()};
    bool hungry, idle = false;
    *done = NULL;
    while (!idle || !load_state_is_fed(&job->loading))
        if (!wait_for_change(&conductor, CHECKPOINT_NS, false, &hungry, &idle, err) ||
            (job->marks && !job_keep_held(job, false, err)))
            return false;
    *done = load_state_take_done(&job->loading);
    return true;
}
