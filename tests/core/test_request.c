/* request: what is built of a suite's query and its parameters, and what is refused, at its place. */
#include "base/document.h"
#include "query/suite/request.h"
#include "server/bson_read.h"
#include "test.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static char *json_of(const bson_iter_t *at) {
    bson_t document;
    assert_true(bson_read_document(at, &document));
    return ejson_print(&document, true, NULL);
}

/* The suite's first query with its parameters; null: not known before. */
static bool build(const char *text, const char *drawn, request_t *request, err_t *err) {
    static const reads_t reads = {NULL, NULL};
    suite_t *suite = suite_parse(text, strlen(text), "x.yaml", err);
    bson_t params = BSON_INITIALIZER;
    *request = (request_t){.kind = QUERY_FIND};
    if (!suite)
        return false;
    for (const yaml_item_t *item = suite->params ? suite->params->first : NULL; item; item = item->next)
        assert_true(value_append(&params, item->key, item, suite->tree, NULL, err));
    if (drawn)
        assert_true(value_parse(&params, "drawn", drawn, err));
    bool ok = request_build(request, suite, suite->queries, "db", "c", &params, &reads, err);
    bson_destroy(&params);
    suite_close(suite);
    return ok;
}

static void refused(const char *text, const char *drawn, const char *words) {
    err_t err = {.text = ""};
    request_t request;
    if (build(text, drawn, &request, &err))
        fail_msg("taken: %s", text);
    request_free(&request);
    assert_int_equal(STATUS_USAGE, err.status);
    if (!strstr(err.text, words))
        fail_msg("%s\n'%s' has no '%s'", text, err.text, words);
}

static void built(const char *text, const char *drawn) {
    err_t err = {.text = ""};
    request_t request;
    if (!build(text, drawn, &request, &err))
        fail_msg("%s\n%s", text, err.text);
    request_free(&request);
}

#define QUERY  "suite: s\nqueries:\n  - name: q\n"
#define PARAM  "params: {p: {$out: t}}\n" QUERY
#define LIST   "params: {p: [{$match: {}}, {$merge: t}]}\n" QUERY
#define DRAWN  QUERY "    draw: {gives: [drawn], pipeline: []}\n"
#define WRITES "is not among"

/* Whatever a stage that writes, or that nobody knows, is hidden in. */
TEST(writes) {
    static const char *const cases[][3] = {
        {QUERY "    pipeline: [{$out: t}]\n", NULL, "x.yaml:4:16: '$out' " WRITES},
        {QUERY "    pipeline: [{$limit: 1}, {$merge: {into: t}}]\n", NULL, "x.yaml:4:29: '$merge' " WRITES},
        {PARAM "    pipeline: [{$limit: 1}, {$param: p}]\n", NULL, "x.yaml:5:29: '$out' " WRITES},
        {QUERY "    pipeline: [{$facet: {a: [{$match: {}}], b: [{$out: t}]}}]\n", NULL, "'$out' " WRITES},
        {PARAM "    pipeline: [{$facet: {a: [{$param: p}]}}]\n", NULL, "x.yaml:5:16: '$out' " WRITES},
        {LIST "    pipeline: [{$facet: {a: {$param: p}}}]\n", NULL, "'$merge' " WRITES},
        {LIST "    pipeline: [{$lookup: {from: t, as: a, pipeline: {$param: p}}}]\n", NULL,
         "'$merge' " WRITES},
        {LIST "    pipeline: [{$unionWith: {coll: t, pipeline: {$param: p}}}]\n", NULL, "'$merge' " WRITES},
        {"params: {p: {coll: t, pipeline: [{$out: t}]}}\n" QUERY
         "    pipeline: [{$unionWith: {$param: p}}]\n",
         NULL, "'$out' " WRITES},
        {QUERY "    pipeline: [{$lookup: {from: t, as: a, pipeline: [{$facet: {a: [{$unionWith: {coll: t, "
               "pipeline: [{$merge: t}]}}]}}]}}]\n",
         NULL, "'$merge' " WRITES},
        {LIST "    pipeline: [{$param: p}]\n", NULL, "a stage is"},
        {"params: {p: {$match: {}, $out: t}}\n" QUERY "    pipeline: [{$param: p}]\n", NULL, "a stage is"},
        {"params: {p: null}\n" QUERY "    pipeline: [{$param: p}]\n", NULL, "a stage is"},
        {"params: {p: null}\n" QUERY "    pipeline: [{$facet: {a: {$param: p}}}]\n", NULL,
         "a list of stages"},
        {DRAWN "    pipeline: [{$limit: 1}, {$param: drawn}]\n", "{$out: t}", "x.yaml:5:29: '$out' " WRITES},
        {DRAWN "    pipeline: [{$facet: {$param: drawn}}]\n", "{a: [{$out: t}]}", "'$out' " WRITES},
        {QUERY "    find: {}\n    draw: {gives: [a], pipeline: [{$out: t}]}\n", NULL, "'$out' " WRITES},
        {QUERY "    pipeline: [{$changeStream: {}}]\n", NULL, "'$changeStream' " WRITES},
        {QUERY "    pipeline: [{out: t}]\n", NULL, "a stage is"},
        {QUERY "    pipeline: [{$facet: [[{$out: t}]]}]\n", NULL, "'$out' " WRITES},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        refused(cases[i][0], cases[i][1], cases[i][2]);
}

/* Fields and values may have any name. */
TEST(reads) {
    built(
        QUERY
        "    pipeline: [{$match: {a: {$eq: {$out: t}}}}, {$project: {pipeline: {$literal: [{$out: t}]}}}]\n",
        NULL);
    built("params: {p: {$match: {}}}\n" QUERY "    pipeline: [{$param: p}, {$facet: {a: [{$param: p}]}}]\n",
          NULL);
    built(QUERY
          "    pipeline: [{$unionWith: t}, {$lookup: {from: t, localField: a, foreignField: b, as: c}}]\n",
          NULL);
    built(DRAWN "    pipeline: [{$match: {_id: {$param: drawn}}}]\n", "5");
    built(QUERY "    find: {filter: {$expr: {$eq: [$out, 5]}}}\n", NULL);
}

/* The request that is built, to be examined. */
static void opened(const char *text, request_t *request) {
    err_t err = {.text = ""};
    if (!build(text, NULL, request, &err))
        fail_msg("%s\n%s", text, err.text);
}

TEST(fields) {
    static const struct {
        const char *yaml, *projection;
    } cases[] = {{"field: m", "{ \"_id\" : 0, \"m\" : 1 }"},
                 {"field: '5'", "{ \"_id\" : 0, \"5\" : 1 }"},
                 {"field: _id", "{ \"_id\" : 1 }"},
                 {"field: _id.x", "{ \"_id.x\" : 1 }"},
                 {"field: _idx", "{ \"_id\" : 0, \"_idx\" : 1 }"},
                 {"field: m, whole: yes", NULL}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        char text[200];
        request_t request;
        bson_iter_t at;
        snprintf(text, sizeof text, QUERY "    accumulate: {%s}\n", cases[i].yaml);
        opened(text, &request);
        const bool projects = bson_iter_init_find(&at, request.options, "projection");
        assert_int_equal(cases[i].projection != NULL, projects);
        if (projects) {
            char *json = json_of(&at);
            assert_string_equal(cases[i].projection, json);
            free(json);
        }
        request_free(&request);
    }
}

/* What a mapReduce sends: functions are code, whatever they look like, and the answer comes back. */
TEST(map_reduces) {
    static const struct {
        const char *yaml, *command;
    } cases[] = {
        {"{map: 'f()', reduce: '5'}",
         "{ \"mapReduce\" : \"c\", \"map\" : { \"$code\" : \"f()\" }, \"reduce\" : { \"$code\" : \"5\" }, "
         "\"out\" : { \"inline\" : 1 } }"},
        {"{map: m, reduce: r, limit: 7, jsMode: yes, query: {a: 1}}",
         "{ \"mapReduce\" : \"c\", \"map\" : { \"$code\" : \"m\" }, \"reduce\" : { \"$code\" : \"r\" }, "
         "\"limit\" : 7, \"jsMode\" : true, \"query\" : { \"a\" : 1 }, \"out\" : { \"inline\" : 1 } }"}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        char text[300];
        request_t request;
        snprintf(text, sizeof text, QUERY "    mapReduce: %s\n", cases[i].yaml);
        opened(text, &request);
        assert_int_equal(QUERY_MAP_REDUCE, request.kind);
        char *json = bson_as_relaxed_extended_json(request.body, NULL);
        assert_string_equal(cases[i].command, json);
        bson_free(json);
        request_free(&request);
    }
    refused(QUERY "    mapReduce: {map: m, reduce: r, limit: -1}\n", NULL, "is a whole number");
    refused(QUERY "    mapReduce: {map: m, reduce: r, query: 5}\n", NULL, "'query' is a map");
    refused(QUERY "    pipeline: []\n    options: {allowDiskUse: maybe}\n", NULL, "yes or no");
    refused(QUERY "    mapReduce: {map: m, reduce: r}\n    options: {batchSize: 5}\n", NULL,
            "'batchSize' is not known here");
}

/* Whole numbers are, and nothing is cut off. */
TEST(numbers) {
    static const char *const bad[] = {"1.9",
                                      "-1",
                                      "1e300",
                                      "NaN",
                                      "five",
                                      "'5'",
                                      "null",
                                      "1e19",
                                      "{a: 1}",
                                      "[1]",
                                      "{$numberDecimal: '1.5'}"};
    static const char *const good[] = {"5", "5.0", "{$numberDecimal: '5.0'}", "{$numberLong: 5}"};
    static const char *const places[] = {"    find: {limit: {$param: p}}\n",
                                         "    find: {skip: {$param: p}}\n",
                                         "    find: {}\n    options: {batchSize: {$param: p}}\n",
                                         "    pipeline: []\n    options: {maxTimeMS: {$param: p}}\n"};
    for (size_t place = 0; place < sizeof places / sizeof *places; place++) {
        char text[300];
        for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
            snprintf(text, sizeof text, "params: {p: %s}\n" QUERY "%s", bad[i], places[place]);
            refused(text, NULL, "is a whole number");
        }
        for (size_t i = 0; i < sizeof good / sizeof *good; i++) {
            request_t request;
            bson_iter_t at;
            snprintf(text, sizeof text, "params: {p: %s}\n" QUERY "%s", good[i], places[place]);
            opened(text, &request);
            static const char *const names[] = {"limit", "skip", "batchSize", "maxTimeMS"};
            assert_true(bson_iter_init_find(&at, request.options, names[place]));
            assert_int_equal(5, bson_iter_as_int64(&at));
            request_free(&request);
        }
    }
}

TEST(documents) {
    static const char *const bad[] = {
        "NaN", "-1", "-Infinity", "'5'", "null", "{$numberDecimal: '-1'}", "{$numberDecimal: '1e400'}"};
    static const struct {
        const char *yaml;
        double documents;
    } good[] = {{"5", 5}, {"1e300", 1e300}, {"0", 0}, {"{$numberDecimal: '7.0'}", 7}};
    char text[300];
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        snprintf(text, sizeof text, "params: {p: %s}\n" QUERY "    find: {}\n    documents: {$param: p}\n",
                 bad[i]);
        refused(text, NULL, "x.yaml:6:16: 'documents' is all, returned");
    }
    for (size_t i = 0; i < sizeof good / sizeof *good; i++) {
        request_t request;
        snprintf(text, sizeof text, "params: {p: %s}\n" QUERY "    find: {}\n    documents: {$param: p}\n",
                 good[i].yaml);
        opened(text, &request);
        assert_true(request.documents == good[i].documents);
        request_free(&request);
    }
}
