/* beyond: does an expression or a filter depend on the document alone, so that it makes no difference when
 * and beside which others it is evaluated? Any thread. */
#ifndef TIPPLE_QUERY_SPLIT_BEYOND_H
#define TIPPLE_QUERY_SPLIT_BEYOND_H

#include <bson/bson.h>

/* What in it does not: "$rand", "$$NOW", ...; NULL: it all depends on the document alone. An expression, or a
 * document or list of them; texts and operators inside of $literal are data. */
const char *beyond_expression(const bson_iter_t *value);

/* The same for what $match takes: texts are data, and expressions stand in $expr. */
const char *beyond_filter(const bson_iter_t *filter);

#endif
