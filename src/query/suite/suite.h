/* suite: a YAML file of named queries. It is checked as a whole before anything runs: a mistake is refused with its
 * line and column. docs/queries.md describes the file. Read-only after suite_open; any thread. */
#ifndef TIPPLE_QUERY_SUITE_SUITE_H
#define TIPPLE_QUERY_SUITE_SUITE_H

#include "base/yaml_tree.h"

#include <bson/bson.h>

enum { SUITE_MOST_CHOICES = 16, SUITE_MOST_CLIENTS = 1024 };
#define SUITE_UNSAID UINT32_MAX

/* How the suite is measured; 0: it does not say. Options on the command line win. */
typedef struct {
    uint32_t repeats, warmups; /* warmups SUITE_UNSAID: it does not say */
    int64_t duration_ns;
    uint32_t clients[SUITE_MOST_CHOICES];
    const char *reads[SUITE_MOST_CHOICES]; /* words of suite_read_modes */
    size_t client_choices, reads_choices;
} suite_run_t;

/* primary, secondary, ...; their number. */
extern const char *const suite_read_modes[];
extern const size_t suite_read_mode_count;

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
    const yaml_item_t *at;      /* its place in the suite */
    const yaml_item_t *body;    /* the pipeline, or the map of the find */
    const yaml_item_t *options; /* allowDiskUse, hint, ... */
    /* parameter: list of values; there is a measurement for each value (each combination) */
    const yaml_item_t *each;
    /* {gives: names, pipeline}: each operation takes one of its documents, at random */
    const yaml_item_t *draw;
    const yaml_item_t *indexes;   /* the indexes that it needs: [{key: {...}, ...}] */
    const yaml_item_t *documents; /* how many it looks at: all, returned, unknown, a number or a parameter */
    const yaml_item_t *expect;    /* {documents, digest} */
    const yaml_item_t *tags;
    suite_run_t run; /* its own numbers of clients */
    bool explain;    /* a find: the server is asked how it went about it */
} query_t;

typedef struct {
    yaml_tree_t *tree;
    const char *name, *about;
    const yaml_item_t *params;  /* name: value */
    const yaml_item_t *formats; /* names of those whose documents it asks; NULL: of any */
    suite_run_t run;
    query_t *queries;
    size_t query_count;
    suite_table_t *tables;
    size_t table_count;
    char *text; /* as in the file */
} suite_t;

/* Opens a built-in suite by its name, a file by its path, or a suite of this one query. NULL: status 1 with the
 * sentence. */
suite_t *suite_open(const char *name, err_t *err);
suite_t *suite_parse(const char *text, size_t length, const char *name, err_t *err);
void suite_close(suite_t *suite); /* NULL is allowed */

/* Is one of these words the name of the query or one of its tags? */
bool suite_has_tag(const query_t *query, const char *word);
/* Or of any query of the suite? */
bool suite_knows(const suite_t *suite, const char *word);

/* The names in a query's `gives`, by number; NULL after the last. */
const char *suite_given(const query_t *query, size_t number);

/* Reads an index of a `setup` as a server takes it; if it has no name of its own, it gets that of collection_name_index,
 * which fits. index: initialised even if it fails. */
bool suite_read_index(const yaml_tree_t *tree, const yaml_item_t *node, bson_t *index, err_t *err);

/* What a query is itself, as one document, with these parameters; initialised even if it fails. */
bool suite_fill(bson_t *filled, const suite_t *suite, const query_t *query, const bson_t *params, err_t *err);

#endif
