#include "load/read_back/range.h"
#include "base/text.h"

#include <stdlib.h>
#include <string.h>
#include <xxhash.h>

/* More room than this is freed before the next range. */
enum { MOST_KEPT = 8 << 20 };

void read_back_clear(void *context) {
    read_back_t *range = context;
    if (range->room > MOST_KEPT) {
        free(range->bytes);
        range->bytes = NULL;
        range->room = 0;
    }
    range->used = range->at = 0;
    range->strayed = false;
}

bool read_back_keep(void *context, const uint8_t *document, uint32_t length, err_t *err) {
    read_back_t *range = context;
    if (!GROW(range->bytes, range->room, range->used + length, err))
        return false;
    memcpy(range->bytes + range->used, document, length);
    range->used += length;
    return true;
}

bool read_back_id(const uint8_t *document, uint32_t length, int64_t *id) {
    static const uint8_t head[] = {0x12, '_', 'i', 'd', 0};
    if (length < 4 + sizeof head + sizeof *id || memcmp(document + 4, head, sizeof head) != 0)
        return false;
    memcpy(id, document + 4 + sizeof head, sizeof *id);
    return true;
}

/* Several documents may have the `_id`, one on each shard. */
read_back_found_t read_back_look(read_back_t *range, int64_t id, const uint8_t *document, uint32_t length) {
    read_back_found_t found = READ_BACK_NOTHING;
    uint32_t size;
    for (; range->at < range->used; range->at += size) {
        const uint8_t *stored = range->bytes + range->at;
        int64_t own;
        memcpy(&size, stored, sizeof size);    /* a document starts with its length */
        if (!read_back_id(stored, size, &own)) /* of no load */
            continue;
        if (own > id)
            break;
        if (own < id) {
            range->stray = range->strayed ? range->stray : own;
            range->strayed = true;
        } else if (document && size == length && memcmp(stored, document, length) == 0) {
            found = READ_BACK_SAME;
        } else if (found != READ_BACK_SAME && found != READ_BACK_ACCEPTED) {
            found = range->accepts(range->context, XXH3_64bits(stored, size)) ? READ_BACK_ACCEPTED
                                                                              : READ_BACK_OTHER;
        }
    }
    return found;
}

void read_back_end(read_back_t *range, int64_t known) {
    read_back_look(range, known, NULL, 0);
    read_back_look(range, INT64_MAX, NULL, 0);
}
