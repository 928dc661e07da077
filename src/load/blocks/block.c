#include "load/blocks/block.h"
#include "input/source.h"

uint64_t block_line(const block_t *block, uint32_t line) {
    uint64_t before = 0;
    if (block->lines_from)
        source_lines(block->file->input, false, block->lines_from, &before);
    return before + block->first_line + line;
}
