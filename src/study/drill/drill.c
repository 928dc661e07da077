#include "study/drill/drill.h"
#include "base/clock.h"
#include "base/log.h"
#include "base/numbers.h"
#include "base/stop.h"
#include "builtin/builtin.h"
#include "query/query.h"
#include "server/bson_read.h"
#include "study/drill/drill_inner.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- choosing ---- */

static bool needs_nothing(const query_t *query) {
    return !query->draw && !query->each && !query->indexes && !query->collection;
}

static void take_first(const suite_t *suite, first_query_t *chosen) {
    for (size_t i = 0; !chosen->query[0] && i < suite->query_count; i++)
        if (needs_nothing(&suite->queries[i]))
            snprintf(chosen->query, sizeof chosen->query, "%s", suite->queries[i].name);
}

static bool has_query(const suite_t *suite, const char *name) {
    bool found = false;
    for (size_t i = 0; i < suite->query_count; i++)
        found = found || suite_has_tag(&suite->queries[i], name);
    return found;
}

/* Splits "SUITE:NAME" or "SUITE"; the folders of a path may contain colons. */
static bool split(const char *words, first_query_t *chosen, err_t *err) {
    const char *colon = strrchr(words, ':');
    const size_t length = colon && !strchr(colon, '/') ? (size_t)(colon - words) : strlen(words);
    if (!length || length >= sizeof chosen->suite || strlen(words + length) >= sizeof chosen->query)
        return err_set(err, STATUS_USAGE,
                       "--query: '%.200s' is not SUITE or SUITE:NAME, such as mot:greenness", words);
    snprintf(chosen->suite, sizeof chosen->suite, "%.*s", (int)length, words);
    snprintf(chosen->query, sizeof chosen->query, "%s", words[length] ? words + length + 1 : "");
    return true;
}

bool first_query_choose(const char *words, const char *format, first_query_t *chosen, err_t *err) {
    *chosen = (first_query_t){.suite = ""};
    if (words && !split(words, chosen, err))
        return false;
    if (!words && builtin_find(builtin_suites, format))
        snprintf(chosen->suite, sizeof chosen->suite, "%s", format);
    if (!chosen->suite[0])
        return true;
    suite_t *suite = suite_open(chosen->suite, err);
    if (!suite)
        return false;
    bool ok = true;
    if (!chosen->query[0])
        take_first(suite, chosen);
    else if (!has_query(suite, chosen->query))
        ok = err_set(
            err, STATUS_USAGE,
            "--query: the suite %.200s has no query '%.200s'; `tipple query --show SUITE` prints them",
            chosen->suite, chosen->query);
    if (ok && !chosen->query[0] && words)
        ok = err_set(
            err, STATUS_USAGE,
            "--query: each query of the suite %.200s needs an index or chosen values: name one, as in "
            "%.200s:NAME",
            chosen->suite, chosen->suite);
    if (!chosen->query[0])
        chosen->suite[0] = '\0';
    suite_close(suite);
    return ok;
}

const char *first_query_name(const first_query_t *chosen, char out[1400]) {
    if (chosen->suite[0])
        snprintf(out, 1400, "%s %s", chosen->suite, chosen->query);
    else
        snprintf(out, 1400, "one document by its _id");
    return out;
}

/* ---- asking ---- */

static bool ask_suite(const first_query_t *chosen, const char *uri, int64_t patience_ns,
                      first_answer_t *answer, err_t *err) {
    query_spec_t spec;
    query_result_t result;
    char *name = (char *)chosen->query;
    query_spec_init(&spec);
    spec.uri = uri;
    spec.suite = chosen->suite;
    spec.patience_ns = patience_ns;
    spec.repeats = 1;
    spec.warmups = 0;
    spec.count = 1;
    spec.queries = &name;
    spec.query_count = 1;
    spec.clients[spec.client_choices++] = 1;
    spec.one = true;
    bool ok = query_run(&spec, &result, err);
    if (result.measure_count) {
        const measure_t *measure = &result.measures[0];
        answer->seconds = measure->found->latency.moments.mean / 1e9;
        answer->returned = measure->found->returned;
        answer->scans = measure->work->count && isinf(measure->work->requests[0].documents);
    }
    query_free_result(&result);
    return ok;
}

/* *value: the _id of the reply's first document; it belongs to the reply. */
static bool first_id(const bson_t *reply, bson_value_t *value) {
    bson_iter_t documents, at;
    bson_t document;
    if (!bson_read_batch(reply, &documents) || !bson_read_next(&documents, &document) ||
        !bson_iter_init_find(&at, &document, "_id"))
        return false;
    bson_value_copy(bson_iter_value(&at), value);
    return true;
}

static bool find(server_t *server, mongoc_client_t *client, const bson_value_t *id, bson_value_t *found,
                 err_t *err) {
    bson_t command = BSON_INITIALIZER, filter, reply;
    BSON_APPEND_UTF8(&command, "find", server_collection(server));
    BSON_APPEND_DOCUMENT_BEGIN(&command, "filter", &filter);
    if (id)
        BSON_APPEND_VALUE(&filter, "_id", id);
    bson_append_document_end(&command, &filter);
    BCON_APPEND(&command, "limit", BCON_INT32(1), "singleBatch", BCON_BOOL(true));
    bool ok = server_command(server, client, server_database(server), &command, false, &reply, err);
    if (ok && !first_id(&reply, found))
        ok = err_set(err, STATUS_DIFFERENT, "%s has no document%s", server_namespace(server),
                     id ? " of an _id that it had a moment ago" : "");
    bson_destroy(&reply);
    bson_destroy(&command);
    return ok;
}

static bool ask_by_id(server_t *server, mongoc_client_t *client, first_answer_t *answer, err_t *err) {
    bson_value_t some, found;
    if (!find(server, client, NULL, &some, err))
        return false;
    const int64_t began = clock_now_ns();
    const bool ok = find(server, client, &some, &found, err);
    answer->seconds = (double)(clock_now_ns() - began) / 1e9;
    answer->returned = ok;
    if (ok)
        bson_value_destroy(&found);
    bson_value_destroy(&some);
    return ok;
}

bool first_query_ask(const first_query_t *chosen, const char *uri, int64_t patience_ns,
                     first_answer_t *answer, err_t *err) {
    *answer = (first_answer_t){.seconds = NAN};
    if (chosen->suite[0])
        return ask_suite(chosen, uri, patience_ns, answer, err);
    const server_options_t options = {
        .uri = uri, .patience_ns = patience_ns, .connections = 1, .reads = true};
    server_t *server = server_connect(&options, err);
    mongoc_client_t *client = server ? server_take(server, err) : NULL;
    bool ok = client && ask_by_id(server, client, answer, err);
    if (client)
        server_give(server, client);
    server_destroy(server);
    return ok;
}

/* ---- samples ---- */

static void predict_nothing(drill_pass_t *pass) {
    const forecast_t unknown = {NAN, NAN, NAN};
    pass->predicted = pass->verified = unknown;
    pass->reached = DRILL_PHASES;
    for (drill_phase_t phase = 0; phase < DRILL_PHASES; phase++)
        pass->phases[phase].predicted = unknown;
}

/* Said before the drill begins, so that it is a real prediction. */
static void say_forecast(const drill_result_t *result) {
    char documents[UNITS_MAX], whole[FORECAST_SPELLED], load[FORECAST_SPELLED], verify[FORECAST_SPELLED];
    const drill_pass_t *pass = &result->pass;
    log_note("drill: predicted for %s%s document%s: %s from nothing to verified; load %s, verify %s",
             result->exact ? "" : "about ", units_count(documents, (uint64_t)result->all_documents),
             units_s((uint64_t)result->all_documents), forecast_spell(whole, &pass->verified),
             forecast_spell(load, &pass->phases[DRILL_LOAD].predicted),
             forecast_spell(verify, &pass->phases[DRILL_VERIFY].predicted));
}

/* The free space on the server's disk; NAN: the server does not tell (a router never does). */
static double free_bytes(const drilling_t *drilling) {
    bson_t reply;
    err_t ignored;
    bson_t *command = BCON_NEW("dbStats", BCON_INT32(1));
    const bool ok = server_command(drilling->target, drilling->client, server_database(drilling->target),
                                   command, false, &reply, &ignored);
    const double room =
        ok ? bson_read_number(&reply, "fsTotalSize") - bson_read_number(&reply, "fsUsedSize") : NAN;
    bson_destroy(command);
    bson_destroy(&reply);
    return room;
}

/* Warns before hours are spent. It is only a warning, since the effect of compression is not known. */
static void look_for_room(const drilling_t *drilling) {
    const drill_result_t *result = drilling->result;
    const drill_sample_t *sample = &result->samples[result->sample_count - 1];
    const double bytes = result->all_documents * (double)sample->bytes / (double)sample->documents,
                 room = free_bytes(drilling);
    char needed[UNITS_MAX], left[UNITS_MAX];
    if (result->scratch && bytes > room)
        log_warn(
            "the documents have %s, before compression and without indexes, and the server's disk has %s "
            "left: it may not be enough for the scratch collection",
            units_size(needed, bytes), units_size(left, room));
}

static bool predict(drilling_t *drilling, err_t *err) {
    if (drilling->spec->no_predict)
        return true;
    if (!rehearsal_run(drilling, err))
        return stop_signal() ? false : err_where(err, "in a sample");
    say_forecast(drilling->result);
    look_for_room(drilling);
    /* a drill in scratch has to drop the last sample, and so measures the drop, too */
    return drilling->result->scratch || scratch_drop(drilling->scratch, err);
}

/* ---- the drill itself ---- */

static bool run_all(drilling_t *drilling, err_t *err) {
    drill_result_t *result = drilling->result;
    drill_pass_t *pass = &result->pass;
    load_spec_t load = result->load;
    load.limit = UINT64_MAX;
    if (result->scratch) {
        load.uri = scratch_place(drilling->scratch);
        load.counts_rejects = !load.rejects;
    }
    result->drilled = true;
    scratch_checkpoint(drilling->scratch);
    const bool ok = drill_pass(result, &load, false, pass, err);
    if (!ok && !result->scratch && pass->loaded)
        err_after_change(err);
    if (load.counts_rejects && pass->load.counts.rejected)
        log_warn("the rejects of this drill are not kept: --rejects FILE does");
    return ok && (!pass->difference[0] || err_set(err, STATUS_DIFFERENT, "%s", pass->difference));
}

static bool drill(drilling_t *drilling, err_t *err) {
    const drill_spec_t *spec = drilling->spec;
    drill_result_t *result = drilling->result;
    if (!drill_check_spec(drilling, err) || !drill_open_target(drilling, err) ||
        !(drilling->scratch = scratch_open(spec->load.uri, SCRATCH_DRILL, spec->load.patience_ns, err)))
        return false;
    if (result->scratch)
        snprintf(result->collection, sizeof result->collection, "%s",
                 server_namespace(scratch_server(drilling->scratch)));
    return predict(drilling, err) && (spec->predict_only || spec->scale || run_all(drilling, err));
}

static bool close_all(drilling_t *drilling, bool ok, err_t *err) {
    err_t closing;
    if (!scratch_close(drilling->scratch, &closing)) {
        if (ok)
            *err = closing;
        else
            log_warn("%s", closing.text);
        ok = false;
    }
    if (drilling->client)
        server_give(drilling->target, drilling->client);
    server_destroy(drilling->target);
    free(drilling->guessed);
    free(drilling->filter);
    drilling->result->load.guessed = NULL;
    return ok;
}

bool drill_run(const drill_spec_t *spec, drill_result_t *result, err_t *err) {
    drilling_t drilling = {.spec = spec, .result = result};
    const int64_t began = clock_now_ns();
    memset(result, 0, sizeof *result);
    result->all_documents = NAN;
    result->scratch = !spec->drop;
    predict_nothing(&result->pass);
    *err = (err_t){.status = STATUS_OK};
    bool ok = drill(&drilling, err);
    ok = close_all(&drilling, ok, err);
    if (ok) /* tries that failed on the way are no failure */
        *err = (err_t){.status = result->pass.load.counts.rejected ? STATUS_SOME_REJECTED : STATUS_OK};
    result->took_ns = clock_now_ns() - began;
    return ok;
}

void drill_free_result(drill_result_t *result) {
    while (result->index_count)
        free(result->indexes[--result->index_count]);
    free(result->of_target.create);
}

/* ---- the results ---- */

bool drill_left_open(const drill_result_t *result) {
    return !result->scratch && result->drilled && result->pass.phases[DRILL_DROP].came &&
           !result->pass.loaded;
}

bool drill_is_within(const drill_result_t *result, double within, double *seconds) {
    const drill_pass_t *pass = &result->pass;
    *seconds = pass->finished               ? (double)pass->verified_ns / 1e9
               : isnan(pass->verified.high) ? pass->verified.mid
                                            : pass->verified.high;
    return *seconds <= within;
}
