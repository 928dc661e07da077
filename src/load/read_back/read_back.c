#include "load/read_back/read_back.h"
#include "base/text.h"

#include <stdlib.h>
#include <string.h>
#include <xxhash.h>

/* More room than this is given back before the next block. */
enum { MOST_KEPT = 8 << 20 };

struct read_back {
    uint8_t *bytes; /* documents, back to back */
    size_t used, room, at;
    merge_t merge;
    /* the look at hand */
    int64_t id;
    read_back_accepts_t *accepts;
    void *context;
    bool other, accepted;
    bool strayed; /* something was passed over */
    int64_t stray;
};

read_back_t *read_back_new(err_t *err) {
    read_back_t *range = calloc(1, sizeof *range);
    if (!range)
        err_memory(err, sizeof *range);
    return range;
}

void read_back_free(read_back_t *range) {
    if (!range)
        return;
    free(range->bytes);
    free(range);
}

void read_back_clear(void *context) {
    read_back_t *range = context;
    if (range->room > MOST_KEPT) {
        free(range->bytes);
        range->bytes = NULL;
        range->room = 0;
    }
    range->used = range->at = 0;
}

bool read_back_keep(void *context, const uint8_t *document, uint32_t length, err_t *err) {
    read_back_t *range = context;
    if (!GROW(range->bytes, range->room, range->used + length, err))
        return false;
    memcpy(range->bytes + range->used, document, length);
    range->used += length;
    return true;
}

static int next_kept(void *context, const uint8_t **stored, uint32_t *length, err_t *err) {
    read_back_t *range = context;
    int32_t size;
    (void)err;
    if (range->at == range->used)
        return 0;
    memcpy(&size, range->bytes + range->at, sizeof size); /* how long a document is stands at its start */
    *stored = range->bytes + range->at;
    *length = (uint32_t)size;
    range->at += *length;
    return 1;
}

static bool take_finding(void *context, const merge_found_t *found, err_t *err) {
    read_back_t *range = context;
    (void)err;
    if (!found->stored || found->kind == MERGE_UNRELATED)
        return true;
    if (found->id != range->id) {
        range->stray = range->strayed ? range->stray : found->id;
        range->strayed = true;
        return true;
    }
    range->other = true;
    range->accepted =
        range->accepted ||
        (range->accepts && range->accepts(range->context, XXH3_64bits(found->stored, found->stored_length)));
    return true;
}

bool read_back_ready(read_back_t *range, err_t *err) {
    range->at = 0;
    range->merge = (merge_t){.next = next_kept, .tell = take_finding, .context = range};
    range->id = INT64_MIN;
    range->strayed = false;
    return merge_begin(&range->merge, err);
}

bool read_back_any(const read_back_t *range) {
    return range->used > 0;
}

bool read_back_look(read_back_t *range, int64_t id, const uint8_t *document, uint32_t length,
                    read_back_accepts_t *accepts, void *context, read_back_found_t *found, err_t *err) {
    const uint64_t same = range->merge.same;
    range->id = id;
    range->accepts = accepts;
    range->context = context;
    range->other = range->accepted = false;
    if (!merge_expect(&range->merge, id, document, length, err))
        return false;
    *found = range->merge.same > same ? READ_BACK_SAME
             : range->accepted        ? READ_BACK_ACCEPTED
             : range->other           ? READ_BACK_OTHER
                                      : READ_BACK_NOTHING;
    return true;
}

bool read_back_end(read_back_t *range, int64_t known, bool *any, int64_t *stray, err_t *err) {
    range->id = known;
    if (!merge_end(&range->merge, err))
        return false;
    *any = range->strayed;
    *stray = range->stray;
    return true;
}
