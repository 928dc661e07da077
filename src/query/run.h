/* run: a suite on a collection: everything is prepared first, then the measurements take turns, round by
 * round, so that what changes on the machine meanwhile meets all of them. One call, from the command or from
 * a program of one's own. */
#ifndef TIPPLE_QUERY_RUN_H
#define TIPPLE_QUERY_RUN_H

#include "query/measure.h"

typedef struct {
    const char *uri, *suite;
    choices_t choices;
    uint32_t repeats, warmups; /* rounds */
    uint64_t count;            /* requests of each client in a round; 0: 1, or by the time */
    int64_t duration_ns;       /* of all rounds of a measurement that is timed; 0: 5 s */
    double rate;               /* 0: closed loop */
    const char *cold, *beside; /* commands: before each round; while everything is measured */
    uint64_t seed;
    int64_t patience_ns;
    bool explain; /* only that */
} query_spec_t;

void query_spec_init(query_spec_t *spec); /* the defaults */

typedef struct {
    measures_t measures;
    watch_storage_t storage;
    double load_seconds;
    char namespace[256], where[512], configuration[160];
    bool beside_ended; /* the command beside ended before the measurements did */
    char beside_words[40];
    uint64_t failed, different; /* measurements */
    server_t *server;           /* what the measures borrow */
} query_result_t;

/* Whatever was found is in *result, also after a failure. False: err has status and sentence:
 * STATUS_DIFFERENT when an answer is not the expected one and nothing else went wrong, STATUS_SERVER when a
 * request failed. */
bool query_run(const query_spec_t *spec, query_result_t *result, err_t *err);
void query_free_result(query_result_t *result);

/* n is enough to tell: the deviation of 2, a percentile of so many that some lie beyond it. */
bool query_tells(const measure_t *measure, double share);

#endif
