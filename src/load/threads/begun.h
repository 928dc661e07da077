/* begun: compares the records of a block that an earlier run has begun with what the collection holds of it. If the
 * documents are equal, the record is there. If there is none, the record is sent. If there is another one, the record is
 * a reject; but if it is the last record of an earlier version of the input, which was cut off there, the document is
 * corrected. Belongs to one loader thread. */
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

/* What is in the place of a record that no document is to be there of. */
typedef enum {
    BEGUN_NONE,
    BEGUN_FIXED, /* what a person has made of this record: it stays */
    BEGUN_OTHER, /* or something else, that nobody knows: the record is a reject */
} begun_there_t;

/* document: what its document would be, or NULL where none can be made. What a cut-off record has made is removed. */
bool begun_nothing(begun_t *begun, const record_t *record, const uint8_t *document, begun_there_t *there,
                   err_t *err);

/* The reason of a reject at whose place BEGUN_OTHER was found last. before: what else is wrong with it, or NULL. */
void begun_say_other(const begun_t *begun, char reason[WIRE_WORDS], const char *before, int64_t id);

/* After the block's last record. False also where there is a document in a place where no record begins: the input has
 * changed since it was begun, or was another stream. */
bool begun_end(begun_t *begun, err_t *err);

#endif
