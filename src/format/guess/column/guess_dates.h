/* guess_dates: the patterns by which a value is a day. */
#ifndef TIPPLE_FORMAT_GUESS_COLUMN_GUESS_DATES_H
#define TIPPLE_FORMAT_GUESS_COLUMN_GUESS_DATES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Of a year of four digits nothing else comes first but it; of one of two digits it may be anything. */
typedef enum { ORDER_ISO, ORDER_SURE, ORDER_DMY, ORDER_MDY, ORDER_YMD, ORDERS } date_order_t;
typedef struct {
    const char *text;
    date_order_t order;
    char separator;
    bool digits; /* only digits, so it could be a number, too */
} date_pattern_t;

enum { GUESS_MOST_PATTERNS = 128 };
size_t guess_pattern_count(void);
const date_pattern_t *guess_pattern(size_t at);
/* Patterns, a bit for each. */
typedef unsigned __int128 date_set_t;
static inline size_t guess_first_date(date_set_t dates) {
    const uint64_t low = (uint64_t)dates;
    return low ? (size_t)__builtin_ctzll(low) : 64 + (size_t)__builtin_ctzll((uint64_t)(dates >> 64));
}
/* Those of `among` by which it is a day. */
date_set_t guess_dates(date_set_t among, const uint8_t *text, size_t length);
#define GUESS_ISO                                                                                            \
    ((date_set_t)0x7F) /* the patterns of the type datetime are the first ones; the first of all is a day */

#endif
