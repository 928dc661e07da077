/* first_query: the query that is sent first when a collection is there again: one of a suite, or, if no suite belongs
 * to the format, one document by its _id. Main thread. */
#ifndef TIPPLE_STUDY_DRILL_FIRST_QUERY_H
#define TIPPLE_STUDY_DRILL_FIRST_QUERY_H

#include "base/err.h"

#include <stdbool.h>
#include <stdint.h>

/* suite "": one document by its _id. */
typedef struct {
    char suite[1024], query[256];
} first_query_t;

/* From "SUITE[:NAME]". NULL: the first query of the format's own suite that needs no index and no drawn or chosen
 * values. Does not ask a server. Status 1: there is no such suite or query. */
bool first_query_choose(const char *words, const char *format, first_query_t *chosen, err_t *err);

const char *first_query_name(const first_query_t *chosen, char out[1400]); /* "mot greenness" */

typedef struct {
    double seconds; /* from the query to the end of its answer */
    uint64_t returned;
    bool scans; /* it reads the whole collection */
} first_answer_t;

/* Status 7: the answer is not as expected. */
bool first_query_ask(const first_query_t *chosen, const char *uri, int64_t patience_ns,
                     first_answer_t *answer, err_t *err);

#endif
