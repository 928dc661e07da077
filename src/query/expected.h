/* expected: is an answer the one that a suite expects? Numbers are equal when they differ by no more than
 * rounding (1 and 1.0 are), the order of fields does not count. */
#ifndef TIPPLE_QUERY_EXPECTED_H
#define TIPPLE_QUERY_EXPECTED_H

#include "query/request.h"

enum { EXPECTED_DIGEST = 33 };

/* XXH3-128 of what the documents hold, as hexadecimal digits: doubles count with ten digits, the order of
 * fields does not; neither does that of the documents when `unordered`. */
void expected_digest(const bson_t *documents, bool unordered, char digest[EXPECTED_DIGEST]);

/* expected: the suite's map, with params filled in. What differs is described in `difference` ("" when
 * nothing does). False: the expectation itself is broken. */
bool expected_check(const ynode_t *expect, const ytree_t *tree, const bson_t *params, const answer_t *answer,
                    char *difference, size_t room, err_t *err);

#endif
