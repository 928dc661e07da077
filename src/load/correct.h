/* correct: the one document that is ever replaced. An input ended without a line end, and its last record was
 * loaded as it was then; the input has grown since, and the record is longer. The document of what the record
 * was makes way for that of what it is, by one update that believes every field of the old one. */
#ifndef TIPPLE_LOAD_CORRECT_H
#define TIPPLE_LOAD_CORRECT_H

#include "format/schema.h"
#include "load/block.h"
#include "target/server.h"

/* Was a record that begins at this offset of the block's text cut off when an earlier version of its input
 * ended? NULL: no. */
const torn_t *correct_find(const block_t *block, uint32_t offset);

/* Puts `document`, of the whole record, into the place of what the cut-off record made. *corrected false:
 * there is another document. */
bool correct_torn(server_t *server, mongoc_client_t *client, const schema_t *schema, const block_t *block,
                  uint32_t offset, const torn_t *torn, const uint8_t *document, uint32_t length,
                  bool *corrected, err_t *err);

#endif
