#include "study/drill/first_query.h"
#include "base/clock.h"
#include "builtin/builtin.h"
#include "query/run.h"
#include "server/bson_read.h"

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
        ok = err_set(err, STATUS_USAGE,
                     "--query: the suite %.200s has no query '%.200s'; `tipple query --list` has them",
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
    spec.choices.queries = &name;
    spec.choices.query_count = 1;
    spec.choices.clients[spec.choices.client_choices++] = 1;
    spec.choices.most = 1;
    bool ok = query_run(&spec, &result, err);
    if (result.measures.count) {
        const measure_t *measure = &result.measures.items[0];
        answer->seconds = measure->hist->moments.mean / 1e9;
        answer->returned = measure->returned;
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
