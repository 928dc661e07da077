/* append: loads into a collection that also holds documents of others. Such a document must not have an `_id` that the load
 * would make of a position: the main thread asks the server before it takes the numbers of an extent, and so before the first
 * write. Here is the order of the questions. Pure. */
#ifndef TIPPLE_LOAD_TARGET_APPEND_H
#define TIPPLE_LOAD_TARGET_APPEND_H

#include "load/target/target.h"

/* The `_id`s to look for: numbers in [from, to), in all lanes from `lane` on. */
typedef struct {
    uint64_t from, to;
    uint32_t lane;
} append_look_t;

/* Sets *least: the next question is for the least `_id` from there up to INT64_MAX. False: no lane is left. */
bool append_next(const append_look_t *look, int64_t *least);
/* Takes the answer. True: this `_id` is in the range. */
bool append_found(append_look_t *look, int64_t id);

#endif
