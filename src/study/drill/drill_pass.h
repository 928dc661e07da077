/* drill_pass: one pass: load_run into a collection that is dropped first, verify_run, the first query; each phase is
 * timed. Internal to drill.c and rehearsal.c. Main thread. */
#ifndef TIPPLE_STUDY_DRILL_DRILL_PASS_H
#define TIPPLE_STUDY_DRILL_DRILL_PASS_H

#include "study/drill/drill.h"

typedef struct {
    load_spec_t load; /* with drop. limit: only the first records; verify then looks only for these */
    const first_query_t *query;
    bool quiet;   /* a sample: phases are not announced */
    bool cluster; /* spreading over shards is a phase */
} drill_pass_spec_t;

/* *pass holds everything that was found, also after a failure. A difference is not a failure; *pass says it. The
 * sentence of a failure names the phase. */
bool drill_pass(const drill_pass_spec_t *spec, drill_pass_t *pass, err_t *err);

#endif
