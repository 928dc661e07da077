/* accumulate: a field's count, sum, least, greatest, mean and deviation, as $group of $min, $max, $sum, $avg and
 * $stdDevPop would have it, computed here, in doubles, whatever the numbers are. What is no number is below all
 * that are, as for the server. One thread. */
#ifndef TIPPLE_QUERY_SUITE_ACCUMULATE_H
#define TIPPLE_QUERY_SUITE_ACCUMULATE_H

#include "base/numbers/hist.h"

#include <bson/bson.h>

typedef struct {
    const char *field; /* without dots: of the document itself; with: of documents inside */
    bool dotted;
    moments_t moments;
    double least, greatest;
    double sum, lost; /* lost: what the sum is short of by rounding */
    uint64_t documents;
} accumulate_t;

void accumulate_begin(accumulate_t *sums, const char *field);
void accumulate_take(accumulate_t *sums, const bson_t *document);
/* {count, sum, min, max, mean, deviation}; count is of the documents that have a number there. */
void accumulate_result(const accumulate_t *sums, bson_t *result);

#endif
