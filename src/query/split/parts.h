/* parts: an aggregation as parts that are computed separately, each from some of the documents, and merged exactly. It
 * must have stages that look at one document at a time, then one $group whose accumulators can be combined from those
 * of the parts. Does not talk to a server; any thread.
 *
 *     pipeline    $match ... $project ... | $group          | $sort ...
 *     a part      $match ... $project ... | $group to parts |
 *     the merge                           | $group of parts | $sort ...
 *
 * A part's documents are {_id: KEY, s0: a sum, n0: a count, m1: a least or greatest, ...}: what each accumulator has of
 * the part's documents; $avg has a sum and a count. */
#ifndef TIPPLE_QUERY_SPLIT_PARTS_H
#define TIPPLE_QUERY_SPLIT_PARTS_H

#include <bson/bson.h>

typedef struct {
    bool can;      /* false: it cannot be split, because: */
    char why[400]; /* "stage 2, $lookup, cannot be split exactly because ..." */
    bool rounds;   /* it sums or averages values that may be doubles: another order rounds differently */
    bson_t lead;   /* {"0": ...}: the stages before the $group */
    bson_t group;  /* {$group: ...} of a part */
    bson_t merge;  /* {"0": ...}: the $group of parts, and the stages after it */
} parts_t;

/* pipeline: {"0": ..., ...}. Call parts_free in either case. */
void parts_plan(parts_t *parts, const bson_t *pipeline);
void parts_free(parts_t *parts); /* zeroed is allowed */

/* The pipeline of one part, for documents with an _id at or above `from` and below `to`; NULL: no bound on this side. A
 * bound applies only to _ids of its own type (all numbers are one type). limit: only this many documents; 0: all. */
void parts_pipeline(const parts_t *parts, const bson_iter_t *from, const bson_iter_t *to, uint32_t limit,
                    bson_t *pipeline);

/* The pipeline that merges them; documents: those of all parts, {"0": ..., ...}. */
void parts_merge(const parts_t *parts, const bson_t *documents, bson_t *pipeline);

/* For a document of a part: did a sum of whole numbers exceed 64 bits, and become a double that is not exact? Also true
 * for a sum of doubles that is as large. */
bool parts_overflowed(const bson_t *document);

#endif
