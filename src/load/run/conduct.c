/* conduct: the main thread while data moves. It runs the coordinator, whose functions work here with threads, queues and a server.
 * Where it waits, it leaves the catalog to feeders and senders who need it. */
#include "base/clock.h"
#include "base/log.h"
#include "base/numbers.h"
#include "base/stop.h"
#include "base/text.h"
#include "base/threads.h"
#include "format/record/record_id.h"
#include "load/forget/forget.h"
#include "load/plan/inputs.h"
#include "load/run/coordinator.h"
#include "load/run/run.h"
#include "server/bson_read.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

typedef struct {
    run_t *run;
    int64_t followed_ns;
    size_t portion; /* how many pieces waited for feeders when the last one was handed out */
    struct {
        int64_t at_ns;
        uint64_t bytes;
    } read[2]; /* text that was read until two moments of the last two seconds */
    catalog_t catalog;
    coordinator_t coordinator;
} conductor_t;

/* ---- what threads know of a piece ---- */

void *run_keep(run_t *run, void *memory, err_t *err) {
    if (!memory) {
        err_memory(err, 1);
    } else if (!GROW(run->kept, run->kept_room, run->kept_count + 1, err)) {
        free(memory);
        return NULL;
    } else {
        run->kept[run->kept_count++] = memory;
    }
    return memory;
}

/* count is not 0. */
static void *copy(run_t *run, const void *items, size_t count, size_t size, err_t *err) {
    void *copied = run_keep(run, malloc(count * size), err);
    return copied ? memcpy(copied, items, count * size) : NULL;
}

static bool copy_extents(run_t *run, active_piece_t *piece, const entry_t *entry, err_t *err) {
    if (entry->extent_count &&
        !(piece->extents = copy(run, entry->extents, entry->extent_count, sizeof *entry->extents, err)))
        return false;
    piece->extent_count = entry->extent_count;
    return true;
}

bool run_extend(void *context, active_piece_t *piece, uint64_t offset, err_t *err) {
    run_t *run = context;
    uint64_t number;
    if (piece->input->text_bound || active_piece_number(piece, offset, &number))
        return true;
    if (!load_state_enter(&run->loading, err))
        return false;
    const bool ok = catalog_extend(&run->target->catalog, &run->ledger, piece->work, offset, err) &&
                    copy_extents(run, piece, &run->ledger.inputs[piece->work->input].entry, err);
    load_state_leave(&run->loading);
    return ok;
}

bool target_bind(target_t *target, err_t *err) {
    target->bound = target->bound || catalog_bind(target->catalog.store, &target->settings, err);
    return target->bound;
}

/* Corrects the counts of a stream that counted as done: its last block is read again, with what follows. */
static void count_anew(run_t *run, work_t *work, const counts_t *last) {
    run->plan->result->files_skipped--;
    run->plan->result->records_skipped -= last->read;
    work->read_before -= last->read;
    work->rejected_before -= last->of[FATE_REJECTED];
    rejects_format_fits(run->loading.rejects);
}

/* Copies the records that were cut off when earlier versions of the input ended, and the fixes. */
static bool copy_marks(run_t *run, active_piece_t *piece, const entry_t *entry, err_t *err) {
    piece->torn_count = 0;
    if (!(piece->torn = run_keep(run, malloc((entry->version_count + 1) * sizeof *piece->torn), err)) ||
        (entry->fix_count &&
         !(piece->fixes = copy(run, entry->fixes, entry->fix_count, sizeof *entry->fixes, err))))
        return false;
    for (uint32_t i = 0; i < entry->version_count; i++)
        if (entry->versions[i].torn.length)
            piece->torn[piece->torn_count++] = entry->versions[i].torn;
    piece->fix_count = entry->fix_count;
    return true;
}

/* Gives the file all that threads need to know of the piece, before it is handed out. */
static bool tell_piece(run_t *run, const work_t *work, active_piece_t *piece, err_t *err) {
    const ledger_input_t *input = &run->ledger.inputs[work->input];
    const piece_t *known = &input->entry.pieces[work->piece];
    if (!copy_extents(run, piece, &input->entry, err) || !copy_marks(run, piece, &input->entry, err) ||
        !done_runs_copy(&piece->done_before, &known->done, err))
        return false;
    piece->tail = known->tail;
    /* before the collection had a format, records may have been read by another dialect, and made no documents */
    piece->read_by = run->target->began_bound ? entry_dialect(&input->entry, run->target->generation) : 0;
    piece->only_compares = work->state == WORK_CHECK;
    piece->is_older = piece->only_compares && ledger_ends_before(input, known);
    if (piece->is_older && run_has_grown(run, input))
        return registration_refuse_grown(input->name, err);
    piece->compares = piece->done_before.count && (!input->plain || ledger_needs_check(input, known));
    piece->begun_before = work->epoch > 1;
    return true;
}

/* False where later records replace earlier ones: the rest of a stream would come too late. */
static bool may_go_on(const plan_t *plan, const active_piece_t *piece, err_t *err) {
    return plan->existing != EXISTING_REPLACE ||
           err_set(err, STATUS_INPUT,
                   "--input-name %s: the stream goes on after what was loaded of it, and with --existing "
                   "replace only the newest input may: give the stream another --input-name",
                   piece->input->name);
}

static bool go_on(run_t *run, active_piece_t *piece, err_t *err) {
    ledger_t *ledger = &run->ledger;
    work_t *work = piece->work;
    const counts_t last = ledger->inputs[work->input].entry.pieces[work->piece].tail.counts;
    if (!may_go_on(run->plan, piece, err))
        return false;
    ledger_goes_on(ledger, work);
    if (!catalog_take(&run->target->catalog, ledger, work, 1, 0, err))
        return false;
    if (work->state != WORK_OURS)
        return err_set(err, STATUS_SERVER,
                       "%s is being loaded by another load, too, and a stream cannot be read again: run the "
                       "same command again, with all of the stream",
                       piece->input->name);
    work->handed_out = true; /* to the feeder that asks */
    count_anew(run, work, &last);
    return tell_piece(run, work, piece, err);
}

bool run_go_on(void *context, active_piece_t *piece, err_t *err) {
    run_t *run = context;
    if (!load_state_enter(&run->loading, err))
        return false;
    const bool ok = go_on(run, piece, err);
    load_state_leave(&run->loading);
    return ok;
}

/* ---- collecting ---- */

/* Notes in `twice` records that are read twice, so that they count as found the first time: with --reload-missing an input that has
 * grown, or was not loaded to its end, is first loaded to its end and then begun anew. */
static void count_once(run_t *run, const block_t *block) {
    active_piece_t *piece = block->piece;
    if (piece->work->again) {
        piece->read_from =
            piece->read_before && piece->read_from < block->from ? piece->read_from : block->from;
        piece->read_before = true;
    } else if (piece->read_before && block->from >= piece->read_from) {
        counts_add(&run->twice, &block->counts);
    }
}

static bool add_block(run_t *run, const block_t *block, err_t *err) {
    const settled_block_t settled = {.from = block->from,
                                     .to = block->to,
                                     .hash = block->hash,
                                     .counts = block->counts,
                                     .rejects = block->rejects,
                                     .reject_count = block->reject_count,
                                     .dialect = block->piece->read_by,
                                     .tail = block->tail,
                                     .outgrown = block->outgrown};
    if (block->partial || !block->piece->work)
        return true;
    count_once(run, block);
    return (!block->counts.read || target_bind(run->target, err)) &&
           ledger_block(&run->ledger, block->piece->work, &settled, err);
}

/* Refuses a stream that was begun before, if there are documents after its end: they are of another stream. */
static bool check_end(const run_t *run, const news_t *news, err_t *err) {
    target_t *target = run->target;
    const work_t *work = news->piece->work;
    bool any;
    if (run->plan->schema->id || !other_stream_may_be(news->piece))
        return true;
    return entry_documents_look(target, &run->ledger.inputs[work->input].entry, news->end, &any, err) &&
           (!any || other_stream_refuse_shorter(news->piece, news->end, err));
}

/* Takes the news over, also if it returns false. */
static bool take_news(run_t *run, news_t *news, err_t *err) {
    bool ok = true;
    switch (news->kind) {
    case NEWS_FED:
        if ((ok = check_end(run, news, err)))
            ledger_fed(news->piece->work, news->end_block, news->tail_parts);
        break;
    case NEWS_COMPARED:
        ledger_checked(&run->ledger, news->piece->work);
        break;
    case NEWS_SKIPPED:
        news->piece->aside = true;
        run->aside = run->aside ? run->aside : news->piece;
        break;
    case NEWS_TORN:
        ledger_torn(news->piece->work, news->torn);
        news->next = run->torn;
        run->torn = news;
        return true;
    }
    free(news);
    return ok;
}

/* Skips files that feeders could not read further, once every block of them that was read is in the ledger. With --existing
 * replace no file after the first is taken. */
static void skip_files(run_t *run) {
    for (size_t i = 0; i < run->piece_count; i++) {
        active_piece_t *piece = &run->pieces[i];
        const bool waits = run->plan->existing == EXISTING_REPLACE && piece->ordinal > run->aside->ordinal &&
                           piece->work->state != WORK_OURS;
        if (piece->aside || waits)
            ledger_skip(&run->ledger, piece->work);
        piece->aside = false;
    }
    run->aside = NULL;
}

static void take_late(run_t *run, block_t *block) {
    while (block->late) {
        late_document_t *late = block->late;
        block->late = late->next;
        late->next = run->late;
        run->late = late;
    }
}

/* Removes documents that a message of a dead load has brought to the place of a record that makes none: before each checkpoint,
 * so also before the one that completes the piece. */
static bool look_for_late(const run_t *run, bool *removed, err_t *err) {
    bool ok = true;
    *removed = false;
    for (const late_document_t *late = run->late; ok && late; late = late->next) {
        bool it = false;
        if (late->piece->work->state == WORK_OURS)
            ok = correct_remove_late(run->target, late, &it, err);
        *removed |= it;
    }
    return ok;
}

/* Passes to the ledger what the threads have settled and found out. */
static bool run_collect(void *context, err_t *err) {
    run_t *run = ((const conductor_t *)context)->run;
    bool settled, removed;
    news_t *news = load_state_take_news(&run->loading, &settled);
    block_t *done = load_state_take_done(&run->loading);
    for (block_t *block = done; block; block = block->next)
        take_late(run, block);
    bool ok = look_for_late(run, &removed, err) && ((!done && !removed) || run_make_durable(run, err));
    for (const block_t *block = done; ok && block; block = block->next)
        ok = add_block(run, block, err);
    load_state_free_blocks(done);
    while (news) {
        news_t *next = news->next;
        err_t problem;
        if (!take_news(run, news, &problem)) {
            *err = ok ? problem : *err;
            ok = false;
        }
        news = next;
    }
    if (settled && run->aside)
        skip_files(run);
    return ok;
}

/* Offers the block to the queue. False: no room for now; this thread must not wait for senders that may wait for it. The block is
 * counted before a sender can settle it, but not while it waits for room: this thread would wait for it. */
static bool send_held_back(run_t *run, block_t *block) {
    pipeline_t *pipeline = &run->loading.pipeline;
    block->next = NULL;
    load_state_add_block(&run->loading);
    block->counted = true;
    const queue_offer_t offer = queue_offer(pipeline->queue, block, record_id_lane_of(block->id_base));
    if (offer == QUEUE_CLOSED)
        pipeline_free_block(pipeline, block);
    if (offer != QUEUE_FULL)
        return true;
    block->counted = false;
    pipeline->settled(pipeline->context);
    return false;
}

/* Sends held-back records once the catalog knows their places. If no feeder brings more blocks, only this thread can say so to the
 * senders. */
static void run_send_torn(run_t *run) {
    news_t **at = &run->torn;
    bool any = false;
    while (*at) {
        news_t *news = *at;
        if (!news->piece->work->torn_written || !send_held_back(run, news->block)) {
            at = &news->next;
            continue;
        }
        any = true;
        *at = news->next;
        free(news);
    }
    if (any && (load_state_is_fed(&run->loading) || feeder_is_idle(run->feeder)))
        queue_drain(run->loading.pipeline.queue);
}

/* ---- late misfits: inputs that could not be checked before, or are damaged, or have changed ---- */

/* With --existing replace: adds the files that come after the misfit in the catalog. None of them was taken yet, and the main
 * thread does not hand them out. */
static bool add_waiting(const run_t *run, const active_piece_t *misfit, misfits_t *found, err_t *err) {
    bool ok = true;
    for (size_t i = 0; ok && run->plan->existing == EXISTING_REPLACE && i < run->piece_count; i++) {
        const active_piece_t *piece = &run->pieces[i];
        const bool later = piece->work ? piece->ordinal > misfit->ordinal : piece > misfit;
        if (later && !(i && piece[-1].input == piece->input))
            ok = misfits_add_waiting(found, piece->input->name, misfit->input->name, 0, err);
    }
    return ok;
}

bool run_skip_misfit(void *context, active_piece_t *piece, err_t *err) {
    run_t *run = context;
    misfits_t *skipped = &run->plan->result->skipped, found = {.items = NULL};
    err_t why = *err;
    /* a changed one may be removed with its documents, and loaded again */
    bool ok = run->plan->spec->skip_bad_files && !(piece->changed && run->plan->spec->reload_changed);
    if (piece->begun)
        err_add(&why, "; what was read of it before is loaded, and the rest is missing");
    ok = ok && misfits_add(&found, piece->input->name, why.text, 0, err) &&
         add_waiting(run, piece, &found, err);
    /* at least one input must be left */
    ok = ok && skipped->count - run->plan->result->skipped_before + found.count < run->plan->manifest.count &&
         misfits_move(&found, skipped, err);
    misfits_free(&found);
    run->ended_by = ok ? run->ended_by : piece;
    return ok;
}

/* Counts the inputs of which a block was handed out. */
static size_t count_begun(const run_t *run) {
    const input_file_t *last = NULL;
    size_t begun = 0;
    for (const active_piece_t *piece = run->pieces; piece < run->pieces + run->piece_count; piece++)
        if (piece->begun && piece->input != last) {
            last = piece->input;
            begun++;
        }
    return begun;
}

void run_tell_late_misfit(const run_t *run, err_t *err) {
    const plan_t *plan = run->plan;
    const uint64_t records = plan->result->counts.of[FATE_LOADED] + plan->result->counts.of[FATE_THERE];
    const active_piece_t *misfit = run->ended_by;
    const size_t begun = count_begun(run);
    if (err->status != STATUS_INPUT)
        return;
    if (plan->manifest.count > 1 && !plan->spec->skip_bad_files)
        err_add(err, "; " MISFITS_REMEDY);
    if (!misfit || plan->spec->dry_run)
        return;
    char count[UNITS_MAX], more[320] = "no record was loaded before it";
    if (records)
        snprintf(more, sizeof more, "%s record%s of %zu file%s %s loaded before it",
                 units_count(count, records), records == 1 ? "" : "s", begun, begun == 1 ? "" : "s",
                 records == 1 ? "was" : "were");
    const bool header = misfits_is_header(misfit->input->name, err->text);
    err_add(err, "; %s%.80s%s%s", header ? "it does not fit the format " : "",
            header ? plan->schema->name : "", header ? ", and " : "", more);
}

/* ---- the coordinator's functions ---- */

static const int64_t CHECKPOINT_NS = 1000000000, LOOK_NS = 500000000, FOLLOW_NS = 5000000000,
                     STALE_NS = 100000000, ROUND_NS = 20000000, PORTION_NS = 2000000000;

static counts_t so_far(const run_t *run) {
    loader_counters_t sum = {.total_ns = 0};
    for (uint32_t i = 0; i < run->loader_count; i++)
        loader_add_counters(run->loaders[i], &sum);
    return sum.counts;
}

/* True if another piece of the same stream will be handed out right after this one. Those between them are done, or another
 * load's. */
static bool stream_goes_on(const run_t *run, const work_t *work) {
    const ledger_t *ledger = &run->ledger;
    const size_t group = ledger->inputs[work->input].group;
    const work_t *next = work + 1, *const end = ledger->works + ledger->work_count;
    while (next < end && ledger->inputs[next->input].group == group &&
           (next->handed_out || (next->state != WORK_OURS && next->state != WORK_CHECK)))
        next++;
    return next < end && ledger->inputs[next->input].group == group &&
           input_is_in_stream(run->pieces[work - ledger->works].input);
}

static bool nap(conductor_t *conductor, int64_t ns, err_t *err);

/* Waits a lease if an earlier load that replaced documents did not end well. This piece is ours now, so after that the other
 * load begins no more messages, and those on their way have arrived. */
static bool outlive_others(conductor_t *conductor, err_t *err) {
    run_t *run = conductor->run;
    if (!run->target->inherited || run->target->outlived)
        return true;
    log_note("an earlier load failed while it replaced documents: waiting %lld s, until none of its messages "
             "can arrive any more",
             (long long)(run->target->catalog.lease_ns / 1000000000));
    run->target->outlived = true;
    return nap(conductor, run->target->catalog.lease_ns, err);
}

static bool hand_out(void *context, work_t *work, err_t *err) {
    conductor_t *conductor = context;
    run_t *run = conductor->run;
    active_piece_t *piece = &run->pieces[work - run->ledger.works];
    if (work->state == WORK_OURS && !outlive_others(conductor, err))
        return false;
    bool hungry;
    if (!tell_piece(run, work, piece, err))
        return false;
    feeder_give(run->feeder, piece, stream_goes_on(run, work));
    conductor->portion = feeder_waiting(run->feeder, &hungry);
    return true;
}

/* ---- waiting ---- */

/* Estimates how much text is to come: rather too much, as the done part of an input that goes on may be counted. */
static uint64_t to_come(const run_t *run, const feeder_progress_t *fed) {
    if (!run->to_read || fed->done_bytes >= run->to_read)
        return 0; /* a stream's size is not known */
    return fed->done_bytes ? (uint64_t)((double)(run->to_read - fed->done_bytes) * (double)fed->text_bytes /
                                        (double)fed->disk_bytes)
                           : UINT64_MAX;
}

static void show_progress(run_t *run) {
    const feeder_progress_t fed = run->feeder ? feeder_progress(run->feeder) : (feeder_progress_t){0};
    const counts_t counts = so_far(run);
    const uint64_t documents = counts.of[FATE_LOADED] + counts.of[FATE_THERE];
    run->target->documents = documents;
    rejects_to_come(run->loading.rejects, to_come(run, &fed));
    if (progress_is_due(&run->progress))
        run_show_progress(run, &counts, fed.done_bytes);
    caller_tell_progress(documents, fed.disk_bytes);
    timeline_point(&run->plan->result->course, documents, fed.disk_bytes);
}

static bool is_idle(run_t *run) {
    const load_state_t *loading = &run->loading;
    if (loading->feeding_over)
        return !loading->blocks;
    /* first the feeders: what they are through with is among the blocks */
    return run->feeder && feeder_is_idle(run->feeder) && !loading->blocks;
}

/* Waits for a change, at most one round. */
static bool wait_a_round(run_t *run, int64_t until_ns, bool *idle) {
    load_state_t *loading = &run->loading;
    const int64_t round_ns = clock_now_ns() + ROUND_NS;
    load_state_leave(loading);
    pthread_mutex_lock(&loading->lock);
    *idle = is_idle(run);
    if (!*idle && !pipeline_failed(&loading->pipeline))
        condition_wait_until(&loading->changed, &loading->lock, round_ns < until_ns ? round_ns : until_ns);
    *idle = is_idle(run);
    const bool failed = pipeline_failed(&loading->pipeline);
    pthread_mutex_unlock(&loading->lock);
    pthread_mutex_lock(&loading->catalog);
    return !failed;
}

/* True if the next portion is to be taken: while feeders read the second half of a portion of small pieces; after a large piece,
 * when a feeder has nothing to read and the senders will soon have nothing to send. So a load has no more large pieces than it
 * needs, and other loads get their share. */
static bool is_hungry(const conductor_t *conductor, bool idle) {
    const run_t *run = conductor->run;
    bool may_feed = false;
    const size_t waiting = run->feeder ? feeder_waiting(run->feeder, &may_feed) : 0;
    if (waiting && !idle)
        return waiting < conductor->portion / 2;
    return idle || (may_feed && queue_runs_low(run->loading.pipeline.queue));
}

/* Sets how much is taken at once. */
static void measure(conductor_t *conductor, int64_t at_ns) {
    const run_t *run = conductor->run;
    const uint64_t read = run->feeder ? feeder_progress(run->feeder).text_bytes : 0;
    if (at_ns - conductor->read[1].at_ns >= PORTION_NS / 2) {
        conductor->read[0] = conductor->read[1];
        conductor->read[1].at_ns = at_ns;
        conductor->read[1].bytes = read;
    }
    const uint64_t bytes = read - conductor->read[0].bytes;
    if (run->plan->existing != EXISTING_REPLACE)
        conductor->coordinator.piece_bytes = bytes < RUN_LEAST_PORTION  ? RUN_LEAST_PORTION
                                             : bytes > RUN_MOST_PORTION ? RUN_MOST_PORTION
                                                                        : bytes;
}

static bool stopped(err_t *err) {
    return stop_signal() && !stop_interrupted(err);
}

/* Returns by how many seconds the majority lags, as the primary reports it. NAN: it does not. */
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

/* Waits one round, and does what every round needs. */
static bool do_a_round(conductor_t *conductor, int64_t until_ns, bool *idle, err_t *err) {
    run_t *run = conductor->run;
    if (!wait_a_round(run, until_ns, idle)) {
        *err = run->loading.pipeline.team.err;
        return false;
    }
    show_progress(run);
    const int64_t at_ns = clock_now_ns();
    measure(conductor, at_ns);
    if (at_ns - conductor->followed_ns >= (run->target->stale ? STALE_NS : FOLLOW_NS)) {
        conductor->followed_ns = at_ns;
        target_follow_shards(run->target);
        if (metrics_on() && !run->target->stale)
            metrics_lag(lag_of(run->target->client));
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
        load_state_leave(&conductor->run->loading);
        nanosleep(&pause, NULL);
        pthread_mutex_lock(&conductor->run->loading.catalog);
    }
    conductor->run->plan->result->waited_ns += clock_now_ns() - from_ns;
    return ok;
}

static void written(void *context, int64_t confirmed_ns) {
    run_t *run = ((conductor_t *)context)->run;
    atomic_store_explicit(&run->loading.confirmed_ns, confirmed_ns, memory_order_release);
    run_send_torn(run);
}

static void waits_for(void *context, const load_seen_t *load) {
    target_say_waits(((conductor_t *)context)->run->target, load, "the rest");
}

static bool enough(void *context) {
    return load_state_is_fed(&((conductor_t *)context)->run->loading);
}

static bool wait_to_look(void *context, err_t *err) {
    return nap(context, LOOK_NS, err);
}

static coordinator_t coordinator_of(conductor_t *conductor) {
    const run_t *run = conductor->run;
    conductor->catalog = run->target->catalog;
    conductor->catalog.context = conductor;
    conductor->catalog.wait = wait_to_look;
    conductor->catalog.waits_for = waits_for;
    return (coordinator_t){.catalog = &conductor->catalog,
                           .ledger = &conductor->run->ledger,
                           .least_pieces = 1,
                           .piece_bytes = run->plan->existing == EXISTING_REPLACE ? 0 : RUN_LEAST_PORTION,
                           .checkpoint_ns = CHECKPOINT_NS,
                           .context = conductor,
                           .hand_out = hand_out,
                           .wait = wait_for_change,
                           .collect = run_collect,
                           .written = written,
                           .enough = enough};
}

/* Sends the last records that still wait for the catalog when --limit ends the reading. Few go into the queue at once, and their
 * senders may ask this thread. */
static bool send_rest(conductor_t *conductor, err_t *err) {
    const run_t *run = conductor->run;
    bool hungry, idle, ok = true;
    for (bool more = enough(conductor); ok && more;) {
        ok = wait_for_change(conductor, CHECKPOINT_NS, false, &hungry, &idle, err);
        more = run->torn || !idle;
        ok = ok && coordinator_flush(&conductor->coordinator, err) &&
             coordinator_confirm(&conductor->coordinator, err);
    }
    return ok;
}

bool run_conduct(run_t *run, err_t *err) {
    target_t *target = run->target;
    conductor_t conductor = {.run = run, .followed_ns = clock_now_ns()};
    conductor.coordinator = coordinator_of(&conductor);
    return coordinator_run(&conductor.coordinator, err) && send_rest(&conductor, err) &&
           catalog_check_collection(target->catalog.store, &target->settings, target->generation, err);
}

bool run_flush(run_t *run, err_t *err) {
    conductor_t conductor = {.run = run};
    conductor.coordinator = coordinator_of(&conductor);
    return coordinator_flush(&conductor.coordinator, err);
}

bool run_wait(run_t *run, block_t **done, err_t *err) {
    conductor_t conductor = {.run = run, .followed_ns = clock_now_ns()};
    bool hungry, idle = false;
    *done = NULL;
    while (!idle || !load_state_is_fed(&run->loading))
        if (!wait_for_change(&conductor, CHECKPOINT_NS, false, &hungry, &idle, err) ||
            (run->places && !run_keep_held(run, false, err)))
            return false;
    *done = load_state_take_done(&run->loading);
    return true;
}

/* ---- durability and columns ---- */

bool run_make_durable(run_t *run, err_t *err) {
    rejects_t *rejects = run->loading.rejects;
    return (!rejects || rejects_flush(rejects, err)) && target_make_durable(run->target, err);
}

bool run_see_columns(void *context, active_piece_t *piece, const dialect_t *dialect, const text_t *unknown,
                     err_t *err) {
    run_t *run = context;
    active_piece_t *first = piece;
    while (first > run->pieces && first[-1].input == piece->input)
        first--;
    pthread_mutex_lock(&run->loading.lock);
    const bool seen = first->columns_seen || piece->only_compares;
    first->columns_seen = true;
    const bool ok = seen || plan_note_header(run->plan, piece, dialect, unknown, err);
    pthread_mutex_unlock(&run->loading.lock);
    if (!ok || !unknown->length || run->plan->spec->dry_run)
        return ok;
    if (!load_state_enter(&run->loading, err))
        return false;
    const bool noted = target_leave_out_columns(run->target, piece, unknown, err);
    load_state_leave(&run->loading);
    return noted;
}
