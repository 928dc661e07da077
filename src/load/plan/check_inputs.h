/* check_inputs: does every input fit the format? It looks at the first line of each file,
 * decompressed, before anything is dropped or written. Inputs that can only be read in order (stdin, pipes, all members
 * of a compressed tar but the first) are not looked at here: the feeder finds out when it begins to read them. */
#ifndef TIPPLE_LOAD_PLAN_CHECK_INPUTS_H
#define TIPPLE_LOAD_PLAN_CHECK_INPUTS_H

#include "format/guess/guess_options.h"
#include "format/schema/schema.h"
#include "input/manifest.h"
#include "load/plan/misfits.h"

/* Puts those that do not fit into *misfits, in the manifest's order, and says what a feeder would say that skips
 * longer records. fresh: or NULL; marks inputs with columns that the format does not know, nor leaves out. False: the looking
 * itself failed (memory, descriptors) or a signal came. */
bool check_inputs_find(const schema_t *schema, const manifest_t *manifest, uint64_t longest,
                       misfits_t *misfits, bool *fresh, err_t *err);

/* How a guessed format gets the columns that it lacks. */
typedef struct {
    const guess_options_t *options;
    char **yaml; /* its file, which is written anew */
    bool
        first_only; /* nobody knows whether the others are read (--limit): a later one that brings columns is refused when it is */
} check_adds_t;

/* All must fit: else false with status 5 and all of their names. adds: or NULL; the schema is extended (schema_extend). skipped is
 * NULL where no command takes --skip-bad-files. With skip: misfits_take_out (*skipped is to be freed also after a failure). */
bool check_inputs(schema_t *schema, manifest_t *manifest, const check_adds_t *adds, bool skip,
                  misfits_t *skipped, err_t *err);

/* True if the header in a text has columns that the format does not know, nor leaves out. */
bool check_inputs_is_fresh(const schema_t *schema, const uint8_t *text, size_t length);

#endif
