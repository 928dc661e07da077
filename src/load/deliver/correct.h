/* correct: the only case in which a document is replaced. An input ended without a line end, and its last record was
 * loaded as it was then. Since then the input has grown, and the record is longer. One update puts the new document in
 * the place of the old one; its filter names every field of the old one, so it changes nothing else. If the whole record
 * makes no document, the old one is removed in the same way. If both documents are too large for one command, the old
 * one is removed first, then the new one is inserted. The record may have grown more than once. */
#ifndef TIPPLE_LOAD_DELIVER_CORRECT_H
#define TIPPLE_LOAD_DELIVER_CORRECT_H

#include "format/schema/schema.h"
#include "load/blocks/block.h"
#include "server/server.h"
#include "server/server_errors.h"

typedef struct {
    server_t *server;
    mongoc_client_t *client;
    const uint8_t *uuid; /* of the collection */
    const schema_t *schema;
    /* Asked before a document is inserted: is the block still this load's? False: no, and err->text is empty; or the load
     * has to end. Only for correct_replace. */
    bool (*may_send)(void *context, const block_t *block, err_t *err);
    void *context;
} correct_place_t;

/* Was a record that begins at this offset of the block's text cut off when an earlier version of its input
 * ended? */
bool correct_was_torn(const block_t *block, uint32_t offset);

/* Is there such a record in the block, and longer than it was? */
bool correct_has_outgrown(const schema_t *schema, const block_t *block);

/* And did one of them make a document when it was cut off? */
bool correct_made_document(const schema_t *schema, const block_t *block, bool *made, err_t *err);

/* What the collection holds at the place of such a record is what one of the earlier versions made of it (and
 * then it is what is said here), or it is another document. */
typedef enum {
    CORRECT_DONE,
    CORRECT_OTHER,
    CORRECT_LOST,    /* the block is another load's by now: nothing is to be said of the record */
    CORRECT_REFUSED, /* the server does not take the new document, and says why in err: the old one is removed
                      */
} corrected_t;

/* Puts `document`, of the whole record, into the place of what the cut-off record made. */
bool correct_replace(const correct_place_t *place, const block_t *block, uint32_t offset,
                     const uint8_t *document, uint32_t length, corrected_t *corrected, err_t *err);

/* The whole record makes no document (it is a reject, or filtered): what the cut-off one made is taken away.
 */
bool correct_remove(const correct_place_t *place, const block_t *block, uint32_t offset, bool *removed,
                    err_t *err);

/* What it may have made goes to the block's `late`: */
bool correct_expect_late(const schema_t *schema, block_t *block, uint32_t offset, err_t *err);
/* and is taken away, if it has come meanwhile. */
bool correct_remove_late(const correct_place_t *place, const late_t *late, bool *removed, err_t *err);

#endif
