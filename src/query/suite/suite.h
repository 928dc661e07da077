/* suite: a YAML file of named queries, or one query as it was typed, checked as a whole and read into one structure.
 *
 * A suite_t holds the tree of its file (base/yaml_tree.h) and points into it: what a query asks stays YAML, because its
 * parameters are not known yet. `{$param: NAME}` stands for the value of a parameter. A parameter comes from the `params`
 * of the suite, from the `each` of a query (a measurement for each value) or from its `draw` (an operation for each
 * document that a pipeline gives), and no two of a query have the same name.
 *
 * Three steps lead from the file to the server. suite_open reads everything, builds each query once with all its
 * parameters unknown, and refuses what could never be sent, with its line and column. works.c combines the parameters.
 * request_build (request.h) fills them in and checks the same rules again, now with their values. Nothing is parsed or
 * looked up after that.
 *
 * While parameters are unknown, an `undefined` of BSON stands for each of them, and every check passes over it.
 *
 * docs/suites.md describes the file for users. Read-only after suite_open; any thread. */
#ifndef TIPPLE_QUERY_SUITE_SUITE_H
#define TIPPLE_QUERY_SUITE_SUITE_H

#include "base/yaml_tree.h"

#include <bson/bson.h>

enum { SUITE_MOST_CHOICES = 16, SUITE_MOST_CLIENTS = 1024 };
#define SUITE_UNSAID UINT32_MAX

/* How a suite or a query is measured; 0: it does not say. Options on the command line win. */
typedef struct {
    uint32_t repeats, warmups; /* warmups SUITE_UNSAID: it does not say */
    int64_t duration_ns;
    uint32_t clients[SUITE_MOST_CHOICES];
    size_t client_choices;
} suite_run_t;

/* Published figures, arranged by two of the things in which measurements differ. */
typedef struct {
    const char *title, *rows, *columns, *show;
    const yaml_item_t *queries;   /* only these; NULL: all */
    const yaml_item_t *published; /* row: {column: text} */
} suite_table_t;

typedef enum {
    QUERY_PIPELINE,   /* an aggregation */
    QUERY_FIND,       /* a find, whose documents are counted */
    QUERY_ACCUMULATE, /* a find; the client accumulates one field of its documents */
    QUERY_MAP_REDUCE, /* JavaScript in the server, whose answer comes back */
} query_kind_t;

/* Nodes are NULL if the suite does not have them. */
typedef struct {
    const char *name, *about;
    const char *collection; /* another one than that of the URI; NULL: the URI's */
    query_kind_t kind;
    const yaml_item_t *at;        /* its place in the suite */
    const yaml_item_t *body;      /* the pipeline, or the map of the find, accumulate or mapReduce */
    const yaml_item_t *options;   /* allowDiskUse, hint, ... */
    const yaml_item_t *each;      /* parameter: list or map of values */
    const yaml_item_t *draw;      /* {gives: names, pipeline} */
    const yaml_item_t *indexes;   /* the indexes that it needs: [{key: {...}, ...}] */
    const yaml_item_t *documents; /* how many it reads: all, returned, unknown, a number or a parameter */
    const yaml_item_t *expect;    /* {documents, digest} */
    const yaml_item_t *tags;
    suite_run_t run; /* its own numbers of clients */
    bool explain;    /* a find: the server is asked what it reads */
} query_t;

typedef struct {
    yaml_tree_t *tree;
    const char *name, *about;
    const yaml_item_t *params; /* name: value */
    suite_run_t run;
    query_t *queries;
    size_t query_count;
    suite_table_t *tables;
    size_t table_count;
    char *text;             /* as in the file, or as typed */
    yaml_item_t typed_body; /* {filter: ...} around a filter that was typed */
    yaml_item_t typed_filter;
} suite_t;

/* Is this no name of a suite, but a query itself: '[PIPELINE]' or '{FILTER}'? */
static inline bool typed_query_is(const char *text) {
    while (*text == ' ' || *text == '\t' || *text == '\r' || *text == '\n')
        text++;
    return *text == '[' || *text == '{';
}

/* Opens a built-in suite by its name, a file by its path, or a suite of this one query. NULL: status 1 with the
 * sentence. */
suite_t *suite_open(const char *name, err_t *err);
suite_t *suite_parse(const char *text, size_t length, const char *name, err_t *err);
void suite_close(suite_t *suite); /* NULL is allowed */

/* Is the word the name of the query or one of its tags? */
bool suite_has_tag(const query_t *query, const char *word);
/* Or of any query of the suite? */
bool suite_knows(const suite_t *suite, const char *word);

/* The names in a query's `gives`, by number; NULL after the last. */
const char *suite_given(const query_t *query, size_t number);

/* Refuses keys that are not in the list; of some it says why they are not. */
bool suite_check_keys(const yaml_tree_t *tree, const yaml_item_t *map, const char *const *keys, size_t count,
                      err_t *err);

/* ---- values (value.c) ----
 *
 * A text in quotes is a text, and so is a plain word: letters, digits and _ . $ -, which begins with a letter, _ or $.
 * Everything else that is plain has to be a value of JSON or of MongoDB's shell: 5, null, ISODate("2014-01-31"), /^a/i.
 * A map with one key of Extended JSON ({$date: 2014-01-31}) is the value that it means. What is neither is refused:
 * as a text it would ask for something else than was meant. */

/* Appends the node's value. params: name to value; NULL: there are none. An error names its line and column. */
bool value_append(bson_t *to, const char *key, const yaml_item_t *node, const yaml_tree_t *tree,
                  const bson_t *params, err_t *err);

/* A map, or a list as {"0": ...}, as a document of its own; initialised even if it fails. */
bool value_document(bson_t *document, const yaml_item_t *node, const yaml_tree_t *tree, const bson_t *params,
                    err_t *err);

/* A value as typed (--param NAME=VALUE): YAML, so 5, [1, 2] or {$date: 2014-01-31}. */
bool value_parse(bson_t *to, const char *key, const char *text, err_t *err);

/* The nearest double of a number of any type. False: it is not a number, or a decimal that is too large or too small for
 * a double. */
bool numeric_double(const bson_iter_t *at, double *number);
/* A whole number, if it is known exactly: doubles and decimals are up to 2^53. */
bool numeric_whole(const bson_iter_t *at, int64_t *whole);

#endif
