/* Suites: from the tree of a file to the structure of suite.h. Keys are rows of tables; what a query sends is checked by
 * building its request. */
#include "query/suite/suite.h"
#include "base/numbers.h"
#include "base/text.h"
#include "builtin/builtin.h"
#include "query/suite/request.h"

#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#define REFUSE(at, ...)   yaml_tree_complain(tree, at, err, __VA_ARGS__)
#define COMPLAIN(at, ...) yaml_tree_complain(suite->tree, at, err, __VA_ARGS__)

enum { MOST_KEYS = 24, LONGEST_NAME = 60 };

/* ---- keys ---- */

/* What is stored at a key's place: a text (const char *), a whole number (uint32_t), a time (int64_t), yes or no (bool),
 * the clients of a suite_run_t, or the node. */
typedef enum { TEXT, COUNTED, TIME, FLAG, CLIENTS, NODE, MAP, LIST, NAMES } key_kind_t;

typedef struct {
    const char *key;
    key_kind_t kind;
    size_t at;
    bool needed; /* of a number: 0 is none */
} row_t;

bool suite_check_keys(const yaml_tree_t *tree, const yaml_item_t *map, const char *const *keys, size_t count,
                      err_t *err) {
    static const struct {
        const char *key, *why;
    } none[] = {
        {"maxStaleness", "give maxStalenessSeconds in the URI"},
        {"readPreference", "give --read-preference, or readPreference in the URI"},
        {"unordered", "sort in the query"},
        {"values", "expect the 'digest' that --json prints"},
        {"expireAfterSeconds", "the server would remove documents, and a timed query does not write"}};
    for (size_t i = 0; i < COUNT(none); i++)
        if (yaml_item_get(map, none[i].key))
            return REFUSE(yaml_item_get(map, none[i].key), "'%s' is not possible here: %s", none[i].key,
                          none[i].why);
    return yaml_tree_only_keys(tree, map, keys, count, err);
}

static bool is_text(const yaml_item_t *node) {
    return node->kind == YAML_ITEM_SCALAR && node->length && strlen(node->text) == node->length;
}

static bool are_names(const yaml_item_t *node) {
    bool all = node->kind == YAML_ITEM_LIST;
    for (const yaml_item_t *item = node->first; all && item; item = item->next)
        all = is_text(item);
    return all;
}

static bool read_clients(const yaml_tree_t *tree, const yaml_item_t *node, suite_run_t *run, err_t *err) {
    int64_t number;
    if (node->kind != YAML_ITEM_LIST || !node->count || node->count > SUITE_MOST_CHOICES)
        return REFUSE(node, "'clients' is a list of 1 to %d numbers", SUITE_MOST_CHOICES);
    for (const yaml_item_t *item = node->first; item; item = item->next) {
        if (!yaml_tree_int(tree, item, 1, SUITE_MOST_CLIENTS, &number, err))
            return false;
        run->clients[run->client_choices++] = (uint32_t)number;
    }
    return true;
}

static bool read_key(const yaml_tree_t *tree, const yaml_item_t *node, const row_t *key, void *to,
                     err_t *err) {
    static const char *const forms[] = {[TEXT] = "a text",
                                        [TIME] = "a time, such as 30s",
                                        [MAP] = "a map",
                                        [LIST] = "a list",
                                        [NAMES] = "a list of names"};
    int64_t number;
    bool ok = true;
    switch (key->kind) {
    case TEXT:
        ok = is_text(node);
        *(const char **)to = node->text;
        break;
    case COUNTED:
        if (!yaml_tree_int(tree, node, key->needed, 1000000, &number, err))
            return false;
        *(uint32_t *)to = (uint32_t)number;
        break;
    case TIME:
        /* 30 alone would be seconds for some and milliseconds for others */
        ok = is_text(node) && strpbrk(node->text, "smhd") && units_parse_time(node->text, to) &&
             *(int64_t *)to > 0;
        break;
    case FLAG:
        return yaml_tree_bool(tree, node, to, err);
    case CLIENTS:
        return read_clients(tree, node, to, err);
    default:
        ok = key->kind == NODE    ? true
             : key->kind == NAMES ? are_names(node)
                                  : node->kind == (key->kind == MAP ? YAML_ITEM_MAP : YAML_ITEM_LIST);
        *(const yaml_item_t **)to = node;
    }
    return ok || REFUSE(node, "'%s' is %s", key->key, forms[key->kind]);
}

/* Reads a map into a struct. */
static bool read_keys(const yaml_tree_t *tree, const yaml_item_t *map, const row_t *keys, size_t count,
                      void *to, err_t *err) {
    const char *names[MOST_KEYS];
    for (size_t i = 0; i < count; i++)
        names[i] = keys[i].key;
    if (map->kind != YAML_ITEM_MAP)
        return REFUSE(map, "a map was expected here, with '%s'", names[0]);
    if (!suite_check_keys(tree, map, names, count, err))
        return false;
    for (size_t i = 0; i < count; i++) {
        const yaml_item_t *const node = yaml_item_get(map, names[i]);
        if (!node && keys[i].needed && keys[i].kind != COUNTED)
            return REFUSE(map, "'%s' is missing", names[i]);
        if (node && !read_key(tree, node, &keys[i], (char *)to + keys[i].at, err))
            return false;
    }
    return true;
}

/* ---- a query ---- */

/* Adds a parameter whose value is not known yet. */
static bool add_name(const suite_t *suite, bson_t *params, const yaml_item_t *at, const char *name,
                     err_t *err) {
    bson_iter_t before; /* bson_has_field looks for "a.b" in documents as well */
    return bson_iter_init_find(&before, params, name)
               ? COMPLAIN(at, "there is a parameter '%s' already", name)
               : bson_append_undefined(params, name, -1);
}

/* Checks everything in a value except its parameters. */
static bool check_value(const suite_t *suite, const yaml_item_t *node, const bson_t *params, err_t *err) {
    bson_t value = BSON_INITIALIZER;
    const bool ok = value_append(&value, "v", node, suite->tree, params, err);
    bson_destroy(&value);
    return ok;
}

/* `each` has lists of values, or maps of named values. */
static bool check_each(const suite_t *suite, const query_t *query, bson_t *params, err_t *err) {
    for (const yaml_item_t *item = query->each ? query->each->first : NULL; item; item = item->next) {
        if (item->kind == YAML_ITEM_SCALAR || !item->count)
            return COMPLAIN(item, "a list of values was expected here, or a map of values with names");
        for (const yaml_item_t *value = item->first; value; value = value->next)
            if (!check_value(suite, value, params, err))
                return false;
        if (!add_name(suite, params, item, item->key, err))
            return false;
    }
    return true;
}

typedef struct {
    const yaml_item_t *gives, *pipeline;
} draw_t;

static bool check_draw(const suite_t *suite, const query_t *query, bson_t *params, err_t *err) {
    static const row_t keys[] = {{"gives", NAMES, offsetof(draw_t, gives), true},
                                 {"pipeline", LIST, offsetof(draw_t, pipeline), true}};
    draw_t draw;
    bson_t pipeline;
    if (!query->draw)
        return true;
    if (!read_keys(suite->tree, query->draw, keys, COUNT(keys), &draw, err))
        return false;
    bool ok = value_document(&pipeline, draw.pipeline, suite->tree, params, err) &&
              reading_check(&pipeline, suite->tree, draw.pipeline, err);
    for (const yaml_item_t *item = draw.gives->first; ok && item; item = item->next)
        ok = add_name(suite, params, item, item->text, err);
    bson_destroy(&pipeline);
    return ok;
}

static bool check_setup(const suite_t *suite, query_t *query, const yaml_item_t *setup, err_t *err) {
    static const row_t keys[] = {{"indexes", LIST, offsetof(query_t, indexes), true}};
    bool ok = !setup || read_keys(suite->tree, setup, keys, COUNT(keys), query, err);
    for (const yaml_item_t *item = ok && setup ? query->indexes->first : NULL; ok && item;
         item = item->next) {
        bson_t index;
        ok = suite_read_index(suite->tree, item, &index, err);
        bson_destroy(&index);
    }
    return ok;
}

static bool check_expect(const suite_t *suite, const query_t *query, const bson_t *params, err_t *err) {
    bson_t filled;
    if (!query->expect)
        return true;
    if (query->draw)
        return COMPLAIN(query->expect, "nothing can be expected of a query that draws its parameters");
    const bool ok = expected_fill(&filled, suite, query, params, err);
    bson_destroy(&filled);
    return ok;
}

/* `draw` may use `each`, and the rest may use both. */
static bool check_query(const suite_t *suite, const query_t *query, bson_t *params, err_t *err) {
    request_t request = {.kind = QUERY_FIND};
    const bool ok = check_each(suite, query, params, err) && check_draw(suite, query, params, err) &&
                    request_build(&request, suite, query, "", "", params, &(reads_t){NULL, NULL}, err) &&
                    check_expect(suite, query, params, err);
    request_free(&request);
    return ok;
}

static bool check_name(const suite_t *suite, const query_t *query, err_t *err) {
    static const char letters[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-_.";
    const size_t length = strlen(query->name);
    if (strspn(query->name, letters) != length || length > LONGEST_NAME)
        return COMPLAIN(yaml_item_get(query->at, "name"),
                        "a name has letters, digits, '-', '_' and '.' only, and %d of them at most",
                        LONGEST_NAME);
    for (const query_t *other = suite->queries; other < query; other++)
        if (strcmp(other->name, query->name) == 0)
            return COMPLAIN(query->at, "there is a query '%s' already", query->name);
    return true;
}

/* A query while it is read, with the maps that it does not keep. */
typedef struct {
    query_t query;
    const yaml_item_t *bodies[QUERY_MAP_REDUCE + 1], *setup, *run;
} read_t;

static bool choose_body(const suite_t *suite, read_t *read, err_t *err) {
    query_t *const query = &read->query;
    for (int kind = QUERY_PIPELINE; kind <= QUERY_MAP_REDUCE; kind++) {
        if (!read->bodies[kind])
            continue;
        if (query->body)
            return COMPLAIN(
                read->bodies[kind],
                "a query is a pipeline, a find, an accumulate or a mapReduce, and one of them only");
        query->body = read->bodies[kind];
        query->kind = (query_kind_t)kind;
    }
    return query->body ||
           COMPLAIN(query->at, "the query '%s' has no 'pipeline', 'find', 'accumulate' or 'mapReduce'",
                    query->name);
}

/* known: the parameters of the suite. */
static bool read_query(suite_t *suite, const yaml_item_t *map, const bson_t *known, query_t *query,
                       err_t *err) {
#define AT(member) offsetof(read_t, member)
    static const row_t keys[] = {
        {"name", TEXT, AT(query.name), true},
        {"about", TEXT, AT(query.about), false},
        {"tags", NAMES, AT(query.tags), false},
        {"collection", TEXT, AT(query.collection), false},
        {"pipeline", LIST, AT(bodies[QUERY_PIPELINE]), false},
        {"find", MAP, AT(bodies[QUERY_FIND]), false},
        {"accumulate", MAP, AT(bodies[QUERY_ACCUMULATE]), false},
        {"mapReduce", MAP, AT(bodies[QUERY_MAP_REDUCE]), false},
        {"options", MAP, AT(query.options), false},
        {"each", MAP, AT(query.each), false},
        {"draw", MAP, AT(query.draw), false},
        {"setup", MAP, AT(setup), false},
        {"documents", NODE, AT(query.documents), false},
        {"expect", MAP, AT(query.expect), false},
        {"run", MAP, AT(run), false},
        {"explain", FLAG, AT(query.explain), false},
    };
#undef AT
    static const row_t run_keys[] = {{"clients", CLIENTS, 0, false}};
    read_t read = {.query.at = map};
    bson_t params;
    if (!read_keys(suite->tree, map, keys, COUNT(keys), &read, err) || !choose_body(suite, &read, err))
        return false;
    if (read.query.explain && (read.query.kind != QUERY_FIND || read.query.draw))
        return COMPLAIN(yaml_item_get(map, "explain"),
                        "only a find whose parameters are not drawn is explained");
    *query = read.query;
    bson_copy_to(known, &params);
    const bool ok = check_name(suite, query, err) && check_query(suite, query, &params, err) &&
                    check_setup(suite, query, read.setup, err) &&
                    (!read.run || read_keys(suite->tree, read.run, run_keys, 1, &query->run, err));
    bson_destroy(&params);
    return ok;
}

/* ---- the suite ---- */

/* known: their names. */
static bool check_params(const suite_t *suite, bson_t *known, err_t *err) {
    for (const yaml_item_t *item = suite->params ? suite->params->first : NULL; item; item = item->next)
        if (!check_value(suite, item, NULL, err) || !add_name(suite, known, item, item->key, err))
            return false;
    return true;
}

static bool read_queries(suite_t *suite, const yaml_item_t *list, err_t *err) {
    bson_t known = BSON_INITIALIZER;
    bool ok = check_params(suite, &known, err) && (list->count || COMPLAIN(list, "there are no queries"));
    if (ok && !(suite->queries = calloc(list->count, sizeof *suite->queries)))
        ok = err_memory(err, list->count * sizeof *suite->queries);
    for (const yaml_item_t *item = list->first; ok && item; item = item->next)
        ok = read_query(suite, item, &known, &suite->queries[suite->query_count++], err);
    bson_destroy(&known);
    return ok;
}

/* ---- its tables of published figures ---- */

static bool is_side(const suite_t *suite, const char *name) {
    bool known = strcmp(name, "query") == 0 || strcmp(name, "clients") == 0 || strcmp(name, "reads") == 0;
    for (size_t i = 0; !known && i < suite->query_count; i++)
        known = yaml_item_get(suite->queries[i].each, name);
    return known;
}

static bool is_value(const yaml_item_t *values, const char *word) {
    for (const yaml_item_t *value = values ? values->first : NULL; value; value = value->next) {
        const bool named = values->kind == YAML_ITEM_MAP;
        if (!named && value->kind != YAML_ITEM_SCALAR) /* it is called by its JSON */
            return true;
        if (strcmp(named ? value->key : value->text, word) == 0)
            return true;
    }
    return false;
}

/* Can a measurement have this row? */
static bool is_row(const suite_t *suite, const char *side, const char *word) {
    uint64_t clients;
    bool known = strcmp(side, "clients") == 0 && units_parse_count(word, &clients);
    for (size_t i = 0; !known && i < suite_read_mode_count; i++)
        known = strcmp(side, "reads") == 0 && strcmp(suite_read_modes[i], word) == 0;
    for (size_t i = 0; !known && i < suite->query_count; i++)
        known = strcmp(side, "query") == 0 ? strcmp(suite->queries[i].name, word) == 0
                                           : is_value(yaml_item_get(suite->queries[i].each, side), word);
    return known;
}

static bool is_published(const yaml_item_t *rows) {
    for (const yaml_item_t *row = rows->first; row; row = row->next) {
        if (row->kind != YAML_ITEM_MAP)
            return false;
        for (const yaml_item_t *figure = row->first; figure; figure = figure->next)
            if (!is_text(figure))
                return false;
    }
    return true;
}

/* What --json has of each measurement (cli/cmd_query.c). */
static const char *const figures[] = {"n",           "returned",       "mean_ms",       "sd_ms",   "min_ms",
                                      "p50_ms",      "p95_ms",         "p99_ms",        "p999_ms", "max_ms",
                                      "docs_per_ms", "docs_per_ms_sd", "ops_per_second"};

static bool is_figure(const char *name) {
    bool known = false;
    for (size_t i = 0; !known && i < COUNT(figures); i++)
        known = strcmp(figures[i], name) == 0;
    return known;
}

static bool read_table(const suite_t *suite, const yaml_item_t *map, suite_table_t *table, err_t *err) {
    static const row_t keys[] = {
        {"title", TEXT, offsetof(suite_table_t, title), true},
        {"rows", TEXT, offsetof(suite_table_t, rows), true},
        {"columns", TEXT, offsetof(suite_table_t, columns), true},
        {"show", TEXT, offsetof(suite_table_t, show), true},
        {"queries", NAMES, offsetof(suite_table_t, queries), false},
        {"published", MAP, offsetof(suite_table_t, published), true},
    };
    if (!read_keys(suite->tree, map, keys, COUNT(keys), table, err))
        return false;
    if (!is_side(suite, table->rows) || !is_side(suite, table->columns))
        return COMPLAIN(map, "'rows' and 'columns' are query, clients, reads, or a name of an 'each'");
    for (const yaml_item_t *word = table->queries ? table->queries->first : NULL; word; word = word->next)
        if (!suite_knows(suite, word->text))
            return COMPLAIN(word, "there is no query and no tag '%s' in this suite", word->text);
    if (!is_published(table->published))
        return COMPLAIN(table->published,
                        "'published' is ROW: {COLUMN: FIGURE}, and a figure is a text such as "
                        "0.3 σ 0.03");
    for (const yaml_item_t *row = table->published->first; row; row = row->next)
        if (!is_row(suite, table->rows, row->key))
            return COMPLAIN(row, "no measurement has the row '%s': there is no such value of '%s'", row->key,
                            table->rows);
    const yaml_item_t *show = yaml_item_get(map, "show");
    return is_figure(table->show) ||
           COMPLAIN(show, "'show' names a figure of --json, and '%s' is none%s", table->show,
                    suggestion(table->show, figures, COUNT(figures)).text);
}

static bool read_tables(suite_t *suite, const yaml_item_t *list, err_t *err) {
    if (list && !(suite->tables = calloc(list->count + 1, sizeof *suite->tables)))
        return err_memory(err, list->count * sizeof *suite->tables);
    for (const yaml_item_t *item = list ? list->first : NULL; item; item = item->next)
        if (!read_table(suite, item, &suite->tables[suite->table_count++], err))
            return false;
    return true;
}

typedef struct {
    suite_t suite;
    const yaml_item_t *run, *queries, *tables;
} read_suite_t;

static bool read_suite(suite_t *suite, err_t *err) {
#define AT(member) offsetof(read_suite_t, member)
    static const row_t keys[] = {
        {"suite", TEXT, AT(suite.name), true},    {"about", TEXT, AT(suite.about), false},
        {"params", MAP, AT(suite.params), false}, {"run", MAP, AT(run), false},
        {"queries", LIST, AT(queries), true},     {"tables", LIST, AT(tables), false},
    };
#undef AT
    static const row_t run_keys[] = {
        {"repeats", COUNTED, offsetof(suite_run_t, repeats), true},
        {"warmup", COUNTED, offsetof(suite_run_t, warmups), false},
        {"duration", TIME, offsetof(suite_run_t, duration_ns), false},
        {"clients", CLIENTS, 0, false},
    };
    read_suite_t read = {.suite = *suite};
    if (!read_keys(suite->tree, yaml_tree_root(suite->tree), keys, COUNT(keys), &read, err))
        return false;
    *suite = read.suite;
    return (!read.run || read_keys(suite->tree, read.run, run_keys, COUNT(run_keys), &suite->run, err)) &&
           read_queries(suite, read.queries, err) && read_tables(suite, read.tables, err);
}

/* The root is a pipeline, or the filter of a find. It is unknown how many documents a typed pipeline reads. */
static bool read_typed(suite_t *suite, err_t *err) {
    static const yaml_item_t unknown = {.kind = YAML_ITEM_SCALAR, .text = "unknown", .length = 7};
    const yaml_item_t *const root = yaml_tree_root(suite->tree);
    const bool find = root->kind == YAML_ITEM_MAP;
    bson_t params = BSON_INITIALIZER;
    suite->name = "own";
    suite->typed_filter = *root;
    suite->typed_filter.key = "filter";
    suite->typed_body = (yaml_item_t){.kind = YAML_ITEM_MAP,
                                      .line = root->line,
                                      .column = root->column,
                                      .first = &suite->typed_filter,
                                      .count = 1};
    if (!(suite->queries = calloc(1, sizeof *suite->queries)))
        return err_memory(err, sizeof *suite->queries);
    suite->queries[suite->query_count++] = (query_t){.name = "query",
                                                     .kind = find ? QUERY_FIND : QUERY_PIPELINE,
                                                     .at = root,
                                                     .body = find ? &suite->typed_body : root,
                                                     .documents = find ? NULL : &unknown};
    return check_query(suite, suite->queries, &params, err);
}

/* A query as it was typed, with the blank that YAML wants after the colon of a key: {k:"FORD"} becomes {k: "FORD"}. */
typedef struct {
    text_t text;
    size_t *added; /* where the blanks were put */
    size_t count, room;
} typed_t;

static bool add_blanks(typed_t *typed, const char *query, err_t *err) {
    char inside = '\0'; /* the quote of a text, or # */
    uint64_t maps = 0;  /* a bit for each open bracket, 1 for those of maps; YAML takes 32 of them at most */
    bool key = false;   /* nothing but a word since a bracket or comma of a map */
    size_t place = 0;   /* in characters */
    for (const char *at = query; *at; at++) {
        const bool begins = at == query || strchr("[{,:( \t\r\n", at[-1]);
        text_append_bytes(&typed->text, at, 1);
        place += ((unsigned char)*at & 0xC0) != 0x80;
        if (inside == '"' && *at == '\\' && at[1]) {
            text_append_bytes(&typed->text, ++at, 1);
            place += ((unsigned char)*at & 0xC0) != 0x80;
        } else if (inside) {
            inside = *at == (inside == '#' ? '\n' : inside) ? '\0' : inside;
        } else if (begins && strchr("\"'#", *at)) {
            inside = *at;
        } else if (key && *at == ':' && !strchr(" \t\r\n", at[1])) {
            if (!GROW(typed->added, typed->room, typed->count + 1, err))
                return false;
            typed->added[typed->count++] = place++;
            text_append(&typed->text, " ");
            key = false;
        } else {
            if (strchr("[]{}", *at))
                maps = *at == '{' || *at == '[' ? maps << 1 | (*at == '{') : maps >> 1;
            key = *at == '{' || (*at == ',' && maps & 1) || (key && !strchr("[]}:,", *at));
        }
    }
    return !typed->text.lacking || err_memory(err, typed->text.lacking);
}

/* Takes the tree, which may be NULL: err has the sentence then. */
static suite_t *make_suite(yaml_tree_t *tree, const char *text, size_t length, bool typed, err_t *err) {
    suite_t *suite = tree ? calloc(1, sizeof *suite) : NULL;
    bool ok = suite && (suite->text = strndup(text, length));
    if (tree && !ok)
        err_memory(err, length);
    if (suite)
        *suite = (suite_t){.tree = tree, .text = suite->text, .run.warmups = SUITE_UNSAID};
    else
        yaml_tree_destroy(tree);
    if (ok && (typed ? read_typed(suite, err) : read_suite(suite, err)))
        return suite;
    suite_close(suite);
    return NULL;
}

suite_t *suite_parse(const char *text, size_t length, const char *name, err_t *err) {
    return make_suite(yaml_tree_parse(text, length, name, err), text, length, false, err);
}

static suite_t *open_typed(const char *query, err_t *err) {
    typed_t typed = {.count = 0};
    suite_t *suite = NULL;
    if (add_blanks(&typed, query, err))
        suite = make_suite(yaml_tree_parse_typed(typed.text.bytes, typed.text.length, typed.added,
                                                 typed.count, "the query", err),
                           query, strlen(query), true, err);
    text_free(&typed.text);
    free(typed.added);
    return suite;
}

suite_t *suite_open(const char *name, err_t *err) {
    opened_t opened;
    if (typed_query_is(name))
        return open_typed(name, err);
    if (!builtin_open(builtin_suites, "suite", name, &opened, err))
        return NULL;
    suite_t *suite = suite_parse(opened.text, opened.length, name, err);
    free(opened.text);
    return suite;
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
