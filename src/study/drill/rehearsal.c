#include "base/log.h"
#include "base/numbers.h"
#include "input/manifest.h"
#include "study/drill/drill_inner.h"
#include "study/drill/gauge.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { FIRST_SAMPLE = 20000, MOST_SAMPLE = 1000000, SIZES = 3, ROUNDS = 2, MORE_SIZES = 4, MORE_ROUNDS = 3 };

/* A sample of this length is long enough to include one-time costs, and short enough to be repeated. */
static const double LONG_ENOUGH_S = 2;

typedef struct {
    const drill_spec_t *spec;
    drill_result_t *result;
    scratch_t *scratch;
    load_spec_t load;   /* into the scratch collection */
    drill_pass_t *pass; /* the last pass */
    uint64_t most;      /* records of the largest sample */
    uint64_t all;       /* records of all files; UINT64_MAX: too many to count */
    double documents;   /* how many documents they make without a filter */
    bool scans;         /* the first query reads the whole collection */
    bool told;          /* rejects were reported */
    double kept;        /* the share of documents that the filter lets through */
    step_t step;
} rehearsal_t;

/* ---- how many there are ---- */

static bool count_documents(rehearsal_t *rehearsal, err_t *err) {
    const load_spec_t *load = &rehearsal->load;
    drill_result_t *result = rehearsal->result;
    manifest_options_t options = {.input_name = NULL};
    manifest_t manifest;
    gauge_t gauge;
    schema_t *schema = load_spec_open_format(load, err);
    bool ok = schema && manifest_build(&manifest, load->inputs, load->input_count, &options, err);
    if (ok) {
        ok = gauge_take(schema, &manifest, &gauge, err);
        manifest_free(&manifest);
    }
    schema_destroy(schema);
    if (!ok)
        return false;
    rehearsal->all = gauge.exact ? gauge.records : UINT64_MAX;
    rehearsal->documents = gauge.documents;
    result->exact = gauge.exact && !load->filter_count;
    return true;
}

/* ---- samples ---- */

static bool take(rehearsal_t *rehearsal, uint64_t records, err_t *err) {
    load_spec_t load = rehearsal->load;
    drill_pass_t *pass = rehearsal->pass;
    const counts_t *counts = &pass->load.counts;
    /* without a limit, files are read in parallel, as in the drill itself */
    supplies_make_sample(&load, records >= rehearsal->all ? UINT64_MAX : records);
    load.limit_is_about = true;
    memset(pass, 0, sizeof *pass);
    scratch_checkpoint(rehearsal->scratch);
    if (!drill_pass(rehearsal->result, &load, true, pass, err))
        return false;
    if (!rehearsal->told)
        rehearsal->told = supplies_tell_rejects(counts);
    rehearsal->scans = pass->answer.scans;
    if (pass->wrong)
        return err_set(err, STATUS_DIFFERENT, "of a sample of %llu record%s: %s", (unsigned long long)records,
                       units_s(records), pass->difference);
    return supplies_made_documents(counts, "predicted", err);
}

static void keep(rehearsal_t *rehearsal, uint64_t asked) {
    drill_result_t *result = rehearsal->result;
    const drill_pass_t *pass = rehearsal->pass;
    drill_sample_t *sample = &result->samples[result->sample_count++];
    *sample = (drill_sample_t){.asked = asked,
                               .read = pass->load.counts.read,
                               .documents = pass->load.counts.loaded,
                               .bytes = pass->load.bytes_bson};
    for (drill_phase_t i = 0; i < DRILL_PHASES; i++)
        sample->seconds[i] = pass->phases[i].came ? (double)pass->phases[i].took_ns / 1e9 : NAN;
}

/* The first sample is not counted: it brings the files into the page cache, and shows how large samples may be. */
static bool warm_up(rehearsal_t *rehearsal, err_t *err) {
    const uint64_t asked = rehearsal->spec->sample ? rehearsal->spec->sample : FIRST_SAMPLE;
    if (!take(rehearsal, asked, err))
        return false;
    const counts_t *counts = &rehearsal->pass->load.counts;
    const double seconds = (double)rehearsal->pass->phases[DRILL_LOAD].took_ns / 1e9,
                 fits = (double)counts->read / fmax(seconds, 1e-3) * LONG_ENOUGH_S;
    rehearsal->most = asked;
    if (!rehearsal->spec->sample && fits > (double)asked)
        rehearsal->most = fits > MOST_SAMPLE ? MOST_SAMPLE : (uint64_t)(fits / 10000) * 10000;
    if (rehearsal->most > rehearsal->all)
        rehearsal->most = rehearsal->all;
    rehearsal->kept = (double)counts->loaded / (double)(counts->loaded + counts->filtered);
    return true;
}

static void say(rehearsal_t *rehearsal, uint64_t records, size_t all) {
    const drill_result_t *result = rehearsal->result;
    char number[UNITS_MAX];
    log_detail("drill: a sample of %llu record%s", (unsigned long long)records, units_s(records));
    step_change(&rehearsal->step, "drill: sample %zu of %zu: %s record%s", result->sample_count + 1, all,
                units_count(number, records), units_s(records));
}

/* Each size is half of another; they go up in one round and down in the next. */
static bool take_all(rehearsal_t *rehearsal, err_t *err) {
    const bool thorough = rehearsal->spec->scale > 0;
    const size_t sizes = thorough ? MORE_SIZES : SIZES, rounds = thorough ? MORE_ROUNDS : ROUNDS;
    for (size_t round = 0; round < rounds; round++)
        for (size_t i = 0; i < sizes; i++) {
            const size_t halvings = round % 2 ? i : sizes - 1 - i;
            uint64_t records = rehearsal->most >> halvings;
            records = records ? records : 1;
            say(rehearsal, records, sizes * rounds);
            if (!take(rehearsal, records, err))
                return false;
            keep(rehearsal, records);
        }
    return true;
}

/* ---- predictions ---- */

/* An index is a sort: each key is compared about log2(n) times. The rest of its cost is proportional to n, so the
 * prediction is rather too long than too short: docs/disaster-recovery.md. */
static forecast_shape_t shape_of(const rehearsal_t *rehearsal, drill_phase_t phase) {
    switch (phase) {
    case DRILL_LOAD:
    case DRILL_VERIFY:
        return FORECAST_LINE;
    case DRILL_INDEXES:
        return FORECAST_SORT;
    case DRILL_QUERY:
        return rehearsal->scans ? FORECAST_LINE : FORECAST_CONSTANT;
    default:
        return FORECAST_CONSTANT;
    }
}

static forecast_t predict_phase(const rehearsal_t *rehearsal, drill_phase_t phase) {
    const drill_result_t *result = rehearsal->result;
    forecast_point_t points[DRILL_MOST_SAMPLES];
    size_t count = 0;
    for (size_t i = 0; i < result->sample_count; i++) {
        const drill_sample_t *sample = &result->samples[i];
        if (!isnan(sample->seconds[phase]))
            points[count++] = (forecast_point_t){(double)sample->documents, sample->seconds[phase]};
    }
    const forecast_line_t line = forecast_fit(points, count, shape_of(rehearsal, phase));
    return forecast_at(&line, result->all_documents);
}

static void predict(const rehearsal_t *rehearsal) {
    drill_pass_t *pass = &rehearsal->result->pass;
    forecast_t parts[DRILL_PHASES];
    for (drill_phase_t i = 0; i < DRILL_PHASES; i++)
        parts[i] = pass->phases[i].predicted = predict_phase(rehearsal, i);
    pass->predicted = forecast_sum(parts, DRILL_PHASES);
    pass->verified = forecast_sum(parts, DRILL_QUERY);
}

static bool rehearse(rehearsal_t *rehearsal, err_t *err) {
    drill_result_t *result = rehearsal->result;
    char records[UNITS_MAX];
    log_note("drill: loading samples, to predict how long it will take");
    if (!count_documents(rehearsal, err) || !warm_up(rehearsal, err))
        return false;
    log_detail("drill: samples of %s records and less", units_count(records, rehearsal->most));
    step_begin(&rehearsal->step, "%s", "");
    const bool ok = take_all(rehearsal, err);
    step_end(&rehearsal->step);
    if (!ok)
        return false;
    const uint64_t scale = rehearsal->spec->scale;
    if (scale) {
        result->all_documents = (double)scale;
        result->exact = true; /* the number was given by the user */
    } else {
        result->all_documents = floor(rehearsal->documents * rehearsal->kept);
    }
    predict(rehearsal);
    return true;
}

bool rehearsal_run(drilling_t *drilling, err_t *err) {
    rehearsal_t rehearsal = {.spec = drilling->spec,
                             .result = drilling->result,
                             .scratch = drilling->scratch,
                             .load = drilling->result->load,
                             .pass = calloc(1, sizeof(drill_pass_t))};
    if (!rehearsal.pass)
        return err_memory(err, sizeof *rehearsal.pass);
    rehearsal.load.uri = scratch_place(drilling->scratch);
    const bool ok = rehearse(&rehearsal, err);
    free(rehearsal.pass);
    return ok;
}
