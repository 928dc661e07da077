#include "load/rejects/fix_item.h"

#include <string.h>
#include <xxhash.h>

uint64_t reject_identity_hash(const void *kept_bytes, size_t kept) {
    return XXH3_64bits(kept_bytes, kept);
}

reject_identity_t reject_identity(const char *input, uint64_t ordinal, uint64_t dialect, uint64_t offset,
                                  uint64_t length, uint64_t hash) {
    return (reject_identity_t){XXH3_64bits(input, strlen(input)), ordinal, offset, length, hash, dialect};
}

/* ---- fixed records ---- */

record_fixes_t fix_item_known(const fix_item_t *item) {
    return entry_fixes(item->entry, item->mark.offset, item->mark.of, item->mark.generation);
}

bool fix_item_knows(const fix_item_t *item, uint64_t hash) {
    return fix_marks_accept(item->entry->fixes, item->entry->fix_count, item->mark.offset, item->mark.of,
                            hash);
}

bool fix_item_has_others(const fix_item_t *item) {
    const entry_t *entry = item->entry;
    for (size_t i = 0; i < entry->fix_count; i++) {
        const fix_mark_t *fix = &entry->fixes[i];
        if (fix->offset == item->mark.offset && fix->of == item->mark.of && fix->hash != FIX_NOTHING &&
            fix->hash != item->mark.hash)
            return true;
    }
    return false;
}

bool fix_item_is_new(const fix_item_t *item) {
    if (item->makes == FIX_MAKES)
        return !fix_item_knows(item, item->mark.hash);
    return item->makes != FIX_FAILS && fix_item_known(item).state == FIX_OPEN;
}

void fix_item_note(fix_item_t *item) {
    item->written = item->makes == FIX_MAKES && fix_item_is_new(item);
}

bool fix_item_asks(const fix_item_t *item) {
    const record_fixes_t known = fix_item_known(item);
    return !item->stored && known.state != FIX_ANSWERED && (known.noted || known.state == FIX_OUTLIVED);
}

static void confirm(fix_item_t *item, uint64_t hash) {
    item->mark.hash = hash;
    item->mark.confirmed = item->written = true;
}

void fix_item_settle(fix_item_t *item, uint64_t there) {
    const record_fixes_t known = fix_item_known(item);
    const bool leaves_out = item->makes == FIX_LEAVES_OUT || (item->makes == FIX_FILTERED && !item->refused);
    item->written = item->mark.confirmed = false;
    if (item->stored) {
        if (known.state != FIX_ANSWERED || known.answer->hash != item->mark.hash)
            confirm(item, item->mark.hash);
    } else if (known.state != FIX_ANSWERED) {
        /* a document answers a record for good: no other one can come to its place */
        if (there != FIX_NOTHING)
            confirm(item, there);
        else if (known.state != FIX_LEFT_OUT && leaves_out)
            confirm(item, FIX_NOTHING);
    }
}
