/* guess_inner: what the files of guess share: the state of a guess (struct guess), and the functions that one file has for
 * another. */
#ifndef TIPPLE_FORMAT_GUESS_GUESS_INNER_H
#define TIPPLE_FORMAT_GUESS_GUESS_INNER_H

#include "base/text.h"
#include "format/cut/split.h"
#include "format/guess/column/guess_column.h"
#include "format/guess/guess.h"
#include "format/guess/structure/guess_structure.h"
#include "format/values/encoding.h"

/* ---- the state of a guess ---- */

/* A number as it is written: whole, or with marks. */
typedef struct {
    bool is, whole;
    size_t digits; /* before the first mark */
    long size;     /* without what follows the first mark; of nine digits at most */
} figure_t;

/* A field of the first record, and the values below it. */
typedef struct {
    const char *text; /* without the blanks around it */
    size_t length;
    figure_t figure;
    unsigned signs;
    bool nothing;   /* it is empty, or a word for a null value */
    bool typed;     /* it alone has a type */
    bool day;       /* it is a date, or a part of a year */
    bool word;      /* it is a word that often names a column, as no value is */
    bool same;      /* a value is the same text */
    unsigned all;   /* signs of all values */
    size_t values;  /* all but null values; of them: */
    size_t alike;   /* those that are written as the field is */
    size_t figures; /* those of digits and signs: numbers, dates, times */
} head_t;

typedef struct {
    char *text; /* as in the file; of JSON: the path */
    size_t length;
    char *name; /* in UTF-8, without blanks around; what `column` says */
    char *key;
    size_t numbered;    /* the last number that was appended to this key for another column; 0: none */
    bool optional;      /* an input lacks it */
    const char *in;     /* the input that it was first seen in, if that is not the first one */
    uint64_t in_quotes; /* values in quotes that are not empty */
    column_t column;
    head_t head;
    decision_t is;
    const type_spec_t *spec; /* what --type says of the column; NULL: nothing */
} guess_column_t;

static inline bool guess_is_typed_by_user(const guess_column_t *column) {
    return column->spec && column->spec->type;
}

/* What the records show about quotes: see guess_text.c. */
typedef struct {
    uint64_t torn;     /* records of several lines, each of which looks like one */
    bool loose;        /* a field without quotes around it holds a quote */
    uint64_t odd;      /* records with something after the quote that ends a text */
    bool any;          /* a field or a name is in quotes */
    bool cut_off;      /* the text ends within quotes, if they enclose texts */
    bool needed;       /* a text in quotes needs them */
    const char *blank; /* the first input with a text in quotes after a blank; NULL: there is none */
} guess_quotes_t;

enum { GUESS_MOST_PATHS = 500 }; /* of JSON that are looked for */

struct guess {
    const guess_sample_t *sample;
    const guess_piece_t *head; /* the first piece of the input that decides; of a kept format NULL */
    const char *name;
    record_kind_t kind; /* of JSON the columns are paths, and of JSON and BSON the structure stays empty */
    bool marked;        /* the input begins with the byte-order mark of UTF-8 */
    guess_options_t options;
    type_spec_t *types; /* options.type_count; see tell_types */
    structure_t structure;
    schema_t schema; /* of structure.way */
    split_t split;
    guess_column_t *columns;            /* structure.columns */
    size_t decided;                     /* the first ones: those of the kept format */
    size_t seen;                        /* columns of the sample; of JSON --type may add others */
    size_t fields;                      /* of a record of the input at hand */
    uint16_t order[SCHEMA_MOST_FIELDS]; /* after a header: the column of each field */
    guess_line_t first;                 /* the first record, in the sample */
    uint64_t first_line;                /* its line, from 1 */
    bool first_misfits;                 /* it has another number of fields than there are columns */
    uint64_t like_first;                /* lines that are the same as the first record, it too */
    uint64_t repeated;                  /* those of them that do not begin an input */
    bool marked_again;                  /* one of the repeated ones has a byte-order mark in front */
    uint64_t records, misfits;
    uint64_t with_cr; /* records with a CR outside of quotes */
    bool others;      /* inputs after the first are read, too */
    uint64_t hollow;  /* records without a value */
    guess_quotes_t quotes;
    struct {
        bool backslash, null; /* \N; NULL */
    } nothing;                /* words that are null values in all columns */
    bool all;                 /* the sample is all of the inputs */
    const char *here;         /* the input at hand */
    /* The first input with UTF-8 that is no ASCII; with text that is not UTF-8. NULL: none. */
    const char *wide_characters, *other_bytes;
    struct {
        uint64_t count;   /* its bytes above 7f */
        uint64_t odd;     /* those of them that stand where they would not in windows-1252 */
        char first[24];   /* the first odd one, with what is around it, in UTF-8 */
        const char *in;   /* the input that holds it */
    } words;              /* of text that is not UTF-8 */
    const schema_t *kept; /* of guess_widen: its fields are the first columns; otherwise NULL */
    /* set at the end */
    bool named;  /* a line of the inputs names the columns, */
    bool header; /* by which they are found; otherwise by their places: header_line */
    encoding_t encoding;
};

/* With a kept format: true for a column that stays left out of it. */
static inline bool guess_leaves_out(const guess_t *guess, const guess_column_t *column) {
    return schema_leaves_out(guess->kept, ENCODING_NONE, (const uint8_t *)column->name, strlen(column->name));
}

/* guess_documents.c: what a text is: delimited, JSON or BSON. */
record_kind_t guess_kind_of(const uint8_t *text, size_t length);
bool guess_take_documents(guess_t *guess, const uint8_t *text, size_t length, bool last, err_t *err);
bool guess_check_documents(const guess_t *guess, err_t *err); /* False: an option does not go with them. */
/* The column of a path of JSON, which may be a new one; NULL: out of memory. */
guess_column_t *guess_column_at(guess_t *guess, const char *path, err_t *err);

/* guess.c: appends a column, which inputs of delimited text may lack. */
bool guess_add_column(guess_t *guess, const char *text, size_t length, err_t *err);
/* Cuts a line into guess->split. */
bool guess_split_line(guess_t *guess, const guess_line_t *line, err_t *err);
/* guess_text.c: called for a record that is split (*torn: it will be rejected); at the end. */
bool guess_look_at_text(guess_t *guess, const guess_line_t *line, uint32_t *torn, err_t *err);
bool guess_find_text(guess_t *guess, err_t *err);
/* Notes the quotes of the record that is split. names: it is the first one, whose quotes say nothing about the columns. */
void guess_note_quotes(guess_t *guess, bool names);
/* True if no value of the sample is in quotes, so that quotes in later fields may be ordinary characters. */
bool guess_is_of_no_quotes(const guess_t *guess);
/* guess_write.c: the kept format file with its new columns as optional fields, and their --type among its options. */
bool guess_write_added(const guess_t *guess, const char *yaml, char **wider, err_t *err);
/* guess_header.c: which line names the columns. guess.c calls these in this order: */
/* Cuts the first record, or each line of names before it: names of groups stand in front of those below them. */
bool guess_cut_first(guess_t *guess, const guess_line_t *line, err_t *err);
/* Compares the first record's field with a value of its column. */
void guess_compare_head(guess_column_t *column, const span_t *span);
/* At the end: reads the names as UTF-8; decides whether they are names; makes the keys. */
bool guess_read_names(guess_t *guess, err_t *err);
bool guess_find_header(guess_t *guess, err_t *err);
bool guess_name_columns(guess_t *guess, err_t *err);
/* A text of the input in UTF-8, for free; NULL: out of memory. */
char *guess_utf8(const guess_t *guess, const uint8_t *text, size_t length);

#endif
