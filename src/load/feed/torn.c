#include "load/feed/torn.h"
#include "base/chars/lines.h"
#include "format/cut/ends.h"

#include <stdlib.h>
#include <string.h>
#include <xxhash.h>

/* A block of the last record alone, whose line has no end. NULL: out of memory. */
static block_t *cut_at(pool_t *pool, block_t *block, uint32_t at, err_t *err) {
    block_t *torn = malloc(sizeof *torn);
    if (!torn) {
        err_memory(err, sizeof *torn);
        return NULL;
    }
    *torn = *block;
    const uint8_t *text = block->buffer.bytes, *line = memrchr(text, '\n', at);
    torn->in_line = line ? (uint64_t)(text + at - line) - 1 : block->in_line + at;
    torn->length = block->length - at;
    torn->offset += at;
    torn->id_base += at;
    torn->first_line += lines_count(block->buffer.bytes, at);
    torn->file_start = false;
    torn->after_another = true;
    torn->hash = 0; /* the block's own speaks of both */
    if (!pool_split(pool, &block->buffer, at, block->length, &torn->buffer)) {
        err_memory(err, torn->length);
        free(torn);
        return NULL;
    }
    block->length = at;
    return torn;
}

/* Where the last record begins, which has no line end. */
static uint32_t last_record(const schema_t *schema, const block_t *block) {
    const uint8_t *text = block->buffer.bytes;
    if (!schema->multiline) {
        const uint8_t *end = memrchr(text, '\n', block->length);
        return end ? (uint32_t)(end + 1 - text) : 0;
    }
    const size_t begin = block->file_start ? dialect_begin(schema, text, block->length) : 0;
    ends_t ends = ends_begin(schema, block->file->dialect->delimiter);
    ends_on(&ends, text + begin, block->length - begin, true, SIZE_MAX);
    size_t last = begin + ends.record;
    for (size_t next = last; next < block->length;) {
        last = next;
        next += ends_find(schema, ends.delimiter, text + next, block->length - next, true);
    }
    return last == begin ? 0 : (uint32_t)last;
}

bool torn_cut(const schema_t *schema, pool_t *pool, block_t **block, news_t *torn, err_t *err) {
    block_t *last = *block;
    const uint8_t *text = last->buffer.bytes;
    torn->block = NULL;
    if (schema->kind == RECORDS_BSON) /* a document tells its end */
        return true;
    if (!last->tail || !last->file->may_be_torn || last->oversize.length || !last->length ||
        text[last->length - 1] == '\n')
        return true;
    size_t before = last->file_start ? dialect_begin(schema, text, last->length) : 0;
    if (before == last->length) /* no record at all */
        return true;
    const uint32_t at = last_record(schema, last);
    before = at ? 0 : before;
    if (!at)
        *block = NULL;
    else if (!(last = cut_at(pool, last, at, err)))
        return false;
    /* where the record begins, not what stands before the first one */
    text = last->buffer.bytes + before;
    const uint64_t length = last->length - before;
    *torn = (news_t){.kind = NEWS_TORN,
                     .file = last->file,
                     .torn = {last->offset + before, length, XXH3_64bits(text, length)},
                     .block = last};
    return true;
}
