/* compare: is this faster than before, or only noise? Compares two samples, given by number, mean and deviation, as a
 * ratio with a confidence interval of 95 %. Also reads the results of an earlier run, as --json printed them. */
#ifndef TIPPLE_QUERY_COMPARE_H
#define TIPPLE_QUERY_COMPARE_H

#include "base/err.h"

#include <stddef.h>
#include <stdint.h>

typedef struct {
    uint64_t n;
    double mean, sd;
} sample_t;

typedef struct {
    double times;     /* new mean / old mean; NAN: not known */
    double low, high; /* the ends of the interval; NAN if n is less than two */
    bool differs;     /* the interval does not contain 1 */
    bool other;       /* something else was asked then: nothing is known */
    bool nothing;     /* nothing came back then or now, and something did the other time: the same */
} ratio_t;

/* From the logarithms of the means (delta method), with Student's t and Welch's degrees of freedom. */
ratio_t compare_means(sample_t before, sample_t now);

/* "faster", "slower", "noise", "not known: too few", "another question" or "another answer". */
const char *compare_verdict(const ratio_t *ratio);

/* The value that Student's t with this many degrees of freedom (at least 1, may be a fraction) stays below with this
 * probability, which is between 0.5 and 1; to ten digits. */
double compare_student(double probability, double freedom);

typedef struct {
    char *name, *with, *reads; /* as printed; "" if there was none */
    char *question;                       /* a digest of it; "": an older tipple wrote none */
    uint32_t clients;
    bool nothing; /* nothing came back to any request */
    sample_t ms;  /* n 0, NAN: the measurement failed */
} earlier_t;

typedef struct {
    earlier_t *items;
    size_t count;
    char *suite, *namespace; /* "": not known */
} earlier_list_t;

/* A larger file is not one of ours: it is refused before it is parsed. */
enum { COMPARE_MOST_BYTES = 64 << 20 };

/* Reads a file that `tipple query --json` wrote. Status 1 with what is wrong with it. */
bool compare_read(const char *path, earlier_list_t *list, err_t *err);
void compare_free(earlier_list_t *list);

/* Warns of a comparison with another suite or another collection. */
void compare_warn(const earlier_list_t *list, const char *path, const char *suite, const char *namespace);

/* The measurement with the same name, parameters, reads and clients; NULL: it was not measured then. */
const earlier_t *compare_find(const earlier_list_t *list, const char *name, const char *with,
                              const char *reads, uint32_t clients);

#endif
