/* guess_column: what all values of a column have in common, and what they are for that reason. */
#ifndef TIPPLE_FORMAT_GUESS_COLUMN_GUESS_COLUMN_H
#define TIPPLE_FORMAT_GUESS_COLUMN_GUESS_COLUMN_H

#include "format/guess/column/guess_value.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* guess_dates: the patterns by which a value is a day. */

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

enum {
    GUESS_MOST_NULLS = 7,  /* and the empty text; */
    GUESS_OTHER_NULLS = 2, /* and what means nothing in other columns */
    GUESS_NULL_ROOM = 24,  /* for one of them */
};

typedef struct {
    uint64_t values, blank; /* that are no null values; that are empty */
    uint8_t styles;         /* of numbers, in which all values are; and by style, whether any value is so: */
    uint8_t fraction, grouped, wide, lossy, huge;
    uint32_t pairs;
    bool yes, no;
    bool iso; /* each is a date by one of GUESS_ISO */
    date_set_t iso_seen, dates;
    bool objectid, uuid;
    bool hex_letters; /* one of those has a letter: a number of 24 digits is none */
    bool typed;       /* any of those may still be */
    bool many_nulls;  /* more than there is room for */
    size_t null_count;
    struct {
        uint8_t length, bytes[GUESS_NULL_ROOM];
    } nulls[GUESS_MOST_NULLS + GUESS_OTHER_NULLS];
    /* of text */
    uint32_t shape;        /* what all values have in common */
    size_t same_length;    /* of all values, as bytes; SIZE_MAX: not the same */
    size_t same_trimmed;   /* so, too, without the blanks around */
    uint64_t led, trailed; /* values with a blank before them; those and words for nothing with one after */
    bool kept_blank;       /* some of those are in quotes */
    bool recurs;           /* a value is the same as the first row's */
} column_t;

enum { GUESS_SHAPE_AT = 16 }; /* of shape: an @ somewhere */

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
    KIND_BINARY, /* the last two only if a person says so */
    KIND_JSON,
} kind_t;

typedef struct {
    kind_t kind;
    size_t style, pattern, pair;
    uint8_t
        orders; /* of a date: in which orders of day, month and year all values are days; a bit for each */
    bool unsure_decimal; /* the mark may be a decimal or a thousands mark, */
    bool either_way;     /* and so it may be in both 1.234 and 1,234, which are among the values */
    bool took_point;     /* and a dot was taken for a decimal one, since nothing else tells */
    uint32_t nulls;      /* which of the column's: a bit for each */
} decision_t;

/* By the column's own values only. */
decision_t guess_column_decide(const column_t *column);
/* Of a column of numbers: the same in another style, in which all its values are, too. */
decision_t guess_column_in_style(const column_t *column, size_t style, const decision_t *is);
/* As this kind, whether its values are such or not. */
decision_t guess_column_as(const column_t *column, kind_t kind);
/* The word's bit among the nulls of the column; 0: it is none of them. take: it is one from now on, though no value is so, if
 * there is room. */
uint32_t guess_column_find_null(const column_t *column, const char *word);
uint32_t guess_column_take_null(column_t *column, const char *word);
bool guess_kind_is_number(kind_t kind);

#endif
