/* zeroed: memory for structs with a larger alignment than calloc gives, such as those that contain a bson_t (128
 * bytes). */
#ifndef TIPPLE_BASE_ZEROED_H
#define TIPPLE_BASE_ZEROED_H

#include <stdalign.h>
#include <stdlib.h>
#include <string.h>

/* One TYPE, all zeros; the caller frees it. NULL: out of memory. */
#define ZEROED(type) ((type *)zeroed_memory(alignof(type), sizeof(type)))

static inline void *zeroed_memory(size_t alignment, size_t size) {
    void *memory = aligned_alloc(alignment, size);
    return memory ? memset(memory, 0, size) : NULL;
}

#endif
