/* bson: the documents of a BSON text: how long each is, whether its elements fit into each other, and where it ends. */
#ifndef TIPPLE_FORMAT_CUT_BSON_H
#define TIPPLE_FORMAT_CUT_BSON_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum {
    BSON_LENGTH_LEAST = 5,
    BSON_LENGTH_MOST = (16 << 20) + (16 << 10), /* what a server sends and stores for itself */
};

static inline uint32_t bson_length(const uint8_t *text) {
    return text[0] | (uint32_t)text[1] << 8 | (uint32_t)text[2] << 16 | (uint32_t)text[3] << 24;
}

/* True if this is a valid size of a document. */
static inline bool bson_length_may_be(uint32_t length) {
    return length >= BSON_LENGTH_LEAST && length <= BSON_LENGTH_MOST;
}

/* ---- bson_walk ----
 *
 * Do the elements of a BSON document fit into each other? A server refuses a whole message for one document of
 * which that is not true, so each document is walked before it is sent. Servers store keys and texts that are not UTF-8 as they
 * are, so these are checked only where the format asks for it. */

enum { BSON_WALK_LEVELS = 180 }; /* of documents and arrays in each other: what a server stores */

typedef struct {
    uint32_t own_id, own_id_end; /* its element `_id`; 0: it has none */
    /* its element Timestamp(0, 0), which a server replaces by the time of day where it is not the `_id`; 0: none */
    uint32_t replaced;
    uint32_t symbol;   /* its first element that is a symbol, also within other documents; 0: none */
    uint32_t at;       /* of a broken one: the byte */
    const char *fault; /* and what is wrong there */
} bson_walk_t;

/* document[0, length) begins with its length, of which the caller has made sure. utf8: keys and texts must be UTF-8. False: it
 * is broken. */
bool bson_walk(const uint8_t *document, uint32_t length, bool utf8, bson_walk_t *walk);

/* Is it the type of an element? */
bool bson_walk_knows(uint8_t type);

/* ---- bson_span ----
 *
 * Where the documents of a BSON text end. Each begins with its own length (int32, little endian) and ends with a
 * zero byte; a length that says something else leaves nobody to know where the next document begins. */

/* The length of the document that begins at text[0]; 0: the text ends before it does, or (*lies) it is none. */
size_t bson_span_find(const uint8_t *text, size_t length, bool *lies);

/* How many documents end in text[0, length), which goes on where the last call's text ended; begins as {0}. */
typedef struct {
    uint32_t left; /* bytes of the document at hand, when its length is known */
    uint32_t have;
    uint8_t head[4];
} bson_span_counter_t;
uint64_t bson_span_count(bson_span_counter_t *counter, const uint8_t *text, size_t length);

/* Does a file that begins with this text look like BSON? The text may end within its first document. */
bool bson_span_begins(const uint8_t *text, size_t length);

#endif
