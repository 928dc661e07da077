/* load: runs a load, in the order of load_inputs; a run that may succeed without some inputs, or with the format of another
 * load, begins again. */
#include "base/clock.h"
#include "base/host.h"
#include "base/log.h"
#include "base/numbers.h"
#include "base/stop.h"
#include "base/text.h"
#include "load/run/run.h"
#include "load/spec/load_result.h"

#include <stdlib.h>
#include <string.h>

/* Without a catalog each input is read as a whole. */
static bool list_inputs(run_t *run, err_t *err) {
    plan_t *plan = run->plan;
    manifest_forget_heads(&plan->manifest);
    if (!(run->pieces = calloc(plan->manifest.count + 1, sizeof *run->pieces)))
        return err_memory(err, plan->manifest.count * sizeof *run->pieces);
    for (; run->piece_count < plan->manifest.count; run->piece_count++)
        run->pieces[run->piece_count] = (active_piece_t){.input = &plan->manifest.files[run->piece_count],
                                                         .to = UINT64_MAX,
                                                         .bad_value = plan->schema->bad_value};
    return true;
}

static bool load_inputs(run_t *run, err_t *err) {
    const plan_t *plan = run->plan;
    if (!target_make_plan(run->target, err) || (!run->target->server && !target_connect(run->target, err)) ||
        !target_open(run->target, err))
        return false;
    if (!plan->spec->retry &&
        !(plan->spec->dry_run ? list_inputs(run, err)
                              : run_register_inputs(run, err) &&
                                    catalog_expect_others(run->target->catalog.store, &run->target->settings,
                                                          run->target->generation, err) &&
                                    target_add_columns(run->target, err)))
        return false;
    target_hold_shards(run->target);
    plan->result->files = plan->manifest.count;
    const char *rejects = plan->spec->rejects;
    snprintf(plan->result->rejects_path, sizeof plan->result->rejects_path, "%s%s",
             rejects ? rejects : plan->result->namespace, rejects ? "" : ".rejects");
    for (char *at = plan->result->rejects_path; !rejects && *at; at++)
        if (*at == '/')
            *at = '_'; /* of the collection's name, not a folder */
    log_detail("%s at %s: %zu file%s, %u thread%s, batches of %u", plan->result->namespace,
               plan->result->where, plan->manifest.count, units_s(plan->manifest.count),
               plan->result->threads, units_s(plan->result->threads), plan->spec->batch);
    return run_move_data(run, err) && (plan->spec->dry_run || target_build_indexes(run->target, err));
}

static void run_free(run_t *run, bool again) {
    for (size_t i = 0; i < run->piece_count; i++)
        done_runs_free(&run->pieces[i].done_before);
    free(run->pieces);
    register_free(&run->registration);
    free(run->registration.wanted);
    ledger_free(&run->ledger);
    fixes_free(&run->fixes);
    places_free(run->places);
    places_free(run->places_before);
    for (size_t i = 0; i < run->kept_count; i++)
        free(run->kept[i]);
    free(run->kept);
    while (run->late) {
        late_document_t *next = run->late->next;
        free(run->late);
        run->late = next;
    }
    while (run->torn) {
        news_t *next = run->torn->next;
        pipeline_free_block(&run->loading.pipeline, run->torn->block);
        free(run->torn);
        run->torn = next;
    }
    traffic_free(run->loading.shards);
    traffic_free(run->loading.ways);
    rejects_free(run->loading.rejects, again);
    load_state_free(&run->loading);
    pipeline_free(&run->loading.pipeline);
}

/* Counts the rejects of all inputs, whichever load rejected them: open ones, and those that users left out. */
static void tally_open_rejects(run_t *run, bool ok) {
    enum { NAMED = 3 };
    load_result_t *result = run->plan->result;
    text_t text = {.length = 0};
    size_t named = 0;
    result->knows_rejects = ok;
    for (size_t i = 0; ok && !run->plan->spec->retry && i < run->ledger.input_count; i++) {
        const ledger_input_t *input = &run->ledger.inputs[i];
        const reject_sums_t sums = entry_reject_sums(&input->entry);
        const uint64_t open = sums.open;
        result->left_out += sums.left_out;
        result->open_rejects += open;
        if (open && named++ < NAMED)
            text_print(&text, "%s%.100s %llu", text.length ? ", " : "", input->name,
                       (unsigned long long)open);
    }
    if (named > NAMED)
        text_print(&text, ", and %zu more input%s", named - NAMED, units_s(named - NAMED));
    if (text.length)
        snprintf(result->open_rejects_text, sizeof result->open_rejects_text, "%s", text.bytes);
    text_free(&text);
}

/* True if a stream was opened, which cannot be read again. */
static bool has_read_a_stream(const run_t *run) {
    for (size_t i = 0; i < run->piece_count; i++)
        if (run->pieces[i].opened)
            return true;
    return false;
}

/* Takes out inputs that proved to have changed when they were read (--reload-changed), so that the load begins again. False if
 * this user may not remove documents, since the load would end here again, or if a stream was read. */
static bool remove_changed(run_t *run, err_t *err) {
    static const char stream_is_read[] =
        "; nothing was removed, because this command was reading a stream, which cannot be read twice: "
        "give --reload-changed for the file alone, and then load the stream";
    size_t count = 0;
    removed_t *inputs = calloc(run->piece_count + 1, sizeof *inputs);
    if (!inputs)
        return err_memory(err, run->piece_count * sizeof *inputs);
    for (size_t i = 0; i < run->piece_count; i++) {
        const active_piece_t *piece = &run->pieces[i];
        const entry_t *entry = piece->work ? &run->ledger.inputs[piece->work->input].entry : NULL;
        if (piece->changed && entry && !(count && inputs[count - 1].entry == entry))
            inputs[count++] = (removed_t){entry, .read = true};
    }
    const bool stream = count && has_read_a_stream(run);
    if (stream)
        err_add(err, "%s", stream_is_read);
    const bool any = count && !stream && target_may_remove_inputs(run->target, err);
    if (any)
        target_remove_inputs(run->target, inputs, count, err);
    free(inputs);
    return any;
}

/* Adds that --drop must not be repeated, since it would remove what this load has done. A study drops its own collection, and
 * has no such option. */
static void tell_dropped(const target_t *target, err_t *err) {
    const plan_t *plan = target->plan;
    if (plan->spec->trial)
        return;
    if (target->dropped)
        err_add(err, "; --drop has dropped what was in %s before: leave that option out from now on",
                plan->result->namespace);
    else if (plan->spec->drop && plan->result->counts.of[FATE_LOADED])
        err_add(err, "; but without --drop, which would drop what is loaded by now");
}

/* Adds how to remove what was loaded of a stream without a name, since it would be loaded a second time. */
static void tell_nameless(const run_t *run, err_t *err) {
    for (size_t i = 0; i < run->piece_count; i++) {
        const active_piece_t *piece = &run->pieces[i];
        if (!piece->begun || !piece->known_as || piece->input->has_identity)
            continue;
        err_add(err,
                "; but %.200s has no name by which it could be known again: `%.2000s` takes out what there "
                "is of it, and with --input-name it could be resumed",
                piece->input->name, piece->forget);
        return;
    }
}

enum { MOST_RUNS = 100 };

/* What a run hands to the next one. */
typedef struct {
    manifest_t manifest; /* keeps the bytes that were read of streams */
    misfits_t skipped;
    load_id_t id;            /* the load that registered them, or nobody */
    bool drop_done, dropped; /* not to be repeated: others may have loaded since */
} inputs_t;

/* True if the load may begin again: hands its inputs to the next run. */
static bool may_begin_again(run_t *run, const err_t *err, inputs_t *inputs) {
    plan_t *plan = run->plan;
    if (!err->again || has_read_a_stream(run))
        return false;
    inputs->manifest = plan->manifest;
    inputs->skipped = plan->result->skipped;
    inputs->id = run->target->before;
    if (run->pieces && load_id_is_nobody(&inputs->id))
        inputs->id = run->target->catalog.self;
    plan->manifest = (manifest_t){.count = 0};
    plan->result->skipped = (misfits_t){.items = NULL};
    return true;
}

/* *again: changed inputs were taken out, or may_begin_again. inputs: from the run before, or empty. */
static bool run_once(const load_spec_t *spec, load_result_t *result, inputs_t *inputs, bool *again,
                     err_t *err) {
    plan_t plan = {.spec = spec, .result = result, .manifest = inputs->manifest, .widened = UINT64_MAX};
    target_t target = {
        .plan = &plan, .before = inputs->id, .drop_done = inputs->drop_done, .dropped = inputs->dropped};
    run_t its = {.plan = &plan, .target = &target, .loading = {.plan = &plan, .target = &target}},
          *run = &its;
    *again = false;
    int64_t started = clock_now_ns(), cpu = clock_process_cpu_ns();
    *result = (load_result_t){.threads = spec->threads ? spec->threads : pipeline_usual_threads(),
                              .batch = spec->batch,
                              .skipped = inputs->skipped};
    *err = (err_t){.status = STATUS_OK};
    *inputs = (inputs_t){.manifest.count = 0};
    bson_init(&plan.shard_key.spec);
    timeline_begin(&result->course);
    step_begin(&target.step, "%s", timeline_phase_name(TIMELINE_LOOKING));
    result->course.listener = spec->listener;
    load_state_init(&run->loading);
    bool ok = load_inputs(run, err);
    free_space_end(run->space, ok ? NULL : err);
    if (!ok)
        *again = (err->status == STATUS_INPUT && spec->reload_changed && remove_changed(run, err)) ||
                 may_begin_again(run, err, inputs);
    inputs->drop_done = target.drop_done;
    inputs->dropped = target.dropped;
    if (!ok && !*again) {
        const bool left_some = run->loading.touched && !spec->trial; /* a trial's collection is nobody's */
        if (target.touched || left_some || result->counts.of[FATE_LOADED])
            err_after_change(err);
        tell_dropped(&target, err);
        tell_nameless(run, err);
    }
    tally_open_rejects(run, ok);
    if (ok)
        err->status = result->counts.of[FATE_REJECTED] || result->open_rejects || result->fixed_otherwise ||
                              result->skipped.count
                          ? STATUS_SOME_REJECTED
                          : STATUS_OK;
    result->peak_memory_bytes = host_peak_memory();
    result->took_ns = clock_now_ns() - started;
    result->cpu_ns = clock_process_cpu_ns() - cpu;
    target_enter(&target, TIMELINE_CLOSING);
    target_close_shards(&target);
    target_close_catalog(&target, run->loading.rejects != NULL, err, ok);
    timeline_end(&result->course);
    step_end(&target.step);
    run_free(run, *again);
    target_free(&target);
    plan_free(&plan);
    return ok;
}

bool load_run(const load_spec_t *spec, load_result_t *result, err_t *err) {
    inputs_t inputs = {.manifest.count = 0};
    load_spec_t next = *spec;
    bool again, ok = run_once(spec, result, &inputs, &again, err);
    for (int runs = 1; again && runs < MOST_RUNS && !stop_signal(); runs++) {
        load_result_free(result);
        next.drop &= !inputs.drop_done;
        ok = run_once(&next, result, &inputs, &again, err);
    }
    manifest_free(&inputs.manifest);
    misfits_free(&inputs.skipped);
    return ok;
}
