/* guess: finds out how a text is written, and writes that down as a format file.
 *
 * A guess is a function of a sample: pieces of the text of one or more inputs, in memory. It reads no files. Its result is
 * a format file with some lines for the user, or a refusal (status 5). The sample:
 *
 * - Pieces of one input stand next to each other, in their order. The first of them begins the input.
 * - A piece that does not begin its input may begin anywhere, also within a record or within quotes. A piece that does not
 *   end its input may end anywhere. Only whole records count.
 * - The first input that holds a record decides how records are cut: delimiter, quotes, lines to skip (structure/), and
 *   whether a line names the columns. The values of its whole records are added to their columns (column/).
 * - If a line names the columns, other inputs whose headers share most of its names are added by these names: a column
 *   that an input lacks becomes optional. Inputs of another kind are left out, and refused by whoever checks the inputs.
 *
 * A sample is not copied: it must live as long as the guess. */
#ifndef TIPPLE_FORMAT_GUESS_GUESS_H
#define TIPPLE_FORMAT_GUESS_GUESS_H

#include "format/guess/guess_options.h"

#include <bson/bson.h>

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
