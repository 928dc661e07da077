#include "query/suite/request.h"
#include "query/suite/value.h"
#include "server/bson_read.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define COMPLAIN(at, ...) yaml_tree_complain(suite->tree, at, err, __VA_ARGS__)

/* ---- a pipeline that only reads ---- */

/* Where a stage contains pipelines. */
typedef enum { NOWHERE, IN_PIPELINE, IN_EACH } inside_t;

static const struct {
    const char *name;
    inside_t inside;
} stages[] = {
    {"$addFields", NOWHERE},  {"$bucket", NOWHERE},          {"$bucketAuto", NOWHERE},
    {"$collStats", NOWHERE},  {"$count", NOWHERE},           {"$densify", NOWHERE},
    {"$documents", NOWHERE},  {"$facet", IN_EACH},           {"$fill", NOWHERE},
    {"$geoNear", NOWHERE},    {"$graphLookup", NOWHERE},     {"$group", NOWHERE},
    {"$indexStats", NOWHERE}, {"$limit", NOWHERE},           {"$lookup", IN_PIPELINE},
    {"$match", NOWHERE},      {"$planCacheStats", NOWHERE},  {"$project", NOWHERE},
    {"$redact", NOWHERE},     {"$replaceRoot", NOWHERE},     {"$replaceWith", NOWHERE},
    {"$sample", NOWHERE},     {"$search", NOWHERE},          {"$searchMeta", NOWHERE},
    {"$set", NOWHERE},        {"$setWindowFields", NOWHERE}, {"$skip", NOWHERE},
    {"$sort", NOWHERE},       {"$sortByCount", NOWHERE},     {"$unionWith", IN_PIPELINE},
    {"$unset", NOWHERE},      {"$unwind", NOWHERE},          {"$vectorSearch", NOWHERE},
};

enum { DEEPEST = 32, WHY = 400 };

typedef struct {
    bool known;
    char why[WHY];
} look_t;

static bool __attribute__((format(printf, 2, 3))) refuse(look_t *look, const char *fmt, ...) {
    va_list args;
    va_start(args, fmt);
    vsnprintf(look->why, sizeof look->why, fmt, args);
    va_end(args);
    return false;
}

static bool is_unknown(const look_t *look, const bson_iter_t *at) {
    return !look->known && BSON_ITER_HOLDS_NULL(at);
}

static bool look_at_pipeline(look_t *look, const bson_iter_t *at, int depth);

static bool look_inside(look_t *look, const bson_iter_t *stage, inside_t inside, int depth) {
    bson_iter_t field;
    if (BSON_ITER_HOLDS_ARRAY(stage))
        return refuse(look, "%s has a map", bson_iter_key(stage));
    if (!BSON_ITER_HOLDS_DOCUMENT(stage)) /* {$unionWith: NAME} */
        return true;
    bson_iter_recurse(stage, &field);
    while (bson_iter_next(&field))
        if ((inside == IN_EACH || strcmp(bson_iter_key(&field), "pipeline") == 0) &&
            !look_at_pipeline(look, &field, depth + 1))
            return false;
    return true;
}

static bool look_at_stage(look_t *look, const bson_iter_t *at, int depth) {
    bson_iter_t stage, other;
    if (is_unknown(look, at))
        return true;
    bool one = BSON_ITER_HOLDS_DOCUMENT(at) && bson_iter_recurse(at, &stage) && bson_iter_next(&stage);
    if (one) {
        other = stage;
        one = bson_iter_key(&stage)[0] == '$' && !bson_iter_next(&other);
    }
    if (!one)
        return refuse(look, "a stage is a map with one key, such as {$match: {...}}");
    const char *name = bson_iter_key(&stage);
    for (size_t i = 0; i < sizeof stages / sizeof *stages; i++)
        if (strcmp(stages[i].name, name) == 0)
            return stages[i].inside == NOWHERE || look_inside(look, &stage, stages[i].inside, depth);
    if (strcmp(name, "$out") == 0 || strcmp(name, "$merge") == 0)
        return refuse(look, "a timed query does not write; leave %s out", name);
    return refuse(look,
                  "'%.60s' is not among the stages that are known to read only, and a timed query does not "
                  "write; leave it out",
                  name);
}

static bool look_at_pipeline(look_t *look, const bson_iter_t *at, int depth) {
    bson_iter_t stage;
    if (is_unknown(look, at))
        return true;
    if (depth > DEEPEST)
        return refuse(look, "more than %d pipelines in each other", DEEPEST);
    if (!BSON_ITER_HOLDS_ARRAY(at))
        return refuse(look, "'%.60s' is a pipeline here: a list of stages", bson_iter_key(at));
    bson_iter_recurse(at, &stage);
    while (bson_iter_next(&stage))
        if (!look_at_stage(look, &stage, depth))
            return false;
    return true;
}

bool reading_check(const bson_t *pipeline, bool known, const yaml_tree_t *tree, const yaml_item_t *list,
                   err_t *err) {
    look_t look = {.known = known};
    bson_iter_t stage;
    const yaml_item_t *node = list->first;
    bool ok = bson_iter_init(&stage, pipeline);
    while (ok && bson_iter_next(&stage)) {
        if (!look_at_stage(&look, &stage, 0))
            return yaml_tree_complain(tree, node ? node : list, err, "%s", look.why);
        node = node ? node->next : NULL;
    }
    return ok || yaml_tree_complain(tree, list, err, "a list of stages was expected here");
}

/* ---- a mapReduce ---- */

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

static bson_t *map_reduce_command(const char *collection, const bson_t *filled, const bson_t *options,
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

/* ---- a request ---- */

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

void request_limit(request_t *request, uint64_t most) {
    bson_t stage = BSON_INITIALIZER, options = BSON_INITIALIZER;
    if (request->kind == QUERY_PIPELINE) {
        char key[16];
        snprintf(key, sizeof key, "%u", bson_count_keys(request->body));
        BSON_APPEND_INT64(&stage, "$limit", (int64_t)most);
        BSON_APPEND_DOCUMENT(request->body, key, &stage);
    } else if (request->kind == QUERY_FIND) {
        bson_copy_to_excluding_noinit(request->options, &options, "limit", NULL);
        BSON_APPEND_INT64(&options, "limit", (int64_t)most);
        bson_destroy(request->options);
        request->options = bson_copy(&options);
    }
    bson_destroy(&stage);
    bson_destroy(&options);
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
