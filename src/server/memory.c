#include "server/memory.h"
#include "base/err.h"

#include <bson/bson.h>
#include <stdlib.h>

static void *sure(void *memory, size_t bytes) {
    if (!memory && bytes)
        err_end_without_memory(bytes);
    return memory;
}

static void *guarded_malloc(size_t bytes) {
    return sure(malloc(bytes), bytes);
}

static void *guarded_calloc(size_t count, size_t bytes) {
    return sure(calloc(count, bytes), count && bytes ? count * bytes : 0);
}

static void *guarded_realloc(void *old, size_t bytes) {
    return sure(realloc(old, bytes), bytes);
}

static void *guarded_aligned(size_t alignment, size_t bytes) {
    return sure(aligned_alloc(alignment, bytes), bytes);
}

void memory_guard_driver(void) {
    static const bson_mem_vtable_t guarded = {.malloc = guarded_malloc,
                                              .calloc = guarded_calloc,
                                              .realloc = guarded_realloc,
                                              .free = free,
                                              .aligned_alloc = guarded_aligned};
    bson_mem_set_vtable(&guarded);
}
