#include "load/blocks/block.h"
#include "input/source.h"

#include <inttypes.h>
#include <stdio.h>

uint64_t block_line(const block_t *block, uint64_t line) {
    uint64_t before = 0;
    if (block->lines_from && !source_lines(block->file->input, false, block->lines_from, &before))
        return 0;
    return before + block->first_line + line;
}

const char *place_words(char out[PLACE_MAX], uint64_t line, uint64_t offset) {
    snprintf(out, PLACE_MAX, line ? ":%" PRIu64 : " offset %" PRIu64, line ? line : offset);
    return out;
}
