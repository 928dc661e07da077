/* Predicts how long a drill takes. Samples are passes of the first records: of DRILL_SIZES sizes, each half of the
 * next, up in one round and down in the next. The forecast of each phase is a line through (documents, seconds). */
#include "base/log.h"
#include "base/numbers.h"
#include "study/drill/drill_inner.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { FIRST_SAMPLE = 20000, MOST_SAMPLE = 1000000 };

/* A sample of this length is long enough to include one-time costs, and short enough to be repeated. */
static const double LONG_ENOUGH_S = 2;

typedef struct {
    const drill_spec_t *spec;
    drill_result_t *result;
    drill_pass_t *pass; /* the last pass */
    uint64_t most;      /* records of the largest sample */
    gauge_t gauge;
} rehearsal_t;

/* ---- samples ---- */

static bool is_all(const rehearsal_t *rehearsal, uint64_t records) {
    return rehearsal->gauge.exact && records >= rehearsal->gauge.records;
}

static bool take(rehearsal_t *rehearsal, uint64_t records, err_t *err) {
    study_t *study = &rehearsal->result->study;
    drill_pass_t *pass = rehearsal->pass;
    /* without a limit, files are read in parallel, as in the drill itself */
    load_spec_t load = study_sample(&study->load, is_all(rehearsal, records) ? UINT64_MAX : records);
    load.limit_is_about = true;
    memset(pass, 0, sizeof *pass);
    study_checkpoint(study);
    if (!drill_pass(&load, rehearsal->spec->query, true, pass, err))
        return false;
    if (pass->wrong)
        return err_set(err, STATUS_DIFFERENT, "of a sample of %llu record%s: %s", (unsigned long long)records,
                       units_s(records), pass->difference);
    return study_judge_sample(study, &pass->load.counts, "predicted", err);
}

static void keep(rehearsal_t *rehearsal, uint64_t asked) {
    drill_result_t *result = rehearsal->result;
    const drill_pass_t *pass = rehearsal->pass;
    drill_sample_t *sample = &result->samples[result->sample_count++];
    *sample = (drill_sample_t){.asked = asked,
                               .read = pass->load.counts.read,
                               .documents = pass->load.counts.of[FATE_LOADED],
                               .bytes = pass->load.bytes_bson};
    for (drill_phase_t i = 0; i < DRILL_PHASES; i++)
        sample->seconds[i] = pass->phases[i].came ? (double)pass->phases[i].took_ns / 1e9 : NAN;
}

/* The first sample is not kept: it brings the files into the page cache, and shows how large samples may be. */
static bool warm_up(rehearsal_t *rehearsal, err_t *err) {
    const uint64_t given = rehearsal->spec->sample, asked = given ? given : FIRST_SAMPLE;
    const counts_t *counts = &rehearsal->pass->load.counts;
    const gauge_t *gauge = &rehearsal->gauge;
    if (!take(rehearsal, asked, err))
        return false;
    const double seconds = (double)rehearsal->pass->phases[DRILL_LOAD].took_ns / 1e9,
                 fits = fmin((double)counts->read / fmax(seconds, 1e-3) * LONG_ENOUGH_S, MOST_SAMPLE);
    rehearsal->most = given || fits <= FIRST_SAMPLE ? asked : (uint64_t)(fits / 10000) * 10000;
    if (is_all(rehearsal, rehearsal->most))
        rehearsal->most = gauge->records;
    rehearsal->result->exact = gauge->exact && !rehearsal->spec->load.filter_count;
    rehearsal->result->all_documents = floor(gauge->documents * (double)counts->of[FATE_LOADED] /
                                             (double)(counts->of[FATE_LOADED] + counts->of[FATE_FILTERED]));
    return true;
}

static bool take_all(rehearsal_t *rehearsal, err_t *err) {
    step_t step;
    bool ok = true;
    step_begin(&step, "%s", "");
    for (size_t i = 0; ok && i < DRILL_SAMPLES; i++) {
        const size_t at = i % DRILL_SIZES, halvings = i / DRILL_SIZES % 2 ? at : DRILL_SIZES - 1 - at;
        const uint64_t halved = rehearsal->most >> halvings, records = halved ? halved : 1;
        char number[UNITS_MAX];
        step_change(&step, "drill: sample %zu of %d: %s record%s", i + 1, DRILL_SAMPLES,
                    units_count(number, records), units_s(records));
        ok = take(rehearsal, records, err);
        if (ok)
            keep(rehearsal, records);
    }
    step_end(&step);
    return ok;
}

/* ---- predictions ---- */

/* An index is a sort: each key is compared about log2(n) times. The rest of its cost is proportional to n, so the
 * prediction is rather too long than too short: docs/disaster-recovery.md. */
static forecast_shape_t shape_of(const rehearsal_t *rehearsal, drill_phase_t phase) {
    return phase == DRILL_INDEXES ? FORECAST_SORT
           : phase == DRILL_LOAD || phase == DRILL_VERIFY || (phase == DRILL_QUERY && rehearsal->spec->query)
               ? FORECAST_LINE
               : FORECAST_CONSTANT;
}

static void predict(const rehearsal_t *rehearsal) {
    drill_result_t *result = rehearsal->result;
    forecast_t parts[DRILL_PHASES];
    for (drill_phase_t phase = 0; phase < DRILL_PHASES; phase++) {
        forecast_point_t points[DRILL_SAMPLES];
        size_t count = 0;
        for (size_t i = 0; i < result->sample_count; i++) {
            const drill_sample_t *sample = &result->samples[i];
            if (!isnan(sample->seconds[phase]))
                points[count++] = (forecast_point_t){(double)sample->documents, sample->seconds[phase]};
        }
        parts[phase] = result->pass.phases[phase].predicted =
            forecast_of(points, count, shape_of(rehearsal, phase), result->all_documents);
    }
    result->pass.predicted = forecast_sum(parts, DRILL_PHASES);
    result->pass.verified = forecast_sum(parts, DRILL_QUERY);
}

bool rehearsal_run(const drill_spec_t *spec, drill_result_t *result, err_t *err) {
    rehearsal_t rehearsal = {.spec = spec, .result = result, .pass = ZEROED(drill_pass_t)};
    if (!rehearsal.pass)
        return err_memory(err, sizeof *rehearsal.pass);
    log_note("drill: loading samples, to predict how long it will take");
    const bool ok = gauge_take(&result->study.load, &rehearsal.gauge, err) && warm_up(&rehearsal, err) &&
                    take_all(&rehearsal, err);
    if (ok)
        predict(&rehearsal);
    free(rehearsal.pass);
    return ok;
}
