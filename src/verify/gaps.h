/* gaps: the ranges of `_id`s that no window of some files stands for. Made once, then read-only and shared by
 * threads.
 *
 *     lane 0                               lane 1                    lane 2
 *     |--w--|        gap        |--w+1024--|        gap        |--w'--|       gap        ...
 */
#ifndef TIPPLE_VERIFY_GAPS_H
#define TIPPLE_VERIFY_GAPS_H

#include "load/blocks/block.h"

typedef struct gaps gaps_t;

/* Of files whose blocks are known. NULL: out of memory. */
gaps_t *gaps_new(const load_file_t *files, size_t count);
void gaps_free(gaps_t *gaps); /* NULL is allowed */

uint64_t gaps_windows(const gaps_t *gaps); /* of all files */

/* The first `_id` of a lane; of RECORD_ID_LANES: what is behind all of them, 2^63. */
static inline uint64_t gaps_lane_start(size_t lane) {
    return (uint64_t)lane << RECORD_ID_OFFSET_BITS;
}

/* Each gap [from, to) in these lanes, ascending; none is empty. False as soon as `take` is. */
typedef bool gaps_fn(void *context, uint64_t from, uint64_t to, err_t *err);
bool gaps_each(const gaps_t *gaps, size_t from_lane, size_t to_lane, gaps_fn *take, void *context,
               err_t *err);

#endif
