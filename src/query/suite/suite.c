#include "query/suite/suite.h"
#include "base/numbers.h"
#include "base/text.h"
#include "builtin/builtin.h"
#include "query/suite/answer.h"
#include "query/suite/request.h"
#include "query/suite/typed_query.h"
#include "query/suite/value.h"
#include "server/bson_read.h"
#include "server/collection.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define REFUSE(at, ...)   yaml_tree_complain(tree, at, err, __VA_ARGS__)
#define COMPLAIN(at, ...) yaml_tree_complain(suite->tree, at, err, __VA_ARGS__)

enum { MOST_PARAMS = 128, LONGEST_NAME = 60 };

/* ---- texts, lists, indexes ---- */

static bool want(const yaml_tree_t *tree, const yaml_item_t *node, yaml_item_kind_t kind,
                 const char *expected, err_t *err) {
    return (node && node->kind == kind) || REFUSE(node, "%s was expected here", expected);
}

static bool read_text(const yaml_tree_t *tree, const yaml_item_t *map, const char *key, const char **text,
                      err_t *err) {
    const yaml_item_t *node = yaml_item_get(map, key);
    if (!node)
        return true;
    if (node->kind != YAML_ITEM_SCALAR || !node->length || strlen(node->text) != node->length)
        return REFUSE(node, "'%s' is a text", key);
    *text = node->text;
    return true;
}

static bool list_of_texts(const yaml_tree_t *tree, const yaml_item_t *node, const char *key, err_t *err) {
    if (node && !want(tree, node, YAML_ITEM_LIST, "a list of names", err))
        return false;
    for (const yaml_item_t *item = node ? node->first : NULL; item; item = item->next)
        if (item->kind != YAML_ITEM_SCALAR || !item->length)
            return REFUSE(item, "'%s' is a list of names", key);
    return true;
}

/* An index may restrict later writes, but must never change what is there: with expireAfterSeconds a server removes
 * documents. */
static bool check_index(const yaml_tree_t *tree, const yaml_item_t *index, err_t *err) {
    static const char *const keys[] = {"key",
                                       "name",
                                       "unique",
                                       "sparse",
                                       "hidden",
                                       "partialFilterExpression",
                                       "collation",
                                       "wildcardProjection",
                                       "weights",
                                       "default_language",
                                       "language_override",
                                       "textIndexVersion",
                                       "2dsphereIndexVersion",
                                       "bits",
                                       "min",
                                       "max"};
    const yaml_item_t *key = index->kind == YAML_ITEM_MAP ? yaml_item_get(index, "key") : NULL;
    if (!key || key->kind != YAML_ITEM_MAP || !key->count)
        return REFUSE(index, "an index is written like {key: {ts: 1, st: 1}}");
    const yaml_item_t *expiry = yaml_item_get(index, "expireAfterSeconds");
    return expiry
               ? REFUSE(expiry, "the server removes documents by such an index, and a timed query does not "
                                "write; leave expireAfterSeconds out")
               : yaml_tree_only_keys(tree, index, keys, COUNT(keys), err);
}

static bool is_flag(const char *key) {
    return strcmp(key, "unique") == 0 || strcmp(key, "sparse") == 0 || strcmp(key, "hidden") == 0;
}

static bool append_flag(const yaml_tree_t *tree, const yaml_item_t *item, bson_t *index, err_t *err) {
    bool flag;
    return yaml_tree_bool(tree, item, &flag, err) && bson_append_bool(index, item->key, -1, flag);
}

/* A server takes longer names than drivers and older servers can list. */
static bool has_index_name(const yaml_tree_t *tree, const yaml_item_t *node, const bson_t *index,
                           err_t *err) {
    char name[COLLECTION_INDEX_NAME];
    bson_t key;
    const yaml_item_t *own = yaml_item_get(node, "name");
    if (own)
        return *bson_read_text(index, "name") || REFUSE(own, "'name' is a text");
    return (bson_read_field(index, "key", &key) && collection_name_index(&key, name) < sizeof name) ||
           REFUSE(node,
                  "by its keys this index would have a name of more than %zu bytes: give it a shorter one, "
                  "{key: ..., name: NAME}",
                  sizeof name - 1);
}

bool suite_read_index(const yaml_tree_t *tree, const yaml_item_t *node, bson_t *index, err_t *err) {
    bson_init(index);
    bool ok = check_index(tree, node, err);
    for (const yaml_item_t *item = ok ? node->first : NULL; ok && item; item = item->next)
        ok = is_flag(item->key) ? append_flag(tree, item, index, err)
                                : value_append(index, item->key, item, tree, NULL, err);
    return ok && has_index_name(tree, node, index, err);
}

/* ---- how it is measured ---- */

const char *const suite_read_modes[] = {"primary", "primaryPreferred", "secondary", "secondaryPreferred",
                                        "nearest"};
const size_t suite_read_mode_count = COUNT(suite_read_modes);

static bool read_count(const yaml_tree_t *tree, const yaml_item_t *map, const char *key, int64_t least,
                       uint32_t *count, err_t *err) {
    const yaml_item_t *node = yaml_item_get(map, key);
    int64_t number;
    if (!node)
        return true;
    if (!yaml_tree_int(tree, node, least, 1000000, &number, err))
        return false;
    *count = (uint32_t)number;
    return true;
}

static bool read_duration(const yaml_tree_t *tree, const yaml_item_t *node, int64_t *duration_ns,
                          err_t *err) {
    return !node ||
           (node->kind == YAML_ITEM_SCALAR && units_parse_time(node->text, duration_ns) &&
            *duration_ns > 0) ||
           REFUSE(node, "'duration' is a time, such as 30s");
}

/* A list, not longer than there is room for choices. */
static bool is_choices(const yaml_tree_t *tree, const yaml_item_t *node, const char *example, err_t *err) {
    return want(tree, node, YAML_ITEM_LIST, example, err) &&
           ((node->count && node->count <= SUITE_MOST_CHOICES) ||
            REFUSE(node, "from 1 to %d of them", SUITE_MOST_CHOICES));
}

static bool read_clients(const yaml_tree_t *tree, suite_run_t *run, const yaml_item_t *node, err_t *err) {
    int64_t number;
    if (!node)
        return true;
    if (!is_choices(tree, node, "a list of numbers", err))
        return false;
    for (const yaml_item_t *item = node->first; item; item = item->next) {
        if (!yaml_tree_int(tree, item, 1, SUITE_MOST_CLIENTS, &number, err))
            return false;
        for (size_t i = 0; i < run->client_choices; i++)
            if (run->clients[i] == number)
                return REFUSE(item, "%s is named twice", item->text);
        run->clients[run->client_choices++] = (uint32_t)number;
    }
    return true;
}

static const char *mode_named(const yaml_item_t *item) {
    for (size_t i = 0; item->kind == YAML_ITEM_SCALAR && i < suite_read_mode_count; i++)
        if (strcmp(suite_read_modes[i], item->text) == 0)
            return suite_read_modes[i];
    return NULL;
}

static bool read_reads(const yaml_tree_t *tree, suite_run_t *run, const yaml_item_t *node, err_t *err) {
    if (!node)
        return true;
    if (!is_choices(tree, node, "a list such as [primary, secondary]", err))
        return false;
    for (const yaml_item_t *item = node->first; item; item = item->next) {
        const char *mode = mode_named(item);
        if (!mode)
            return REFUSE(item, "a read preference was expected here: primary, primaryPreferred, secondary, "
                                "secondaryPreferred or nearest");
        for (size_t i = 0; i < run->reads_choices; i++)
            if (run->reads[i] == mode)
                return REFUSE(item, "%s is named twice", mode);
        run->reads[run->reads_choices++] = mode;
    }
    return true;
}

static bool read_run(const yaml_tree_t *tree, const yaml_item_t *map, suite_run_t *run, err_t *err) {
    static const char *const keys[] = {"repeats", "warmup", "duration", "clients", "readPreference"};
    *run = (suite_run_t){.warmups = SUITE_UNSAID};
    return !map || (want(tree, map, YAML_ITEM_MAP, "a map such as {repeats: 10}", err) &&
                    yaml_tree_only_keys(tree, map, keys, COUNT(keys), err) &&
                    read_count(tree, map, "repeats", 1, &run->repeats, err) &&
                    read_count(tree, map, "warmup", 0, &run->warmups, err) &&
                    read_duration(tree, yaml_item_get(map, "duration"), &run->duration_ns, err) &&
                    read_clients(tree, run, yaml_item_get(map, "clients"), err) &&
                    read_reads(tree, run, yaml_item_get(map, "readPreference"), err));
}

static bool read_query_run(const yaml_tree_t *tree, const yaml_item_t *map, suite_run_t *run, err_t *err) {
    static const char *const keys[] = {"clients"};
    return !map || (want(tree, map, YAML_ITEM_MAP, "a map such as {clients: [1, 4]}", err) &&
                    yaml_tree_only_keys(tree, map, keys, COUNT(keys), err) &&
                    read_clients(tree, run, yaml_item_get(map, "clients"), err));
}

/* ---- a query ---- */

static bool read_name(const suite_t *suite, const yaml_item_t *map, const char **name, err_t *err) {
    if (!yaml_item_get(map, "name"))
        return COMPLAIN(map, "'name' is missing");
    if (!read_text(suite->tree, map, "name", name, err))
        return false;
    if (strspn(*name, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-_.") != strlen(*name))
        return COMPLAIN(yaml_item_get(map, "name"), "a name has letters, digits, '-', '_' and '.' only");
    return strlen(*name) <= LONGEST_NAME ||
           COMPLAIN(yaml_item_get(map, "name"), "a name has %d letters at most", LONGEST_NAME);
}

/* Keys that an earlier tipple had, and what to do instead. */
static const struct {
    const char *key, *instead;
} gone[] = {{"maxStaleness", "give maxStalenessSeconds in the URI"},
            {"unordered", "sort in the query"},
            {"values", "expect the 'digest' that --json prints"}};

/* Refuses a map that has other keys than these. */
static bool check_keys(const suite_t *suite, const yaml_item_t *map, const char *const *keys, size_t count,
                       err_t *err) {
    for (size_t i = 0; i < COUNT(gone); i++)
        if (yaml_item_get(map, gone[i].key))
            return COMPLAIN(yaml_item_get(map, gone[i].key), "'%s' was removed: %s", gone[i].key,
                            gone[i].instead);
    return yaml_tree_only_keys(suite->tree, map, keys, count, err);
}

typedef struct {
    const char *names[MOST_PARAMS];
    size_t count;
} names_t;

static bool add_name(const suite_t *suite, names_t *names, const yaml_item_t *at, const char *name,
                     err_t *err) {
    for (size_t i = 0; i < names->count; i++)
        if (strcmp(names->names[i], name) == 0)
            return COMPLAIN(at, "there is a parameter '%s' already", name);
    if (names->count == MOST_PARAMS)
        return COMPLAIN(at, "more than %d parameters", MOST_PARAMS);
    names->names[names->count++] = name;
    return true;
}

/* What replaces its parameters is checked later, when it is known. */
static bool check_pipeline(const suite_t *suite, const yaml_item_t *list, const names_t *names, err_t *err) {
    bson_t pipeline;
    if (!want(suite->tree, list, YAML_ITEM_LIST, "a list of stages", err))
        return false;
    bool ok = value_sketch(&pipeline, list, suite->tree, names->names, names->count, err) &&
              reading_check(&pipeline, false, suite->tree, list, err);
    bson_destroy(&pipeline);
    return ok;
}

/* It is a name, whatever it looks like, and never a value. */
static bool is_field(const query_t *query, const yaml_item_t *part) {
    return query->kind == QUERY_ACCUMULATE && strcmp(part->key, "field") == 0;
}

static bool check_find(const suite_t *suite, const query_t *query, const names_t *names, err_t *err) {
    static const char *const flags[] = {"whole", "list"};
    static const char *const find[] = {"filter", "projection", "sort", "limit", "skip"};
    static const char *const accumulate[] = {"field", "filter", "sort", "limit",
                                             "skip",  "whole",  "list", "chunk"};
    bool is_find = query->kind == QUERY_FIND, flag;
    const char *field = NULL;
    if (!want(suite->tree, query->body, YAML_ITEM_MAP, "a map", err) ||
        !yaml_tree_only_keys(suite->tree, query->body, is_find ? find : accumulate,
                             is_find ? COUNT(find) : COUNT(accumulate), err))
        return false;
    if (!is_find && !yaml_item_get(query->body, "field"))
        return COMPLAIN(query->body, "'field' is missing: what the client accumulates");
    if (!is_find && !read_text(suite->tree, query->body, "field", &field, err))
        return false;
    for (size_t i = 0; i < COUNT(flags); i++) {
        const yaml_item_t *node = yaml_item_get(query->body, flags[i]);
        if (node && !yaml_tree_bool(suite->tree, node, &flag, err))
            return false;
    }
    if (yaml_item_get(query->body, "chunk") && !yaml_item_get(query->body, "limit"))
        return COMPLAIN(query->body, "'chunk' needs a 'limit': how many documents in all");
    if (yaml_item_get(query->body, "chunk") && yaml_item_get(query->body, "skip"))
        return COMPLAIN(query->body, "'chunk' begins at the first document: leave 'skip' out");
    for (const yaml_item_t *part = query->body->first; part; part = part->next)
        if (!is_field(query, part) && !value_check(part, suite->tree, names->names, names->count, err))
            return false;
    return true;
}

static bool check_map_reduce(const suite_t *suite, const query_t *query, const names_t *names, err_t *err) {
    static const char *const keys[] = {"map",  "reduce", "finalize", "query",
                                       "sort", "limit",  "scope",    "jsMode"};
    const char *function;
    if (!want(suite->tree, query->body, YAML_ITEM_MAP, "a map", err) ||
        !yaml_tree_only_keys(suite->tree, query->body, keys, COUNT(keys), err))
        return false;
    for (size_t i = 0; i < 2; i++)
        if (!yaml_item_get(query->body, keys[i]))
            return COMPLAIN(query->body, "'%s' is missing: a function of JavaScript", keys[i]);
    for (size_t i = 0; i < 3; i++)
        if (!read_text(suite->tree, query->body, keys[i], &function, err))
            return false;
    return value_check(query->body, suite->tree, names->names, names->count, err);
}

static bool check_body(const suite_t *suite, const query_t *query, const names_t *names, err_t *err) {
    return query->kind == QUERY_PIPELINE     ? check_pipeline(suite, query->body, names, err)
           : query->kind == QUERY_MAP_REDUCE ? check_map_reduce(suite, query, names, err)
                                             : check_find(suite, query, names, err);
}

static bool check_draw(const suite_t *suite, const query_t *query, names_t *names, err_t *err) {
    static const char *const keys[] = {"gives", "pipeline"};
    const yaml_item_t *draw = query->draw;
    if (!draw)
        return true;
    if (!want(suite->tree, draw, YAML_ITEM_MAP, "{gives: [NAME, ...], pipeline: [...]}", err) ||
        !yaml_tree_only_keys(suite->tree, draw, keys, COUNT(keys), err))
        return false;
    const yaml_item_t *gives = yaml_item_get(draw, "gives"), *pipeline = yaml_item_get(draw, "pipeline");
    if (!gives || !pipeline)
        return COMPLAIN(draw, "'draw' needs 'gives', the names of what it draws, and 'pipeline'");
    if (!list_of_texts(suite->tree, gives, "gives", err) || !check_pipeline(suite, pipeline, names, err))
        return false;
    for (const yaml_item_t *item = gives->first; item; item = item->next)
        if (!add_name(suite, names, item, item->text, err))
            return false;
    return true;
}

/* `each` is a list of values, or a map of named values. */
static bool check_each(const suite_t *suite, const query_t *query, names_t *names, err_t *err) {
    if (query->each && !want(suite->tree, query->each, YAML_ITEM_MAP, "NAME: [VALUE, ...]", err))
        return false;
    for (const yaml_item_t *item = query->each ? query->each->first : NULL; item; item = item->next) {
        if (item->kind == YAML_ITEM_SCALAR)
            return COMPLAIN(item, "a list of values was expected here, or a map of values with names");
        if (!item->count)
            return COMPLAIN(item, "'%s' has no values", item->key);
        for (const yaml_item_t *value = item->first; value; value = value->next)
            if (!value_check(value, suite->tree, names->names, names->count, err))
                return false;
        if (!add_name(suite, names, item, item->key, err))
            return false;
    }
    return true;
}

static bool check_options(const suite_t *suite, const query_t *query, const names_t *names, err_t *err) {
    static const char *const keys[] = {"allowDiskUse", "hint",      "readConcern", "readPreference",
                                       "maxTimeMS",    "batchSize", "collation",   "let"};
    return !query->options || (want(suite->tree, query->options, YAML_ITEM_MAP, "a map of options", err) &&
                               check_keys(suite, query->options, keys, COUNT(keys), err) &&
                               value_check(query->options, suite->tree, names->names, names->count, err));
}

/* setup: {indexes: [{key: {ts: 1}}, ...]} */
static bool check_setup(const suite_t *suite, query_t *query, const yaml_item_t *setup, err_t *err) {
    static const char *const keys[] = {"indexes"};
    if (!setup)
        return true;
    if (!want(suite->tree, setup, YAML_ITEM_MAP, "{indexes: [...]}", err) ||
        !yaml_tree_only_keys(suite->tree, setup, keys, COUNT(keys), err))
        return false;
    query->indexes = yaml_item_get(setup, "indexes");
    if (!query->indexes)
        return COMPLAIN(setup, "'indexes' is missing");
    if (!want(suite->tree, query->indexes, YAML_ITEM_LIST, "a list of indexes", err))
        return false;
    bool ok = true;
    for (const yaml_item_t *item = query->indexes->first; ok && item; item = item->next) {
        bson_t index;
        ok = suite_read_index(suite->tree, item, &index, err);
        bson_destroy(&index);
    }
    return ok;
}

static bool check_expect(const suite_t *suite, const query_t *query, const names_t *names, err_t *err) {
    static const char *const keys[] = {"documents", "digest"};
    const yaml_item_t *expect = query->expect;
    bson_t filled;
    if (!expect)
        return true;
    if (query->draw)
        return COMPLAIN(expect, "nothing can be expected of a query that draws its parameters");
    if (!want(suite->tree, expect, YAML_ITEM_MAP, "{documents: ...} or {digest: ...}", err) ||
        !check_keys(suite, expect, keys, COUNT(keys), err))
        return false;
    bool ok = value_sketch(&filled, expect, suite->tree, names->names, names->count, err) &&
              expected_sane(&filled, false, expect, suite->tree, err);
    bson_destroy(&filled);
    return ok;
}

static bool check_documents(const suite_t *suite, const query_t *query, const names_t *names, err_t *err) {
    const yaml_item_t *node = query->documents;
    int64_t count;
    if (!node || (node->kind == YAML_ITEM_SCALAR &&
                  (strcmp(node->text, "all") == 0 || strcmp(node->text, "returned") == 0 ||
                   strcmp(node->text, "unknown") == 0)))
        return true;
    if (node->kind == YAML_ITEM_MAP)
        return value_check(node, suite->tree, names->names, names->count, err);
    return yaml_tree_int(suite->tree, node, 0, INT64_MAX, &count, err);
}

static bool check_explain(const suite_t *suite, query_t *query, const yaml_item_t *node, err_t *err) {
    if (!node)
        return true;
    return yaml_tree_bool(suite->tree, node, &query->explain, err) &&
           (!query->explain || (query->kind == QUERY_FIND && !query->draw) ||
            COMPLAIN(node, "only a find whose parameters are not drawn is explained"));
}

static bool read_query(suite_t *suite, const yaml_item_t *map, names_t names, query_t *query, err_t *err) {
    static const char *const keys[] = {
        "name",    "about", "tags", "collection", "pipeline",  "mapReduce", "find", "accumulate",
        "options", "each",  "draw", "setup",      "documents", "expect",    "run",  "explain"};
    static const char *const kinds[] = {"pipeline", "find", "accumulate",
                                        "mapReduce"}; /* in the order of query_kind_t */
    if (!want(suite->tree, map, YAML_ITEM_MAP, "a query, which is a map,", err) ||
        !yaml_tree_only_keys(suite->tree, map, keys, COUNT(keys), err) ||
        !read_name(suite, map, &query->name, err) ||
        !read_text(suite->tree, map, "about", &query->about, err) ||
        !read_text(suite->tree, map, "collection", &query->collection, err))
        return false;
    query->at = map;
    for (size_t i = 0; i < COUNT(kinds); i++) {
        const yaml_item_t *body = yaml_item_get(map, kinds[i]);
        if (body && query->body)
            return COMPLAIN(
                body, "a query is a pipeline, a find, an accumulate or a mapReduce, and one of them only");
        if (body) {
            query->body = body;
            query->kind = (query_kind_t)i;
        }
    }
    if (!query->body)
        return COMPLAIN(map, "the query '%s' has no 'pipeline', 'find', 'accumulate' or 'mapReduce'",
                        query->name);
    query->tags = yaml_item_get(map, "tags");
    query->options = yaml_item_get(map, "options");
    query->each = yaml_item_get(map, "each");
    query->draw = yaml_item_get(map, "draw");
    query->documents = yaml_item_get(map, "documents");
    query->expect = yaml_item_get(map, "expect");
    /* draw may use `each`, and the rest may use both */
    return list_of_texts(suite->tree, query->tags, "tags", err) && check_each(suite, query, &names, err) &&
           check_draw(suite, query, &names, err) && check_body(suite, query, &names, err) &&
           check_options(suite, query, &names, err) &&
           check_setup(suite, query, yaml_item_get(map, "setup"), err) &&
           check_documents(suite, query, &names, err) && check_expect(suite, query, &names, err) &&
           check_explain(suite, query, yaml_item_get(map, "explain"), err) &&
           read_query_run(suite->tree, yaml_item_get(map, "run"), &query->run, err);
}

/* ---- the suite ---- */

static bool read_params(suite_t *suite, names_t *names, err_t *err) {
    if (suite->params && !want(suite->tree, suite->params, YAML_ITEM_MAP, "NAME: VALUE", err))
        return false;
    for (const yaml_item_t *item = suite->params ? suite->params->first : NULL; item; item = item->next)
        if (!value_check(item, suite->tree, NULL, 0, err) || !add_name(suite, names, item, item->key, err))
            return false;
    return true;
}

static bool read_queries(suite_t *suite, const yaml_item_t *list, const names_t *names, err_t *err) {
    if (!list)
        return COMPLAIN(yaml_tree_root(suite->tree), "'queries' is missing");
    if (!want(suite->tree, list, YAML_ITEM_LIST, "a list of queries", err))
        return false;
    if (!list->count)
        return COMPLAIN(list, "there are no queries");
    if (!(suite->queries = calloc(list->count, sizeof *suite->queries)))
        return err_memory(err, list->count * sizeof *suite->queries);
    for (const yaml_item_t *item = list->first; item; item = item->next) {
        query_t *query = &suite->queries[suite->query_count];
        if (!read_query(suite, item, *names, query, err))
            return false;
        for (size_t i = 0; i < suite->query_count; i++)
            if (strcmp(suite->queries[i].name, query->name) == 0)
                return COMPLAIN(item, "there is a query '%s' already", query->name);
        suite->query_count++;
    }
    return true;
}

/* ---- its tables of published figures ---- */

static bool is_each(const yaml_item_t *queries, const char *name) {
    for (const yaml_item_t *query = queries->first; query; query = query->next) {
        const yaml_item_t *each = yaml_item_get(query, "each");
        if (each && yaml_item_get(each, name))
            return true;
    }
    return false;
}

/* ROW: {COLUMN: text} */
static bool check_published(const yaml_tree_t *tree, const yaml_item_t *rows, err_t *err) {
    if (!want(tree, rows, YAML_ITEM_MAP, "ROW: {COLUMN: FIGURE}", err))
        return false;
    for (const yaml_item_t *row = rows->first; row; row = row->next) {
        if (!want(tree, row, YAML_ITEM_MAP, "{COLUMN: FIGURE}", err))
            return false;
        for (const yaml_item_t *figure = row->first; figure; figure = figure->next)
            if (figure->kind != YAML_ITEM_SCALAR || !figure->length)
                return REFUSE(figure, "a published figure is a text, such as 0.3 σ 0.03");
    }
    return true;
}

static bool read_table(const suite_t *suite, const yaml_item_t *map, suite_table_t *table, err_t *err) {
    const yaml_tree_t *tree = suite->tree;
    static const char *const keys[] = {"title", "rows", "columns", "show", "queries", "published"};
    static const char *const sides[] = {"query", "clients", "reads"};
    if (!want(tree, map, YAML_ITEM_MAP, "a table, which is a map,", err) ||
        !yaml_tree_only_keys(tree, map, keys, COUNT(keys), err) ||
        !read_text(tree, map, "title", &table->title, err) ||
        !read_text(tree, map, "rows", &table->rows, err) ||
        !read_text(tree, map, "columns", &table->columns, err) ||
        !read_text(tree, map, "show", &table->show, err))
        return false;
    table->published = yaml_item_get(map, "published");
    if (!table->title || !table->rows || !table->columns || !table->show || !table->published)
        return REFUSE(map, "a table needs 'title', 'rows', 'columns', 'show' and 'published'");
    const char *const chosen[] = {table->rows, table->columns};
    for (size_t i = 0; i < COUNT(chosen); i++) {
        bool known = is_each(yaml_item_get(yaml_tree_root(tree), "queries"), chosen[i]);
        for (size_t k = 0; k < COUNT(sides); k++)
            known = known || strcmp(sides[k], chosen[i]) == 0;
        if (!known)
            return REFUSE(yaml_item_get(map, i ? "columns" : "rows"),
                          "'%s' is neither query, clients or reads, nor a name of an 'each'", chosen[i]);
    }
    table->queries = yaml_item_get(map, "queries");
    if (!list_of_texts(tree, table->queries, "queries", err))
        return false;
    for (const yaml_item_t *word = table->queries ? table->queries->first : NULL; word; word = word->next)
        if (!suite_knows(suite, word->text))
            return REFUSE(word, "there is no query and no tag '%s' in this suite", word->text);
    return check_published(tree, table->published, err);
}

static bool read_tables(suite_t *suite, const yaml_item_t *list, err_t *err) {
    if (!list)
        return true;
    if (!want(suite->tree, list, YAML_ITEM_LIST, "a list of tables", err))
        return false;
    if (!(suite->tables = calloc(list->count + 1, sizeof *suite->tables)))
        return err_memory(err, list->count * sizeof *suite->tables);
    for (const yaml_item_t *item = list->first; item; item = item->next)
        if (!read_table(suite, item, &suite->tables[suite->table_count++], err))
            return false;
    return true;
}

static bool read_suite(suite_t *suite, err_t *err) {
    static const char *const keys[] = {"suite", "about", "formats", "params", "run", "queries", "tables"};
    const yaml_item_t *root = yaml_tree_root(suite->tree);
    names_t names = {.count = 0};
    if (!want(suite->tree, root, YAML_ITEM_MAP, "a suite, which is a map,", err) ||
        !yaml_tree_only_keys(suite->tree, root, keys, COUNT(keys), err) ||
        !read_text(suite->tree, root, "suite", &suite->name, err) ||
        !read_text(suite->tree, root, "about", &suite->about, err))
        return false;
    if (!suite->name)
        return COMPLAIN(root, "'suite' is missing: its name");
    suite->params = yaml_item_get(root, "params");
    suite->formats = yaml_item_get(root, "formats");
    return list_of_texts(suite->tree, suite->formats, "formats", err) &&
           read_run(suite->tree, yaml_item_get(root, "run"), &suite->run, err) &&
           read_params(suite, &names, err) &&
           read_queries(suite, yaml_item_get(root, "queries"), &names, err) &&
           read_tables(suite, yaml_item_get(root, "tables"), err);
}

/* Takes the tree, which may be NULL: err has the sentence then. */
static suite_t *make_suite(yaml_tree_t *tree, const char *text, size_t length, err_t *err) {
    suite_t *suite = tree ? calloc(1, sizeof *suite) : NULL;
    bool ok = suite && (suite->text = strndup(text, length));
    if (tree && !ok)
        err_memory(err, length);
    if (suite)
        suite->tree = tree;
    else
        yaml_tree_destroy(tree);
    if (ok && read_suite(suite, err))
        return suite;
    suite_close(suite);
    return NULL;
}

suite_t *suite_parse(const char *text, size_t length, const char *name, err_t *err) {
    return make_suite(yaml_tree_parse(text, length, name, err), text, length, err);
}

void suite_close(suite_t *suite) {
    if (!suite)
        return;
    yaml_tree_destroy(suite->tree);
    free(suite->queries);
    free(suite->tables);
    free(suite->text);
    free(suite);
}

/* A query itself: a pipeline, or the filter of a find. */
static suite_t *open_query(const char *query, err_t *err) {
    static const char name[] = "the query";
    typed_query_t typed;
    suite_t *suite = NULL;
    if (typed_query_read(&typed, query, name, err))
        suite = make_suite(
            yaml_tree_parse_typed(typed.text.bytes, typed.text.length, typed.places, typed.count, name, err),
            typed.text.bytes, typed.text.length, err);
    typed_query_free(&typed);
    return suite;
}

suite_t *suite_open(const char *name, err_t *err) {
    opened_t opened;
    if (typed_query_is(name))
        return open_query(name, err);
    if (!builtin_open(builtin_suites, "suite", name, &opened, err))
        return NULL;
    suite_t *suite = suite_parse(opened.text, opened.length, name, err);
    free(opened.text);
    return suite;
}

bool suite_fill(bson_t *filled, const suite_t *suite, const query_t *query, const bson_t *params,
                err_t *err) {
    if (query->kind != QUERY_ACCUMULATE)
        return value_document(filled, query->body, suite->tree, params, err);
    bool ok = true;
    bson_init(filled);
    for (const yaml_item_t *part = query->body->first; ok && part; part = part->next)
        ok = is_field(query, part) ? bson_append_utf8(filled, part->key, -1, part->text, -1)
                                   : value_append(filled, part->key, part, suite->tree, params, err);
    return ok;
}

bool suite_has_tag(const query_t *query, const char *word) {
    bool named = strcmp(query->name, word) == 0;
    for (const yaml_item_t *tag = query->tags ? query->tags->first : NULL; tag && !named; tag = tag->next)
        named = strcmp(tag->text, word) == 0;
    return named;
}

bool suite_knows(const suite_t *suite, const char *word) {
    for (size_t i = 0; i < suite->query_count; i++)
        if (suite_has_tag(&suite->queries[i], word))
            return true;
    return false;
}

const char *suite_given(const query_t *query, size_t number) {
    const yaml_item_t *name = query->draw ? yaml_item_get(query->draw, "gives")->first : NULL;
    while (name && number--)
        name = name->next;
    return name ? name->text : NULL;
}
