#include "format/cut/ends.h"
#include "base/chars.h"
#include "format/cut/masks.h"

#include <stdatomic.h>
#include <string.h>

/* ---- one record ---- */

size_t ends_find(const schema_t *schema, char delimiter, const uint8_t *text, size_t length, bool whole) {
    bool lies;
    if (schema->kind == RECORDS_JSON)
        return json_span_find(&(json_span_t){0}, text, length, whole);
    if (schema->kind == RECORDS_BSON) {
        const size_t document = bson_span_find(text, length, &lies);
        return document || !whole ? document : length;
    }
    if (schema->multiline)
        return split_end(schema, delimiter, text, length, whole);
    const uint8_t *feed = length ? memchr(text, '\n', length) : NULL;
    return feed ? (size_t)(feed - text) + 1 : whole ? length : 0;
}

/* ---- 64 bytes at a time: the same, or the news that a record needs a closer look ---- */

static const ends_quotes_t FRESH = {.starts = 1};

/* What was found in 64 bytes, one bit for each. */
typedef struct {
    uint64_t line, end, quote, high;
} found_t;

/* Moves the state over text[0, 64), of which the bits `within` count, and text[64] is there; `begun` bytes of the record are before
 * it. Finds all up to the last line end that is certain. Returns where anything is that is not plainly right, which is never in a
 * record before the one that needs the closer look. */
INLINED uint64_t pass(const schema_t *schema, char delimiter, ends_quotes_t *state, const uint8_t *text,
                      uint64_t within, size_t begun, found_t *found, masks_fn *masks) {
    const uint64_t line = masks(text, MASKS_ALL, '\n') & within,
                   divides = masks(text, MASKS_ALL, (uint8_t)delimiter) & within,
                   quote = masks(text, MASKS_ALL, (uint8_t)schema->quote) & within,
                   carriage = masks(text, MASKS_ALL, '\r') & (line >> 1 | (uint64_t)(text[64] == '\n') << 63);
    const uint64_t inside = masks_prefix_xor(quote) ^ state->inside, open = quote & inside,
                   close = quote & ~inside, ends = (line | divides) & ~inside,
                   starts = ends << 1 | state->starts, after = close << 1 | state->closed;
    uint64_t odd = (open & ~(starts | after)) | (after & ~(divides | line | quote | carriage));
    const bool far = (quote || state->inside) && begun + 64 > ENDS_MOST; /* its quotes may not count */
    if (!schema->escape_double)
        odd |= open & after;
    if (schema_is_wide(schema))
        odd |= quote;
    uint64_t backslash = 0;
    if (schema->escape_backslash) {
        backslash = masks(text, MASKS_ALL, '\\');
        odd |= quote & (backslash << 1 | state->backslash);
    }
    *state = (ends_quotes_t){
        .inside = (uint64_t)((int64_t)inside >> 63),
        .starts = ends >> 63,
        .closed = close >> 63,
        .backslash = backslash >> 63,
    };
    odd = far ? within : odd & within;
    uint64_t kept = ~(uint64_t)0;
    found->line = line & ~inside;
    if (odd) {
        found->line &= masks_below((uint64_t)__builtin_ctzll(odd));
        kept = found->line ? ~(uint64_t)0 >> __builtin_clzll(found->line) : 0;
    }
    found->end = ends & kept;
    found->quote = quote & kept;
    found->high = masks(text, MASKS_HIGH, MASKS_HIGH) & within & kept;
    return odd;
}

ends_t ends_begin(const schema_t *schema, char delimiter) {
    return (ends_t){.schema = schema, .delimiter = delimiter, .quotes = FRESH};
}

INLINED bool on(ends_t *ends, const uint8_t *text, size_t length, bool all, size_t from, masks_fn *masks) {
    while (ends->record < from || !ends->record) {
        if (ends->odd || ends->at + 64 >= length) {
            if ((!ends->odd && !all && length - ends->record < ENDS_MOST) || ends->record == length)
                return false;
            const size_t end = ends_find(ends->schema, ends->delimiter, text + ends->record,
                                         length - ends->record, false); /* byte by byte */
            ends->odd = !end;
            if (!end)
                return false;
            ends->at = ends->record += end;
            ends->quotes = FRESH;
            continue;
        }
        found_t found;
        ends->odd = pass(ends->schema, ends->delimiter, &ends->quotes, text + ends->at, ~(uint64_t)0,
                         ends->at - ends->record, &found, masks) != 0;
        const size_t wanted = from > ends->at + 1 ? from - ends->at - 1 : 0;
        const uint64_t enough = wanted < 64 ? found.line & ~masks_below(wanted) : 0;
        if (enough) {
            ends->at = ends->record = ends->at + (size_t)__builtin_ctzll(enough) + 1;
            ends->quotes = FRESH;
            ends->odd = false;
            return true;
        }
        if (found.line)
            ends->record = ends->at + 64 - (size_t)__builtin_clzll(found.line);
        ends->at += 64;
    }
    return true;
}

/* Appends the positions of the bits. Writes up to 8 (16) at once: that is cheaper than a test for each. */
INLINED void append(scan_t *scan, uint32_t base, found_t found) {
    uint64_t bits = found.end;
    uint32_t *out = scan->ends + scan->end_count;
    int count = __builtin_popcountll(bits);
    for (uint64_t line = found.line; line; line &= line - 1) {
        uint64_t below = line ^ (line - 1);
        scan->row_quotes[scan->row_count] =
            scan->quote_count + (uint32_t)__builtin_popcountll(found.quote & below);
        scan->rows[scan->row_count++] =
            (uint32_t)(scan->end_count + (size_t)__builtin_popcountll(bits & below));
    }
    scan->end_count += (size_t)count;
    scan->high |= found.high != 0;
    scan->quotes |= found.quote != 0;
    scan->quote_count += (uint32_t)__builtin_popcountll(found.quote);
#define ONE(i) (out[i] = base + (uint32_t)__builtin_ctzll(bits | 1ull << 63), bits &= bits - 1)
    ONE(0), ONE(1), ONE(2), ONE(3), ONE(4), ONE(5), ONE(6), ONE(7);
    if (__builtin_expect(count > 8, 1)) {
        ONE(8), ONE(9), ONE(10), ONE(11), ONE(12), ONE(13), ONE(14), ONE(15);
        for (int i = 16; i < count; i++)
            ONE(i);
    }
#undef ONE
}

/* The record at hand, byte by byte, as one row with one end: split reads it. Returns where it ends. */
static uint32_t scan_closer(const schema_t *schema, char delimiter, const uint8_t *text, uint32_t length,
                            uint32_t record, scan_t *scan) {
    const uint32_t end =
        record + (uint32_t)ends_find(schema, delimiter, text + record, length - record, true);
    const bool feed = text[end - 1] == '\n';
    /* what was appended of it before is taken back */
    scan->end_count = scan->row_count ? scan->rows[scan->row_count - 1] : 0;
    scan->quote_count = (scan->row_count ? scan->row_quotes[scan->row_count - 1] : 0) + 1;
    scan->ends[scan->end_count++] = end - feed;
    scan->row_quotes[scan->row_count] = scan->quote_count;
    scan->rows[scan->row_count++] = (uint32_t)scan->end_count;
    scan->high = scan->quotes = true; /* it is read with all checks */
    scan->state = FRESH;
    return end;
}

/* Where each line end ends a record. */
INLINED uint32_t scan_lines(const schema_t *schema, char delimiter, const uint8_t *text, uint32_t from,
                            uint32_t to, scan_t *scan, masks_fn *masks) {
    const uint64_t with_quotes = schema->quote ? ~(uint64_t)0 : 0;
    for (uint32_t at = from; at < to; at += 64) {
        const uint64_t within = masks_below(to - at), line = masks(text + at, MASKS_ALL, '\n') & within;
        append(scan, at,
               (found_t){.line = line,
                         .end = line | (masks(text + at, MASKS_ALL, (uint8_t)delimiter) & within),
                         .quote = masks(text + at, MASKS_ALL, (uint8_t)schema->quote) & with_quotes & within,
                         .high = masks(text + at, MASKS_HIGH, MASKS_HIGH) & within});
    }
    return to;
}

INLINED uint32_t scan(const schema_t *schema, char delimiter, const uint8_t *text, uint32_t length,
                      uint32_t record, uint32_t from, uint32_t to, scan_t *scan, masks_fn *masks) {
    if (!schema->multiline)
        return scan_lines(schema, delimiter, text, from, to, scan, masks);
    uint32_t at = from;
    if (record == from)
        scan->state = FRESH;
    for (;;) {
        /* nothing closes the last quote */
        uint64_t odd = at >= length && record < length && scan->state.inside;
        if (!odd && at >= to)
            return at;
        if (!odd) {
            found_t found;
            odd = pass(schema, delimiter, &scan->state, text + at, masks_below(length - at), at - record,
                       &found, masks);
            append(scan, at, found);
            if (found.line)
                record = at + 64 - (uint32_t)__builtin_clzll(found.line);
            at = length - at < 64 ? length : at + 64;
        }
        if (odd)
            at = record = scan_closer(schema, delimiter, text, length, record, scan);
        if (at < from) /* the scan has room for what lies between `from` and `to` */
            return at;
    }
}

#if defined(__x86_64__)

/* By the CPU itself, and not by __builtin_cpu_supports, which says no where zig links its own library of the compiler. */
static bool ask_cpu(void) {
    uint32_t a, b, c, d, kept, high;
    if (!__get_cpuid(1, &a, &b, &c, &d) || !(c & bit_OSXSAVE))
        return false;
    __asm__ volatile("xgetbv" : "=a"(kept), "=d"(high) : "c"(0));
    const uint32_t registers = 6, wanted = bit_AVX2 | bit_BMI2;
    return (kept & registers) == registers && __get_cpuid_count(7, 0, &a, &b, &c, &d) &&
           (b & wanted) == wanted;
}

bool masks_are_wide(void) {
    static atomic_int known; /* 1: no, 2: yes; asking takes a virtual machine microseconds */
    if (!known)
        known = 1 + ask_cpu();
    return known == 2;
}

MASKS_WIDE static bool on_wide(ends_t *ends, const uint8_t *text, size_t length, bool all, size_t from) {
    return on(ends, text, length, all, from, masks_wide);
}

MASKS_WIDE static uint32_t scan_wide(const schema_t *schema, char delimiter, const uint8_t *text,
                                     uint32_t length, uint32_t record, uint32_t from, uint32_t to,
                                     scan_t *found) {
    return scan(schema, delimiter, text, length, record, from, to, found, masks_wide);
}

#endif

/* ---- JSON and BSON ---- */

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

static bool on_objects(ends_t *ends, const uint8_t *text, size_t length, size_t from) {
    const bool json = ends->schema->kind == RECORDS_JSON;
    if (json && !ends->array && length)
        jump(ends, text, length, from);
    while (ends->record < from || !ends->record) {
        const uint8_t *record = text + ends->record;
        const size_t left = length - ends->record;
        if (ends->bracket == ENDS_PERHAPS && left)
            ends->bracket = *record == '{' ? 0 : '[';
        const size_t end = json ? json_span_find(&ends->json, record, left, false)
                                : bson_span_find(record, left, &ends->lies);
        if (!end)
            return false;
        if (ends->json.bracket)
            ends->bracket = ends->json.bracket;
        if (ends->bracket == '[' && !ends->array && json_span_ends_line(record, end))
            ends->bracket = ENDS_PERHAPS;
        ends->at = ends->record += end;
        if (json)
            ends->json = (json_span_t){0};
    }
    return true;
}

uint8_t ends_bracket(const ends_t *ends, uint8_t last) {
    const uint8_t bracket = json_span_bracket(&ends->json, last);
    return bracket ? bracket : ends->bracket;
}

void ends_say_cut_off(const char *name, err_t *err) {
    err_set(err, STATUS_INPUT,
            "%s ends within an array that is not closed: it was cut off, or is still being written; its "
            "records before that are read. Get the whole file, and run the command again",
            name);
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
    if (schema_any_fields(ends->schema))
        return on_objects(ends, text, length, from);
#if defined(__x86_64__)
    if (masks_are_wide())
        return on_wide(ends, text, length, all, from);
#endif
    return on(ends, text, length, all, from, masks_narrow);
}

uint32_t ends_scan(const schema_t *schema, char delimiter, const uint8_t *text, uint32_t length,
                   uint32_t record, uint32_t from, uint32_t to, scan_t *found) {
#if defined(__x86_64__)
    if (masks_are_wide())
        return scan_wide(schema, delimiter, text, length, record, from, to, found);
#endif
    return scan(schema, delimiter, text, length, record, from, to, found, masks_narrow);
}
