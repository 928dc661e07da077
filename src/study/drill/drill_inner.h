/* drill_inner: the parts of a drill while it runs. */
#ifndef TIPPLE_STUDY_DRILL_DRILL_INNER_H
#define TIPPLE_STUDY_DRILL_DRILL_INNER_H

#include "study/drill/drill.h"

/* drill_pass.c: load_run into a collection that is dropped first, verify_run, the first query. load: limit: only the
 * first records; verify then looks only for these. query: SUITE:NAME or NULL. quiet: a sample: phases are not
 * announced. *pass holds everything that was found, also after a failure. A difference is not a failure; *pass says
 * it. The sentence of a failure names the phase. */
bool drill_pass(const load_spec_t *load, const char *query, bool quiet, drill_pass_t *pass, err_t *err);

/* rehearsal.c: predicts how long a drill takes, from loads of the first records into the scratch collection. Several
 * sizes are loaded several times, each with indexes, verify and first query. Fills in samples, all_documents, and the
 * predictions. The collection stays as the last sample made it. */
bool rehearsal_run(const drill_spec_t *spec, drill_result_t *result, err_t *err);

/* gauge.c: how many records and documents the files of a load have. Reads all of short files, and some places of long
 * ones. The length of a stream is not known: only the part that was read counts. */
typedef struct {
    uint64_t records; /* that were read */
    double documents; /* of all files together */
    bool exact;       /* everything was read, so `documents` is no estimate */
} gauge_t;
bool gauge_take(const load_spec_t *load, gauge_t *gauge, err_t *err);

#endif
