/* question: by which a later run knows that it asks the same: the request, without how it is sent. Any thread. */
#ifndef TIPPLE_QUERY_QUESTION_H
#define TIPPLE_QUERY_QUESTION_H

#include "query/suite/suite.h"

enum { QUESTION_DIGEST = 33 };

/* XXH3-128 of the query with its parameters filled in, as hexadecimal digits. What is drawn by chance is not part of it,
 * but how it is drawn. */
bool question_digest(const query_t *query, const suite_t *suite, const bson_t *params,
                     char digest[QUESTION_DIGEST], err_t *err);

#endif
