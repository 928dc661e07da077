/* rehearsal: predicts how long a drill takes, from loads of the first records into the scratch collection. Several
 * sizes are loaded several times, each with indexes, verify and first query. Internal to drill.c. */
#ifndef TIPPLE_STUDY_DRILL_REHEARSAL_H
#define TIPPLE_STUDY_DRILL_REHEARSAL_H

#include "study/drill/drill.h"
#include "study/scratch.h"

typedef struct {
    const load_spec_t *load; /* into the scratch collection, with a place for rejects */
    scratch_t *scratch;
    uint64_t sample;  /* as drill_spec_t */
    double documents; /* to predict for; NAN: all documents that the files make */
    bool thorough;    /* more sizes, repeated more often */
} rehearsal_spec_t;

/* Fills in samples, all_documents, and the predictions of the first result->pass_count passes; their indexes_first must
 * be set. The collection stays as the last sample made it. */
bool rehearsal_run(const rehearsal_spec_t *spec, drill_result_t *result, err_t *err);

#endif
