/* Requests: built of a query and its parameters, once before anything is measured, and once with unknown parameters when a
 * suite is opened. */
#include "query/suite/request.h"
#include "base/text.h"
#include "server/bson_read.h"
#include "server/collection.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define REFUSE(at, ...) yaml_tree_complain(tree, at, err, __VA_ARGS__)

/* ---- a pipeline that only reads ---- */

static const char *const stages[] = {
    "$addFields",  "$bucket",          "$bucketAuto",  "$collStats", "$count",          "$densify",
    "$documents",  "$facet",           "$fill",        "$geoNear",   "$graphLookup",    "$group",
    "$indexStats", "$limit",           "$lookup",      "$match",     "$planCacheStats", "$project",
    "$redact",     "$replaceRoot",     "$replaceWith", "$sample",    "$search",         "$searchMeta",
    "$set",        "$setWindowFields", "$skip",        "$sort",      "$sortByCount",    "$unionWith",
    "$unset",      "$unwind",          "$vectorSearch"};

typedef struct {
    const yaml_tree_t *tree;
    const yaml_item_t *stage; /* the one of the suite that is checked */
    err_t *err;
} check_t;

#define COMPLAIN(...) yaml_tree_complain(check->tree, check->stage, check->err, __VA_ARGS__)

static bool is_listed(const char *name) {
    for (size_t i = 0; i < COUNT(stages); i++)
        if (strcmp(stages[i], name) == 0)
            return true;
    return false;
}

static bool check_stage(const check_t *check, const bson_iter_t *at);

static bool check_pipeline(const check_t *check, const bson_iter_t *list) {
    bson_iter_t stage;
    if (BSON_ITER_HOLDS_UNDEFINED(list))
        return true;
    if (!BSON_ITER_HOLDS_ARRAY(list))
        return COMPLAIN("'%.60s' is a pipeline here: a list of stages", bson_iter_key(list));
    bson_iter_recurse(list, &stage);
    while (bson_iter_next(&stage))
        if (!check_stage(check, &stage))
            return false;
    return true;
}

/* The pipelines inside a stage are all fields of $facet, and `pipeline` of $lookup and $unionWith. */
static bool check_stage(const check_t *check, const bson_iter_t *at) {
    bson_iter_t stage, other, field;
    if (BSON_ITER_HOLDS_UNDEFINED(at))
        return true;
    bool one = BSON_ITER_HOLDS_DOCUMENT(at) && bson_iter_recurse(at, &stage) && bson_iter_next(&stage);
    if (one) {
        other = stage;
        one = bson_iter_key(&stage)[0] == '$' && !bson_iter_next(&other);
    }
    if (!one)
        return COMPLAIN("a stage is a map with one key, such as {$match: {...}}");
    const char *const name = bson_iter_key(&stage);
    if (!is_listed(name))
        return COMPLAIN("'%.60s' is not among the stages that are known to read only, and a timed query does "
                        "not write; leave it out",
                        name);
    const bool facet = strcmp(name, "$facet") == 0;
    if (!facet && strcmp(name, "$lookup") != 0 && strcmp(name, "$unionWith") != 0)
        return true;
    for (bool more = bson_iter_recurse(&stage, &field); more && bson_iter_next(&field);)
        if ((facet || strcmp(bson_iter_key(&field), "pipeline") == 0) && !check_pipeline(check, &field))
            return false;
    return true;
}

bool reading_check(const bson_t *pipeline, const yaml_tree_t *tree, const yaml_item_t *list, err_t *err) {
    check_t check = {tree, list->first, err};
    bson_iter_t stage;
    for (bool more = bson_iter_init(&stage, pipeline); more && bson_iter_next(&stage);) {
        if (!check_stage(&check, &stage))
            return false;
        check.stage = check.stage->next;
    }
    return true;
}

/* ---- the parts of a query ---- */

typedef enum { ANY, MAP, TEXT, WHOLE, FLAG, CODE, LEVEL, DIGEST } part_kind_t;

static const char *const forms[] = {[MAP] = "a map",
                                    [TEXT] = "a text",
                                    [WHOLE] = "a whole number, 0 or more",
                                    [CODE] = "a text, in quotes or after '|'",
                                    [LEVEL] = "a level, such as majority",
                                    [DIGEST] = "a text of 32 hexadecimal digits, in quotes"};

/* Whose parts they are. */
enum {
    FIND = 1 << QUERY_FIND,
    SUMS = 1 << QUERY_ACCUMULATE,
    REDUCE = 1 << QUERY_MAP_REDUCE,
    OPTION = 1 << 4,
    REDUCE_OPTION = 1 << 5,
    EXPECT = 1 << 6,
    INDEX = 1 << 7,
    NEEDED = 1 << 8,
};

static const struct {
    const char *key;
    int of;
    part_kind_t kind;
} parts[] = {
    {"field", SUMS | NEEDED, TEXT},
    {"filter", FIND | SUMS, MAP},
    {"projection", FIND, MAP},
    {"map", REDUCE | NEEDED, CODE},
    {"reduce", REDUCE | NEEDED, CODE},
    {"finalize", REDUCE, CODE},
    {"query", REDUCE, MAP},
    {"sort", FIND | SUMS | REDUCE, MAP},
    {"limit", FIND | SUMS | REDUCE, WHOLE},
    {"skip", FIND | SUMS, WHOLE},
    {"whole", SUMS, FLAG},
    {"list", SUMS, FLAG},
    {"scope", REDUCE, MAP},
    {"jsMode", REDUCE, FLAG},
    {"allowDiskUse", OPTION, FLAG},
    {"hint", OPTION, ANY},
    {"let", OPTION, MAP},
    {"batchSize", OPTION, WHOLE},
    {"maxTimeMS", OPTION | REDUCE_OPTION, WHOLE},
    {"readConcern", OPTION | REDUCE_OPTION, LEVEL},
    {"collation", OPTION | REDUCE_OPTION | INDEX, MAP},
    {"documents", EXPECT, WHOLE},
    {"digest", EXPECT, DIGEST},
    {"key", INDEX | NEEDED, MAP},
    {"name", INDEX, TEXT},
    {"unique", INDEX, FLAG},
    {"sparse", INDEX, FLAG},
    {"hidden", INDEX, FLAG},
    {"partialFilterExpression", INDEX, MAP},
    {"wildcardProjection", INDEX, MAP},
    {"weights", INDEX, MAP},
    {"default_language", INDEX, TEXT},
    {"language_override", INDEX, TEXT},
};

static bool is_digest(const char *text) {
    return text && strlen(text) == EXPECTED_DIGEST - 1 &&
           strspn(text, "0123456789abcdef") == EXPECTED_DIGEST - 1;
}

static bool put_part(bson_t *to, const bson_iter_t *part, part_kind_t kind, const yaml_tree_t *tree,
                     const yaml_item_t *node, err_t *err) {
    const char *const key = bson_iter_key(part), *const text = BSON_ITER_HOLDS_UTF8(part)
                                                                   ? bson_iter_utf8(part, NULL)
                                                                   : NULL;
    int64_t number;
    bool flag = BSON_ITER_HOLDS_BOOL(part) && bson_iter_bool(part);
    if (kind == ANY || BSON_ITER_HOLDS_UNDEFINED(part) || (kind == MAP && BSON_ITER_HOLDS_DOCUMENT(part)) ||
        (kind == TEXT && text && *text) || (kind == DIGEST && is_digest(text)))
        return bson_append_iter(to, NULL, 0, part);
    if (kind == FLAG)
        return (BSON_ITER_HOLDS_BOOL(part) || yaml_tree_bool(tree, node, &flag, err)) &&
               bson_append_bool(to, key, -1, flag);
    if (kind == WHOLE && numeric_whole(part, &number) && number >= 0)
        return bson_append_int64(to, key, -1, number);
    if (kind == CODE && text)
        return bson_append_code(to, key, -1, text);
    if (kind == LEVEL && text) {
        BCON_APPEND(to, key, "{", "level", BCON_UTF8(text), "}");
        return true;
    }
    return REFUSE(node, "'%s' is %s", key, forms[kind]);
}

/* Appends each part of a map in the form that the server gets. */
static bool take_parts(bson_t *to, const yaml_tree_t *tree, const yaml_item_t *map, int of,
                       const bson_t *params, err_t *err) {
    const char *keys[COUNT(parts)];
    part_kind_t kinds[COUNT(parts)];
    size_t count = 0;
    bson_t filled;
    bson_iter_t at;
    if (map->kind != YAML_ITEM_MAP)
        return REFUSE(map, "a map was expected here");
    for (size_t i = 0; i < COUNT(parts); i++) {
        if (!(parts[i].of & of))
            continue;
        keys[count] = parts[i].key;
        kinds[count++] = parts[i].kind;
    }
    if (!suite_check_keys(tree, map, keys, count, err))
        return false;
    for (size_t i = 0; i < COUNT(parts); i++)
        if (parts[i].of & of && parts[i].of & NEEDED && !yaml_item_get(map, parts[i].key))
            return REFUSE(map, "'%s' is missing", parts[i].key);
    bool ok = value_document(&filled, map, tree, params, err);
    for (bool more = ok && bson_iter_init(&at, &filled); more && ok && bson_iter_next(&at);) {
        size_t i = 0;
        while (strcmp(keys[i], bson_iter_key(&at)) != 0)
            i++;
        ok = put_part(to, &at, kinds[i], tree, yaml_item_get(map, keys[i]), err);
    }
    bson_destroy(&filled);
    return ok;
}

bool expected_fill(bson_t *filled, const suite_t *suite, const query_t *query, const bson_t *params,
                   err_t *err) {
    bson_init(filled);
    return take_parts(filled, suite->tree, query->expect, EXPECT, params, err) &&
           (!bson_empty(filled) || yaml_tree_complain(suite->tree, query->expect, err,
                                                      "nothing is expected here: 'documents' or 'digest' is "
                                                      "missing"));
}

/* A server takes longer names than drivers and older servers can list. */
bool suite_read_index(const yaml_tree_t *tree, const yaml_item_t *node, bson_t *index, err_t *err) {
    char name[COLLECTION_INDEX_NAME];
    bson_t key;
    bson_init(index);
    if (!take_parts(index, tree, node, INDEX, NULL, err))
        return false;
    const size_t length = bson_read_field(index, "key", &key) ? collection_name_index(&key, name) : 0;
    if (!length)
        return REFUSE(node, "an index is written like {key: {ts: 1, st: 1}}");
    return *bson_read_text(index, "name") || length < sizeof name ||
           REFUSE(node,
                  "by its keys this index would have a name of more than %zu bytes: give it a shorter one, "
                  "{key: ..., name: NAME}",
                  sizeof name - 1);
}

/* ---- a request ---- */

const char *const suite_read_modes[] = {"primary", "primaryPreferred", "secondary", "secondaryPreferred",
                                        "nearest"};
const size_t suite_read_mode_count = COUNT(suite_read_modes);

static void set_prefs(request_t *request, const reads_t *reads) {
    static const mongoc_read_mode_t modes[] = {MONGOC_READ_PRIMARY, MONGOC_READ_PRIMARY_PREFERRED,
                                               MONGOC_READ_SECONDARY, MONGOC_READ_SECONDARY_PREFERRED,
                                               MONGOC_READ_NEAREST};
    for (size_t i = 0; reads->mode && i < suite_read_mode_count; i++) {
        if (strcmp(suite_read_modes[i], reads->mode) != 0)
            continue;
        /* the primary has no tags to choose by, and is never stale */
        request->prefs =
            reads->usual && i ? mongoc_read_prefs_copy(reads->usual) : mongoc_read_prefs_new(modes[i]);
        mongoc_read_prefs_set_mode(request->prefs, modes[i]);
    }
}

/* What the driver sends of a mapReduce, whose answer comes back and is stored nowhere. */
static bool set_map_reduce(request_t *request, const yaml_tree_t *tree, const query_t *query,
                           const bson_t *params, err_t *err) {
    bson_t *const command = request->body;
    bson_append_utf8(command, "mapReduce", -1, request->collection, -1);
    if (!take_parts(command, tree, query->body, REDUCE, params, err))
        return false;
    BCON_APPEND(command, "out", "{", "inline", BCON_INT32(1), "}");
    bson_copy_to_excluding_noinit(request->options, command, "readConcern", NULL);
    return true;
}

static bool is_in_id(const char *field) {
    return strcmp(field, "_id") == 0 || strncmp(field, "_id.", 4) == 0;
}

/* The one field alone. */
static void set_projection(request_t *request) {
    bson_t projection;
    bson_append_document_begin(request->options, "projection", -1, &projection);
    if (!is_in_id(request->field))
        bson_append_int32(&projection, "_id", -1, 0);
    bson_append_int32(&projection, request->field, -1, 1);
    bson_append_document_end(request->options, &projection);
}

/* The filter becomes the body, and what a server knows becomes options. */
static bool set_find(request_t *request, const yaml_tree_t *tree, const query_t *query, const bson_t *params,
                     err_t *err) {
    bson_t found = BSON_INITIALIZER, filter;
    const int of = query->kind == QUERY_FIND ? FIND : SUMS;
    bool ok = take_parts(&found, tree, query->body, of, params, err);
    if (ok && bson_read_field(&found, "filter", &filter))
        bson_concat(request->body, &filter);
    bson_copy_to_excluding_noinit(&found, request->options, "filter", "field", "whole", "list", NULL);
    request->keeps = bson_read_true(&found, "list");
    if (ok && of == SUMS && !(request->field = strdup(bson_read_text(&found, "field"))))
        ok = err_memory(err, 1);
    if (ok && of == SUMS && !bson_read_true(&found, "whole"))
        set_projection(request);
    bson_destroy(&found);
    return ok;
}

static bool set_documents(request_t *request, const yaml_tree_t *tree, const query_t *query,
                          const bson_t *params, err_t *err) {
    static const struct {
        const char *word;
        double documents;
    } words[] = {{"all", INFINITY}, {"returned", NAN}, {"unknown", -1}};
    const yaml_item_t *const node = query->documents;
    const bool returned = query->kind == QUERY_FIND || query->kind == QUERY_ACCUMULATE;
    const char *const word = !node ? words[returned].word : node->kind == YAML_ITEM_SCALAR ? node->text : "";
    bson_t holder = BSON_INITIALIZER;
    bson_iter_t value;
    for (size_t i = 0; i < COUNT(words); i++)
        if (strcmp(word, words[i].word) == 0) {
            request->documents = words[i].documents;
            return true;
        }
    const bool ok = value_append(&holder, "v", node, tree, params, err) &&
                    bson_iter_init_find(&value, &holder, "v") &&
                    (BSON_ITER_HOLDS_UNDEFINED(&value) ||
                     (numeric_double(&value, &request->documents) && request->documents >= 0 &&
                      isfinite(request->documents)) ||
                     REFUSE(node, "'documents' is all, returned, unknown, or a number, 0 or more"));
    bson_destroy(&holder);
    return ok;
}

static bool set_pipeline(request_t *request, const yaml_tree_t *tree, const query_t *query,
                         const bson_t *params, err_t *err) {
    bson_t pipeline;
    const bool ok = value_document(&pipeline, query->body, tree, params, err) &&
                    reading_check(&pipeline, tree, query->body, err) && bson_concat(request->body, &pipeline);
    bson_destroy(&pipeline);
    return ok;
}

bool request_build(request_t *request, const suite_t *suite, const query_t *query, const char *database,
                   const char *collection, const bson_t *params, const reads_t *reads, err_t *err) {
    const yaml_tree_t *const tree = suite->tree;
    *request = (request_t){.kind = query->kind,
                           .database = strdup(database),
                           .collection = strdup(query->collection ? query->collection : collection),
                           .body = bson_new(),
                           .options = bson_new()};
    if (!request->database || !request->collection)
        return err_memory(err, 256);
    set_prefs(request, reads);
    const int of = query->kind == QUERY_MAP_REDUCE ? REDUCE_OPTION : OPTION;
    return (!query->options || take_parts(request->options, tree, query->options, of, params, err)) &&
           set_documents(request, tree, query, params, err) &&
           (query->kind == QUERY_PIPELINE     ? set_pipeline
            : query->kind == QUERY_MAP_REDUCE ? set_map_reduce
                                              : set_find)(request, tree, query, params, err);
}

void request_limit(request_t *request, uint64_t most) {
    bson_t others = BSON_INITIALIZER;
    char key[16];
    if (request->kind == QUERY_PIPELINE) {
        snprintf(key, sizeof key, "%u", bson_count_keys(request->body));
        BCON_APPEND(request->body, key, "{", "$limit", BCON_INT64((int64_t)most), "}");
    } else if (request->kind == QUERY_FIND) {
        bson_copy_to_excluding_noinit(request->options, &others, "limit", NULL);
        bson_append_int64(&others, "limit", -1, (int64_t)most);
        bson_destroy(request->options);
        request->options = bson_copy(&others);
    }
    bson_destroy(&others);
}

void request_free(request_t *request) {
    bson_destroy(request->body);
    bson_destroy(request->options);
    mongoc_read_prefs_destroy(request->prefs);
    free(request->database);
    free(request->collection);
    free(request->field);
    *request = (request_t){.kind = QUERY_FIND};
}
