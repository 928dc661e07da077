#include "study/drill/drill.h"
#include "base/clock.h"
#include "base/log.h"
#include "base/numbers/units.h"
#include "base/stop.h"
#include "server/bson_read.h"
#include "study/drill/drill_inner.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- samples ---- */

static void predict_nothing(drill_pass_t *pass) {
    const forecast_t unknown = {NAN, NAN, NAN};
    pass->predicted = pass->verified = unknown;
    pass->reached = DRILL_PHASES;
    for (drill_phase_t phase = 0; phase < DRILL_PHASES; phase++)
        pass->phases[phase].predicted = unknown;
}

/* Said before the drill begins, so that it is a real prediction. */
static void say_forecast(const drill_result_t *result) {
    char documents[UNITS_MAX], whole[FORECAST_SPELLED], load[FORECAST_SPELLED], verify[FORECAST_SPELLED];
    const drill_pass_t *pass = &result->pass;
    log_note("drill: predicted for %s document%s: %s from nothing to verified; load %s, verify %s",
             units_about(documents, result->all_documents, result->exact),
             units_s((uint64_t)result->all_documents), forecast_spell(whole, &pass->verified),
             forecast_spell(load, &pass->phases[DRILL_LOAD].predicted),
             forecast_spell(verify, &pass->phases[DRILL_VERIFY].predicted));
}

/* The free space on the server's disk; NAN: the server does not tell (a router never does). */
static double free_bytes(const drilling_t *drilling) {
    bson_t reply;
    err_t ignored;
    bson_t *command = BCON_NEW("dbStats", BCON_INT32(1));
    const bool ok = server_command(drilling->target, drilling->client, server_database(drilling->target),
                                   command, false, &reply, &ignored);
    const double room =
        ok ? bson_read_number(&reply, "fsTotalSize") - bson_read_number(&reply, "fsUsedSize") : NAN;
    bson_destroy(command);
    bson_destroy(&reply);
    return room;
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
    if (drilling->spec->no_predict)
        return true;
    if (!rehearsal_run(drilling, err))
        return stop_signal() ? false : err_where(err, "in a sample");
    say_forecast(drilling->result);
    look_for_room(drilling);
    /* a drill in scratch has to drop the last sample, and so measures the drop, too */
    return drilling->result->scratch || scratch_drop(drilling->scratch, err);
}

/* ---- the drill itself ---- */

static bool run_all(drilling_t *drilling, err_t *err) {
    drill_result_t *result = drilling->result;
    drill_pass_t *pass = &result->pass;
    load_spec_t load = result->load;
    load.limit = UINT64_MAX;
    if (result->scratch) {
        load.uri = scratch_place(drilling->scratch);
        load.counts_rejects = !load.rejects;
    }
    result->drilled = true;
    scratch_checkpoint(drilling->scratch);
    const bool ok = drill_pass(result, &load, false, pass, err);
    if (!ok && !result->scratch && pass->loaded)
        err_behind_change(err);
    if (load.counts_rejects && pass->load.counts.rejected)
        log_warn("the rejects of this drill are not kept: --rejects FILE does");
    return ok && (!pass->difference[0] || err_set(err, STATUS_DIFFERENT, "%s", pass->difference));
}

static bool drill(drilling_t *drilling, err_t *err) {
    const drill_spec_t *spec = drilling->spec;
    drill_result_t *result = drilling->result;
    if (!drill_check_spec(drilling, err) || !drill_open_target(drilling, err) ||
        !(drilling->scratch = scratch_open(spec->load.uri, SCRATCH_DRILL, spec->load.patience_ns, err)))
        return false;
    if (result->scratch)
        snprintf(result->collection, sizeof result->collection, "%s",
                 server_namespace(scratch_server(drilling->scratch)));
    return predict(drilling, err) && (spec->predict_only || spec->scale || run_all(drilling, err));
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
    free(drilling->guessed);
    free(drilling->filter);
    drilling->result->load.guessed = NULL;
    return ok;
}

bool drill_run(const drill_spec_t *spec, drill_result_t *result, err_t *err) {
    drilling_t drilling = {.spec = spec, .result = result};
    const int64_t began = clock_now_ns();
    memset(result, 0, sizeof *result);
    result->all_documents = NAN;
    result->scratch = !spec->drop;
    predict_nothing(&result->pass);
    *err = (err_t){.status = STATUS_OK};
    bool ok = drill(&drilling, err);
    ok = close_all(&drilling, ok, err);
    if (ok) /* tries that failed on the way are no failure */
        *err = (err_t){.status = result->pass.load.counts.rejected ? STATUS_SOME_REJECTED : STATUS_OK};
    result->took_ns = clock_now_ns() - began;
    return ok;
}

void drill_free_result(drill_result_t *result) {
    present_indexes_free(&result->indexes);
}

/* ---- the results ---- */

bool drill_left_open(const drill_result_t *result) {
    return !result->scratch && result->drilled && result->pass.phases[DRILL_DROP].came &&
           !result->pass.loaded;
}

bool drill_is_within(const drill_result_t *result, double within, double *seconds) {
    const drill_pass_t *pass = &result->pass;
    *seconds = pass->finished               ? (double)pass->verified_ns / 1e9
               : isnan(pass->verified.high) ? pass->verified.mid
                                            : pass->verified.high;
    return *seconds <= within;
}
