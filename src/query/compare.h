/* compare: the medians and 99th percentiles of this run next to those of an earlier one, whose results --json printed. It
 * does not say whether a difference is more than noise: measure again to see. Main thread. */
#ifndef TIPPLE_QUERY_COMPARE_H
#define TIPPLE_QUERY_COMPARE_H

#include "query/measure.h"

/* What a measurement took then. */
typedef struct {
    double p50_ms, p99_ms; /* NAN: it was measured too rarely to know */
    const char *hinders;   /* "failed then", "another question", ...: there is no ratio; NULL: nothing hinders */
} compared_t;

/* Reads a file that `tipple query --json` wrote into an empty document. False: status 1 with what is wrong. */
bool compare_read(const char *path, bson_t *then, err_t *err);

/* Warns of a comparison with another suite or another collection. */
void compare_warn(const bson_t *then, const char *path, const char *suite, const char *namespace);

/* Finds the measurement of the same name, parameters, reads and clients. False: it was not measured then. */
bool compare_find(const bson_t *then, const measure_t *measure, compared_t *compared);

#endif
