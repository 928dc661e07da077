/* drill_inner: the parts of a drill while it runs. */
#ifndef TIPPLE_STUDY_DRILL_DRILL_INNER_H
#define TIPPLE_STUDY_DRILL_DRILL_INNER_H

#include "study/drill/drill.h"
#include "study/scratch.h"
#include "study/supplies.h"

typedef struct {
    const drill_spec_t *spec;
    drill_result_t *result;
    server_t *target;
    mongoc_client_t *client; /* of the target */
    scratch_t *scratch;
    char *guessed;   /* the format file, without --format; else NULL */
    char digest[33]; /* of the format */
    char *filter;    /* as a catalog has it; "": none */
} drilling_t;

/* drill_before.c: checks without a server; then with that of the target. */
bool drill_check_spec(drilling_t *drilling, err_t *err);
bool drill_open_target(drilling_t *drilling, err_t *err);

/* drill_pass.c: load_run into a collection that is dropped first, verify_run, the first query. load: limit: only the
 * first records; verify then looks only for these. quiet: a sample: phases are not announced. result->pass and *pass
 * may be the same. *pass holds everything that was found, also after a failure. A difference is not a failure; *pass
 * says it. The sentence of a failure names the phase. */
bool drill_pass(const drill_result_t *result, const load_spec_t *load, bool quiet, drill_pass_t *pass,
                err_t *err);

/* rehearsal.c: predicts how long a drill takes, from loads of the first records into the scratch collection. Several
 * sizes are loaded several times, each with indexes, verify and first query. Fills in samples, all_documents, and the
 * predictions. The collection stays as the last sample made it. */
bool rehearsal_run(drilling_t *drilling, err_t *err);

#endif
