#include "study/tune.h"
#include "base/clock.h"
#include "base/log.h"
#include "base/stop.h"
#include "base/units.h"
#include "format/format.h"
#include "study/busy.h"
#include "study/scratch.h"
#include "target/spread.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { SAMPLE = 200000, LEAST_SAMPLE = 1000, ROUNDS_WANTED = 6, MOST_TRIALS = 500 };

static const int64_t SECOND_NS = 1000000000, MOST_TRIAL_NS = 2000000000, LEAST_TRIAL_NS = 200000000,
                     LINE_NS = 30000000000;

typedef struct {
    const tune_spec_t *spec;
    load_spec_t load; /* like the target */
    tune_result_t *result;
    scratch_t *scratch;
    char *uris[CHOICES_MOST_CELLS]; /* of the choices */
    char folder[64], rejects[96];   /* for what trials reject */
    uint64_t limit;
    load_result_t *trial; /* the last one */
    int64_t began_ns, said_ns, longest_ns;
} tuning_t;

void tune_spec_init(tune_spec_t *spec) {
    *spec = (tune_spec_t){.budget_ns = 180 * SECOND_NS, .precision = 0.05, .seed = 1};
    load_spec_init(&spec->load);
}

/* ---- before anything is touched ---- */

/* Files that can be read again and again, in a format that there is, and a name that can be made longer. */
static bool check_inputs(tuning_t *tuning, err_t *err) {
    const load_spec_t *load = &tuning->spec->load;
    manifest_options_t options = {.input_name = NULL};
    manifest_t manifest;
    schema_t *schema = format_open(load->format, err);
    char *scratch = schema ? scratch_uri(load->uri, SCRATCH_TUNE, 0, NULL, err) : NULL;
    if (!scratch) {
        schema_destroy(schema);
        return false;
    }
    bson_free(scratch);
    snprintf(tuning->result->format, sizeof tuning->result->format, "%s", schema->name);
    schema_destroy(schema);
    if (!manifest_build(&manifest, load->inputs, load->input_count, &options, err))
        return false;
    bool ok = true;
    for (size_t i = 0; ok && i < manifest.count; i++)
        if (manifest.files[i].kind == INPUT_STREAM)
            ok =
                err_set(err, STATUS_USAGE,
                        "%s can be read once only, and trials read their sample again and again: name a file",
                        strcmp(manifest.files[i].path, "-") == 0 ? "stdin" : manifest.files[i].name);
    manifest_free(&manifest);
    return ok;
}

static bool open_target(tuning_t *tuning, err_t *err) {
    const tune_spec_t *spec = tuning->spec;
    tune_result_t *result = tuning->result;
    shard_names_t shards = {.count = 0};
    tuning->load = spec->load;
    if (!choices_like_target(spec->load.uri, spec->load.patience_ns, &tuning->load, result->shard_key, err) ||
        !(tuning->scratch = scratch_open(spec->load.uri, SCRATCH_TUNE, spec->load.patience_ns, err)))
        return false;
    server_t *server = scratch_server(tuning->scratch);
    snprintf(result->scratch, sizeof result->scratch, "%s", server_namespace(server));
    snprintf(result->where, sizeof result->where, "%s", server_where(server));
    snprintf(result->namespace, sizeof result->namespace, "%.*s",
             (int)(strlen(result->scratch) - strlen(SCRATCH_TUNE)), result->scratch);
    result->cluster = server_facts(server)->kind == SERVER_ROUTER;
    if (result->cluster && !spread_shards(server, scratch_client(tuning->scratch), &shards, err))
        return false;
    result->lists = spec->lists;
    choices_fill(&result->lists, &tuning->load, shards.count);
    spread_free_shards(&shards);
    return choices_check(&result->lists, spec->load.uri, result->cluster, err);
}

static bool make_matrix(tuning_t *tuning, err_t *err) {
    const tune_spec_t *spec = tuning->spec;
    tune_result_t *result = tuning->result;
    matrix_cell_t *cells;
    size_t count;
    matrix_options_t options = {.precision = spec->precision,
                                .nearly = TUNE_NEARLY,
                                .budget_ns = spec->budget_ns,
                                .most_trials = MOST_TRIALS,
                                .seed = spec->seed};
    bool ok = choices_combine(&result->lists, &result->choices, &result->choice_count, &cells, &count, err);
    if (ok) {
        result->matrix = matrix_new(cells, count, &options);
        result->figures = calloc(count, sizeof *result->figures);
        ok = (result->matrix && result->figures) || err_memory(err, count * sizeof *result->figures);
    }
    free(cells);
    for (size_t i = 0; ok && i < result->choice_count; i++)
        ok = (tuning->uris[i] = scratch_uri(spec->load.uri, SCRATCH_TUNE, result->choices[i].routers,
                                            result->choices[i].wire, err)) != NULL;
    return ok;
}

static bool make_folder(tuning_t *tuning, err_t *err) {
    const char *temporary = getenv("TMPDIR");
    snprintf(tuning->folder, sizeof tuning->folder, "%s/tipple-tune-XXXXXX",
             temporary && *temporary && strlen(temporary) < 32 ? temporary : "/tmp");
    if (!mkdtemp(tuning->folder)) {
        tuning->folder[0] = '\0';
        return err_set(err, STATUS_HOST, "no folder for what trials reject can be made in TMPDIR: %m");
    }
    snprintf(tuning->rejects, sizeof tuning->rejects, "%s/rejects", tuning->folder);
    return true;
}

/* ---- one trial ---- */

/* What loads say for themselves would be said hundreds of times. */
static bool load_quietly(const load_spec_t *load, load_result_t *result, err_t *err) {
    const log_level_t level = log_level();
    if (level == LOG_NORMAL)
        log_set_level(LOG_QUIET);
    bool ok = load_run(load, result, err);
    log_set_level(level);
    return ok;
}

/* The sample into the scratch collection, which is empty before and behind it. */
static bool make_trial(tuning_t *tuning, const matrix_cell_t *cell, tune_figures_t *figures, err_t *err) {
    const choice_t *choice = &tuning->result->choices[cell->choice];
    load_spec_t load = tuning->load;
    load_result_t *trial = tuning->trial;
    busy_t before, behind;
    load.uri = tuning->uris[cell->choice];
    load.threads = cell->threads;
    load.batch = cell->batch;
    load.clustered = choice->clustered;
    load.compressor = choice->compressor;
    load.direct = choice->direct;
    load.limit = tuning->limit;
    load.rejects = tuning->rejects;
    load.max_rejects = UINT64_MAX;
    const int64_t began = clock_now_ns();
    if (!scratch_keep(tuning->scratch, 10 * tuning->longest_ns, err))
        return false;
    tuning->result->checkpoints = scratch_checkpoint(tuning->scratch);
    busy_look(scratch_client(tuning->scratch), &before);
    bool ok = load_quietly(&load, trial, err);
    busy_look(scratch_client(tuning->scratch), &behind);
    unlink(tuning->rejects);
    err_t dropping;
    const bool dropped = scratch_drop(tuning->scratch, &dropping);
    if (ok && !dropped)
        *err = dropping;
    ok = ok && dropped;
    if (ok && stop_signal())
        ok = err_set(err, (status_t)(128 + stop_signal()), "interrupted");
    if (ok && !trial->counts.loaded)
        ok = err_set(err, STATUS_USAGE,
                     "nothing can be measured: of %llu records of the sample no document came out (%llu were "
                     "rejected, "
                     "%llu filtered)",
                     (unsigned long long)trial->counts.read, (unsigned long long)trial->counts.rejected,
                     (unsigned long long)trial->counts.filtered);
    const int64_t took = clock_now_ns() - began;
    tuning->longest_ns = took > tuning->longest_ns ? took : tuning->longest_ns;
    if (!ok)
        return false;
    const busy_figures_t busy = busy_between(&before, &behind);
    const double seconds = (double)trial->moving_ns / 1e9;
    figures->trials++;
    figures->documents += trial->counts.loaded;
    figures->retries += trial->retries;
    figures->seconds += seconds;
    figures->client_cores += (double)trial->cpu_ns / (double)trial->took_ns * seconds;
    figures->host_busy += busy.host * seconds;
    figures->server_cores += busy.server_cores * seconds;
    snprintf(figures->limited_by, sizeof figures->limited_by, "%s", trial->limited_by);
    return true;
}

static double trial_rate(const load_result_t *trial) {
    return (double)trial->counts.loaded / ((double)(trial->moving_ns ? trial->moving_ns : 1) / 1e9);
}

/* The first trial is not counted: it reads the files into the page cache, and lets servers allocate what they
 * keep. It tells how long a trial takes, too: the sample is made smaller where all cells together would not
 * come to a few rounds. */
static bool warm_up(tuning_t *tuning, err_t *err) {
    tune_result_t *result = tuning->result;
    const uint64_t asked = tuning->spec->sample ? tuning->spec->sample : SAMPLE;
    const size_t cells = matrix_count(result->matrix);
    tune_figures_t ignored = {.trials = 0};
    tuning->limit = asked;
    const int64_t began = clock_now_ns();
    if (!make_trial(tuning, matrix_cell(result->matrix, cells / 2), &ignored, err))
        return false;
    const counts_t *counts = &tuning->trial->counts;
    const int64_t besides =
        clock_now_ns() - began - tuning->trial->moving_ns; /* making it, dropping it, ... */
    int64_t most = tuning->spec->budget_ns / (int64_t)cells / ROUNDS_WANTED - besides;
    most = most > MOST_TRIAL_NS ? MOST_TRIAL_NS : most < LEAST_TRIAL_NS ? LEAST_TRIAL_NS : most;
    const double fits = trial_rate(tuning->trial) * (double)most / 1e9;
    if (!tuning->spec->sample && fits < (double)asked)
        tuning->limit = fits < LEAST_SAMPLE ? LEAST_SAMPLE : (uint64_t)fits;
    result->records = counts->read < tuning->limit ? counts->read : tuning->limit;
    result->sample = tuning->limit;
    if (counts->read < tuning->limit)
        tuning->limit = UINT64_MAX; /* without one, files are read side by side */
    result->warmed = true;
    return true;
}

/* ---- all of them ---- */

static void say_progress(tuning_t *tuning, const matrix_cell_t *cell) {
    const matrix_t *matrix = tuning->result->matrix;
    const bool terminal = isatty(STDERR_FILENO);
    const int64_t now = clock_now_ns();
    char took[UNITS_MAX], budget[UNITS_MAX], line[256], rate[UNITS_MAX] = "";
    size_t open = 0;
    uint64_t trials = 0;
    if (log_level() < LOG_NORMAL || (!terminal && now - tuning->said_ns < LINE_NS))
        return;
    tuning->said_ns = now;
    for (size_t i = 0; i < matrix_count(matrix); i++) {
        open += matrix_cell(matrix, i)->state == MATRIX_OPEN;
        trials += matrix_cell(matrix, i)->trials;
    }
    if (cell->trials)
        units_rate(rate, cell->mean);
    units_time(took, now - tuning->began_ns);
    units_time(budget, tuning->spec->budget_ns);
    snprintf(line, sizeof line,
             "trial %llu   %zu of %zu cells still open   %s of %s   %u threads x batch %u%s%s%s",
             (unsigned long long)trials + 1, open, matrix_count(matrix), took, budget, cell->threads,
             cell->batch, *rate ? ": " : "", rate, *rate ? " docs/s" : "");
    if (terminal)
        log_bar(line);
    else
        log_note("%s", line);
}

static bool experiment(tuning_t *tuning, err_t *err) {
    matrix_t *matrix = tuning->result->matrix;
    tuning->began_ns = tuning->said_ns = clock_now_ns();
    bool ok = true;
    for (size_t at; ok && (at = matrix_next(matrix)) != MATRIX_DONE;) {
        const int64_t began = clock_now_ns();
        say_progress(tuning, matrix_cell(matrix, at));
        ok = make_trial(tuning, matrix_cell(matrix, at), &tuning->result->figures[at], err);
        if (ok) {
            matrix_add(matrix, at, trial_rate(tuning->trial), clock_now_ns() - began);
            log_detail("%u threads x batch %u: %.0f docs/s", matrix_cell(matrix, at)->threads,
                       matrix_cell(matrix, at)->batch, trial_rate(tuning->trial));
        }
    }
    if (isatty(STDERR_FILENO) && log_level() >= LOG_NORMAL)
        log_bar(NULL);
    matrix_judge(matrix, &tuning->result->verdict);
    if (ok && tuning->result->verdict.best == MATRIX_DONE)
        return err_set(
            err, STATUS_USAGE,
            "the budget was too small for two trials of any cell: raise --budget, lower --sample, or name "
            "fewer --threads and --batch");
    return ok;
}

bool tune_run(const tune_spec_t *spec, tune_result_t *result, err_t *err) {
    tuning_t tuning = {.spec = spec, .result = result, .trial = calloc(1, sizeof(load_result_t))};
    const int64_t began = clock_now_ns();
    err_t closing;
    *result = (tune_result_t){.server_cpus = NAN, .verdict = {.best = MATRIX_DONE, .knee = MATRIX_DONE}};
    bool ok = tuning.trial != NULL || err_memory(err, sizeof *tuning.trial);
    ok = ok && check_inputs(&tuning, err) && open_target(&tuning, err) && make_matrix(&tuning, err) &&
         make_folder(&tuning, err);
    if (ok) {
        result->server_cpus = result->cluster ? NAN : busy_server_cpus(scratch_client(tuning.scratch));
        ok = warm_up(&tuning, err) && experiment(&tuning, err);
    }
    result->took_ns = clock_now_ns() - began;
    if (!scratch_close(tuning.scratch, &closing)) {
        if (ok)
            *err = closing;
        else
            log_warn("%s", closing.text);
        ok = false;
    }
    if (tuning.folder[0]) {
        unlink(tuning.rejects);
        rmdir(tuning.folder);
    }
    for (size_t i = 0; i < result->choice_count; i++)
        bson_free(tuning.uris[i]);
    free(tuning.trial);
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

/* ---- what held a cell back ---- */

static bool begins(const char *text, const char *with) {
    return strncmp(text, with, strlen(with)) == 0;
}

/* The same cell past the routers, if it was tried, and is faster beyond doubt. */
static bool is_faster_direct(const tune_result_t *result, size_t cell) {
    const matrix_cell_t *routed = matrix_cell(result->matrix, cell);
    if (!result->cluster || result->choices[routed->choice].direct)
        return false;
    for (size_t i = 0; i < matrix_count(result->matrix); i++) {
        const matrix_cell_t *other = matrix_cell(result->matrix, i);
        choice_t there = result->choices[other->choice], here = result->choices[routed->choice];
        if (other->threads == routed->threads && other->batch == routed->batch && there.direct &&
            there.clustered == here.clustered && there.compressor == here.compressor &&
            there.wire == here.wire && there.routers == here.routers && other->trials > 1 &&
            routed->trials > 1 && other->low > routed->high)
            return true;
    }
    return false;
}

limit_t tune_limit(const tune_result_t *result, size_t cell) {
    enum { FULL_PERCENT = 90, HALF_PERCENT = 50 };
    const tune_figures_t *figures = &result->figures[cell];
    const double cpus = (double)sysconf(_SC_NPROCESSORS_ONLN);
    if (!figures->trials)
        return LIMIT_UNKNOWN;
    const double busy = figures->host_busy / figures->seconds * 100,
                 ours = figures->client_cores / figures->seconds / cpus * 100,
                 server = figures->server_cores / figures->seconds / result->server_cpus * 100;
    if (begins(figures->limited_by, "input"))
        return LIMIT_INPUT;
    if (begins(figures->limited_by, "shard "))
        return LIMIT_SHARD;
    if (busy >= FULL_PERCENT)
        return ours * 100 >= busy * HALF_PERCENT ? LIMIT_CLIENT : LIMIT_HOST;
    if (begins(figures->limited_by, "client CPU"))
        return LIMIT_CLIENT;
    if (is_faster_direct(result, cell))
        return LIMIT_ROUTER;
    if (server >= FULL_PERCENT)
        return LIMIT_SERVER_CPU;
    return begins(figures->limited_by, "server") ? LIMIT_SERVER : LIMIT_UNKNOWN;
}

const char *tune_limit_name(limit_t limit) {
    static const char *const names[] = {
        [LIMIT_UNKNOWN] = "unknown",       [LIMIT_CLIENT] = "client CPU", [LIMIT_HOST] = "host CPU",
        [LIMIT_INPUT] = "input",           [LIMIT_SHARD] = "one shard",   [LIMIT_ROUTER] = "router",
        [LIMIT_SERVER_CPU] = "server CPU", [LIMIT_SERVER] = "server"};
    return names[limit];
}
