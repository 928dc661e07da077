/* bounds: where to cut a collection's _ids into ranges of equal work. The _ids of tipple's own loads are spread over
 * lanes (record_id.h); equal shares of the lanes are equal work. Other _ids are cut at the quantiles of a sample. A
 * server compares an _id only with _ids of its own type, so all must have one type (all numbers are one type). Then
 * each document is in exactly one range. */
#ifndef TIPPLE_QUERY_SPLIT_BOUNDS_H
#define TIPPLE_QUERY_SPLIT_BOUNDS_H

#include "query/suite/ask.h"

typedef struct {
    uint32_t ranges; /* 1: it is not cut, because: */
    char why[200];
    bson_t cuts; /* {"0": an _id, ...}, ascending: the first _id of each range except the first */
    bool lanes;  /* the cuts are between lanes */
    int rank;    /* keyorder_rank of the _ids */
} bounds_t;

/* At most `ranges` ranges. False: the server did not answer. Call bounds_free in either case. */
bool bounds_find(bounds_t *bounds, mongoc_client_t *client, const request_t *request, uint32_t ranges,
                 bson_error_t *error);

/* The pure part. least, greatest: {_id: ...}; sample: a list of such documents, ascending, no _id twice. */
void bounds_choose(bounds_t *bounds, const bson_t *least, const bson_t *greatest, const bson_iter_t *sample,
                   uint32_t ranges);
void bounds_free(bounds_t *bounds); /* zeroed is allowed */

/* Is every _id between these two in exactly one range? */
bool bounds_hold(const bounds_t *bounds, const bson_t *least, const bson_t *greatest);

/* The bound at which range `number` begins (0: there is none), or the last range ends (number == ranges: there is
 * none). False: there is none. */
bool bounds_at(const bounds_t *bounds, uint32_t number, bson_iter_t *bound);

/* Random _ids in ascending order, {_id: ...} each, in the first batch of the reply. */
bool bounds_sample(mongoc_client_t *client, const request_t *request, bson_t *reply, bson_error_t *error);

#endif
