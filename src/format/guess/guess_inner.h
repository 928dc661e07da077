/* guess_inner: what the parts of guess share. */
#ifndef TIPPLE_FORMAT_GUESS_GUESS_INNER_H
#define TIPPLE_FORMAT_GUESS_GUESS_INNER_H

#include "base/text.h"
#include "format/cut/split.h"
#include "format/guess/column/guess_column.h"
#include "format/guess/column/guess_name.h"
#include "format/guess/guess.h"
#include "format/guess/structure/guess_structure.h"
#include "format/values/encoding.h"

/* ---- all of it (guess.c) ---- */

/* A number as it is written: whole, or with marks. */
typedef struct {
    bool is, whole, year; /* year: 1800 to 2200 */
    size_t digits;        /* before the first mark */
    long size;            /* without what follows the first mark; of nine digits at most */
} figure_t;

/* The first record's field, and how the values of the first records below it are written. */
typedef struct {
    figure_t figure;
    bool typed, empty; /* the field alone is of a type, as far as it shows; is empty, or a word for nothing */
    bool day;          /* it is a date, or a part of a year */
    bool word, words;  /* it, and a value, is a word that often names a column */
    bool same;         /* a value is the same text */
    unsigned shape, common; /* of the field; what the shapes of all values have in common */
    uint64_t values;        /* that are no null; of them, */
    uint64_t alike;         /* those that are written as the field is; */
    uint64_t figures;       /* of digits and signs: numbers, dates, times */
} heading_t;

typedef struct {
    char *text; /* as in the file */
    size_t length;
    char *name; /* in UTF-8, without blanks around; what `column` says */
    char *key;
    size_t numbered; /* what was put last behind the same key, for a later column of this name; 0: nothing */
    heading_t heading;   /* the first record's field above the others: see guess_header.c */
    bool torn;           /* a value of it goes over lines that look like records */
    bool enclosed;       /* another one is in quotes */
    bool here, optional; /* the input at hand has it; an input lacks it */
    uint64_t in_quotes;  /* so many are, and not empty */
    column_t column;
    decision_t is;
    const type_spec_t *told; /* what a person says of it; NULL: nothing */
} guess_column_t;

typedef enum {
    ESCAPE_DOUBLE,
    ESCAPE_BACKSLASH,
    ESCAPE_BACKSLASHES,
    ESCAPES
} escape_t; /* each with doubled quotes */

/* Words that mean nothing in all columns. */
typedef struct {
    bool backslash, null; /* \N, NULL */
} guess_nothing_t;

/* Words of text that is not UTF-8, if it is windows-1252. */
typedef struct {
    uint64_t count, odd;
    char first[24]; /* of the odd ones, in UTF-8, */
    const char *in; /* and the input that it stands in */
} guess_words_t;

typedef struct {
    const uint8_t *at, *end;
    bool last; /* nothing follows */
} guess_text_t;

/* What records say of quotes: see guess_quotes.c. */
typedef struct {
    uint64_t torn;  /* records of several lines, each of which looks like one */
    bool sure;      /* such lines are divided by tabs or | */
    uint64_t loose; /* fields that are not in quotes, and hold one */
    uint64_t odd;   /* records with something after the quote that ends a text */
    bool any;       /* any field is in quotes, or a name */
    bool needed,
        needless; /* a text in quotes holds what has to be in them; not even a sign that divides elsewhere */
    bool plain;   /* a text without holds such a sign */
    struct {
        const char *in; /* the input that it stands in; NULL: there is none */
        char text[200];
    } blank;                  /* the first text in quotes after a blank */
    bool impossible[ESCAPES]; /* a record is read well in another way, and not so; */
    bool conflict;            /* and that is so of each way */
} guess_quotes_t;

/* The texts under one key of JSON. */
typedef struct {
    column_t column;
    char path[];
} guess_texts_t;
enum { GUESS_MOST_TEXTS = 500 };

struct guess {
    const char *name;
    bool once;       /* the input cannot be read again by its name */
    bool json, bson; /* it is, and nothing else is known */
    bool was_utf16;
    bool stray_cr; /* a value ends with one, and its line with another */
    bool marked;   /* it begins with the byte-order mark of UTF-8 */
    guess_options_t options;
    type_spec_t *types; /* options.type_count */
    structure_t structure;
    schema_t *schema; /* of the structure's way */
    split_t *split;
    guess_column_t *columns;            /* structure.columns */
    size_t fields;                      /* that a record of the input at hand has */
    bool by_names;                      /* they stand in another order than the columns: */
    uint16_t order[SCHEMA_MOST_FIELDS]; /* the column of each */
    bool others;                        /* inputs begin with another line than the first one */
    size_t taken;                       /* bytes of the first piece */
    uint8_t *first;                     /* the first record */
    size_t first_length;
    uint64_t first_line; /* where it begins, from 1 */
    bool first_misfits;  /* it has not as many fields as the columns */
    uint64_t underline;  /* the line that is the second record, and tells of names; 0: none */
    uint64_t underlines; /* records that are such lines of signs: rejects */
    uint64_t like_first; /* lines that were taken and are the same as the first record, */
    uint64_t repeated;   /* and do not begin a text */
    bool marked_again;   /* one of those has a byte-order mark in front */
    uint64_t records, misfits, bytes;
    bool first_rises; /* the first record's numbers rise from column to column; */
    uint64_t rising;  /* so do those of these records */
    uint64_t hollow;  /* records all of whose fields are empty */
    guess_texts_t *texts[GUESS_MOST_TEXTS];
    size_t text_count;
    uint64_t comments,
        comments_before; /* that may be records, so that they are rejected; if there is no header */
    bool has_escapes;    /* a value has \t, \n or \\ in two characters, in quotes only where \" is one, */
    bool keeps_escapes; /* and another one is \N, or has \", as in a database's text: they stay as they are */
    uint64_t escaped_ends; /* records that end with a backslash */
    uint64_t with_cr;      /* records with a CR in a value that is not in quotes */
    guess_quotes_t quotes;
    guess_nothing_t nothing;
    bool all;         /* everything was looked at */
    bool scattered;   /* the middle and the end, too */
    bool of_many;     /* there are other inputs */
    const char *here; /* the input at hand */
    /* the first one with UTF-8 that is no ASCII; text that is not UTF-8; with bytes that are nothing in windows-1252; NULL: none */
    const char *wide_characters, *other_bytes, *no_bytes;
    guess_words_t words;
    /* at the end */
    bool header;     /* the format says header: yes */
    bool named_here; /* the first record holds names, but the columns are told by their place: header_line */
    encoding_t encoding;
};

/* guess_documents.c */
bool guess_is_json(const uint8_t *text, size_t length);
bool guess_json_take(guess_t *guess, const uint8_t *text, size_t length, bool from_start, bool last,
                     size_t *used, err_t *err);
bool guess_json_types(const guess_t *guess, err_t *err); /* can they be said of JSON? */
bool guess_is_bson(const uint8_t *text, size_t length);
void guess_bson_take(guess_t *guess, const uint8_t *text, size_t length, size_t *used);
void guess_write_documents(text_t *yaml, text_t *lines, const guess_t *guess, uint64_t text_bytes);

/* guess.c: into guess->split. */
bool guess_split_line(guess_t *guess, const guess_line_t *line, err_t *err);
/* Is it made of - = _ + only, so that a record is a reject? */
bool guess_is_underline(const guess_t *guess, const guess_line_t *line);
/* Is the second record one that tells of the names above it? Else one that underlines is a reject. */
bool guess_underline_look(guess_t *guess, const guess_line_t *line, const uint8_t *text, bool second,
                          bool *is, err_t *err);
/* guess_encoding.c: of each value; at the end. */
void guess_look_at_bytes(guess_t *guess, const uint8_t *text, size_t length);
bool guess_find_encoding(guess_t *guess, err_t *err);
/* guess_quotes.c: of a record that holds a backslash. *again: quotes are escaped in another way than was known, and the
 * record is to be read again. */
bool guess_escapes_look(guess_t *guess, const guess_text_t *from, bool *again, err_t *err);
/* Of a record, when it is split; *torn: it will be rejected. Of each value of one that is read. At the end. */
bool guess_quotes_look(guess_t *guess, const guess_line_t *line, bool *torn, err_t *err);
void guess_quotes_plain(guess_t *guess, const span_t *span);
bool guess_find_quotes(guess_t *guess, err_t *err);
/* Is nothing in quotes that was looked at, so that those of a later field may be a part of it? */
bool guess_is_of_no_quotes(const guess_t *guess);
/* guess_write.c: the text after `before`, as a scalar of YAML, in quotes where they are needed. */
void guess_put_scalar(text_t *out, const char *before, const char *text);
/* Appends a --type of this column, as a shell takes it. */
void guess_put_spec(text_t *out, const char *option, const char *name, const guess_column_t *column);
/* "all 4 rows", "1,000 of about 1.2M rows" */
void guess_put_share(text_t *out, const guess_t *guess, uint64_t text_bytes);
/* guess_settle.c: what one column tells of another. */
bool guess_settle_days(guess_t *guess, err_t *err);
bool guess_settle_marks(guess_t *guess, err_t *err);
/* \N means nothing in all columns where one has it; NULL where it does in another column. */
void guess_settle_nulls(guess_t *guess);
/* guess_header.c: which line names the columns; its header comment has the rules. In this order: */
/* Cuts the first record; again when the knowledge of quotes has changed. */
bool guess_cut_first(guess_t *guess, err_t *err);
/* Compares a record with the first one. */
void guess_header_look(guess_t *guess, const split_t *split);
/* At the end: the names in UTF-8; whether they are names; the keys. */
bool guess_read_names(guess_t *guess, err_t *err);
bool guess_find_header(guess_t *guess, err_t *err);
bool guess_name_columns(guess_t *guess, err_t *err);
/* guess_types.c: what a person says of columns. After their names are known. */
bool guess_read_types(guess_t *guess, err_t *err);
bool guess_tell_types(guess_t *guess, err_t *err);
/* The key that a column is stored under. */
const char *guess_key(const guess_column_t *column);
/* One of them stands where the other would have its subdocument, or they are the same. */
bool guess_keys_collide(const char *one, const char *other);

#endif
