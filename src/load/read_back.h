/* read_back: what is in the collection of a block that was begun before, so that each of its records is
 * compared, byte for byte, before anything is sent. The block's range of `_id`s comes into memory first,
 * because reading it may have to start over. Belongs to one loader thread. */
#ifndef TIPPLE_LOAD_READ_BACK_H
#define TIPPLE_LOAD_READ_BACK_H

#include "load/merge.h"
#include "target/server.h"

typedef struct read_back read_back_t;

/* client: the thread's own, which is used between its other commands. */
read_back_t *read_back_new(server_t *server, mongoc_client_t *client, err_t *err);
void read_back_free(read_back_t *range); /* NULL is allowed */

/* Reads what has an `_id` in [from, end). False: the server stayed away for longer than its patience, or
 * refused. */
bool read_back_begin(read_back_t *range, int64_t from, int64_t end, err_t *err);

/* Was anything there? If not, nobody needs to look. */
bool read_back_any(const read_back_t *range);

/* Is another document under a record's `_id` one that a person has put there instead? By its XXH3 hash. */
typedef bool read_back_accepts_t(void *context, uint64_t hash);

typedef enum {
    READ_BACK_NOTHING,  /* it is to be sent */
    READ_BACK_SAME,     /* there: on whichever shard, whatever else has its `_id` */
    READ_BACK_OTHER,    /* another document has its `_id` */
    READ_BACK_ACCEPTED, /* the same, and it may stay */
} read_back_found_t;

/* Of one record, in ascending order of `_id`s: what there is of its document (NULL: none could be made).
 * accepts may be NULL: none is. */
bool read_back_look(read_back_t *range, int64_t id, const uint8_t *document, uint32_t length,
                    read_back_accepts_t *accepts, void *context, read_back_found_t *found, err_t *err);

#endif
