#include "study/trial.h"
#include "base/clock.h"
#include "base/log.h"
#include "base/numbers/units.h"
#include "base/stop.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { SAMPLE = 200000, LEAST_SAMPLE = 1000 };

static const int64_t MOST_TRIAL_NS = 2000000000, LEAST_TRIAL_NS = 200000000;

/* ---- from beginning to end ---- */

static bool check_inputs(trials_t *trials, const load_spec_t *load, err_t *err) {
    size_t files;
    char *scratch = scratch_uri(load->uri, SCRATCH_TUNE, 0, NULL, NULL, err);
    const bool may =
        scratch && supplies_check_files(load, "trials read their sample again and again", &files, err);
    schema_t *schema = may ? supplies_find_format(load, &trials->guessed, err) : NULL;
    if (schema)
        snprintf(trials->format, sizeof trials->format, "%s", schema->name);
    free(scratch);
    schema_destroy(schema);
    return schema != NULL;
}

bool trials_open(trials_t *trials, const load_spec_t *load, err_t *err) {
    *trials = (trials_t){.result = calloc(1, sizeof(load_result_t))};
    step_begin(&trials->step, "looking at files and server");
    return (trials->result || err_memory(err, sizeof *trials->result)) && check_inputs(trials, load, err) &&
           (trials->scratch = scratch_open(load->uri, SCRATCH_TUNE, load->patience_ns, err)) &&
           supplies_make_rejects(&trials->rejects, "tune", "trials", err);
}

bool trials_close(trials_t *trials, err_t *err) {
    step_end(&trials->step);
    const bool ok = scratch_close(trials->scratch, err);
    supplies_remove_rejects(&trials->rejects);
    free(trials->result);
    free(trials->guessed);
    return ok;
}

/* ---- one trial ---- */

bool trials_begin(trials_t *trials, err_t *err) {
    trials->began_ns = clock_now_ns();
    return scratch_begin(trials->scratch, 10 * trials->longest_ns, &trials->checkpoints, err);
}

/* The load's own messages would be repeated hundreds of times. */
bool trials_load(trials_t *trials, const load_spec_t *load, err_t *err) {
    const log_level_t level = log_level();
    load_spec_t quiet = *load;
    supplies_make_sample(&quiet, trials->limit);
    quiet.rejects = trials->rejects.path;
    quiet.guessed = trials->guessed;
    if (level != LOG_VERBOSE)
        log_set_level(LOG_SILENT);
    bool ok = load_run(&quiet, trials->result, err);
    load_result_free(trials->result);
    log_set_level(level);
    unlink(trials->rejects.path);
    if (!trials->told)
        trials->told = supplies_tell_rejects(&trials->result->counts);
    return ok || supplies_all_rejected(load, err);
}

bool trials_end(trials_t *trials, bool ok, err_t *err) {
    const counts_t *counts = &trials->result->counts;
    err_t dropping;
    const bool dropped = scratch_drop(trials->scratch, &dropping);
    if (ok && !dropped)
        *err = dropping;
    ok = ok && dropped;
    /* a load that was stopped continues where it stopped; trials do not */
    if (stop_signal() && (ok || err->status == (status_t)(128 + stop_signal())))
        ok = err_set(err, (status_t)(128 + stop_signal()), "interrupted");
    ok = ok && supplies_made_documents(counts, "measured", err);
    const int64_t took = trials_took_ns(trials);
    trials->longest_ns = took > trials->longest_ns ? took : trials->longest_ns;
    return ok;
}

int64_t trials_took_ns(const trials_t *trials) {
    return clock_now_ns() - trials->began_ns;
}

double trials_rate(const trials_t *trials) {
    const int64_t moving = trials->result->moving_ns;
    return (double)trials->result->counts.loaded / ((double)(moving ? moving : 1) / 1e9);
}

/* ---- the size of a trial ---- */

uint64_t trials_first(const trials_fit_t *fit) {
    return fit->asked ? fit->asked : SAMPLE;
}

void trials_fit(trials_t *trials, const trials_fit_t *fit, uint64_t *sample, uint64_t *records) {
    const uint64_t asked = trials_first(fit), read = trials->result->counts.read;
    const int64_t besides =
        trials_took_ns(trials) - trials->result->moving_ns; /* making the collection, dropping it, ... */
    int64_t most = fit->budget_ns / (int64_t)(fit->settings * fit->rounds) - besides;
    most = most > MOST_TRIAL_NS ? MOST_TRIAL_NS : most < LEAST_TRIAL_NS ? LEAST_TRIAL_NS : most;
    const double fits = trials_rate(trials) * (double)most / 1e9;
    trials->limit = asked;
    if (!fit->asked && fits < (double)asked)
        trials->limit = fits < LEAST_SAMPLE ? LEAST_SAMPLE : (uint64_t)fits;
    *records = read < trials->limit ? read : trials->limit;
    *sample = trials->limit;
    if (read < trials->limit)
        trials->limit = UINT64_MAX; /* without a limit, files are read in parallel */
}

/* ---- progress ---- */

void trials_say(trials_t *trials, const matrix_t *matrix, const matrix_setting_t *setting, const char *name,
                int64_t since_ns, int64_t budget_ns) {
    char took[UNITS_MAX], budget[UNITS_MAX], rate[UNITS_MAX] = "";
    size_t open = 0;
    uint64_t made = 0;
    for (size_t i = 0; i < matrix_count(matrix); i++) {
        open += matrix_setting(matrix, i)->state == MATRIX_OPEN;
        made += matrix_setting(matrix, i)->trials;
    }
    if (setting->trials)
        units_rate(rate, setting->mean);
    units_time(took, clock_now_ns() - since_ns);
    units_time(budget, budget_ns);
    step_change(&trials->step, "trial %llu   %zu of %zu settings still open   %s of %s   %.60s%s%s%s",
                (unsigned long long)made + 1, open, matrix_count(matrix), took, budget, name,
                *rate ? ": " : "", rate, *rate ? " docs/s" : "");
}
