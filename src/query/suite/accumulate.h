/* accumulate: a field's count, sum, least and greatest, as a $group with $min, $max and $sum would give them, but computed
 * here, in doubles, whatever the types of the numbers. What is not a number is below all numbers, as for the server. One
 * thread. */
#ifndef TIPPLE_QUERY_SUITE_ACCUMULATE_H
#define TIPPLE_QUERY_SUITE_ACCUMULATE_H

#include <bson/bson.h>

typedef struct {
    const char *field; /* without dots: a field of the document itself; with dots: of documents inside it */
    bool dotted;
    bool keeps; /* first all numbers as a list, then the figures of it */
    double *list;
    size_t listed, room;
    uint64_t count; /* documents that have a number in the field */
    double least, greatest;
    double sum, lost; /* lost: the rounding error of sum */
    uint64_t documents;
} accumulate_t;

void accumulate_begin(accumulate_t *sums, const char *field, bool keeps);
void accumulate_take(accumulate_t *sums, const bson_t *document);
/* {_id: 0, value: {count, max, min, sum}}, and the end. */
void accumulate_result(accumulate_t *sums, bson_t *result);

#endif
