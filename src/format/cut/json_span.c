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

static bool is_array(const json_span_t *span) {
    const uint32_t level = span->depth - 1;
    return span->arrays[level / 64] >> (level % 64) & 1;
}

static uint8_t last_byte(const json_span_t *span, const uint8_t *text, size_t at) {
    while (at) {
        const uint8_t byte = text[--at];
        if (!json_span_is_blank(byte))
            return byte;
    }
    return span->before;
}

/* May something open here? before: the last byte before it that is no blank. */
static bool may_open(const json_span_t *span, uint8_t before) {
    if (!span->depth)
        return true;
    if (span->depth > JSON_SPAN_LEVELS)
        return before != '}';
    return is_array(span) ? before == ',' || before == '[' : before == ':';
}

/* One bracket outside of quotes. False: it cannot be here. */
static bool take_bracket(json_span_t *span, uint8_t bracket, uint8_t before) {
    const bool array = bracket == '[' || bracket == ']';
    if (bracket == '{' || bracket == '[') {
        if (!may_open(span, before))
            return false;
        const uint32_t level = span->depth++;
        if (level < JSON_SPAN_LEVELS)
            span->arrays[level / 64] =
                (span->arrays[level / 64] & ~((uint64_t)1 << level % 64)) | (uint64_t)array << level % 64;
        return true;
    }
    if (span->depth <= JSON_SPAN_LEVELS && is_array(span) != array)
        return false;
    span->depth--;
    return true;
}

/* The object over text[0, 64), of which `count` bytes are there. Returns how many of them it has; the phase says whether
 * it is over. */
MASKS_INLINED size_t pass(json_span_t *span, const uint8_t *text, size_t count, masks_fn *masks) {
    enum { BUT_LOW = 0xDF }; /* [ and { differ in one bit, and so do ] and } */
    const uint64_t there = masks_below(count), backslash = masks(text, MASKS_ALL, '\\'),
                   escaped = backslash || span->escaped ? escaped_of(backslash & there, span->escaped) : 0,
                   quote = masks(text, MASKS_ALL, '"') & ~escaped & there,
                   inside = masks_prefix_xor(quote) ^ span->inside,
                   broken = masks(text, MASKS_ALL, '\n') & inside & there;
    uint64_t brackets = (masks(text, BUT_LOW, '[') | masks(text, BUT_LOW, ']')) & ~inside & there;
    if (broken)
        brackets &= (broken & -broken) - 1;
    for (; brackets; brackets &= brackets - 1) {
        const size_t at = (size_t)__builtin_ctzll(brackets);
        const uint8_t bracket = text[at];
        const bool opens = bracket == '{' || bracket == '[';
        if (!take_bracket(span, bracket, opens ? last_byte(span, text, at) : 0)) {
            span->phase = SPAN_BROKEN;
            return at;
        }
        if (!span->depth) {
            span->phase = SPAN_AFTER;
            span->before = '}';
            return at + 1;
        }
    }
    if (broken) {
        span->phase = SPAN_BROKEN;
        return (size_t)__builtin_ctzll(broken);
    }
    const uint64_t last = (uint64_t)1 << (count - 1);
    span->escaped = count < 64 ? escaped >> count & 1 : backslash >> 63 && !(escaped >> 63);
    span->inside = inside & last ? ~(uint64_t)0 : 0;
    if (!span->inside)
        span->before = last_byte(span, text, count);
    return count;
}

MASKS_INLINED size_t object_with(json_span_t *span, const uint8_t *text, size_t length, masks_fn *masks) {
    size_t at = 0;
    while (span->phase == SPAN_OBJECT && length - at >= 64)
        at += pass(span, text + at, 64, masks);
    while (span->phase == SPAN_OBJECT && at < length) {
        uint8_t rest[64] = {0};
        memcpy(rest, text + at, length - at < 64 ? length - at : 64);
        at += pass(span, rest, length - at < 64 ? length - at : 64, masks);
    }
    return at;
}

#if defined(__x86_64__)

MASKS_WIDE static size_t object_wide(json_span_t *span, const uint8_t *text, size_t length) {
    return object_with(span, text, length, masks_wide);
}

#endif

/* Goes on in the object as far as it goes; returns how many bytes of the text it has. */
static size_t object(json_span_t *span, const uint8_t *text, size_t length) {
#if defined(__x86_64__)
    if (masks_are_wide())
        return object_wide(span, text, length);
#endif
    return object_with(span, text, length, masks_narrow);
}

/* ---- what is around it ---- */

typedef enum { GOES_ON, ENDS, WAITS /* for more text */ } found_t;

/* Would a [ here be an element of an array? */
static bool follows_opening(const json_span_t *span, size_t at) {
    return (span->before == ',' || span->before == '[') && at - span->mark < JSON_SPAN_BLANKS;
}

/* After a line end, at text[at]. GOES_ON: an array follows that is an element. */
static found_t line_ends(const json_span_t *span, const uint8_t *text, size_t length, size_t at, bool whole) {
    for (; follows_opening(span, at); at++) {
        if (at == length)
            return whole ? ENDS : WAITS;
        if (!json_span_is_blank(text[at]))
            return text[at] == '[' ? GOES_ON : ENDS;
    }
    return ENDS;
}

static void see(json_span_t *span, uint8_t byte, size_t at) {
    span->before = byte;
    span->mark = at;
}

/* What belongs to no object; to the end of the line where there is one. ENDS: at *at. */
static found_t around(json_span_t *span, const uint8_t *text, size_t length, size_t *at, bool whole) {
    size_t i = *at;
    for (; i < length && json_span_is_around(text[i]); i++) {
        const uint8_t byte = text[i];
        if (byte == '[' && follows_opening(span, i))
            break;
        const found_t found = byte == '\n' ? line_ends(span, text, length, i + 1, whole) : GOES_ON;
        if (found != GOES_ON) {
            *at = i + (found == ENDS);
            return found;
        }
        if (!json_span_is_blank(byte)) {
            see(span, byte, i);
            span->blanks = 0;
        } else if (++span->blanks > JSON_SPAN_BLANKS) {
            *at = i;
            return ENDS;
        }
        if (byte == '[' || byte == ']')
            span->bracket = byte;
        if (span->phase == SPAN_BEFORE)
            span->indent = byte == ' ' || byte == '\t' ? span->indent + 1 : 0;
    }
    *at = i;
    if (i == length || span->phase == SPAN_BEFORE)
        return GOES_ON;
    if (text[i] == '[')
        *at = span->mark;
    return ENDS;
}

/* What is no object: to the end of its line, or to a comma that a { follows; not within brackets that it opens: what is
 * there is a part of something. */
static found_t other(json_span_t *span, const uint8_t *text, size_t length, size_t *at, bool whole) {
    for (size_t i = *at; i < length; i++) {
        const uint8_t byte = text[i];
        if (byte == '\n' && span->depth) {
            span->phase = SPAN_BROKEN;
            *at = i;
            return GOES_ON;
        }
        if (byte == '\n') {
            const found_t found = span->inside ? ENDS : line_ends(span, text, length, i + 1, whole);
            if (span->inside && span->before == ']')
                span->bracket = ']';
            *at = found == ENDS ? i + 1 : found == WAITS ? i : span->mark;
            return found == WAITS ? WAITS : ENDS;
        }
        if (byte == '{' && !span->inside && !span->depth && span->before == ',') {
            *at = i;
            return ENDS;
        }
        if (byte == '"' && !span->escaped)
            span->inside = ~span->inside;
        span->escaped = byte == '\\' && !span->escaped;
        if (!span->inside && (byte == '{' || byte == '['))
            span->depth++;
        else if (!span->inside && (byte == '}' || byte == ']') && span->depth)
            span->depth--;
        else if (!span->inside && byte == ']')
            span->bracket = ']';
        if (!json_span_is_blank(byte))
            see(span, byte, i);
    }
    *at = length;
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

/* Not an object, which is known at span->at: its lines are read again from its beginning on, as far as it is there. */
static void break_off(json_span_t *span) {
    if (span->phase == SPAN_BROKEN && span->object != JSON_SPAN_GONE)
        span->at = span->object;
}

/* What the first byte that is not around an object begins. */
static void begin(json_span_t *span, uint8_t byte) {
    span->phase = byte == '{' ? SPAN_OBJECT : SPAN_OTHER;
    span->object = span->at;
    span->blanks = 0;
    if (span->phase == SPAN_OTHER &&
        span->bracket == '[') /* a part of it: no array of objects begins there */
        span->bracket = 0;
}

size_t json_span_find(json_span_t *span, const uint8_t *text, size_t length, bool whole) {
    found_t found = GOES_ON;
    while (found == GOES_ON && (span->at < length || span->phase == SPAN_BROKEN)) {
        switch (span->phase) {
        case SPAN_BEFORE:
            if (text[span->at] != '{')
                found = around(span, text, length, &span->at, whole);
            if (found == GOES_ON && span->at < length)
                begin(span, text[span->at]);
            break;
        case SPAN_OBJECT:
            span->at += object(span, text + span->at, length - span->at);
            break_off(span);
            break;
        case SPAN_AFTER:
            if (text[span->at] == '\n' && span->before == '}') /* the usual end */
                return ++span->at;
            found = around(span, text, length, &span->at, whole);
            break;
        case SPAN_BROKEN:
            return next_record(span, text, length, &span->at) ? span->at : whole ? length : 0;
        case SPAN_OTHER:
            found = other(span, text, length, &span->at, whole);
            break_off(span);
            break;
        }
    }
    return found == ENDS ? span->at : whole ? length : 0;
}

size_t json_span_after(const uint8_t *text, size_t length, size_t at) {
    json_span_t span = {.at = at, .phase = SPAN_AFTER, .before = '}'};
    return json_span_find(&span, text, length, true);
}

uint8_t json_span_bracket(const json_span_t *span, uint8_t last) {
    const bool best_guess = span->phase == SPAN_BROKEN || (span->phase == SPAN_OTHER && span->inside);
    return last == ']' && best_guess ? ']' : span->bracket;
}

size_t json_span_forget(json_span_t *span, size_t length) {
    enum { BEFORE_LINE = 3 }; /* what json_span_divides looks at */
    const size_t needed = follows_opening(span, length) ? span->mark : span->at,
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
