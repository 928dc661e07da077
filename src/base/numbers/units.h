/* units: sizes, counts, times and shares, read from and written for people. */
#ifndef TIPPLE_BASE_NUMBERS_UNITS_H
#define TIPPLE_BASE_NUMBERS_UNITS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* The decimal number that a text begins with: no sign, blank, hexadecimal digits, "inf" or "nan". False: none. */
bool units_number(const char *text, double *number, const char **end);

/* "5%", "0.5%" */
bool units_parse_percent(const char *text, double *percent);

/* "4096", "64K", "256M", "256MB", "1.5G": powers of 1024. False when it is not a size or does not fit. */
bool units_parse_size(const char *text, uint64_t *bytes);

/* "1000", "5k", "2m", "1.5M", "3g": powers of 1000. */
bool units_parse_count(const char *text, uint64_t *count);

/* "30", "30s", "500ms", "5m", "2h" as nanoseconds; a number without a unit is seconds. */
bool units_parse_time(const char *text, int64_t *ns);

/* "50k", "2m/s": a count a second. "20MB", "500kB/s", with a B at the end: a size a second, and *bytes is set. */
bool units_parse_rate(const char *text, uint64_t *per_second, bool *bytes);

/* The printers return their buffer; every text fits in UNITS_MAX. */
enum { UNITS_MAX = 32 };
const char *units_count(char out[UNITS_MAX], uint64_t count); /* 6,521,004 */
/* The same of what a server told: "-" where that is no number of things. */
const char *units_told(char out[UNITS_MAX], double count);
/* 6,521,004; or, where it is an estimate, about 6,520,000 */
const char *units_about(char out[UNITS_MAX], double count, bool exact);
const char *units_s(uint64_t count);                            /* "s" behind a noun, unless it is of one */
const char *units_size(char out[UNITS_MAX], uint64_t bytes);    /* 412 MB, 1.3 GB (powers of 1000) */
const char *units_rate(char out[UNITS_MAX], double per_second); /* 611k, 1.24M */
const char *units_time(char out[UNITS_MAX], int64_t ns);        /* 10.7 s, 3:12, 3 h 12 min */

/* The same for a computed figure, which may be any number: "-" if it is not a number. */
const char *units_seconds(char out[UNITS_MAX], double seconds);
const char *units_bytes(char out[UNITS_MAX], double bytes);

#endif
