/* range: what the collection holds in the `_id`s of a block that an earlier run has begun. Each record of the block is compared with
 * it, byte for byte, before anything is sent. All of the range is read into memory first (read_back.h), because reading may have to
 * start over. One thread. */
#ifndef TIPPLE_LOAD_READ_BACK_RANGE_H
#define TIPPLE_LOAD_READ_BACK_RANGE_H

#include "base/err.h"

#include <stddef.h>
#include <stdint.h>

typedef struct {
    /* Another document has a record's `_id`: true if a user has put it there instead. hash: its XXH3. */
    bool (*accepts)(void *context, uint64_t hash);
    void *context;

    uint8_t *bytes; /* documents, back to back, in ascending order of their `_id`s; to be freed */
    size_t used, room;
    size_t at;     /* the first document that no record has asked for yet */
    bool strayed;  /* a document was passed that no record has asked for: */
    int64_t stray; /* the first one's `_id` */
} read_back_t;

/* Reads the 64-bit `_id` that all documents of loads begin with. False: it has none. */
bool read_back_id(const uint8_t *document, uint32_t length, int64_t *id);

/* Empties the range: another one follows, or the same from its start. Then each record may be looked up once. */
void read_back_clear(void *range);
/* Adds the next document. */
bool read_back_keep(void *range, const uint8_t *document, uint32_t length, err_t *err);

typedef enum {
    READ_BACK_NOTHING,  /* it is to be sent */
    READ_BACK_SAME,     /* it is there on some shard, whatever else has its `_id` */
    READ_BACK_OTHER,    /* another document has its `_id` */
    READ_BACK_ACCEPTED, /* another document has its `_id`, and it may stay */
} read_back_found_t;

/* Looks up a record's document (NULL: none could be made). Call it in ascending order of `_id`s. */
read_back_found_t read_back_look(read_back_t *range, int64_t id, const uint8_t *document, uint32_t length);

/* Passes the documents after the last record. known: one more `_id` that may have a document. */
void read_back_end(read_back_t *range, int64_t known);

#endif
