/* Suites: a mistake is reported with its place; a good one means the same each time it is read, and what it sends
 * is valid BSON. */
#include "query/suite/request.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void must(bool holds, const char *what, const char *said) {
    if (holds)
        return;
    fprintf(stderr, "fuzz_suite: %s: %s\n", what, said);
    abort();
}

/* All parameters of the suite, and of a query what it would be given, as far as that is known without a
 * server. */
static void fill_params(bson_t *params, const suite_t *suite, const query_t *query, err_t *err) {
    for (const yaml_item_t *item = suite->params ? suite->params->first : NULL; item; item = item->next)
        must(value_append(params, item->key, item, suite->tree, NULL, err), "a parameter that was checked",
             err->text);
    for (const yaml_item_t *item = query->each ? query->each->first : NULL; item; item = item->next)
        must(value_append(params, item->key, item->first, suite->tree, params, err), "a value of an each",
             err->text);
    for (size_t i = 0; suite_given(query, i); i++)
        bson_append_int32(params, suite_given(query, i), -1, 1);
}

static void fill_in(const suite_t *suite, const query_t *query) {
    const yaml_item_t *const nodes[] = {query->body, query->options, query->indexes, query->expect};
    err_t err = {.text = ""};
    bson_t params = BSON_INITIALIZER;
    fill_params(&params, suite, query, &err);
    for (size_t i = 0; i < sizeof nodes / sizeof *nodes; i++) {
        bson_t filled;
        char digest[EXPECTED_DIGEST];
        if (!nodes[i])
            continue;
        must(value_document(&filled, nodes[i], suite->tree, &params, &err), "filling in", err.text);
        must(bson_validate(&filled, BSON_VALIDATE_NONE, NULL), "valid BSON", query->name);
        expected_digest(&filled, digest);
        bson_destroy(&filled);
    }
    bson_destroy(&params);
}

/* As typed on a command line. */
static void open_typed(const uint8_t *data, size_t size) {
    err_t err = {.text = ""};
    unsigned long line = 0, column = 0;
    int used = 0;
    char *query = strndup((const char *)data, size);
    suite_t *suite = query && typed_query_is(query) ? suite_open(query, &err) : NULL;
    if (suite) {
        must(suite->query_count == 1, "one query", query);
        fill_in(suite, suite->queries);
    } else if (query && typed_query_is(query)) {
        must(err.status == STATUS_USAGE &&
                 sscanf(err.text, "the query:%lu:%lu: %n", &line, &column, &used) == 2 && err.text[used] &&
                 line && column && line + column <= strlen(query) + 2,
             "a place in what was typed, and words", err.text);
    }
    suite_close(suite);
    free(query);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    err_t err = {.text = ""}, again = {.text = ""};
    unsigned long line = 0, column = 0;
    int used = 0;
    open_typed(data, size);
    suite_t *suite = suite_parse((const char *)data, size, "fuzz.yaml", &err);
    if (!suite) {
        must(err.status == STATUS_USAGE, "status 1", err.text);
        must(sscanf(err.text, "fuzz.yaml:%lu:%lu: %n", &line, &column, &used) == 2 && used > 0 &&
                 err.text[used],
             "a place and words", err.text);
        must(!suite_parse((const char *)data, size, "fuzz.yaml", &again) && strcmp(err.text, again.text) == 0,
             "the same words again", again.text);
        return 0;
    }
    for (size_t i = 0; i < suite->query_count; i++)
        fill_in(suite, &suite->queries[i]);
    suite_close(suite);
    return 0;
}
