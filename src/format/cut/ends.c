#include "format/cut/ends.h"
#include "base/chars.h"
#include "format/cut/delimiter.h"
#include "format/cut/masks.h"

#include <string.h>

/* ---- one record, byte by byte: what counts ---- */

/* The byte after a quote ends its field? MORE: it is not there yet. */
static quote_end_t ends_field(const schema_t *schema, char delimiter, const quote_t *quote,
                              const uint8_t *record, size_t length, size_t at) {
    if (at == length)
        return quote->whole ? QUOTE_CLOSED : QUOTE_MORE;
    if (delimiter_at(schema, delimiter, record, length, at))
        return QUOTE_CLOSED;
    if (!quote->whole && length - at < schema->wide.length &&
        memcmp(record + at, schema->wide.text, length - at) == 0)
        return QUOTE_MORE;
    if (quote->bare)
        return QUOTE_ODD;
    if (record[at] == '\n')
        return QUOTE_CLOSED;
    if (record[at] != '\r')
        return QUOTE_ODD;
    if (at + 1 == length)
        return quote->whole ? QUOTE_CLOSED : QUOTE_MORE;
    return record[at + 1] == '\n' ? QUOTE_CLOSED : QUOTE_ODD;
}

/* Does the backslash before text[at] stand for itself, as the second of two? They are counted from `from` on. */
static bool is_second(const schema_t *schema, const uint8_t *text, size_t from, size_t at) {
    size_t first = at;
    while (schema->escape_backslashes && first > from && text[first - 1] == '\\')
        first--;
    return (at - first) % 2 == 0 && first < at;
}

quote_end_t ends_quote(const schema_t *schema, char delimiter, const uint8_t *record, size_t length,
                       size_t at, quote_t *quote, size_t *end) {
    const uint8_t mark = (uint8_t)schema->quote;
    const size_t most = length < ENDS_MOST ? length : ENDS_MOST;
    quote->escapes = quote->used_backslash = false;
    for (size_t from = at + 1; from < most;) {
        const uint8_t *found = memchr(record + from, mark, most - from);
        if (!found)
            break;
        const size_t i = (size_t)(found - record);
        if (quote->backslash && i > from && record[i - 1] == '\\' && !is_second(schema, record, from, i)) {
            quote->escapes = quote->used_backslash = true;
            from = i + 1;
            continue;
        }
        const bool doubled = schema->escape_double && i + 1 < length && record[i + 1] == mark;
        if (!doubled) {
            const quote_end_t is = ends_field(schema, delimiter, quote, record, length, i + 1);
            *end = is == QUOTE_CLOSED ? i + 1 : i;
            if (schema->escape_backslashes && quote->backslash && memchr(record + at, '\\', i - at))
                quote->escapes = quote->used_backslash = true;
            return is;
        }
        quote->escapes = true;
        from = i + 2;
    }
    return quote->whole || most == ENDS_MOST ? QUOTE_OPEN : QUOTE_MORE;
}

/* With backslashes first; where that leads to an odd end in the same line, they are ordinary characters. Not where it
 * leads into other lines: then what the record is would depend on how the next ones are quoted. */
static quote_end_t quote_end(const schema_t *schema, char delimiter, const uint8_t *text, size_t length,
                             size_t at, size_t line, bool whole, size_t *end) {
    quote_t quote = {.whole = whole, .backslash = schema->escape_backslash};
    quote_end_t is = ends_quote(schema, delimiter, text, length, at, &quote, end);
    if (schema->escape_backslash && is == QUOTE_ODD && (!line || *end < line)) {
        quote.backslash = false;
        is = ends_quote(schema, delimiter, text, length, at, &quote, end);
    }
    return is;
}

/* After the line end at or after `at`; 0: there is none yet. */
static size_t line_end(const uint8_t *text, size_t length, size_t at, bool whole) {
    const uint8_t *found = at < length ? memchr(text + at, '\n', length - at) : NULL;
    return found ? (size_t)(found - text) + 1 : whole ? length : 0;
}

static size_t find_bson(const uint8_t *text, size_t length, bool whole) {
    bool lies;
    const size_t document = bson_span_find(text, length, &lies);
    return document || !whole ? document : length;
}

size_t ends_find(const schema_t *schema, char delimiter, const uint8_t *text, size_t length, bool whole) {
    if (schema->kind == RECORDS_JSON)
        return json_span_find(&(json_span_t){0}, text, length, whole);
    if (schema->kind == RECORDS_BSON)
        return find_bson(text, length, whole);
    const char sign = schema_line_sign(schema);
    if (!schema->multiline || (sign && length && *text == (uint8_t)sign))
        return line_end(text, length, 0, whole);
    size_t line = line_end(text, length, 0, whole);
    for (size_t at = delimiter_skip(schema, text, length);;) {
        if (at < length && text[at] == (uint8_t)schema->quote) {
            size_t end;
            const quote_end_t is = quote_end(schema, delimiter, text, length, at, line, whole, &end);
            if (is == QUOTE_MORE)
                return 0;
            if (is == QUOTE_OPEN || (is == QUOTE_ODD && line && end >= line))
                return line;
            if (is == QUOTE_CLOSED)
                at = end;
            if (line && at >= line)
                line = line_end(text, length, at, whole);
        }
        const size_t most = line ? line : length;
        const uint8_t *found = delimiter_find(schema, delimiter, text, most, at);
        if (!found)
            return line;
        at = (size_t)(found - text);
        at += delimiter_at(schema, delimiter, text, most, at);
    }
}

/* ---- 64 bytes at a time: the same, or the news that a record needs a closer look ---- */

typedef struct {
    uint64_t line, delimiter, quote, carriage, backslash, high;
    uint64_t comment; /* where there are any */
} bytes_t;

typedef struct {
    char delimiter, quote, comment;
} wanted_t;

/* Reads text[0, 64). */
typedef void bytes_fn(const uint8_t *text, const wanted_t *wanted, bytes_t *bytes);

static uint64_t one(bool is, int bit) {
    return (uint64_t)is << bit;
}

MASKS_INLINED void bytes_plain(const uint8_t *text, const wanted_t *wanted, bytes_t *bytes) {
    *bytes = (bytes_t){.line = 0};
    for (int i = 0; i < 64; i++) {
        bytes->line |= one(text[i] == '\n', i);
        bytes->delimiter |= one(text[i] == (uint8_t)wanted->delimiter, i);
        bytes->quote |= one(text[i] == (uint8_t)wanted->quote, i);
        bytes->carriage |= one(text[i] == '\r', i);
        bytes->backslash |= one(text[i] == '\\', i);
        bytes->high |= one(text[i] > 0x7F, i);
        bytes->comment |= one(wanted->comment && text[i] == (uint8_t)wanted->comment, i);
    }
}

#if defined(__x86_64__)

MASKS_WIDE MASKS_INLINED void bytes_avx2(const uint8_t *text, const wanted_t *wanted, bytes_t *bytes) {
    const __m256i a = _mm256_loadu_si256((const __m256i *)(const void *)text),
                  b = _mm256_loadu_si256((const __m256i *)(const void *)(text + 32));
    bytes->line = masks_same(a, b, '\n');
    bytes->delimiter = masks_same(a, b, wanted->delimiter);
    bytes->quote = masks_same(a, b, wanted->quote);
    bytes->carriage = masks_same(a, b, '\r');
    bytes->backslash = masks_same(a, b, '\\');
    bytes->high = masks_high(a, b);
    bytes->comment = wanted->comment ? masks_same(a, b, wanted->comment) : 0;
}

#endif

/* Moves the state over 64 bytes; next: the byte after them. *outside: not in quotes. Returns where anything is that is not
 * plainly right: which is never in a record before the one that needs the closer look. */
MASKS_INLINED uint64_t pass(const schema_t *schema, scan_quotes_t *state, const bytes_t *bytes, uint8_t next,
                            uint64_t *outside) {
    const uint64_t inside = masks_prefix_xor(bytes->quote) ^ state->inside, open = bytes->quote & inside,
                   close = bytes->quote & ~inside, ends = (bytes->line | bytes->delimiter) & ~inside,
                   starts = ends << 1 | state->starts, after = close << 1 | state->closed,
                   carriage = bytes->carriage & (bytes->line >> 1 | one(next == '\n', 63));
    uint64_t odd =
        (open & ~(starts | after)) | (after & ~(bytes->delimiter | bytes->line | bytes->quote | carriage));
    if (!schema->escape_double)
        odd |= open & after;
    if (schema_is_wide(schema))
        odd |= bytes->quote;
    if (schema->escape_backslash)
        odd |= bytes->quote & (bytes->backslash << 1 | state->backslash);
    *state = (scan_quotes_t){
        .inside = (uint64_t)((int64_t)inside >> 63),
        .starts = ends >> 63,
        .closed = close >> 63,
        .backslash = bytes->backslash >> 63,
    };
    *outside = ~inside;
    return odd;
}

/* Where comments begin; fresh: a record begins at the first byte. Quotes in them are none. */
MASKS_INLINED uint64_t comments(const bytes_t *bytes, uint64_t outside, bool fresh) {
    return bytes->comment & ((bytes->line & outside) << 1 | fresh);
}

static const scan_quotes_t FRESH = {.starts = 1};

/* Is the record so long that its quotes may be too far away to count? */
static bool is_far(const bytes_t *bytes, const scan_quotes_t *state, size_t record, size_t at) {
    return (bytes->quote || state->inside) && at + 64 - record > ENDS_MOST;
}

static uint64_t below(int bit) {
    return ((uint64_t)1 << bit) - 1;
}

ends_t ends_begin(const schema_t *schema, char delimiter) {
    return (ends_t){.schema = schema, .delimiter = delimiter, .quotes = FRESH};
}

/* The record at hand, byte by byte. False: the text ends before the record does. */
static bool look_closer(ends_t *ends, const uint8_t *text, size_t length) {
    const size_t end =
        ends_find(ends->schema, ends->delimiter, text + ends->record, length - ends->record, false);
    ends->odd = !end;
    if (!end)
        return false;
    ends->at = ends->record += end;
    ends->quotes = FRESH;
    return true;
}

MASKS_INLINED bool on(ends_t *ends, const uint8_t *text, size_t length, bool all, size_t from,
                      bytes_fn *bytes_of) {
    const wanted_t wanted = {ends->delimiter, ends->schema->quote, schema_line_sign(ends->schema)};
    bytes_t bytes;
    while (ends->record < from || !ends->record) {
        /* the byte after the 64 counts, too */
        if (ends->odd || ends->at + 64 >= length) {
            if ((!ends->odd && !all && length - ends->record < ENDS_MOST) || ends->record == length ||
                !look_closer(ends, text, length))
                return false;
            continue;
        }
        bytes_of(text + ends->at, &wanted, &bytes);
        uint64_t outside;
        const scan_quotes_t before = ends->quotes;
        const uint64_t far = is_far(&bytes, &before, ends->record, ends->at) ? ~(uint64_t)0 : 0,
                       unplain = pass(ends->schema, &ends->quotes, &bytes, text[ends->at + 64], &outside),
                       odd = far | unplain | comments(&bytes, outside, ends->record == ends->at);
        uint64_t lines = bytes.line & outside;
        if (odd)
            lines &= below(__builtin_ctzll(odd));
        const size_t wanted_at = from > ends->at + 1 ? from - ends->at - 1 : 0;
        const uint64_t enough = wanted_at < 64 ? lines & ~below((int)wanted_at) : 0;
        if (enough) {
            ends->at = ends->record = ends->at + (size_t)__builtin_ctzll(enough) + 1;
            ends->quotes = FRESH;
            return true;
        }
        if (lines)
            ends->record = ends->at + 64 - (size_t)__builtin_clzll(lines);
        ends->at += 64;
        ends->odd = odd != 0;
    }
    return true;
}

/* The record at hand, byte by byte, as one row with its first field's end: split reads it. Returns where it ends. */
static uint32_t scan_closer(const schema_t *schema, char delimiter, const uint8_t *text, uint32_t length,
                            uint32_t record, scan_t *scan) {
    const uint32_t end =
        record + (uint32_t)ends_find(schema, delimiter, text + record, length - record, true);
    const bool feed = text[end - 1] == '\n';
    const uint8_t *first = memchr(text + record, delimiter, end - feed - record);
    uint32_t quotes = 1; /* one more than there are: so they never look as if they only enclosed fields */
    for (uint32_t i = record; i < end; i++)
        quotes += text[i] == (uint8_t)schema->quote;
    /* what was appended of it before is taken back */
    scan->end_count = scan->row_count ? scan->rows[scan->row_count - 1] : 0;
    scan->quote_count = (scan->row_count ? scan->row_quotes[scan->row_count - 1] : 0) + quotes;
    if (first && text[record] != (uint8_t)schema->quote)
        scan->ends[scan->end_count++] = (uint32_t)(first - text);
    scan->ends[scan->end_count++] = end - feed;
    scan->row_quotes[scan->row_count] = scan->quote_count;
    scan->rows[scan->row_count++] = (uint32_t)scan->end_count;
    scan->high = scan->quotes = true; /* it is read with all checks */
    scan->state = FRESH;
    return end;
}

MASKS_INLINED uint32_t scan_with(const schema_t *schema, char delimiter, const uint8_t *text, uint32_t length,
                                 uint32_t record, uint32_t from, uint32_t to, scan_t *scan,
                                 bytes_fn *bytes_of) {
    const wanted_t wanted = {delimiter, schema->quote, schema_line_sign(schema)};
    bytes_t bytes;
    uint32_t at = from;
    if (record == from)
        scan->state = FRESH;
    for (;;) {
        /* nothing closes the last quote */
        const bool open = at >= length && record < length && scan->state.inside;
        if (!open && at >= to)
            return at;
        uint64_t outside = 0, odd = open, lines = 0;
        if (!open) {
            bytes_of(text + at, &wanted, &bytes);
            const uint64_t within = length - at < 64 ? below((int)(length - at)) : ~(uint64_t)0;
            if (length - at < 64)
                bytes = (bytes_t){bytes.line & within,     bytes.delimiter & within, bytes.quote & within,
                                  bytes.carriage & within, bytes.backslash & within, bytes.high & within,
                                  bytes.comment & within};
            const bool far = is_far(&bytes, &scan->state, record, at);
            odd = pass(schema, &scan->state, &bytes, text[at + 64], &outside) & within;
            odd |= comments(&bytes, outside, record == at);
            odd = far ? within : odd;
            lines = bytes.line & outside;
            uint64_t kept = ~(uint64_t)0;
            if (odd) {
                lines &= below(__builtin_ctzll(odd));
                kept = lines ? ~(uint64_t)0 >> __builtin_clzll(lines) : 0;
            }
            masks_append(scan, at,
                         (masks_t){.line = lines,
                                   .end = (bytes.line | bytes.delimiter) & outside & kept,
                                   .quote = bytes.quote & kept,
                                   .high = bytes.high & kept});
            if (lines)
                record = at + 64 - (uint32_t)__builtin_clzll(lines);
            at = length - at < 64 ? length : at + 64;
        }
        if (odd)
            at = record = scan_closer(schema, delimiter, text, length, record, scan);
        if (at < from) /* the scan has room for what lies between `from` and `to` */
            return at;
    }
}

#if defined(__x86_64__)

MASKS_WIDE static bool on_wide(ends_t *ends, const uint8_t *text, size_t length, bool all, size_t from) {
    return on(ends, text, length, all, from, bytes_avx2);
}

MASKS_WIDE static uint32_t scan_wide(const schema_t *schema, char delimiter, const uint8_t *text,
                                     uint32_t length, uint32_t record, uint32_t from, uint32_t to,
                                     scan_t *scan) {
    return scan_with(schema, delimiter, text, length, record, from, to, scan, bytes_avx2);
}

#endif

/* Goes to the last place at or before `from` where one record ends and another begins, whatever comes before; not of a text
 * that is an array, whose brackets count. A few lines are enough: where none of them is such a place, few others are. */
static void jump(ends_t *ends, const uint8_t *text, size_t length, size_t from) {
    enum { LINES = 8 };
    size_t to = from < length ? from : length - 1;
    for (int i = 0; i < LINES && to > ends->record; i++) {
        const uint8_t *line = memrchr(text + ends->record, '\n', to - ends->record);
        if (!line)
            return;
        to = (size_t)(line - text);
        if (!json_span_divides(text, to + 1))
            continue;
        ends->at = ends->record = to + 1;
        ends->json = (json_span_t){0};
        ends->bracket = 0;
        return;
    }
}

/* Does a record with its line end, text[0, length), end with an object and a line end? */
static bool ends_its_line(const uint8_t *text, size_t length) {
    return length > 2 && text[length - 1] == '\n' &&
           (text[length - 2] == '}' || (text[length - 2] == '\r' && text[length - 3] == '}'));
}

static bool on_json(ends_t *ends, const uint8_t *text, size_t length, size_t from) {
    if (!ends->array && length)
        jump(ends, text, length, from);
    while (ends->record < from || !ends->record) {
        if (ends->bracket == ENDS_PERHAPS && ends->record < length)
            ends->bracket = text[ends->record] == '{' ? 0 : '[';
        const size_t end = json_span_find(&ends->json, text + ends->record, length - ends->record, false);
        if (!end)
            return false;
        if (ends->json.bracket)
            ends->bracket = ends->json.bracket;
        if (ends->bracket == '[' && !ends->array && ends_its_line(text + ends->record, end))
            ends->bracket = ENDS_PERHAPS;
        ends->at = ends->record += end;
        ends->json = (json_span_t){0};
    }
    return true;
}

static bool on_bson(ends_t *ends, const uint8_t *text, size_t length, size_t from) {
    while (ends->record < from || !ends->record) {
        const size_t end = bson_span_find(text + ends->record, length - ends->record, &ends->lies);
        if (!end)
            return false;
        ends->at = ends->record += end;
    }
    return true;
}

uint8_t ends_bracket(const ends_t *ends, uint8_t last) {
    const uint8_t bracket = json_span_bracket(&ends->json, last);
    return bracket ? bracket : ends->bracket;
}

void ends_say_cut_off(const char *name, const char *within, err_t *err) {
    err_set(err, STATUS_INPUT,
            "%s ends within an array that is not closed%s: it was cut off, or is still being written%s; its "
            "records before that are read. Get the whole file, and run the command again",
            name, within, *within ? ", or that object is not closed" : "");
}

uint8_t ends_last_byte(const uint8_t *text, size_t length) {
    while (length && json_span_is_blank(text[length - 1]))
        length--;
    return length ? text[length - 1] : 0;
}

uint64_t ends_lines(const schema_t *schema, const uint8_t *text, size_t length) {
    return schema->kind == RECORDS_BSON ? bson_span_count(&(bson_span_counter_t){0}, text, length)
                                        : lines_count(text, length);
}

bool ends_on(ends_t *ends, const uint8_t *text, size_t length, bool all, size_t from) {
    if (ends->schema->kind == RECORDS_JSON)
        return on_json(ends, text, length, from);
    if (ends->schema->kind == RECORDS_BSON)
        return on_bson(ends, text, length, from);
#if defined(__x86_64__)
    if (masks_are_wide())
        return on_wide(ends, text, length, all, from);
#endif
    return on(ends, text, length, all, from, bytes_plain);
}

uint32_t ends_scan(const schema_t *schema, char delimiter, const uint8_t *text, uint32_t length,
                   uint32_t record, uint32_t from, uint32_t to, scan_t *scan) {
#if defined(__x86_64__)
    if (masks_are_wide())
        return scan_wide(schema, delimiter, text, length, record, from, to, scan);
#endif
    return scan_with(schema, delimiter, text, length, record, from, to, scan, bytes_plain);
}
