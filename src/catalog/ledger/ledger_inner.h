/* What the two files of the ledger share: the states of pieces. */
#ifndef TIPPLE_CATALOG_LEDGER_LEDGER_INNER_H
#define TIPPLE_CATALOG_LEDGER_LEDGER_INNER_H

#include "catalog/ledger/ledger.h"

piece_t *ledger_piece(const ledger_t *ledger, const work_t *work);
/* Frees and resets what is remembered of work that is not ours (any more). */
void ledger_forget(work_t *work);
/* The only function that changes the state of a piece. */
void ledger_become(ledger_t *ledger, work_t *work, work_state_t state);
/* The catalog names us as the owner of the piece. */
void ledger_own(ledger_t *ledger, work_t *work);
/* The piece is complete: it is DONE, or is begun anew once (work->again). */
void ledger_complete(ledger_t *ledger, work_t *work);
/* True if what was done of the piece counts for this load. */
bool ledger_believes(const ledger_t *ledger, const work_t *work);
bool ledger_may_take(const ledger_t *ledger, const work_t *work);

#endif
