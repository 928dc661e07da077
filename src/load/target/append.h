/* append: loads into a collection that also holds documents of others. Their `_id`s must not be among those that the load
 * makes of places: that is looked at before the numbers of such places are taken, and so before the first write. */
#ifndef TIPPLE_LOAD_TARGET_APPEND_H
#define TIPPLE_LOAD_TARGET_APPEND_H

#include "load/run/job.h"

/* From now on no extents are taken in which somebody's document lies. After the header was read. */
void append_begin(job_t *job);

/* The next `_id`s to be looked at, of numbers in [from, to) in all lanes. Pure: where each look tells the least `_id` from
 * next->from up to INT64_MAX. */
typedef struct {
    uint64_t from, to;
    uint32_t lane;
} append_look_t;

/* Begins at lane 0. False: no lane is left. */
bool append_next(const append_look_t *look, int64_t *least);
/* That look has found this `_id`. True: it is in the range. */
bool append_found(append_look_t *look, int64_t id);

#endif
