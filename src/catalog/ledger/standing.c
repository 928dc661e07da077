#include "catalog/ledger/standing.h"
#include "catalog/ledger/ledger.h"

/* Was the record only the beginning of another record, cut off where an earlier version of the input ended? */
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
    const uint64_t block = offset / LEDGER_BLOCK_BYTES;
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
    /* a record that was fixed before its place was done is no reject there */
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
    const piece_t *piece = entry_piece(entry, offset / LEDGER_BLOCK_BYTES);
    const bool is_reject = piece_reject(piece, offset) != NULL;
    return !is_reject || (answer && fix_mark_holds(answer, piece->generation));
}
