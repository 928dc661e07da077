/* guess: finds out how a text is written, and writes that down as a format file.
 *
 * A guess is a function of a sample: pieces of the text of one or more inputs, in memory. It reads no files. Its result is
 * a format file with some lines for the user, or a refusal (status 5). The sample:
 *
 * - Pieces of one input stand next to each other, in their order. The first of them begins the input.
 * - A piece that does not begin its input may begin anywhere, also within a record or within quotes. A piece that does not
 *   end its input may end anywhere. Only whole records count.
 * - The first input that holds a record decides how records are cut: delimiter, quotes, lines to skip, and
 *   whether a line names the columns. The values of its whole records are added to their columns.
 * - If a line names the columns, other inputs whose headers share most of its names are added by these names: a column
 *   that an input lacks becomes optional. Inputs of another kind are left out, and refused by whoever checks the inputs.
 *
 * A sample is not copied: it must live as long as the guess. */
#ifndef TIPPLE_FORMAT_GUESS_GUESS_H
#define TIPPLE_FORMAT_GUESS_GUESS_H

#include "base/text.h"
#include "format/schema/schema.h"

#include <bson/bson.h>

/* ---- guess_options ----
 *
 * What the user says about a guess: --with KEY=VALUE, --type SPEC and --on-bad-value, in the words of the
 * command, for the command and the library.
 *
 * Each key of --with is a row of one table (guess_options.c) that has its words; the option is the number of the word. A format
 * that is kept names the options that it was guessed with. A SPEC of --type is about one column, or one key of JSON; a colon
 * within a name or a key is written twice:
 *
 *     NAME:TYPE              its type, by a word of format files
 *     NAME:TYPE(PATTERN)     of dates
 *     NAME:KEY:TYPE          and the key that it is stored under
 *     NAME:KEY:              the key alone
 *
 * NAME may be empty: the column without a name in the header. Options do not change after they are read, so any thread may
 * use them. */

/* The numbers of words. */
enum { GUESS_ANY_HEADER, GUESS_HEADER, GUESS_NO_HEADER };
enum { GUESS_ANY_DATES, GUESS_DMY, GUESS_MDY, GUESS_YMD };
enum { GUESS_ANY_MARK, GUESS_POINT, GUESS_COMMA };
enum { GUESS_YES = 2 };

enum { GUESS_KEYS = 9 }; /* of --with */

/* Zeros: the user has said nothing. */
typedef struct {
    const char *said[GUESS_KEYS]; /* after --with: KEY=VALUE */
    union {                       /* the number of VALUE among the words of KEY, from 1; 0: none of them */
        uint8_t words[GUESS_KEYS];
        struct { /* nested: names with dots make subdocuments. validate: texts of BSON must be UTF-8 */
            uint8_t header, delimiter, quote, encoding, dates, decimal, nested, validate;
        };
    };
    uint32_t header_line; /* with GUESS_HEADER: which line names the columns; 0: not said */
    const char *charset;  /* another encoding, which the reader of the text converts to UTF-8; NULL: none */
    const char *timezone; /* of dates with an hour and without an offset; NULL: UTC */
    bool beginning; /* the text may go on after its end: a last line without a line end is cut off there */
    char *const *types; /* the SPECs of --type */
    size_t type_count;
    bool bad_value_given; /* even if the format is not guessed */
    bad_value_t bad_value;
} guess_options_t;

/* The advice where a kept format differs from the options. */
#define GUESS_ANEW                                                                                           \
    "leave the option out, or load into another collection, or start over with --drop, which drops the "     \
    "collection and its catalog"

/* Readers of options: `options` is a guess_options_t. False (status 1): the text is none of the option's words, which the
 * sentence lists; nothing is changed. */
bool guess_options_bad_value(void *options, const char *text, err_t *err);
bool guess_options_with(void *options, const char *text, err_t *err); /* --with: "header=no" */

/* Puts the SPECs of --type into the options. False (status 1): `format` is given together with an option of the guess. Only
 * --on-bad-value goes with a format. */
bool guess_options_check(guess_options_t *options, char *const *types, size_t count, const char *format,
                         err_t *err);

/* Appends the options as a shell line has them. */
void guess_options_quote(text_t *line, const guess_options_t *options);

/* The first option of --with that is given ("with header"); NULL: none. of_text: only one that describes text in columns. */
const char *guess_options_said(const guess_options_t *options, bool of_text);

/* Appends the line of a format file that names the options of --with and --type, if any are given. */
void guess_options_name(text_t *yaml, const guess_options_t *options);

/* Checks that a kept format was guessed with each --with and --type that is given, by that line of its file `yaml`. A
 * --type of a column that the format lacks says how the column is added. what: the format, for the sentence.
 * False: status 1. */
bool guess_options_agree(const guess_options_t *options, const schema_t *schema, const char *yaml,
                         const char *what, err_t *err);

/* The first --type of a column that the kept format lacks; NULL: there is none. */
const char *guess_options_unused(const guess_options_t *options, const schema_t *schema);

/* ---- one --type ---- */

typedef struct {
    const char *text;          /* as the user gave it */
    char *name;                /* the memory of all three, which the owner of the spec frees */
    char *key;                 /* NULL: the key of the guess */
    const schema_type_t *type; /* NULL: the type of the guess */
    char *pattern;             /* NULL: the usual one of the type */
    bool taken;                /* a column has it */
} type_spec_t;

/* False: a mistake (status 1). Keys and patterns are checked when the guessed format is read. The caller frees spec->name, also
 * after a failure. */
bool type_spec_read(const char *text, type_spec_t *spec, err_t *err);
/* Appends those that are taken, as the line of a format file has them. */
void type_spec_name(text_t *yaml, const type_spec_t *specs, size_t count);
bool guess_options_type(const char *text, err_t *err); /* checks a SPEC */

/* ---- guesses ---- */

#define GUESS_FORMAT "guessed"      /* the name of a format that was guessed */
#define GUESS_KEPT   "kept as text" /* a line for the user that begins with these words is a warning */

typedef struct {
    const uint8_t *text;
    size_t length;
    bool begins, ends; /* nothing of the input stands before the text; after it */
    const char *input; /* its name, for sentences */
    bool dumped;       /* it is a collection of a dump: BSON, even without a document */
    uint64_t offset;   /* of the text in its input */
    const void *file;  /* the input, for `lines` */
} guess_piece_t;

/* How many lines of an input end before this offset? False: that is not known. */
typedef bool guess_lines_fn(const void *file, uint64_t offset, uint64_t *lines);

typedef struct {
    guess_piece_t *pieces;
    size_t count;          /* at least one */
    bool every;            /* each input of the command has its pieces here */
    guess_lines_fn *lines; /* asked where a sentence names the line of a value; NULL: lines are not known */
} guess_sample_t;

/* A sample of a stream that has gone quiet needs at least this number of lines. */
enum { GUESS_LEAST_LINES = 10 };

typedef struct guess guess_t;

/* NULL: no format is found, or two readings are equally good (status 5), an option does not fit the text (status 1), or memory
 * is short. */
guess_t *guess_new(const guess_sample_t *sample, const guess_options_t *options, err_t *err);
void guess_destroy(guess_t *guess);

/* True if there is no record in the text, whatever its format is. */
bool guess_is_empty(const uint8_t *text, size_t length);

/* The format file, and the same in lines for the user, each of which ends with a line end; the caller frees
 * both. False: out of memory. */
bool guess_write(const guess_t *guess, char **yaml, char **lines, err_t *err);

/* Columns that are text because of a few of their values are named in comments of the format file, which no digest has. Returns
 * how many there are, and appends what is known of the wanted one to `to`, if that is not NULL: {column, type, values, of,
 * first: {file, line}, value}; far into a large file the line is null. Nothing, if the user has changed the comment. */
size_t guess_kept(const char *yaml, size_t wanted, bson_t *to);

/* Adds the columns of the sample that a guessed format lacks to its file `yaml`: at its end, as optional fields that the digest leaves
 * out. kept: the same, read. The options are those of the command; of their --type those for new columns count. *wider is the
 * caller's; it is the same file if the sample has no new column. False: as guess_new. */
bool guess_widen(const schema_t *kept, const char *yaml, const guess_sample_t *sample,
                 const guess_options_t *options, char **wider, err_t *err);

#endif
