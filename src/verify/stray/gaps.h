/* gaps: the ranges of `_id`s that belong to no window of the given files. Made once. After that it is only read, by any
 * thread.
 *
 *     lane 0                               lane 1                    lane 2
 *     |--w--|        gap        |--w+1024--|        gap        |--w'--|       gap        ...
 */
#ifndef TIPPLE_VERIFY_STRAY_GAPS_H
#define TIPPLE_VERIFY_STRAY_GAPS_H

#include "load/blocks/block.h"

typedef struct gaps gaps_t;

/* The number of blocks of each file must be known. NULL: out of memory. */
gaps_t *gaps_new(const load_file_t *files, size_t count);
void gaps_free(gaps_t *gaps); /* NULL is allowed */

/* The first `_id` of a lane. For lane RECORD_ID_LANES, which does not exist: the end of the last lane, 2^63. */
static inline uint64_t gaps_lane_start(size_t lane) {
    return (uint64_t)lane << RECORD_ID_OFFSET_BITS;
}

/* Calls `take` for each gap [from, to) in these lanes, in ascending order. Only the first gap of the first lane and the last
 * gap of the last one may be empty: there is always one that begins at 0, and one that ends at 2^63. Stops and returns false
 * when `take` returns false. */
typedef bool gaps_fn(void *context, uint64_t from, uint64_t to, err_t *err);
bool gaps_each(const gaps_t *gaps, size_t from_lane, size_t to_lane, gaps_fn *take, void *context,
               err_t *err);

#endif
