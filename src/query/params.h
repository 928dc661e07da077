/* params: the parameters of a suite, as they are there and as --param says, and all values of an `each`. */
#ifndef TIPPLE_QUERY_PARAMS_H
#define TIPPLE_QUERY_PARAMS_H

#include "query/suite/suite.h"

#include <bson/bson.h>

enum { PARAMS_MOST_BYTES = 64 << 20 };

/* Parses "n=1000": the value replaces the suite's own parameter, or an `each` list. */
bool params_read(bson_t *typed, const suite_t *suite, char *const *texts, size_t text_count, err_t *err);

/* All parameters of the suite, without those of `each`. */
bool params_of_suite(bson_t *params, const suite_t *suite, const bson_t *typed, err_t *err);

typedef struct {
    const yaml_tree_t *tree;
    const bson_t *typed;  /* see params_read */
    const bson_t *params; /* all others, which the values may contain */
    err_t *err;
} params_t;

/* {NAME: value, ...}: all values of an `each`, PARAMS_MOST_BYTES at most. */
bool params_each(bson_t *values, const params_t *given, const yaml_item_t *item);

/* How many they are, in the suite or as typed. */
uint64_t params_each_count(const bson_t *typed, const yaml_item_t *item);

/* A label that is safe to show; for bson_free. */
char *params_label(const char *text);

#endif
