/* retry_options: what the command that loads the fixed records of a load needs besides `tipple load --retry FILE`, so that it
 * makes the documents that the load would have made. What the catalog keeps (a guessed format, --id, --existing, --append)
 * is not repeated. Any thread. */
#ifndef TIPPLE_LOAD_SPEC_RETRY_OPTIONS_H
#define TIPPLE_LOAD_SPEC_RETRY_OPTIONS_H

#include "load/spec/load_spec.h"

/* " --format mot --uri ...", to be pasted into a shell; namespace: of the target ("mot.results"). NULL: memory is out. To be
 * freed. */
char *retry_options(const load_spec_t *spec, const char *namespace, err_t *err);

#endif
