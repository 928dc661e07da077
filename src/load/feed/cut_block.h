/* cut_block: a stretch of text that was cut becomes a block, which has numbers for its records. */
#ifndef TIPPLE_LOAD_FEED_CUT_BLOCK_H
#define TIPPLE_LOAD_FEED_CUT_BLOCK_H

#include "input/cutter.h"
#include "load/blocks/block.h"

/* It owns the cut's text. from: the number that its reading began with; a piece may begin in the middle of a record of the
 * one before. NULL: out of memory. */
block_t *cut_block_new(load_file_t *file, const cut_t *cut, uint64_t from, uint32_t epoch);

/* Gives its records `_id`s from the file's extents, which must reach so far. */
bool cut_block_number(block_t *block, err_t *err);
uint64_t cut_block_last(const block_t *block); /* the offset of its last byte */

#endif
