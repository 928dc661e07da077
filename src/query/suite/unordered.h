/* unordered: do two lists of documents hold the same ones, in any order? Numbers are equal where they differ by little,
 * so it is not enough that each has an equal in the other: they have to be matched. Any thread. */
#ifndef TIPPLE_QUERY_SUITE_UNORDERED_H
#define TIPPLE_QUERY_SUITE_UNORDERED_H

#include <bson/bson.h>

/* Are these documents the same? The iterators stand before their first fields. Documents that are the same have the same
 * shape: alike but for the order of fields, and for numbers that differ by a billionth at most. */
typedef bool unordered_same_fn(const bson_iter_t *wanted, const bson_iter_t *found);

/* `wanted` stands before the first document of a list, and afterwards at the first one for which none of `found` is
 * left (true). False: there is none, or a stop signal came. */
bool unordered_misses(bson_iter_t *wanted, const bson_t *found, unordered_same_fn *same);

#endif
