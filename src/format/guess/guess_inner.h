/* guess_inner: the chapters of a guess, and what each leaves for the next.
 *
 *     pieces of the inputs                        guess.h
 *       | guess_begin         guess_cut.c         structure_t: the way in which the first input is cut, by each way's score
 *       | guess_cut           guess_cut.c         sheet_t: all whole records, cut once into rows and cells
 *       | guess_decide        guess_column.c      column_t, decision_t: what the cells of a column have in common
 *       | guess_find_text     guess_text.c        line ends, quotes, encoding
 *       | guess_find_header   guess_header.c      naming_t: whether the first record names the columns
 *       | guess_cut again                         the other inputs, whose names may add columns
 *       | guess_name_columns  guess_header.c      names and keys
 *       | settle_ways, ...    guess.c             --type, orders of days, decimal marks, null words
 *     the format file                             guess_write.c
 *
 * Any step may ask the user, which ends the guess (status 5). A row does not change after it is cut, and no chapter counts while
 * records are read: what it needs to know, it looks up in the rows. Of struct guess each step writes the members under its own
 * name. A guess belongs to one thread. */
#ifndef TIPPLE_FORMAT_GUESS_GUESS_INNER_H
#define TIPPLE_FORMAT_GUESS_GUESS_INNER_H

#include "base/err.h"
#include "base/text.h"
#include "format/cut/split.h"
#include "format/guess/guess.h"
#include "format/record/dialect.h"
#include "format/types.h"
#include "format/values/values.h"

#include <string.h>

/* ---- guess_structure ----
 *
 * Finds the way in which a text is cut into records: the delimiter of its fields, the quotes around them, and
 * the lines that are no records.
 *
 * A candidate is a way: a delimiter (a sign, a sign doubled or with ~ in its middle, a sign and a blank, blanks, or none) with a
 * way of quoting (", " with \" or \\ in it, none, ', ' with \' in it). Each candidate that differs from the others in this text cuts
 * its beginning once, and its cells are summed up in figures (candidate_t in guess_structure.c):
 *
 *     score       by the share of records with the same number of fields and the share of clean cells; 0: not this way
 *     typed       columns of numbers and dates only
 *     holds       delimiters of other candidates in cells that are no numbers, dates or texts in quotes, and colons only where
 *                 they are no part of a time, an address, a path or a link
 *
 * The best score has to explain its rivals: another sign that divides as many records may only stand where `holds` does
 * not count it. If it does not, or each explains the other, or a sign may be a part of the values, one sentence asks, with both
 * readings and the option for each. Colons and blanks divide only if the user says so.
 *
 * guess_cut.c calls guess_find_structure for the beginning of a text, and guess_schema and guess_next for each text that it cuts
 * afterwards. */

/* ---- a way, and a text cut by it (guess_cut.c) ---- */

typedef struct {
    char delimiter, quote; /* quote 0: none */
    bool backslash, backslashes;
    bool blanks; /* any number of blanks divides */
    /* a delimiter of several characters, of which `delimiter` is the first; "": `delimiter` divides */
    char wide[4];
} way_t;

/* Fills the parts of a schema that ends.h and split.h read. It points into the way. */
void guess_schema(schema_t *schema, const way_t *way);

/* The next line that is neither blank nor a comment; *at moves to its end. False: no whole one is left. last: the end of the text
 * ends a line. */
bool guess_next(const schema_t *schema, const uint8_t **at, const uint8_t *end, bool last,
                dialect_line_t *line);

/* ---- what is found ---- */

typedef struct {
    way_t way;
    size_t columns;
    size_t skip;       /* lines before the first record, which may be the header */
    size_t titles;     /* those of them that are not blank and do not begin with # */
    size_t given;      /* those of them that --with header=N skips, or the line sep=; */
    size_t first;      /* offset of the first record */
    size_t names;      /* offset of the first line of names: before `first`, if they stand in several lines */
    size_t before;     /* fields of the line before it; 0: none */
    size_t wider;      /* those of the lines to skip with more fields than the records */
    bool named;        /* the first record names the columns: titles or groups stand before it */
    bool unsure;       /* it may name them: what stands before it may be titles, or records */
    bool odd_header;   /* the first record names all columns but the first, as some programs write it */
    bool unsure_names; /* with odd_header: it may be another column that has no name */
    bool ends_empty;   /* the records have a field more than the first line, and it is empty in all */
    bool unsure_quotes; /* another quote than the one read, or none, may enclose some texts */
    char comment;       /* lines that begin with this sign are no records; 0: there are none */
    size_t typed;       /* columns that hold numbers or dates only */
    bool even;          /* all records have the same number of fields */
} structure_t;

/* ---- the search (guess_structure.c) ---- */

/* The words of --with delimiter: a sign, two colons, tab, \x01, blanks (' '), or none ('\n'). */
enum { GUESS_DELIMITERS = 9, GUESS_TWO_COLONS = '\x03' };
extern const char *const guess_delimiter_words[GUESS_DELIMITERS];
extern const char guess_delimiter_signs[GUESS_DELIMITERS]; /* of the words */
const char *guess_delimiter_word(char delimiter);          /* NULL: --with delimiter has no word for it */

/* Finds the structure of an input by its beginning; name: of the input. Offsets count from text, also where a byte-order mark
 * is there. */
bool guess_find_structure(structure_t *structure, const char *name, const uint8_t *text, size_t length,
                          bool whole, const guess_options_t *said, err_t *err);

/* ---- the weights ----
 *
 * Each was made for an input: with another figure, that input is read otherwise, or becomes a question. The inputs are rows of
 * tests/cli/tables/guess-*.table and files of tests/data.
 *
 * The score of a way is share * share * (what its cells are worth) * (what the way is worth): see weigh in guess_structure.c. */
#define LEAST_SCORE           0.25 /* tests/fuzz/corpus/delimited/mot_2016: too few of its lines have columns */
#define LEAST_SHARE           0.6 /* "Ann Lee   New York   12": columns of fixed width */
#define LEAST_SHARE_ESCAPED   0.9 /* tests/data/mot/odd/2020_escaped_quotes.csv */
#define LEAST_CLEAN_UNDIVIDED 0.7 /* "3,4," below "a,b": lines with a comma too many are no column of texts */
#define CELL_OF_TEXT          0.8 /* "|Ann|" between "+---+": a text may be anything, and a number is a value */
#define CELL_WITH_SIGNS       0.3  /* "2" among "1,Ann", "3,Carl": other signs in texts */
#define CLEAN                 0.8  /* "1,5;2,5": share alone would let commas divide */
#define ODD                   0.8  /* `5" pipe` above `"odd" one` */
#define UNDIVIDED             0.9  /* "sep=," in quotes, above "a,b" */
#define WIDE                  1.1  /* "1||Ann||2" */
#define TITLES                0.85 /* "Preis" above "1,50": a column, and no title */
enum {
    TORN_IN =
        10, /* records, of which one may hold quotes that a delimiter tears: `1,"Miller, Jane",25/08/2019` */
    LINK = 5,       /* bytes before :// are a part of a link: "http://x.org/a2;jsessionid=4" */
    FEW_FIELDS = 3, /* with commas between them may be one text: "2024-01-01 10:00:00,007,INFO" */
    /* evidence about the first record: see guess_header.c */
    STRONG = 3, /* ",0,1" above "0,1.5,a"; "id||name" */
    NAME = 4,   /* "id," above "1,2": against a column that has no name */
    ENOUGH = 2, /* "first_name,last_name" above "Ann,Smith" */
    COMPARED =
        1000,      /* are compared with it: of fewer, a text that is there once in a thousand would be none */
    LONG_WORD = 4, /* bytes of a name that is hardly a code: "A,off" above "B,12" */
    CAPTION = 12,  /* bytes of a text that is hardly a code, either: "2007 - 08 Volume" */
    NEAR_YEARS = 10, /* of a row of years: "foo,2020,1950" above "yes,1044,90" is a record */
    RISING = 3,      /* numbers that rise hardly do so by chance: "0,1,2" above "7,1.5,3" */
    LEAST_ROWS = 5,  /* fewer texts may have something in common by chance: "10:30:00,go" */
    WORDS_IN = 20,   /* numbers, of which one may be a word: "NV" among "1981,1" and 19 more */
};

/* ---- is it delimited text at all? (guess_cut.c) ---- */

/* True for a value that is no name: not for yes, no, Y and n. */
bool guess_is_number_or_date(const span_t *span);

/* Refuses a text with lines that end with CR CR LF, or with CR alone while others end with LF. Returns false. */
bool guess_refuse_cr(const char *name, err_t *err);

/* The first characters of a text, as a sentence shows them. */
const char *guess_shown(char *out, size_t room, const char *text, size_t length);

/* ---- guess_column ----
 *
 * The type of a column, by its values.
 *
 * A value is read once, into all readings that it has: a number by its marks and its type, a date by its day, time and zone, a
 * word for yes or no, an ObjectId, a UUID. Numbers, ObjectIds and UUIDs are read by the rows of types.h, dates by patterns, so
 * a guess takes what the format will read.
 *
 * A column counts its values by their readings: values of the same readings are a class, and a column has few classes.
 * Every question is then one walk over the classes (fit_most in guess_column.c):
 *     what the column is        the readings that all values have: guess_column_decide
 *     what it nearly is         those that all but a few have: guess_column_nearly
 *     what --type makes of it   those of the type that most values have: guess_column_as
 *
 * Invariants of a column: `values` is the sum of its classes' values. `all` is what all classes have in common. Classes with
 * more values come first. When there is no room for another class, the last one takes its values, and keeps what both have
 * in common. */

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
    ANY_YES, /* pairs in which it means yes; no */
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

typedef struct {
    readings_t reads;
    uint64_t values;
    uint8_t length, first[GUESS_SHOWN];
    size_t row; /* of the first value, in the sheet */
} class_t;

typedef struct {
    size_t row;             /* of the value that is added next */
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
    return value_types[kind].flags & VALUE_NUMBER;
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

/* ---- the sheet: the whole records of all inputs, cut once (guess_cut.c) ---- */

/* A field. */
typedef struct {
    const uint8_t *text; /* NULL: its input lacks the column */
    uint32_t length;
    bool enclosed; /* it is in quotes */
} cell_t;

typedef enum {
    ROW_NAMES, /* the first record of all, or a line of names above it: counts for its quotes alone */
    ROW_FIRST, /* the same as the first record, or names the columns as that may do: the first of its input; */
    ROW_AGAIN, /* a later one */
    ROW_RECORD,
} row_kind_t;

typedef struct {
    const uint8_t *text; /* in the sample */
    size_t length;
    const char *input;
    row_kind_t kind;
    bool marked;  /* a byte order mark stands in front of it */
    bool torn;    /* something follows the quote that ends a text */
    bool several; /* each of its lines looks like a record */
    size_t first; /* its first cell, */
    size_t count; /* and how many it has: one a column of its time; 0: it will be rejected */
} row_t;

typedef struct {
    row_t *rows;
    cell_t *cells;
    uint8_t **texts; /* without escapes */
    size_t count, room, cell_count, cell_room, text_count, text_room;
} sheet_t;

/* What the rows amount to. */
typedef struct {
    uint64_t records, rejects, hollow; /* hollow: without a value */
    uint64_t with_cr;                  /* they hold a CR outside of quotes */
    uint64_t repeated;                 /* ROW_AGAIN; */
    bool marked_again;                 /* one of these is marked */
} counts_t;

/* ---- the state of a guess ---- */

typedef struct {
    char *text; /* as in the file; of JSON: the path */
    size_t length;
    char *name; /* in UTF-8, without blanks around; what `column` says */
    char *key;
    size_t numbered; /* the last number that was appended to this key for another column; 0: none */
    bool optional;   /* an input lacks it */
    const char *in;  /* the input that it was first seen in; NULL: the first one */
    column_t column;
    decision_t is;
    const type_spec_t *spec; /* what --type says of the column; NULL: nothing */
} guess_column_t;

static inline bool guess_is_typed_by_user(const guess_column_t *column) {
    return column->spec && column->spec->type;
}

/* Whether the first record names the columns (guess_header.c). */
typedef enum {
    NAMES_OPEN, /* it is not decided */
    NAMES_NONE,
    NAMES_LINE,   /* it does; columns are found by their places: header_line */
    NAMES_HEADER, /* it does, and columns are found by their names */
} naming_t;

enum { GUESS_MOST_PATHS = 500 }; /* of JSON that are looked for */

struct guess {
    /* what is given */
    const guess_sample_t *sample;
    const guess_piece_t *head; /* the first piece of the input that decides; of a kept format NULL */
    const char *name;
    const schema_t *kept; /* of guess_widen: its fields are the first columns; otherwise NULL */
    guess_options_t options;
    type_spec_t *types; /* options.type_count; see tell_types */

    /* guess_begin: what is read, and how */
    /* of JSON the columns are paths, and of JSON and BSON structure and sheet stay empty */
    record_kind_t kind;
    bool marked;  /* the input begins with the byte-order mark of UTF-8 */
    bool cut_off; /* its text ends within quotes, if they enclose texts */
    structure_t structure;
    schema_t schema; /* of structure.way */
    split_t split;
    row_t first;         /* the first record */
    uint64_t first_line; /* its line, from 1 */
    bool first_misfits;  /* it has another number of fields than there are columns */

    /* guess_cut: the inputs */
    sheet_t sheet;
    counts_t counts;
    guess_column_t *columns; /* structure.columns */
    size_t column_room;
    size_t decided;                     /* the first ones: those of the kept format */
    size_t seen;                        /* columns of the sample; of JSON --type may add others */
    size_t fields;                      /* of a record of the input at hand */
    uint16_t order[SCHEMA_MOST_FIELDS]; /* after a header: the column of each field */
    bool others;                        /* inputs after the first are read, too */
    bool all;                           /* the sample is all of the inputs */

    /* guess_find_text */
    bool unquoted; /* no value is in quotes, so that quotes in later fields may be ordinary characters */
    encoding_t encoding;

    naming_t names; /* guess_find_header */

    struct {
        bool backslash, null; /* \N; NULL */
    } nothing;                /* words that are null values in all columns */
};

/* True if the row is a record, as far as the naming of the columns is decided. */
static inline bool guess_is_record(const guess_t *guess, const row_t *row) {
    const bool value = row->kind == ROW_AGAIN && guess->structure.columns == 1;
    return row->kind == ROW_RECORD ||
           (guess->names && row->kind != ROW_NAMES && (guess->names == NAMES_NONE || value));
}

/* The cell of a column; NULL: the row has none. */
static inline const cell_t *guess_cell(const guess_t *guess, const row_t *row, size_t column) {
    const cell_t *cell = &guess->sheet.cells[row->first + column];
    return column < row->count && cell->text ? cell : NULL;
}

/* With a kept format: true for a column that stays left out of it. */
static inline bool guess_leaves_out(const guess_t *guess, const guess_column_t *column) {
    return schema_leaves_out(guess->kept, ENCODING_NONE, (const uint8_t *)column->name, strlen(column->name));
}

/* ---- the chapters, in the order in which guess.c calls them ---- */

/* guess_documents.c: what a text is: delimited, JSON or BSON. */
record_kind_t guess_kind_of(const uint8_t *text, size_t length);
bool guess_take_documents(guess_t *guess, const uint8_t *text, size_t length, bool last, err_t *err);
bool guess_check_documents(const guess_t *guess, err_t *err); /* False: an option does not go with them. */
/* The column of a path of JSON, which may be a new one; NULL: out of memory. */
guess_column_t *guess_column_at(guess_t *guess, const char *path, err_t *err);

/* guess_cut.c: finds the structure by the first piece, and keeps the first record. */
bool guess_begin(guess_t *guess, err_t *err);
/* Cuts the pieces of the input that decides, or those of all others that are read like it. */
bool guess_cut(guess_t *guess, bool others, err_t *err);
/* Decides the types of columns by the rows, and counts these. */
void guess_decide(guess_t *guess);
/* Cuts a line into guess->split. */
bool guess_split_line(guess_t *guess, const uint8_t *text, size_t length, err_t *err);
/* Appends a column. in: the input that has it first, which others lack; NULL: all have it. */
bool guess_add_column(guess_t *guess, const char *text, size_t length, const char *in, err_t *err);
void guess_free_sheet(guess_t *guess);

/* guess_text.c: line ends, quotes and encoding. */
bool guess_find_text(guess_t *guess, err_t *err);

/* guess_header.c: reads the names as UTF-8; decides whether they are names; makes the keys. */
bool guess_read_names(guess_t *guess, err_t *err);
bool guess_find_header(guess_t *guess, err_t *err);
bool guess_name_columns(guess_t *guess, err_t *err);

/* guess_write.c: the kept format file with its new columns as optional fields, and their --type among its options. */
bool guess_write_added(const guess_t *guess, const char *yaml, char **wider, err_t *err);

#endif
