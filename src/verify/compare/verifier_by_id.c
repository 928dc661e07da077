/* Blocks of a collection whose `_id`s are the data's own: what their records make is asked for by its `_id`. */
#include "base/text.h"
#include "catalog/ledger/standing.h"
#include "load/threads/account.h"
#include "verify/compare/id_hash.h"
#include "verify/compare/verifier_inner.h"

#include <stdlib.h>
#include <string.h>

static const entry_t *entry_of(const verifier_t *verifier) {
    const inspection_t *inspection = verifier->inspection;
    return &inspection->entries->wanted[verifier->block->file - inspection->files].entry;
}

static by_id_place_t place_of(const verifier_t *verifier) {
    const block_t *block = verifier->block;
    const record_t *record = &verifier->record;
    const uint64_t offset = verifier->window_offset + (uint64_t)(verifier->record_id - verifier->first_id);
    return (by_id_place_t){.id = verifier->record_id,
                           .offset = offset,
                           .behind = offset + record->length + record->line_end,
                           .line = block->first_line + record->line,
                           .identity = account_identity(block, record),
                           .why = verifier->why,
                           .open = verifier->at_fix && verifier->at_fix->open};
}

static difference_t difference_at(const verifier_t *verifier, difference_kind_t kind,
                                  const by_id_place_t *place) {
    const block_t *block = verifier->block;
    return (difference_t){.kind = kind,
                          .file = (size_t)(block->file - verifier->inspection->files),
                          .name = block->file->input->name,
                          .offset = place->offset,
                          .behind = place->behind,
                          .line = place->line,
                          .last_line = place->line,
                          .records = 1,
                          .id = place->id,
                          .last_id = place->id};
}

/* A person may have fixed the record: its document has an `_id` that nobody here knows, and is looked for at last, among
 * all documents, if these are looked at. */
static bool was_fixed(const verifier_t *verifier, const by_id_place_t *place) {
    return verifier->block->file->fix_count &&
           standing_awaits_fix(entry_of(verifier), place->offset, place->identity);
}

static bool await_fix(verifier_t *verifier, const by_id_place_t *place, err_t *err) {
    if (!verifier->inspection->whole) {
        verifier->look.unsought++;
        return true;
    }
    const entry_t *entry = entry_of(verifier);
    const awaited_fix_t fix = {.hash = entry_answer(entry, place->offset, place->identity)->hash,
                               .missing = difference_at(verifier, DIFFERENCE_MISSING, place)};
    if (!verified_ids_await(&verifier->block_ids, &fix, err))
        return false;
    verifier->look.expected++;
    verifier->look.fixed++;
    return true;
}

/* ---- what was found ---- */

/* Its record lost against another one with the same `_id`, and the load has said so. */
static bool is_known_reject(const verifier_t *verifier, const by_id_place_t *place) {
    uint64_t of;
    return standing_of_reject(entry_of(verifier), place->offset, &place->identity, &of) == STANDING_OPEN;
}

static bool describe(verifier_t *verifier, difference_t *difference, const by_id_found_t *found,
                     const char *why, err_t *err) {
    return difference_name_id_of(difference, found->id, found->id_length, err) &&
           (!found->others || verifier_describe(verifier, difference, found->expected, found->expected_length,
                                                found->other, found->other_length, err)) &&
           (!why || difference_say_why(difference, why, err));
}

static bool tell(verifier_t *verifier, difference_kind_t kind, const by_id_place_t *place,
                 const by_id_found_t *found, err_t *err) {
    difference_t difference = difference_at(verifier, kind, place);
    if (!differences_wants(verifier->found, &difference) ||
        describe(verifier, &difference, found, place->why, err))
        return differences_add(verifier->found, &difference, err);
    difference_free(&difference);
    return false;
}

/* A later record may have replaced it: that is judged at the end. */
static bool note_found(verifier_t *verifier, last_found_t what, const by_id_place_t *place,
                       const by_id_found_t *found, err_t *err) {
    last_wins_t *last = &verifier->block_last;
    const difference_kind_t kind = what == LAST_MISSING ? DIFFERENCE_MISSING : DIFFERENCE_CHANGED;
    difference_t difference = difference_at(verifier, kind, place);
    const bool detail =
        what != LAST_EQUAL && verifier->last.detail_count + last->detail_count < LAST_MOST_DETAILS;
    const last_record_t record = {
        .hash = found->hash, .offset = place->offset, .file = (uint32_t)difference.file, .found = what};
    if (!detail || describe(verifier, &difference, found, place->why, err))
        return last_wins_note(last, &record, detail ? &difference : NULL, err);
    difference_free(&difference);
    return false;
}

/* The load has refused the record, and said so: another document has its `_id`, or the server did not take it. Whose the
 * document under its `_id` is, another record says, or nobody does. */
static bool take_reject(verifier_t *verifier, const by_id_place_t *place, err_t *err) {
    const bool fixed = was_fixed(verifier, place);
    verifier->look.expected--;
    verifier->look.rejected += !fixed;
    verifier->look.left_out += fix_marks_leave_out(entry_of(verifier)->fixes, entry_of(verifier)->fix_count,
                                                   place->offset, place->identity);
    return !fixed || await_fix(verifier, place, err);
}

static bool take_found(verifier_t *verifier, const by_id_found_t *found, err_t *err) {
    const by_id_place_t *place = &verifier->places[found->tag];
    const existing_t existing = verifier->inspection->existing;
    verifier->look.same += found->same;
    const bool rejected =
        !found->same && !place->why && is_known_reject(verifier, place); /* why: it was fixed */
    if (rejected && (found->others || was_fixed(verifier, place)))
        return take_reject(verifier, place, err);
    if (!found->same && place->open) {
        verifier_count_unloaded(verifier);
        return true;
    }
    if ((found->same || found->others) &&
        !verified_ids_note(&verifier->block_ids,
                           found->same ? found->hash : id_hash(found->other, found->other_length), err))
        return false;
    if (found->same && existing == EXISTING_REPLACE && !note_found(verifier, LAST_EQUAL, place, found, err))
        return false;
    if (found->same)
        return !found->others || tell(verifier, DIFFERENCE_DUPLICATED, place, found, err);
    if (existing == EXISTING_REPLACE)
        return note_found(verifier, found->others ? LAST_CHANGED : LAST_MISSING, place, found, err);
    if (!found->others || existing != EXISTING_KEEP)
        return tell(verifier, found->others ? DIFFERENCE_CHANGED : DIFFERENCE_MISSING, place, found, err);
    verifier->look.expected--;
    verifier->look.kept++;
    return true;
}

bool verifier_ask_by_id(verifier_t *verifier, err_t *err) {
    by_id_t *by_id = verifier->by_id;
    bool ok = by_id_ask(by_id, verifier->target, &verifier->look.seen, &verifier->look.stored_bytes, err);
    for (size_t i = 0; ok && i < by_id_count(by_id); i++) {
        const by_id_found_t found = by_id_found(by_id, i);
        ok = take_found(verifier, &found, err);
    }
    by_id_clear(by_id);
    return ok;
}

/* ---- what is expected ---- */

bool verifier_expect_by_id(verifier_t *verifier, const uint8_t *document, uint32_t length, err_t *err) {
    const size_t tag = by_id_count(verifier->by_id);
    if (!GROW(verifier->places, verifier->place_room, tag + 1, err))
        return false;
    verifier->places[tag] = place_of(verifier);
    if (!by_id_expect(verifier->by_id, tag, document, length, err))
        return false;
    verifier_let_go(verifier); /* by_id has what it needs */
    return !by_id_is_full(verifier->by_id) || verifier_ask_by_id(verifier, err);
}

bool verifier_expect_fix(verifier_t *verifier, err_t *err) {
    const by_id_place_t place = place_of(verifier);
    return !was_fixed(verifier, &place) || await_fix(verifier, &place, err);
}
