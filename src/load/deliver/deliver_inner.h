/* What the files of deliver share. */
#ifndef TIPPLE_LOAD_DELIVER_DELIVER_INNER_H
#define TIPPLE_LOAD_DELIVER_DELIVER_INNER_H

#include "load/deliver/ask.h"
#include "load/deliver/deliver.h"

/* A document that was not simply stored with the first message. */
typedef struct {
    bool in_doubt;  /* a message of ours may have stored it */
    bool replacing; /* a message of ours may have put it into the place of another one */
    uint32_t times; /* so often in a row it got `code` */
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
    uint32_t *pending; /* indexes that are sent again */
    uint32_t pending_count;
    twin_t *twins; /* ascending by hash and index, once they were asked for */
    bool knows_twins;
    ask_t ask;
    bool asks_first; /* many of the last batch were there */
    exception_t *exceptions;
    size_t count, exception_room;
    const documents_t *documents; /* of the call */
    uint32_t stored, retries;
    bool touched;
    /* EXISTING_REPLACE: documents whose `_id` other documents have, and these, in ask.kept */
    asked_t *others;
    uint32_t other_count;
    replaced_t *before; /* by place in the message */
    /* by likeness: since when a message of ours may be on its way that believes such a document */
    int64_t *doubts;
};

exception_t *deliver_add_exception(deliver_t *deliver, uint32_t index, err_t *err);
bool deliver_add_reject(deliver_t *deliver, uint32_t index, const char *reason, err_t *err);
/* A reject, because another document has its `_id`. */
bool deliver_add_taken(deliver_t *deliver, const asked_t *asked, err_t *err);
/* Where the record of a document is, for a sentence. */
void deliver_name_place(const deliver_t *deliver, uint32_t index, char *place, size_t room);
/* Of each reply that does not simply say that all is stored. */
void deliver_note_reply(deliver_t *deliver, const reply_t *reply, const verdict_t *verdict);
/* A reply that ends the load need not say which of its `count` documents went in, but how many. Always false. */
bool deliver_stop(deliver_t *deliver, const trouble_t *trouble, uint32_t count, err_t *err);
bool deliver_may_send(const deliver_t *deliver, err_t *err);
/* Patience ended over an entry of a code in no list: whose it was, and what can be done. Always false. */
bool deliver_blame(const deliver_t *deliver, uint32_t index, const write_error_t *error, err_t *err);

/* deliver_replace.c */

/* Another document has its `_id`: to be replaced by deliver_replace_others, or a reject where that cannot be. */
bool deliver_note_other(deliver_t *deliver, const asked_t *asked, err_t *err);
/* Until each of them is replaced, or it is known what became of it. */
bool deliver_replace_others(deliver_t *deliver, err_t *err);

#endif
