#include "study/tune/tune.h"
#include "base/clock.h"
#include "base/log.h"
#include "base/numbers.h"
#include "base/stop.h"
#include "query/watch/watch.h"
#include "server/bson_read.h"
#include "server/cluster.h"
#include "server/server.h"
#include "study/tune/net.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* ---- from beginning to end ---- */

static bool check_inputs(trials_t *trials, const load_spec_t *load, err_t *err) {
    schema_t *schema =
        supplies_find_format(load, "trials read their sample again and again", &trials->guessed, err);
    if (schema)
        snprintf(trials->format, sizeof trials->format, "%s", schema->name);
    schema_destroy(schema);
    return schema != NULL;
}

bool trials_open(trials_t *trials, const load_spec_t *load, err_t *err) {
    *trials = (trials_t){.result = calloc(1, sizeof(load_result_t))};
    step_begin(&trials->step, "looking at files and server");
    return (trials->result || err_memory(err, sizeof *trials->result)) && check_inputs(trials, load, err) &&
           (trials->scratch = scratch_open(load->uri, SCRATCH_TUNE, load->patience_ns, err));
}

bool trials_close(trials_t *trials, err_t *err) {
    step_end(&trials->step);
    const bool ok = scratch_close(trials->scratch, err);
    free(trials->result);
    free(trials->guessed);
    return ok;
}

/* ---- who is busy ---- */

typedef struct {
    watch_cpu_t host;
    net_t net;
    bool host_known, net_known;
    int64_t at_ns;
    double server_us;
} busy_t;

/* The CPU time of the primary is NAN where it does not say. */
static void look_at_busy(mongoc_client_t *client, busy_t *busy) {
    bson_t status;
    busy->host_known = watch_cpu(&busy->host);
    busy->net_known = net_look(&busy->net);
    busy->server_us = server_load_status(client, &status, NULL)
                          ? bson_read_number(&status, "extra_info.user_time_us") +
                                bson_read_number(&status, "extra_info.system_time_us")
                          : NAN;
    busy->at_ns = clock_now_ns();
    bson_destroy(&status);
}

static double host_share(const watch_cpu_t *before, const watch_cpu_t *after) {
    watch_cpu_t spent = {.user = 0};
    watch_cpu_add(&spent, before, after);
    return watch_cpu_busy(&spent);
}

double trials_server_cpus(const trials_t *trials) {
    return server_load_cores(scratch_client(trials->scratch));
}

/* ---- one trial ---- */

void tune_figures_add(tune_figures_t *sum, const tune_figures_t *one) {
    sum->trials += one->trials;
    sum->documents += one->documents;
    sum->retries += one->retries;
    sum->bytes += one->bytes;
    sum->seconds += one->seconds;
    sum->client_cores += one->client_cores;
    sum->host_busy += one->host_busy;
    sum->server_cores += one->server_cores;
    sum->network += one->network;
    snprintf(sum->limited_by, sizeof sum->limited_by, "%s", one->limited_by);
}

/* The load's own messages would be repeated hundreds of times. */
static bool load_quietly(trials_t *trials, const load_spec_t *load, err_t *err) {
    const log_level_t level = log_level();
    load_spec_t quiet = *load;
    supplies_make_sample(&quiet, load->limit);
    quiet.uri = scratch_place(trials->scratch);
    quiet.guessed = trials->guessed;
    if (level != LOG_VERBOSE)
        log_set_level(LOG_SILENT);
    const bool ok = load_run(&quiet, trials->result, err);
    load_result_free(trials->result);
    log_set_level(level);
    if (!trials->told)
        trials->told = supplies_tell_rejects(&trials->result->counts);
    return ok;
}

static void put_figures(const load_result_t *trial, const busy_t *before, const busy_t *after,
                        tune_figures_t *figures) {
    const double seconds = (double)(trial->moving_ns ? trial->moving_ns : 1) / 1e9;
    const double server =
        (after->server_us - before->server_us) * 1e3 / (double)(after->at_ns - before->at_ns);
    const bool host = before->host_known && after->host_known, net = before->net_known && after->net_known;
    *figures = (tune_figures_t){
        .trials = 1,
        .documents = trial->counts.loaded,
        .retries = trial->retries,
        .bytes = NAN,
        .seconds = seconds,
        .client_cores = (double)trial->cpu_ns / (double)trial->took_ns * seconds,
        .host_busy = host ? host_share(&before->host, &after->host) * seconds : NAN,
        .server_cores = server >= 0 ? server * seconds : NAN /* less than before: the server was restarted */,
        .network = net ? net_fullest(&before->net, &after->net) * seconds : NAN};
    snprintf(figures->limited_by, sizeof figures->limited_by, "%s", trial->limited_by);
}

/* Files have their size once a checkpoint was written. */
static bool take_size(trials_t *trials, tune_figures_t *figures, err_t *err) {
    server_t *server = scratch_server(trials->scratch);
    watch_storage_t storage;
    trials->checkpoints = scratch_checkpoint(trials->scratch);
    if (!watch_storage(server, scratch_client(trials->scratch), server_collection(server), &storage, err))
        return false;
    if (trials->checkpoints)
        figures->bytes = storage.data_bytes + storage.index_bytes;
    return true;
}

/* The first failure is kept. */
static bool end(trials_t *trials, bool ok, err_t *err) {
    err_t dropping;
    const bool dropped = scratch_drop(trials->scratch, &dropping);
    if (ok && !dropped)
        *err = dropping;
    ok = ok && dropped;
    /* a load that was stopped continues where it stopped; trials do not */
    if (stop_signal() && (ok || err->status == (status_t)(128 + stop_signal())))
        ok = err_set(err, (status_t)(128 + stop_signal()), "interrupted");
    return ok && supplies_made_documents(&trials->result->counts, "measured", err);
}

bool trials_make(trials_t *trials, const load_spec_t *load, tune_figures_t *figures, err_t *err) {
    const int64_t began = clock_now_ns();
    mongoc_client_t *client = scratch_client(trials->scratch);
    busy_t before, after;
    look_at_busy(client, &before);
    bool ok = load_quietly(trials, load, err);
    look_at_busy(client, &after);
    put_figures(trials->result, &before, &after, figures);
    ok = end(trials, ok && (stop_signal() || take_size(trials, figures, err)), err);
    trials->took_ns = clock_now_ns() - began;
    return ok;
}

enum {
    FIRST_SAMPLE = 200000,
    LEAST_THREADS = 8,
    MOST_THREADS = 32,
    MOST_CLUSTER_THREADS = 64,
    THREADS_A_CPU = 4,
    THREADS_A_SHARD = 4
};

static const int64_t BUDGET_NS = 180000000000;
/* A trial is planned for more than it needs, since trials differ. */
static const double PLANNED_NS = 1.3 * TUNE_LEAST_NS;

typedef struct {
    const tune_spec_t *spec;
    tune_result_t *result;
    trials_t trials;
    bool ended; /* the files have no more records than a trial had */
} tuning_t;

void tune_spec_init(tune_spec_t *spec) {
    *spec = (tune_spec_t){.budget_ns = BUDGET_NS};
    load_spec_init(&spec->load);
}

/* ---- settings ---- */

static void add_value(tune_list_t *list, const char *value) {
    snprintf(list->values[list->count++], TUNE_VALUE, "%s", value);
}

void tune_fill(tune_list_t *lists, size_t shards) {
    static const char *const threads[] = {"1", "2", "4", "8", "16", "32", "64"};
    static const char *const batches[] = {"100", "300", "1000", "3000"};
    const long cpus = sysconf(_SC_NPROCESSORS_ONLN) * THREADS_A_CPU;
    long most = cpus < LEAST_THREADS ? LEAST_THREADS : cpus > MOST_THREADS ? MOST_THREADS : cpus;
    const size_t wanted = shards * THREADS_A_SHARD;
    if (wanted > (size_t)most)
        most = wanted > MOST_CLUSTER_THREADS ? MOST_CLUSTER_THREADS : (long)wanted;
    if (!lists[TUNE_THREADS].count)
        for (size_t i = 0; i < sizeof threads / sizeof *threads && 1L << i <= most; i++)
            add_value(&lists[TUNE_THREADS], threads[i]);
    if (!lists[TUNE_BATCH].count)
        for (size_t i = 0; i < sizeof batches / sizeof *batches; i++)
            add_value(&lists[TUNE_BATCH], batches[i]);
}

/* Fewer threads are cheaper, then smaller batches, then what is named first. */
static int by_cost(const void *a, const void *b) {
    const tune_setting_t *x = a, *y = b;
    if (x->load.threads != y->load.threads)
        return x->load.threads < y->load.threads ? -1 : 1;
    if (x->load.batch != y->load.batch)
        return x->load.batch < y->load.batch ? -1 : 1;
    return x->order < y->order ? -1 : x->order > y->order;
}

bool tune_combine(const load_spec_t *load, tune_result_t *result, err_t *err) {
    size_t count = 1;
    for (size_t i = 0; i < result->list_count; i++)
        count *= result->lists[i].count ? result->lists[i].count : 1;
    if (count > TUNE_SETTINGS)
        return err_set(err, STATUS_USAGE,
                       "these lists make %zu combinations, and at most %d are tried: shorten a list", count,
                       TUNE_SETTINGS);
    if (!(result->settings = calloc(count, sizeof *result->settings)))
        return err_memory(err, count * sizeof *result->settings);
    result->count = count;
    for (size_t i = 0; i < count; i++) {
        tune_setting_t *setting = &result->settings[i];
        size_t rest = i;
        setting->load = *load;
        setting->order = i;
        for (size_t j = result->list_count; j-- > 0;) {
            const tune_list_t *list = &result->lists[j];
            if (!list->count)
                continue;
            setting->values[j] = list->values[rest % list->count];
            rest /= list->count;
            if (!option_set(list->row, setting->values[j], &setting->load, err))
                return false;
        }
    }
    qsort(result->settings, count, sizeof *result->settings, by_cost);
    return true;
}

const char *tune_name(const tune_result_t *result, size_t at, char out[TUNE_NAME]) {
    const tune_setting_t *setting = &result->settings[at];
    size_t used = (size_t)snprintf(out, TUNE_NAME, "%u x %u", setting->load.threads, setting->load.batch);
    for (size_t i = TUNE_BATCH + 1; i < result->list_count && used < TUNE_NAME; i++)
        if (result->lists[i].count > 1)
            used += (size_t)snprintf(out + used, TUNE_NAME - used, ", %s", setting->values[i]);
    return out;
}

/* ---- before the first trial ---- */

static bool be_like_target(tune_result_t *result, load_spec_t *load, err_t *err) {
    const server_options_t options = {.uri = load->uri, .patience_ns = load->patience_ns, .connections = 2};
    server_t *server = server_connect(&options, err);
    mongoc_client_t *client = server ? server_take(server, err) : NULL;
    const bool ok = client && supplies_like_target(server, client, load, &result->of_target, err);
    if (client)
        server_give(server, client);
    server_destroy(server);
    return ok;
}

static bool open_target(tuning_t *tuning, load_spec_t *load, err_t *err) {
    const tune_spec_t *spec = tuning->spec;
    tune_result_t *result = tuning->result;
    config_list_t shards = {.count = 0};
    bool ok = trials_open(&tuning->trials, &spec->load, err);
    snprintf(result->format, sizeof result->format, "%s", tuning->trials.format);
    if (!ok || !be_like_target(result, load, err))
        return false;
    server_t *server = scratch_server(tuning->trials.scratch);
    snprintf(result->scratch, sizeof result->scratch, "%s", server_namespace(server));
    snprintf(result->where, sizeof result->where, "%s", server_where(server));
    snprintf(result->namespace, sizeof result->namespace, "%.*s",
             (int)(strstr(result->scratch, SCRATCH_TUNE) - result->scratch), result->scratch);
    result->cluster = server_facts(server)->kind == SERVER_ROUTER;
    if (result->cluster && !cluster_shards(server, scratch_client(tuning->trials.scratch), &shards, err))
        return false;
    tune_fill(result->lists, shards.count);
    config_free(&shards);
    result->server_cpus = result->cluster ? NAN : trials_server_cpus(&tuning->trials);
    return true;
}

/* ---- trials ---- */

/* With fewer records a trial of this setting is no figure. */
static uint64_t limit_of(const tuning_t *tuning, const tune_setting_t *setting) {
    const uint64_t least = (uint64_t)(TUNE_LEAST_BATCHES + 1) * setting->load.threads * setting->load.batch;
    if (tuning->ended)
        return UINT64_MAX; /* without a limit, files are read in parallel */
    if (tuning->spec->sample)
        return tuning->spec->sample;
    return tuning->result->records > least ? tuning->result->records : least;
}

static bool make_trial(tuning_t *tuning, size_t at, tune_figures_t *figures, err_t *err) {
    load_spec_t load = tuning->result->settings[at].load;
    load.limit = limit_of(tuning, &tuning->result->settings[at]);
    if (!trials_make(&tuning->trials, &load, figures, err))
        return false;
    tuning->result->checkpoints = tuning->trials.checkpoints;
    tuning->ended |= tuning->trials.result->counts.read < load.limit;
    if (tuning->ended)
        tuning->result->records = tuning->trials.result->counts.read;
    return true;
}

/* Plans as many records for a trial as would have taken long enough, and more than `least`. */
static void plan_records(tuning_t *tuning, const tune_figures_t *figures, uint64_t least) {
    const double records = (double)tuning->trials.result->counts.read * PLANNED_NS / (figures->seconds * 1e9);
    if (!tuning->spec->sample && !tuning->ended)
        tuning->result->records = (uint64_t)fmax(fmin(records, 1e15), (double)least);
}

/* The first trial is not counted: it reads the files into the page cache, lets servers allocate memory, and shows how
 * many records a trial needs. */
static bool warm_up(tuning_t *tuning, err_t *err) {
    tune_result_t *result = tuning->result;
    tune_figures_t figures;
    result->records = tuning->spec->sample ? tuning->spec->sample : FIRST_SAMPLE;
    if (!make_trial(tuning, result->count / 2, &figures, err))
        return false;
    plan_records(tuning, &figures, 1);
    result->warmed = true;
    return true;
}

static bool is_small(const tune_setting_t *setting, const tune_figures_t *figures) {
    return figures->seconds * 1e9 < TUNE_LEAST_NS ||
           figures->documents < (uint64_t)TUNE_LEAST_BATCHES * setting->load.threads * setting->load.batch;
}

static bool try_setting(tuning_t *tuning, size_t at, err_t *err) {
    tune_result_t *result = tuning->result;
    tune_setting_t *setting = &result->settings[at];
    tune_figures_t one;
    if (!make_trial(tuning, at, &one, err))
        return false;
    if (is_small(setting, &one)) {
        matrix_add_small(result->matrix, at, tuning->ended || tuning->spec->sample, tuning->trials.took_ns);
        plan_records(tuning, &one, tuning->trials.result->counts.read / 2 * 3);
        return true;
    }
    matrix_add(result->matrix, at, (double)one.documents / one.seconds, tuning->trials.took_ns);
    tune_figures_add(&setting->figures, &one);
    return true;
}

static void say(tuning_t *tuning, size_t at, int64_t began_ns) {
    const matrix_t *matrix = tuning->result->matrix;
    char took[UNITS_MAX], budget[UNITS_MAX], name[TUNE_NAME];
    matrix_verdict_t so_far;
    matrix_judge(matrix, &so_far);
    units_time(took, (double)(clock_now_ns() - began_ns) / 1e9);
    units_time(budget, (double)tuning->spec->budget_ns / 1e9);
    step_change(&tuning->trials.step, "trial %u   %zu of %zu settings still open   %s of %s   %.60s",
                so_far.trials + 1, matrix_count(matrix) - so_far.settled - so_far.dropped - so_far.small,
                matrix_count(matrix), took, budget, tune_name(tuning->result, at, name));
}

static bool nothing_found(const tune_result_t *result, err_t *err) {
    if (result->verdict.small)
        return err_set(
            err, STATUS_USAGE,
            "no trial was large enough: it needs two seconds and %d batches for each thread. Name larger "
            "files, more of them, or fewer --threads and a smaller --batch; leave --sample out",
            TUNE_LEAST_BATCHES);
    return err_set(err, STATUS_USAGE,
                   "the budget was too small for a trial: raise --budget, or name fewer values to try");
}

static bool experiment(tuning_t *tuning, int64_t began_ns, err_t *err) {
    tune_result_t *result = tuning->result;
    bool ok = true;
    result->matrix = matrix_new(result->count, tuning->spec->budget_ns - (clock_now_ns() - began_ns));
    if (!result->matrix)
        return err_memory(err, result->count * sizeof(matrix_setting_t));
    for (size_t at; ok && (at = matrix_next(result->matrix)) != MATRIX_DONE;) {
        say(tuning, at, began_ns);
        ok = try_setting(tuning, at, err);
    }
    matrix_judge(result->matrix, &result->verdict);
    return ok && (result->verdict.best != MATRIX_DONE || nothing_found(result, err));
}

bool tune_run(const tune_spec_t *spec, tune_result_t *result, err_t *err) {
    tuning_t tuning = {.spec = spec, .result = result};
    load_spec_t load = spec->load; /* with the target's settings */
    const int64_t began = clock_now_ns();
    err_t closing;
    *result = (tune_result_t){.list_count = spec->list_count,
                              .server_cpus = NAN,
                              .verdict = {.best = MATRIX_DONE, .cheapest = MATRIX_DONE}};
    memcpy(result->lists, spec->lists, sizeof result->lists);
    const bool ok = open_target(&tuning, &load, err) && tune_combine(&load, result, err) &&
                    warm_up(&tuning, err) && experiment(&tuning, began, err);
    result->took_ns = clock_now_ns() - began;
    if (trials_close(&tuning.trials, &closing))
        return ok;
    if (ok)
        *err = closing;
    else
        log_warn("%s", closing.text);
    return false;
}

void tune_free_result(tune_result_t *result) {
    matrix_free(result->matrix);
    free(result->settings);
    free(result->of_target.create);
    result->of_target.create = NULL;
    result->matrix = NULL;
    result->settings = NULL;
}

void tune_keep(const tune_spec_t *spec, const tune_result_t *result) {
    const size_t at = result->verdict.cheapest;
    tuned_t tuned = {.threads = result->settings[at].load.threads,
                     .batch = result->settings[at].load.batch,
                     .docs_per_second = matrix_median(matrix_setting(result->matrix, at)),
                     .when_ms = clock_wall_ms()};
    char path[4096];
    err_t err;
    snprintf(tuned.namespace, sizeof tuned.namespace, "%s", result->namespace);
    snprintf(tuned.format, sizeof tuned.format, "%s", result->format);
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

limit_t tune_limit(const tune_result_t *result, size_t setting) {
    enum { FULL_PERCENT = 90, HALF_PERCENT = 50 };
    const tune_figures_t *figures = &result->settings[setting].figures;
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
    if (server >= FULL_PERCENT)
        return LIMIT_SERVER_CPU;
    return begins(figures->limited_by, "server") ? LIMIT_SERVER : LIMIT_UNKNOWN;
}

const char *tune_limit_name(limit_t limit) {
    static const char *const names[] = {
        [LIMIT_UNKNOWN] = "unknown",       [LIMIT_CLIENT] = "client CPU", [LIMIT_HOST] = "host CPU",
        [LIMIT_NETWORK] = "network",       [LIMIT_INPUT] = "input",       [LIMIT_SHARD] = "one shard",
        [LIMIT_SERVER_CPU] = "server CPU", [LIMIT_SERVER] = "server"};
    return names[limit];
}
