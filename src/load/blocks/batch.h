/* batch: documents on their way to one shard, back to back as they will be sent, and the blocks that their
 * records lie in. Belongs to one loader thread. */
#ifndef TIPPLE_LOAD_BLOCKS_BATCH_H
#define TIPPLE_LOAD_BLOCKS_BATCH_H

#include "load/blocks/block.h"

/* Documents of one block in a batch. */
typedef struct {
    block_t *block;
    uint32_t count;
} part_t;

typedef struct {
    uint8_t *bytes;
    size_t used, room; /* the next document is made at bytes + used */
    size_t usual;      /* room that is kept */
    uint32_t *starts;  /* in bytes; one more than there are documents */
    uint32_t *offsets; /* of each document's record in its block's text */
    uint32_t count;
    part_t *parts;
    size_t part_count, part_room;
    int64_t since_ns;  /* when its first document came */
    bool may_be_there; /* see documents_t */
} batch_t;

/* documents: how many it will ever hold at once. */
bool batch_init(batch_t *batch, uint32_t documents, err_t *err);
void batch_free(batch_t *batch);

/* Room for `needed` bytes behind those that are used, growing in steps up to `most`, and beyond it only for
 * one large document. */
bool batch_reserve(batch_t *batch, size_t needed, size_t most, err_t *err);

/* Takes the document of `length` bytes at bytes + used into the batch; the block has one more pending. */
bool batch_add(batch_t *batch, block_t *block, uint32_t offset, uint32_t length, err_t *err);

/* Without the documents of blocks that are lost. What becomes of such a block when its last document is gone is
 * for `drop` to see to; parts whose block is NULL are settled. */
void batch_drop_lost(batch_t *batch, void (*drop)(void *context, block_t *block), void *context);

/* Empty again; the memory stays, but for what one large document needed. */
void batch_clear(batch_t *batch);

#endif
