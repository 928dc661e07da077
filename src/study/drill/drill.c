/* A drill from its beginning to its end: what is taken over from the target, the prediction, and the pass of
 * everything. */
#include "study/drill/drill.h"
#include "base/clock.h"
#include "base/log.h"
#include "base/numbers.h"
#include "base/stop.h"
#include "study/drill/drill_inner.h"

#include <math.h>
#include <string.h>

/* ---- the prediction ---- */

/* Said before the drill begins, so that it is a real prediction. */
static void say_forecast(const drill_result_t *result) {
    char documents[UNITS_MAX], bytes[UNITS_MAX];
    char whole[FORECAST_SPELLED], load[FORECAST_SPELLED], verify[FORECAST_SPELLED];
    const drill_pass_t *pass = &result->pass;
    const drill_sample_t *sample = &result->samples[result->sample_count - 1];
    log_note(
        "drill: predicted for %s%s document%s, %s of BSON: %s from nothing to verified; load %s, verify %s",
        result->exact ? "" : "about ", units_count(documents, (uint64_t)result->all_documents),
        units_s((uint64_t)result->all_documents),
        units_size(bytes, result->all_documents * (double)sample->bytes / (double)sample->documents),
        forecast_spell(whole, &pass->verified), forecast_spell(load, &pass->phases[DRILL_LOAD].predicted),
        forecast_spell(verify, &pass->phases[DRILL_VERIFY].predicted));
}

static bool predict(const drill_spec_t *spec, drill_result_t *result, err_t *err) {
    if (spec->no_predict)
        return true;
    if (!rehearsal_run(spec, result, err))
        return stop_signal() ? false : err_where(err, "in a sample");
    say_forecast(result);
    return true;
}

/* ---- the drill itself ---- */

static bool run_all(const drill_spec_t *spec, drill_result_t *result, err_t *err) {
    drill_pass_t *pass = &result->pass;
    load_spec_t load = result->study.load;
    if (spec->predict_only)
        return true;
    load.limit = UINT64_MAX;
    load.counts_rejects = !load.rejects;
    result->drilled = true;
    study_checkpoint(&result->study);
    const bool ok = drill_pass(&load, spec->query, false, pass, err);
    if (load.counts_rejects && pass->load.counts.of[FATE_REJECTED])
        log_warn("the rejects of this drill are not kept: --rejects FILE keeps them");
    return ok && (!pass->difference[0] || err_set(err, STATUS_DIFFERENT, "%s", pass->difference));
}

/* ---- before the first phase ---- */

/* What a load checks before it drops anything: files, first records, keys of indexes and shards. It is silent, since the drill
 * will say the same again. */
static bool check_load(const study_t *study, err_t *err) {
    enum { RECORDS = 20000 };
    load_result_t result;
    load_spec_t load = study->load;
    caller_t silent;
    load.drop = load.trial = load.dry_run = load.counts_rejects = true;
    load.limit = RECORDS;
    caller_init(&silent);
    caller_set(&silent);
    const bool ok = load_run(&load, &result, err);
    caller_set(NULL);
    caller_free(&silent);
    load_result_free(&result);
    if (!ok && err->status == STATUS_TOO_MANY_REJECTED)
        err_add(err, "; `tipple parse` shows why");
    return ok;
}

bool drill_open(const drill_spec_t *spec, drill_result_t *result, err_t *err) {
    study_t *study = &result->study;
    memset(result, 0, sizeof *result);
    result->all_documents = result->pass.query_seconds = NAN;
    result->pass.predicted = result->pass.verified = FORECAST_UNKNOWN;
    for (drill_phase_t phase = 0; phase < DRILL_PHASES; phase++)
        result->pass.phases[phase].predicted = FORECAST_UNKNOWN;
    *err = (err_t){.status = STATUS_OK};
    const bool ok =
        study_open(study, &spec->load, SCRATCH_DRILL, "a drill reads again what it has loaded", true, err) &&
        check_load(study, err);
    result->is_open = true;
    if (!ok)
        drill_close(result, false, err);
    return ok;
}

bool drill_close(drill_result_t *result, bool ok, err_t *err) {
    if (!result->is_open)
        return ok;
    result->is_open = false;
    ok = study_close(&result->study, ok, err);
    study_free(&result->study);
    return ok;
}

bool drill_run(const drill_spec_t *spec, drill_result_t *result, err_t *err) {
    const int64_t began = clock_now_ns();
    bool ok = predict(spec, result, err) && run_all(spec, result, err);
    ok = drill_close(result, ok, err);
    if (ok) /* tries that failed on the way are no failure */
        *err =
            (err_t){.status = result->pass.load.counts.of[FATE_REJECTED] ? STATUS_SOME_REJECTED : STATUS_OK};
    result->took_ns = clock_now_ns() - began;
    return ok;
}

forecast_t drill_predicted(const drill_result_t *drills, size_t count) {
    forecast_t sum = {0, 0, 0};
    for (size_t i = 0; i < count; i++) {
        const forecast_t parts[] = {sum, drills[i].pass.verified};
        if (isnan(parts[1].mid))
            return parts[1];
        sum = forecast_sum(parts, 2);
    }
    return sum;
}

double drill_measured(const drill_result_t *drills, size_t count) {
    double sum = 0;
    for (size_t i = 0; i < count; i++)
        sum += drills[i].pass.finished ? (double)drills[i].pass.verified_ns / 1e9 : NAN;
    return sum;
}

double drill_needs(const drill_result_t *drills, size_t count) {
    const double measured = drill_measured(drills, count);
    const forecast_t predicted = drill_predicted(drills, count);
    return !isnan(measured) ? measured : isnan(predicted.high) ? predicted.mid : predicted.high;
}
