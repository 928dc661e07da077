/* What the files of the ledger share. */
#ifndef TIPPLE_CATALOG_LEDGER_LEDGER_INNER_H
#define TIPPLE_CATALOG_LEDGER_LEDGER_INNER_H

#include "catalog/ledger/ledger.h"

piece_t *ledger_piece(const ledger_t *ledger, const work_t *work);
void ledger_forget(work_t *work); /* forgets what is remembered of work that is not ours, or not any more */
void ledger_become(ledger_t *ledger, work_t *work, work_state_t state);
void ledger_own(ledger_t *ledger, work_t *work); /* the catalog names us as its owner */
/* The piece is complete: DONE, or begun anew once. */
void ledger_complete(ledger_t *ledger, work_t *work);
/* Must what was done of it be compared with the text first? */
bool ledger_must_check(const ledger_t *ledger, const work_t *work);
/* Does what was done of the piece count for this load? */
bool ledger_believes(const ledger_t *ledger, const work_t *work);
/* In the order of ledger_put_in_order. */
bool ledger_is_its_turn(const ledger_t *ledger, const work_t *work);
void ledger_follow_order(ledger_t *ledger);
bool ledger_may_take(const ledger_t *ledger, const work_t *work);
/* These records are rejected (again): notes the confirmed documents of their fixes as gone. */
bool ledger_note_gone(const ledger_t *ledger, work_t *work, const settled_block_t *block, err_t *err);
/* The changes that open these fixes again. They come before the one that says that their records are rejected again. */
bool ledger_add_reopenings(const ledger_t *ledger, const work_t *work, entry_change_t **changes, size_t *room,
                           size_t *count, err_t *err);
void ledger_reopened(ledger_t *ledger, work_t *work); /* they were made */

#endif
