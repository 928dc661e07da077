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

/* The confirmed fix of this record, or NULL. */
static const fix_mark_t *find_answer(const fix_mark_t *fixes, size_t count, uint64_t offset, uint64_t of) {
    for (size_t i = first_fix(fixes, count, offset); i < count && fixes[i].offset == offset; i++)
        if (fixes[i].of == of && fixes[i].confirmed)
            return &fixes[i];
    return NULL;
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
    const fix_mark_t *answer = find_answer(fixes, count, offset, of);
    return answer && answer->hash == FIX_NOTHING && fix_marks_know(fixes, count, offset, hash);
}

bool fix_marks_leave_out(const fix_mark_t *fixes, size_t count, uint64_t offset, uint64_t of) {
    const fix_mark_t *answer = find_answer(fixes, count, offset, of);
    return answer && answer->hash == FIX_NOTHING;
}

bool fix_marks_answer(const fix_mark_t *fixes, size_t count, uint64_t offset, uint64_t of,
                      uint32_t generation) {
    const fix_mark_t *answer = find_answer(fixes, count, offset, of);
    return answer && answer->hash != FIX_NOTHING && fix_mark_holds(answer, generation);
}

const fix_mark_t *entry_answer(const entry_t *entry, uint64_t offset, uint64_t of) {
    return find_answer(entry->fixes, entry->fix_count, offset, of);
}

bool entry_has_unsettled_fix(const entry_t *entry, uint64_t offset, uint64_t of) {
    const fix_mark_t *fixes = entry->fixes;
    const size_t count = entry->fix_count;
    for (size_t i = first_fix(fixes, count, offset); i < count && fixes[i].offset == offset; i++)
        if (fixes[i].of == of && !fixes[i].confirmed)
            return true;
    return false;
}

bool fix_mark_holds(const fix_mark_t *fix, uint32_t generation) {
    return fix->hash == FIX_NOTHING || !fix->generation || fix->generation >= generation;
}

reject_sums_t entry_reject_sums(const entry_t *entry) {
    reject_sums_t sums = {.open = 0};
    for (size_t i = 0; i < entry->piece_count; i++) {
        const piece_t *piece = &entry->pieces[i];
        for (size_t j = 0; j < piece->reject_count; j++) {
            const fix_mark_t *answer = entry_answer(entry, piece->rejects[j].offset, piece->rejects[j].hash);
            if (!answer || !fix_mark_holds(answer, piece->generation))
                sums.open++;
            else if (answer->hash == FIX_NOTHING)
                sums.left_out++;
            else
                sums.fixed++;
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
    const fix_mark_t *answer = hash ? entry_answer(entry, offset, *hash) : NULL;
    const bool fixed = torn ? answer && answer->hash != FIX_NOTHING
                            : answer || (hash && entry_has_unsettled_fix(entry, offset, *hash));
    if (fixed)
        return STANDING_OPEN;
    return torn ? STANDING_OUTGROWN : STANDING_UNKNOWN;
}

bool standing_awaits_fix(const entry_t *entry, uint64_t offset, uint64_t hash) {
    const fix_mark_t *answer = entry_answer(entry, offset, hash);
    uint64_t of;
    if (standing_of_reject(entry, offset, &hash, &of) != STANDING_OPEN ||
        (answer && answer->hash == FIX_NOTHING))
        return false;
    const piece_t *piece = entry_piece(entry, offset / RECORD_ID_BLOCK_BYTES);
    const bool is_reject = piece_reject(piece, offset) != NULL;
    return !is_reject || (answer && fix_mark_holds(answer, piece->generation));
}
