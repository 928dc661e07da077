#include "load/deliver/made_by.h"

#include <stdatomic.h>
#include <stdlib.h>

/* Two threads may write one slot at once. `check` tells a slot that is of both from one of a single record. */
typedef struct {
    atomic_ullong check, line, offset;
    const void *_Atomic file; /* NULL: the slot is empty */
} slot_t;

struct made_by {
    size_t count;
    slot_t slots[];
};

made_by_t *made_by_new(size_t bytes) {
    const size_t count =
        bytes > sizeof(made_by_t) + sizeof(slot_t) ? (bytes - sizeof(made_by_t)) / sizeof(slot_t) : 1;
    made_by_t *made = calloc(1, sizeof *made + count * sizeof *made->slots);
    if (made)
        made->count = count;
    return made;
}

void made_by_free(made_by_t *made) {
    free(made);
}

static uint64_t check_of(uint64_t hash, const made_place_t *place) {
    return hash ^ (place->offset * 0x9E3779B97F4A7C15u) ^ (place->line << 32) ^
           (uint64_t)(uintptr_t)place->file;
}

#define PUT(member, value) atomic_store_explicit(&slot->member, value, memory_order_relaxed)
#define GET(member)        atomic_load_explicit(&slot->member, memory_order_relaxed)

void made_by_note(made_by_t *made, uint64_t hash, const made_place_t *place) {
    slot_t *slot = &made->slots[hash % made->count];
    PUT(check, check_of(hash, place));
    PUT(line, place->line);
    PUT(offset, place->offset);
    PUT(file, place->file);
}

bool made_by_find(const made_by_t *made, uint64_t hash, made_place_t *place) {
    const slot_t *slot = &made->slots[hash % made->count];
    *place = (made_place_t){.file = GET(file), .line = GET(line), .offset = GET(offset)};
    return place->file && GET(check) == check_of(hash, place);
}
