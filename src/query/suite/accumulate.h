/* accumulate: a field's count, sum, least, greatest, mean and deviation, as a $group with $min, $max, $sum, $avg and
 * $stdDevPop would give them, but computed here, in doubles, whatever the types of the numbers. What is not a number is
 * below all numbers, as for the server. One thread. */
#ifndef TIPPLE_QUERY_SUITE_ACCUMULATE_H
#define TIPPLE_QUERY_SUITE_ACCUMULATE_H

#include "base/numbers/hist.h"

#include <bson/bson.h>

typedef struct {
    const char *field; /* without dots: a field of the document itself; with dots: of documents inside it */
    bool dotted;
    moments_t moments;
    double least, greatest;
    double sum, lost; /* lost: the rounding error of sum */
    uint64_t documents;
} accumulate_t;

void accumulate_begin(accumulate_t *sums, const char *field);
void accumulate_take(accumulate_t *sums, const bson_t *document);
/* {count, sum, min, max, mean, deviation}; count: how many documents have a number in the field. */
void accumulate_result(const accumulate_t *sums, bson_t *result);

#endif
