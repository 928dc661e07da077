#include "study/tune/tune.h"
#include "base/clock.h"
#include "base/log.h"
#include "base/numbers.h"
#include "base/stop.h"
#include "query/watch/watch.h"
#include "server/bson_read.h"
#include "server/cluster.h"

#include <math.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

/* Who is busy, and for how long until now. */
typedef struct {
    watch_cpu_t host;
    double server_us; /* of the primary; NAN: it does not say */
    int64_t at_ns;
} busy_t;

typedef struct {
    const tune_spec_t *spec;
    tune_result_t *result;
    int64_t ends_ns;
    size_t trials; /* also those that are no figure */
    step_t step;
    /* of the trial that runs, or of the last one */
    caller_t caller; /* hears nothing: the messages of a load would be repeated hundreds of times */
    int64_t loads_since_ns, stopped_ns, took_ns; /* stopped_ns: 0: it ended by itself */
    uint64_t least;                              /* documents */
    load_result_t load;
    busy_t before, after;
    double bytes;
} tuning_t;

void tune_spec_init(tune_spec_t *spec) {
    static const int64_t usual_ns = 600000000000;
    *spec = (tune_spec_t){.list_count = TUNE_BATCH + 1, .budget_ns = usual_ns};
    load_spec_init(&spec->load);
}

/* ---- settings ---- */

static void fill(tune_list_t *list, const char *const *values, size_t count) {
    if (!list->count)
        memcpy(list->values, values, count * sizeof *values);
    list->count = list->count ? list->count : count;
}

void tune_fill(tune_list_t *lists, size_t shards) {
    enum { A_CPU = 4, A_SHARD = 4 };
    static const char *const threads[] = {"1", "2", "4", "8", "16", "32", "64"}, *const batches[] = {
                                                                                     "100", "300", "1000",
                                                                                     "3000"};
    const double for_cpus = fmin(fmax((double)sysconf(_SC_NPROCESSORS_ONLN) * A_CPU, 8), 32),
                 for_shards = fmin((double)(shards * A_SHARD), 64);
    fill(&lists[TUNE_THREADS], threads, (size_t)log2(fmax(for_cpus, for_shards)) + 1);
    fill(&lists[TUNE_BATCH], batches, COUNT(batches));
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
    if (count > MATRIX_MOST)
        return err_set(err, STATUS_USAGE,
                       "these lists make %zu combinations, and at most %d are tried: shorten a list", count,
                       MATRIX_MOST);
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
    for (size_t i = TUNE_BATCH + 1; i < result->list_count && used < TUNE_NAME; i++) {
        const option_t *row = result->lists[i].row;
        const bool flag = row->kind == OPTION_FLAG;
        if (result->lists[i].count > 1)
            used += (size_t)snprintf(out + used, TUNE_NAME - used, ", %s%s",
                                     flag && setting->values[i][0] == 'f' ? "not " : "",
                                     flag ? row->name : setting->values[i]);
    }
    return out;
}

/* ---- before the first trial ---- */

static bool open_target(tuning_t *tuning, err_t *err) {
    tune_result_t *result = tuning->result;
    study_t *study = &result->study;
    config_list_t shards = {.count = 0};
    step_begin(&tuning->step, "looking at files and server");
    if (!study_open(study, &tuning->spec->load, SCRATCH_TUNE, "trials read their sample again and again",
                    false, err))
        return false;
    result->cluster = server_facts(study->server)->kind == SERVER_ROUTER;
    if (result->cluster && !cluster_shards(study->server, study->client, &shards, err))
        return false;
    tune_fill(result->lists, shards.count);
    config_free(&shards);
    result->server_cpus = result->cluster ? NAN : server_load_cores(study->client);
    return tune_combine(&study->load, result, err);
}

/* ---- one trial ---- */

static void look_at_busy(mongoc_client_t *client, busy_t *busy) {
    bson_t status;
    if (!watch_cpu(&busy->host))
        busy->host = (watch_cpu_t){.user = 0};
    busy->server_us = server_load_status(client, &status, NULL)
                          ? bson_read_number(&status, "extra_info.user_time_us") +
                                bson_read_number(&status, "extra_info.system_time_us")
                          : NAN;
    busy->at_ns = clock_now_ns();
    bson_destroy(&status);
}

/* The load's main thread calls it five times a second. */
static void end_in_time(void *context, uint64_t documents, uint64_t bytes) {
    (void)bytes;
    tuning_t *tuning = context;
    const int64_t now_ns = clock_now_ns();
    if (!tuning->loads_since_ns)
        tuning->loads_since_ns = now_ns;
    const int64_t took_ns = now_ns - tuning->loads_since_ns;
    if (now_ns < tuning->ends_ns &&
        (tuning->spec->sample || took_ns < (documents >= tuning->least ? TUNE_TRIAL_NS : TUNE_MOST_NS)))
        return;
    tuning->caller.stops = true;
    tuning->stopped_ns = tuning->stopped_ns ? tuning->stopped_ns : now_ns;
}

static bool load_sample(tuning_t *tuning, const load_spec_t *setting, err_t *err) {
    const uint64_t sample = tuning->spec->sample;
    const load_spec_t load = study_sample(setting, sample ? sample : UINT64_MAX);
    tuning->least = (uint64_t)TUNE_LEAST_BATCHES * load.threads * load.batch;
    tuning->loads_since_ns = tuning->stopped_ns = 0;
    tuning->caller.stops = false;
    caller_set(&tuning->caller);
    const bool ended = load_run(&load, &tuning->load, err);
    caller_set(NULL);
    load_result_free(&tuning->load);
    if (stop_signal())
        return err_set(err, (status_t)(128 + stop_signal()), "interrupted");
    return ended || (tuning->stopped_ns && err->status == STATUS_INTERRUPTED);
}

/* Files have their size once a checkpoint was written. */
static bool take_size(tuning_t *tuning, err_t *err) {
    study_t *study = &tuning->result->study;
    watch_storage_t storage;
    tuning->result->checkpoints = study_checkpoint(study);
    if (!watch_storage(study->server, study->client, server_collection(study->server), &storage, err))
        return false;
    tuning->bytes = tuning->result->checkpoints ? storage.data_bytes + storage.index_bytes : NAN;
    return true;
}

/* The collection is empty again. */
static bool make_trial(tuning_t *tuning, const load_spec_t *setting, err_t *err) {
    const int64_t began_ns = clock_now_ns();
    const counts_t *counts = &tuning->load.counts;
    study_t *study = &tuning->result->study;
    look_at_busy(study->client, &tuning->before);
    if (!load_sample(tuning, setting, err))
        return false;
    look_at_busy(study->client, &tuning->after);
    if (!take_size(tuning, err) || !study_drop(study, err))
        return false;
    if (tuning->result->records < counts->read)
        tuning->result->records = counts->read;
    tuning->took_ns = clock_now_ns() - began_ns;
    tuning->trials++;
    /* one that was stopped may have had no time for a document */
    return study_judge_sample(study, counts, "measured", err) ||
           (tuning->stopped_ns && counts->of[FATE_REJECTED] + counts->of[FATE_FILTERED] == 0);
}

/* ---- the trials ---- */

static double seconds_of(const load_result_t *load) {
    return (double)(load->moving_ns ? load->moving_ns : 1) / 1e9;
}

/* The longest time without a further document. */
static double longest_pause(const timeline_t *course) {
    int64_t longest_ns = 0;
    for (size_t i = 1, grew = 0; i < course->point_count; i++) {
        const timeline_point_t *point = &course->points[i], *last = &course->points[grew];
        if (point->at_ns - last->at_ns > longest_ns)
            longest_ns = point->at_ns - last->at_ns;
        grew = point->documents > last->documents ? i : grew;
    }
    return (double)longest_ns / 1e9;
}

bool tune_is_disturbed(const load_result_t *load) {
    enum { TIMES = 3 };
    const double pause = longest_pause(&load->course),
                 batch = (seconds_of(load) - pause) * load->threads / (double)(load->batches + 1);
    return load->retries || (pause >= TUNE_PAUSE_S && pause > TIMES * batch);
}

/* What was under way when the load was stopped was not the setting's usual work: it is left out. */
double tune_rate(const load_result_t *load, int64_t stopped_ns) {
    const timeline_point_t *points = load->course.points;
    const int64_t until_ns = stopped_ns - load->course.origin_ns;
    size_t first = 0, last = 0;
    for (size_t i = 1; i < load->course.point_count && points[i].at_ns <= until_ns; i++) {
        last = points[i].documents > points[last].documents ? i : last;
        first = first ? first : last;
    }
    return last > first ? (double)(points[last].documents - points[first].documents) * 1e9 /
                              (double)(points[last].at_ns - points[first].at_ns)
                        : (double)load->counts.of[FATE_LOADED] / seconds_of(load);
}

static void add_figures(const tuning_t *tuning, tune_figures_t *sum) {
    const load_result_t *load = &tuning->load;
    const busy_t *before = &tuning->before, *after = &tuning->after;
    const double seconds = seconds_of(load), server = (after->server_us - before->server_us) * 1e3 /
                                                      (double)(after->at_ns - before->at_ns);
    watch_cpu_t host = {.user = 0};
    watch_cpu_add(&host, &before->host, &after->host);
    sum->documents += load->counts.of[FATE_LOADED];
    sum->bytes += tuning->bytes;
    sum->seconds += seconds;
    sum->client_cores += (double)load->cpu_ns / (double)load->took_ns * seconds;
    sum->host_busy += watch_cpu_busy(&host) * seconds;
    sum->server_cores += server >= 0 ? server * seconds : NAN; /* less than before: it was restarted */
    snprintf(sum->limited_by, sizeof sum->limited_by, "%s", load->limited_by);
}

static bool try_setting(tuning_t *tuning, size_t at, err_t *err) {
    matrix_t *matrix = &tuning->result->matrix;
    tune_setting_t *setting = &tuning->result->settings[at];
    const load_result_t *load = &tuning->load;
    if (!make_trial(tuning, &setting->load, err))
        return false;
    const bool disturbed = tune_is_disturbed(load),
               small = load->moving_ns < TUNE_LEAST_NS ||
                       load->batches < (uint64_t)TUNE_LEAST_BATCHES * setting->load.threads;
    setting->figures.retries += load->retries;
    setting->figures.disturbed += disturbed;
    const bool left_out = disturbed && setting->figures.disturbed == 1;
    if (small && !left_out && tuning->stopped_ns < tuning->ends_ns)
        matrix_end_small(matrix, at);
    if (small || left_out)
        return true;
    matrix_add(matrix, at, tune_rate(load, tuning->stopped_ns));
    add_figures(tuning, &setting->figures);
    return true;
}

static void say(tuning_t *tuning, size_t at, int64_t began_ns) {
    char took[UNITS_MAX], budget[UNITS_MAX], name[TUNE_NAME];
    units_time(took, (double)(clock_now_ns() - began_ns) / 1e9);
    units_time(budget, (double)tuning->spec->budget_ns / 1e9);
    step_change(&tuning->step, "trial %zu   %zu settings   %s of %s   %.60s", tuning->trials,
                tuning->result->count, took, budget, tune_name(tuning->result, at, name));
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

/* The first trial is not counted: it reads the files into the page cache, and lets servers allocate memory. */
static bool experiment(tuning_t *tuning, int64_t began_ns, err_t *err) {
    tune_result_t *result = tuning->result;
    bool ok = result->warmed = make_trial(tuning, &result->settings[result->count / 2].load, err);
    if (!ok)
        return false;
    matrix_begin(&result->matrix, result->count);
    for (size_t at; ok && !result->budget_spent && (at = matrix_next(&result->matrix)) != MATRIX_DONE;) {
        say(tuning, at, began_ns);
        result->budget_spent = clock_now_ns() + tuning->took_ns > tuning->ends_ns;
        ok = result->budget_spent || try_setting(tuning, at, err);
    }
    matrix_judge(&result->matrix, &result->verdict);
    return ok && (result->verdict.best != MATRIX_DONE || nothing_found(result, err));
}

bool tune_run(const tune_spec_t *spec, tune_result_t *result, err_t *err) {
    const int64_t began_ns = clock_now_ns();
    tuning_t *tuning = ZEROED(tuning_t);
    *result = (tune_result_t){.list_count = spec->list_count,
                              .server_cpus = NAN,
                              .verdict = {.best = MATRIX_DONE, .cheapest = MATRIX_DONE}};
    memcpy(result->lists, spec->lists, sizeof result->lists);
    if (!tuning)
        return err_memory(err, sizeof *tuning);
    tuning->spec = spec;
    tuning->result = result;
    tuning->ends_ns = began_ns + spec->budget_ns;
    caller_init(&tuning->caller);
    tuning->caller.progress = end_in_time;
    tuning->caller.progress_context = tuning;
    const bool ok = open_target(tuning, err) && experiment(tuning, began_ns, err);
    result->took_ns = clock_now_ns() - began_ns;
    step_end(&tuning->step);
    caller_free(&tuning->caller);
    free(tuning);
    return study_close(&result->study, ok, err);
}

void tune_free_result(tune_result_t *result) {
    free(result->settings);
    study_free(&result->study);
}

/* ---- what limited a setting ---- */

static bool begins(const char *text, const char *with) {
    return strncmp(text, with, strlen(with)) == 0;
}

const char *tune_limit(const tune_result_t *result, size_t setting) {
    static const double FULL = 0.9;
    const tune_figures_t *figures = &result->settings[setting].figures;
    const double cpus = (double)sysconf(_SC_NPROCESSORS_ONLN), busy = figures->host_busy / figures->seconds,
                 ours = figures->client_cores / figures->seconds / cpus,
                 server = figures->server_cores / figures->seconds / result->server_cpus;
    return begins(figures->limited_by, "input")        ? "input"
           : begins(figures->limited_by, "shard ")     ? "one shard"
           : busy >= FULL                              ? (ours >= busy / 2 ? "client CPU" : "host CPU")
           : begins(figures->limited_by, "client CPU") ? "client CPU"
           : server >= FULL                            ? "server CPU"
           : begins(figures->limited_by, "server")     ? "server"
                                                       : "unknown";
}
