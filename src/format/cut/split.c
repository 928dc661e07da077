#include "format/cut/split.h"
#include "format/cut/delimiter.h"
#include "format/cut/ends.h"

#include <stdlib.h>
#include <string.h>

static uint8_t *unescape(uint8_t *out, const schema_t *schema, bool backslash, const uint8_t *text,
                         size_t length) {
    uint8_t quote = (uint8_t)schema->quote;
    for (size_t i = 0; i < length; i++) {
        const bool before = backslash && text[i] == '\\';
        if (i + 1 < length && (((text[i] == quote || before) && text[i + 1] == quote) ||
                               (before && schema->escape_backslashes && text[i + 1] == '\\')))
            i++;
        *out++ = text[i];
    }
    return out;
}

/* For all unescaped fields of a record, which together are shorter than it; some bytes after them may be read. NULL: out of
 * memory. */
static uint8_t *make_room(split_t *split, size_t length) {
    if (split->scratch_room >= length + 64)
        return split->scratch;
    free(split->scratch);
    split->scratch_room = 2 * length + 256;
    if (!(split->scratch = calloc(1, split->scratch_room)))
        split->scratch_room = 0;
    return split->scratch;
}

bool split_record(split_t *split, const schema_t *schema, char delimiter, const uint8_t *record,
                  size_t length) {
    split->count = 0;
    split->quoted = split->backslash = split->too_many = false;
    split->open = split->torn = 0;
    uint8_t *scratch = NULL;
    while (schema->blanks && length && delimiter_is_blank(record[length - 1]))
        length--;
    for (size_t at = delimiter_skip(schema, record, length);;) {
        if (split->count == SPLIT_MOST) {
            split->too_many = true;
            return true;
        }
        span_t *span = &split->spans[split->count++];
        size_t end = 0;
        quote_t quote = {.whole = true, .bare = true, .backslash = schema->escape_backslash};
        if (schema->quote && at < length && record[at] == (uint8_t)schema->quote) {
            quote_end_t is = ends_quote(schema, delimiter, record, length, at, &quote, &end);
            if (quote.backslash && (is == QUOTE_ODD || (is == QUOTE_OPEN && !schema->multiline))) {
                quote.backslash = false;
                is = ends_quote(schema, delimiter, record, length, at, &quote, &end);
            }
            if (is == QUOTE_OPEN && schema->multiline && !split->open)
                split->open = at + 1;
            if (is == QUOTE_ODD && schema->multiline && !split->torn &&
                (schema->guessed || delimiter_find(schema, delimiter, record, end, at)))
                split->torn = at + 1;
            end = is == QUOTE_CLOSED ? end : 0;
        }
        if (end) {
            split->quoted = true;
            split->backslash |= quote.used_backslash;
            *span = (span_t){record + at + 1, (uint32_t)(end - at - 2), (uint32_t)at, (uint32_t)(end - at)};
            if (quote.escapes) {
                if (!scratch && !(scratch = make_room(split, length)))
                    return false;
                uint8_t *after = unescape(scratch, schema, quote.backslash, span->text, span->length);
                span->text = scratch;
                span->length = (uint32_t)(after - scratch);
                scratch = after;
            }
        } else {
            const uint8_t *found = delimiter_find(schema, delimiter, record, length, at);
            end = found ? (size_t)(found - record) : length;
            *span = (span_t){record + at, (uint32_t)(end - at), (uint32_t)at, (uint32_t)(end - at)};
        }
        if (end >= length)
            return true;
        at = end + delimiter_at(schema, delimiter, record, length, end);
    }
}

/* Makes one of each two quotes in the span, as many as *quotes tells at most, and takes them off. NULL: one stands alone. */
static uint8_t *halve_quotes(uint8_t *out, uint8_t quote, span_t *span, uint32_t *quotes) {
    const uint8_t *at = span->text, *const end = at + span->length, *found;
    uint8_t *const start = out;
    while (*quotes > 1 && (found = memchr(at, quote, (size_t)(end - at)))) {
        if (end - found < 2 || found[1] != quote)
            return NULL;
        const size_t length = (size_t)(found + 1 - at);
        memcpy(out, at, length);
        out += length;
        at = found + 2;
        *quotes -= 2;
    }
    if (at == span->text)
        return start;
    memcpy(out, at, (size_t)(end - at));
    out += end - at;
    span->text = start;
    span->length = (uint32_t)(out - start);
    return out;
}

bool split_at_ends(split_t *split, const schema_t *schema, const uint8_t *text, const uint8_t *record,
                   const uint32_t *ends, size_t count, uint32_t quotes) {
    const uint8_t quote = (uint8_t)schema->quote, *field = record;
    uint32_t left = quotes;
    if (schema->escape_backslash || !schema->escape_double || count > SPLIT_MOST)
        return false;
    split->quoted = true;
    split->backslash = split->too_many = false;
    split->open = split->torn = 0;
    for (size_t i = 0; i < count; i++) {
        const uint8_t *const end = text + ends[i];
        const uint32_t length = (uint32_t)(end - field), at = (uint32_t)(field - record);
        const bool quoted = length > 1 && *field == quote && end[-1] == quote;
        split->spans[i] = (span_t){field + quoted, length - 2 * quoted, at, length};
        left -= 2 * quoted;
        field = end + 1;
    }
    uint8_t *scratch = make_room(split, (size_t)(field - record));
    for (size_t i = 0; scratch && left && i < count; i++)
        if (split->spans[i].length != split->spans[i].raw_length &&
            !(scratch = halve_quotes(scratch, quote, &split->spans[i], &left)))
            return false;
    split->count = count;
    return scratch && !left;
}

bool split_ends_escaped(const uint8_t *record, size_t length) {
    size_t first = length;
    while (first && record[first - 1] == '\\')
        first--;
    return (length - first) % 2;
}

bool split_needs_quotes(const split_t *split, const schema_t *schema, char delimiter, const span_t *span) {
    const uint8_t *const text = span->text;
    const size_t length = span->length;
    const bool lines = memchr(text, '\n', length) || memchr(text, '\r', length);
    return memchr(text, schema->quote, length) || (lines && split->count > 1) ||
           delimiter_find(schema, delimiter, text, length, 0);
}

const span_t *split_find_needless(const split_t *split, const schema_t *schema, char delimiter) {
    for (size_t i = 0; i < split->count; i++) {
        const span_t *span = &split->spans[i];
        if (span->length && span->length != span->raw_length &&
            !split_needs_quotes(split, schema, delimiter, span))
            return span;
    }
    return NULL;
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

const uint8_t *delimiter_find_wide(const schema_t *schema, const uint8_t *text, size_t length, size_t from) {
    if (!schema->blanks)
        return memmem(text + from, length - from, schema->wide.text, schema->wide.length);
    while (from < length && !delimiter_is_blank(text[from]))
        from++;
    return from < length ? text + from : NULL;
}
