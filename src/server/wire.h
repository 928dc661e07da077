#ifndef TIPPLE_SERVER_WIRE_H
#define TIPPLE_SERVER_WIRE_H

#include "base/err.h"

#include <stdint.h>
#include <string.h>

/* wire: the interface between the code that decides about a batch and the code that sends it. A message goes out; a
 * reply comes back as plain data. Documents are fetched by their `_id`s. The wire also knows how much patience is left.
 * A writer is the wire to real servers; tests and simulations have wires of their own. Pure: no driver here. */

/* What becomes of a record whose `_id`, one of the data's own, another document has already. */
typedef enum {
    EXISTING_REJECT,  /* the record is a reject */
    EXISTING_KEEP,    /* the document that is there stays, and the record counts as kept */
    EXISTING_REPLACE, /* the record's document takes its place */
    EXISTING_MODES
} existing_t;

/* The names of the modes, for --existing and in the catalog. */
static const char *const existing_names[EXISTING_MODES] = {"reject", "keep", "replace"};

/* NULL or "": reject. False: no mode has this name. */
static inline bool existing_named(const char *name, existing_t *existing) {
    for (int i = 0; i < EXISTING_MODES; i++)
        if (!name || !*name || strcmp(name, existing_names[i]) == 0) {
            *existing = (existing_t)i;
            return true;
        }
    return false;
}

/* Documents (BSON) one after another; starts[i] is where document i begins, starts[count] the end. */
typedef struct {
    const uint8_t *bytes;
    const uint32_t *starts;
    uint32_t count;
    bool may_be_there; /* some of them, from an earlier run: they are asked for before they are sent */
} documents_t;

static inline const uint8_t *documents_at(const documents_t *documents, uint32_t index, uint32_t *length) {
    *length = documents->starts[index + 1] - documents->starts[index];
    return documents->bytes + documents->starts[index];
}

/* Some documents of a batch, for one message or one question. */
typedef struct {
    const documents_t *all;
    const uint32_t *indexes; /* which documents; NULL: those from `from` on */
    uint32_t from, count;
} message_t;

static inline uint32_t message_index(const message_t *message, uint32_t i) {
    return message->indexes ? message->indexes[i] : message->from + i;
}

typedef enum {
    REPLY_UNSENT,     /* no server could be reached: nothing happened */
    REPLY_LOST,       /* the connection was lost, or a part of the reply: anything may have happened */
    REPLY_FAILED,     /* the command failed with a code; it may have done a part before */
    REPLY_IMPOSSIBLE, /* the driver refuses, and would do so again: a login, a command that it cannot make */
    REPLY_GIVEN,      /* the server says what happened to each document */
} reply_kind_t;

enum { WIRE_WORDS = 240 };

typedef struct {
    uint32_t index; /* in the message */
    int code;
    bool other_index; /* for code 11000: the index is a unique one other than that of `_id` */
    char words[WIRE_WORDS];
} write_error_t;

typedef struct {
    reply_kind_t kind;
    bool passing; /* the command failed, and the server says that another try is worth it */
    int code;     /* the code of a command that failed; 0: the command did not fail */
    uint64_t inserted;
    const write_error_t *errors; /* in any order */
    uint32_t error_count;
    bool concern_failed; /* the documents may be there, but not on as many members as requested */
    int concern_code;
    /* of the server or the driver, about the failure, the loss or the write concern; never NULL */
    const char *words;
} reply_t;

/* Why something must be tried again, or must end. */
typedef struct {
    const reply_t *reply;       /* the reply to an insert that the trouble is about, or NULL */
    const write_error_t *error; /* the error of the reply that the trouble is about, or NULL */
    const char *words;          /* used if there is no reply */
} trouble_t;

/* The document that is to be replaced, all of its bytes. */
typedef struct {
    const uint8_t *bytes;
    uint32_t length;
} replaced_t;

typedef enum { FETCHED, FETCH_AGAIN, FETCH_FAILED } fetched_t;

/* Called with a document that is there; false: err. */
typedef bool found_fn(void *finder, const uint8_t *document, uint32_t length, err_t *err);

typedef struct {
    void *context;
    uint32_t max_document_bytes, max_message_bytes, max_batch;
    /* Begins a new message or question, with full patience. */
    void (*begin)(void *context);
    /* Sends a message and waits for its reply, which is valid until the next call. False: a failure of this host;
     * err. */
    bool (*insert)(void *context, const message_t *message, reply_t *reply, err_t *err);
    /* The same, but each document takes the place of the one that before[i] names, if that is there, and is not stored
     * otherwise; reply->inserted counts those that took it. NULL: the wire replaces nothing. */
    bool (*replace)(void *context, const message_t *message, const replaced_t *before, reply_t *reply,
                    err_t *err);
    /* Fetches what the majority has under the `_id`s of these documents, in any order. One try. */
    fetched_t (*fetch)(void *context, const message_t *message, found_fn *found, void *finder, err_t *err);
    /* Waits a little. False: patience is over, or a signal came; err has the sentence. trouble NULL: it is about the
     * last fetch. */
    bool (*again)(void *context, const trouble_t *trouble, err_t *err);
    /* Sets the sentence for a trouble that ends a load at once; always false. */
    bool (*refuse)(void *context, const trouble_t *trouble, err_t *err);
} wire_t;

#endif
