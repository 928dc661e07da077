/* The ledger: fixes whose documents are gone, and pieces that are held while fixes are loaded. */
#include "base/text.h"
#include "catalog/ledger/ledger_inner.h"
#include "catalog/ledger/standing.h"

#include <stdlib.h>

entry_change_t ledger_fix_change(const ledger_t *ledger, const work_t *work, const fix_mark_t *fixes,
                                 size_t count) {
    entry_change_t change = ledger_change(ledger, work);
    change.fixes = fixes;
    change.fix_count = count;
    return change;
}

/* ---- fixes whose documents are gone ---- */

bool ledger_note_gone(const ledger_t *ledger, work_t *work, const settled_block_t *block, err_t *err) {
    const entry_t *entry = &ledger->inputs[work->input].entry;
    for (size_t i = 0; i < block->reject_count && entry->fix_count; i++) {
        const fix_mark_t *answer = entry_answer(entry, block->rejects[i].offset, block->rejects[i].hash);
        if (!answer || answer->hash == FIX_NOTHING || !fix_mark_holds(answer, ledger->options.generation))
            continue;
        if (!GROW(work->gone, work->gone_room, work->gone_count + 1, err))
            return false;
        work->gone[work->gone_count] = *answer;
        work->gone[work->gone_count++].confirmed = false;
    }
    return true;
}

bool ledger_add_reopenings(const ledger_t *ledger, const work_t *work, entry_change_t **changes, size_t *room,
                           size_t *count, err_t *err) {
    for (size_t from = 0; from < work->gone_count; from += STORE_MOST_FIXES) {
        const size_t left = work->gone_count - from;
        if (!GROW(*changes, *room, *count + 1, err))
            return false;
        entry_change_t *change = &(*changes)[(*count)++];
        *change = ledger_fix_change(ledger, work, work->gone + from,
                                    left < STORE_MOST_FIXES ? left : STORE_MOST_FIXES);
        change->reopens = true;
    }
    return true;
}

void ledger_reopened(ledger_t *ledger, work_t *work) {
    for (size_t i = 0; i < work->gone_count; i++)
        entry_reopen_fix(&ledger->inputs[work->input].entry, &work->gone[i]);
    work->gone_count = 0;
}

/* ---- holding ---- */

bool ledger_may_hold(const ledger_t *ledger, const load_seen_t **waits_for) {
    *waits_for = NULL;
    for (size_t i = 0; i < ledger->work_count; i++) {
        const work_t *work = &ledger->works[i];
        if (work->state == WORK_DONE || work->state == WORK_OURS || ledger_may_take(ledger, work))
            continue;
        *waits_for = liveness_find(&ledger->liveness, &ledger_piece(ledger, work)->owner);
        return false;
    }
    return true;
}

bool ledger_holds(const ledger_t *ledger) {
    bool all = true;
    for (size_t i = 0; all && i < ledger->work_count; i++)
        all = ledger->works[i].state == WORK_DONE || ledger->works[i].state == WORK_OURS;
    return all;
}

const work_t *ledger_held(const ledger_t *ledger, uint32_t ordinal, uint64_t offset) {
    const size_t at =
        SEARCH_FIRST(ledger->input_count, i, ledger->inputs[i].entry.ordinal < ordinal); /* ascending */
    if (at == ledger->input_count || ledger->inputs[at].entry.ordinal != ordinal)
        return NULL;
    const ledger_input_t *input = &ledger->inputs[at];
    const piece_t *piece = entry_piece(&input->entry, offset / LEDGER_BLOCK_BYTES);
    const work_t *work =
        piece ? &ledger->works[input->first_work + (size_t)(piece - input->entry.pieces)] : NULL;
    return work && work->state == WORK_OURS ? work : NULL;
}

bool ledger_give_back(ledger_t *ledger, entry_change_t **changes, size_t *count, err_t *err) {
    size_t room = 0;
    *changes = NULL;
    *count = 0;
    for (size_t i = 0; i < ledger->work_count; i++) {
        work_t *work = &ledger->works[i];
        if (work->state != WORK_OURS)
            continue;
        if (!GROW(*changes, room, *count + 1, err))
            return false;
        entry_change_t *change = &(*changes)[(*count)++];
        *change = ledger_change(ledger, work);
        change->sets_owner = true;
        change->new_epoch = work->epoch;
        ledger_forget(work);
        ledger_become(ledger, work, WORK_OPEN);
    }
    return true;
}
