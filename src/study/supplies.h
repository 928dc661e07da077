/* supplies: what a study that loads again and again needs before anything is touched: files that can be read
 * again, and a place for what its loads reject. Main thread. */
#ifndef TIPPLE_STUDY_SUPPLIES_H
#define TIPPLE_STUDY_SUPPLIES_H

#include "load/load.h"

/* why: "trials read their sample again and again". *count: how many files there are. */
bool supplies_check_files(const load_spec_t *load, const char *why, size_t *count, err_t *err);

typedef struct {
    char folder[64];
    char path[96]; /* of the reject file in it */
} supplies_rejects_t;

/* In TMPDIR. study: "tune"; whose: "trials". Status 8. */
bool supplies_make_rejects(supplies_rejects_t *rejects, const char *study, const char *whose, err_t *err);
void supplies_remove_rejects(supplies_rejects_t *rejects); /* a zeroed one is allowed */

#endif
