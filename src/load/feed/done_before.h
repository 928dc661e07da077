/* done_before: blocks that earlier loads have done: which they are, and whether their text is what it was. One thread's, for
 * one file after the other. */
#ifndef TIPPLE_LOAD_FEED_DONE_BEFORE_H
#define TIPPLE_LOAD_FEED_DONE_BEFORE_H

#include "base/err.h"
#include "load/blocks/block.h"

/* What was compared of the file at hand; begins as {0}. */
typedef struct {
    const done_run_t *run; /* that its text is compared with, */
    uint64_t run_hash;     /* as far as it was read, */
    uint64_t tail_hash;
    size_t runs_compared;
} done_before_t;

bool done_before_has(const load_file_t *file, const block_t *block);

/* Compares one of those, where that is wanted. False: it has changed. */
bool done_before_compare(done_before_t *compared, load_file_t *file, const block_t *block, err_t *err);

/* All of the piece was compared: was nothing missing at its end? */
bool done_before_end(const done_before_t *compared, load_file_t *file, err_t *err);

/* Of a file that is shorter than what was loaded of it. Always false. */
bool done_before_refuse_older(load_file_t *file, err_t *err);

#endif
