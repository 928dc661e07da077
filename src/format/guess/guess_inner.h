/* guess_inner: what the parts of guess share. */
#ifndef TIPPLE_FORMAT_GUESS_GUESS_INNER_H
#define TIPPLE_FORMAT_GUESS_GUESS_INNER_H

#include "base/chars/encoding.h"
#include "base/text.h"
#include "format/cut/split.h"
#include "format/guess/guess.h"
#include "format/guess/type_spec.h"

#include <string.h>

enum {
    GUESS_MOST_NULLS = 7, /* and the empty text */
    GUESS_NULL_ROOM = 24, /* for one of them */
    GUESS_MOST_PATTERNS = 128,
};

/* ---- cutting (guess_cut.c) ---- */

typedef struct {
    char delimiter, quote; /* quote 0: none */
    bool backslash;
    bool blanks;  /* any number of them divides */
    char wide[4]; /* or these characters do; "": only the one */
} way_t;

/* The delimiter as a text; not of blanks. */
static inline schema_text_t way_delimiter(const way_t *way) {
    return way->wide[0] ? (schema_text_t){way->wide, strlen(way->wide)} : (schema_text_t){&way->delimiter, 1};
}

/* What ends.h and split.h ask a schema for; as long as the way stays where it is. */
void guess_schema(schema_t *schema, const way_t *way);

typedef struct {
    const uint8_t *text;
    size_t length; /* without its line end */
} guess_line_t;

/* The next record that is neither blank nor a comment; *at moves to its end. False: there is none that is certain. last:
 * the text's end ends it. */
bool guess_next(const schema_t *schema, const uint8_t **at, const uint8_t *end, bool last,
                guess_line_t *line);

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

/* ---- all of it (guess.c) ---- */

typedef struct {
    char *text; /* as in the file */
    size_t length;
    char *name; /* in UTF-8, without blanks around; what `column` says */
    char *key;
    column_t column;
    decision_t is;
    const type_spec_t *told; /* what a person says of it; NULL: nothing */
} guess_column_t;

/* What guess_begin finds. */
typedef struct {
    way_t way;
    size_t columns;
    size_t skip;         /* lines before the first record, which may be the header */
    size_t first;        /* offset of the first record */
    bool two_quotes;     /* ' encloses fields, and " others */
    bool odd_header;     /* the first record has other columns than the rest, and names most of them */
    bool row_names;      /* with odd_header: it names all but the first column */
    bool ends_empty;     /* all records end in an empty field, which the line before them lacks */
    char comment;        /* lines that begin with it are none; 0: there are none */
    bool unsure_comment; /* or they are records */
    double score;
} structure_t;

struct guess {
    const char *name;
    bool json, bson; /* it is, and nothing else is known */
    bool was_utf16;
    bool dumped; /* a collection of a dump */
    bool marked; /* it begins with the byte-order mark of UTF-8 */
    guess_options_t options;
    type_spec_t *types; /* options.type_count */
    structure_t structure;
    schema_t *schema; /* of the structure's way */
    split_t *split;
    guess_column_t *columns; /* structure.columns */
    uint8_t *first;          /* the first record */
    size_t first_length;
    uint64_t first_line; /* where it begins, from 1 */
    bool first_misfits;  /* it has not as many fields as the columns */
    uint64_t like_first; /* lines that were taken and are the same as the first record */
    uint64_t records, misfits, bytes;
    bool all;       /* everything was looked at */
    bool scattered; /* the middle and the end, too */
    bool of_many;   /* there are other inputs */
    /* there is UTF-8 that is no ASCII; text that is not UTF-8; with bytes that are nothing in windows-1252 */
    bool wide_characters, other_bytes, no_bytes;
    /* guess_end */
    bool header;     /* the format says header: yes */
    bool named_here; /* the first record holds names, but the columns are told by their place: header_line */
    encoding_t encoding;
};

/* guess_structure.c */
bool guess_find_structure(structure_t *structure, const char *name, const uint8_t *text, size_t length,
                          bool whole, err_t *err);
/* guess_text.c. The first two bytes that are no blanks; 0: there is none. */
void guess_first_bytes(const uint8_t *text, size_t length, uint8_t *first, uint8_t *second);
/* x.bson, x.bson.gz, a.tar!x.bson */
bool guess_is_named_bson(const char *name);
/* Refuses what is no delimited text of bytes. */
bool guess_is_text(const char *name, const uint8_t *text, size_t length, err_t *err);
/* guess_json.c */
bool guess_is_json(const uint8_t *text, size_t length);
void guess_json_take(guess_t *guess, const uint8_t *text, size_t length, bool from_start, bool last,
                     size_t *used);
bool guess_json_types(const guess_t *guess, err_t *err); /* can they be said of JSON? */
void guess_json_fields(text_t *out, const guess_t *guess);
void guess_json_tell(text_t out[GUESS_LINES], const guess_t *guess);

/* guess_scalar.c: as a scalar of YAML, in quotes where they are needed. */
void guess_put_scalar(text_t *out, const char *text, size_t length);
/* guess_bson.c */
bool guess_is_bson(const uint8_t *text, size_t length);
void guess_bson_take(guess_t *guess, const uint8_t *text, size_t length, size_t *used);
void guess_bson_tell(text_t out[GUESS_LINES]);
/* guess_settle.c: what one column tells of another. */
bool guess_settle_days(guess_t *guess, err_t *err);
bool guess_settle_marks(guess_t *guess, err_t *err);
/* \N means nothing in a text, too; NULL does where it does in another column. */
void guess_settle_text_nulls(guess_t *guess);
/* guess_header.c */
bool guess_find_header(guess_t *guess, err_t *err);
/* guess_names.c: what the first record names; then the keys. */
bool guess_read_names(guess_t *guess, err_t *err);
bool guess_name_columns(guess_t *guess, err_t *err);
/* guess_types.c: what a person says of columns. After their names are known. */
bool guess_read_types(guess_t *guess, err_t *err);
bool guess_tell_types(guess_t *guess, err_t *err);
/* The key that a column is stored under. */
const char *guess_key(const guess_column_t *column);
/* One of them stands where the other would have its subdocument, or they are the same. */
bool guess_keys_collide(const char *one, const char *other);
/* How a text is shown in a sentence: the first characters. */
const char *guess_shown(char *out, size_t room, const char *text, size_t length);

#endif
