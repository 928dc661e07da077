/* parallel: runs one aggregation as several, each over a range of _id with a connection of its own, because one
 * aggregation uses one core of a server. The server merges the parts.
 *
 * The answer is that of the plain run (in any order if that has none), with two exceptions. Sums and averages of
 * doubles and decimals differ by rounding, relative to the largest of the ranges' sums. Of equal numbers, another one
 * may be shown: of keys 1 and 1.0 the one of the least _id; 5 as int64 where the plain run says int32.
 *
 * It runs as a whole, from then on, if the sum of a range exceeds 64 bits, if there are too many groups to merge, or if
 * _ids of another type came later. Read-only after parallel_open; any thread may send. */
#ifndef TIPPLE_QUERY_SPLIT_PARALLEL_H
#define TIPPLE_QUERY_SPLIT_PARALLEL_H

#include "base/text.h"
#include "query/suite/request.h"
#include "server/server.h"

#include <stdio.h>

typedef struct parallel parallel_t;

/* ranges 0 (auto): as many as pay; one if the pipeline cannot be split exactly or splitting does not pay. N: N ranges;
 * what cannot be split is refused, and the sentence names the stage (status 1). Asks the server for its version, about
 * the collection, and where to cut. The request must live longer than the result. NULL: err. */
parallel_t *parallel_open(server_t *server, mongoc_client_t *client, const request_t *request,
                          uint32_t ranges, err_t *err);
void parallel_close(parallel_t *parallel); /* NULL is allowed */

uint32_t parallel_ranges(const parallel_t *parallel); /* 1: it runs as a whole */
const char *parallel_why(const parallel_t *parallel); /* why it runs as a whole; "" if it does not */
bool parallel_snapshot(
    /* all parts see one moment; if not, the answer is not exact while others write */
    const parallel_t *parallel);
bool parallel_rounds(const parallel_t *parallel); /* it sums or averages values that may be doubles */

/* Prints the plan for a person: what each part does, where the cuts are, what the server merges. */
void parallel_explain(const parallel_t *parallel, text_t *to);

/* As request_send. Takes ranges - 1 more clients from the server's pool. */
bool parallel_send(const parallel_t *parallel, mongoc_client_t *client, answer_t *answer,
                   bson_error_t *error);

#endif
