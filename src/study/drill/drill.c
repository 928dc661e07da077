#include "study/drill/drill.h"
#include "base/clock.h"
#include "base/log.h"
#include "base/numbers/units.h"
#include "base/stop.h"
#include "study/drill/drill_inner.h"
#include "study/drill/drill_pass.h"
#include "study/drill/rehearsal.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- samples ---- */

static void plan_passes(drilling_t *drilling) {
    const drill_indexes_t indexes = drilling->spec->indexes;
    drill_result_t *result = drilling->result;
    const forecast_t unknown = {NAN, NAN, NAN};
    result->pass_count = indexes == DRILL_BOTH ? 2 : 1;
    for (size_t i = 0; i < result->pass_count; i++) {
        drill_pass_t *pass = &result->passes[i];
        pass->indexes_first = indexes == DRILL_BEFORE || i == 1;
        pass->predicted = pass->verified = unknown;
        pass->reached = DRILL_PHASES;
        for (drill_phase_t phase = 0; phase < DRILL_PHASES; phase++)
            pass->phases[phase].predicted = unknown;
    }
}

/* Said before the drill begins, so that it is a real prediction. */
static void say_forecast(const drill_result_t *result) {
    char documents[UNITS_MAX], whole[FORECAST_SPELLED], load[FORECAST_SPELLED], verify[FORECAST_SPELLED];
    for (size_t i = 0; i < result->pass_count; i++) {
        const drill_pass_t *pass = &result->passes[i];
        units_about(documents, result->all_documents, result->exact);
        forecast_spell(load, &pass->phases[DRILL_LOAD].predicted);
        forecast_spell(verify, &pass->phases[DRILL_VERIFY].predicted);
        log_note("drill: predicted for %s document%s%s: %s from nothing to verified; load %s, verify %s",
                 documents, units_s((uint64_t)result->all_documents),
                 result->pass_count == 1 ? ""
                 : pass->indexes_first   ? ", indexes before"
                                         : ", indexes after",
                 forecast_spell(whole, &pass->verified), load, verify);
    }
}

/* The free space on the server's disk; NAN: the server does not tell (a router never does). */
static double free_bytes(const drilling_t *drilling) {
    bson_iter_t at;
    bson_t reply;
    err_t ignored;
    double total = NAN, used = NAN;
    bson_t *command = BCON_NEW("dbStats", BCON_INT32(1));
    if (server_command(drilling->target, drilling->client, server_database(drilling->target), command, false,
                       &reply, &ignored)) {
        if (bson_iter_init_find(&at, &reply, "fsTotalSize"))
            total = bson_iter_as_double(&at);
        if (bson_iter_init_find(&at, &reply, "fsUsedSize"))
            used = bson_iter_as_double(&at);
    }
    bson_destroy(command);
    bson_destroy(&reply);
    return total - used;
}

/* Warns before hours are spent. It is only a warning, since the effect of compression is not known. */
static void look_for_room(const drilling_t *drilling) {
    const drill_result_t *result = drilling->result;
    const drill_sample_t *sample = &result->samples[result->sample_count - 1];
    const double bytes = result->all_documents * (double)sample->bytes / (double)sample->documents,
                 room = free_bytes(drilling);
    char needed[UNITS_MAX], left[UNITS_MAX];
    if (result->scratch && bytes > room)
        log_warn(
            "the documents have %s, before compression and without indexes, and the server's disk has %s "
            "left: it may not be enough for the scratch collection",
            units_bytes(needed, bytes), units_bytes(left, room));
}

static bool predict(drilling_t *drilling, err_t *err) {
    const drill_spec_t *spec = drilling->spec;
    load_spec_t load = drilling->result->load;
    load.uri = drilling->scratch_uri;
    load.rejects = drilling->rejects.path;
    const rehearsal_spec_t rehearsal = {
        .load = &load,
        .scratch = drilling->scratch,
        .sample = spec->sample,
        .documents = spec->scale && spec->scale != DRILL_ALL ? (double)spec->scale : NAN,
        .thorough = spec->scale > 0};
    if (spec->no_predict)
        return true;
    if (!rehearsal_run(&rehearsal, drilling->result, err))
        return stop_signal() ? false : err_where(err, "in a sample");
    say_forecast(drilling->result);
    look_for_room(drilling);
    /* a drill in scratch has to drop the last sample, and so measures the drop, too */
    return drilling->result->scratch || scratch_drop(drilling->scratch, err);
}

/* ---- the drill itself ---- */

static bool run_pass(drilling_t *drilling, drill_pass_t *pass, err_t *err) {
    const bool scratch = drilling->result->scratch;
    drill_pass_spec_t spec = {.load = drilling->result->load,
                              .query = &drilling->result->query,
                              .cluster = drilling->result->cluster};
    spec.load.limit = UINT64_MAX;
    if (scratch) {
        spec.load.uri = drilling->scratch_uri;
        if (!spec.load.rejects)
            spec.load.rejects = drilling->rejects.path;
    }
    const bool ok = scratch_begin(drilling->scratch, 0, NULL, err) && drill_pass(&spec, pass, err);
    if (!ok && !scratch && pass->loaded)
        err_behind_change(err);
    if (spec.load.rejects == drilling->rejects.path && pass->load.counts.rejected)
        log_warn("the rejects of this drill are not kept: --rejects FILE does");
    return ok;
}

/* ---- its history ---- */

static void join_keys(const load_result_t *load, char out[512]) {
    size_t used = 0;
    out[0] = '\0';
    for (size_t i = 0; i < load->index_count && used < 512; i++)
        used += (size_t)snprintf(out + used, 512 - used, "%s%s", i ? " " : "", load->indexes[i].keys);
}

static void describe(const drilling_t *drilling, const drill_pass_t *pass, drills_entry_t *entry) {
    const drill_result_t *result = drilling->result;
    const load_result_t *load = &pass->load;
    char name[1400];
    *entry = (drills_entry_t){.scratch = result->scratch,
                              .documents = load->counts.loaded,
                              .bytes = load->bytes_bson,
                              .rejected = load->counts.rejected,
                              .differences = pass->wrong,
                              .threads = load->threads,
                              .batch = load->batch,
                              .seconds = (double)pass->took_ns / 1e9,
                              .verified = (double)pass->verified_ns / 1e9,
                              .predicted = pass->verified,
                              .when_ms = clock_wall_ms()};
    snprintf(entry->namespace, sizeof entry->namespace, "%s", result->namespace);
    snprintf(entry->format, sizeof entry->format, "%s", result->format);
    snprintf(entry->server, sizeof entry->server, "%s", result->version);
    snprintf(entry->version, sizeof entry->version, "%s", TIPPLE_VERSION);
    snprintf(entry->query, sizeof entry->query, "%.255s", first_query_name(&result->query, name));
    snprintf(entry->indexes, sizeof entry->indexes, "%s",
             !load->index_count ? "none"
                                : drill_indexes_name(pass->indexes_first ? DRILL_BEFORE : DRILL_AFTER));
    join_keys(load, entry->keys);
    gethostname(entry->host, sizeof entry->host - 1);
    for (drill_phase_t i = 0; i < DRILL_PHASES; i++) {
        entry->phases[i] = pass->phases[i].came ? (double)pass->phases[i].took_ns / 1e9 : NAN;
        entry->phases_predicted[i] = pass->phases[i].predicted;
    }
}

/* The drill itself has succeeded: if it cannot be recorded, this is only a warning. */
static void remember(drilling_t *drilling, drill_pass_t *pass) {
    drills_entry_t entry, *entries = NULL;
    size_t count = 0;
    err_t err;
    describe(drilling, pass, &entry);
    bool ok = drills_read(drilling->target, drilling->client, &entries, &count, &err);
    const drills_entry_t *before = ok ? drills_before(entries, count, &entry) : NULL;
    pass->compared = before != NULL;
    if (before)
        pass->earlier = *before;
    free(entries);
    ok = ok && drills_write(drilling->target, drilling->client, &entry, &err);
    if (!ok)
        log_warn("the drill is not kept for `tipple drill --history`: %s", err.text);
}

static bool run_passes(drilling_t *drilling, err_t *err) {
    drill_result_t *result = drilling->result;
    for (size_t i = 0; i < result->pass_count; i++) {
        result->drilled = true;
        if (!run_pass(drilling, &result->passes[i], err))
            return false;
        remember(drilling, &result->passes[i]);
    }
    for (size_t i = 0; i < result->pass_count; i++)
        if (result->passes[i].difference[0])
            return err_set(err, STATUS_DIFFERENT, "%s", result->passes[i].difference);
    return true;
}

static bool drill(drilling_t *drilling, err_t *err) {
    const drill_spec_t *spec = drilling->spec;
    plan_passes(drilling);
    return drill_check_spec(drilling, err) && drill_open_target(drilling, err) &&
           supplies_make_rejects(&drilling->rejects, "drill", "samples", err) &&
           (drilling->scratch = scratch_open(spec->load.uri, SCRATCH_DRILL, spec->load.patience_ns, err)) !=
               NULL &&
           scratch_hold(drilling->scratch, err) && predict(drilling, err) &&
           (spec->predict_only || spec->scale || run_passes(drilling, err));
}

static bool close_all(drilling_t *drilling, bool ok, err_t *err) {
    err_t closing;
    if (!scratch_close(drilling->scratch, &closing)) {
        if (ok)
            *err = closing;
        else
            log_warn("%s", closing.text);
        ok = false;
    }
    if (drilling->client)
        server_give(drilling->target, drilling->client);
    server_destroy(drilling->target);
    free(drilling->scratch_uri);
    free(drilling->guessed);
    free(drilling->filter);
    drilling->result->load.guessed = NULL;
    supplies_remove_rejects(&drilling->rejects);
    return ok;
}

static bool some_rejected(const drill_result_t *result) {
    uint64_t rejected = 0;
    for (size_t i = 0; i < result->pass_count; i++)
        rejected += result->passes[i].load.counts.rejected;
    return rejected > 0;
}

bool drill_run(const drill_spec_t *spec, drill_result_t *result, err_t *err) {
    drilling_t drilling = {.spec = spec, .result = result};
    const int64_t began = clock_now_ns();
    memset(result, 0, sizeof *result);
    result->all_documents = NAN;
    result->scratch = !spec->drop;
    result->began_ms = clock_wall_ms();
    *err = (err_t){.status = STATUS_OK};
    bool ok = drill(&drilling, err);
    ok = close_all(&drilling, ok, err);
    if (ok) /* tries that failed on the way are no failure */
        *err = (err_t){.status = some_rejected(result) ? STATUS_SOME_REJECTED : STATUS_OK};
    result->took_ns = clock_now_ns() - began;
    return ok;
}

void drill_free_result(drill_result_t *result) {
    present_indexes_free(&result->indexes);
}

/* ---- the results ---- */

bool drill_left_open(const drill_result_t *result) {
    if (result->scratch || !result->drilled)
        return false;
    for (size_t i = result->pass_count; i-- > 0;) {
        const drill_pass_t *pass = &result->passes[i];
        if (pass->reached != DRILL_PHASES)
            return pass->phases[DRILL_DROP].came && !pass->loaded;
    }
    return false;
}

const drill_pass_t *drill_quicker(const drill_result_t *result) {
    const drill_pass_t *one = &result->passes[0], *other = &result->passes[1];
    if (result->pass_count < 2)
        return NULL;
    if (one->finished && other->finished)
        return other->verified_ns < one->verified_ns ? other : one;
    return other->verified.mid < one->verified.mid ? other : one;
}
