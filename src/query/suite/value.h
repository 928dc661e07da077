/* value: what stands in a suite, as BSON. Plain scalars are null, true, false, int32 (int64 where it must) or
 * double where they look like it, everything else is text; maps of extended JSON ({$date: 2014-01-31}, {$oid:
 * ...},
 * {$numberLong: "7"}) are the values they mean, and {$param: NAME} is the parameter. Any thread. */
#ifndef TIPPLE_QUERY_SUITE_VALUE_H
#define TIPPLE_QUERY_SUITE_VALUE_H

#include "base/yaml_tree.h"

#include <bson/bson.h>

/* Appends the node's value; params: name to value, NULL: only what parameters are not named is checked. What
 * does not fit is complained of with its line and column. */
bool value_append(bson_t *to, const char *key, const yaml_item_t *node, const yaml_tree_t *tree,
                  const bson_t *params, err_t *err);

/* A map (or a list, as {"0": ...}) as a document of its own; initialised also when it fails. */
bool value_document(bson_t *document, const yaml_item_t *node, const yaml_tree_t *tree, const bson_t *params,
                    err_t *err);

/* Are all parameters that a node names among these? And does everything in it make sense? */
bool value_check(const yaml_item_t *node, const yaml_tree_t *tree, const char *const *names, size_t count,
                 err_t *err);

/* The same of a map or a list, as a document of its own, with null in the place of each parameter; initialised
 * also when it fails. */
bool value_sketch(bson_t *document, const yaml_item_t *node, const yaml_tree_t *tree,
                  const char *const *names, size_t count, err_t *err);

/* A value that was typed (--param NAME=VALUE): YAML, so 5, [1, 2] or {$date: 2014-01-31}. */
bool value_parse(bson_t *to, const char *key, const char *text, err_t *err);

#endif
