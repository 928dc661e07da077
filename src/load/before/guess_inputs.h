/* guess_inputs: takes a sample of a command's inputs and guesses their format by it (format/guess).
 *
 * The sample is at most 2 MiB of the first input that holds a record: a smaller file as a whole; of a larger plain file its
 * beginning, places at even distances and its end; of what can only be read in order, its beginning. Up to 63 other inputs at
 * even distances share as much again. What was read of a stream is kept for its reader. */
#ifndef TIPPLE_LOAD_BEFORE_GUESS_INPUTS_H
#define TIPPLE_LOAD_BEFORE_GUESS_INPUTS_H

#include "format/guess/guess.h"
#include "format/schema/schema.h"
#include "input/manifest.h"

/* No guess reads more of an input. */
enum { GUESS_MOST_BYTES = 2 << 20 };

typedef struct {
    char *yaml;  /* the format file */
    char *lines; /* the same for people */
    char *unfit; /* values that --type does not fit, for them too; NULL: none */
} guessed_t;

/* Fills *guessed, which is to be freed also after a failure. */
bool guess_inputs(manifest_t *manifest, const guess_options_t *options, guessed_t *guessed, err_t *err);
void guessed_free(guessed_t *guessed);

/* Guesses, says so in some lines, and gives the format. */
schema_t *guess_inputs_open(manifest_t *manifest, const guess_options_t *options, guessed_t *guessed,
                            err_t *err);

/* Do the documents bring their own `_id`? The first one decides; if none is seen, they may. */
bool guess_inputs_bring_id(const manifest_t *manifest, const schema_t *schema, bool *bring, err_t *err);

#endif
