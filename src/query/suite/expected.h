/* expected: is an answer the one that a suite expects? It says how many documents come back, or their digest. Any
 * thread. */
#ifndef TIPPLE_QUERY_SUITE_EXPECTED_H
#define TIPPLE_QUERY_SUITE_EXPECTED_H

#include "query/suite/request.h"

enum { EXPECTED_DIGEST = 33 };

/* XXH3-128 of the documents' content, as hexadecimal digits. Of numbers only the value counts, not the type: whole
 * numbers exactly (doubles up to 2^53), others to ten digits. The order of fields does not count, that of documents does. */
void expected_digest(const bson_t *documents, char digest[EXPECTED_DIGEST]);

/* Refuses an expectation that makes no sense, with its place in the suite. filled: the suite's map as BSON. known:
 * parameters are filled in; false: a null may stand for a parameter. */
bool expected_sane(const bson_t *filled, bool known, const yaml_item_t *expect, const yaml_tree_t *tree,
                   err_t *err);

/* filled: with parameters filled in, and accepted by expected_sane. Describes the difference; "": none. */
void expected_check(const bson_t *filled, const answer_t *answer, char *difference, size_t room);

#endif
