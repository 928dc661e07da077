/* The whole verify, in order. */
#include "verify/verify.h"
#include "base/clock.h"
#include "base/host.h"
#include "base/log.h"
#include "base/numbers.h"
#include "base/stop.h"
#include "load/feed/feeder.h"
#include "verify/stray_scan.h"
#include "verify/verify_inner.h"

#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>
#include <xxhash.h>

enum { ROUND_US = 20000, LEAST_ROUND_US = 500 };

void verify_spec_init(verify_spec_t *spec) {
    *spec = (verify_spec_t){.sample_percent = 100, .most = 20};
    load_spec_init(&spec->load);
}

/* False where the catalog has no numbers for the text, which therefore cannot be loaded: a stream that has become
 * longer. */
static bool has_numbers(void *context, active_piece_t *piece, uint64_t offset, err_t *err) {
    uint64_t number;
    (void)context;
    return piece->input->text_bound || active_piece_number(piece, offset, &number) ||
           err_set(err, STATUS_INPUT,
                   "%s is longer than what was loaded of it: byte %llu has no place in the catalog",
                   piece->input->name, (unsigned long long)offset);
}

/* Selects the same blocks each time, so that a difference can be verified again. */
static bool in_sample(const verify_spec_t *spec, const block_t *block) {
    const uint64_t place[] = {block->piece->ordinal, block->from};
    const double share = (double)(XXH3_64bits(place, sizeof place) >> 11) * 0x1p-53;
    return share * 100 < spec->sample_percent;
}

/* A long record takes several times its length: for its document, for that of the server, and in the driver, which
 * keeps it for its connection. So long blocks are compared one at a time, by one verifier. */
static bool look_at(verify_worker_t *worker, const block_t *block, err_t *err) {
    static pthread_mutex_t turn = PTHREAD_MUTEX_INITIALIZER;
    verification_t *run = worker->run;
    const uint32_t threads = run->result->threads;
    if (block->length <= run->spec->load.memory / 2 / threads)
        return verifier_look(worker->verifier, block, err);
    pthread_mutex_lock(&turn);
    const bool ok = verifier_look(run->workers[threads].verifier, block, err);
    pthread_mutex_unlock(&turn);
    return ok;
}

static bool take_block(void *context, block_t *block, err_t *err) {
    verify_worker_t *worker = context;
    verification_t *run = worker->run;
    const uint32_t length = block->length;
    bool ok = true;
    if (in_sample(run->spec, block))
        ok = look_at(worker, block, err);
    else
        worker->skipped++;
    pipeline_free_block(&run->pipeline, block);
    worker->text_bytes += ok ? length : 0;
    return ok;
}

static bool start_workers(verification_t *run, err_t *err) {
    const verify_spec_t *spec = run->spec;
    static const pipeline_work_t work = {.block = take_block};
    const uint32_t threads = run->result->threads;
    /* the other half of the memory is for what the server sends */
    const bool objects = manifest_has_objects(run->manifest);
    if (!pipeline_open(&run->pipeline, spec->load.memory / (objects ? 4 : 2), threads, err))
        return false;
    run->result->by_turns = run->existing != EXISTING_REJECT;
    run->inspection = (inspection_t){.schema = run->schema,
                                     .existing = run->existing,
                                     .filter = run->filter,
                                     .fixes = &run->fixes,
                                     .server = run->server,
                                     .pieces = run->pieces,
                                     .entries = &run->registration,
                                     .most = spec->most,
                                     .whole = !spec->files_only && spec->sample_percent >= 100};
    for (; run->worker_count <= threads; run->worker_count++) {
        verify_worker_t *worker = &run->workers[run->worker_count];
        worker->run = run;
        worker->work = (pipeline_worker_t){.work = &work, .context = worker};
        if (!(worker->verifier = verifier_new(&run->inspection, err)))
            return false;
        if (run->worker_count < threads && !pipeline_start(&run->pipeline, &worker->work, err)) {
            verifier_free(worker->verifier);
            return false;
        }
    }
    return true;
}

static feeder_t *start_feeder(verification_t *run, err_t *err) {
    feeder_options_t options = {
        .schema = run->schema,
        .pieces = run->pieces,
        .piece_count = run->manifest->count,
        .pipeline = &run->pipeline,
        .limit = run->spec->load.limit,
        .limit_is_about = run->spec->load.limit_is_about,
        .numbered = true,
        .objects = {.ahead = run->spec->load.memory / 4, .connections = run->worker_count},
        .extend = has_numbers,
        .context = run};
    return feeder_start(&options, err);
}

static void watch(verification_t *run, feeder_t *feeder) {
    useconds_t pause = LEAST_ROUND_US;
    while (!queue_ended(run->pipeline.queue) && !pipeline_failed(&run->pipeline)) {
        uint64_t documents = 0, rejected = 0;
        usleep(pause);
        pause = pause * 2 > ROUND_US ? ROUND_US : pause * 2;
        for (uint32_t i = 0; i < run->worker_count; i++) {
            const inspected_t *counters = verifier_counters(run->workers[i].verifier);
            documents += __atomic_load_n(&counters->seen, __ATOMIC_RELAXED);
            rejected += __atomic_load_n(&counters->rejected, __ATOMIC_RELAXED);
        }
        if (progress_is_due(&run->progress)) {
            const progress_state_t state = {
                .bytes = feeder_progress(feeder).done_bytes,
                .total_bytes = run->bytes_to_read,
                .records = documents,
                .most_records = run->spec->load.limit == UINT64_MAX ? 0 : run->spec->load.limit,
                .documents = documents,
                .rejected = rejected};
            progress_show(&run->progress, &state);
        }
    }
}

static bool add_up_workers(verification_t *run, err_t *err) {
    verify_result_t *result = run->result;
    bool ok = true;
    for (uint32_t i = 0; i < run->worker_count; i++) {
        verify_worker_t *worker = &run->workers[i];
        const inspected_t *counters = verifier_counters(worker->verifier);
        inspected_add(&result->counts, counters);
        result->blocks += counters->blocks + worker->skipped;
        run->text_bytes += worker->text_bytes;
        ok = differences_move(result->differences, verifier_differences(worker->verifier), err) && ok;
        ok = ok && last_wins_move(&run->last, verifier_last(worker->verifier), err);
        ok = ok && verified_ids_add(&run->ids, verifier_ids(worker->verifier), err);
        verifier_free(worker->verifier);
    }
    run->worker_count = 0;
    return ok;
}

static bool compare(verification_t *run, err_t *err) {
    err_t joining;
    for (size_t i = 0; i < run->manifest->count; i++)
        run->bytes_to_read += input_disk_share(&run->manifest->files[i]);
    progress_start(&run->progress);
    metrics_phase("comparing");
    bool ok = start_workers(run, err);
    feeder_t *feeder = ok ? start_feeder(run, err) : NULL;
    ok = feeder != NULL;
    if (ok)
        watch(run, feeder);
    else
        pipeline_close(&run->pipeline);
    if (feeder) {
        feeder_progress_t read = feeder_progress(feeder);
        ok = feeder_join(feeder, err);
        run->result->bytes_read = read.disk_bytes;
        run->result->bytes_text = read.text_bytes;
    }
    const bool worked = pipeline_join(&run->pipeline, &joining);
    err_t adding;
    const bool joined = add_up_workers(run, &adding);
    /* much more may have been read than was compared */
    run->result->looked = (double)run->text_bytes / (double)run->result->bytes_text *
                          (double)run->result->bytes_read / (double)run->bytes_to_read;
    const progress_state_t state = {.bytes = run->result->bytes_read,
                                    .total_bytes = run->bytes_to_read,
                                    .records = run->result->counts.records,
                                    .documents = run->result->counts.seen,
                                    .rejected = run->result->counts.rejected};
    progress_show(&run->progress, &state);
    progress_end(&run->progress);
    if (!worked)
        *err = joining;
    else if (ok && !joined)
        *err = adding;
    else if (ok && stop_signal())
        err_set(err, (status_t)(128 + stop_signal()),
                "interrupted: what was compared until then is reported above");
    else
        return ok;
    return false;
}

/* Finds out which records were replaced, and which documents should be there. */
static bool judge_last(verification_t *run, err_t *err) {
    verify_result_t *result = run->result;
    const size_t count = run->manifest->count;
    uint32_t *ordinals = malloc((count + 1) * sizeof *ordinals);
    const char **names = malloc((count + 1) * sizeof *names);
    last_judged_t judged = {.equal = 0};
    if (!ordinals || !names) {
        free(ordinals);
        free(names);
        return err_memory(err, count * sizeof *names);
    }
    for (size_t i = 0; i < count; i++) {
        ordinals[i] = run->pieces[i].ordinal;
        names[i] = run->pieces[i].input->name;
    }
    const bool ok = last_wins_judge(&run->last, ordinals, names,
                                    run->spec->sample_percent >= 100 && run->spec->load.limit == UINT64_MAX,
                                    result->differences, &judged, err);
    if (ok && run->existing == EXISTING_REPLACE) {
        result->counts.same = judged.equal;
        result->replaced = judged.superseded;
        result->counts.expected -= judged.superseded;
        result->undecided = judged.undecided;
    }
    free(ordinals);
    free(names);
    return ok;
}

/* Looks for documents that belong to no file. A load that began meanwhile registers its files before it sends
 * documents: so if there are documents at places of no file, the catalog is read again, until it has not changed in
 * between. */
static bool look_outside(verification_t *run, err_t *err) {
    verify_result_t *result = run->result;
    verified_ids_t *ids = run->schema->id ? &run->ids : NULL;
    step_t step;
    if (ids) {
        verified_ids_sort(ids);
        result->counts.seen = ids->count; /* several records may have asked for one */
    }
    stray_scan_options_t options = {.server = run->server,
                                    .pieces = run->pieces,
                                    .piece_count = run->manifest->count,
                                    .entries = &run->registration,
                                    .looked_at = result->counts.seen,
                                    .threads = result->threads,
                                    .most = run->spec->most,
                                    .ids = ids,
                                    .appends = run->header.appends,
                                    .all_files = result->files >= result->catalog_files};
    stray_scan_t outside = {.others = 0};
    if (run->spec->files_only || run->spec->sample_percent < 100)
        return true;
    differences_t *found = differences_new(run->spec->most);
    bool ok = found != NULL || err_memory(err, 1), settled = false;
    step_begin(&step, "looking for documents that belong to no file");
    metrics_phase("looking for documents that belong to no file");
    while (ok && !settled) {
        differences_clear(found);
        options.places = run->places;
        ok = stray_scan_look(&options, found, &outside, err);
        result->counts.retries += outside.retries;
        settled = true;
        if (ok && differences_count(found, DIFFERENCE_UNRELATED)) {
            places_t *before = run->places;
            ok = (run->places = places_read(run->store, err)) != NULL;
            settled = ok && places_equal(before, run->places);
            places_free(before);
        }
    }
    step_end(&step);
    for (size_t i = 0; ids && i < ids->awaited_count; i++) {
        result->counts.seen += ids->awaited[i].found;
        result->counts.same += ids->awaited[i].found;
    }
    result->counted = ok;
    result->other_documents = outside.others;
    result->not_ours = outside.not_ours;
    result->all_documents = result->counts.seen + outside.others + outside.not_ours;
    if (found)
        result->all_documents +=
            differences_count(found, DIFFERENCE_EXTRA) + differences_count(found, DIFFERENCE_UNRELATED);
    ok = ok && differences_move(result->differences, found, err);
    differences_free(found);
    return ok;
}

static bool conclude(const verification_t *run, err_t *err) {
    const differences_t *differences = run->result->differences;
    size_t used = 0;
    char list[400] = "", count[UNITS_MAX];
    for (difference_kind_t kind = 0; kind < DIFFERENCE_KINDS; kind++) {
        uint64_t found = differences_count(differences, kind);
        if (found)
            used += (size_t)snprintf(list + used, sizeof list - used, "%s%s %s", used ? ", " : "",
                                     units_count(count, found), difference_names[kind]);
    }
    if (used)
        return err_set(err, STATUS_DIFFERENT, "%s is not what its files make: %s",
                       server_namespace(run->server), list);
    if (run->result->counts.unloaded)
        return err_set(err, STATUS_DIFFERENT,
                       "%s %s fixed in the reject file and not loaded yet; load it (tipple load --retry), "
                       "then verify again",
                       units_count(count, run->result->counts.unloaded),
                       run->result->counts.unloaded == 1 ? "record was" : "records were");
    if (run->result->blocks && !run->result->counts.blocks)
        return err_set(err, STATUS_USAGE,
                       "nothing was looked at: --sample %g%% has none of the %s block%s of 256 KiB that "
                       "these files are; take a larger share, or leave --sample out",
                       run->spec->sample_percent, units_count(count, run->result->blocks),
                       run->result->blocks == 1 ? "" : "s");
    return true;
}

static bool open_all(verification_t *run, err_t *err) {
    step_t step;
    step_begin(&step, "looking at the files, the server and the catalog");
    const bool ok = verify_open(run, err);
    step_end(&step);
    return ok;
}

static bool look(verification_t *run, err_t *err) {
    verify_result_t *result = run->result;
    if (!open_all(run, err))
        return false;
    result->compared = run->nothing || (compare(run, err) && judge_last(run, err));
    result->ended = run->nothing || (result->compared && look_outside(run, err));
    return result->ended && (run->nothing || conclude(run, err));
}

static void free_run(verification_t *run) {
    free(run->pieces);
    register_free(&run->registration);
    free(run->registration.wanted);
    catalog_header_free(&run->header);
    fixes_free(&run->fixes);
    places_free(run->places);
    last_wins_free(&run->last);
    free(run->ids.hashes);
    free(run->ids.awaited);
    store_mongo_close(run->store);
    pipeline_free(&run->pipeline);
    if (run->client)
        server_give(run->server, run->client);
    server_destroy(run->server);
    filter_free(run->filter);
    schema_destroy(run->schema);
    free(run);
}

bool verify_run(const verify_spec_t *spec, verify_result_t *result, err_t *err) {
    int64_t started = clock_now_ns(), cpu = clock_process_cpu_ns();
    verification_t *run = calloc(1, sizeof *run);
    *result =
        (verify_result_t){.threads = spec->load.threads ? spec->load.threads : pipeline_usual_threads()};
    result->differences = differences_new(spec->most);
    if (!run || !result->differences) {
        free(run);
        return err_memory(err, sizeof *run);
    }
    *err = (err_t){.status = STATUS_OK};
    run->spec = spec;
    run->result = result;
    run->manifest = &result->manifest;
    bool ok = look(run, err);
    result->peak_memory_bytes = host_peak_memory();
    result->took_ns = clock_now_ns() - started;
    result->cpu_ns = clock_process_cpu_ns() - cpu;
    free_run(run);
    return ok;
}

void verify_free_result(verify_result_t *result) {
    differences_free(result->differences);
    manifest_free(&result->manifest);
    result->differences = NULL;
}
