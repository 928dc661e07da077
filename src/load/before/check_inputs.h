/* check_inputs: does every input fit the format? It looks at the first line of each file,
 * decompressed, before anything is dropped or written. Inputs that can only be read in order (stdin, pipes, all members
 * of a compressed tar but the first) are not looked at here: the feeder finds out when it begins to read them. */
#ifndef TIPPLE_LOAD_BEFORE_CHECK_INPUTS_H
#define TIPPLE_LOAD_BEFORE_CHECK_INPUTS_H

#include "format/schema/schema.h"
#include "input/manifest.h"
#include "load/before/misfits.h"

/* Puts those that do not fit into *misfits, in the manifest's order, and says what a feeder would say that skips
 * longer records. False: the looking itself failed (memory, descriptors) or a signal came. */
bool check_inputs_find(const schema_t *schema, const manifest_t *manifest, uint64_t longest,
                       misfits_t *misfits, err_t *err);

/* All must fit: else false with status 5 and all of their names. skipped is NULL where no command takes --skip-bad-files. With skip: misfits_take_out (*skipped is to be freed
 * also after a failure). */
bool check_inputs(const schema_t *schema, manifest_t *manifest, bool skip, misfits_t *skipped, err_t *err);

#endif
