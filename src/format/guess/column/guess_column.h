/* guess_column: the type of a column, by its values.
 *
 * A value is read once, into all readings that it has: a number by its marks and its type, a date by its day, time and zone, a
 * word for yes or no, an ObjectId, a UUID. Numbers, ObjectIds and UUIDs are read by the rows of types.h, dates by patterns, so
 * a guess takes what the format will read.
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

#include "format/types.h"
#include "format/values/calendar.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* ---- values ---- */

/* How numbers are written: with a decimal point, and commas between thousands, or with a decimal comma, and points. A bit for int,
 * number and decimal by each mark. */
enum { POINTS = 07, COMMAS = 070, NUMBER_TYPES = 3 };

/* Words for yes and no. */
enum { PAIRS = 23 };
extern const char *const guess_pairs[PAIRS][2];

/* A bit for each reading. A date is read by any combination of its days, separators before the time, times and zones. */
typedef union {
    struct {
        uint32_t days, times, pairs;
        uint8_t between, zones;
        uint8_t numbers; /* POINTS and COMMAS */
        uint8_t others;  /* READS_... */
    };
    uint64_t words[2];
} readings_t;
enum {                     /* others */
       READS_DAY = 1,      /* YYYY-MM-DD */
       READS_DATETIME = 2, /* by the patterns of the type datetime, which may be mixed */
       READS_OBJECTID = 4,
       READS_UUID = 8,
};

/* What a value has besides its readings; a column has what any of its values has. */
enum {
    ANY_YES, /* the pairs of which it is the word for yes; for no */
    ANY_NO,
    ANY_FRACTION, /* the marks (1 << MARK_...) by which it has a fraction; has marks between thousands; */
    ANY_GROUPED,
    ANY_LETTERS, /* of an ObjectId: a number of 24 digits has none */
    ANYS
};

/* True for a value of a type, and for a null value. */
bool guess_is_typed(const uint8_t *text, size_t length);

/* Words that often stand for no value, up to a NULL pointer; the first four are base64, too. True if the text without blanks
 * around it is one, or empty. */
extern const char *const guess_null_words[];
bool guess_is_null(const uint8_t *text, size_t length);

/* The pairs that the word belongs to, a bit for each; *second: it is the word for no. */
uint32_t guess_pair(const uint8_t *text, size_t length, bool *second);

/* ---- columns ---- */

/* What a column may leave open: the order of days and months (a year of four digits in front, or the name of a month, leaves no
 * doubt), or the decimal mark. DOTTED: a date such as 31.12.2021 shows a country with a decimal comma. */
typedef enum { ORDER_SURE, ORDER_DMY, ORDER_MDY, ORDER_YMD, MARK_POINT, MARK_COMMA, DOTTED } date_order_t;

enum {
    GUESS_MOST_NULLS = 15,
    GUESS_NULL_ROOM = 24, /* bytes for one of them */
    GUESS_CLASSES = 24,
    GUESS_SHOWN = 60, /* bytes of the first value of a class */
};

/* Where a value is: its record, in the sample, and the number of that record. */
typedef struct {
    const uint8_t *record;
    uint64_t number;
} value_place_t;

typedef struct {
    readings_t reads;
    uint64_t values;
    uint8_t length, first[GUESS_SHOWN];
    value_place_t at; /* the first value */
} class_t;

typedef struct {
    value_place_t here;     /* of the value that is added next */
    uint64_t values, blank; /* all but null values; the empty ones */
    readings_t all;
    uint32_t any[ANYS];
    size_t class_count;
    class_t classes[GUESS_CLASSES];
    size_t null_count;
    char nulls[GUESS_MOST_NULLS][GUESS_NULL_ROOM];
    /* of text */
    size_t same_length;    /* of all values, as bytes; SIZE_MAX: not the same */
    size_t same_trimmed;   /* the same without the blanks around */
    uint64_t led, trailed; /* values with a blank before them; values and null words with one after */
    bool kept_blank;       /* a value in quotes has a blank at an end */
} column_t;

void guess_column_begin(column_t *column);
void guess_column_add(column_t *column, const uint8_t *text, size_t length);

static inline bool guess_kind_is_text(field_type_t kind) {
    return kind == TYPE_TEXT || kind == TYPE_TRIMMED;
}
static inline bool guess_kind_is_number(field_type_t kind) {
    return value_types[kind].number;
}

typedef struct {
    field_type_t kind;
    readings_t reads; /* those that the values have in common */
    bool comma;       /* of numbers: the decimal mark */
    size_t pair;
    bool timed;                    /* of dates: its type is datetime */
    char pattern[PATTERN_LONGEST]; /* of dates; "": the usual ones of the type */
    uint8_t orders;                /* of days, or decimal marks, that all values may have; a bit for each */
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
/* Makes the column this kind, written as most of its values of this kind are; numbers by these readings. */
decision_t guess_column_as(const column_t *column, field_type_t kind, uint8_t numbers);
/* Reads numbers with this decimal mark only, or dates in this order. */
void guess_take_way(const column_t *column, date_order_t way, decision_t *is);
/* The first sign between the parts of a pattern; 0: none. */
char guess_sign_of(const char *pattern);

/* The bit of a word among the nulls of the column; 0: it is none of them. take: adds the word first, if there is room. */
uint32_t guess_column_null(column_t *column, const char *text, size_t length, bool take);

#endif
