/* wire: the seam between what decides about a batch and what sends it. A message goes out, a reply comes back
 * as plain data; documents are fetched by their `_id`s; and somebody else knows how long there is patience
 * left. A writer is the wire to real servers; tests and simulations have wires of their own. Pure: no driver
 * here.
 */
#ifndef TIPPLE_SERVER_SEND_WIRE_H
#define TIPPLE_SERVER_SEND_WIRE_H

#include "base/err.h"

#include <stdint.h>

/* Documents (BSON), back to back; starts[i] is where the i-th begins, starts[count] the end. */
typedef struct {
    const uint8_t *bytes;
    const uint32_t *starts;
    uint32_t count;
} documents_t;

/* Some of a batch's documents, for one message or one question. */
typedef struct {
    const documents_t *all;
    const uint32_t *indexes; /* which; NULL: those from `from` on */
    uint32_t from, count;
} message_t;

static inline uint32_t message_index(const message_t *message, uint32_t i) {
    return message->indexes ? message->indexes[i] : message->from + i;
}

typedef enum {
    REPLY_UNSENT,     /* there was no server to send to: nothing was touched */
    REPLY_LOST,       /* the connection, or half of the reply: anything may have happened */
    REPLY_FAILED,     /* the command failed with a code, whatever it had done by then */
    REPLY_IMPOSSIBLE, /* the driver says no, and would say so again: a login, a command that it cannot make */
    REPLY_GIVEN,      /* the server says what became of the documents */
} reply_kind_t;

enum { WIRE_WORDS = 240 };

typedef struct {
    uint32_t index; /* in the message */
    int code;
    bool other_index; /* of code 11000: of a unique index that is not that of `_id` */
    char words[WIRE_WORDS];
} write_error_t;

typedef struct {
    reply_kind_t kind;
    bool passing; /* failed, and the server says itself that another try is worth it */
    int code;     /* of the command that failed, or 0 */
    uint64_t inserted;
    const write_error_t *errors; /* in any order */
    uint32_t error_count;
    bool concern_failed; /* the documents may be there, but not on as many members as was asked for */
    int concern_code;
    const char *words; /* the server's or the driver's, on the failure, the loss or the concern; never NULL */
} reply_t;

/* Why something is to be tried again, or to end. */
typedef struct {
    const reply_t *reply;       /* or NULL: it was no reply to an insert */
    const write_error_t *error; /* the one entry of the reply that it is about, or NULL */
    const char *words;          /* where there is no reply */
} trouble_t;

typedef enum { FETCHED, FETCH_AGAIN, FETCH_FAILED } fetched_t;

/* A document that is there; false: err. */
typedef bool found_fn(void *finder, const uint8_t *document, uint32_t length, err_t *err);

typedef struct {
    void *context;
    uint32_t max_document_bytes, max_message_bytes, max_batch;
    /* A new message, or question: all patience is there. */
    void (*begin)(void *context);
    /* Sends a message and waits for its reply, which lasts until the next call. False: err; this host's
     * fault. */
    bool (*insert)(void *context, const message_t *message, reply_t *reply, err_t *err);
    /* What the majority has under the `_id`s of these documents, in any order; one try. */
    fetched_t (*fetch)(void *context, const message_t *message, found_fn *found, void *finder, err_t *err);
    /* Waits a little. False: patience is over, or a signal came; err has the sentence. trouble NULL: of the
     * last fetch. */
    bool (*again)(void *context, const trouble_t *trouble, err_t *err);
    /* The sentence for what ends a load at once; always false. */
    bool (*refuse)(void *context, const trouble_t *trouble, err_t *err);
} wire_t;

#endif
