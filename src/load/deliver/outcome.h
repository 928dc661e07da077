/* outcome: what the reply to one insert message proves about each of its documents. Pure: no driver, no clock.
 *
 *     STORED     acknowledged as the write concern asks
 *     DUPLICATE  a document with its `_id` is there, or was; only reading it back shows which one
 *     REFUSED    for a reason of the closed list (server/server_errors.h): the record is a reject
 *     IN_DOUBT   nothing is proven: it is sent again
 *
 * Whatever is not certain is in doubt. A reply that contradicts itself proves nothing about any document. If the write
 * concern failed, all documents that were not refused are in doubt. If nothing was inserted, a router may hide that the
 * write concern failed; so a duplicate does not prove that a document is there to stay. */
#ifndef TIPPLE_LOAD_DELIVER_OUTCOME_H
#define TIPPLE_LOAD_DELIVER_OUTCOME_H

#include "server/server_errors.h"
#include "server/wire.h"

typedef enum { OUTCOME_STORED, OUTCOME_DUPLICATE, OUTCOME_REFUSED, OUTCOME_IN_DOUBT } outcome_t;

typedef enum {
    OUTCOME_SETTLED, /* nothing is in doubt */
    OUTCOME_AGAIN,   /* another try is worth it for what is in doubt */
    OUTCOME_STOP,    /* no other try can succeed: permission, a full disk, another collection */
} outcome_next_t;

typedef struct {
    outcome_next_t next;
    bool reached;               /* the message may have reached a server */
    const write_error_t *error; /* the entry that caused `next`; NULL: the reply as a whole */
} verdict_t;

/* True if all of the message's documents are stored. For nearly every reply this is the only question. */
static inline bool outcome_is_clean(const reply_t *reply, uint32_t count) {
    return reply->kind == REPLY_GIVEN && reply->inserted == count && !reply->error_count &&
           !reply->concern_failed;
}

/* outcomes: one for each of the message's count documents. errors: for each, its entry of the reply, or NULL. */
verdict_t outcome_judge(const reply_t *reply, uint32_t count, outcome_t *outcomes,
                        const write_error_t **errors);

/* True if the code of this write error is in no list, so that the document may be its cause after all. */
bool outcome_is_unlisted(const write_error_t *error);

#endif
