/* guess_inputs: takes a sample of a command's inputs and guesses their format from it (format/guess).
 *
 * The sample is at most 2 MiB of the first input that holds a record: a smaller file as a whole; of a larger plain file its
 * beginning, places at even distances and its end; of a stream or a compressed file its beginning. Up to 63 other inputs at
 * even distances in the list share another 2 MiB. The bytes that were read of a stream are kept for its reader. */
#ifndef TIPPLE_LOAD_PLAN_GUESS_INPUTS_H
#define TIPPLE_LOAD_PLAN_GUESS_INPUTS_H

#include "format/guess/guess.h"
#include "format/schema/schema.h"
#include "input/manifest.h"

/* The most that a guess reads of an input. */
enum { GUESS_MOST_BYTES = 3 << 19 };

typedef struct {
    char *yaml;  /* the format file */
    char *lines; /* the same in lines for the user */
} guessed_t;

/* Fills *guessed, which is to be freed also after a failure. */
bool guess_inputs(manifest_t *manifest, const guess_options_t *options, guessed_t *guessed, err_t *err);
void guessed_free(guessed_t *guessed);

/* The same, and checks that each input fits the format. */
bool guess_inputs_checked(manifest_t *manifest, const guess_options_t *options, guessed_t *guessed,
                          err_t *err);

/* Guesses the format, prints its lines, and returns it. */
schema_t *guess_inputs_open(manifest_t *manifest, const guess_options_t *options, guessed_t *guessed,
                            err_t *err);

/* Extends a guessed format, and its file, by the columns of those of the inputs [from, to) that are marked: of up to 64 of them.
 * Of a stream that is marked the mark is taken away if it has none. *more becomes true: a column was added, so that others may still be lacking. */
bool guess_inputs_widen(manifest_t *manifest, size_t from, size_t to, bool *fresh,
                        const guess_options_t *options, schema_t *schema, char **yaml, bool *more,
                        err_t *err);

/* *seen: an input has a document of at most 16 MiB at its beginning; *bring: it has its own `_id`. */
bool guess_inputs_bring_id(const manifest_t *manifest, const schema_t *schema, bool *seen, bool *bring,
                           err_t *err);

#endif
