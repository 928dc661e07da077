/* measure: what is to be measured: each query, for each combination of its `each` values, of whom to read
 * from, of parallel ranges and of how many clients there are; and what was found. Main thread; what is sent
 * is read-only afterwards. */
#ifndef TIPPLE_QUERY_MEASURE_H
#define TIPPLE_QUERY_MEASURE_H

#include "base/numbers/hist.h"
#include "query/split/parallel.h"
#include "query/suite/request.h"
#include "query/watch/watch.h"

enum { MEASURE_MOST_CLIENTS = 1024, MEASURE_MOST_CHOICES = 16, PARALLEL_OFF = 1, PARALLEL_AUTO = 0 };

/* More would take more memory than they are worth; what a measurement is called fits into any table. */
enum { MEASURE_MOST = 10000, MEASURE_MOST_REQUESTS = 1000000, WITH_ROOM = 91 };

typedef struct {
    char *const *queries; /* names or tags; none: all */
    size_t query_count;
    char *const *params; /* NAME=VALUE */
    size_t param_count;
    uint32_t clients[MEASURE_MOST_CHOICES], parallel[MEASURE_MOST_CHOICES];
    size_t client_choices, parallel_choices;
    const char *reads[MEASURE_MOST_CHOICES]; /* none: as the query or the URI says */
    size_t reads_choices;
    int64_t max_staleness_seconds;
    bool timed;  /* all for a time; else only queries that draw are */
    bool setup;  /* make the indexes that are missing */
    size_t most; /* measurements: the first ones; 0: all */
} choices_t;

/* What is sent: one request, or many to draw from; shared by the measurements that differ in clients only. */
typedef struct {
    request_t *requests;
    size_t count;
    parallel_t *parallel; /* NULL: plain */
    char with[WITH_ROOM]; /* "n=1000 span=day"; of `each` */
    bson_t *each;         /* name: label of the value */
    bson_t *params;       /* all of them, those of `each` included */
    bson_t *expected;     /* with its parameters; NULL: nothing */
    const query_t *query;
    const char *reads;
    uint32_t ranges; /* as asked for */
    double all_documents;
} work_t;

typedef struct {
    const work_t *work;
    uint32_t clients;
    bool timed; /* as many as a time allows; else so many each */
    /* found */
    hist_t *hist;
    moments_t per_ms; /* documents a millisecond, of each operation */
    uint64_t returned, failures;
    char failure[512];  /* the first, */
    status_t status;    /* and what it leads to */
    int64_t elapsed_ns; /* of all rounds */
    watch_sum_t watched;
    answer_t answer; /* the first one */
    bool answered;
    char difference[600]; /* from what was expected; "" */
} measure_t;

typedef struct {
    suite_t *suite;
    server_t *server;
    work_t *works;
    size_t work_count, work_room;
    measure_t *items;
    size_t count, room;
} measures_t;

/* Chooses, fills parameters in, draws, checks indexes (status 1 names the missing one), expectations and how much
 * it all is, and plans ranges.
 * *list holds what there is also after a failure. */
bool measure_prepare(measures_t *list, suite_t *suite, server_t *server, mongoc_client_t *client,
                     const choices_t *choices, err_t *err);
void measure_free(measures_t *list);

/* "off", "auto", "4": as asked for. */
const char *measure_parallel_name(uint32_t ranges, char out[16]);

/* Most connections that measuring will take at once. */
uint32_t measure_connections(const choices_t *choices);

#endif
