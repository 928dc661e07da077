/* reading: does an aggregation only read? Its stages must be among those that are known to, wherever a stage
 * is: also in the pipelines of $lookup, $unionWith and $facet, and in what parameters were filled in with. Any
 * thread. */
#ifndef TIPPLE_QUERY_SUITE_READING_H
#define TIPPLE_QUERY_SUITE_READING_H

#include "base/yaml_tree.h"

#include <bson/bson.h>

/* pipeline: {"0": ...}, as `list` makes it, whose stage is complained of. known: its parameters are filled in;
 * else a null may be one of them, and is passed over. */
bool reading_check(const bson_t *pipeline, bool known, const yaml_tree_t *tree, const yaml_item_t *list,
                   err_t *err);

#endif
