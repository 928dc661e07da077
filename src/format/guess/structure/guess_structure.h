/* guess_structure: which way of cutting makes records of a text: what divides its fields, what encloses them, and which lines
 * are none.
 *
 * A candidate is a way: a delimiter (a sign, a sign doubled or with another in its middle, a sign and a blank, blanks, or
 * none), with a way of quoting (", " with \" in it, none, '). Each way that the text can tell from the others cuts its
 * beginning once, and what the cells look like is summed up in figures (candidate_t in guess_structure.c):
 *
 *     score       how many records have as many fields, and how many of their cells look like values; 0: not this way
 *     typed       columns of numbers and dates only
 *     holds       signs that stand in cells which are no numbers, times, links or texts in quotes;
 *     bare        and those of them that no blank follows, as one does in a text
 *
 * The best score has to explain its rivals: another sign that divides as many records may only stand where `holds` does
 * not count it. What neither explains, and a sign that may be a part of the values, is asked about by one sentence with
 * both readings and the option for each. Colons and blanks divide only where the user says so.
 *
 * Who calls: guess.c, for the beginning of a text (guess_find_structure), and for each text that it cuts afterwards
 * (guess_schema, guess_next, guess_middle). A way does not change after guess_find_structure but for its escapes, which
 * all records decide (guess_quotes.c). Nothing here reads types of whole columns: that is the room column. */
#ifndef TIPPLE_FORMAT_GUESS_STRUCTURE_GUESS_STRUCTURE_H
#define TIPPLE_FORMAT_GUESS_STRUCTURE_GUESS_STRUCTURE_H

#include "base/err.h"
#include "format/cut/split.h"
#include "format/schema/schema.h"

#include <string.h>

/* ---- a way, and a text cut by it (guess_cut.c) ---- */

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

/* ---- what is found ---- */

typedef struct {
    way_t way;
    size_t columns;
    size_t skip;   /* lines before the first record, which may be the header */
    size_t titles; /* of them, those that are not blank and do not begin with # */
    size_t told;  /* of them, those that a person says are none; or the one that tells the delimiter, sep=; */
    size_t first; /* offset of the first record */
    size_t before; /* fields of the line before it; 0: none */
    size_t wider;  /* of the lines to skip, those with more fields than the records */
    size_t
        unsure_names_at; /* the line, from 1, that may name the columns, after a title that is divided, too; 0: none */
    bool named;          /* the first record names the columns: titles stand before it */
    bool odd_header;     /* the first record has other columns than the rest, and names most of them */
    bool row_names;      /* with odd_header: it names all but the first column, as some programs write it, */
    bool unsure_names;   /* or all rows have a delimiter too many */
    bool ends_empty;     /* all records end in an empty field, which the line before them lacks */
    char comment;        /* lines that begin with it are none; 0: there are none */
    bool unsure_comment; /* or they are records */
    size_t typed;        /* columns that hold numbers or dates only */
    bool even;           /* all records have as many fields */
} structure_t;

/* The first record of a text that begins with some line of a larger one, perhaps within quotes. NULL: none is found.
 * schema: of the structure. split is used. */
const uint8_t *guess_middle(const structure_t *structure, const schema_t *schema, split_t *split,
                            const uint8_t *text, const uint8_t *end);

/* ---- the search (guess_structure.c) ---- */

/* What a person says of it: see guess_options_t. header_line 0: nobody says which line names the columns. */
typedef struct {
    uint32_t header_line;
    const char *quote;
    char delimiter;
} structure_said_t;

/* What divides, in the words of a person: a sign, two colons, tab, \x01, blanks (' '), or none ('\n'). */
enum { GUESS_DELIMITERS = 9, GUESS_TWO_COLONS = '\x03' };
extern const char *const guess_delimiter_words[];
extern const char guess_delimiter_signs[GUESS_DELIMITERS]; /* of the words */
const char *guess_delimiter_word(char delimiter);          /* NULL: nobody can say it */
char guess_way_sign(const way_t *way);                     /* as guess_delimiter_word takes it */

bool guess_find_structure(structure_t *structure, const char *name, const uint8_t *text, size_t length,
                          bool whole, const structure_said_t *said, err_t *err);

/* Of one text: is each line a record, rather than what quotes make of several, by the columns of numbers and dates? */
bool guess_tells_more(const structure_t *lines, const structure_t *quoted);

/* ---- is it delimited text at all? (guess_text.c) ---- */

/* The first two bytes that are no blanks; 0: there is none. */
void guess_first_bytes(const uint8_t *text, size_t length, uint8_t *first, uint8_t *second);
/* x.bson, x.bson.gz, a.tar!x.bson */
bool guess_is_named_bson(const char *name);
/* Refuses what is no delimited text of bytes. */
bool guess_is_text(const char *name, const uint8_t *text, size_t length, err_t *err);

/* Of a text whose lines, or some of them, end with CR CR LF. Returns false. */
bool guess_refuse_two_cr(const char *name, err_t *err);
/* Of one whose lines may end with CR alone. Returns false. */
bool guess_refuse_cr(const char *name, err_t *err);

/* How a text is shown in a sentence: the first characters. */
const char *guess_shown(char *out, size_t room, const char *text, size_t length);

#endif
