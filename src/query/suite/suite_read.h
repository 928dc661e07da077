/* suite_read: what the parts of a suite are read by. */
#ifndef TIPPLE_QUERY_SUITE_SUITE_READ_H
#define TIPPLE_QUERY_SUITE_SUITE_READ_H

#include "base/yaml_tree.h"

#include <bson/bson.h>

bool suite_want(const yaml_tree_t *tree, const yaml_item_t *node, yaml_item_kind_t kind, const char *expected,
                err_t *err);
/* *text stays as it is where there is no such key. */
bool suite_read_text(const yaml_tree_t *tree, const yaml_item_t *map, const char *key, const char **text,
                     err_t *err);
bool suite_list_of_texts(const yaml_tree_t *tree, const yaml_item_t *node, const char *key, err_t *err);

/* An index of a `setup` as a server takes it, but for its name, where it has none of its own: it is the one that
 * collection_name_index gives, then, and fits. index: initialised even if it fails. */
bool suite_read_index(const yaml_tree_t *tree, const yaml_item_t *node, bson_t *index, err_t *err);

#endif
