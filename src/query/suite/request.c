#include "query/suite/request.h"
#include "query/suite/accumulate.h"
#include "query/suite/aggregate.h"
#include "query/suite/map_reduce.h"
#include "query/suite/numeric.h"
#include "query/suite/reading.h"
#include "query/suite/value.h"
#include "server/bson_read.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define COMPLAIN(at, ...) yaml_tree_complain(suite->tree, at, err, __VA_ARGS__)

/* The source of a request as one document: the suite's map with parameters filled in. */
static bool fill_in(bson_t *filled, const suite_t *suite, const yaml_item_t *node, const bson_t *params,
                    err_t *err) {
    if (node)
        return value_document(filled, node, suite->tree, params, err);
    bson_init(filled);
    return true;
}

static bool set_prefs(request_t *request, const char *mode, const mongoc_read_prefs_t *usual,
                      const suite_t *suite, const yaml_item_t *at, err_t *err) {
    /* in the order of suite_read_modes */
    static const mongoc_read_mode_t modes[] = {MONGOC_READ_PRIMARY, MONGOC_READ_PRIMARY_PREFERRED,
                                               MONGOC_READ_SECONDARY, MONGOC_READ_SECONDARY_PREFERRED,
                                               MONGOC_READ_NEAREST};
    for (size_t i = 0; i < suite_read_mode_count; i++) {
        if (strcmp(suite_read_modes[i], mode) != 0)
            continue;
        /* the primary has no tags to choose by, and is never stale */
        request->prefs = usual && i ? mongoc_read_prefs_copy(usual) : mongoc_read_prefs_new(modes[i]);
        mongoc_read_prefs_set_mode(request->prefs, modes[i]);
        return true;
    }
    return COMPLAIN(
        at,
        "'%s' is not a read preference: primary, primaryPreferred, secondary, secondaryPreferred or "
        "nearest",
        mode);
}

/* The options of the suite in the driver's form. */
static bool set_options(request_t *request, const bson_t *filled, const suite_t *suite, const query_t *query,
                        const reads_t *reads, err_t *err) {
    bson_iter_t option;
    const char *mode = reads->mode;
    int64_t number;
    bool ok = bson_iter_init(&option, filled);
    while (ok && bson_iter_next(&option)) {
        const char *name = bson_iter_key(&option);
        const yaml_item_t *at = yaml_item_get(query->options, name);
        bson_t concern;
        if (strcmp(name, "readPreference") == 0) {
            if (!BSON_ITER_HOLDS_UTF8(&option))
                return COMPLAIN(at, "a read preference was expected here, such as secondary");
            if (!mode)
                mode = bson_iter_utf8(&option, NULL);
        } else if (strcmp(name, "batchSize") == 0 || strcmp(name, "maxTimeMS") == 0) {
            if (!numeric_whole(&option, &number) || number < 0 || number > INT32_MAX)
                return COMPLAIN(at, "'%s' is a whole number from 0 to %d", name, INT32_MAX);
            bson_append_int64(request->options, name, -1, number);
        } else if (strcmp(name, "allowDiskUse") == 0) {
            bool flag = bson_iter_as_bool(&option);
            if (!BSON_ITER_HOLDS_BOOL(&option) && !yaml_tree_bool(suite->tree, at, &flag, err))
                return false;
            bson_append_bool(request->options, name, -1, flag);
        } else if (strcmp(name, "readConcern") == 0) {
            ok = BSON_ITER_HOLDS_UTF8(&option) ||
                 COMPLAIN(at, "a read concern was expected here, such as majority");
            if (ok) {
                bson_append_document_begin(request->options, name, -1, &concern);
                bson_append_utf8(&concern, "level", -1, bson_iter_utf8(&option, NULL), -1);
                bson_append_document_end(request->options, &concern);
            }
        } else {
            bson_append_iter(request->options, name, -1, &option);
        }
    }
    return ok && (!mode || set_prefs(request, mode, reads->usual, suite,
                                     query->options ? query->options : query->at, err));
}

static bool is_in_id(const char *field) {
    return strcmp(field, "_id") == 0 || strncmp(field, "_id.", 4) == 0;
}

/* Each chunk is a find of its own, and skips what those before it have had: so all of them need one order, in which no
 * two documents are equal. The order on disk is one. */
static void set_one_order(request_t *request) {
    bson_t sort = BSON_INITIALIZER, stated, others;
    bson_iter_t at;
    if (bson_iter_init_find(&at, request->options, "sort") && bson_read_document(&at, &stated))
        bson_concat(&sort, &stated);
    if (!bson_iter_init_find(&at, &sort, "_id") && !bson_iter_init_find(&at, &sort, "$natural"))
        bson_append_int32(&sort, "_id", -1, 1);
    bson_init(&others);
    bson_copy_to_excluding_noinit(request->options, &others, "sort", NULL);
    bson_append_document(&others, "sort", -1, &sort);
    bson_destroy(request->options);
    request->options = bson_copy(&others);
    bson_destroy(&others);
    bson_destroy(&sort);
}

/* filter, projection, sort, limit, skip: the filter becomes the body, the others become options. */
static bool set_find(request_t *request, const bson_t *filled, const suite_t *suite, const query_t *query,
                     err_t *err) {
    bson_iter_t part;
    int64_t number;
    const yaml_item_t *node = yaml_item_get(query->body, "whole");
    bool whole = false;
    if (node && !yaml_tree_bool(suite->tree, node, &whole, err))
        return false;
    if ((node = yaml_item_get(query->body, "list")) &&
        !yaml_tree_bool(suite->tree, node, &request->keeps, err))
        return false;
    bson_iter_init(&part, filled);
    while (bson_iter_next(&part)) {
        const char *name = bson_iter_key(&part);
        bool document = BSON_ITER_HOLDS_DOCUMENT(&part);
        const yaml_item_t *at = yaml_item_get(query->body, name);
        if (strcmp(name, "filter") == 0) {
            bson_t filter;
            if (!bson_read_document(&part, &filter))
                return COMPLAIN(at, "a filter is a map");
            bson_destroy(request->body);
            request->body = bson_copy(&filter);
        } else if (strcmp(name, "field") == 0) {
            request->field = strdup(at->text); /* always text, whatever it looks like */
            if (!request->field)
                return err_memory(err, at->length);
        } else if (strcmp(name, "limit") == 0 || strcmp(name, "skip") == 0) {
            if (!numeric_whole(&part, &number) || number < 0)
                return COMPLAIN(at, "'%s' is a whole number, 0 or more", name);
            bson_append_int64(request->options, name, -1, number);
            if (strcmp(name, "limit") == 0)
                request->limit = number;
        } else if (strcmp(name, "chunk") == 0) {
            if (!numeric_whole(&part, &number) || number < 1)
                return COMPLAIN(at, "'chunk' is a whole number, 1 or more");
            request->chunk = number;
        } else if (strcmp(name, "projection") == 0 || strcmp(name, "sort") == 0) {
            if (!document)
                return COMPLAIN(at, "'%s' is a map", name);
            bson_append_iter(request->options, name, -1, &part);
        }
    }
    if (request->chunk && !request->limit) /* for a server 0 is no limit, and then chunks would have no end */
        return COMPLAIN(yaml_item_get(query->body, "limit"),
                        "with 'chunk' the limit is 1 or more: how many documents in all");
    if (query->kind == QUERY_ACCUMULATE && !whole) {
        bson_t projection;
        bson_append_document_begin(request->options, "projection", -1, &projection);
        if (!is_in_id(request->field))
            bson_append_int32(&projection, "_id", -1, 0);
        bson_append_int32(&projection, request->field, -1, 1);
        bson_append_document_end(request->options, &projection);
    }
    if (request->chunk)
        set_one_order(request);
    return true;
}

static bool set_documents(request_t *request, const suite_t *suite, const query_t *query,
                          const bson_t *params, err_t *err) {
    const yaml_item_t *node = query->documents;
    bson_t holder = BSON_INITIALIZER;
    bson_iter_t value;
    request->documents = query->kind == QUERY_PIPELINE || query->kind == QUERY_MAP_REDUCE ? INFINITY : NAN;
    if (!node || (node->kind == YAML_ITEM_SCALAR && strcmp(node->text, "all") == 0)) {
        request->documents = node ? INFINITY : request->documents;
        return true;
    }
    if (node->kind == YAML_ITEM_SCALAR && strcmp(node->text, "returned") == 0) {
        request->documents = NAN;
        return true;
    }
    if (node->kind == YAML_ITEM_SCALAR && strcmp(node->text, "unknown") == 0) {
        request->documents = -1;
        return true;
    }
    bool ok = value_append(&holder, "v", node, suite->tree, params, err) &&
              bson_iter_init_find(&value, &holder, "v") &&
              ((numeric_double(&value, &request->documents) && request->documents >= 0 &&
                isfinite(request->documents)) ||
               COMPLAIN(node, "'documents' is a number, 0 or more"));
    bson_destroy(&holder);
    return ok;
}

bool request_build(request_t *request, const suite_t *suite, const query_t *query, const char *database,
                   const char *collection, const bson_t *params, const reads_t *reads, err_t *err) {
    bson_t body, options;
    *request = (request_t){.kind = query->kind};
    request->body = bson_new();
    request->options = bson_new();
    request->database = strdup(database);
    request->collection = strdup(query->collection ? query->collection : collection);
    if (!request->database || !request->collection)
        return err_memory(err, 256);
    if (!suite_fill(&body, suite, query, params, err)) {
        bson_destroy(&body);
        return false;
    }
    bool ok = fill_in(&options, suite, query->options, params, err) &&
              set_options(request, &options, suite, query, reads, err) &&
              set_documents(request, suite, query, params, err);
    if (ok && query->kind == QUERY_PIPELINE) {
        bson_destroy(request->body);
        request->body = bson_copy(&body);
        ok = reading_check(request->body, true, suite->tree, query->body, err);
    } else if (ok && query->kind == QUERY_MAP_REDUCE) {
        bson_destroy(request->body);
        request->body = map_reduce_command(request->collection, &body, request->options, suite, query, err);
        ok = request->body != NULL;
    } else if (ok) {
        ok = set_find(request, &body, suite, query, err);
    }
    bson_destroy(&body);
    bson_destroy(&options);
    return ok;
}

void request_free(request_t *request) {
    if (!request->database && !request->collection)
        return;
    bson_destroy(request->body);
    bson_destroy(request->options);
    mongoc_read_prefs_destroy(request->prefs);
    free(request->database);
    free(request->collection);
    free(request->field);
    *request = (request_t){.kind = QUERY_FIND};
}

/* ---- sending ---- */

static void find(const request_t *request, const bson_t *options, mongoc_client_t *client,
                 command_cursor_t *cursor) {
    command_cursor_find(cursor, client, request->database, request->collection, request->body, options,
                        request->prefs);
}

static bool read_sums(const request_t *request, const bson_t *options, mongoc_client_t *client,
                      accumulate_t *sums, bson_error_t *error) {
    command_cursor_t cursor;
    const bson_t *document, *reply;
    bson_error_t late;
    bool cut_off = false;
    find(request, options, client, &cursor);
    while (!cut_off && command_cursor_next(&cursor, &document)) {
        accumulate_take(sums, document);
        cut_off = answer_cut_off(&cursor, error);
    }
    const bool ok = !command_cursor_failed(&cursor, cut_off ? &late : error, &reply) && !cut_off;
    command_cursor_end(&cursor);
    return ok;
}

/* One chunk after the other, each a find of its own, until all have come or there are no more. */
static bool read_chunks(const request_t *request, mongoc_client_t *client, accumulate_t *sums,
                        bson_error_t *error) {
    bool ok = true;
    for (int64_t from = 0; ok && from < request->limit && sums->documents == (uint64_t)from;) {
        const int64_t left = request->limit - from, size = left < request->chunk ? left : request->chunk;
        bson_t options = BSON_INITIALIZER;
        bson_copy_to_excluding_noinit(request->options, &options, "limit", NULL);
        bson_append_int64(&options, "skip", -1, from);
        bson_append_int64(&options, "limit", -1, size);
        ok = read_sums(request, &options, client, sums, error);
        bson_destroy(&options);
        from += size;
    }
    return ok;
}

static bool send_accumulate(const request_t *request, mongoc_client_t *client, answer_t *answer,
                            bson_error_t *error) {
    accumulate_t sums;
    bson_t result;
    accumulate_begin(&sums, request->field, request->keeps);
    const bool ok = request->chunk ? read_chunks(request, client, &sums, error)
                                   : read_sums(request, request->options, client, &sums, error);
    accumulate_result(&sums, &result);
    answer_take(answer, &result);
    bson_destroy(&result);
    answer->count = sums.documents;
    return ok;
}

bool request_send(const request_t *request, mongoc_client_t *client, answer_t *answer, bson_error_t *error) {
    command_cursor_t cursor;
    if (request->kind == QUERY_MAP_REDUCE)
        return map_reduce_send(client, request, answer, error);
    if (request->kind == QUERY_ACCUMULATE)
        return send_accumulate(request, client, answer, error);
    if (request->kind == QUERY_PIPELINE)
        aggregate_begin(&cursor, client, request->database, request->collection, request->body,
                        request->options, request->prefs);
    else
        find(request, request->options, client, &cursor);
    return answer_read(answer, &cursor, error);
}
