/* suite: a YAML file of named queries, checked as a whole before anything runs: a mistake is refused with its
 * line and column. docs/queries.md describes the file. Read-only after it was opened; any thread. */
#ifndef TIPPLE_QUERY_SUITE_SUITE_H
#define TIPPLE_QUERY_SUITE_SUITE_H

#include "base/yaml_tree.h"

#include <bson/bson.h>

typedef enum {
    QUERY_PIPELINE,   /* an aggregation */
    QUERY_FIND,       /* a find, whose documents are counted */
    QUERY_ACCUMULATE, /* a find, of whose documents the client accumulates one field */
} query_kind_t;

/* Nodes are NULL where the suite says nothing. */
typedef struct {
    const char *name, *about;
    const char *collection; /* beside that of the URI; NULL: it itself */
    query_kind_t kind;
    const yaml_item_t *at;      /* where it stands */
    const yaml_item_t *body;    /* the pipeline, or the map of the find */
    const yaml_item_t *options; /* allowDiskUse, hint, ... */
    const yaml_item_t *each; /* parameter: list of values, a measurement for each (of their combinations) */
    const yaml_item_t
        *draw; /* {gives: names, pipeline}: an operation takes one of its documents, by chance */
    const yaml_item_t *indexes;   /* that must be there: [{key: {...}, ...}] */
    const yaml_item_t *documents; /* how many it looks at: all, returned, a number or a parameter */
    const yaml_item_t *expect;    /* {documents, digest, values, unordered} */
    const yaml_item_t *tags;
} query_t;

/* A table to print: one measured figure, by two of the things that make measurements different. */
typedef struct {
    const char *title, *rows, *columns, *show;
    const yaml_item_t *queries; /* these only; NULL: all */
} suite_table_t;

typedef struct {
    yaml_tree_t *tree;
    const char *name, *about;
    const yaml_item_t *params; /* name: value */
    query_t *queries;
    size_t query_count;
    suite_table_t *tables;
    size_t table_count;
    char *text; /* as it stands in the file */
} suite_t;

/* A built-in one by its name, or a file by its path. NULL: status 1 with the sentence. */
suite_t *suite_open(const char *name, err_t *err);
suite_t *suite_parse(const char *text, size_t length, const char *name, err_t *err);
void suite_close(suite_t *suite); /* NULL is allowed */

/* Does one of these words name the query or one of its tags? */
bool suite_has_tag(const query_t *query, const char *word);

/* The names of a query's `gives`, one by one; NULL at the end. */
const char *suite_given(const query_t *query, size_t number);

#endif
