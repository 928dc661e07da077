/* beyond: does an expression or a filter depend only on the document? Then it makes no difference when, and together
 * with which other documents, it is evaluated. Any thread. */
#ifndef TIPPLE_QUERY_SPLIT_BEYOND_H
#define TIPPLE_QUERY_SPLIT_BEYOND_H

#include <bson/bson.h>

/* What in it depends on something else: "$rand", "$$NOW", ...; NULL: nothing. value: an expression, or a document or
 * list of expressions; texts and operators inside $literal are data. */
const char *beyond_expression(const bson_iter_t *value);

/* The same for the argument of $match: texts are data, and expressions are in $expr. */
const char *beyond_filter(const bson_iter_t *filter);

#endif
