/* Requests: a suite is made of the input, with stages that read, write or are unknown hidden wherever a stage may be:
 * in pipelines of pipelines, in parameters, in values of an each, in what is drawn. Nothing crashes, a mistake is told
 * with its place, what only reads is built, and in what is built there is no stage of the others: nothing else in these
 * suites has their names, so their names are not in it at all. */
#include "query/suite/request.h"
#include "query/suite/value.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static const char *const BAD[] = {"$out", "$merge", "$unheardOf", "$changeStream"};
enum { ROOM = 1 << 14, DEEPEST = 4, NAMES = 4 };

typedef struct {
    const uint8_t *data;
    size_t left;
    char text[ROOM];
    size_t used;
    bool bad; /* a stage that is none of those that read was made */
    bool odd; /* or something else that need not be taken */
} maker_t;

static void must(bool holds, const char *what, const char *said) {
    if (holds)
        return;
    fprintf(stderr, "fuzz_request: %s: %s\n", what, said);
    abort();
}

static size_t pick(maker_t *maker, size_t of) {
    if (!maker->left)
        return 0;
    maker->left--;
    return *maker->data++ % of;
}

static void __attribute__((format(printf, 2, 3))) put(maker_t *maker, const char *fmt, ...) {
    va_list args;
    va_start(args, fmt);
    const int length = vsnprintf(maker->text + maker->used, ROOM - maker->used, fmt, args);
    va_end(args);
    maker->used += (size_t)length;
    if (maker->used >= ROOM - 1)
        maker->used = ROOM - 1;
}

/* ---- stages ---- */

static void put_stage(maker_t *maker, int depth, bool params);

static void put_list(maker_t *maker, int depth, bool params) {
    const size_t count = pick(maker, 4);
    put(maker, "[");
    for (size_t i = 0; i < count; i++) {
        put(maker, i ? ", " : "");
        put_stage(maker, depth + 1, params);
    }
    put(maker, "]");
}

static void put_bad(maker_t *maker) {
    maker->bad = true;
    switch (pick(maker, 3)) {
    case 0:
        put(maker, "{%s: t}", BAD[pick(maker, 4)]);
        break;
    case 1:
        put(maker, "{%s: {into: t}}", BAD[pick(maker, 4)]);
        break;
    default:
        put(maker, "{$match: {}, %s: t}", BAD[pick(maker, 4)]);
    }
}

/* One that reads, one that does not, a parameter, or one with pipelines of its own. */
static void put_stage(maker_t *maker, int depth, bool params) {
    static const char *const plain[] = {"{$match: {a: 1}}", "{$limit: 5}",     "{$count: n}",
                                        "{$sort: {a: 1}}",  "{$unionWith: t}", "{$group: {_id: $a}}",
                                        "{$unwind: $a}"};
    const size_t kind = depth >= DEEPEST ? pick(maker, 3) : pick(maker, 8);
    if (kind == 1 && params) {
        put(maker, "{$param: stage%zu}", pick(maker, NAMES));
    } else if (kind == 2 && !pick(maker, 4)) {
        put_bad(maker);
    } else if (kind < 4) {
        put(maker, "%s", plain[pick(maker, 7)]);
    } else {
        const bool list = params && !pick(maker, 5);
        put(maker, "%s",
            kind == 4   ? "{$facet: {x: "
            : kind == 5 ? "{$lookup: {from: t, as: x, pipeline: "
            : kind == 6 ? "{$unionWith: {coll: t, pipeline: "
                        : "{$facet: {x: [], y: ");
        if (list)
            put(maker, "{$param: list}");
        else
            put_list(maker, depth, params);
        put(maker, "}}");
    }
}

/* ---- suites ---- */

static void put_value(maker_t *maker) {
    static const char *const values[] = {"5",
                                         "0",
                                         "1.9",
                                         "-1",
                                         "1e300",
                                         ".nan",
                                         "text",
                                         "'5'",
                                         "[1, 2]",
                                         "null",
                                         "{a: 1}",
                                         "yes",
                                         "{$numberDecimal: '2.0'}"};
    const size_t which = pick(maker, sizeof values / sizeof *values);
    maker->odd = maker->odd || which > 1;
    put(maker, "%s", values[which]);
}

static void put_suite(maker_t *maker, bool drawn) {
    put(maker, "suite: s\nparams:\n  list: ");
    put_list(maker, 1, false);
    for (int i = 0; i < NAMES - 1; i++) {
        put(maker, "\n  stage%d: ", i);
        put_stage(maker, 1, false);
    }
    if (!drawn) {
        put(maker, "\n  stage%d: ", NAMES - 1);
        put_stage(maker, 1, false);
    }
    put(maker, "\nqueries:\n  - name: q\n");
    if (drawn) {
        put(maker, "    draw: {gives: [stage%d], pipeline: ", NAMES - 1);
        put_list(maker, 0, false);
        put(maker, "}\n");
    }
    if (pick(maker, 4)) {
        put(maker, "    pipeline: ");
        put_list(maker, 0, true);
    } else {
        put(maker, "    find: {filter: {a: {$param: stage0}}, limit: ");
        put_value(maker);
        put(maker, "}");
    }
    if (!pick(maker, 3)) {
        put(maker, "\n    documents: {$numberDouble: ");
        put(maker, "%s", pick(maker, 2) ? "NaN" : "7");
        put(maker, "}");
        maker->odd = true;
    }
    if (!pick(maker, 3)) {
        put(maker, "\n    options: {batchSize: ");
        put_value(maker);
        put(maker, ", maxTimeMS: ");
        put_value(maker);
        put(maker, "}");
    }
    put(maker, "\n");
}

/* ---- what becomes of them ---- */

static void has_place(const err_t *err) {
    unsigned long line = 0, column = 0;
    int used = 0;
    must(err->status == STATUS_USAGE, "status 1", err->text);
    must(sscanf(err->text, "fuzz.yaml:%lu:%lu: %n", &line, &column, &used) == 2 && used > 0 &&
             err->text[used],
         "a place and words", err->text);
}

static void look(const request_t *request, const maker_t *maker) {
    must(bson_validate(request->body, BSON_VALIDATE_NONE, NULL), "a body that is BSON", maker->text);
    must(bson_validate(request->options, BSON_VALIDATE_NONE, NULL), "options that are BSON", maker->text);
    char *json = bson_as_canonical_extended_json(request->body, NULL);
    for (size_t i = 0; request->kind == QUERY_PIPELINE && i < sizeof BAD / sizeof *BAD; i++)
        must(!json || !strstr(json, BAD[i]), "a stage that does not only read was built", maker->text);
    must(!(request->documents < 0), "documents are none or some", maker->text);
    bson_free(json);
}

static void build(maker_t *maker, const suite_t *suite, bool drawn) {
    static const reads_t reads = {NULL, NULL};
    err_t err = {.text = ""};
    bson_t params = BSON_INITIALIZER;
    request_t request;
    for (const yaml_item_t *item = suite->params->first; item; item = item->next)
        must(value_append(&params, item->key, item, suite->tree, NULL, &err), "a parameter", err.text);
    if (drawn) { /* what a server would send */
        char name[16];
        maker_t stage = {.data = maker->data, .left = maker->left};
        put_stage(&stage, 1, false);
        snprintf(name, sizeof name, "stage%d", NAMES - 1);
        must(value_parse(&params, name, stage.text, &err), "what is drawn", err.text);
        maker->bad = maker->bad || stage.bad;
    }
    if (request_build(&request, suite, suite->queries, "db", "c", &params, &reads, &err)) {
        look(&request, maker);
    } else {
        has_place(&err);
        must(maker->bad || maker->odd, "what only reads is built", err.text);
    }
    request_free(&request);
    bson_destroy(&params);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    maker_t *maker = calloc(1, sizeof *maker);
    err_t err = {.text = ""};
    maker->data = data;
    maker->left = size;
    const bool drawn = pick(maker, 2);
    put_suite(maker, drawn);
    suite_t *suite = maker->used < ROOM - 1 ? suite_parse(maker->text, maker->used, "fuzz.yaml", &err) : NULL;
    if (suite) {
        build(maker, suite, drawn);
    } else if (maker->used < ROOM - 1) {
        has_place(&err);
        must(maker->bad || maker->odd, "what only reads is taken", err.text);
    }
    suite_close(suite);
    free(maker);
    return 0;
}
