/* stray_scan: finds documents outside the ranges of `_id`s that verifiers have looked at. There are two ways; it takes
 * the one that is less work for the server:
 *
 *     lane    |--window--|      gap      |--window--|            gap            |--window--|
 *
 *     few windows with many documents: it reads the `_id`s in the gaps, one range a gap. Usually there are none. Then it
 *         compares with the number of documents that the server knows without counting. If they differ, it counts
 *         all documents.
 *     many windows with few documents: it counts all documents, some lanes at a time. It reads `_id`s only in lanes
 *         that hold more documents than verifiers have seen.
 *
 * Where the `_id`s are the data's own, those that verifiers have found are given, and all others are told; the `_id`s are
 * read only if the server knows of another number of documents. */
#ifndef TIPPLE_VERIFY_STRAY_STRAY_SCAN_H
#define TIPPLE_VERIFY_STRAY_STRAY_SCAN_H

#include "catalog/places.h"
#include "load/blocks/block.h"
#include "server/server.h"
#include "verify/compare/difference.h"
#include "verify/compare/verifier.h"

typedef struct {
    server_t *server;
    const places_t *places;
    const load_file_t *files; /* those that were looked at, all of their blocks */
    size_t file_count;
    const registration_t *entries; /* of the catalog, in the order of the files */
    const uint64_t *lanes;         /* documents seen, by lane: RECORD_ID_LANES */
    uint64_t estimate;             /* about so many documents are in the collection */
    uint32_t threads;
    uint64_t most; /* differences kept of a kind */
    /* own `_id`s: sorted, each once; NULL: places. What is awaited is looked for */
    const verified_ids_t *ids;
    bool appends;   /* --append: documents outside of all extents are somebody else's */
    bool all_files; /* with ids: the catalog has no other files, whose documents would have other `_id`s */
} stray_scan_options_t;

typedef struct {
    uint64_t documents; /* in the collection */
    uint64_t others;    /* of files that are in the catalog, and were not looked at */
    uint64_t not_ours;  /* of others: there before a load with --append, or put there since */
    uint64_t changed;   /* inserted into, or removed from, what had been looked at before */
    uint64_t retries;
} stray_scan_t;

/* Adds what does not belong there: extra (at a place of a file behind its end) and unrelated (at no file's
 * place, or under an `_id` that is no place). */
bool stray_scan_look(const stray_scan_options_t *options, differences_t *differences, stray_scan_t *result,
                     err_t *err);

#endif
