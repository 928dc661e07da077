/* query: times the queries of a suite on a collection, and compares the times.
 *
 *     side (a suite, a target)
 *       -> works      what is sent: a query with one value of each `each`, and one way of reading
 *            -> measures   a work by a number of clients at a rate: what was found in all rounds together, and in each round
 *
 * Everything is prepared first: parameters, what is drawn, indexes, expectations. Then the measures take turns, round by
 * round, so that a change of the machine's load meets all of them. In a round (clients.c) each client has a thread and a
 * connection of its own.
 *
 * A measure may be compared with a baseline (judge.c): itself in an earlier run (--compare), or its twin of a second side
 * (--against), another target or another suite. Twins share a round: they take turns in slices of it, in an order that a coin
 * decides. Rounds are what is compared (ratio.h), and a verdict says no more than they do. A comparison is `unjudged` if there
 * are too few rounds, or too few requests in a round for a 99th percentile, if requests were skipped, or if one of two runs was
 * disturbed: the other run did not meet the same. Twins did, so a disturbed turn is judged. A bound on a figure of this run
 * alone is judged as the figure was measured.
 *
 * Closed loop: a client sends again when it has its answer. Open loop (--rate): requests are due at moments that do not depend
 * on answers, at even distances or as a Poisson process brings them; a client that is free sends the next one. Of each request
 *
 *     due ---- lag ---- sent ---- service ---- answered        latency = lag + service
 *
 * In a closed loop a request is due when it is sent. A round of an open loop ends when its schedule has ended, or its share
 * of REST_NS later: what is due and was not sent until then is skipped, and counts as longer than any (see hist.h).
 *
 * Of several rates the measures, in rising order, are a curve (judge.c). Its answer is the highest rate that kept the bounds. A
 * rate that was not held keeps none: requests were skipped or failed, or clients lagged the schedule at the end of most
 * rounds.
 *
 * A request that takes longer than --timeout is given up with its connection, and counts as skipped, also in a closed loop.
 *
 * A request that fails is counted and has no time. Its client waits until the server answers again, as long as the patience
 * allows, and goes on; so it does after a timeout. A measure that got no answer in a whole round is not sent any
 * more, nor is any of a side that did not answer for longer than the patience.
 *
 * Invariants: of the rounds of an open loop that count, due = n + failures + skipped, unless a signal came; timeouts are among
 * the skipped, and in a closed loop all of them. Failures of warming up are counted, too. Works are read-only while rounds run.
 * A measure is written by the main thread between rounds; its first answer by the client that got it. The main thread calls
 * everything here. */
#ifndef TIPPLE_QUERY_QUERY_H
#define TIPPLE_QUERY_QUERY_H

#include "query/hist.h"
#include "query/ratio.h"
#include "query/suite/request.h"
#include "query/watch/watch.h"
#include "server/collection.h"

/* ---- what is asked for ---- */

enum { QUERY_MOST_CLIENTS = SUITE_MOST_CLIENTS, QUERY_MOST_CHOICES = SUITE_MOST_CHOICES };

/* One condition of --fail-if. A measure of which the condition is true has missed the bound. */
typedef struct {
    const char *words; /* "p99>20ms" */
    size_t figure;     /* a row of judge.c */
    bool below;        /* FIGURE<VALUE */
    bool times;        /* the value is how many times as long as in the earlier run */
    double value;      /* otherwise milliseconds or a count */
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
    uint32_t repeats, warmups; /* rounds; 0 and SUITE_UNSAID: as the suite says, or 10 and 1 */
    uint64_t count;            /* requests of each client in a round; 0: 1, or as many as the time allows */
    int64_t duration_ns; /* of all rounds of a measure; 0: as the suite says, or 5 s where values are drawn */
    uint64_t rates[QUERY_MOST_CHOICES]; /* requests a second of all clients, rising; none: closed loop */
    size_t rate_choices;
    bool poisson;        /* an open loop has the arrivals of a Poisson process */
    int64_t timeout_ns;  /* of each request; 0: none */
    const char *command; /* a command that runs while everything is measured */
    const bound_t *bounds;
    size_t bound_count;
    const char *against; /* the second side: a URI or a suite; NULL: there is none */
    const bson_t *then;  /* the earlier run; NULL: there is none */
    int64_t patience_ns;
    uint64_t first; /* only the first N documents of each answer; 0: all of it */
    bool setup;     /* make missing indexes */
    bool answers;   /* print the answers at the end */
    bool explain;   /* only show what would be sent, measure nothing */
    bool one;       /* only the first measure */
} query_spec_t;

void query_spec_init(query_spec_t *spec); /* sets the defaults: most options are left to the suite */

/* ---- what is measured ---- */

enum { WITH_ROOM = 91, QUESTION_DIGEST = 33 };

/* What is asked, and where. The second side exists with --against only. */
typedef struct {
    const char *uri;
    suite_t *suite;
    server_t *server;
    mongoc_client_t *client; /* of the main thread */
    watch_t *watch;
    watch_storage_t storage;
    char namespace[256], where[512], configuration[160]; /* configuration "": nothing was measured */
    hist_t *round;                                       /* of the round under way: its latencies, */
    int64_t round_ns;                                    /* and how long it has lasted */
    /* why this side is asked no more: it did not answer for longer than the patience; "": it is asked */
    char gone[512];
} side_t;

/* One request, or many to choose from. Measures that differ only in the number of clients share a work_t. */
typedef struct {
    request_t *requests;
    size_t count;
    char with[WITH_ROOM];           /* "n=1000 span=day": the values of `each` */
    bson_t *each;                   /* name: label of the value */
    char question[QUESTION_DIGEST]; /* a digest of what is asked; of what is drawn, how it is drawn */
    bson_t *expected;               /* what the suite expects, with parameters filled in; NULL: nothing */
    side_t *side;
    const query_t *query;
    const char *reads;
    double all_documents;
    explained_t explained;
} work_t;

/* What the requests of one client found; at the end of a round, those of all clients. */
typedef struct {
    hist_t latency, service;
    course_t course;                    /* of latencies */
    moments_t lag;                      /* nanoseconds */
    double most_lag_ns;                 /* 0: all were sent when they were due */
    moments_t per_ms;                   /* documents a millisecond, of each request */
    uint64_t returned, empty, failures; /* empty: requests whose answer had no document */
    uint64_t timeouts;                  /* of the rounds that count */
    uint64_t late;                      /* sent more than a millisecond after they were due */
    /* rounds whose last request was sent late by more than a hundredth of the round's time */
    uint64_t lagged;
    char failure[512]; /* the first failure, or why a client did not go on after a timeout; "": neither */
} tally_t;

/* A whole round that counts. n 0: no request was answered. */
typedef struct {
    uint64_t n;
    double p50_ms, p99_ms; /* NAN: not known */
    int64_t elapsed_ns;
} round_t;

/* The verdict on all bounds of a measure, the worst last. */
typedef enum { VERDICT_NONE, VERDICT_KEPT, VERDICT_UNJUDGED, VERDICT_MISSED } verdict_t;

typedef struct measure {
    const work_t *work;
    uint32_t clients;
    uint64_t rate;            /* 0: closed loop */
    struct measure *baseline; /* the same measure of the second side; NULL: there is none */
    tally_t *found;
    round_t *rounds;
    size_t round_count, round_room;
    int64_t elapsed_ns; /* of all rounds that count */
    size_t slots;       /* of the course, up to elapsed_ns */
    bool silent;        /* a whole round got no answer */
    watch_sum_t watched;
    answer_t answer; /* the first answer; its documents are freed when they are not wanted any more */
    bool answered;
    char digest[EXPECTED_DIGEST]; /* of the documents of this answer that were kept; "": none were */
    char difference[600];         /* how the answer differs from what was expected; "": not at all */
    verdict_t verdict;
    char *missed; /* the bounds that were missed or are not judged; NULL: none */
} measure_t;

typedef struct {
    side_t sides[2];
    work_t *works;
    measure_t *measures; /* those of the first side, then those of the second */
    size_t work_count, work_room, measure_count, all_count, measure_room;
    double seconds;   /* how long all of it took */
    bool while_ended; /* the command ended before the measures did */
    bool while_failed;
    char while_words[40];
} query_result_t;

/* *result holds everything that was found, also after a failure. False: err has status and sentence: STATUS_DIFFERENT
 * if an answer is not as expected, STATUS_SERVER if a request failed, STATUS_MISSED if a bound was missed or is not judged,
 * or if the command of --while failed. What was left to the suite is filled in. */
bool query_run(query_spec_t *spec, query_result_t *result, err_t *err);
void query_free_result(query_result_t *result);

/* Was every answer without a document? Then the times are not those of a useful answer. */
bool query_found_nothing(const measure_t *measure);

/* ---- figures, bounds, and an earlier run (judge.c) ---- */

/* NAN: not known. */
double query_quantile_ms(const measure_t *measure, double share);

/* Did other programs use more than a tenth of this host's CPUs during the measure? Not known, and so false, with
 * --while. */
bool query_disturbed(const query_spec_t *spec, const measure_t *measure);

/* Reads "p99>20ms", "ops/s<1000", "failed>0" or, if there are baselines, "p50>1.1x". False: status 1. */
bool query_read_bound(bound_t *bound, const char *text, bool compares, err_t *err);

/* Sets `verdict` and `missed` of a measure. A figure that is not known is not judged. */
void query_check_bounds(const query_spec_t *spec, measure_t *measure);
extern const char *const query_verdicts[]; /* by verdict_t */

/* The measures of a curve stand one after another, from the lowest rate on; a measure without several rates is a curve of its
 * own. first: its first one; the bounds of all of them were checked. */
size_t query_curve_length(const query_spec_t *spec);
/* The highest rate that kept all bounds. NULL: none did. */
const measure_t *query_curve_highest(const query_spec_t *spec, const measure_t *first);
verdict_t query_curve_verdict(const query_spec_t *spec, const measure_t *first);
/* A sentence about that rate, without its full stop, to be freed. NULL: there are no bounds, or they were not checked. */
char *query_curve_sentence(const query_spec_t *spec, const measure_t *first);

/* A figure of the baseline, and how many times as long it takes now. */
typedef struct {
    double then_ms;    /* NAN: not known */
    ratio_t ratio;     /* NAN: not judged */
    char unjudged[96]; /* why the figure is not judged, or the obstacle; "": it is judged */
} compared_figure_t;

/* obstacle: why the measure is not compared at all, such as "another question"; NULL: it is compared. */
typedef struct {
    compared_figure_t p50, p99;
    bool disturbed; /* other programs disturbed the measure or its baseline */
    const char *obstacle;
} compared_t;

/* "slower" or "faster" if the whole interval is above 1 or below it, or "undecided", or "unjudged". */
const char *compare_verdict(const compared_figure_t *figure);

/* Reads a file that `tipple query --json` wrote into an empty document. False: status 1 with what is wrong. */
bool compare_read(const char *path, bson_t *then, err_t *err);

/* Finds the baseline of a measure: its twin, or the measure of the same name, parameters, reads and clients in the earlier
 * run. False: it was not measured then. */
bool compare_find(const query_spec_t *spec, const measure_t *measure, compared_t *compared);

/* ---- inside of this room ---- */

/* works.c: chooses queries of each side, fills in parameters, draws; checks indexes (status 1 names the missing one),
 * expectations, and that it is not too much; finds twins. */
bool works_prepare(query_result_t *result, const query_spec_t *spec, err_t *err);
void works_free(query_result_t *result);
uint32_t works_most_clients(const suite_t *suite, const query_spec_t *spec);

/* When requests of an open loop are due: `count` of them in the time that the rate gives them. Of a Poisson process,
 * whose number of arrivals in this time is known, each moment is drawn as the least of those that are left. The same
 * `chance` gives the same moments. */
typedef struct {
    double rate; /* a second */
    uint64_t count;
    bool poisson;
    uint64_t chance, number; /* of the next request */
    double poisson_ns;
} arrivals_t;
int64_t arrivals_next(arrivals_t *arrivals); /* nanoseconds from the beginning of the round */

/* clients.c: one round of one measure, or a slice of it. */
typedef struct {
    uint64_t count;      /* requests of each client; 0: as many as the time allows, and one at least */
    int64_t duration_ns; /* of the round, where no count is given */
    int64_t rest_ns;     /* how long an open loop may go on when its schedule has ended */
    double rate;
    bool poisson;
    int64_t timeout_ns;
    uint32_t number; /* of the round: in each round other values are drawn */
    bool counts;     /* false: warming up, only failures are kept */
    bool keeps;      /* the first answer's documents are wanted */
} clients_round_t;
bool clients_run(const clients_round_t *round, measure_t *measure, err_t *err);
/* Notes the figures of the round, if anything was asked in it. */
bool clients_end_round(const clients_round_t *round, measure_t *measure, err_t *err);

/* indexes.c: checks the indexes of `setup`. A missing one is made (makes), or is an error of status 1 with its name and what
 * to do. So is an index of the same keys with other options: it is never replaced. */
bool indexes_check(const suite_t *suite, const query_t *query, server_t *server, mongoc_client_t *client,
                   bool makes, err_t *err);

/* True if a stored index, as a server lists it, gives the same answers at the same speed as the wanted one.
 * collated: the collection has a default collation. Pure. */
bool indexes_serves(const index_spec_t *wanted, const bson_t *stored, bool collated);

#endif
