/* load: loads files into a collection. One call does it all, from the command or from your own program. */
#ifndef TIPPLE_LOAD_LOAD_H
#define TIPPLE_LOAD_LOAD_H

#include "load/spec/load_result.h"
#include "load/spec/load_spec.h"

/* Everything that can be known at the end is in *result, also after a failure (counts of what was settled).
 * False: err has status and sentence; status 2 (some rejects, or files skipped) is a success with err->status
 * set. */
bool load_run(const load_spec_t *spec, load_result_t *result, err_t *err);

#endif
