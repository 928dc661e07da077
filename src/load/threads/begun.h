/* begun: the records of a block that was begun before, against what the collection holds of it: equal ones are
 * there, missing ones are to be sent, others are rejects, but for the last record that was cut off when its input
 * ended there, which is corrected. Belongs to one loader thread. */
#ifndef TIPPLE_LOAD_THREADS_BEGUN_H
#define TIPPLE_LOAD_THREADS_BEGUN_H

#include "load/threads/account.h"

typedef struct begun begun_t;

/* account: where what becomes of the records is told. NULL: out of memory, or the server cannot be asked. */
begun_t *begun_new(load_state_t *loading, mongoc_client_t *client, const account_t *account, err_t *err);
void begun_free(begun_t *begun); /* NULL is allowed */

/* Reads what there is of the block. *any: something; else nobody needs to look. */
bool begun_read(begun_t *begun, block_t *block, bool *any, err_t *err);

/* A record's document. *open: there is nothing of it, so it is to be sent; else it is told. */
bool begun_document(begun_t *begun, const record_t *record, const uint8_t *document, bool *open, err_t *err);

/* A record's document that was sent, and another one has its `_id`: corrected where that is what the cut-off record
 * has made, by a message that came late; else a reject. */
bool begun_taken(begun_t *begun, block_t *block, const record_t *record, const uint8_t *document, err_t *err);

/* What a person has put in the place of a record. */
typedef enum {
    BEGUN_NONE,
    BEGUN_FIXED, /* of this record: it stays */
    BEGUN_OUTGROWN, /* of its beginning, when that was all of it: somebody has to decide, so the record is a reject */
} begun_there_t;

/* A record that no document is to be there of. document: what its document would be, or NULL where none can be
 * made. */
bool begun_nothing(begun_t *begun, const record_t *record, const uint8_t *document, begun_there_t *there,
                   err_t *err);

/* The reason of a reject at whose place BEGUN_OUTGROWN was found. before: what else is wrong with it, or NULL. */
void begun_say_outgrown(char reason[WIRE_WORDS], const char *before, int64_t id);

/* Behind the block's last record. False also where a stream was begun before, and has a document at a place where no
 * record of this one begins: that was another stream. Of other inputs such documents are for verify to name. */
bool begun_end(begun_t *begun, err_t *err);

#endif
