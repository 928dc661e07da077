/* query: times the queries of a suite on a collection.
 *
 *     suite (queries, parameters)
 *       -> works      what is sent: a query with one value of each `each`, and one way of reading
 *            -> measures   a work by a number of clients: what the rounds found
 *
 * Everything is prepared first: parameters, what is drawn, indexes, expectations. Then the measures take turns, round by
 * round, so that a change of the machine's load meets all of them. In a round (clients.c) each client has a thread and a
 * connection of its own.
 *
 * Closed loop: a client sends again when it has its answer. Open loop (--rate): requests are due at fixed moments; a client
 * that is free sends the next one. Of each request
 *
 *     due ---- lag ---- sent ---- service ---- answered        latency = lag + service
 *
 * In a closed loop a request is due when it is sent. A round of an open loop ends when its schedule has ended, or its share
 * of REST_NS later: what is due and was not sent until then is skipped, and counts as longer than any (see hist.h).
 *
 * A request that fails is counted and has no time. Its client waits until the server answers again, as long as the patience
 * allows, and goes on. A measure that got no answer in a whole round is not sent any more.
 *
 * Invariants: of the rounds of an open loop that count, due = n + failures + skipped, unless a signal came; failures of
 * warming up are counted, too. Works are read-only while rounds run. A measure is written by the main thread between rounds;
 * its first answer by the client that got it. The main thread calls everything here. */
#ifndef TIPPLE_QUERY_QUERY_H
#define TIPPLE_QUERY_QUERY_H

#include "query/hist.h"
#include "query/suite/request.h"
#include "query/watch/watch.h"
#include "server/collection.h"

/* ---- what is asked for ---- */

enum { QUERY_MOST_CLIENTS = SUITE_MOST_CLIENTS, QUERY_MOST_CHOICES = SUITE_MOST_CHOICES };

/* --fail-if: a measure of which this is true has missed it. */
typedef struct {
    const char *words; /* "p99>20ms" */
    size_t figure;     /* a row of judge.c */
    bool below;        /* FIGURE<VALUE */
    bool times;        /* the value is how many times as long as in the earlier run */
    double value;      /* else ms, or a count */
} bound_t;

typedef struct {
    const char *uri, *suite;
    char *const *queries; /* names or tags; none: all */
    size_t query_count;
    char *const *params; /* NAME=VALUE */
    size_t param_count;
    uint32_t clients[QUERY_MOST_CHOICES]; /* none: as the query or the suite says, or 1 */
    size_t client_choices;
    const char *reads[QUERY_MOST_CHOICES]; /* none: as the URI says */
    size_t reads_choices;
    uint32_t repeats, warmups; /* rounds; 0 and SUITE_UNSAID: as the suite says, or 5 and 1 */
    uint64_t count;            /* requests of each client in a round; 0: 1, or as many as the time allows */
    int64_t duration_ns; /* of all rounds of a measure; 0: as the suite says, or 5 s where values are drawn */
    uint64_t rate;       /* requests a second of all clients; 0: closed loop */
    const char *command; /* a command that runs while everything is measured */
    const bound_t *bounds;
    size_t bound_count;
    const bson_t *then; /* the earlier run; NULL: there is none */
    int64_t patience_ns;
    uint64_t first; /* only the first N documents of each answer; 0: all of it */
    bool setup;     /* make missing indexes */
    bool answers;   /* are wanted when all is measured */
    bool explain;   /* only show what would be sent, measure nothing */
    bool one;       /* only the first measure */
} query_spec_t;

void query_spec_init(query_spec_t *spec); /* the defaults: mostly, what the suite says */

/* ---- what is measured ---- */

enum { WITH_ROOM = 91, QUESTION_DIGEST = 33 };

/* One request, or many to choose from. Measures that differ only in the number of clients share it. */
typedef struct {
    request_t *requests;
    size_t count;
    char with[WITH_ROOM];           /* "n=1000 span=day": the values of `each` */
    bson_t *each;                   /* name: label of the value */
    char question[QUESTION_DIGEST]; /* a digest of what is asked; of what is drawn, how it is drawn */
    bson_t *expected;               /* with parameters filled in; NULL: nothing is expected */
    const query_t *query;
    const char *reads;
    double all_documents;
    explained_t explained;
} work_t;

/* What the requests of one client found, and in the end those of all. */
typedef struct {
    hist_t latency, service;
    course_t course;                    /* of latencies */
    moments_t lag;                      /* nanoseconds */
    double most_lag_ns;                 /* 0: all were sent when they were due */
    moments_t per_ms;                   /* documents a millisecond, of each request */
    uint64_t returned, empty, failures; /* empty: requests to which nothing came back */
    uint64_t late;                      /* sent more than a millisecond after they were due */
    char failure[512];                  /* the first failure */
} tally_t;

typedef struct {
    const work_t *work;
    uint32_t clients;
    tally_t *found;
    int64_t elapsed_ns; /* of all rounds that count */
    bool silent;        /* a whole round got no answer */
    watch_sum_t watched;
    answer_t answer; /* the first one; its documents as long as they are wanted */
    bool answered;
    char digest[EXPECTED_DIGEST]; /* of what was kept of it; "": nothing was */
    char difference[600];         /* from what was expected; "": none */
    char missed[200];             /* the first bound that was missed; "": none */
} measure_t;

typedef struct {
    suite_t *suite;
    server_t *server;
    work_t *works;
    measure_t *measures;
    size_t work_count, work_room, measure_count, measure_room;
    watch_storage_t storage;
    double seconds;                                      /* from its begin to its end */
    char namespace[256], where[512], configuration[160]; /* configuration "": nothing was measured */
    bool while_ended;                                    /* the command ended before the measures did */
    char while_words[40];
} query_result_t;

/* *result holds everything that was found, also after a failure. False: err has status and sentence: STATUS_DIFFERENT
 * if an answer is not as expected, STATUS_SERVER if a request failed, STATUS_MISSED if a bound was missed. What was left to
 * the suite is filled in. */
bool query_run(query_spec_t *spec, query_result_t *result, err_t *err);
void query_free_result(query_result_t *result);

/* Did nothing come back to any of its requests? Then its times are not those of an answer. */
bool query_found_nothing(const measure_t *measure);

/* ---- figures, bounds, and an earlier run (judge.c) ---- */

/* NAN: not known. */
double query_quantile_ms(const measure_t *measure, double share);

/* Reads "p99>20ms", "ops/s<1000", "failed>0" or, if there is an earlier run, "p50>1.1x". False: status 1. */
bool query_read_bound(bound_t *bound, const char *text, bool compares, err_t *err);

/* Notes the first bound that a measure misses. A figure that is not known misses its bound. */
void query_check_bounds(const query_spec_t *spec, measure_t *measure);

/* Median and 99th percentile of an earlier run, and how many times as long it takes now. NAN: not known. obstacle: why there
 * is no ratio, such as "another question"; NULL: there is one. */
typedef struct {
    double p50_ms, p99_ms;
    double p50_ratio, p99_ratio;
    interval_t p50_between, p99_between; /* 95 % of the ratios */
    const char *obstacle;
} compared_t;

/* Reads a file that `tipple query --json` wrote into an empty document. False: status 1 with what is wrong. */
bool compare_read(const char *path, bson_t *then, err_t *err);

/* Finds the measure of the same name, parameters, reads and clients. False: it was not measured then. */
bool compare_find(const query_spec_t *spec, const measure_t *measure, compared_t *compared);

/* ---- inside of this room ---- */

/* works.c: chooses queries, fills in parameters, draws; checks indexes (status 1 names the missing one), expectations, and
 * that it is not too much. */
bool works_prepare(query_result_t *result, const query_spec_t *spec, mongoc_client_t *client, err_t *err);
void works_free(query_result_t *result);
uint32_t works_most_clients(const suite_t *suite, const query_spec_t *spec);

/* clients.c: one round of one measure. */
typedef struct {
    uint64_t count;      /* of each client; 0: until the time is over, and one at the least */
    int64_t duration_ns; /* where no count is given */
    int64_t rest_ns;     /* how long an open loop may go on when its schedule has ended */
    double rate;
    uint32_t number; /* of the round: each draws other values */
    bool counts;     /* false: warming up, only failures are kept */
    bool keeps;      /* the first answer's documents are wanted */
} clients_round_t;
bool clients_run(const clients_round_t *round, measure_t *measure, server_t *server, err_t *err);

/* indexes.c: checks the indexes of `setup`. A missing one is made (makes), or is an error of status 1 with its name and what
 * to do. So is an index of the same keys with other options: it is never replaced. */
bool indexes_check(const suite_t *suite, const query_t *query, server_t *server, mongoc_client_t *client,
                   bool makes, err_t *err);

/* True if a stored index, as a server lists it, gives the same answers at the same speed as the wanted one.
 * collated: the collection has a default collation. Pure. */
bool indexes_serves(const index_spec_t *wanted, const bson_t *stored, bool collated);

#endif
