/* gauge: how large the records and documents of some files are, and how well they compress. It reads some places of
 * some of the files. Main thread. */
#ifndef TIPPLE_STUDY_DRILL_GAUGE_H
#define TIPPLE_STUDY_DRILL_GAUGE_H

#include "format/schema/schema.h"
#include "input/manifest.h"

typedef struct {
    uint64_t records, documents, text_bytes, bson_bytes; /* that were read */
    uint64_t files;
    double all_text, all_documents; /* of all files together, estimated from these */
    bool exact;                     /* these two are no estimates: everything was read */
    double zlib, zstd;              /* bytes on disk for a byte of BSON, in pages as a server writes them */
} gauge_t;

enum { GAUGE_MOST_TEXT = 32 << 20, GAUGE_MOST_FILES = 32 };

/* The length of a stream is not known: only the part that was read counts. */
bool gauge_take(const schema_t *schema, const manifest_t *manifest, gauge_t *gauge, err_t *err);

/* Bytes on disk for a byte of BSON with this compressor. Only zlib and zstd were tried on the sample. */
double gauge_ratio(const gauge_t *gauge, const char *compressor);

#endif
