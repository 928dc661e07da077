/* guess_cut: what divides a text into records and fields, and the text cut so. */
#ifndef TIPPLE_FORMAT_GUESS_STRUCTURE_GUESS_CUT_H
#define TIPPLE_FORMAT_GUESS_STRUCTURE_GUESS_CUT_H

#include "base/err.h"
#include "format/cut/split.h"
#include "format/schema/schema.h"

#include <string.h>

typedef struct {
    char delimiter, quote; /* quote 0: none */
    bool backslash, backslashes;
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

/* The next record that is not blank; *at moves to its end. False: there is none that is certain. last: the text's end ends
 * it. */
bool guess_line(const schema_t *schema, const uint8_t **at, const uint8_t *end, bool last,
                guess_line_t *line);
/* Nor a comment. */
bool guess_next(const schema_t *schema, const uint8_t **at, const uint8_t *end, bool last,
                guess_line_t *line);

/* All that guess_find_structure finds. */
typedef struct {
    way_t way;
    size_t columns;
    size_t skip;   /* lines before the first record, which may be the header */
    size_t titles; /* of them, those that are not blank and do not begin with # */
    size_t told;  /* of them, those that a person says are none; or the one that tells the delimiter, sep=; */
    size_t first; /* offset of the first record */
    size_t before;    /* fields of the line before it; 0: none */
    size_t wider;     /* of the lines to skip, those with more fields than the records */
    bool two_quotes;  /* ' encloses fields, and " others */
    size_t enclosing; /* of the records that were looked at cell by cell, those with a text in its quotes */
    bool tears;       /* it has no quotes, and divides what is in some */
    span_t
        behind_blank; /* a field whose quote stands behind blanks, where it is an ordinary character; length 0: none */
    size_t
        unsure_names_at; /* the line, from 1, that may name the columns, behind a title that is divided, too; 0: none */
    bool named;          /* the first record names the columns: titles stand before it */
    bool odd_header;     /* the first record has other columns than the rest, and names most of them */
    bool row_names;      /* with odd_header: it names all but the first column, as some programs write it, */
    bool unsure_names;   /* or all rows have a delimiter too many */
    bool ends_empty;     /* all records end in an empty field, which the line before them lacks */
    char comment;        /* lines that begin with it are none; 0: there are none */
    bool unsure_comment; /* or they are records */
    size_t fitting;      /* records that have as many fields */
    size_t typed;        /* columns of them that hold numbers or dates only */
    bool even;           /* all records have as many fields */
    bool sound;          /* and a field that begins with the quote ends with it */
    bool of_lines;       /* most of them go over several lines, in quotes */
    double score;
} structure_t;

#endif
