#include "study/tune/tune.h"
#include "base/clock.h"
#include "base/log.h"
#include "base/numbers/units.h"
#include "server/presplit/presplit.h"
#include "study/busy.h"
#include "study/trial.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { ROUNDS_WANTED = 6, MOST_TRIALS = 500 };

static const int64_t SECOND_NS = 1000000000;

typedef struct {
    const tune_spec_t *spec;
    load_spec_t load; /* with the target's settings */
    tune_result_t *result;
    trials_t trials;
    char *uris[CHOICES_MOST_CELLS]; /* of the choices */
} tuning_t;

void tune_spec_init(tune_spec_t *spec) {
    *spec = (tune_spec_t){.budget_ns = 180 * SECOND_NS, .precision = 0.05, .seed = 1};
    load_spec_init(&spec->load);
}

/* ---- before the first trial ---- */

static bool open_target(tuning_t *tuning, err_t *err) {
    const tune_spec_t *spec = tuning->spec;
    tune_result_t *result = tuning->result;
    shard_names_t shards = {.count = 0};
    bool ok = trials_open(&tuning->trials, &spec->load, err);
    snprintf(result->format, sizeof result->format, "%s", tuning->trials.format);
    tuning->load = spec->load;
    if (!ok ||
        !choices_like_target(spec->load.uri, spec->load.patience_ns, &tuning->load, result->shard_key, err))
        return false;
    server_t *server = scratch_server(tuning->trials.scratch);
    snprintf(result->scratch, sizeof result->scratch, "%s", server_namespace(server));
    snprintf(result->where, sizeof result->where, "%s", server_where(server));
    snprintf(result->namespace, sizeof result->namespace, "%.*s",
             (int)(strlen(result->scratch) - strlen(SCRATCH_TUNE)), result->scratch);
    result->cluster = server_facts(server)->kind == SERVER_ROUTER;
    if (result->cluster && !presplit_shards(server, scratch_client(tuning->trials.scratch), &shards, err))
        return false;
    result->lists = spec->lists;
    choices_fill(&result->lists, &tuning->load, shards.count ? shards.count : 1);
    presplit_free_shards(&shards);
    return choices_check(&result->lists, spec->load.uri, server_facts(server)->kind, err);
}

static bool make_matrix(tuning_t *tuning, err_t *err) {
    const tune_spec_t *spec = tuning->spec;
    tune_result_t *result = tuning->result;
    matrix_setting_t *settings;
    size_t count;
    matrix_options_t options = {.precision = spec->precision,
                                .nearly = TUNE_NEARLY,
                                .budget_ns = spec->budget_ns,
                                .most_trials = MOST_TRIALS,
                                .seed = spec->seed};
    bool ok =
        choices_combine(&result->lists, &result->choices, &result->choice_count, &settings, &count, err);
    if (ok) {
        result->matrix = matrix_new(settings, count, &options);
        result->figures = calloc(count, sizeof *result->figures);
        ok = (result->matrix && result->figures) || err_memory(err, count * sizeof *result->figures);
    }
    free(settings);
    for (size_t i = 0; ok && i < result->choice_count; i++)
        ok = (tuning->uris[i] =
                  scratch_uri(spec->load.uri, SCRATCH_TUNE, result->choices[i].routers,
                              result->choices[i].wire, choice_uri_concern(&result->choices[i]), err)) != NULL;
    return ok;
}

/* ---- one trial ---- */

/* Loads the sample into the scratch collection, which is empty before and after it. */
static bool make_trial(tuning_t *tuning, const matrix_setting_t *setting, tune_figures_t *figures,
                       err_t *err) {
    const choice_t *choice = &tuning->result->choices[setting->choice];
    const load_result_t *trial = tuning->trials.result;
    mongoc_client_t *client = scratch_client(tuning->trials.scratch);
    load_spec_t load = tuning->load;
    busy_t before, after;
    load.uri = tuning->uris[setting->choice];
    load.threads = setting->threads;
    load.batch = setting->batch;
    load.clustered = choice->clustered;
    load.compressor = choice->compressor;
    load.direct = choice->direct;
    load.unsafe = choice_is_unsafe(choice);
    if (!trials_begin(&tuning->trials, err))
        return false;
    tuning->result->checkpoints = tuning->trials.checkpoints;
    busy_look(client, &before);
    const bool ok = trials_load(&tuning->trials, &load, err);
    busy_look(client, &after);
    if (!trials_end(&tuning->trials, ok, err))
        return false;
    const busy_figures_t busy = busy_between(&before, &after);
    const double seconds = (double)trial->moving_ns / 1e9;
    figures->trials++;
    figures->documents += trial->counts.loaded;
    figures->retries += trial->retries;
    figures->seconds += seconds;
    figures->client_cores += (double)trial->cpu_ns / (double)trial->took_ns * seconds;
    figures->host_busy += busy.host * seconds;
    figures->server_cores += busy.server_cores * seconds;
    figures->network += busy.network * seconds;
    snprintf(figures->limited_by, sizeof figures->limited_by, "%s", trial->limited_by);
    return true;
}

static bool warm_up(tuning_t *tuning, err_t *err) {
    tune_result_t *result = tuning->result;
    const size_t settings = matrix_count(result->matrix);
    const trials_fit_t fit = {.asked = tuning->spec->sample,
                              .budget_ns = tuning->spec->budget_ns,
                              .settings = settings,
                              .rounds = ROUNDS_WANTED};
    tune_figures_t ignored = {.trials = 0};
    tuning->trials.limit = trials_first(&fit);
    if (!make_trial(tuning, matrix_setting(result->matrix, settings / 2), &ignored, err))
        return false;
    trials_fit(&tuning->trials, &fit, &result->sample, &result->records);
    result->warmed = true;
    return true;
}

/* ---- all of them ---- */

static bool experiment(tuning_t *tuning, err_t *err) {
    matrix_t *matrix = tuning->result->matrix;
    const int64_t began = clock_now_ns();
    bool ok = true;
    for (size_t at; ok && (at = matrix_next(matrix)) != MATRIX_DONE;) {
        const matrix_setting_t *setting = matrix_setting(matrix, at);
        char name[64];
        snprintf(name, sizeof name, "%u thread%s x batch %u", setting->threads, units_s(setting->threads),
                 setting->batch);
        trials_say(&tuning->trials, matrix, setting, name, began, tuning->spec->budget_ns);
        ok = make_trial(tuning, setting, &tuning->result->figures[at], err);
        if (ok) {
            matrix_add(matrix, at, trials_rate(&tuning->trials), trials_took_ns(&tuning->trials));
            log_detail("%s: %.0f docs/s", name, trials_rate(&tuning->trials));
        }
    }
    matrix_judge(matrix, &tuning->result->verdict);
    if (ok && tuning->result->verdict.best == MATRIX_DONE)
        return err_set(
            err, STATUS_USAGE,
            "the budget was too small for two trials of any setting: raise --budget, lower --sample, or name "
            "fewer --threads and --batch");
    return ok;
}

bool tune_run(const tune_spec_t *spec, tune_result_t *result, err_t *err) {
    tuning_t tuning = {.spec = spec, .result = result};
    const int64_t began = clock_now_ns();
    err_t closing;
    *result = (tune_result_t){.server_cpus = NAN, .verdict = {.best = MATRIX_DONE, .cheapest = MATRIX_DONE}};
    bool ok = open_target(&tuning, err) && make_matrix(&tuning, err);
    if (ok) {
        result->server_cpus = result->cluster ? NAN : busy_server_cpus(scratch_client(tuning.trials.scratch));
        ok = warm_up(&tuning, err) && experiment(&tuning, err);
    }
    result->took_ns = clock_now_ns() - began;
    if (!trials_close(&tuning.trials, &closing)) {
        if (ok)
            *err = closing;
        else
            log_warn("%s", closing.text);
        ok = false;
    }
    for (size_t i = 0; i < result->choice_count; i++)
        free(tuning.uris[i]);
    return ok;
}

void tune_free_result(tune_result_t *result) {
    matrix_free(result->matrix);
    free(result->figures);
    free(result->choices);
    result->matrix = NULL;
    result->figures = NULL;
    result->choices = NULL;
}

/* ---- what is kept ---- */

tuned_t tune_found(const tune_result_t *result) {
    const matrix_setting_t *cheapest = matrix_setting(result->matrix, result->verdict.cheapest);
    tuned_t tuned = {.threads = cheapest->threads,
                     .batch = cheapest->batch,
                     .docs_per_second = cheapest->mean,
                     .when_ms = clock_wall_ms()};
    snprintf(tuned.namespace, sizeof tuned.namespace, "%s", result->namespace);
    snprintf(tuned.format, sizeof tuned.format, "%s", result->format);
    return tuned;
}

void tune_keep(const tune_spec_t *spec, const tune_result_t *result) {
    const tuned_t tuned = tune_found(result);
    char path[4096];
    err_t err;
    if (tuned_write(spec->load.uri, &tuned, path, &err))
        log_note(
            "kept in %s: `tipple load --threads auto --batch auto` takes the cheapest setting from now on",
            path);
    else
        log_warn("what was found is not kept for `tipple load --threads auto --batch auto`: %s", err.text);
}

/* ---- what limited a setting ---- */

static bool begins(const char *text, const char *with) {
    return strncmp(text, with, strlen(with)) == 0;
}

/* Was the same setting tried without the routers, and is it certainly faster? */
static bool is_faster_direct(const tune_result_t *result, size_t setting) {
    const matrix_setting_t *routed = matrix_setting(result->matrix, setting);
    if (!result->cluster || result->choices[routed->choice].direct)
        return false;
    for (size_t i = 0; i < matrix_count(result->matrix); i++) {
        const matrix_setting_t *other = matrix_setting(result->matrix, i);
        choice_t there = result->choices[other->choice], here = result->choices[routed->choice];
        if (other->threads == routed->threads && other->batch == routed->batch && there.direct &&
            there.clustered == here.clustered && there.compressor == here.compressor &&
            there.wire == here.wire && there.concern == here.concern && there.routers == here.routers &&
            other->trials > 1 && routed->trials > 1 && other->low > routed->high)
            return true;
    }
    return false;
}

limit_t tune_limit(const tune_result_t *result, size_t setting) {
    enum { FULL_PERCENT = 90, HALF_PERCENT = 50 };
    const tune_figures_t *figures = &result->figures[setting];
    const double cpus = (double)sysconf(_SC_NPROCESSORS_ONLN);
    if (!figures->trials)
        return LIMIT_UNKNOWN;
    const double busy = figures->host_busy / figures->seconds * 100,
                 ours = figures->client_cores / figures->seconds / cpus * 100,
                 server = figures->server_cores / figures->seconds / result->server_cpus * 100;
    if (figures->network / figures->seconds * 100 >= FULL_PERCENT)
        return LIMIT_NETWORK;
    if (begins(figures->limited_by, "input"))
        return LIMIT_INPUT;
    if (begins(figures->limited_by, "shard "))
        return LIMIT_SHARD;
    if (busy >= FULL_PERCENT)
        return ours * 100 >= busy * HALF_PERCENT ? LIMIT_CLIENT : LIMIT_HOST;
    if (begins(figures->limited_by, "client CPU"))
        return LIMIT_CLIENT;
    if (is_faster_direct(result, setting))
        return LIMIT_ROUTER;
    if (server >= FULL_PERCENT)
        return LIMIT_SERVER_CPU;
    return begins(figures->limited_by, "server") ? LIMIT_SERVER : LIMIT_UNKNOWN;
}

const char *tune_limit_name(limit_t limit) {
    static const char *const names[] = {
        [LIMIT_UNKNOWN] = "unknown", [LIMIT_CLIENT] = "client CPU",     [LIMIT_HOST] = "host CPU",
        [LIMIT_NETWORK] = "network", [LIMIT_INPUT] = "input",           [LIMIT_SHARD] = "one shard",
        [LIMIT_ROUTER] = "router",   [LIMIT_SERVER_CPU] = "server CPU", [LIMIT_SERVER] = "server"};
    return names[limit];
}
