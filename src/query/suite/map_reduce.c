#include "query/suite/map_reduce.h"
#include "query/suite/ask.h"
#include "query/suite/numeric.h"
#include "server/bson_read.h"

#include <string.h>

#define COMPLAIN(at, ...) yaml_tree_complain(suite->tree, at, err, __VA_ARGS__)

static bool is_function(const char *name) {
    return strcmp(name, "map") == 0 || strcmp(name, "reduce") == 0 || strcmp(name, "finalize") == 0;
}

/* A function is text as it stands in the suite, whatever it looks like. */
static bool put_part(bson_t *command, const bson_iter_t *part, const suite_t *suite, const query_t *query,
                     err_t *err) {
    const char *name = bson_iter_key(part);
    const yaml_item_t *at = yaml_item_get(query->body, name);
    int64_t number;
    bool flag;
    if (is_function(name))
        return bson_append_code(command, name, -1, at->text);
    if (strcmp(name, "limit") == 0)
        return numeric_whole(part, &number) && number >= 0
                   ? bson_append_int64(command, name, -1, number)
                   : COMPLAIN(at, "'limit' is a whole number, 0 or more");
    if (strcmp(name, "jsMode") == 0)
        return yaml_tree_bool(suite->tree, at, &flag, err) && bson_append_bool(command, name, -1, flag);
    return BSON_ITER_HOLDS_DOCUMENT(part) ? bson_append_iter(command, name, -1, part)
                                          : COMPLAIN(at, "'%s' is a map", name);
}

static bool put_options(bson_t *command, const bson_t *options, const suite_t *suite, const query_t *query,
                        err_t *err) {
    bson_iter_t option;
    bson_iter_init(&option, options);
    while (bson_iter_next(&option)) {
        const char *name = bson_iter_key(&option);
        if (strcmp(name, "maxTimeMS") != 0 && strcmp(name, "collation") != 0 &&
            strcmp(name, "readConcern") != 0)
            return COMPLAIN(yaml_item_get(query->options, name), "a mapReduce has no '%s'", name);
        if (strcmp(name, "readConcern") != 0) /* goes along where it is sent */
            bson_append_iter(command, name, -1, &option);
    }
    return true;
}

bson_t *map_reduce_command(const char *collection, const bson_t *filled, const bson_t *options,
                           const suite_t *suite, const query_t *query, err_t *err) {
    bson_t *command = BCON_NEW("mapReduce", BCON_UTF8(collection)), out;
    bson_iter_t part;
    bool ok = bson_iter_init(&part, filled);
    while (ok && bson_iter_next(&part))
        ok = put_part(command, &part, suite, query, err);
    bson_append_document_begin(command, "out", -1, &out);
    bson_append_int32(&out, "inline", -1, 1);
    bson_append_document_end(command, &out);
    if (ok && put_options(command, options, suite, query, err))
        return command;
    bson_destroy(command);
    return NULL;
}

bool map_reduce_send(mongoc_client_t *client, const request_t *request, answer_t *answer,
                     bson_error_t *error) {
    bson_t reply, document;
    bson_iter_t results, at;
    const bool ok = ask_command(client, request, request->body, &reply, error);
    if (ok && bson_iter_init_find(&results, &reply, "results") && BSON_ITER_HOLDS_ARRAY(&results) &&
        bson_iter_recurse(&results, &at))
        while (bson_read_next(&at, &document))
            answer_take(answer, &document);
    bson_destroy(&reply);
    return ok;
}
