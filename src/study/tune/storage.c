#include "study/tune/storage.h"
#include "base/clock.h"
#include "base/log.h"
#include "base/zeroed.h"
#include "builtin/builtin.h"
#include "format/schema/schema_short.h"
#include "query/clients.h"
#include "query/watch/watch.h"
#include "server/bson_read.h"
#include "study/choices.h"
#include "study/trial.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { ROUNDS_WANTED = 4, MOST_TRIALS = 500, CLUSTERED_SINCE = 503 };

typedef struct {
    const storage_spec_t *spec;
    storage_result_t *result;
    load_spec_t load; /* with the target's settings */
    trials_t trials;
    char *uri;        /* of the scratch collection */
    server_t *reader; /* answers may take hours */
    mongoc_client_t *client;
    double rate;    /* of the last trial, with its checkpoint */
    hist_t ignored; /* the first scans */
    storage_figures_t found;
} storing_t;

/* ---- before the first trial ---- */

/* The built-in format of which a variant with short keys could be used. */
static void find_like(const char *format, char like[128]) {
    for (const builtin_t *builtin = builtin_formats; format && builtin->name; builtin++)
        if (strcmp(builtin->name, format) == 0)
            snprintf(like, 128, "%s", format);
}

static bool look_at_format(storing_t *storing, err_t *err) {
    storage_result_t *result = storing->result;
    load_spec_t load = storing->spec->load;
    load.guessed = storing->trials.guessed;
    schema_t *schema = load_spec_open_format(&load, err);
    if (!schema)
        return false;
    result->keys_are_short = schema_is_short(schema);
    find_like(storing->spec->load.format, result->like);
    schema_destroy(schema);
    return true;
}

/* Such a shard key is written with the format's own keys. */
static bool sharded_on_fields(const load_spec_t *load) {
    const char *key = load->shard_key;
    return key && strcmp(key, "none") != 0 && strcmp(key, "_id") != 0 && strcmp(key, "_id:hashed") != 0;
}

static void fill_keys(storing_t *storing) {
    storage_lists_t *lists = &storing->result->lists;
    lists->short_keys[lists->key_count++] = false;
    if (sharded_on_fields(&storing->load))
        log_note("short keys are left out: the shard key %s is spelled in the format's own",
                 storing->load.shard_key);
    else if (!storing->load.format)
        log_note("short keys are left out: they take a --format; `tipple formats --guess` writes one");
    else if (storing->result->keys_are_short)
        log_note("short keys are left out: those of the format %s are as short", storing->result->format);
    else
        lists->short_keys[lists->key_count++] = true;
}

static bool fill(storing_t *storing, err_t *err) {
    static const char *const compressors[] = {"none", "snappy", "zlib", "zstd"};
    storage_lists_t *lists = &storing->result->lists;
    const server_facts_t *facts = server_facts(storing->reader);
    *lists = storing->spec->lists;
    if (!lists->compressor_count)
        for (size_t i = 0; i < STORAGE_COMPRESSORS; i++)
            lists->compressors[lists->compressor_count++] = compressors[i];
    if (!lists->clustered_count) {
        if (facts->major * 100 + facts->minor >= CLUSTERED_SINCE)
            lists->clustered[lists->clustered_count++] = CLUSTERED_YES;
        lists->clustered[lists->clustered_count++] = CLUSTERED_NO;
    }
    if (!lists->key_count)
        fill_keys(storing);
    for (size_t i = 0; i < lists->key_count; i++)
        if (lists->short_keys[i] && !storing->load.format)
            return err_set(err, STATUS_USAGE,
                           "short keys take a --format: `tipple formats --guess FILE > my.yaml` writes one");
        else if (lists->short_keys[i] && sharded_on_fields(&storing->load))
            return err_set(err, STATUS_USAGE,
                           "short keys cannot be tried: the shard key %s is spelled in the format's own. "
                           "Leave --keys out, or say --keys long",
                           storing->load.shard_key);
    return true;
}

static bool open_target(storing_t *storing, err_t *err) {
    const load_spec_t *load = &storing->spec->load;
    storage_result_t *result = storing->result;
    bool ok = trials_open(&storing->trials, load, err) && look_at_format(storing, err);
    snprintf(result->format, sizeof result->format, "%s", storing->trials.format);
    storing->load = *load;
    storing->load.clustered = CLUSTERED_DEFAULT;
    if (!ok || !choices_like_target(load->uri, load->patience_ns, &storing->load, result->shard_key, err) ||
        !(storing->uri = scratch_uri(load->uri, SCRATCH_TUNE, 0, NULL, NULL, err)))
        return false;
    /* choices_like_target sets it only if the target exists */
    result->target_exists = storing->load.clustered != CLUSTERED_DEFAULT;
    const server_options_t options = {
        .uri = storing->uri, .patience_ns = load->patience_ns, .connections = 2, .reads = true};
    if (!(storing->reader = server_connect(&options, err)) ||
        !(storing->client = server_take(storing->reader, err)))
        return false;
    snprintf(result->scratch, sizeof result->scratch, "%s", server_namespace(storing->reader));
    snprintf(result->where, sizeof result->where, "%s", server_where(storing->reader));
    snprintf(result->namespace, sizeof result->namespace, "%.*s",
             (int)(strlen(result->scratch) - strlen(SCRATCH_TUNE)), result->scratch);
    return fill(storing, err);
}

/* Keys change slowest, so that settings which differ only in their compressor are neighbours. */
static bool make_matrix(storing_t *storing, err_t *err) {
    const storage_spec_t *spec = storing->spec;
    storage_result_t *result = storing->result;
    const storage_lists_t *lists = &result->lists;
    matrix_setting_t settings[STORAGE_SETTINGS] = {{.threads = 0}};
    size_t count = 0;
    for (size_t keys = 0; keys < lists->key_count; keys++)
        for (size_t kind = 0; kind < lists->clustered_count; kind++)
            for (size_t i = 0; i < lists->compressor_count; i++) {
                result->choices[count] = (storage_choice_t){.compressor = lists->compressors[i],
                                                            .clustered = lists->clustered[kind],
                                                            .short_keys = lists->short_keys[keys]};
                settings[count].choice = (uint32_t)count;
                count++;
            }
    const matrix_options_t options = {.precision = spec->precision,
                                      .nearly = STORAGE_NEARLY,
                                      .budget_ns = spec->budget_ns,
                                      .most_trials = MOST_TRIALS,
                                      .seed = spec->seed,
                                      .keep_all = true};
    result->matrix = matrix_new(settings, count, &options);
    return result->matrix || err_memory(err, sizeof settings);
}

/* ---- one trial ---- */

static bool take_sizes(storing_t *storing, storage_figures_t *figures, err_t *err) {
    watch_storage_t storage;
    if (!watch_storage(storing->reader, storing->client, server_collection(storing->reader), &storage, err))
        return false;
    if (storage.hidden)
        return err_set(err, STATUS_USAGE,
                       "this user may not run collStats on %s, so nothing can be told of its size; the role "
                       "readWrite would do",
                       storing->result->scratch);
    storing->result->shards = storage.shards;
    moments_add(&figures->bson_bytes, storage.bson_bytes);
    moments_add(&figures->data_bytes, storage.data_bytes);
    moments_add(&figures->index_bytes, storage.index_bytes);
    return true;
}

static int64_t counted(const bson_t *reply) {
    bson_iter_t top, at;
    return bson_iter_init(&top, reply) && bson_iter_find_descendant(&top, "cursor.firstBatch.0.n", &at)
               ? bson_iter_as_int64(&at)
               : 0;
}

/* The server looks at every document: none has the field, so the server must read each of them. */
static bool scan(storing_t *storing, hist_t *times, err_t *err) {
    bson_t reply;
    bson_t *command = BCON_NEW("aggregate", BCON_UTF8(server_collection(storing->reader)), "pipeline", "[",
                               "{", "$match", "{", "no field of any format", "{", "$exists", BCON_BOOL(false),
                               "}", "}", "}", "{", "$count", BCON_UTF8("n"), "}", "]", "cursor", "{", "}",
                               "hint", "{", "$natural", BCON_INT32(1), "}");
    const int64_t began = clock_now_ns();
    const uint64_t expected = storing->trials.result->counts.loaded;
    bool ok = server_command(storing->reader, storing->client, server_database(storing->reader), command,
                             false, &reply, err);
    const int64_t took = clock_now_ns() - began;
    const int64_t found = ok ? counted(&reply) : 0;
    bson_destroy(command);
    bson_destroy(&reply);
    if (ok && (uint64_t)found != expected)
        ok = err_set(
            err, STATUS_SERVER,
            "a scan of %s found %lld documents, and %llu were loaded: does somebody else write there?",
            storing->result->scratch, (long long)found, (unsigned long long)expected);
    if (ok)
        hist_add(times, took);
    return ok;
}

/* Empties the caches, and waits until all servers with a part of the collection answer again. */
static bool scan_cold(storing_t *storing, storage_figures_t *figures, err_t *err) {
    watch_storage_t ignored;
    return !storing->spec->cold || (beside_wait("--cold", storing->spec->cold, err) &&
                                    watch_storage(storing->reader, storing->client,
                                                  server_collection(storing->reader), &ignored, err) &&
                                    scan(storing, &figures->cold, err));
}

/* The speed that a long load would have: its checkpoint is included. */
static void write_down(storing_t *storing) {
    const load_result_t *trial = storing->trials.result;
    const int64_t began = clock_now_ns();
    storing->result->checkpoints = scratch_checkpoint(storing->trials.scratch);
    const int64_t took = trial->moving_ns + (storing->result->checkpoints ? clock_now_ns() - began : 0);
    storing->rate = (double)trial->counts.loaded / ((double)(took ? took : 1) / 1e9);
}

static bool look(storing_t *storing, storage_figures_t *figures, err_t *err) {
    hist_t *first = &storing->ignored;
    write_down(storing);
    moments_add(&figures->acknowledged, trials_rate(&storing->trials));
    return take_sizes(storing, figures, err) && scan(storing, first, err) &&
           scan(storing, &figures->cached, err) && scan_cold(storing, figures, err);
}

static bool make_trial(storing_t *storing, size_t setting, storage_figures_t *figures, err_t *err) {
    const storage_choice_t *choice = &storing->result->choices[setting];
    const load_result_t *trial = storing->trials.result;
    load_spec_t load = storing->load;
    storage_figures_t *found = &storing->found;
    *found = *figures;
    load.uri = storing->uri;
    load.clustered = choice->clustered;
    load.compressor = choice->compressor;
    load.short_keys = choice->short_keys;
    if (!trials_begin(&storing->trials, err))
        return false;
    const bool ok =
        trials_load(&storing->trials, &load, err) && (!trial->counts.loaded || look(storing, found, err));
    if (!trials_end(&storing->trials, ok, err))
        return false;
    found->documents += trial->counts.loaded;
    found->retries += trial->retries;
    *figures = *found;
    return true;
}

/* ---- all of them ---- */

static bool warm_up(storing_t *storing, err_t *err) {
    storage_result_t *result = storing->result;
    const trials_fit_t fit = {.asked = storing->spec->sample,
                              .budget_ns = storing->spec->budget_ns,
                              .settings = matrix_count(result->matrix),
                              .rounds = ROUNDS_WANTED};
    const size_t setting = matrix_count(result->matrix) / 2;
    storing->trials.limit = trials_first(&fit);
    /* the files are empty until a checkpoint, which a quiet server makes once a minute */
    if (!scratch_checkpoint(storing->trials.scratch))
        return err_set(err, STATUS_USAGE,
                       "nothing can be told of what is on disk: --storage has each load written down at once "
                       "(fsync), which this user, or this target, may not; the role hostManager would do");
    if (!make_trial(storing, setting, &result->figures[setting], err))
        return false;
    result->figures[setting] = (storage_figures_t){.documents = 0};
    trials_fit(&storing->trials, &fit, &result->sample, &result->records);
    result->warmed = true;
    return true;
}

/* The index of the smallest; NAN counts as none. */
static size_t least(const double *values, size_t count) {
    size_t chosen = MATRIX_DONE;
    for (size_t i = 0; i < count; i++)
        if (!isnan(values[i]) && (chosen == MATRIX_DONE || values[i] < values[chosen]))
            chosen = i;
    return chosen;
}

/* Of those with a size here: the smallest whose load is nearly as fast as the fastest. */
static size_t recommend(const storage_result_t *result, const double *sizes) {
    const matrix_t *matrix = result->matrix;
    double slowness[STORAGE_SETTINGS], reaching[STORAGE_SETTINGS];
    const size_t count = matrix_count(matrix);
    for (size_t i = 0; i < count; i++)
        slowness[i] = isnan(sizes[i]) ? NAN : 1 / matrix_setting(matrix, i)->mean;
    const size_t fastest = least(slowness, count);
    for (size_t i = 0; i < count; i++)
        reaching[i] = !isnan(sizes[i]) && matrix_reaches(matrix, i, fastest) ? sizes[i] : NAN;
    return least(reaching, count);
}

void storage_judge(storage_result_t *result) {
    const matrix_t *matrix = result->matrix;
    const size_t count = matrix_count(matrix);
    double size[STORAGE_SETTINGS], scan[STORAGE_SETTINGS], cold[STORAGE_SETTINGS], own[STORAGE_SETTINGS];
    matrix_judge(matrix, &result->counts);
    for (size_t i = 0; i < count; i++) {
        const storage_figures_t *figures = &result->figures[i];
        const bool told = matrix_setting(matrix, i)->trials >= 2;
        size[i] = told ? storage_each(result, i) : NAN;
        own[i] = result->choices[i].short_keys ? NAN : size[i];
        scan[i] = told ? hist_quantile_ns(&figures->cached, 0.5) : NAN;
        cold[i] = told ? hist_quantile_ns(&figures->cold, 0.5) : NAN;
    }
    result->verdict = (storage_verdict_t){.smallest = least(size, count),
                                          .fastest_load = result->counts.best,
                                          .fastest_scan = least(scan, count),
                                          .fastest_cold = least(cold, count),
                                          .recommended = recommend(result, size),
                                          .recommended_long = recommend(result, own)};
}

static bool experiment(storing_t *storing, err_t *err) {
    storage_result_t *result = storing->result;
    matrix_t *matrix = result->matrix;
    const int64_t began = clock_now_ns();
    bool ok = true;
    for (size_t at; ok && (at = matrix_next(matrix)) != MATRIX_DONE;) {
        char name[STORAGE_NAME];
        storage_name(&result->choices[at], name);
        trials_say(&storing->trials, matrix, matrix_setting(matrix, at), name, began,
                   storing->spec->budget_ns);
        ok = make_trial(storing, at, &result->figures[at], err);
        if (ok) {
            matrix_add(matrix, at, storing->rate, trials_took_ns(&storing->trials));
            log_detail("%s: %.0f docs/s", name, storing->rate);
        }
    }
    storage_judge(result);
    if (ok && result->verdict.fastest_load == MATRIX_DONE)
        return err_set(
            err, STATUS_USAGE,
            "the budget was too small for two trials of any setting: raise --budget, lower --sample, or "
            "name fewer --compressor and --keys");
    return ok;
}

bool storage_run(const storage_spec_t *spec, storage_result_t *result, err_t *err) {
    storing_t *storing = ZEROED(storing_t);
    const int64_t began = clock_now_ns();
    err_t closing;
    *result = (storage_result_t){.verdict = {.smallest = MATRIX_DONE,
                                             .fastest_load = MATRIX_DONE,
                                             .fastest_scan = MATRIX_DONE,
                                             .fastest_cold = MATRIX_DONE,
                                             .recommended = MATRIX_DONE,
                                             .recommended_long = MATRIX_DONE}};
    if (!storing)
        return err_memory(err, sizeof *storing);
    storing->spec = spec;
    storing->result = result;
    bool ok = open_target(storing, err) && make_matrix(storing, err) && warm_up(storing, err) &&
              experiment(storing, err);
    result->took_ns = clock_now_ns() - began;
    if (storing->client)
        server_give(storing->reader, storing->client);
    server_destroy(storing->reader);
    free(storing->uri);
    if (!trials_close(&storing->trials, &closing)) {
        if (ok)
            *err = closing;
        else
            log_warn("%s", closing.text);
        ok = false;
    }
    free(storing);
    return ok;
}

void storage_free_result(storage_result_t *result) {
    matrix_free(result->matrix);
    result->matrix = NULL;
}

/* ---- results ---- */

double storage_share(const storage_figures_t *figures) {
    return figures->bson_bytes.count && figures->bson_bytes.mean > 0
               ? (figures->data_bytes.mean + figures->index_bytes.mean) / figures->bson_bytes.mean
               : NAN;
}

double storage_each(const storage_result_t *result, size_t setting) {
    const storage_figures_t *figures = &result->figures[setting];
    const uint32_t trials = matrix_setting(result->matrix, setting)->trials;
    return figures->documents
               ? (figures->data_bytes.mean + figures->index_bytes.mean) * trials / (double)figures->documents
               : NAN;
}

const char *storage_name(const storage_choice_t *choice, char out[STORAGE_NAME]) {
    snprintf(out, STORAGE_NAME, "%s, %s, %s keys", choice->compressor,
             choice->clustered == CLUSTERED_YES ? "clustered" : "plain",
             choice->short_keys ? "short" : "long");
    return out;
}
