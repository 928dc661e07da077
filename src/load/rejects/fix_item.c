#include "load/rejects/fix_item.h"

void fix_item_note(fix_item_t *item) {
    item->written = item->makes_document && !fix_item_knows(item, item->mark.hash);
}

bool fix_item_knows(const fix_item_t *item, uint64_t hash) {
    return fix_marks_accept(item->entry->fixes, item->entry->fix_count, item->mark.offset, item->mark.of,
                            hash);
}

bool fix_item_is_new(const fix_item_t *item) {
    return item->makes_document ? !fix_item_knows(item, item->mark.hash)
                                : (item->left_out || item->filtered) &&
                                      !entry_answer(item->entry, item->mark.offset, item->mark.of);
}

/* What answers it in this collection; NULL: nothing. */
static const fix_mark_t *answer_of(const fix_item_t *item) {
    const fix_mark_t *answer = entry_answer(item->entry, item->mark.offset, item->mark.of);
    return answer && fix_mark_holds(answer, item->mark.generation) ? answer : NULL;
}

/* By a document: no other one can come there. */
static bool is_answered(const fix_item_t *item) {
    const fix_mark_t *answer = answer_of(item);
    return answer && answer->hash != FIX_NOTHING;
}

bool fix_item_is_answered_otherwise(const fix_item_t *item) {
    return is_answered(item) && answer_of(item)->hash != item->mark.hash;
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

/* An earlier run has noted another fix of this record, and may have loaded it; or it was confirmed in an earlier
 * collection. */
bool fix_item_asks(const fix_item_t *item) {
    const bool unsettled = entry_has_unsettled_fix(item->entry, item->mark.offset, item->mark.of);
    const bool outlived = !answer_of(item) && entry_answer(item->entry, item->mark.offset, item->mark.of);
    return !item->stored && !is_answered(item) && (unsettled || outlived);
}

static void confirm(fix_item_t *item, uint64_t hash) {
    item->mark.hash = hash;
    item->mark.confirmed = item->written = true;
}

void fix_item_settle(fix_item_t *item, uint64_t there) {
    const fix_mark_t *answer = answer_of(item);
    item->written = item->mark.confirmed = false;
    if (item->stored) {
        if (!answer || answer->hash != item->mark.hash)
            confirm(item, item->mark.hash);
        return;
    }
    if (is_answered(item))
        return;
    if (there != FIX_NOTHING)
        confirm(item, there);
    else if (!answer && (item->left_out || (item->filtered && !item->refused)))
        confirm(item, FIX_NOTHING);
}
