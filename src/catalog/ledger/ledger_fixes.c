/* The ledger: fixes whose documents are gone, and pieces that are held while fixes are loaded. */
#include "base/text.h"
#include "catalog/ledger/ledger_inner.h"
#include "catalog/ledger/standing.h"

#include <stdlib.h>

entry_change_t ledger_fix_change(const ledger_t *ledger, const work_t *work, const fix_mark_t *fixes,
                                 size_t count) {
    return (entry_change_t){.ordinal = ledger->inputs[work->input].entry.ordinal,
                            .piece = work->piece,
                            .owner = ledger->options.self,
                            .epoch = work->epoch,
                            .fixes = fixes,
                            .fix_count = count};
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

static bool has_gone(const work_t *work) {
    return work->state == WORK_OURS && work->gone_count;
}

bool ledger_gone_fixes(const ledger_t *ledger, entry_change_t **changes, fix_mark_t **fixes, size_t *count,
                       err_t *err) {
    size_t changed_room = 0, room = 0, used = 0, all = 0;
    *changes = NULL;
    *fixes = NULL;
    *count = 0;
    for (size_t i = 0; i < ledger->work_count; i++)
        all += has_gone(&ledger->works[i]) ? ledger->works[i].gone_count : 0;
    if (!all)
        return true;
    if (!GROW(*fixes, room, all, err))
        return false;
    for (size_t i = 0; i < ledger->work_count; i++) {
        const work_t *work = &ledger->works[i];
        for (size_t j = 0; has_gone(work) && j < work->gone_count; j++) {
            if (j % STORE_MOST_FIXES == 0) {
                if (!GROW(*changes, changed_room, *count + 1, err))
                    return false;
                (*changes)[*count] = ledger_fix_change(ledger, work, *fixes + used, 0);
                (*changes)[(*count)++].reopens = true;
            }
            (*changes)[*count - 1].fix_count++;
            (*fixes)[used++] = work->gone[j];
        }
    }
    return true;
}

void ledger_gone_written(ledger_t *ledger) {
    for (size_t i = 0; i < ledger->work_count; i++) {
        work_t *work = &ledger->works[i];
        for (size_t j = 0; has_gone(work) && j < work->gone_count; j++)
            entry_reopen_fix(&ledger->inputs[work->input].entry, &work->gone[j]);
        if (has_gone(work))
            work->gone_count = 0;
    }
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
    const uint64_t block = offset / LEDGER_BLOCK_BYTES;
    const size_t at =
        SEARCH_FIRST(ledger->input_count, i, ledger->inputs[i].entry.ordinal < ordinal); /* ascending */
    if (at == ledger->input_count || ledger->inputs[at].entry.ordinal != ordinal)
        return NULL;
    const ledger_input_t *input = &ledger->inputs[at];
    for (size_t i = 0; i < input->work_count; i++) {
        const work_t *work = &ledger->works[input->first_work + i];
        const piece_t *piece = ledger_piece(ledger, work);
        if (work->state == WORK_OURS && block >= piece->from && block < piece->to)
            return work;
    }
    return NULL;
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
        (*changes)[(*count)++] = (entry_change_t){.ordinal = ledger->inputs[work->input].entry.ordinal,
                                                  .piece = work->piece,
                                                  .owner = ledger->options.self,
                                                  .epoch = work->epoch,
                                                  .sets_owner = true,
                                                  .new_epoch = work->epoch};
        ledger_forget(work);
        ledger_become(ledger, work, WORK_OPEN);
    }
    return true;
}
