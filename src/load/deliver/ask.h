/* ask: looks up documents by their `_id`s, many at once, and compares those that are there with ours. Belongs to one thread. */
#ifndef TIPPLE_LOAD_DELIVER_ASK_H
#define TIPPLE_LOAD_DELIVER_ASK_H

#include "server/wire.h"

#include <stdint.h>

enum { ASK_SLOTS = 2048 };

typedef enum { FOUND_NOTHING, FOUND_OTHER, FOUND_SAME } found_t;

/* A document to be looked up. */
typedef struct {
    uint32_t index;
    const write_error_t *error; /* the caller's: why the server refused it */
    found_t found;
    uint32_t others; /* FOUND_OTHER: how many there are, */
    size_t kept_at;  /* and, with ask_t.keeps, the first one's bytes in ask_t.kept */
    uint32_t kept_length;
} asked_t;

typedef struct {
    const wire_t *wire;
    /* Another document has its `_id`. True if that one is as good as ours. NULL: never. */
    bool (*accepts)(void *context, uint32_t index, const uint8_t *stored, uint32_t length);
    void *context;

    bool keeps; /* keeps other documents in `kept`, until the caller empties it */
    uint8_t *kept;
    size_t kept_used, kept_room;

    asked_t *asked; /* filled in by the caller */
    uint32_t count;

    uint32_t *indexes;
    const documents_t *documents;
    uint32_t from, to;         /* the current question: places in asked */
    uint32_t table[ASK_SLOTS]; /* the same by their `_id`s */
    bool strangers;            /* a document came back whose `_id` has the bytes of none that was asked for */
} ask_t;

/* Makes room for `count` documents at once. */
bool ask_make_room(ask_t *ask, uint32_t count, err_t *err);
void ask_free(ask_t *ask);

/* Looks up all requested documents, retrying while the server is unreachable until the wire's patience runs out. */
bool ask_all(ask_t *ask, const documents_t *documents, err_t *err);

/* Hashes the document's `_id` as it is written; 0: it is of a rare type. */
uint64_t ask_id_hash(const uint8_t *document, uint32_t length);
/* True if both `_id`s are written in the same way. For a server also 1 and 1.0 are equal. */
bool ask_same_id(const uint8_t *a, uint32_t a_length, const uint8_t *b, uint32_t b_length);

/* Writes the reason of a reject whose `_id` another document has. */
#define ASK_ADVICE                                                                                           \
    "; if the record is right, delete that document first" /* added if the `_id` is made of a place */
void ask_say_taken(char reason[WIRE_WORDS], const uint8_t *document, uint32_t length);

#endif
