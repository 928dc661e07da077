/* answer: what comes back of a request: its documents, their digest, whether they are expected, and what a client
 * accumulates of them. One thread. */
#ifndef TIPPLE_QUERY_SUITE_ANSWER_H
#define TIPPLE_QUERY_SUITE_ANSWER_H

#include "base/yaml_tree.h"
#include "server/server.h"

/* What came back. Zeroed before; `keep` may be set. The documents kept grow only to `most_bytes`. */
typedef struct {
    bool keep;
    size_t most_bytes;
    bson_t *documents; /* keep: {"0": ..., ...} */
    bool more;         /* some were not kept */
    uint64_t count;
} answer_t;

/* Zeroes it; with `keep` false the answer only counts. */
void answer_begin(answer_t *answer, bool keep);
void answer_take(answer_t *answer, const bson_t *document);
void answer_drop(answer_t *answer); /* keeps the count, and no document any more */
void answer_end(answer_t *answer);

/* ---- what a suite expects: how many documents come back, or their digest ---- */

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

/* ---- what a client accumulates ---- */

/* A field's count, sum, least and greatest, as a $group with $min, $max and $sum would give them, but computed here, in
 * doubles, whatever the types of the numbers. What is not a number is below all numbers, as for the server. */
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
