#include "study/tune/autotune.h"
#include "base/log.h"
#include "base/numbers/units.h"
#include "input/manifest.h"
#include "study/tune/tune.h"
#include "study/tune/tuned.h"

#include <stdio.h>
#include <string.h>
#include <time.h>

enum { FEW_DOCUMENTS = 1000, MANY_DOCUMENTS = 3000 }; /* a short tune has no time for more batch sizes */
static const int64_t LEAST_BUDGET_NS = 5000000000, MOST_BUDGET_NS = 20000000000;
static const double BYTES_A_BUDGET_NS = 0.05; /* bytes of input for each nanosecond of a tune's budget */

/* Why no tune is made now; NULL: make one, within *budget_ns. */
static const char *why_not(const load_spec_t *spec, int64_t *budget_ns) {
    manifest_t manifest = {.count = 0};
    const manifest_options_t options = {.input_name = spec->input_name};
    err_t err;
    uint64_t bytes = 0;
    bool stream = false;
    if (spec->dry_run || spec->retry || spec->limit != UINT64_MAX)
        return "not all of the files are loaded";
    if (spec->max_rate || spec->max_rate_auto)
        return "a tune would load as fast as it can";
    const bool listed = manifest_build(&manifest, spec->inputs, spec->input_count, &options, &err);
    for (size_t i = 0; i < manifest.count; i++) {
        bytes += manifest.files[i].disk_bytes;
        stream |= manifest.files[i].kind == INPUT_STREAM;
    }
    manifest_free(&manifest);
    *budget_ns = (int64_t)((double)bytes / BYTES_A_BUDGET_NS);
    *budget_ns = *budget_ns < LEAST_BUDGET_NS  ? LEAST_BUDGET_NS
                 : *budget_ns > MOST_BUDGET_NS ? MOST_BUDGET_NS
                                               : *budget_ns;
    return !listed                        ? "the files cannot be listed"
           : stream                       ? "stdin can be read only once"
           : bytes < AUTOTUNE_LEAST_BYTES ? "the files are small"
                                          : NULL;
}

static bool make_short_tune(const load_spec_t *load, int64_t budget_ns, bool threads, bool batch,
                            tuned_t *tuned, err_t *err) {
    tune_spec_t spec;
    tune_result_t result;
    tune_spec_init(&spec);
    spec.load = *load;
    spec.load.drop = false; /* drop is meant for the target */
    spec.budget_ns = budget_ns;
    spec.lists.batches[0] = FEW_DOCUMENTS;
    spec.lists.batches[1] = MANY_DOCUMENTS;
    spec.lists.batch_count = 2;
    if (!threads)
        spec.lists.threads[spec.lists.thread_count++] = load->threads;
    if (!batch) {
        spec.lists.batches[0] = load->batch;
        spec.lists.batch_count = 1;
    }
    bool ok = tune_run(&spec, &result, err);
    if (!ok && result.verdict.budget_spent && spec.budget_ns < MOST_BUDGET_NS) { /* the machines are slow */
        tune_free_result(&result);
        spec.budget_ns = MOST_BUDGET_NS;
        ok = tune_run(&spec, &result, err);
    }
    if (ok) {
        *tuned = tune_found(&result);
        if (threads && batch) /* with only one of the two, the result answers another question */
            tune_keep(&spec, &result);
    }
    tune_free_result(&result);
    return ok;
}

static void say_known(const char *which, const load_spec_t *spec, const tuned_t *tuned) {
    char rate[UNITS_MAX], day[16] = "";
    const time_t when = (time_t)(tuned->when_ms / 1000);
    struct tm local;
    if (localtime_r(&when, &local))
        strftime(day, sizeof day, "%Y-%m-%d", &local);
    log_note(
        "%s: %u thread%s, batches of %u, by the tune of %s (format %s, %s docs/s)%s", which, tuned->threads,
        units_s(tuned->threads), tuned->batch, day, tuned->format, units_rate(rate, tuned->docs_per_second),
        strcmp(tuned->format, spec->format ? spec->format : GUESS_FORMAT) == 0 ? ""
                                                                               : "; this is another format");
}

bool autotune_choose(load_spec_t *spec, bool threads, bool batch, err_t *err) {
    const char *which = threads && batch ? "--threads auto --batch auto"
                        : threads        ? "--threads auto"
                                         : "--batch auto";
    load_spec_t defaults;
    tuned_t tuned;
    int64_t budget_ns;
    char time[UNITS_MAX], rate[UNITS_MAX];
    bool found = tuned_read(spec->uri, &tuned, err);
    if (!found && err->status == STATUS_USAGE)
        return false;
    if (!found && err->status != STATUS_OK)
        log_warn("%s", err->text);
    load_spec_init(&defaults);
    const char *why = found ? NULL : why_not(spec, &budget_ns);
    if (found)
        say_known(which, spec, &tuned);
    else if (why)
        log_note(
            "%s: this host knows of no tune of this target, and makes none, because %s; the defaults are "
            "taken%s",
            which, why, batch ? ", batches of 1000" : "");
    else {
        log_note("%s: this host knows of no tune of this target; a short one comes first, of %s", which,
                 units_time(time, budget_ns));
        found = make_short_tune(spec, budget_ns, threads, batch, &tuned, err);
        if (found)
            log_note("%s: %u thread%s, batches of %u (%s docs/s in the short tune)", which, tuned.threads,
                     units_s(tuned.threads), tuned.batch, units_rate(rate, tuned.docs_per_second));
        else if (err->status != STATUS_USAGE)
            return false;
        else
            log_note("%s: the short tune was not possible; the defaults are taken%s: %s", which,
                     batch ? ", batches of 1000" : "", err->text);
    }
    if (threads)
        spec->threads = found ? tuned.threads : defaults.threads;
    if (batch)
        spec->batch = found ? tuned.batch : defaults.batch;
    *err = (err_t){.status = STATUS_OK};
    return true;
}
