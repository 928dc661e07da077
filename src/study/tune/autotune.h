/* autotune: chooses threads and batch size for a load that leaves them to tipple: from the last tune of its target,
 * from a short tune that is made now, or the defaults. Main thread. */
#ifndef TIPPLE_STUDY_TUNE_AUTOTUNE_H
#define TIPPLE_STUDY_TUNE_AUTOTUNE_H

#include "load/load.h"

/* Fewer bytes than this are loaded before a tune would pay. */
#define AUTOTUNE_LEAST_BYTES (16u << 20)

/* Sets spec->threads, spec->batch, or both, and says (log_note) where they come from. False: the target cannot be
 * reached, or an interruption: the load would fail, too. */
bool autotune_choose(load_spec_t *spec, bool threads, bool batch, err_t *err);

#endif
