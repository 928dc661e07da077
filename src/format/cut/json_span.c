#include "base/chars.h"
#include "format/cut/ends.h"

#include <string.h>

typedef enum { GOES_ON, ENDS, WAITS /* for more text */ } found_t;

static void see(json_span_t *span, uint8_t byte) {
    span->before = byte;
    span->mark = span->at + 1;
}

/* ---- what is around an object ---- */

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

/* ---- objects, and what is none ---- */

/* A byte outside of quotes. False: it is a bracket that cannot be here in an object. */
static bool take(json_span_t *span, uint8_t byte) {
    enum { TO_CLOSING = 2 };                          /* from [ to ], and from { to } */
    const bool deep = span->depth > JSON_SPAN_LEVELS; /* what is open there is not known */
    const uint8_t around = deep || !span->depth ? 0 : span->open[span->depth - 1], before = span->before;
    switch (byte) {
    case '}':
    case ']':
        if (!span->depth && byte == ']')
            span->bracket = byte;
        span->depth -= span->depth != 0;
        return deep || byte == around + TO_CLOSING;
    case '{':
    case '[':
        if (span->depth++ < JSON_SPAN_LEVELS)
            span->open[span->depth - 1] = byte;
        if (deep)
            return before != '}';
        return around == '{' ? before == ':' : !around || before == ',' || before == '[';
    default:
        return true;
    }
}

/* The line end after what is no object; not within brackets that it opens: what is there is a part of something. */
static found_t other_ends(json_span_t *span, const uint8_t *text, size_t length, bool whole) {
    const found_t found = span->quoted ? ENDS : line_ends(span, text, length, whole);
    if (span->quoted && span->before == ']')
        span->bracket = ']';
    span->at = found == GOES_ON ? span->mark - 1 : span->at + (found == ENDS);
    return found == WAITS ? WAITS : ENDS;
}

/* Sees the last byte before text[at] that is no blank. */
static void look_back(json_span_t *span, const uint8_t *text, size_t at) {
    while (at && json_span_is_blank(text[at - 1]))
        at--;
    if (!at)
        return;
    span->before = text[at - 1];
    span->mark = at;
}

/* Over an object; or over what is none, to the end of its line, or to a comma that a { follows. What is broken is known at
 * its first byte: its lines are read again from there on, as far as they are there. */
static found_t over(json_span_t *span, const uint8_t *text, size_t length, bool whole) {
    static const bool counts[256] = {
        ['"'] = true, ['\\'] = true, ['\n'] = true, ['['] = true, [']'] = true, ['{'] = true, ['}'] = true};
    const bool other = span->phase == SPAN_OTHER;
    for (size_t at = span->at;; at++) {
        while (at < length && !counts[text[at]])
            at++;
        if (at < length && text[at] == '"') { /* the most frequent one, which needs no look back */
            span->quoted ^= span->escaped != at + 1;
            continue;
        }
        if (at < length && text[at] == '\n' && !other && !span->quoted)
            continue;
        look_back(span, text, at);
        span->at = at;
        if (at == length)
            return GOES_ON;
        const uint8_t byte = text[at];
        const bool escaped = span->escaped == at + 1, outer = other && !span->depth;
        if (outer && byte == '\n')
            return other_ends(span, text, length, whole);
        if (outer && byte == '{' && !span->quoted && span->before == ',')
            return ENDS;
        if (byte == '\\' && !escaped)
            span->escaped = at + 2;
        if (byte == '\n' ? other || span->quoted : !span->quoted && !take(span, byte) && !other) {
            span->phase = SPAN_BROKEN;
            span->at = span->object != JSON_SPAN_GONE ? span->object : span->at;
            return GOES_ON;
        }
        if (!other && !span->depth) {
            span->phase = SPAN_AFTER;
            span->at++;
            look_back(span, text, span->at);
            return GOES_ON;
        }
    }
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

bool json_span_ends_line(const uint8_t *text, size_t at) {
    return at > 1 && text[at - 1] == '\n' &&
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

static found_t go_on(json_span_t *span, const uint8_t *text, size_t length, bool whole) {
    found_t found;
    switch (span->phase) {
    case SPAN_BEFORE:
        if ((found = around(span, text, length, whole)) || span->at == length)
            return found;
        span->phase = text[span->at] == '{' ? SPAN_OBJECT : SPAN_OTHER;
        span->object = span->at;
        if (span->phase == SPAN_OTHER &&
            span->bracket == '[') /* a part of it: no array of objects begins there */
            span->bracket = 0;
        return GOES_ON;
    case SPAN_AFTER:
        return around(span, text, length, whole);
    case SPAN_BROKEN:
        return next_record(span, text, length, &span->at) ? ENDS : WAITS;
    default:
        return over(span, text, length, whole);
    }
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
    const bool best_guess = span->phase == SPAN_BROKEN || (span->phase == SPAN_OTHER && span->quoted);
    return last == ']' && best_guess ? ']' : span->bracket;
}

size_t json_span_forget(json_span_t *span, size_t length) {
    enum { BEFORE_LINE = 3 }; /* what json_span_divides examines */
    const size_t needed = follows_opening(span, length) ? span->mark - 1 : span->at,
                 from = needed > BEFORE_LINE ? needed - BEFORE_LINE : 0;
    span->at -= from;
    span->mark -= from; /* it may be before the text, and is then too far away to count */
    span->escaped -= from;
    span->object = JSON_SPAN_GONE;
    return length - from;
}

size_t json_span_begins(const uint8_t *text, size_t length) {
    const uint8_t *const end = text + length, *at = lines_blanks(text + lines_bom(text, length), end);
    while (at < end && *at == 0x1E)
        at = lines_blanks(at + 1, end);
    return (size_t)(at - text);
}
