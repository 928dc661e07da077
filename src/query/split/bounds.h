/* bounds: where to cut a collection's _ids into ranges of equal work. The _ids of tipple's own loads are
 * spread over lanes (record_id.h), of which equal shares are equal work; others are cut at the
 * quantiles of a sample. A server compares an _id with those of its own type only, so all must be of one type
 * (all numbers are one): then each document is in exactly one range. */
#ifndef TIPPLE_QUERY_SPLIT_BOUNDS_H
#define TIPPLE_QUERY_SPLIT_BOUNDS_H

#include "query/suite/ask.h"

typedef struct {
    uint32_t ranges; /* 1: it is not cut: */
    char why[200];
    bson_t cuts; /* {"0": an _id, ...}, ascending: the first _id of each range but the first */
    bool lanes;  /* they are cut between lanes */
    int rank;    /* keyorder_rank of the _ids */
} bounds_t;

/* At most so many ranges. False: the server did not answer. bounds_free in either case. */
bool bounds_find(bounds_t *bounds, mongoc_client_t *client, const request_t *request, uint32_t ranges,
                 bson_error_t *error);

/* The pure half of it. least, greatest: {_id: ...}; sample: a list of such, ascending, none of them twice. */
void bounds_choose(bounds_t *bounds, const bson_t *least, const bson_t *greatest, const bson_iter_t *sample,
                   uint32_t ranges);
void bounds_free(bounds_t *bounds); /* zeroed is allowed */

/* Is every _id between these two in exactly one of the ranges? */
bool bounds_hold(const bounds_t *bounds, const bson_t *least, const bson_t *greatest);

/* The bound at which range `number` begins (0: none), or the last one ends (ranges: none). False: none. */
bool bounds_at(const bounds_t *bounds, uint32_t number, bson_iter_t *bound);

/* Random _ids in their order, {_id: ...} each, in the first batch of the reply. */
bool bounds_sample(mongoc_client_t *client, const request_t *request, bson_t *reply, bson_error_t *error);

#endif
