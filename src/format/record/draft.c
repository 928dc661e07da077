#include "format/record/draft.h"
#include "base/threads/pool.h"

#include <stdlib.h>

bool draft_put(draft_t *draft, const void *bytes, size_t length) {
    if (draft->length + length + POOL_SLACK > draft->room) {
        size_t room = 2 * (draft->length + length) + 4 * POOL_SLACK;
        uint8_t *larger = realloc(draft->base, POOL_SLACK + room);
        if (!larger)
            return false;
        memset(larger, 0, POOL_SLACK);
        draft->base = larger;
        draft->bytes = larger + POOL_SLACK;
        draft->room = room;
    }
    memcpy(draft->bytes + draft->length, bytes, length);
    draft->length += length;
    return true;
}
