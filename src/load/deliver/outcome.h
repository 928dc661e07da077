/* outcome: what the reply to one insert message proves about each of its documents. Pure: no driver, no
 * clock.
 *
 *     STORED     acknowledged as the write concern asks
 *     DUPLICATE  a document with its `_id` is there, or was; which one, only reading it back tells
 *     REFUSED    for a reason of the closed list (server/server_errors.h): the record is a reject
 *     IN_DOUBT   nothing is proven: it is sent again
 *
 * Whatever is not certain is in doubt. A reply that contradicts itself proves nothing about any document. If the write
 * concern failed, all documents that were not refused are in doubt. If nothing was inserted, a router may hide that the
 * write concern failed: so a duplicate does not prove that a document is there to stay. */
#ifndef TIPPLE_LOAD_DELIVER_OUTCOME_H
#define TIPPLE_LOAD_DELIVER_OUTCOME_H

#include "server/server_errors.h"
#include "server/wire.h"

typedef enum { OUTCOME_STORED, OUTCOME_DUPLICATE, OUTCOME_REFUSED, OUTCOME_IN_DOUBT } outcome_t;

typedef enum {
    OUTCOME_SETTLED, /* nothing is in doubt */
    OUTCOME_AGAIN,   /* what is in doubt is worth another try */
    OUTCOME_STOP,    /* no other try could go better: permission, a full disk, another collection */
} outcome_next_t;

typedef struct {
    outcome_next_t next;
    bool reached;               /* the message may have reached a server */
    const write_error_t *error; /* the entry that it is about; NULL: the reply as a whole */
} verdict_t;

/* All of the message's documents are stored: the one question that is asked of nearly every reply. */
static inline bool outcome_is_clean(const reply_t *reply, uint32_t count) {
    return reply->kind == REPLY_GIVEN && reply->inserted == count && !reply->error_count &&
           !reply->concern_failed;
}

/* outcomes: one for each of the message's count documents; errors: for each, the entry of the reply that is
 * about it, or NULL. */
verdict_t outcome_judge(const reply_t *reply, uint32_t count, outcome_t *outcomes,
                        const write_error_t **errors);

/* Is the code of this write error in no list at all, so that it may be about the document after all? */
bool outcome_is_unlisted(const write_error_t *error);

#endif
