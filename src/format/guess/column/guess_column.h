/* guess_column: one value of a text: what it may be, beside a text; and what all values of a column have in common. */
#ifndef TIPPLE_FORMAT_GUESS_COLUMN_GUESS_COLUMN_H
#define TIPPLE_FORMAT_GUESS_COLUMN_GUESS_COLUMN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum {
    GUESS_MOST_NULLS = 7, /* and the empty text */
    GUESS_NULL_ROOM = 24, /* for one of them */
    GUESS_MOST_PATTERNS = 128,
};

/* ---- one value (guess_value.c) ---- */

enum { STYLES = 8 };
typedef struct {
    char decimal, thousands; /* thousands 0: none */
} style_t;
extern const style_t guess_styles[STYLES];

typedef struct {
    bool fraction, grouped; /* a decimal mark, a thousands mark was there */
    bool wide;              /* no int64 */
    bool lossy;             /* no double prints these digits */
    bool huge;              /* no decimal128 has these digits */
} number_t;

/* Is it a number in this style, of which printing loses nothing? No zeros in front, no plus sign, no exponent. */
bool guess_number(const style_t *style, const uint8_t *text, size_t length, number_t *number);

/* Which of the pairs of words does it belong to? A bit for each; *second: it is the word for no. */
enum { PAIRS = 10 };
extern const char *const guess_pairs[PAIRS][2];
uint32_t guess_pair(const uint8_t *text, size_t length, bool *second);

bool guess_is_objectid(const uint8_t *text, size_t length);
bool guess_is_uuid(const uint8_t *text, size_t length);

/* A word that often stands for no value, whatever blanks are around it. */
bool guess_is_null(const uint8_t *text, size_t length);

/* ---- dates (guess_dates.c) ---- */

/* Of a year of four digits nothing else comes first but it; of one of two digits it may be anything. */
typedef enum { ORDER_ISO, ORDER_SURE, ORDER_DMY, ORDER_MDY, ORDER_YMD, ORDERS } date_order_t;
typedef struct {
    const char *text;
    date_order_t order;
    char separator;
    bool digits; /* only digits, so it could be a number, too */
} date_pattern_t;

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

/* ---- columns (guess_column.c) ---- */

typedef struct {
    uint64_t values, blank; /* that are no null values; that are empty */
    uint8_t styles;         /* of numbers, in which all values are; and by style, whether any value is so: */
    uint8_t fraction, grouped, wide, lossy, huge;
    uint32_t pairs;
    bool yes, no;
    bool iso; /* each is a date by one of GUESS_ISO */
    date_set_t iso_seen, dates;
    bool objectid, uuid;
    bool typed;      /* any of those may still be */
    bool many_nulls; /* more than there is room for */
    size_t null_count;
    struct {
        uint8_t length, bytes[GUESS_NULL_ROOM];
    } nulls[GUESS_MOST_NULLS];
    /* of text */
    uint32_t shape;        /* what all values have in common */
    size_t same_length;    /* of all values, as bytes; SIZE_MAX: not the same */
    uint64_t led, trailed; /* values with a blank before, after them */
    bool recurs;           /* a value is the same as the first row's */
} column_t;

void guess_column_begin(column_t *column);
void guess_column_add(column_t *column, const uint8_t *text, size_t length);

typedef enum {
    KIND_TEXT,
    KIND_TRIMMED,
    KIND_BOOLEAN,
    KIND_INT,
    KIND_LONG,
    KIND_NUMBER,
    KIND_DECIMAL,
    KIND_DATE, /* by a pattern */
    KIND_DAY,  /* YYYY-MM-DD */
    KIND_DATETIME,
    KIND_OBJECTID,
    KIND_UUID,
} kind_t;

typedef struct {
    kind_t kind;
    size_t style, pattern, pair;
    uint8_t
        orders; /* of a date: in which orders of day, month and year all values are days; a bit for each */
    bool unsure_decimal; /* the mark may be a decimal or a thousands mark */
    uint32_t nulls;      /* which of the column's: a bit for each */
} decision_t;

/* By the column's own values only. */
decision_t guess_column_decide(const column_t *column);
/* As this kind, whether its values are such or not. */
decision_t guess_column_as(const column_t *column, kind_t kind);
bool guess_kind_is_number(kind_t kind);

#endif
