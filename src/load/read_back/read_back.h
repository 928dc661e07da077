/* read_back: what the collection already holds of a block that an earlier run has begun. Each record of the block is
 * compared with it, byte for byte, before anything is sent. All documents in the block's range of `_id`s are read into
 * memory first, because reading may have to start over. Belongs to one loader thread. */
#ifndef TIPPLE_LOAD_READ_BACK_READ_BACK_H
#define TIPPLE_LOAD_READ_BACK_READ_BACK_H

#include "load/read_back/merge.h"

typedef struct read_back read_back_t;

read_back_t *read_back_new(err_t *err);
void read_back_free(read_back_t *range); /* NULL is allowed */

/* Nothing is kept: another range, or the same from its start. */
void read_back_clear(void *range);
/* The range's next document, in ascending order of `_id`s. */
bool read_back_keep(void *range, const uint8_t *document, uint32_t length, err_t *err);
/* That was all of them: records may be looked for, once each. */
bool read_back_ready(read_back_t *range, err_t *err);

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

/* No more records: was there a document (any; the first: *stray) that is not of a place that was looked at? known: one
 * more place that something may be at. */
bool read_back_end(read_back_t *range, int64_t known, bool *any, int64_t *stray, err_t *err);

#endif
