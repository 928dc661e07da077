/* verify: does a collection hold exactly the documents that its files make? It reads and encodes each file again, and
 * compares the documents with those in the collection, byte by byte. It writes nothing. One call does it all, from the
 * command or from your own program. */
#ifndef TIPPLE_VERIFY_VERIFY_H
#define TIPPLE_VERIFY_VERIFY_H

#include "input/manifest.h"
#include "load/spec/load_spec.h"
#include "verify/compare/difference.h"

#include <stdint.h>

typedef struct {
    /* the load that is verified: collection, format, inputs, filters (none: the catalog's), limit, threads, memory, patience */
    load_spec_t load;
    char *const *retry; /* reject files whose records were fixed and loaded */
    size_t retry_count;
    double sample_percent; /* 100: everything */
    bool files_only;       /* what lies outside of the files is not looked for */
    uint64_t most;         /* differences kept of each kind */
} verify_spec_t;

void verify_spec_init(verify_spec_t *spec); /* the defaults */

typedef struct {
    differences_t *differences;
    manifest_t manifest; /* whose names they borrow */
    uint64_t files, unfinished_files, catalog_files;
    uint64_t records, expected, rejected, filtered, fixed;
    uint64_t left_out; /* of the rejected: by a person, or by the filter when they were fixed */
    /* records whose documents later ones have replaced, and are not expected (--existing replace) */
    uint64_t replaced;
    uint64_t undecided; /* `_id`s of which that is not known: the sample has not all of their records */
    uint64_t unsought;  /* fixed records whose documents were not looked for: their `_id`s are not known */
    uint64_t unloaded;  /* records of reject files that were fixed, and not loaded yet */
    uint64_t kept;      /* records whose `_id` another document has (--existing keep) */
    uint64_t documents; /* looked at */
    uint64_t same;      /* of those: as they should be */
    uint64_t blocks, blocks_looked_at;
    bool compared; /* the files with the collection, to their ends (or those of the sample) */
    bool ended;    /* that, and documents that belong to no file were looked for, if they should be */
    double looked; /* about this share of the files, as far as it came; not finite: not known */
    bool counted;  /* everything was looked at, so that the collection could be counted */
    uint64_t all_documents;   /* counted: in the collection */
    uint64_t other_documents; /* counted: of files in the catalog that were not given */
    uint64_t not_ours;        /* counted: there before a load with --append, or somebody else's */
    uint64_t changed;         /* counted: came or went after it had been looked at */
    uint64_t bytes_read, bytes_text, bytes_encoded, bytes_stored, retries, peak_memory_bytes;
    int64_t took_ns, cpu_ns;
    uint32_t threads;
    bool by_turns; /* several records may have one `_id`: what is missing cannot be loaded alone */
    char namespace[256], where[512], format[128], filter[512];
} verify_result_t;

/* Everything that can be known at the end is in *result, also after a failure. False: err has status and
 * sentence; STATUS_DIFFERENT when a difference was found and nothing else went wrong. */
bool verify_run(const verify_spec_t *spec, verify_result_t *result, err_t *err);
void verify_free_result(verify_result_t *result);

#endif
