/* stray_scan: finds the documents whose `_id`s are outside of the ranges that verifiers have compared.
 *
 *     below 0   |   lane    |--window--|      gap      |--window--|         gap         |--window--|   ...   |   above
 *
 * It reads the `_id`s of each gap. Where the windows hold few documents, such as those of many small files, it reads
 * all `_id`s of a lane instead, and passes over those in windows. The first gap begins before everything that is sorted
 * before the numbers of places, the last one ends after everything that is sorted after them.
 *
 * Where the `_id`s are the data's own, it reads all of them, and those that verifiers have not found are strays. */
#ifndef TIPPLE_VERIFY_STRAY_SCAN_H
#define TIPPLE_VERIFY_STRAY_SCAN_H

#include "catalog/places.h"
#include "format/record/record_id.h"
#include "load/blocks/block.h"
#include "server/server.h"
#include "verify/verifier.h"

/* ---- gaps ---- */

/* The ranges of `_id`s that belong to no window of the given files. Made once; then read by any thread.
 *
 *     lane 0                               lane 1                    lane 2
 *     |--w--|        gap        |--w+1024--|        gap        |--w'--|       gap        ...
 */
typedef struct gaps gaps_t;

/* The number of blocks of each file must be known. NULL: out of memory. */
gaps_t *gaps_new(const active_piece_t *files, size_t count);
void gaps_free(gaps_t *gaps); /* NULL is allowed */

/* The first `_id` of a lane. Of lane RECORD_ID_LANES, which does not exist: the end of the last lane, 2^63. */
static inline uint64_t gaps_lane_start(size_t lane) {
    return (uint64_t)lane << RECORD_ID_OFFSET_BITS;
}

/* Calls `take` for each gap [from, to) in these lanes, in ascending order. Only the first gap of the first lane and the
 * last gap of the last one may be empty: there is always one that begins at 0, and one that ends at 2^63. Returns false
 * when `take` does. */
typedef bool gaps_fn(void *context, uint64_t from, uint64_t to, err_t *err);
bool gaps_each(const gaps_t *gaps, size_t from_lane, size_t to_lane, gaps_fn *take, void *context,
               err_t *err);

/* ---- the scan ---- */

typedef struct {
    server_t *server;
    const places_t *places;
    const active_piece_t *pieces; /* those that were compared, all of their blocks */
    size_t piece_count;
    const registration_t *entries; /* of the catalog, in the order of the files */
    uint64_t looked_at;            /* documents that were compared */
    uint32_t threads;
    uint64_t most;             /* differences kept of a kind */
    const verified_ids_t *ids; /* with own `_id`s: what was found, sorted; NULL: `_id`s are places */
    bool appends;              /* --append: documents outside of all extents are those of others */
    bool all_files; /* with ids: the catalog has no other files, whose documents would have other `_id`s */
} stray_scan_options_t;

/* Documents that are no differences, and how often something was read again. */
typedef struct {
    uint64_t others;   /* of files that are in the catalog, and were not compared */
    uint64_t not_ours; /* there before a load with --append, or put there since */
    uint64_t retries;
} stray_scan_t;

/* Adds what does not belong there: extra documents (at a place of a file after its end) and unrelated ones (at no
 * file's place, or under an `_id` that is no place). */
bool stray_scan_look(const stray_scan_options_t *options, differences_t *differences, stray_scan_t *result,
                     err_t *err);

#endif
