/* parallel: one aggregation as several, each over a range of _id with a connection of its own, because one
 * aggregation keeps one core of a server busy. Their parts are merged by the server. The answer is the plain
 * run's, in any order where that has none, but for two things: sums and averages of doubles and decimals
 * differ by rounding (against the largest of the ranges' sums), and of numbers that are equal another one may
 * be shown (of keys 1 and 1.0 the one of the least _id; 5 as int64 where the plain run says int32). A range
 * whose sum left 64 bits, groups that are too many to be merged, and _ids of another type that came later
 * make it run whole, from then on. Read-only after parallel_open; any thread may send. */
#ifndef TIPPLE_QUERY_SPLIT_PARALLEL_H
#define TIPPLE_QUERY_SPLIT_PARALLEL_H

#include "base/text.h"
#include "query/suite/request.h"
#include "server/server.h"

#include <stdio.h>

typedef struct parallel parallel_t;

/* ranges: 0: as many as pay, and one where the pipeline cannot be split exactly or it would not pay (auto);
 * N: so many, and what cannot be split is refused with the stage's name (status 1). Looks at the server: its
 * version, the collection, where to cut. The request must outlive it. NULL: err. */
parallel_t *parallel_open(server_t *server, mongoc_client_t *client, const request_t *request,
                          uint32_t ranges, err_t *err);
void parallel_close(parallel_t *parallel); /* NULL is allowed */

uint32_t parallel_ranges(const parallel_t *parallel); /* 1: it runs whole */
const char *parallel_why(const parallel_t *parallel); /* whole: why; else "" */
bool parallel_snapshot(
    const parallel_t *parallel);                  /* all parts see one moment; else not exact under writes */
bool parallel_rounds(const parallel_t *parallel); /* it sums or averages what may be doubles */

/* The plan, for a person: what each part does, where the cuts are, what the server merges. */
void parallel_explain(const parallel_t *parallel, text_t *to);

/* As request_send. Takes ranges - 1 clients more from the server's pool. */
bool parallel_send(const parallel_t *parallel, mongoc_client_t *client, answer_t *answer,
                   bson_error_t *error);

#endif
