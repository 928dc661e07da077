/* guess_structure: finds the way in which a text is cut into records: the delimiter of its fields, the quotes around them, and
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
 * guess.c calls guess_find_structure for the beginning of a text, and guess_schema, guess_next and guess_middle for each text
 * that it cuts afterwards. The room column decides the types of whole columns. */
#ifndef TIPPLE_FORMAT_GUESS_STRUCTURE_GUESS_STRUCTURE_H
#define TIPPLE_FORMAT_GUESS_STRUCTURE_GUESS_STRUCTURE_H

#include "base/err.h"
#include "format/cut/split.h"
#include "format/guess/guess_options.h"

#include <string.h>

/* ---- a way, and a text cut by it (guess_cut.c) ---- */

typedef struct {
    char delimiter, quote; /* quote 0: none */
    bool backslash, backslashes;
    bool blanks; /* any number of blanks divides */
    char wide
        [4]; /* a delimiter of several characters, of which `delimiter` is the first; "": `delimiter` divides */
} way_t;

/* Fills the parts of a schema that ends.h and split.h read. It points into the way. */
void guess_schema(schema_t *schema, const way_t *way);

typedef struct {
    const uint8_t *text;
    size_t length; /* without its line end */
} guess_line_t;

/* The next line that is neither blank nor a comment; *at moves to its end. False: no whole one is left. last: the end of the text
 * ends a line. */
bool guess_next(const schema_t *schema, const uint8_t **at, const uint8_t *end, bool last,
                guess_line_t *line);

/* ---- what is found ---- */

typedef struct {
    way_t way;
    size_t columns;
    size_t skip;       /* lines before the first record, which may be the header */
    size_t titles;     /* those of them that are not blank and do not begin with # */
    size_t told;       /* those of them that --with header=N skips, or the line sep=; */
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

/* Finds the first record of a piece that begins with some line of a larger text, perhaps within quotes. NULL: none is found.
 * columns: of the records. Overwrites split. */
const uint8_t *guess_middle(const schema_t *schema, size_t columns, split_t *split, const uint8_t *text,
                            const uint8_t *end);

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

/* ---- is it delimited text at all? (guess_cut.c) ---- */

/* Refuses what is no delimited text: NUL bytes, BSON, arrays of JSON, XML and the like. */
bool guess_is_text(const char *name, const uint8_t *text, size_t length, err_t *err);

/* True for a value that is no name: not for yes, no, Y and n. */
bool guess_is_number_or_date(const span_t *span);

/* Refuses a text with lines that end with CR CR LF, or with CR alone while others end with LF. Returns false. */
bool guess_refuse_cr(const char *name, err_t *err);

/* The first characters of a text, as a sentence shows them. */
const char *guess_shown(char *out, size_t room, const char *text, size_t length);

#endif
