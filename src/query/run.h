/* run: runs a suite on a collection. Everything is prepared first. Then the measurements take turns, round by round, so
 * that a change of the machine's load affects all of them. One call, from the command or from a program that uses the
 * library. */
#ifndef TIPPLE_QUERY_RUN_H
#define TIPPLE_QUERY_RUN_H

#include "query/measure.h"

typedef struct {
    const char *uri, *suite;
    choices_t choices;
    uint32_t repeats, warmups; /* rounds; 0 and SUITE_UNSAID: as the suite says, or 5 and 1 */
    uint64_t count;            /* requests of each client in a round; 0: 1, or as many as the time allows */
    int64_t duration_ns;       /* of all rounds of a timed measurement; 0: 5 s */
    uint64_t rate;             /* 0: closed loop */
    const char *beside;        /* a command that runs while everything is measured */
    int64_t patience_ns;
    bool explain; /* only explain the plan, measure nothing */
} query_spec_t;

void query_spec_init(query_spec_t *spec); /* the defaults: mostly, what the suite says */

typedef struct {
    measures_t measures;
    watch_storage_t storage;
    double load_seconds, seconds; /* that its loads took; and this run, from its begin to its end */
    char namespace[256], where[512], configuration[160];
    bool beside_ended; /* the command of `beside` ended before the measurements did */
    char beside_words[40];
    char format[120];                    /* as which the collection was loaded; "": not known */
    bool other_format;                   /* than those that the suite asks */
    uint64_t failed, different, nothing; /* measurements; nothing: no request found anything */
    server_t *server;                    /* borrowed by the measurements */
} query_result_t;

/* *result holds everything that was found, also after a failure. False: err has status and sentence: STATUS_DIFFERENT
 * if an answer is not as expected, STATUS_SERVER if a request failed. What was left to the suite is filled in. */
bool query_run(query_spec_t *spec, query_result_t *result, err_t *err);
void query_free_result(query_result_t *result);

/* Is n large enough? For a deviation at least 2; for a percentile so many that some lie above it. */
bool query_tells(const measure_t *measure, double share);

/* ---- medians and 99th percentiles next to those of an earlier run, whose results --json printed ---- */

/* What a measurement took then. NAN: it was measured too rarely to know. obstacle: why there is no ratio, such as "another
 * question"; NULL: there is one. */
typedef struct {
    double p50_ms, p99_ms;
    const char *obstacle;
} compared_t;

/* Reads a file that `tipple query --json` wrote into an empty document. False: status 1 with what is wrong. */
bool compare_read(const char *path, bson_t *then, err_t *err);

/* Warns of a comparison with another suite or another collection. */
void compare_warn(const bson_t *then, const char *path, const char *suite, const char *namespace);

/* Finds the measurement of the same name, parameters, reads and clients. False: it was not measured then. */
bool compare_find(const bson_t *then, const measure_t *measure, compared_t *compared);

#endif
