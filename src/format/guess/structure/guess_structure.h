/* guess_structure: where the records of a text are, and what divides their fields. */
#ifndef TIPPLE_FORMAT_GUESS_STRUCTURE_GUESS_STRUCTURE_H
#define TIPPLE_FORMAT_GUESS_STRUCTURE_GUESS_STRUCTURE_H

#include "base/err.h"
#include "format/schema/schema.h"

#include <string.h>

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

/* guess_structure.c */
bool guess_find_structure(structure_t *structure, const char *name, const uint8_t *text, size_t length,
                          bool whole, err_t *err);
/* guess_text.c. The first two bytes that are no blanks; 0: there is none. */
void guess_first_bytes(const uint8_t *text, size_t length, uint8_t *first, uint8_t *second);
/* x.bson, x.bson.gz, a.tar!x.bson */
bool guess_is_named_bson(const char *name);
/* Refuses what is no delimited text of bytes. */
bool guess_is_text(const char *name, const uint8_t *text, size_t length, err_t *err);
#endif
