/* claims: who works on what, when several loads share the same files. One document a claim in
 * NAME.tipple.claims, {_id: <what>, load: <whose>, upto: ...}: whoever inserts it has it. A claim whose load
 * is dead (see presence.h) may be taken over. What must not be written by two is guarded by the books
 * themselves (catalog_adopt); claims only divide the work. Main thread, or under the lock of the books. */
#ifndef TIPPLE_TARGET_CLAIMS_H
#define TIPPLE_TARGET_CLAIMS_H

#include "target/presence.h"

typedef enum {
    CLAIM_OPEN,    /* not asked for yet */
    CLAIM_NEW,     /* ours, and nobody had it before */
    CLAIM_ADOPTED, /* ours; another load had it, which has ended or is dead */
    CLAIM_BUSY,    /* another load works on it */
} claim_state_t;

/* A claim may be for files that are numbered on and on, such as "the small ones from 64 to 127": with it
 * stands how far they went when it was made. */
typedef struct {
    int64_t id;
    uint32_t upto;      /* the highest number that we mean */
    uint32_t upto_then; /* the answer, of one that was adopted: what its load meant */
    claim_state_t state;
} claim_t;

/* Asks for those that are open or busy; each is ours or busy afterwards. */
bool claims_take(presence_t *presence, claim_t *claims, size_t count, err_t *err);

#endif
