/* guess_inner: what the parts of guess share. */
#ifndef TIPPLE_FORMAT_GUESS_GUESS_INNER_H
#define TIPPLE_FORMAT_GUESS_GUESS_INNER_H

#include "base/encoding.h"
#include "base/text.h"
#include "format/guess/guess.h"
#include "format/guess/type_spec.h"
#include "format/record/split.h"

enum {
    GUESS_MOST_NULLS = 7, /* and the empty text */
    GUESS_NULL_ROOM = 24, /* for one of them */
    GUESS_MOST_PATTERNS = 64,
};

/* ---- what the format files of this version can say ---- */

typedef enum {
    CAN_BOOLEAN,
    CAN_DECIMAL_TYPE,
    CAN_OBJECTID,
    CAN_UUID,
    CAN_DECIMAL, /* the keys `decimal` and `thousands` */
    CAN_SKIP,
    CAN_COMMENT,
    CAN_COUNT
} guess_can_t;
extern const bool guess_can[CAN_COUNT];

/* ---- cutting (guess_cut.c) ---- */

typedef struct {
    char delimiter, quote; /* quote 0: none */
    bool backslash;
} way_t;

/* What ends.h and split.h ask a schema for. */
void guess_schema(schema_t *schema, const way_t *way);

typedef struct {
    const uint8_t *text;
    size_t length; /* without its line end */
} guess_line_t;

/* The next record that is not blank; *at moves to its end. False: there is none that is certain. last: the text's end
 * ends it. comment: records that begin with this byte are passed over; 0: none. */
bool guess_next(const schema_t *schema, char comment, const uint8_t **at, const uint8_t *end, bool last,
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

typedef enum { ORDER_ISO, ORDER_YMD, ORDER_DMY, ORDER_MDY } date_order_t;
typedef struct {
    const char *text;
    date_order_t order;
    char separator;
    bool digits; /* only digits, so it could be a number, too */
} date_pattern_t;

size_t guess_pattern_count(void);
const date_pattern_t *guess_pattern(size_t at);
/* Those of `among` by which it is a day. Patterns that this version does not know are never among them. */
uint64_t guess_dates(uint64_t among, const uint8_t *text, size_t length);
#define GUESS_ISO                                                                                            \
    0x7Full /* the patterns of the type datetime are the first ones; the first of all is a day */

/* ---- columns (guess_column.c) ---- */

typedef struct {
    uint64_t values, blank; /* that are no null values; that are empty */
    uint8_t styles;         /* of numbers, in which all values are; and by style, whether any value is so: */
    uint8_t fraction, grouped, wide, lossy, huge;
    uint32_t pairs;
    bool yes, no;
    bool iso; /* each is a date by one of GUESS_ISO */
    uint64_t iso_seen, dates;
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
    bool unsure_day;     /* `pattern` and the other order of day and month are equally good */
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
    size_t skip;     /* lines before the first record, which may be the header */
    size_t first;    /* offset of the first record */
    bool odd_header; /* the first record has other columns than the rest, and names most of them */
    bool row_names;  /* with odd_header: it names all but the first column */
    char comment;    /* lines that begin with it are none; 0: there are none */
    double score;
} structure_t;

struct guess {
    const char *name;
    bool json, bson; /* it is, and nothing else is known */
    guess_options_t options;
    type_spec_t *types; /* options.type_count */
    structure_t structure;
    schema_t *schema; /* of the structure's way */
    split_t *split;
    guess_column_t *columns;           /* structure.columns */
    uint8_t *first;                    /* the first record */
    size_t first_length, header_lines; /* lines up to its end */
    bool first_in_records;             /* it is no header, and was counted */
    uint64_t records, misfits, bytes;
    bool all;       /* everything was looked at */
    bool scattered; /* the middle and the end, too */
    /* there is text that is not UTF-8; with bytes 80 to 9f; with bytes that are nothing in windows-1252 */
    bool other_bytes, c1_bytes, no_bytes;
    /* guess_end */
    bool header;     /* the format says header: yes */
    bool named_here; /* the first record holds names, but is skipped */
    encoding_t encoding;
};

/* guess_structure.c */
bool guess_find_structure(structure_t *structure, const char *name, const uint8_t *text, size_t length,
                          bool whole, err_t *err);
/* guess_text.c. The first two bytes that are no blanks; 0: there is none. */
void guess_first_bytes(const uint8_t *text, size_t length, uint8_t *first, uint8_t *second);
/* Refuses what is no delimited text of bytes. */
bool guess_is_text(const char *name, const uint8_t *text, size_t length, err_t *err);
/* guess_json.c */
bool guess_is_json(const uint8_t *text, size_t length);
void guess_json_take(guess_t *guess, const uint8_t *text, size_t length, bool from_start, bool last,
                     size_t *used);
bool guess_json_types(const guess_t *guess, err_t *err); /* can they be said of JSON? */
void guess_json_fields(text_t *out, const guess_t *guess);
void guess_json_tell(text_t out[GUESS_LINES], const guess_t *guess);

/* guess_print.c: as a scalar of YAML, in quotes where they are needed. */
void guess_put_scalar(text_t *out, const char *text, size_t length);
/* guess_bson.c */
bool guess_is_bson(const uint8_t *text, size_t length);
void guess_bson_take(guess_t *guess, const uint8_t *text, size_t length, size_t *used);
void guess_bson_tell(text_t out[GUESS_LINES]);
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
