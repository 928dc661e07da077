/* bson_walk: do the elements of a BSON document fit into each other? A server refuses a whole message for one document of
 * which that is not true, so each document is walked before it is sent. Servers store keys and texts that are not UTF-8 as they
 * are, so these are checked only where the format asks for it. */
#ifndef TIPPLE_FORMAT_CUT_BSON_WALK_H
#define TIPPLE_FORMAT_CUT_BSON_WALK_H

#include <stdbool.h>
#include <stdint.h>

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

#endif
