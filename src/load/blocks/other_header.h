/* other_header: a file that has another header in its middle, with other columns than those it is read by. */
#ifndef TIPPLE_LOAD_BLOCKS_OTHER_HEADER_H
#define TIPPLE_LOAD_BLOCKS_OTHER_HEADER_H

#include "format/record/record.h"
#include "load/blocks/block.h"

/* The sentence: what is behind that line cannot be read as it is. Returns false. line: 0 if only the offset is known. */
bool other_header_say(const char *name, uint64_t line, uint64_t offset, err_t *err);

/* The same of a block's record; loading: and what to do about that which was loaded. */
bool other_header_refuse(const block_t *block, const record_t *record, bool loading, err_t *err);

#endif
