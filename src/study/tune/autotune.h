/* autotune: threads and batch size of a load that leaves them to us: by the last tune of its target, or by a
 * short one that is made now, or the defaults. Main thread. */
#ifndef TIPPLE_STUDY_TUNE_AUTOTUNE_H
#define TIPPLE_STUDY_TUNE_AUTOTUNE_H

#include "load/load.h"

/* Files of less than this are loaded before a tune of them would be worth it. */
#define AUTOTUNE_LEAST_BYTES (16u << 20)

/* Sets spec->threads, spec->batch, or both, and says (log_note) by what. False: the target cannot be reached,
 * or an interruption: the load would fare no better. */
bool autotune_choose(load_spec_t *spec, bool threads, bool batch, err_t *err);

#endif
