#include "format/cut/json_span.h"
#include "base/chars.h"
#include "format/cut/masks.h"

#include <string.h>

/* ---- 64 bytes at a time ---- */

/* The bytes that follow a backslash which itself does not follow one. */
static uint64_t escaped_of(uint64_t backslash, bool first) {
    const uint64_t even = 0x5555555555555555ull;
    backslash &= ~(uint64_t)first;
    const uint64_t after = backslash << 1 | first, odd_starts = backslash & ~even & ~after,
                   even_runs = odd_starts + backslash;
    return (even ^ even_runs << 1) & after;
}

/* ---- brackets ---- */

static uint8_t last_byte(const json_span_t *span, const uint8_t *text, size_t at) {
    while (at) {
        const uint8_t byte = text[--at];
        if (!json_span_is_blank(byte))
            return byte;
    }
    return span->before;
}

/* The bracket text[at], which is outside of quotes. False: it cannot be here. */
static bool take_bracket(json_span_t *span, const uint8_t *text, size_t at) {
    enum { TO_CLOSING = 2 };                          /* from [ to ], and from { to } */
    const bool deep = span->depth > JSON_SPAN_LEVELS; /* what is open there is not known */
    const uint8_t around = deep || !span->depth ? 0 : span->open[span->depth - 1];
    if (text[at] == '}' || text[at] == ']')
        return (deep || text[at] == around + TO_CLOSING) && span->depth--;
    const uint8_t before = last_byte(span, text, at);
    if (deep ? before == '}' : around == '{' ? before != ':' : around && before != ',' && before != '[')
        return false;
    if (span->depth++ < JSON_SPAN_LEVELS)
        span->open[span->depth - 1] = text[at];
    return true;
}

/* The object over text[0, 64), of which `count` bytes are there. Returns how many of them it has; the phase says whether
 * it is over. */
static size_t pass(json_span_t *span, const uint8_t *text, size_t count) {
    enum { BUT_LOW = 0xDF }; /* [ and { differ in one bit, and so do ] and } */
    const uint64_t there = masks_below(count), backslash = masks_narrow(text, MASKS_ALL, '\\'),
                   escaped = backslash || span->escaped ? escaped_of(backslash & there, span->escaped) : 0,
                   quote = masks_narrow(text, MASKS_ALL, '"') & ~escaped & there,
                   inside = masks_prefix_xor(quote) ^ span->inside,
                   broken = masks_narrow(text, MASKS_ALL, '\n') & inside & there;
    uint64_t brackets =
        (masks_narrow(text, BUT_LOW, '[') | masks_narrow(text, BUT_LOW, ']')) & ~inside & there;
    for (brackets |= broken; brackets; brackets &= brackets - 1) {
        const size_t at = (size_t)__builtin_ctzll(brackets);
        if (text[at] == '\n' || !take_bracket(span, text, at)) {
            span->phase = SPAN_BROKEN;
            return at;
        }
        if (!span->depth) {
            span->phase = SPAN_AFTER;
            span->before = '}';
            return at + 1;
        }
    }
    const uint64_t last = (uint64_t)1 << (count - 1);
    span->escaped = count < 64 ? escaped >> count & 1 : backslash >> 63 && !(escaped >> 63);
    span->inside = inside & last ? ~(uint64_t)0 : 0;
    if (!span->inside)
        span->before = last_byte(span, text, count);
    return count;
}

/* Goes on in the object as far as it goes; returns how many bytes of the text it has. */
static size_t object(json_span_t *span, const uint8_t *text, size_t length) {
    size_t at = 0;
    while (span->phase == SPAN_OBJECT && at < length) {
        uint8_t rest[64] = {0};
        const size_t count = length - at < 64 ? length - at : 64;
        at += pass(span, count < 64 ? memcpy(rest, text + at, count) : text + at, count);
    }
    return at;
}

/* ---- what is around it ---- */

typedef enum { GOES_ON, ENDS, WAITS /* for more text */ } found_t;

/* Would a [ at text[at] be an element of an array? */
static bool follows_opening(const json_span_t *span, size_t at) {
    return (span->before == ',' || span->before == '[') && at - span->mark < JSON_SPAN_BLANKS;
}

/* After the line end at hand. GOES_ON: an array follows that is an element. */
static found_t line_ends(const json_span_t *span, const uint8_t *text, size_t length, bool whole) {
    for (size_t at = span->at + 1; follows_opening(span, at); at++) {
        if (at == length)
            return whole ? ENDS : WAITS;
        if (!json_span_is_blank(text[at]))
            return text[at] == '[' ? GOES_ON : ENDS;
    }
    return ENDS;
}

static void see(json_span_t *span, uint8_t byte) {
    span->before = byte;
    span->mark = span->at + 1;
}

/* What belongs to no object; to the end of the line where there is one. */
static found_t around(json_span_t *span, const uint8_t *text, size_t length, bool whole) {
    for (; span->at < length && json_span_is_around(text[span->at]); span->at++) {
        const uint8_t byte = text[span->at];
        if (byte == '[' && follows_opening(span, span->at))
            break;
        const found_t found = byte == '\n' ? line_ends(span, text, length, whole) : GOES_ON;
        if (found != GOES_ON) {
            span->at += found == ENDS;
            return found;
        }
        if (!json_span_is_blank(byte))
            see(span, byte);
        else if (span->at - span->mark >= JSON_SPAN_BLANKS)
            return ENDS;
        if (byte == '[' || byte == ']')
            span->bracket = byte;
        if (span->phase == SPAN_BEFORE)
            span->indent = byte == ' ' || byte == '\t' ? span->indent + 1 : 0;
    }
    if (span->at == length || span->phase == SPAN_BEFORE)
        return GOES_ON;
    if (text[span->at] == '[')
        span->at = span->mark - 1;
    return ENDS;
}

/* What is no object: to the end of its line, or to a comma that a { follows; not within brackets that it opens: what is
 * there is a part of something. */
static found_t other(json_span_t *span, const uint8_t *text, size_t length, bool whole) {
    for (; span->at < length; span->at++) {
        const uint8_t byte = text[span->at];
        if (byte == '\n' && span->depth) {
            span->phase = SPAN_BROKEN;
            return GOES_ON;
        }
        if (byte == '\n') {
            const found_t found = span->inside ? ENDS : line_ends(span, text, length, whole);
            if (span->inside && span->before == ']')
                span->bracket = ']';
            span->at = found == GOES_ON ? span->mark - 1 : span->at + (found == ENDS);
            return found == WAITS ? WAITS : ENDS;
        }
        if (byte == '{' && !span->inside && !span->depth && span->before == ',')
            return ENDS;
        if (byte == '"' && !span->escaped)
            span->inside = ~span->inside;
        span->escaped = byte == '\\' && !span->escaped;
        if (!span->inside && (byte == '{' || byte == '['))
            span->depth++;
        else if (!span->inside && (byte == '}' || byte == ']') && span->depth)
            span->depth--;
        else if (!span->inside && byte == ']')
            span->bracket = byte;
        if (!json_span_is_blank(byte))
            see(span, byte);
    }
    return GOES_ON;
}

/* Does the line begin with { in the record's column, counted from a comma or 1e on? -1: the line is not complete. */
static int begins_record(const json_span_t *span, const uint8_t *line, size_t length) {
    uint32_t indent = 0;
    for (size_t i = 0; i < length; i++) {
        if (line[i] == '{')
            return indent == span->indent;
        if (i == JSON_SPAN_BLANKS)
            return 0;
        const bool blank = line[i] == ' ' || line[i] == '\t';
        if (!blank && line[i] != ',' && line[i] != 0x1E)
            return 0;
        indent = blank ? indent + 1 : 0;
    }
    return -1;
}

bool json_span_divides(const uint8_t *text, size_t at) {
    return at > 1 && text[at] == '{' && text[at - 1] == '\n' &&
           (text[at - 2] == '}' || (at > 2 && text[at - 2] == '\r' && text[at - 3] == '}'));
}

/* After an object that is none: its next line that begins a record. False: *at is where to go on. */
static bool next_record(const json_span_t *span, const uint8_t *text, size_t length, size_t *at) {
    for (;;) {
        const uint8_t *line = memchr(text + *at, '\n', length - *at);
        const size_t begins = line ? (size_t)(line - text) + 1 : length;
        *at = begins - (line != NULL);
        if (begins == length)
            return false;
        const int is =
            json_span_divides(text, begins) ? 1 : begins_record(span, text + begins, length - begins);
        if (is < 0)
            return false;
        *at = begins;
        if (is)
            return true;
    }
}

/* Goes over what the phase says. A record that is no object is known at span->at as such: its lines are read again from its
 * beginning on, as far as it is there. */
static found_t go_on(json_span_t *span, const uint8_t *text, size_t length, bool whole) {
    found_t found = GOES_ON;
    switch (span->phase) {
    case SPAN_BEFORE:
        if (text[span->at] != '{' && ((found = around(span, text, length, whole)) || span->at == length))
            return found;
        span->phase = text[span->at] == '{' ? SPAN_OBJECT : SPAN_OTHER;
        span->object = span->at;
        if (span->phase == SPAN_OTHER &&
            span->bracket == '[') /* a part of it: no array of objects begins there */
            span->bracket = 0;
        return GOES_ON;
    case SPAN_AFTER:
        return around(span, text, length, whole);
    case SPAN_OBJECT:
        span->at += object(span, text + span->at, length - span->at);
        span->mark = span->at;
        break;
    case SPAN_OTHER:
        found = other(span, text, length, whole);
        break;
    case SPAN_BROKEN:
        return next_record(span, text, length, &span->at) ? ENDS : WAITS;
    }
    if (span->phase == SPAN_BROKEN && span->object != JSON_SPAN_GONE)
        span->at = span->object;
    return found;
}

size_t json_span_find(json_span_t *span, const uint8_t *text, size_t length, bool whole) {
    found_t found = GOES_ON;
    while (found == GOES_ON && (span->at < length || span->phase == SPAN_BROKEN))
        found = go_on(span, text, length, whole);
    return found == ENDS ? span->at : whole ? length : 0;
}

size_t json_span_after(const uint8_t *text, size_t length, size_t at) {
    json_span_t span = {.at = at, .mark = at, .phase = SPAN_AFTER, .before = '}'};
    return json_span_find(&span, text, length, true);
}

uint8_t json_span_bracket(const json_span_t *span, uint8_t last) {
    const bool best_guess = span->phase == SPAN_BROKEN || (span->phase == SPAN_OTHER && span->inside);
    return last == ']' && best_guess ? ']' : span->bracket;
}

size_t json_span_forget(json_span_t *span, size_t length) {
    enum { BEFORE_LINE = 3 }; /* what json_span_divides looks at */
    const size_t needed = follows_opening(span, length) ? span->mark - 1 : span->at,
                 from = needed > BEFORE_LINE ? needed - BEFORE_LINE : 0;
    span->at -= from;
    span->mark -= from; /* it may be before the text, and is then too far away to count */
    span->object = JSON_SPAN_GONE;
    return length - from;
}

size_t json_span_begins(const uint8_t *text, size_t length) {
    const uint8_t *const end = text + length, *at = lines_blanks(text + lines_bom(text, length), end);
    while (at < end && *at == 0x1E)
        at = lines_blanks(at + 1, end);
    return (size_t)(at - text);
}
