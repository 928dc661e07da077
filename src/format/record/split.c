#include "format/record/split.h"

#include <stdlib.h>
#include <string.h>

/* Reads the quoted field at `at`. Returns the offset after its closing quote; 0: it is not properly closed. *escapes is
 * set if the text must be unescaped. */
static size_t quoted_end(const schema_t *schema, char delimiter, bool backslash, const uint8_t *record,
                         size_t length, size_t at, bool *escapes, bool *used_backslash) {
    uint8_t quote = (uint8_t)schema->quote;
    *escapes = *used_backslash = false;
    for (size_t i = at + 1; i < length; i++) {
        if (backslash && record[i] == '\\' && i + 1 < length && record[i + 1] == quote) {
            *escapes = *used_backslash = true;
            i++;
        } else if (record[i] == quote) {
            if (i + 1 == length || record[i + 1] == (uint8_t)delimiter)
                return i + 1;
            if (record[i + 1] != quote || !schema->escape_double)
                return 0;
            *escapes = true;
            i++;
        }
    }
    return 0;
}

static uint8_t *unescape(uint8_t *out, const schema_t *schema, bool backslash, const uint8_t *text,
                         size_t length) {
    uint8_t quote = (uint8_t)schema->quote;
    for (size_t i = 0; i < length; i++) {
        bool escape =
            (text[i] == quote || (backslash && text[i] == '\\')) && i + 1 < length && text[i + 1] == quote;
        if (escape)
            i++;
        *out++ = text[i];
    }
    return out;
}

bool split_record(split_t *split, const schema_t *schema, char delimiter, const uint8_t *record,
                  size_t length) {
    split->count = 0;
    split->quoted = split->backslash = split->too_many = false;
    uint8_t *scratch = NULL;
    for (size_t at = 0;;) {
        if (split->count == SPLIT_MOST) {
            split->too_many = true;
            return true;
        }
        span_t *span = &split->spans[split->count++];
        size_t end = 0;
        bool escapes = false, used_backslash = false, backslash = schema->escape_backslash;
        if (schema->quote && at < length && record[at] == (uint8_t)schema->quote) {
            end = quoted_end(schema, delimiter, backslash, record, length, at, &escapes, &used_backslash);
            if (!end && backslash) {
                backslash = false;
                end = quoted_end(schema, delimiter, false, record, length, at, &escapes, &used_backslash);
            }
        }
        if (end) {
            split->quoted = true;
            split->backslash |= used_backslash;
            *span = (span_t){record + at + 1, (uint32_t)(end - at - 2), (uint32_t)at, (uint32_t)(end - at)};
            if (escapes) {
                if (!scratch) {
                    /* all unescaped fields of a record together are shorter than the record; some bytes after them may
                     * be read */
                    if (split->scratch_room < length + 64) {
                        free(split->scratch);
                        split->scratch_room = 2 * length + 256;
                        if (!(split->scratch = calloc(1, split->scratch_room))) {
                            split->scratch_room = 0;
                            return false;
                        }
                    }
                    scratch = split->scratch;
                }
                uint8_t *after = unescape(scratch, schema, backslash, span->text, span->length);
                span->text = scratch;
                span->length = (uint32_t)(after - scratch);
                scratch = after;
            }
        } else {
            const uint8_t *found = memchr(record + at, delimiter, length - at);
            end = found ? (size_t)(found - record) : length;
            *span = (span_t){record + at, (uint32_t)(end - at), (uint32_t)at, (uint32_t)(end - at)};
        }
        if (end >= length)
            return true;
        at = end + 1;
    }
}

void split_merge(split_t *split, const uint8_t *record, size_t left, size_t right) {
    span_t *first = &split->spans[left];
    const span_t *last = &split->spans[split->count - right - 1];
    uint32_t length = last->at + last->raw_length - first->at;
    if (first != last)
        *first = (span_t){record + first->at, length, first->at, length};
    memmove(first + 1, last + 1, right * sizeof *last);
    split->count = left + 1 + right;
}

void split_free(split_t *split) {
    free(split->scratch);
    split->scratch = NULL;
    split->scratch_room = 0;
}
