/* guess_column: the type of a column, by its values.
 *
 * A value is read once, into all readings that it has: a number by the marks it is written with, a date by its day, time and
 * zone, a word for yes or no, an ObjectId, a UUID. guess_read checks the shape of a value first, so that few readings are tried.
 *
 * A column counts its values by their readings: values of the same readings are a class, and a column has few classes.
 * Every question is then one walk over the classes (fit_with in guess_column.c):
 *     what the column is        the readings that all values have: guess_column_decide
 *     what it nearly is         those that all but a few have: guess_column_nearly
 *     what --type makes of it   those of the type that most values have: guess_column_as
 *
 * Invariants of a column: `values` is the sum of its classes' values. `all` is what all classes have in common. Classes with
 * more values come first. When there is no room for another class, the last one takes its values, and keeps what both have
 * in common. */
#ifndef TIPPLE_FORMAT_GUESS_COLUMN_GUESS_COLUMN_H
#define TIPPLE_FORMAT_GUESS_COLUMN_GUESS_COLUMN_H

#include "format/values/pattern.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* ---- values ---- */

/* How numbers are written. The usual styles come first; every other one has a point. */
enum { STYLES = 8 };
typedef struct {
    char decimal, thousands; /* thousands 0: none */
} style_t;
extern const style_t guess_styles[STYLES];

/* Words for yes and no. Those from PAIRS_ABROAD on count only in a file with decimal commas or the day first:
 * guess_settle_marks. */
enum { PAIRS = 23, PAIRS_ABROAD = 10 };
extern const char *const guess_pairs[PAIRS][2];

/* A bit for each reading. A date is read by any combination of its days, separators before the time, times and zones. */
typedef union {
    struct {
        uint32_t days, times, pairs;
        uint8_t between, zones;
        uint8_t styles;
        uint8_t others; /* READS_... */
    };
    uint64_t words[2];
} readings_t;
enum {
    READS_DATETIME = 1, /* by the patterns of the type datetime, which may be mixed */
    READS_OBJECTID = 2,
    READS_UUID = 4,
};

typedef struct {
    readings_t reads;
    /* of a number's styles: those in which it has a fraction; has marks between thousands; is no int64; has more digits than a
     * double; has more than a decimal128 */
    uint8_t fraction, grouped, wide, lossy, huge;
    bool nothing; /* a null word, or blanks: it has no readings */
    bool code;    /* digits that as a number would lose a zero or a plus sign */
    bool second;  /* it is the word for no */
    bool timed;   /* of READS_DATETIME: it has a time */
    bool letters; /* of READS_OBJECTID: a number of 24 digits has none */
} value_t;

void guess_read(value_t *value, const uint8_t *text, size_t length);
/* True if the value has a reading that counts by itself: not those of words abroad. */
bool guess_is_of_type(const value_t *value);

/* Words that often stand for no value, up to a NULL pointer. True if the text without blanks around it is one, or empty. */
extern const char *const guess_null_words[];
bool guess_is_null(const uint8_t *text, size_t length);

/* The pairs that the word belongs to, a bit for each; *second: it is the word for no. */
uint32_t guess_pair(const uint8_t *text, size_t length, bool *second);

/* ---- columns ---- */

/* A year of four digits, or the name of a month, leaves no doubt. */
typedef enum { ORDER_SURE, ORDER_DMY, ORDER_MDY, ORDER_YMD, ORDERS } date_order_t;

enum {
    GUESS_MOST_NULLS = 7,  /* and the empty text; */
    GUESS_OTHER_NULLS = 2, /* and null values of other columns */
    GUESS_NULL_ROOM = 24,  /* bytes for one of them */
    GUESS_CLASSES = 24,
    GUESS_SHOWN = 60, /* bytes of the first value of a class */
};

typedef struct {
    readings_t reads;
    uint64_t values, at; /* how many; the place of the first one */
    uint8_t length, first[GUESS_SHOWN];
} class_t;

typedef struct {
    uint64_t values, blank; /* all but null values; the empty ones */
    readings_t all;
    uint32_t yes, no;                             /* pairs of which a value is that word */
    uint8_t fraction, grouped, wide, lossy, huge; /* of any value */
    uint8_t divided; /* of styles: a value has thousands that no decimal point explains */
    bool timed, letters;
    uint64_t codes;
    size_t class_count;
    class_t classes[GUESS_CLASSES];
    bool many_nulls; /* more null words than there is room for */
    size_t null_count;
    struct {
        uint8_t length, bytes[GUESS_NULL_ROOM];
    } nulls[GUESS_MOST_NULLS + GUESS_OTHER_NULLS];
    /* of text */
    size_t same_length;    /* of all values, as bytes; SIZE_MAX: not the same */
    size_t same_trimmed;   /* the same without the blanks around */
    uint64_t led, trailed; /* values with a blank before them; values and null words with one after */
    bool kept_blank;       /* a value in quotes has a blank at an end */
} column_t;

void guess_column_begin(column_t *column);
/* Adds a value; _take adds one that guess_read has read. */
void guess_column_add(column_t *column, const uint8_t *text, size_t length);

typedef enum {
    KIND_TEXT,
    KIND_TRIMMED,
    KIND_BOOLEAN,
    KIND_INT,
    KIND_LONG, /* by --type only */
    KIND_NUMBER,
    KIND_DECIMAL,
    KIND_DATE, /* by a pattern */
    KIND_DAY,  /* YYYY-MM-DD */
    KIND_DATETIME,
    KIND_OBJECTID,
    KIND_UUID,
    KIND_BINARY, /* this one and the next by --type only */
    KIND_JSON,
} kind_t;
bool guess_kind_is_number(kind_t kind);
bool guess_kind_is_text(kind_t kind);
bool guess_kind_is_date(kind_t kind);

typedef struct {
    kind_t kind;
    readings_t reads; /* those that the values have in common */
    size_t style, pair;
    char pattern[PATTERN_LONGEST]; /* of KIND_DATE */
    bool rounded;                  /* the pattern rounds to milliseconds */
    char separator;                /* between day and month */
    uint8_t orders;                /* the orders in which all values are days; a bit for each */
    bool unsure_decimal;           /* the mark may be a decimal or a thousands mark */
    bool either_way;               /* so may both marks: 1.234 and 1,234 are among the values */
    bool took_point;               /* a dot was taken for the decimal mark, since no column shows it */
    uint32_t nulls;                /* the null words of the column that the type reads: a bit for each */
} decision_t;

/* Decides by the column's own values. */
decision_t guess_column_decide(const column_t *column);

/* How many values share these readings and how many do not, and the class of the first that does not. */
typedef struct {
    readings_t reads;
    uint64_t values, misfits;
    const class_t *first;
} fit_t;
/* The type of a text column without a few of its values (at most one in twenty). False: it has none. */
bool guess_column_nearly(const column_t *column, fit_t *fit, decision_t *is);
/* Makes the column this kind, written as most of its values of this kind are. decimal: the mark of --with decimal; 0: none. */
decision_t guess_column_as(const column_t *column, kind_t kind, char decimal);
/* Reads the numbers in this style. False: they are not all written so, or no type holds them. */
bool guess_take_style(const column_t *column, size_t style, decision_t *is);
/* Reads dates of several orders in this one. */
void guess_take_order(decision_t *is, date_order_t order);

/* The bit of a word among the nulls of the column; 0: it is none of them. take: adds the word first, if there is room. */
uint32_t guess_column_find_null(const column_t *column, const char *word);
uint32_t guess_column_take_null(column_t *column, const char *word);

#endif
