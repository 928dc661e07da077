/* rehearsal: what a drill will take, predicted from loads of the first records into the scratch collection,
 * of several sizes and several times, each with indexes, verify and first query. Internal to drill.c. */
#ifndef TIPPLE_STUDY_DRILL_REHEARSAL_H
#define TIPPLE_STUDY_DRILL_REHEARSAL_H

#include "study/drill/drill.h"
#include "study/scratch.h"

typedef struct {
    const load_spec_t *load; /* into the scratch collection, rejects somewhere */
    scratch_t *scratch;
    uint64_t sample;  /* as drill_spec_t */
    double documents; /* to predict for; NAN: all that the files make */
    bool thorough;    /* more sizes, more often */
} rehearsal_spec_t;

/* Fills samples, all_documents, and what is predicted of the first result->pass_count passes, whose
 * indexes_first says how. The collection is left as the last sample made it. */
bool rehearsal_run(const rehearsal_spec_t *spec, drill_result_t *result, err_t *err);

#endif
