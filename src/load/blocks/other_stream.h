/* other_stream: the sentence for a stream that is not the one that an earlier run has begun under the same name. A
 * stream cannot be read again, so --reload-changed does not help. */
#ifndef TIPPLE_LOAD_BLOCKS_OTHER_STREAM_H
#define TIPPLE_LOAD_BLOCKS_OTHER_STREAM_H

#include "load/blocks/block.h"

/* what: how it shows, before "at byte N", or "between byte N and M" (to is not 0). Always false. */
bool other_stream_refuse(const load_file_t *file, const char *what, uint64_t from, uint64_t to, err_t *err);

/* The same of a stream that ends before what there is of the other one. */
bool other_stream_refuse_shorter(const load_file_t *file, uint64_t end, err_t *err);

/* Something of a stream of this name may be in the collection, and of which one shows only there. */
static inline bool other_stream_may_be(const load_file_t *file) {
    return file->begun_before && file->input->kind == INPUT_STREAM;
}

#endif
