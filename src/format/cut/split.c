#include "format/cut/split.h"
#include "format/values/values.h"

#include <stdlib.h>
#include <string.h>

/* ---- the walk over one record ---- */

typedef enum {
    QUOTE_NONE,
    QUOTE_CLOSED,
    QUOTE_ODD,  /* something else follows the second quote */
    QUOTE_OPEN, /* there is no second quote */
    QUOTE_MORE, /* the text ends too early to decide */
} quote_end_t;

/* What begins with a quote. */
typedef struct {
    quote_end_t is;
    size_t end;                   /* CLOSED: after its closing quote; ODD: of the second quote */
    bool backslash;               /* a quote after a backslash is an ordinary one */
    bool escapes, used_backslash; /* CLOSED: the field may hold anything escaped, and that by a backslash */
} quoted_t;

typedef struct {
    const schema_t *schema;
    char delimiter;
    const uint8_t *text;
    size_t length;
    bool whole;  /* nothing follows the text */
    size_t line; /* after the line end that may end the record; 0: there is none yet */
    /* where the spans go; then the text is one record without its line end. NULL: they are not wanted */
    split_t *split;
    uint8_t *escape; /* where in its scratch the next field is unescaped */
    bool failed;     /* memory was out */
} walk_t;

/* What the quote before text[at] is, by the bytes there. Of a delimiter or a CR LF only a part may be there. */
static quote_end_t after_quote(const walk_t *walk, size_t at) {
    const uint8_t *text = walk->text + at;
    const size_t left = walk->length - at;
    if (delimiter_at(walk->schema, walk->delimiter, walk->text, walk->length, at))
        return QUOTE_CLOSED;
    if (left && *text == '\n')
        return walk->split ? QUOTE_ODD : QUOTE_CLOSED;
    if (!walk->whole && left < 2 + walk->schema->wide.length)
        return QUOTE_MORE;
    return !left || (*text == '\r' && !walk->split && (left == 1 || text[1] == '\n')) ? QUOTE_CLOSED
                                                                                      : QUOTE_ODD;
}

size_t split_backslashes(const uint8_t *text, size_t length) {
    size_t first = length;
    while (first && text[first - 1] == '\\')
        first--;
    return length - first;
}

/* Looks for the end of what begins with the quote text[at]. */
static void find_close(const walk_t *walk, size_t at, quoted_t *quoted) {
    const schema_t *schema = walk->schema;
    const uint8_t *text = walk->text, mark = (uint8_t)schema->quote;
    const size_t most = walk->length < ENDS_MOST ? walk->length : ENDS_MOST;
    const uint8_t *found;
    quoted->end = 0;
    quoted->escapes = quoted->used_backslash = false;
    for (size_t from = at + 1; from < most && (found = memchr(text + from, mark, most - from));) {
        const size_t i = (size_t)(found - text),
                     signs = quoted->backslash ? split_backslashes(text + from, i - from) : 0;
        if (signs % 2 || (signs && !schema->escape_backslashes)) {
            quoted->escapes = quoted->used_backslash = true;
            from = i + 1;
        } else if (schema->escape_double && i + 1 < walk->length && text[i + 1] == mark) {
            quoted->escapes = true;
            from = i + 2;
        } else {
            quoted->is = after_quote(walk, i + 1);
            quoted->end = quoted->is == QUOTE_CLOSED ? i + 1 : i;
            if (schema->escape_backslashes && quoted->backslash && memchr(text + at, '\\', i - at))
                quoted->escapes = quoted->used_backslash = true;
            return;
        }
    }
    quoted->is = walk->whole || most == ENDS_MOST ? QUOTE_OPEN : QUOTE_MORE;
}

/* With backslashes first; where that leads to an odd end in the same line, they are ordinary characters. Not where it
 * leads into other lines: then what the record is would depend on how the next ones are quoted. */
INLINED void read_quoted(const walk_t *walk, size_t at, quoted_t *quoted) {
    quoted->backslash = walk->schema->escape_backslash;
    find_close(walk, at, quoted);
    if (quoted->backslash && ((quoted->is == QUOTE_ODD && (!walk->line || quoted->end < walk->line)) ||
                              (quoted->is == QUOTE_OPEN && !walk->schema->multiline))) {
        quoted->backslash = false;
        find_close(walk, at, quoted);
    }
}

/* Unescapes a span's text, which becomes what is written at `out`, and may be as long as before. Returns its end. */
static uint8_t *unescape(uint8_t *out, const schema_t *schema, bool backslash, span_t *span) {
    const uint8_t quote = (uint8_t)schema->quote, *text = span->text, *const end = text + span->length;
    span->text = out;
    while (text < end) {
        if (!backslash) {
            const uint8_t *found = memchr(text, quote, (size_t)(end - text));
            const size_t plain = (size_t)((found ? found : end) - text);
            memcpy(out, text, plain);
            out += plain;
            text += plain;
            if (!found)
                break;
        }
        const bool before = backslash && *text == '\\';
        if (end - text > 1 && (((*text == quote || before) && text[1] == quote) ||
                               (before && schema->escape_backslashes && text[1] == '\\')))
            text++;
        *out++ = *text++;
    }
    span->length = (uint32_t)(out - span->text);
    return out;
}

/* For all unescaped fields of a record, which together are shorter than it; some bytes after them may be read. NULL: out of
 * memory. */
static uint8_t *make_room(split_t *split, size_t length) {
    return GROW(split->scratch, split->scratch_room, length + 64, NULL) ? split->scratch : NULL;
}

static void add_span(walk_t *walk, const quoted_t *quoted, size_t at, size_t end) {
    const schema_t *schema = walk->schema;
    split_t *split = walk->split;
    const uint8_t *text = walk->text + at;
    span_t *span = &split->spans[split->count++];
    *span = (span_t){text, (uint32_t)(end - at), (uint32_t)at, (uint32_t)(end - at)};
    if (quoted->is == QUOTE_OPEN && schema->multiline && !split->open)
        split->open = at + 1;
    if (quoted->is == QUOTE_ODD && schema->multiline && !split->torn &&
        (schema->guessed || delimiter_find(schema, walk->delimiter, walk->text, quoted->end, at)))
        split->torn = at + 1;
    if (quoted->is != QUOTE_CLOSED)
        return;
    split->quoted = true;
    split->backslash |= quoted->used_backslash;
    span->text++;
    span->length -= 2;
    if (!quoted->escapes)
        return;
    if (!walk->escape && !(walk->escape = make_room(split, walk->length))) {
        walk->failed = true;
        return;
    }
    walk->escape = unescape(walk->escape, schema, quoted->backslash, span);
}

/* After the line end at or after `at`; 0: there is none yet. */
static size_t line_end(const walk_t *walk, size_t at) {
    const uint8_t *found = at < walk->length ? memchr(walk->text + at, '\n', walk->length - at) : NULL;
    return found ? (size_t)(found - walk->text) + 1 : walk->whole ? walk->length : 0;
}

/* Goes over the fields of the record that begins at text[0]. Returns where it ends; 0: the text ends before it does. split: the
 * walk's; in one of the two instances, a constant NULL. */
INLINED size_t walk_fields(walk_t *walk, const split_t *split) {
    const schema_t *schema = walk->schema;
    const uint8_t *text = walk->text;
    const char delimiter = walk->delimiter;
    const size_t length = walk->length;
    const uint8_t quote = (uint8_t)schema->quote;
    quoted_t quoted;
    for (size_t at = schema->blanks ? delimiter_at(schema, delimiter, text, length, 0) : 0;;) {
        quoted.is = QUOTE_NONE;
        if (quote && at < length && text[at] == quote) {
            read_quoted(walk, at, &quoted);
            if (quoted.is == QUOTE_MORE)
                return 0;
            const bool in_other_line = !split && walk->line && quoted.end >= walk->line;
            if ((quoted.is == QUOTE_OPEN && !split) || (quoted.is == QUOTE_ODD && in_other_line))
                return walk->line;
            if (quoted.is == QUOTE_CLOSED && in_other_line)
                walk->line = line_end(walk, quoted.end);
        }
        const size_t most = walk->line ? walk->line : length;
        size_t end = quoted.end;
        if (quoted.is != QUOTE_CLOSED) {
            const uint8_t *found = delimiter_find(schema, delimiter, text, most, at);
            end = found ? (size_t)(found - text) : most;
        }
        if (split && split->count == SPLIT_MOST)
            return 0;
        if (split)
            add_span(walk, &quoted, at, end);
        const size_t divides = delimiter_at(schema, delimiter, text, most, end);
        if (!divides)
            return walk->line;
        at = end + divides;
    }
}

size_t split_end(const schema_t *schema, char delimiter, const uint8_t *text, size_t length, bool whole) {
    walk_t walk = {.schema = schema, .delimiter = delimiter, .text = text, .length = length, .whole = whole};
    walk.line = line_end(&walk, 0);
    return walk_fields(&walk, NULL);
}

bool split_record(split_t *split, const schema_t *schema, char delimiter, const uint8_t *record,
                  size_t length) {
    split->count = 0;
    split->quoted = split->backslash = false;
    split->open = split->torn = 0;
    while (schema->blanks && length && delimiter_is_blank(record[length - 1]))
        length--;
    walk_t walk = {.schema = schema,
                   .delimiter = delimiter,
                   .text = record,
                   .length = length,
                   .whole = true,
                   .line = length,
                   .split = split};
    walk_fields(&walk, split);
    /* by another delimiter many programs leave quotes as they are */
    if (schema->guessed && schema->quote == '"' && (delimiter == ',' || delimiter == ';') && !split->torn &&
        memchr(record, '"', length))
        split->torn = split_find_torn(split, '"', true);
    return !walk.failed;
}

/* ---- what a scan has found ---- */

bool split_at_ends(split_t *split, const schema_t *schema, const uint8_t *text, const uint8_t *record,
                   const uint32_t *ends, size_t count, uint32_t quotes) {
    const uint8_t quote = (uint8_t)schema->quote, *field = record;
    uint32_t left = quotes; /* which are not around a field, nor doubled */
    const size_t length = (size_t)(text + ends[count - 1] - record);
    if (count > SPLIT_MOST || (schema->escape_backslash && memchr(record, '\\', length)))
        return false;
    uint8_t *scratch = make_room(split, length);
    split->quoted = true;
    split->backslash = false;
    split->open = split->torn = 0;
    split->count = count;
    for (size_t i = 0; scratch && i < count; i++) {
        const uint8_t *const end = text + ends[i];
        const uint32_t raw = (uint32_t)(end - field);
        const bool quoted = raw > 1 && *field == quote && end[-1] == quote;
        span_t *span = &split->spans[i];
        *span = (span_t){field + quoted, raw - 2 * quoted, (uint32_t)(field - record), raw};
        left -= 2 * quoted;
        if (quoted && schema->escape_double && memchr(span->text, quote, span->length)) {
            const uint32_t before = span->length;
            scratch = unescape(scratch, schema, false, span);
            left -= 2 * (before - span->length); /* not of a quote that stands alone */
        }
        field = end + 1;
    }
    return scratch && !left;
}

bool split_needs_quotes(const schema_t *schema, char delimiter, bool several, const uint8_t *text,
                        size_t length) {
    const bool lines = memchr(text, '\n', length) || memchr(text, '\r', length);
    return memchr(text, schema->quote, length) || (lines && several) ||
           delimiter_find(schema, delimiter, text, length, 0);
}

const span_t *split_find_needless(const split_t *split, const schema_t *schema, char delimiter) {
    for (size_t i = 0; i < split->count; i++) {
        const span_t *span = &split->spans[i];
        if (span->length && span->length != span->raw_length &&
            !split_needs_quotes(schema, delimiter, split->count > 1, span->text, span->length))
            return span;
    }
    return NULL;
}

static bool is_of_blanks(const uint8_t *text, const uint8_t *end) {
    while (text < end && delimiter_is_blank(*text))
        text++;
    return text == end;
}

size_t split_find_torn(const split_t *split, char quote, bool encloses) {
    size_t open = 0;
    for (size_t i = 0; i < split->count; i++) {
        const span_t *span = &split->spans[i];
        const uint8_t *first =
            span->length == span->raw_length ? memchr(span->text, quote, span->length) : NULL;
        if (!first)
            continue;
        const uint8_t *const end = span->text + span->length,
                             *last = memrchr(first, quote, (size_t)(end - first));
        size_t quotes = 0;
        for (const uint8_t *at = first; at <= last; at++)
            quotes += *at == (uint8_t)quote;
        if (quotes % 2 && open && last + 1 == end && first > span->text && !delimiter_is_blank(last[-1]))
            return open;
        const bool opens = quotes % 2 && last + 1 < end && !delimiter_is_blank(last[1]) &&
                           !(encloses && last > span->text && is_of_blanks(span->text, last));
        open = opens ? span->at + (size_t)(last - span->text) + 1 : 0;
    }
    return 0;
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

/* ---- records of several lines ---- */

bool split_torn_lines(split_t *split, const schema_t *schema, char delimiter, size_t columns,
                      const uint8_t *record, size_t length, uint32_t *torn) {
    enum { SELDOM = 5 };                    /* one line in this number may look otherwise */
    schema_t alone[2] = {*schema, *schema}; /* with quotes, and with quotes as ordinary characters */
    length -= length && record[length - 1] == '\r';
    const uint8_t *line = record, *const end = record + length, *feed = memchr(record, '\n', length);
    size_t count = 0, odd = 0;
    uint32_t at = 0;
    *torn = 0;
    if (columns < 2)
        return true;
    if (!split_record(split, schema, delimiter, record, length))
        return false;
    for (size_t i = 0; i < split->count && split->spans[i].at <= (size_t)(feed - record); i++)
        at = split->spans[i].at + 1;
    alone[0].multiline = alone[1].multiline = false;
    alone[1].quote = 0;
    while (feed) {
        feed = memchr(line, '\n', (size_t)(end - line));
        size_t left = (size_t)((feed ? feed : end) - line);
        left -= left && line[left - 1] == '\r';
        bool fits = !left || (count && schema_is_comment(schema, *line)); /* no record */
        for (size_t i = 0; !fits && i < 2; i++) {
            if (!split_record(split, &alone[i], delimiter, line, left))
                return false;
            fits = split_is_sound(split) &&
                   (split->count == columns || (schema->surplus_field >= 0 && split->count > columns));
            count += fits;
        }
        if (!fits && (!count || !feed))
            return true;
        odd += !fits;
        line = feed ? feed + 1 : end;
    }
    *torn = count > 1 && odd <= 1 + count / SELDOM ? at : 0;
    return true;
}
