/* numeric: the value of a BSON number, whatever its type: 1, 1.0 and the decimal 1.00 are equal. Any thread. */
#ifndef TIPPLE_QUERY_SUITE_NUMERIC_H
#define TIPPLE_QUERY_SUITE_NUMERIC_H

#include <bson/bson.h>

/* The nearest double. False: it is not a number, or a decimal that is too large or too small for a double. */
bool numeric_double(const bson_iter_t *at, double *number);

/* A whole number, if it is known exactly: doubles are up to 2^53. */
bool numeric_whole(const bson_iter_t *at, int64_t *whole);

#endif
