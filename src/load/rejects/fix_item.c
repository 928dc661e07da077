#include "load/rejects/fix_item.h"
#include "base/text.h"

#include <string.h>
#include <xxhash.h>

/* ---- identity ---- */

uint64_t reject_identity_hash(const void *kept_bytes, size_t kept) {
    return XXH3_64bits(kept_bytes, kept);
}

/* Returns the input of this ordinal. NULL: none, or it was dropped. */
static const standing_input_t *find(const reject_inputs_t *inputs, uint64_t ordinal) {
    if (!inputs)
        return NULL;
    const size_t at = SEARCH_FIRST(inputs->count, i, inputs->inputs[i].ordinal < ordinal);
    return at < inputs->count && inputs->inputs[at].ordinal == ordinal ? &inputs->inputs[at] : NULL;
}

uint64_t reject_identity_ordinal(const reject_inputs_t *inputs, uint64_t ordinal) {
    const standing_input_t *input = find(inputs, ordinal);
    return input && !input->removed ? ordinal : UINT64_MAX;
}

uint64_t reject_identity_heirs(const reject_inputs_t *inputs, uint64_t ordinal) {
    const standing_input_t *input = find(inputs, ordinal);
    return input ? input->heirs : ordinal;
}

reject_identity_t reject_identity(const char *input, uint64_t ordinal, uint64_t dialect, uint64_t offset,
                                  uint64_t length, const void *kept_bytes, size_t kept) {
    return (reject_identity_t){input,  ordinal, offset, length, reject_identity_hash(kept_bytes, kept),
                               dialect};
}

bool reject_identity_equal(const reject_identity_t *a, const reject_identity_t *b) {
    return a->ordinal == b->ordinal && a->offset == b->offset && a->length == b->length &&
           a->hash == b->hash && a->dialect == b->dialect && strcmp(a->input, b->input) == 0;
}

uint64_t reject_identity_number(const reject_identity_t *identity) {
    const uint64_t numbers[] = {identity->ordinal, identity->offset, identity->length, identity->hash,
                                identity->dialect};
    return XXH3_64bits_withSeed(identity->input, strlen(identity->input),
                                XXH3_64bits(numbers, sizeof numbers));
}

/* ---- fixed records ---- */

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

/* Returns the confirmed fix of the record in this collection; NULL: none. */
static const fix_mark_t *answer_of(const fix_item_t *item) {
    const fix_mark_t *answer = entry_answer(item->entry, item->mark.offset, item->mark.of);
    return answer && fix_mark_holds(answer, item->mark.generation) ? answer : NULL;
}

/* True if a document answers the record: no other one can come to its place. */
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

/* True if an earlier run has noted another fix, and may have loaded it, or if one was confirmed in an earlier collection. */
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
