/* The rejected records of an input, the documents that --retry makes of them (fixes), and what an entry of a reject
 * file still means: whether its record is rejected today. */
#include "base/text.h"
#include "catalog/store/entry.h"
#include "format/record/record_id.h"

#include <string.h>

/* ---- rejects ---- */

/* The first mark with this offset or a later one. The marks have `size` bytes each and begin with their offsets. */
static size_t first_mark(const void *marks, size_t count, size_t size, uint64_t offset) {
    return SEARCH_FIRST(count, i, *(const uint64_t *)((const char *)marks + i * size) < offset);
}

const reject_mark_t *piece_reject(const piece_t *piece, uint64_t offset) {
    const size_t at = first_mark(piece->rejects, piece->reject_count, sizeof *piece->rejects, offset);
    return at < piece->reject_count && piece->rejects[at].offset == offset ? &piece->rejects[at] : NULL;
}

bool piece_reserve_rejects(piece_t *piece, size_t count, err_t *err) {
    return GROW(piece->rejects, piece->reject_room, piece->reject_count + count, err);
}

/* Merges from the end, so that marks before all new ones do not move. There must be room. */
static void merge_rejects(piece_t *piece, const reject_mark_t *marks, size_t count) {
    reject_mark_t *all = piece->rejects;
    size_t before = piece->reject_count, end = before + count, to = end;
    while (count) {
        const reject_mark_t mark = marks[count - 1];
        if (before && all[before - 1].offset > mark.offset) {
            all[--to] = all[--before];
            continue;
        }
        before -= before && all[before - 1].offset == mark.offset;
        all[--to] = mark;
        count--;
    }
    memmove(&all[before], &all[to], (end - to) * sizeof *all);
    piece->reject_count = before + end - to;
}

bool piece_add_rejects(piece_t *piece, const reject_mark_t *marks, size_t count, err_t *err) {
    if (!piece_reserve_rejects(piece, count, err))
        return false;
    for (size_t at = 0, next; at < count; at = next) {
        for (next = at + 1; next < count && marks[next].offset > marks[next - 1].offset;)
            next++;
        merge_rejects(piece, marks + at, next - at);
    }
    return true;
}

/* ---- fixes ---- */

static size_t first_fix(const fix_mark_t *fixes, size_t count, uint64_t offset) {
    return first_mark(fixes, count, sizeof *fixes, offset);
}

record_fixes_t fix_marks_of(const fix_mark_t *fixes, size_t count, uint64_t offset, uint64_t of,
                            uint32_t generation) {
    record_fixes_t known = {.state = FIX_OPEN};
    for (size_t i = first_fix(fixes, count, offset); i < count && fixes[i].offset == offset; i++) {
        const fix_mark_t *fix = &fixes[i];
        if (fix->of != of)
            continue;
        known.noted |= !fix->confirmed;
        if (!fix->confirmed)
            continue;
        known.answer = fix;
        if (fix->hash == FIX_NOTHING)
            known.state = FIX_LEFT_OUT;
        else
            known.state = fix->generation && fix->generation < generation ? FIX_OUTLIVED : FIX_ANSWERED;
    }
    return known;
}

record_fixes_t entry_fixes(const entry_t *entry, uint64_t offset, uint64_t of, uint32_t generation) {
    return fix_marks_of(entry->fixes, entry->fix_count, offset, of, generation);
}

/* of: the hash of the record; NULL: any record at this offset. */
static bool is_noted(const fix_mark_t *fixes, size_t count, uint64_t offset, const uint64_t *of,
                     uint64_t hash) {
    for (size_t i = first_fix(fixes, count, offset); i < count && fixes[i].offset == offset; i++)
        if ((!of || fixes[i].of == *of) && fixes[i].hash == hash && hash != FIX_NOTHING)
            return true;
    return false;
}

bool fix_marks_know(const fix_mark_t *fixes, size_t count, uint64_t offset, uint64_t hash) {
    return is_noted(fixes, count, offset, NULL, hash);
}

bool fix_marks_accept(const fix_mark_t *fixes, size_t count, uint64_t offset, uint64_t of, uint64_t hash) {
    if (is_noted(fixes, count, offset, &of, hash))
        return true;
    return fix_marks_of(fixes, count, offset, of, 0).state == FIX_LEFT_OUT &&
           fix_marks_know(fixes, count, offset, hash);
}

reject_sums_t entry_reject_sums(const entry_t *entry) {
    reject_sums_t sums = {.open = 0};
    for (size_t i = 0; i < entry->piece_count; i++) {
        const piece_t *piece = &entry->pieces[i];
        for (size_t j = 0; j < piece->reject_count; j++) {
            const reject_mark_t *reject = &piece->rejects[j];
            const fix_state_t state =
                entry_fixes(entry, reject->offset, reject->hash, piece->generation).state;
            sums.open += state <= FIX_OUTLIVED;
            sums.left_out += state == FIX_LEFT_OUT;
            sums.fixed += state == FIX_ANSWERED;
        }
    }
    return sums;
}

uint64_t entry_open_rejects(const entry_t *entry) {
    return entry_reject_sums(entry).open;
}

/* Drops the other fixes of a confirmed fix's record. If it is confirmed as FIX_NOTHING, documents stay noted: the
 * command may not know that another one has confirmed one of them meanwhile, and must not make that one unknown. */
static void drop_fixes(entry_t *entry, fix_mark_t confirmed) {
    size_t kept = first_fix(entry->fixes, entry->fix_count, confirmed.offset);
    for (size_t i = kept; i < entry->fix_count; i++) {
        fix_mark_t fix = entry->fixes[i];
        const bool here = fix.offset == confirmed.offset && fix.of == confirmed.of;
        if (here && (confirmed.hash != FIX_NOTHING || fix.hash == FIX_NOTHING))
            continue;
        fix.confirmed = fix.confirmed && !here;
        entry->fixes[kept++] = fix;
    }
    entry->fix_count = kept;
}

bool entry_add_fix(entry_t *entry, fix_mark_t fix, err_t *err) {
    if (fix.confirmed)
        drop_fixes(entry, fix);
    else if (is_noted(entry->fixes, entry->fix_count, fix.offset, &fix.of, fix.hash))
        return true;
    if (!GROW(entry->fixes, entry->fix_room, entry->fix_count + 1, err))
        return false;
    size_t at = entry->fix_count++;
    for (; at && entry->fixes[at - 1].offset > fix.offset; at--)
        entry->fixes[at] = entry->fixes[at - 1];
    entry->fixes[at] = fix;
    return true;
}

void entry_reopen_fix(entry_t *entry, const fix_mark_t *fix) {
    for (size_t i = first_fix(entry->fixes, entry->fix_count, fix->offset);
         i < entry->fix_count && entry->fixes[i].offset == fix->offset; i++)
        if (entry->fixes[i].of == fix->of)
            entry->fixes[i].confirmed = false;
}

/* ---- standing ---- */

/* True if the record is the beginning of a longer one, cut off where an earlier version of the input ended. */
static bool was_torn(const entry_t *entry, uint64_t offset, const uint64_t *hash) {
    for (uint32_t i = 0; hash && i + 1 < entry->version_count; i++) {
        const torn_t *torn = &entry->versions[i].torn;
        if (torn->length && torn->offset == offset && torn->hash == *hash)
            return true;
    }
    return false;
}

standing_input_t standing_input(const entry_t *entry) {
    const bool is_known = entry->removed && entry->heirs > entry->ordinal;
    return (standing_input_t){entry->ordinal, entry->removed, is_known ? entry->heirs : entry->ordinal};
}

standing_t standing_of_reject(const entry_t *entry, uint64_t offset, const uint64_t *hash, uint64_t *of) {
    const uint64_t block = offset / RECORD_ID_BLOCK_BYTES;
    const piece_t *piece = entry_piece(entry, block);
    const bool torn = was_torn(entry, offset, hash);
    if (!piece)
        return STANDING_UNKNOWN;
    const reject_mark_t *reject = piece_reject(piece, offset);
    *of = hash ? *hash : reject ? reject->hash : 0;
    const uint32_t newest = piece == &entry->pieces[entry->piece_count - 1] ? entry->version : 1;
    if (piece->complete < newest && !done_runs_cover(&piece->done, block, block + 1))
        return torn                                      ? STANDING_OUTGROWN
               : reject && hash && reject->hash == *hash ? STANDING_OPEN
                                                         : STANDING_NOT_YET;
    if (reject)
        return !hash || reject->hash == *hash ? STANDING_OPEN : torn ? STANDING_OUTGROWN : STANDING_UNKNOWN;
    /* a record that was fixed before its block was done is not among the piece's rejects */
    const record_fixes_t known =
        hash ? entry_fixes(entry, offset, *hash, 0) : (record_fixes_t){.state = FIX_OPEN};
    if (torn ? known.state == FIX_ANSWERED : known.answer || known.noted)
        return STANDING_OPEN;
    return torn ? STANDING_OUTGROWN : STANDING_UNKNOWN;
}

bool standing_awaits_fix(const entry_t *entry, uint64_t offset, uint64_t hash) {
    uint64_t of;
    if (standing_of_reject(entry, offset, &hash, &of) != STANDING_OPEN)
        return false;
    const piece_t *piece = entry_piece(entry, offset / RECORD_ID_BLOCK_BYTES);
    const fix_state_t state = entry_fixes(entry, offset, hash, piece->generation).state;
    return state == FIX_ANSWERED || (state != FIX_LEFT_OUT && !piece_reject(piece, offset));
}
