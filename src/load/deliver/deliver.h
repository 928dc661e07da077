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
 * Documents that may be there from an earlier run (documents_t.may_be_there) are read back before they are sent.
 * A document that was refused after an earlier message of ours may have stored it is read back, too. It is tried again
 * for as long as the wire's patience lasts. */
#ifndef TIPPLE_LOAD_DELIVER_DELIVER_H
#define TIPPLE_LOAD_DELIVER_DELIVER_H

#include "load/deliver/outcome.h"
#include "server/wire.h"

typedef struct deliver deliver_t;

/* What deliver asks of whoever knows the records. */
typedef struct {
    void *context;
    existing_t existing; /* what becomes of a document whose `_id` another one has */
    /* Where a document's record is, for people: "a.csv:57". NULL: nobody knows. */
    void (*place)(void *context, uint32_t index, char *text, size_t size);
    /* Another document has its `_id`: is it one that a person has put there instead? NULL: no. */
    bool (*accepts)(void *context, uint32_t index, const uint8_t *stored, uint32_t length);
    const char *advice; /* ends the reason of a reject whose `_id` another document has; NULL: nothing */
    /* Asked before each message of a batch but the first: may this load still send all of the batch? False ends the
     * delivery; err says why, or is empty. NULL: yes. */
    bool (*may_send)(void *context, err_t *err);
    /* EXISTING_REPLACE: a hash that all documents share which the server takes for equal; the time; and waits until no
     * message that was sent before `since` can be on its way any more. False: err. NULL, all: nothing is late. */
    uint64_t (*likeness)(const uint8_t *document, uint32_t length);
    int64_t (*now)(void *context);
    bool (*outlive)(void *context, int64_t since, err_t *err);
} deliver_owner_t;

/* Both must live as long as it does. */
deliver_t *deliver_new(const wire_t *wire, const deliver_owner_t *owner, err_t *err);
void deliver_free(deliver_t *deliver); /* NULL is allowed */

/* A document that was not simply loaded. */
typedef struct {
    uint32_t index;          /* in the batch */
    bool there;              /* already, */
    bool kept;               /* or, with EXISTING_KEEP, another document is */
    bool replaced;           /* it took the place of another one; else it is a reject, */
    bool taken;              /* because another document has its `_id` */
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
 * owner says that not all of it may be sent. *delivered then has what is known of the others. */
bool deliver(deliver_t *deliver, const documents_t *documents, delivered_t *delivered, err_t *err);

/* Is the document with this one's `_id` there, equal to it or not? Asked until it is, or patience is over. */
bool deliver_look(deliver_t *deliver, const documents_t *documents, uint32_t index, bool *there, err_t *err);

#endif
