/* parts: an aggregation as parts that can be computed apart from each other, each of some of the documents,
 * and merged exactly: stages that look at one document at a time, then one $group whose accumulators can be
 * put together from those of parts. Nothing here talks to a server; any thread.
 *
 *     pipeline    $match ... $project ... | $group          | $sort ...
 *     a part      $match ... $project ... | $group to parts |
 *     the merge                           | $group of parts | $sort ...
 *
 * A part's documents are {_id: KEY, s0: a sum, n0: a count, m1: a least or greatest, ...}: what each
 * accumulator has of these documents; $avg has sum and count. */
#ifndef TIPPLE_QUERY_SPLIT_PARTS_H
#define TIPPLE_QUERY_SPLIT_PARTS_H

#include <bson/bson.h>

typedef struct {
    bool can;      /* else: */
    char why[400]; /* "stage 2, $lookup, cannot be split exactly because ..." */
    bool rounds;   /* sums or averages what may be doubles: another order, another rounding */
    bson_t lead;   /* {"0": ...}: the stages before the $group */
    bson_t group;  /* {$group: ...}: a part's */
    bson_t merge;  /* {"0": ...}: the $group of parts, and what follows it */
} parts_t;

/* pipeline: {"0": ..., ...}. parts_free in either case. */
void parts_plan(parts_t *parts, const bson_t *pipeline);
void parts_free(parts_t *parts); /* zeroed is allowed */

/* What one part runs on documents whose _id is at or above `from` and below `to`; NULL: no bound on this
 * side. A bound is met by _ids of its own type only (all numbers are one). limit: on so many of them; 0: all.
 */
void parts_pipeline(const parts_t *parts, const bson_iter_t *from, const bson_iter_t *to, uint32_t limit,
                    bson_t *pipeline);

/* What merges them; documents: those of all parts, {"0": ..., ...}. */
void parts_merge(const parts_t *parts, const bson_t *documents, bson_t *pipeline);

/* In a part's document: did a sum of whole numbers leave 64 bits, and become a double that is not exact? True
 * also of a sum of doubles that is as large. */
bool parts_overflowed(const bson_t *document);

#endif
