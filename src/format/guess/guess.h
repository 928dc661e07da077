/* guess: finds out how a delimited text is written, and writes that down as a format file. It reads no files and asks
 * nobody: pieces of a text go in; a format file, some lines for people, or a refusal come out.
 *
 *     guess_new
 *     guess_begin     the beginning of the text: delimiter, quotes, lines to skip
 *     guess_take      the same text, and more pieces of it: types of columns, by all values
 *     guess_end       header or not, names, types; or a refusal that names both readings
 *     guess_yaml, guess_tell */
#ifndef TIPPLE_FORMAT_GUESS_GUESS_H
#define TIPPLE_FORMAT_GUESS_GUESS_H

#include "base/text.h"
#include "format/schema/schema.h"

#define GUESS_FORMAT "guessed" /* the name of a format that was guessed */

/* What a person has said already; zeros: nothing. */
typedef struct {
    enum { GUESS_ANY_DATES, GUESS_DMY, GUESS_MDY, GUESS_YMD } dates;
    enum { GUESS_ANY_HEADER, GUESS_HEADER, GUESS_NO_HEADER } header;
    uint32_t
        header_line; /* with GUESS_HEADER: which line names the columns; 0: the first one, or nobody doubts it */
    char decimal;    /* '.' or ',' */
    const char *quote; /* "\"", "'", or "" for none; NULL: nobody has said it */
    char delimiter;    /* one character; ' ': blanks; '\n': none divides; 0: nobody has said it */
    bool encoding_given;
    encoding_t encoding;
    const char *charset; /* another encoding, which whoever reads the text makes UTF-8 of; NULL: none */
    bool beginning; /* the text may go on behind its end: a last line without a line end is cut off there */
    bool validate;  /* of BSON: keys and texts must be UTF-8 */
    bool nested;    /* names with dots make subdocuments */
    char *const *types; /* of single columns: see type_spec.h */
    size_t type_count;
    bool bad_value_given; /* also of a format that is not guessed */
    bad_value_t bad_value;
} guess_options_t;

typedef struct guess guess_t;

/* name: of the input, for sentences; must live longer. NULL: out of memory. */
guess_t *guess_new(const char *name, const guess_options_t *options, err_t *err);
/* The input is a stream: what is told names no command that would read it again. */
void guess_reads_once(guess_t *guess);
void guess_destroy(guess_t *guess);

/* Of a stream, before it may be left because it is quiet; of a text that may go on, for its last line to be taken for cut off. */
enum { GUESS_LEAST_LINES = 10 };

/* text[0, length) is the beginning of the input; whole: it is all of it. False: status 5, with what to do. */
bool guess_begin(guess_t *guess, const uint8_t *text, size_t length, bool whole, err_t *err);

/* After guess_begin. Are its records lines, which a cut shortens unseen? JSON and BSON tell where a record ends. */
bool guess_is_of_lines(const guess_t *guess);
/* Of a text that may go on: bytes of its last line that may be cut off. 0 where it has few lines. */
size_t guess_cut_line(const uint8_t *text, size_t length);
/* Of the text of guess_begin, if it was whole: bytes at its end that do not tell how its records are divided: a record that may be
 * cut off, where others hold line ends in quotes, and with `beginning` a last line. */
size_t guess_cut_off(const guess_t *guess);

typedef enum {
    GUESS_FROM_START, /* the first input's beginning */
    GUESS_FROM_OTHER, /* another input's, which guess_is_same has looked at */
    GUESS_FROM_NEXT,  /* what follows the last record that was taken */
    GUESS_FROM_LINE,  /* some line in the middle; it may be within quotes */
} guess_from_t;

/* Looks at the values of all records that are whole. last: nothing follows the text. *used: where the last one ends. */
bool guess_take(guess_t *guess, const uint8_t *text, size_t length, guess_from_t from, bool last,
                size_t *used, err_t *err);

/* What is taken from now on is of this input, whose name must live longer. */
void guess_input(guess_t *guess, const char *name);

/* Another input: does its first record name the same columns? Then it is to be taken, too. */
bool guess_is_same(guess_t *guess, const uint8_t *text, size_t length);

/* What the types of the columns would be, as a number: while it stays the same, more text tells nothing new. */
uint64_t guess_so_far(const guess_t *guess);

/* The text was UTF-16, before whoever reads it has made UTF-8 of it. */
void guess_was_utf16(guess_t *guess);

/* It is a collection of a dump: BSON, also where it has no document. Before guess_begin. */
void guess_was_dumped(guess_t *guess);

/* Is there no record in it, whatever its format is? */
bool guess_is_empty(const uint8_t *text, size_t length);

/* The format is for other inputs, too. */
void guess_is_of_many(guess_t *guess);

/* Everything there is was taken. */
void guess_saw_all(guess_t *guess);

/* Decides; once, at the end. False: two readings are equally good, or there is no
 * format for it; status 1 or 5. */
bool guess_end(guess_t *guess, err_t *err);

/* As a shell is to read them, each behind a blank. */
void guess_options_quote(text_t *line, const guess_options_t *options);

/* The first one that says how a text of columns is written; NULL: none does. */
const char *guess_options_of_text(const guess_options_t *options);

/* Does a format that is there already say the same of columns and bad values? what: whose it is. False: status 1. */
bool guess_options_agree(const guess_options_t *options, const schema_t *schema, const char *what,
                         err_t *err);

/* After guess_end. The format file, which the caller frees; NULL: out of memory. */
char *guess_yaml(const guess_t *guess, err_t *err);

/* The same in three to five lines for people, without line ends; text_bytes: of the whole input, 0: not known. */
enum { GUESS_LINES = 5 }; /* the third and the fourth may be empty */
bool guess_tell(const guess_t *guess, uint64_t text_bytes, char *lines[GUESS_LINES], err_t *err);

/* Of those that were taken: how many records, and how many will be rejected. */
uint64_t guess_records(const guess_t *guess);
uint64_t guess_rejects(const guess_t *guess);

#endif
