/* move_data: starts the threads of a load, waits until they have moved all data, ends them, and adds up what they did. */
#include "base/clock.h"
#include "base/log.h"
#include "base/numbers.h"
#include "base/stop.h"
#include "base/text.h"
#include "input/source.h"
#include "load/plan/inputs.h"
#include "load/rate/throttle.h"
#include "load/run/run.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

/* ---- how much is still to be read ---- */

static bool is_read_by_blocks(const active_piece_t *piece) {
    return piece->work && input_has_places(piece->input);
}

static uint64_t blocks_of(const active_piece_t *piece) {
    const uint64_t blocks = (piece->input->disk_bytes + RECORD_ID_BLOCK_BYTES - 1) / RECORD_ID_BLOCK_BYTES;
    return piece->from < blocks ? (piece->to < blocks ? piece->to : blocks) - piece->from : 0;
}

/* Returns what is to be read: of a plain file the blocks that are not done, of any other file also all before them. */
static uint64_t bytes_to_read(const run_t *run, const active_piece_t *piece) {
    const input_file_t *input = piece->input;
    if (!is_read_by_blocks(piece))
        return piece->from ? 0 : input_disk_share(input);
    const piece_t *known = &run->ledger.inputs[piece->work->input].entry.pieces[piece->work->piece];
    uint64_t left = blocks_of(piece);
    for (size_t i = 0; i < known->done.count; i++) {
        const uint64_t done = known->done.runs[i].to - known->done.runs[i].from;
        left -= done < left ? done : left;
    }
    return left * RECORD_ID_BLOCK_BYTES < input->disk_bytes ? left * RECORD_ID_BLOCK_BYTES
                                                            : input->disk_bytes;
}

static bool is_done(const active_piece_t *piece) {
    return piece->work && piece->work->state == WORK_DONE;
}

static void look_what_is_to_read(run_t *run) {
    for (size_t i = 0; i < run->piece_count; i++) {
        active_piece_t *piece = &run->pieces[i];
        if (is_done(piece))
            continue;
        piece->to_read = bytes_to_read(run, piece);
        run->to_read += is_read_by_blocks(piece) ? blocks_of(piece) * RECORD_ID_BLOCK_BYTES : piece->to_read;
        run->first = run->first ? run->first : piece;
    }
}

/* The text of a packed file is taken as four times what it has on disk. */
static uint64_t text_to_read(const active_piece_t *piece) {
    const input_kind_t kind = piece->input->kind;
    const bool packed = kind != INPUT_PLAIN && kind != INPUT_UTF16 && kind != INPUT_ENCODED;
    return packed || input_is_in_stream(piece->input) ? 4 * piece->to_read : piece->to_read;
}

/* Not in a study, whose trials follow each other. With a limit or a filter it is not known how much will be loaded. */
static void watch_free_space(run_t *run) {
    const load_spec_t *spec = run->plan->spec;
    uint64_t to_come = 0;
    for (size_t i = 0; spec->limit == UINT64_MAX && !run->plan->filter && i < run->piece_count; i++)
        to_come += text_to_read(&run->pieces[i]);
    if (!spec->dry_run && !spec->trial)
        run->space = free_space_begin(run->target->server, run->target->client, to_come);
}

void run_show_progress(run_t *run, const counts_t *counts, uint64_t bytes) {
    const uint64_t limit = run->feeder ? run->plan->spec->limit : UINT64_MAX;
    progress_state_t state = {.bytes = bytes,
                              .records = counts->read,
                              .most_records = limit == UINT64_MAX ? 0 : limit,
                              .documents = counts->of[FATE_LOADED] + counts->of[FATE_THERE],
                              .rejected = counts->of[FATE_REJECTED]};
    for (size_t i = 0; i < run->piece_count; i++)
        if (!is_done(&run->pieces[i]) || !run->pieces[i].work->by_others)
            state.total_bytes += run->pieces[i].to_read;
    progress_show(&run->progress, &state);
}

/* ---- --max-rate ---- */

/* The least number of batches a second, so that a low rate is even. */
enum { LEAST_BATCHES = 10 };

/* With --max-rate auto batches are short, so that other clients do not wait long for a core of the server. */
enum { AUTO_BATCH = 100, AUTO_BYTES = 32 * 1024 };

/* Each shard has a batch in at most this share of the time. While batches are alone, their time does not show whether a server
 * has cores left for others; with a larger share, readers on a host of two cores waited many times as long. */
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

static bool restrain(run_t *run, err_t *err) {
    const load_spec_t *spec = run->plan->spec;
    load_state_t *loading = &run->loading;
    const throttle_options_t options = {.per_second = spec->max_rate,
                                        .bytes = spec->max_rate_bytes,
                                        .places = spec->max_rate_auto ? CHUNKMAP_MOST_SHARDS + 1 : 0,
                                        .limit = RATE_STEP_START,
                                        .most = AUTO_SHARE};
    if (spec->dry_run || (!spec->max_rate && !spec->max_rate_auto))
        return true;
    keep_batches_small(loading, spec);
    run->plan->result->batch = loading->batch_documents;
    loading->throttle = throttle_new(&options);
    return loading->throttle || err_memory(err, options.places);
}

/* Writes why a load with --max-rate auto waited. */
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

static void release(run_t *run) {
    load_result_t *result = run->plan->result;
    const load_spec_t *spec = run->plan->spec;
    throttle_t *throttle = run->loading.throttle;
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
    run->loading.throttle = NULL;
}

/* ---- sums over threads, shards and routers, and the bottleneck ---- */

static void take_counters(load_result_t *result, const loader_counters_t *sum) {
    result->counts = sum->counts;
    result->batches = sum->batches;
    result->sent_documents = sum->sent_documents;
    result->bytes_bson = sum->sent_bytes;
    result->retries = sum->retries;
    result->short_batches = sum->short_batches;
    result->bad_values = sum->bad_values;
    result->ambiguous_times = sum->ambiguous_times;
    result->passed_over = sum->passed_over;
    result->unrouted = sum->unrouted;
}

/* Finds where most of the loader threads' time went. */
static void find_limit(load_result_t *result, const loader_counters_t *sum) {
    int64_t held_ns = result->throttled_ns * result->threads;
    double total = sum->total_ns > 0 ? (double)sum->total_ns : 1;
    double server = (double)sum->wait_server_ns / total * 100,
           input = (double)sum->wait_input_ns / total * 100, held = (double)held_ns / total * 100;
    const double other = (double)(result->waited_ns * result->threads) / total * 100;
    input = input > other ? input - other : 0; /* no input came while another load was waited for */
    const double taken = server + input + held + other, client = taken < 100 ? 100 - taken : 0;
    char waited[UNITS_MAX];
    const loaded_place_t *slowest = &result->shards[0];
    for (size_t i = 1; i < result->shard_count; i++)
        if (result->shards[i].figures.waiting_ns > slowest->figures.waiting_ns)
            slowest = &result->shards[i];
    bool one = result->shard_count > 1 && sum->wait_server_ns &&
               slowest->figures.waiting_ns > 2 * sum->wait_server_ns / (int64_t)result->shard_count;
    if (other >= server && other >= input && other >= client && other >= held && result->waited_ns)
        snprintf(result->limited_by, sizeof result->limited_by, "another load (waited %s %s)",
                 units_time(waited, (double)result->waited_ns / 1e9),
                 result->files_done_by_others ? "until its part was done" : "for its lease");
    else if (held >= server && held >= input && held >= client && held_ns)
        snprintf(result->limited_by, sizeof result->limited_by, "%.110s (%.0f%% of the time)",
                 result->throttled_by, held);
    else if (server >= input && server >= client && one)
        snprintf(result->limited_by, sizeof result->limited_by,
                 "shard %.80s (of all the waiting for shards, %.0f%% was for this one)", slowest->name,
                 100.0 * (double)slowest->figures.waiting_ns / (double)sum->wait_server_ns);
    else if (server >= input && server >= client)
        snprintf(result->limited_by, sizeof result->limited_by,
                 "server %.80s (the loader threads were waiting for it %.0f%% of the time)", result->where,
                 server);
    else if (input >= client)
        snprintf(result->limited_by, sizeof result->limited_by,
                 "input (the loader threads were waiting for it %.0f%% of the time)", input);
    else
        snprintf(result->limited_by, sizeof result->limited_by,
                 "client CPU (%.0f%% of the threads' time went to parsing and encoding)", client);
}

static void set_place(loaded_place_t *place, const char *name, traffic_t *traffic, size_t at) {
    snprintf(place->name, sizeof place->name, "%s", name);
    if (traffic)
        place->figures = traffic_figures(traffic, at);
}

/* Without shards the server itself counts as one. */
static void tally_shards(run_t *run) {
    load_result_t *result = run->plan->result;
    load_state_t *loading = &run->loading;
    chunkmap_t *map = loading->target->route ? route_map(loading->target->route) : NULL;
    result->shard_count = target_shard_count(run->target);
    for (size_t i = 0; i < result->shard_count; i++)
        set_place(&result->shards[i], map ? chunkmap_shard_name(map, i) : result->where, loading->shards,
                  map ? i + 1 : i);
    chunkmap_free(map);
}

static void tally_routers(run_t *run) {
    target_t *target = run->target;
    load_result_t *result = run->plan->result;
    const routers_t *routers = &target->routers;
    if (!target->server || server_facts(target->server)->kind != SERVER_ROUTER || target->direct)
        return;
    result->router_count = routers->count ? routers->count : 1;
    for (size_t i = 0; i < result->router_count; i++)
        set_place(&result->routers[i], routers->count ? server_where(routers->servers[i]) : result->where,
                  run->loading.ways, i);
}

/* Counts the pieces and records that other loads have done since this one began. */
static void tally_others(run_t *run) {
    for (size_t i = 0; i < run->ledger.work_count; i++) {
        const work_t *work = &run->ledger.works[i];
        if (work->state != WORK_DONE || !work->by_others)
            continue;
        const counts_t counts = piece_counts(&run->ledger.inputs[work->input].entry.pieces[work->piece]);
        run->plan->result->files_done_by_others++;
        run->plan->result->records_done_by_others += counts.read - work->read_before;
        if (run->loading.rejects)
            rejects_of_others(run->loading.rejects, counts.read - work->read_before,
                              counts.of[FATE_REJECTED] - work->rejected_before);
    }
}

/* Returns "a.csv:17"; or "a.csv offset 81604378624" far into a large file, whose lines were not counted. */
static char *places_of(const bad_field_t *field) {
    text_t places = {.length = 0};
    char words[PLACE_MAX];
    err_t ignored;
    for (const bad_place_t *place = field->places; place < field->places + field->place_count; place++) {
        const block_t block = {.piece = (active_piece_t *)place->input, .lines_from = place->lines_from};
        text_print(&places, "%s%s%s", places.length ? ", " : "", block.piece->input->name,
                   place_words(words, block_line(&block, place->line), place->offset));
    }
    return text_take(&places, &ignored);
}

/* Lists the fields with values that do not fit. The totals count also those that memory is too short for. */
static void tally_bad_fields(plan_t *plan, const bad_values_t *values) {
    load_result_t *result = plan->result;
    if (values)
        memcpy(result->became, values->became, sizeof result->became);
    result->bad_binary = values && values->binary;
    result->bad_stay = schema_any_fields(plan->schema);
    for (size_t i = 0; values && !plan->spec->retry && i < schema_counted(plan->schema); i++) {
        const bad_field_t *field = &values->fields[i];
        err_t ignored;
        if (!field->count ||
            !GROW(result->bad_fields, result->bad_field_room, result->bad_field_count + 1, &ignored))
            continue;
        bad_result_t *bad = &result->bad_fields[result->bad_field_count++];
        *bad = (bad_result_t){.count = field->count, .places = places_of(field)};
        snprintf(bad->name, sizeof bad->name, "%s", schema_counted_field(plan->schema, i)->name);
    }
    if (values && result->ambiguous_times && !plan->spec->retry)
        result->ambiguous_first = places_of(&values->fields[bad_values_twice(values)]);
}

/* False: the first failure of a sender, or what pipeline_fail was given. */
static bool join_loaders(run_t *run, err_t *err) {
    plan_t *plan = run->plan;
    loader_counters_t sum = {.total_ns = 0};
    bad_values_t *bad_values = bad_values_new(plan->schema);
    const bool ok = pipeline_join(&run->loading.pipeline, err);
    for (uint32_t i = 0; i < run->loader_count; i++)
        loader_end(run->loaders[i], &sum, bad_values);
    run->loader_count = 0;
    take_counters(plan->result, &sum);
    tally_bad_fields(plan, bad_values);
    free(bad_values);
    /* the rejects are in another file if another load uses the requested one */
    const char *kept_in = run->loading.rejects ? rejects_path(run->loading.rejects) : NULL;
    plan->result->rejects_kept = kept_in ? rejects_count(run->loading.rejects) : 0;
    snprintf(plan->result->rejects_path, sizeof plan->result->rejects_path, "%s", kept_in ? kept_in : "");
    tally_others(run);
    tally_shards(run);
    tally_routers(run);
    release(run);
    find_limit(plan->result, &sum);
    return ok;
}

/* ---- the threads ---- */

/* Half of the memory is for text, half for batches; each batch exists twice, ours and the driver's copy. */
static bool start_loaders(run_t *run, err_t *err) {
    target_t *target = run->target;
    plan_t *plan = run->plan;
    const load_spec_t *spec = plan->spec;
    load_state_t *loading = &run->loading;
    uint32_t threads = plan->result->threads;
    size_t batch_share = (size_t)(spec->memory / 2 / threads / 2) / target_shard_count(target),
           least_batch = 64 * 1024;
    loading->batch_bytes = (size_t)spec->batch_bytes < batch_share ? (size_t)spec->batch_bytes : batch_share;
    loading->batch_bytes = loading->batch_bytes < least_batch ? least_batch : loading->batch_bytes;
    loading->batch_documents = spec->batch;
    loading->existing = spec->retry ? EXISTING_REJECT : plan->existing;
    size_t shards = target_shard_count(target);
    loading->parts = threads < shards ? threads : (uint32_t)shards;
    loading->lease_ns = spec->dry_run ? 0 : target->catalog.lease_ns;
    loading->max_document = server_facts(target->server)->max_document_bytes;
    if (!(plan->retry_options = retry_options(spec, plan->result->namespace, err)))
        return false;
    reject_options_t rejects = {
        .file = {.path = plan->result->rejects_path,
                 .retried = spec->retry,
                 .again = plan->retry_options,
                 .catalog = target->own_catalog,
                 .inputs = {run->registration.standings, run->registration.standing_count},
                 .schema = plan->schema},
        .write = !spec->dry_run && !spec->counts_rejects,
        .format = spec->format,
        .to_come = run->to_read ? UINT64_MAX : 0,
        .first = run->first,
        .most = spec->max_rejects,
        /* --retry: what was rejected before may be rejected again */
        .most_percent = spec->retry && !spec->max_rejects_given ? 100 : spec->max_rejects_percent};
    loading->shards = traffic_new(CHUNKMAP_MOST_SHARDS + 1);
    loading->ways = traffic_new(ROUTERS_MOST);
    if (!loading->shards || !loading->ways)
        return err_memory(err, 1);
    const bool objects = manifest_has_objects(&run->plan->manifest);
    if (!pipeline_open(&loading->pipeline, spec->memory / (objects ? 4 : 2), threads, err))
        return false;
    if (!(loading->rejects = rejects_new(&rejects, err)) || !restrain(run, err))
        return false;
    if (!spec->retry)
        run_tell_what_is_there(run);
    for (; run->loader_count < threads; run->loader_count++)
        if (!(run->loaders[run->loader_count] = loader_start(loading, run->loader_count, err)))
            return false;
    return true;
}

static bool start_feeders(run_t *run, err_t *err) {
    const plan_t *plan = run->plan;
    const load_spec_t *spec = plan->spec;
    feeder_options_t options = {.schema = plan->schema,
                                .pieces = run->pieces,
                                .piece_count = run->piece_count,
                                .pipeline = &run->loading.pipeline,
                                .limit = spec->limit,
                                .limit_is_about = spec->limit_is_about,
                                .numbered = !spec->dry_run,
                                .by_pieces = !spec->dry_run,
                                .loading = &run->loading,
                                .extend = run_extend,
                                .go_on = run_go_on,
                                .misfit = run_skip_misfit,
                                .skips = spec->skip_bad_files,
                                .in_order = plan->existing == EXISTING_REPLACE,
                                .columns = run_see_columns,
                                .objects = {.ahead = spec->memory / 4, .connections = run->loader_count},
                                .context = run};
    options.threads = options.in_order ? 1 : feeder_threads(&options);
    return (run->feeder = feeder_start(&options, err)) != NULL;
}

static bool feed_and_send(run_t *run, err_t *err) {
    block_t *done = NULL;
    if (run->plan->spec->retry)
        return run_load_again(run, err);
    if (!start_feeders(run, err))
        return false;
    bool ok = run->plan->spec->dry_run ? run_wait(run, &done, err) : run_conduct(run, err);
    load_state_free_blocks(done);
    return ok;
}

static bool join_feeders(run_t *run, err_t *err) {
    if (!run->feeder) {
        pipeline_close(&run->loading.pipeline);
        return true;
    }
    feeder_progress_t read = feeder_progress(run->feeder);
    bool ok = feeder_join(run->feeder, err);
    run->feeder = NULL;
    run->plan->result->bytes_read = read.disk_bytes;
    run->plan->result->bytes_text = read.text_bytes;
    return ok;
}

/* Ends all threads. The pipeline keeps the first failure, of a sender or of this thread. A fault of an input counts if nothing else
 * failed. After a signal the senders still send what they hold. */
static bool end_threads(run_t *run, bool ok, err_t *err) {
    pipeline_t *pipeline = &run->loading.pipeline;
    const bool interrupted = !ok && !pipeline_failed(pipeline) && stop_signal();
    err_t feeding, first;
    if (!ok && !interrupted && run->loader_count)
        pipeline_fail(pipeline, err);
    load_state_close(&run->loading);
    const bool fed = join_feeders(run, &feeding), sent = join_loaders(run, &first);
    if (!sent && !interrupted)
        *err = first;
    if (ok && sent && !fed) {
        run_tell_late_misfit(run, &feeding);
        *err = feeding;
    }
    return ok && sent && fed;
}

/* True if settled blocks are to be written down after a failure: not if the server is gone, and not if too many rejects ended
 * the load before it sent anything. */
static bool may_flush(const run_t *run, const err_t *why) {
    return run->loading.rejects && !run->plan->spec->dry_run && !run->plan->spec->retry &&
           why->status != STATUS_SERVER && (run->target->bound || why->status != STATUS_TOO_MANY_REJECTED);
}

bool run_move_data(run_t *run, err_t *err) {
    const plan_t *plan = run->plan;
    look_what_is_to_read(run);
    watch_free_space(run);
    progress_start(&run->progress);
    int64_t began = clock_now_ns();
    target_enter(run->target, TIMELINE_LOADING);
    timeline_point(&plan->result->course, 0, 0);
    bool ok = (!plan->spec->retry || run_prepare_again(run, err)) && start_loaders(run, err) &&
              feed_and_send(run, err);
    ok = end_threads(run, ok, err);
    plan->result->moving_ns = clock_now_ns() - began;
    const counts_t *counts = &plan->result->counts;
    timeline_last_point(&plan->result->course, counts->of[FATE_LOADED] + counts->of[FATE_THERE],
                        plan->result->bytes_read);
    run_show_progress(run, counts, plan->result->bytes_read);
    progress_end(&run->progress);
    misfits_warn(&plan->result->skipped, plan->result->skipped_before,
                 plan->manifest.count + plan->result->skipped_before);
    err_t flushing;
    if (!ok && may_flush(run, err) && !run_flush(run, &flushing) && err->status != STATUS_SERVER)
        log_detail("what was processed last could not be written down: %s", flushing.text);
    load_state_free_blocks(load_state_take_done(&run->loading));
    counts_subtract(&plan->result->counts, &run->twice);
    if (!ok) {
        run_tell_removed(run);
        return false;
    }
    return rejects_flush(run->loading.rejects, err) && rejects_check(run->loading.rejects, err);
}
