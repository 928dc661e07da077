/* drill_pass: everything once: load_run into a collection that is dropped before, verify_run, the first
 * query; each phase timed. Internal to drill.c and rehearsal.c. Main thread. */
#ifndef TIPPLE_STUDY_DRILL_DRILL_PASS_H
#define TIPPLE_STUDY_DRILL_DRILL_PASS_H

#include "study/drill/drill.h"

typedef struct {
    load_spec_t load; /* with drop; limit: only the first records, which is all that verify looks for then */
    const first_query_t *query;
    bool quiet;   /* a sample: nothing is announced */
    bool cluster; /* there is something to place */
} drill_pass_spec_t;

/* Everything that was found is in *pass, also after a failure; a difference is no failure, and said there.
 * The sentence of a failure names the phase. */
bool drill_pass(const drill_pass_spec_t *spec, drill_pass_t *pass, err_t *err);

#endif
