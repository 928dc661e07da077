/* What the files that read a suite share. */
#ifndef TIPPLE_QUERY_SUITE_SUITE_INNER_H
#define TIPPLE_QUERY_SUITE_SUITE_INNER_H

#include "query/suite/suite.h"

#define COMPLAIN(at, ...) yaml_tree_complain(suite->tree, at, err, __VA_ARGS__)

bool suite_want(const suite_t *suite, const yaml_item_t *node, yaml_item_kind_t kind, const char *expected,
                err_t *err);
/* *text stays as it is where there is no such key. */
bool suite_read_text(const suite_t *suite, const yaml_item_t *map, const char *key, const char **text,
                     err_t *err);
bool suite_list_of_texts(const suite_t *suite, const yaml_item_t *node, const char *key, err_t *err);

/* suite_run.c */
bool suite_read_run(suite_t *suite, const yaml_item_t *map, err_t *err);

/* suite_tables.c */
bool suite_read_tables(suite_t *suite, const yaml_item_t *list, err_t *err);

#endif
