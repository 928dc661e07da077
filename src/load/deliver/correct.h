/* correct: the only case in which a document is replaced. An input ended without a line end, and its last record was loaded as it
 * was then. Since then the input has grown, perhaps more than once, and the record is longer. One update puts the new document in
 * the place of the old one; its filter names every field of the old one, so it changes nothing else. If the whole record makes no
 * document, the old one is removed in the same way. If both documents are too large for one command, the old one is removed
 * first, then the new one is inserted. */
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
    /* Asked before a document is inserted: true if the block is still this load's. False with an empty err->text: it is not;
     * else the load has to end. Only for correct_replace. */
    bool (*may_send)(void *context, const block_t *block, err_t *err);
    void *context;
} correct_place_t;

/* True if an earlier version of the input ended within the record that begins at this offset of the block's text. */
bool correct_was_torn(const block_t *block, uint32_t offset);

/* True if the block has such a record, and it is longer now. */
bool correct_has_outgrown(const schema_t *schema, const block_t *block);

/* *made: one of these records made a document when it was cut off. */
bool correct_made_document(const schema_t *schema, const block_t *block, bool *made, err_t *err);

/* Result of correct_replace for the document that the collection holds at the record's place. */
typedef enum {
    CORRECT_DONE,
    CORRECT_OTHER,   /* no version of the record has made it */
    CORRECT_LOST,    /* another load owns the block by now: the record is not counted */
    CORRECT_REFUSED, /* the server refuses the new document, and err says why: the old one is removed */
} corrected_t;

/* Puts `document`, made of the whole record, in the place of the cut-off record's document. */
bool correct_replace(const correct_place_t *place, const block_t *block, uint32_t offset,
                     const uint8_t *document, uint32_t length, corrected_t *corrected, err_t *err);

/* Removes the cut-off record's document, because the whole record makes none (it is a reject, or filtered). */
bool correct_remove(const correct_place_t *place, const block_t *block, uint32_t offset, bool *removed,
                    err_t *err);

/* Adds the documents that the cut-off record may have made to the block's `late`. */
bool correct_expect_late(const schema_t *schema, block_t *block, uint32_t offset, err_t *err);
/* Removes such a document if it has arrived meanwhile. */
bool correct_remove_late(const correct_place_t *place, const late_t *late, bool *removed, err_t *err);

#endif
