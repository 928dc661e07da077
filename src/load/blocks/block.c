#include "load/blocks/block.h"
#include "base/clock.h"
#include "base/document.h"
#include "base/text.h"
#include "input/source.h"

#include <assert.h>
#include <bson/bson.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

uint64_t block_line(const block_t *block, uint64_t line) {
    uint64_t before = 0;
    if (block->lines_from && !source_lines(block->piece->input, false, block->lines_from, &before))
        return 0;
    return before + block->first_line + line;
}

const char *place_words(char out[PLACE_MAX], uint64_t line, uint64_t offset) {
    snprintf(out, PLACE_MAX, line ? ":%" PRIu64 : " offset %" PRIu64, line ? line : offset);
    return out;
}

/* ---- another header in the middle of a file ---- */

bool other_header_say(const char *name, uint64_t line, uint64_t offset, err_t *err) {
    char place[PLACE_MAX];
    return err_set(
        err, STATUS_INPUT,
        "%.1000s%s: this line is a header with other columns than the file began with, so the records after "
        "it would be read wrongly: split the file before this line, and give each part as a file of its own",
        name, place_words(place, line, offset));
}

bool other_header_refuse(const block_t *block, const record_t *record, bool loading, err_t *err) {
    const input_file_t *input = block->piece->input;
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

/* ---- another content or stream under the same name ---- */

bool changed_refuse(active_piece_t *piece, const char *what, err_t *err) {
    piece->changed = true;
    return err_set(err, STATUS_INPUT,
                   "%s has changed since it was loaded: %s. Put the old content back, or give "
                   "--reload-changed, which removes its documents and loads it again",
                   piece->input->name, what);
}

/* wrong: why it is another stream. besides: what else the user may do. */
static bool refuse_stream(const active_piece_t *piece, const char *wrong, const char *besides, err_t *err) {
    return err_set(err, STATUS_INPUT,
                   "--input-name %.300s: another stream was loaded by this name before: %s. To load this one "
                   "in its place, take the old one out by `%.2000s`, and run the same command again; %sor "
                   "give the new stream another name",
                   piece->input->name, wrong, piece->forget, besides);
}

bool other_stream_refuse(const active_piece_t *piece, const char *what, uint64_t from, uint64_t to,
                         err_t *err) {
    char wrong[200];
    if (to)
        snprintf(wrong, sizeof wrong, "%s between byte %llu and %llu", what, (unsigned long long)from,
                 (unsigned long long)to);
    else
        snprintf(wrong, sizeof wrong, "%s at byte %llu", what, (unsigned long long)from);
    return refuse_stream(piece, wrong, "", err);
}

bool other_stream_refuse_shorter(const active_piece_t *piece, uint64_t end, err_t *err) {
    char wrong[200];
    snprintf(wrong, sizeof wrong,
             "the new one ends at byte %llu, before the end of what was loaded of the old one",
             (unsigned long long)end);
    return refuse_stream(piece, wrong, "if it broke off, run the same command again with all of it; ", err);
}

/* ---- batch ---- */

enum { FIRST_ROOM = 64 * 1024 };

bool batch_init(batch_t *batch, uint32_t documents, err_t *err) {
    size_t places = (size_t)documents + 1;
    *batch = (batch_t){.starts = malloc(places * sizeof *batch->starts),
                       .offsets = malloc(places * sizeof *batch->offsets)};
    if (batch->starts && batch->offsets)
        return true;
    batch_free(batch);
    return err_memory(err, places * 8);
}

void batch_free(batch_t *batch) {
    free(batch->bytes);
    free(batch->starts);
    free(batch->offsets);
    free(batch->parts);
    *batch = (batch_t){.count = 0};
}

bool batch_reserve(batch_t *batch, size_t needed, size_t most, err_t *err) {
    if (batch->used + needed <= batch->room)
        return true;
    batch->usual = most;
    size_t room = batch->room ? 2 * batch->room : FIRST_ROOM;
    room = room < most ? room : most;
    room = room < batch->used + needed ? batch->used + needed : room;
    uint8_t *larger = realloc(batch->bytes, room);
    if (!larger)
        return err_memory(err, room);
    batch->bytes = larger;
    batch->room = room;
    return true;
}

#ifndef NDEBUG
/* A server puts `_id` first, and replaces a Timestamp(0, 0) in another field by the time of day: such a document would never be
 * read back equal. */
static bool is_stored_as_it_is(const uint8_t *document, uint32_t length) {
    bson_iter_t field;
    uint32_t seconds, increment;
    bool first = true;
    if (!bson_iter_init_from_data(&field, document, length))
        return false;
    for (; element_next(&field); first = false) {
        if (first && strcmp(bson_iter_key(&field), "_id") != 0)
            return false;
        if (first || !BSON_ITER_HOLDS_TIMESTAMP(&field))
            continue;
        bson_iter_timestamp(&field, &seconds, &increment);
        if (!seconds && !increment)
            return false;
    }
    return !first && !field.err_off;
}
#endif

bool batch_add(batch_t *batch, block_t *block, uint32_t offset, uint32_t length, err_t *err) {
    if (!batch->part_count || batch->parts[batch->part_count - 1].block != block) {
        if (!GROW(batch->parts, batch->part_room, batch->part_count + 1, err))
            return false;
        batch->parts[batch->part_count++] = (part_t){block, 0};
    }
    assert(is_stored_as_it_is(batch->bytes + batch->used, length));
    if (!batch->count)
        batch->since_ns = clock_now_ns();
    batch->parts[batch->part_count - 1].count++;
    batch->starts[batch->count] = (uint32_t)batch->used;
    batch->offsets[batch->count++] = offset;
    batch->used += length;
    block->pending++;
    return true;
}

void batch_clear(batch_t *batch) {
    batch->count = 0;
    batch->used = 0;
    batch->part_count = 0;
    batch->may_be_there = false;
    uint8_t *smaller = batch->room > batch->usual ? realloc(batch->bytes, batch->usual) : NULL;
    if (smaller) { /* what one large document needed is freed now, not at the end */
        batch->bytes = smaller;
        batch->room = batch->usual;
    }
}
