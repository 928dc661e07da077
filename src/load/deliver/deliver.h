/* deliver: sends one batch, until it is known what became of each document. A document is sent again while that is in
 * doubt, and read back if the server says that its `_id` is taken. `outcome` says what a reply proves, `wire` carries
 * the messages; so this runs without servers, too. A deliver_t belongs to one thread.
 *
 *     sent -> reply -> outcome:  stored     loaded
 *                                refused    a reject (but see below)
 *                                in doubt   sent again
 *                                duplicate  read back by `_id`:  equal    already there, or loaded, if a
 *                                                                         message of ours may have done it
 *                                                                         (of equal ones in a batch: the first)
 *                                                                another  a reject (or as `existing` says)
 *                                                                nothing  sent again
 *
 * Documents that may be there from an earlier run (documents_t.may_be_there) are read back before they are sent. A
 * document that was refused after an earlier message of ours may have stored it is read back, too. Retries go on until the
 * wire's patience runs out. */
#ifndef TIPPLE_LOAD_DELIVER_DELIVER_H
#define TIPPLE_LOAD_DELIVER_DELIVER_H

#include "catalog/store/entry.h"
#include "load/deliver/ask.h"
#include "server/server_errors.h"
#include "server/wire.h"

/* ---- outcome ----
 *
 * What the reply to one insert message proves about each of its documents. Pure: no driver, no clock.
 *
 *     STORED     acknowledged as the write concern asks
 *     DUPLICATE  a document with its `_id` is there, or was; only reading it back shows which one
 *     REFUSED    for a reason of the closed list (server/server_errors.h): the record is a reject
 *     IN_DOUBT   nothing is proven: it is sent again
 *
 * Whatever is not certain is in doubt. A reply that contradicts itself proves nothing about any document. If the write
 * concern failed, all documents that were not refused are in doubt. If nothing was inserted, a router may hide that the
 * write concern failed; so a duplicate does not prove that a document is there to stay. */

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

/* ---- deliver ---- */

typedef struct deliver deliver_t;

/* Questions of deliver to its owner, who knows the records. */
typedef struct {
    void *context;
    existing_t existing; /* what becomes of a document whose `_id` another one has */
    /* Names the place of a document's record for messages: "a.csv:57". NULL: not known. */
    void (*place)(void *context, uint32_t index, char *text, size_t size);
    /* Another document has its `_id`. True if a user has put that one there instead. NULL: never. */
    bool (*accepts)(void *context, uint32_t index, const uint8_t *stored, uint32_t length);
    const char *advice; /* ends the reason of a reject whose `_id` another document has; NULL: nothing */
    /* Asked before each message of a batch except the first: may this load still send? False ends the delivery. NULL: yes. */
    bool (*may_send)(void *context, err_t *err);
    /* EXISTING_REPLACE; if all three are NULL, no message comes late. A hash that all documents share which the server
     * takes for equal; the time; and a wait until no message that was sent before `since` can still arrive (false: err). */
    uint64_t (*likeness)(const uint8_t *document, uint32_t length);
    int64_t (*now)(void *context);
    bool (*outlive)(void *context, int64_t since, err_t *err);
} deliver_owner_t;

/* Wire and owner must live as long as the deliver_t. */
deliver_t *deliver_new(const wire_t *wire, const deliver_owner_t *owner, err_t *err);
void deliver_free(deliver_t *deliver); /* NULL is allowed */

/* A document that was not simply loaded. */
typedef struct {
    uint32_t index; /* in the batch */
    fate_t fate;
    bool taken;              /* a reject, because another document has its `_id` */
    char reason[WIRE_WORDS]; /* of a reject */
} exception_t;

typedef struct {
    const exception_t *exceptions; /* ascending by index, each index once; until the next call */
    size_t count;
    uint32_t stored;  /* documents that were simply loaded: all the others, unless deliver() is false */
    uint32_t retries; /* messages that were sent again */
    bool touched;     /* messages may have stored documents that are not known to be stored */
} delivered_t;

/* False: the fate of some documents is unknown and the load must stop (status 4, 1, or that of a signal); or the
 * owner says that not all of the batch may be sent. *delivered then has what is known of the others. */
bool deliver(deliver_t *deliver, const documents_t *documents, delivered_t *delivered, err_t *err);

/* Looks up a document with this one's `_id`, equal or not, until it is *there or patience runs out. */
bool deliver_look(deliver_t *deliver, const documents_t *documents, uint32_t index, bool *there, err_t *err);

/* ---- inside deliver.c ---- */

/* A document that was not simply stored with the first message. */
typedef struct {
    bool in_doubt;  /* a message of ours may have stored it */
    bool replacing; /* a message of ours may have replaced another one by it */
    uint32_t times; /* how often in a row it got `code` */
    int code;
} trail_t;

/* A document of the batch, by its hash. */
typedef struct {
    uint64_t hash;
    uint32_t index;
} twin_t;

struct deliver {
    const wire_t *wire;
    const deliver_owner_t *owner;
    /* for the documents of the largest batch that had an exception so far */
    uint32_t room;
    trail_t *trails;     /* by index in the batch */
    outcome_t *outcomes; /* these two by place in the message */
    const write_error_t **errors;
    uint32_t *pending; /* indexes to be sent again */
    uint32_t pending_count;
    twin_t *twins; /* ascending by hash and index, if knows_twins */
    bool knows_twins;
    ask_t ask;
    bool asks_first; /* many of the last batch were there */
    exception_t *exceptions;
    size_t count, exception_room;
    const documents_t *documents; /* of the call */
    uint32_t stored, retries;
    bool touched;
    /* EXISTING_REPLACE: documents whose `_id`s other documents have; these are in ask.kept */
    asked_t *others;
    uint32_t other_count;
    replaced_t *before; /* by place in the message */
    /* by likeness: since when a message of ours may be on its way that replaces such a document */
    int64_t *doubts;
};

#endif
