/* stray_ranges: filters for ranges of `_id`s. */
#ifndef TIPPLE_VERIFY_STRAY_STRAY_RANGES_H
#define TIPPLE_VERIFY_STRAY_STRAY_RANGES_H

#include <bson/bson.h>

void stray_ranges_between(bson_t *filter, uint64_t from, uint64_t to); /* [from, to) */

/* Arrays of filters, each to be destroyed, and the array freed; NULL: out of memory. What is no 64-bit integer from 0 on, in
 * several ranges; and everything, in one. */
bson_t *stray_ranges_of_no_place(size_t *count);
bson_t *stray_ranges_everything(size_t *count);

#endif
