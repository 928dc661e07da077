/* numbers: what is counted and measured.
 *
 * Doubles are read and printed by std::from_chars and std::to_chars (number.cc): the decimal point is a point, whatever
 * the locale of the program that uses the library. Units are for the user: sizes in powers of 1024 where they are read,
 * and of 1000 where they are printed. Random bits are the same on every machine. All of it may be used by any thread. */
#ifndef TIPPLE_BASE_NUMBERS_H
#define TIPPLE_BASE_NUMBERS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* ---- doubles and their texts ---- */

#ifdef __cplusplus
extern "C" {
#endif

enum { NUMBER_ROOM = 32, NUMBER_DIGITS = 17 };

/* Reads the number at the beginning of a text: a sign, digits with or without a point, an exponent; or inf, infinity, nan.
 * Returns its length, or 0 if there is none. The result is the nearest double; infinite if the number is too large. */
size_t number_read(const char *text, size_t length, double *number);
size_t number_read_long(const char *text, size_t length, long double *number);

/* The fewest digits that read back as this finite number, without its sign, and zeros after them up to NUMBER_DIGITS. The first digit counts
 * 10^exponent. Returns how many there are without the zeros. */
size_t number_shortest(double number, char digits[NUMBER_DIGITS], int *exponent);

/* The same digits as a text: 12.067, -0, 5, 1e+22, inf, nan. Returns out. */
char *number_print(char out[NUMBER_ROOM], double number);

/* d.ddde+xx with this many digits after the point. */
void number_print_digits(char *out, size_t room, int digits, double number);

#ifdef __cplusplus
}
#endif

/* ---- units ---- */

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
const char *units_count(char out[UNITS_MAX], uint64_t count);   /* 6,521,004 */
const char *units_rate(char out[UNITS_MAX], double per_second); /* 611k, 1.24M */
/* "s" after a noun, unless the count is 1. */
static inline const char *units_s(uint64_t count) {
    return count == 1 ? "" : "s";
}
/* Prints any number, also a computed one; NAN as "-". */
const char *units_size(char out[UNITS_MAX], double bytes);   /* 412 MB, 1.3 GB (powers of 1000) */
const char *units_time(char out[UNITS_MAX], double seconds); /* 10.7 s, 3:12, 3 h 12 min */

/* ---- chance ---- */

/* chance: random bits, the same on every machine: computed from a position, or drawn one after another from a
 * stream. */

/* SplitMix64 (Steele, Lea, Flood 2014): bits of a key plus a multiple of the golden ratio. */
#define CHANCE_GOLDEN UINT64_C(0x9e3779b97f4a7c15)

static inline uint64_t chance_mix(uint64_t x) {
    x = (x ^ (x >> 30)) * UINT64_C(0xbf58476d1ce4e5b9);
    x = (x ^ (x >> 27)) * UINT64_C(0x94d049bb133111eb);
    return x ^ (x >> 31);
}

static inline uint64_t chance_bits(uint64_t key, uint64_t place) {
    return chance_mix(key + place * CHANCE_GOLDEN);
}

/* The next bits of a stream. A stream may begin at any number. */
static inline uint64_t chance_next(uint64_t *stream) {
    return chance_mix(*stream += CHANCE_GOLDEN);
}

#endif
