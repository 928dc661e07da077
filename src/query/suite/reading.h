/* reading: does an aggregation only read? Each of its stages must be one that is known to. This includes the stages in
 * the pipelines of $lookup, $unionWith and $facet, and in what parameters were replaced by. Any thread. */
#ifndef TIPPLE_QUERY_SUITE_READING_H
#define TIPPLE_QUERY_SUITE_READING_H

#include "base/yaml_tree.h"

#include <bson/bson.h>

/* pipeline: {"0": ...}, as made from `list`; a refusal names the place of the stage in `list`. known: parameters are
 * filled in; false: a null may stand for a parameter, and is ignored. */
bool reading_check(const bson_t *pipeline, bool known, const yaml_tree_t *tree, const yaml_item_t *list,
                   err_t *err);

#endif
