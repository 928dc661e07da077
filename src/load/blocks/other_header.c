#include "load/blocks/other_header.h"
#include "base/text.h"

#include <stdlib.h>

bool other_header_say(const char *name, uint64_t line, uint64_t offset, err_t *err) {
    char place[PLACE_MAX];
    return err_set(
        err, STATUS_INPUT,
        "%.1000s%s: this line is a header with other columns than the file began with, so the records after "
        "it would be read wrongly: split the file before this line, and give each part as a file of its own",
        name, place_words(place, line, offset));
}

bool other_header_refuse(const block_t *block, const record_t *record, bool loading, err_t *err) {
    const input_file_t *input = block->file->input;
    other_header_say(input->name, block_line(block, record->line), block->offset + record->offset, err);
    if (!loading)
        return false;
    err_t ignored;
    char *quoted = shell_quoted(input->name, &ignored);
    if (quoted)
        err_add(err, "; `tipple forget%.1000s --delete` removes what was loaded of it", quoted);
    free(quoted);
    return false;
}
