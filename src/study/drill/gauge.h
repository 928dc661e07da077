/* gauge: how many records and documents some files have. Reads all of short files, and some places of long ones. Main
 * thread. */
#ifndef TIPPLE_STUDY_DRILL_GAUGE_H
#define TIPPLE_STUDY_DRILL_GAUGE_H

#include "format/schema/schema.h"
#include "input/manifest.h"

typedef struct {
    uint64_t records; /* that were read */
    double documents; /* of all files together */
    bool exact;       /* everything was read, so `documents` is no estimate */
} gauge_t;

/* The length of a stream is not known: only the part that was read counts. */
bool gauge_take(const schema_t *schema, const manifest_t *manifest, gauge_t *gauge, err_t *err);

#endif
