/* format: the format of a load without --format: the one that was guessed when the collection was first loaded, which the
 * catalog keeps so that every later load, --retry and verify reads the same; or else a guess (format/guess) from a sample of
 * the inputs. Main thread.
 *
 * The sample is at most 1.5 MiB of the first input that holds a record: a smaller file as a whole; of a larger plain file its
 * beginning, places at even distances and its end; of a stream or a compressed file its beginning. Up to 63 other inputs, at
 * even distances in the list, share another 1.5 MiB, or have 32 KiB each if that is more. The bytes read of a stream are kept for its reader. */
#ifndef TIPPLE_LOAD_PLAN_FORMAT_H
#define TIPPLE_LOAD_PLAN_FORMAT_H

#include "catalog/store/store.h"
#include "format/guess/guess.h"
#include "format/schema/schema.h"
#include "input/manifest.h"
#include "server/server.h"

/* The most that a guess reads of an input. */
enum { GUESS_MOST_BYTES = 3 << 19 };

typedef struct {
    char *yaml;  /* the format file */
    char *lines; /* the same in lines for the user */
} guessed_t;

/* Guesses the format. The caller frees *guessed, also after a failure. */
bool guess_inputs(manifest_t *manifest, const guess_options_t *options, guessed_t *guessed, err_t *err);
void guessed_free(guessed_t *guessed);

/* The same, and checks that each input fits the format. */
bool guess_inputs_checked(manifest_t *manifest, const guess_options_t *options, guessed_t *guessed,
                          err_t *err);

/* Guesses the format, prints its lines, and returns it. */
schema_t *guess_inputs_open(manifest_t *manifest, const guess_options_t *options, guessed_t *guessed,
                            err_t *err);

/* Extends a guessed format, and its file, by the columns of marked inputs in [from, to), at most 64 of them. A marked stream
 * without new columns loses its mark. *more becomes true if a column was added: others may still be lacking. */
bool guess_inputs_widen(manifest_t *manifest, size_t from, size_t to, bool *fresh,
                        const guess_options_t *options, schema_t *schema, char **yaml, bool *more,
                        err_t *err);

/* Reads the format that the catalog keeps. *schema NULL: nothing was loaded yet; with `must` that is status 1. Status 1 also if
 * the collection was loaded with a --format, which must be given again. The caller frees *text, the format file. *widened is
 * set with *schema. name: of the collection. */
bool kept_format(store_t *store, const char *name, bool must, schema_t **schema, char **text,
                 uint64_t *widened, err_t *err);

/* Takes over which columns of the collection stay left out, according to the header. A --format must have the columns that came
 * later, as its `added` fields, and may have more optional fields after them. Status 1: it lacks one, or reads one otherwise;
 * 5: it has a column that was left out. */
bool kept_columns(const catalog_header_t *header, const char *name, schema_t *schema, err_t *err);

/* Returns the format, kept or guessed, with which a load would read these inputs; for a study. *text as above. NULL: err. */
schema_t *kept_format_or_guess(const server_options_t *target, const guess_options_t *options,
                               manifest_t *manifest, char **text, err_t *err);

/* Makes a --format as strict as the guessed format of its collection. Status 1 if it has other columns, or accepts what the
 * guess rejects: quoted lines that look like records, or needless quotes. fixes: accepted, since only rejects are read again. */
bool kept_format_hold(const catalog_header_t *header, const char *name, schema_t *schema, bool fixes,
                      err_t *err);

/* *seen: an input begins with a document of at most 16 MiB; *bring: it has its own `_id`. */
bool guess_inputs_bring_id(const manifest_t *manifest, const schema_t *schema, bool *seen, bool *bring,
                           err_t *err);

/* Checks that the options go with a kept or given format, and takes over --on-bad-value. whose: names the format; NULL: the one
 * kept for the collection `name`. */
bool kept_format_agrees(schema_t *schema, const char *text, const guess_options_t *options, const char *whose,
                        const char *name, err_t *err);

#endif
