/* drill_inner: a drill while it runs. */
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
    char *scratch_uri;
    char *guessed;              /* the format file, without --format; else NULL */
    char digest[33];            /* of the format */
    char *filter;               /* as a catalog has it; "": none */
    supplies_rejects_t rejects; /* of samples and of drills in the scratch collection */
} drilling_t;

/* drill_before.c. Without a server; then with that of the target. */
bool drill_check_spec(drilling_t *drilling, err_t *err);
bool drill_open_target(drilling_t *drilling, err_t *err);

#endif
