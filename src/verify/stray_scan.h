/* stray_scan: what a collection holds beside the ranges of `_id`s that verifiers have looked at. In one of two
 * ways, whichever asks less of the server:
 *
 *     lane    |--window--|      gap      |--window--|            gap            |--window--|
 *
 *     few, full windows: the `_id`s that lie in the gaps are read, one range each; mostly there are none. The
 *         number of documents that the server keeps anyway must agree then, or everything is counted after
 * all. many windows with few documents: everything is counted, some lanes at a time, and only where there is
 * more than was seen the `_id`s are read. */
#ifndef TIPPLE_VERIFY_STRAY_SCAN_H
#define TIPPLE_VERIFY_STRAY_SCAN_H

#include "catalog/places.h"
#include "load/blocks/block.h"
#include "server/server.h"
#include "verify/difference.h"

typedef struct {
    server_t *server;
    const places_t *places;
    const load_file_t *files; /* those that were looked at, all of their blocks */
    size_t file_count;
    const uint64_t *lanes; /* documents seen, by lane: RECORD_ID_LANES */
    uint64_t estimate;     /* about so many documents are in the collection */
    uint32_t threads;
    uint64_t most; /* differences kept of a kind */
} stray_scan_options_t;

typedef struct {
    uint64_t documents; /* in the collection */
    uint64_t others;    /* of files that are in the catalog, and were not looked at */
    uint64_t changed;   /* that came into, or went from, what had been looked at before */
    uint64_t retries;
} stray_scan_t;

/* Adds what does not belong there: extra (at a place of a file behind its end) and unrelated (at no file's
 * place, or under an `_id` that is no place). */
bool stray_scan_look(const stray_scan_options_t *options, differences_t *differences, stray_scan_t *result,
                     err_t *err);

#endif
