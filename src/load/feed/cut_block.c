#include "load/feed/cut_block.h"

#include <stdlib.h>
#include <xxhash.h>
#if defined(__x86_64__) && __has_include(<xxh_x86dispatch.h>)
#include <xxh_x86dispatch.h> /* the same functions, with the widest registers that this CPU has */
#endif

/* Of its text, whatever --max-record is. The sum over blocks does not depend on their order, so each hash knows
 * its block's number. */
static uint64_t hash_block(const cut_t *cut, uint64_t from) {
    const uint64_t text =
        cut->oversize.length ? cut->oversize.hash : XXH3_64bits(cut->buffer.bytes, cut->length);
    return XXH3_64bits_withSeed(&text, sizeof text, from);
}

block_t *cut_block_new(load_file_t *file, const cut_t *cut, uint64_t from, uint32_t epoch) {
    block_t *block = calloc(1, sizeof *block);
    if (!block)
        return NULL;
    block->file = file;
    block->buffer = cut->buffer;
    block->length = cut->length;
    block->offset = cut->offset;
    block->first_line = cut->first_line;
    block->lines_from = cut->lines_from;
    block->in_line = cut->in_line;
    block->from = from;
    block->to = cut->last ? (cut->next_offset - 1) / RECORD_ID_BLOCK_BYTES + 1
                          : cut->next_offset / RECORD_ID_BLOCK_BYTES;
    if (block->to > file->to)
        block->to = file->to;
    if (block->to <= block->from)
        block->to = block->from + 1;
    block->file_start = cut->offset == 0;
    block->tail = (cut->last || cut->open) && file->to == UINT64_MAX;
    block->epoch = epoch;
    block->partial = cut->broken;
    block->begun_before = file->begun_before;
    block->oversize.length = cut->oversize.length;
    block->oversize.kept = cut->oversize.kept;
    block->oversize.held = cut->oversize.held;
    block->hash = file->work ? hash_block(cut, block->from) : 0;
    return block;
}

uint64_t cut_block_last(const block_t *block) {
    const uint64_t end = block->offset + block->length + block->oversize.length;
    return end ? end - 1 : 0;
}

bool cut_block_number(block_t *block, err_t *err) {
    uint64_t voff;
    const load_file_t *file = block->file;
    if (!load_file_number(file, block->offset, &voff))
        return err_set(err, STATUS_INPUT,
                       "%s holds more than its size promised (more than %llu bytes): it changed while it was "
                       "read, or its compressed form lies about its size",
                       file->input->name, (unsigned long long)block->offset);
    block->id_base = record_id_make(record_id_lane(file->ordinal, block->offset), voff);
    return true;
}
