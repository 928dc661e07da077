/* expected: is an answer the one that a suite expects? Numbers of any type are equal when they differ by no more
 * than rounding (1 and 1.0 are), the order of fields does not count. Any thread. */
#ifndef TIPPLE_QUERY_SUITE_EXPECTED_H
#define TIPPLE_QUERY_SUITE_EXPECTED_H

#include "query/suite/request.h"

enum { EXPECTED_DIGEST = 33 };

/* XXH3-128 of what the documents hold, as hexadecimal digits. Of numbers their value counts, not their type:
 * whole ones exactly (doubles up to 2^53), others with ten digits. The order of fields does not count; neither
 * does that of the documents when `unordered`. */
void expected_digest(const bson_t *documents, bool unordered, char digest[EXPECTED_DIGEST]);

/* Can this be expected? Else it is complained of at its place. filled: the suite's map as BSON. known: with its
 * parameters; else a null may be one of them. */
bool expected_sane(const bson_t *filled, bool known, const yaml_item_t *expect, const yaml_tree_t *tree,
                   err_t *err);

/* filled: with its parameters, and sane. What differs is described in `difference` ("" when nothing does). */
void expected_check(const bson_t *filled, const answer_t *answer, char *difference, size_t room);

#endif
