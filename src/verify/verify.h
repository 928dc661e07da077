/* verify: does a collection hold exactly the documents that its files make? It reads and encodes each file again, and
 * compares the documents with those in the collection, byte by byte. It writes nothing. One call does it all, from the
 * command or from your own program.
 *
 *     verify_open     what was asked for, the server, the catalog's entries of the files
 *     compare         feeder -> queue of blocks -> verifiers (verifier.h), a thread each
 *     judge_last      with --existing replace: which record of an `_id` should be there (own_ids.h)
 *     look_outside    documents that belong to no file (stray_scan.h)
 *     conclude        the differences (difference.h) become a status and a sentence */
#ifndef TIPPLE_VERIFY_VERIFY_H
#define TIPPLE_VERIFY_VERIFY_H

#include "input/manifest.h"
#include "load/spec/load_spec.h"
#include "verify/difference.h"

#include <stdint.h>

typedef struct {
    /* the load that is verified: collection, format, inputs, filters (none: the catalog's), limit, threads, memory,
     * patience */
    load_spec_t load;
    char *const *retry; /* reject files whose records were fixed and loaded */
    size_t retry_count;
    double sample_percent; /* 100: everything */
    bool files_only;       /* documents outside of the files are not looked for */
    uint64_t most;         /* differences kept of each kind */
} verify_spec_t;

void verify_spec_init(verify_spec_t *spec); /* the defaults */

typedef struct {
    differences_t *differences;
    manifest_t manifest; /* its names are borrowed by the differences */
    uint64_t files, unfinished_files, catalog_files;
    inspected_t counts; /* of records, and of the documents that were read */
    /* records that later ones have replaced, so that they are not expected (--existing replace) */
    uint64_t replaced;
    /* `_id`s for which that is not known, because the sample lacks some of their records */
    uint64_t undecided;
    uint64_t blocks; /* in the sample or not */
    bool compared;   /* the files were compared with the collection, to their ends (or those of the sample) */
    bool ended;      /* likewise, and documents that belong to no file were looked for, if they should be */
    double looked;   /* about this share of the files was compared; not finite: not known */
    bool counted;    /* everything was read, so that the collection could be counted: */
    uint64_t all_documents;   /* in the collection */
    uint64_t other_documents; /* of files in the catalog that were not given */
    uint64_t not_ours;        /* there before a load with --append, or documents of others */
    uint64_t bytes_read, bytes_text, peak_memory_bytes;
    int64_t took_ns, cpu_ns;
    uint32_t threads;
    bool by_turns; /* several records may have one `_id`: missing ones cannot be loaded alone */
    char namespace[256], where[512], format[128], filter[512];
} verify_result_t;

/* Everything that can be known at the end is in *result, also after a failure. False: err has status and sentence;
 * STATUS_DIFFERENT when a difference was found and nothing else went wrong. */
bool verify_run(const verify_spec_t *spec, verify_result_t *result, err_t *err);
void verify_free_result(verify_result_t *result);

#endif
