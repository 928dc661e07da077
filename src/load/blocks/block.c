#include "load/blocks/block.h"
#include "base/text.h"
#include "input/source.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

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

/* ---- another header in the middle ---- */

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

/* ---- another stream under the same name ---- */

/* wrong: what the stream is not. besides: what else may be done. */
static bool refuse_stream(const load_file_t *file, const char *wrong, const char *besides, err_t *err) {
    return err_set(err, STATUS_INPUT,
                   "--input-name %.300s: another stream was loaded by this name before: %s. To load this one "
                   "in its place, take the old one out by `%.2000s`, and run the same command again; %sor "
                   "give the new stream another name",
                   file->input->name, wrong, file->forget, besides);
}

bool other_stream_refuse(const load_file_t *file, const char *what, uint64_t from, uint64_t to, err_t *err) {
    char wrong[200];
    if (to)
        snprintf(wrong, sizeof wrong, "%s between byte %llu and %llu", what, (unsigned long long)from,
                 (unsigned long long)to);
    else
        snprintf(wrong, sizeof wrong, "%s at byte %llu", what, (unsigned long long)from);
    return refuse_stream(file, wrong, "", err);
}

bool other_stream_refuse_shorter(const load_file_t *file, uint64_t end, err_t *err) {
    char wrong[200];
    snprintf(wrong, sizeof wrong,
             "the new one ends at byte %llu, before the end of what was loaded of the old one",
             (unsigned long long)end);
    return refuse_stream(file, wrong, "if it broke off, run the same command again with all of it; ", err);
}
