#include "base/chars.h"
#include "format/json/json_inner.h"
#include "format/json/json_marks.h"
#include "format/values/hex.h"

#include <stdlib.h>

const uint8_t *json_reject_utf8(json_value_t *json, const uint8_t *at) {
    return json_reject(json, at, "this is not UTF-8: byte 0x%02X", *at);
}

/* Four digits; less than 0: they are not. */
static int32_t unit(const uint8_t *at) {
    int32_t value = 0;
    for (int i = 0; i < 4; i++) {
        const int digit = hex_digit(at[i]);
        if (digit < 0)
            return -1;
        value = value << 4 | digit;
    }
    return value;
}

/* \uXXXX, perhaps with its other half. `at` is the backslash. */
static const uint8_t *unicode(json_value_t *json, const uint8_t *at, uint8_t **to) {
    const int32_t first = unit(at + 2);
    if (first < 0)
        return json_reject(json, at, "\\u is not followed by four hexadecimal digits");
    uint32_t code = (uint32_t)first;
    const uint8_t *next = at + 6;
    if (code >= 0xD800 && code < 0xE000) {
        int32_t second = -1;
        if (code < 0xDC00 && next < json->end && next[0] == '\\' && next[1] == 'u')
            second = unit(next + 2);
        if (second < 0xDC00 || second > 0xDFFF)
            return json_reject(json, at, "%.6s is one half of a character, and the other half is missing",
                               (const char *)at);
        code = 0x10000 + ((code - 0xD800) << 10) + ((uint32_t)second - 0xDC00);
        next += 6;
    }
    *to += utf8_put(*to, code);
    return next;
}

/* `at` is the backslash. */
static const uint8_t *escape(json_value_t *json, const uint8_t *at, uint8_t **to) {
    static const uint8_t plain[256] = {['"'] = '"',  ['\\'] = '\\', ['/'] = '/',  ['b'] = '\b',
                                       ['f'] = '\f', ['n'] = '\n',  ['r'] = '\r', ['t'] = '\t'};
    const uint8_t byte = plain[at[1]];
    if (JSON_LIKELY(byte)) {
        *(*to)++ = byte;
        return at + 2;
    }
    if (at[1] == 'u')
        return unicode(json, at, to);
    if (at[1] > ' ' && at[1] < 0x7F)
        return json_reject(json, at, "\\%c is not an escape of JSON", at[1]);
    return json_reject(json, at, "a backslash is not followed by an escape of JSON");
}

static const uint8_t *no_end(json_value_t *json, const uint8_t *quote) {
    return json_reject(json, quote, "the text within the quotes has no end");
}

static const uint8_t *control(json_value_t *json, const uint8_t *at) {
    return json_reject(json, at,
                       "the control character 0x%02X may not stand within quotes: it is written \\u%04x", *at,
                       *at);
}

const uint8_t *json_text_long(json_value_t *json, const uint8_t *at, uint8_t *to, const uint8_t *limit,
                              size_t *length) {
    const uint8_t *const begin = at;
    uint8_t *into = to;
    uint32_t high = 0;
    for (;;) {
        if (JSON_UNLIKELY(into > limit))
            return json_full(json, into);
        const json_marks_t marks = json_marks_copy(at, into);
        if (!marks.stop) {
            high |= marks.high;
            at += 16;
            into += 16;
            if (json_ended(json, at))
                return no_end(json, begin - 1);
            continue;
        }
        const int count = __builtin_ctz(marks.stop);
        high |= marks.high & ((1u << count) - 1);
        at += count;
        into += count;
        if (json_ended(json, at))
            return no_end(json, begin - 1);
        if (*at == '"')
            break;
        if (*at != '\\')
            return control(json, at);
        if (json_ended(json, at + 1))
            return no_end(json, begin - 1);
        at = escape(json, at, &into);
        if (JSON_UNLIKELY(!at))
            return NULL;
        if (json_ended(json, at))
            return no_end(json, begin - 1);
    }
    const uint8_t *const odd = high ? utf8_wrong(begin, at) : NULL;
    if (odd)
        return json_reject_utf8(json, odd);
    *length = (size_t)(into - to);
    return at + 1;
}

/* Room for all texts with escapes that this text can contain. */
static bool have_scratch(json_value_t *json) {
    const size_t needed = (size_t)(json->end - json->text) + 2 * JSON_MARGIN;
    if (needed <= json->scratch_room)
        return true;
    free(json->scratch);
    json->scratch = malloc(needed);
    json->scratch_room = json->scratch ? needed : 0;
    return json->scratch;
}

/* As above, but the text stays where it is if it has no escapes. */
static const uint8_t *span_in_quotes(json_value_t *json, const uint8_t *begin, json_quoted_t *span) {
    const uint8_t *at = begin;
    uint32_t high = 0;
    for (;; at += 16) {
        if (json_ended(json, at))
            return no_end(json, begin - 1);
        const json_marks_t marks = json_marks(at);
        if (!marks.stop) {
            high |= marks.high;
            continue;
        }
        const int count = __builtin_ctz(marks.stop);
        high |= marks.high & ((1u << count) - 1);
        at += count;
        break;
    }
    span->at = begin;
    if (*at == '"' && at < json->end && !high) {
        span->text = begin;
        span->length = (size_t)(at - begin);
        return at + 1;
    }
    if (!have_scratch(json))
        return json_memory(json);
    uint8_t *const to = json->scratch + JSON_MARGIN / 2 + json->scratch_used;
    const uint8_t *const next = json_text_long(json, begin, to, to + (json->end - begin), &span->length);
    span->text = to;
    json->scratch_used += span->length;
    return next;
}

const uint8_t *json_quoted(json_value_t *json, const uint8_t *at, const char *sentence, json_quoted_t *span) {
    at = json_blanks(json, at);
    if (json_ended(json, at) || *at != '"')
        return json_reject(json, at, "%s", sentence);
    return span_in_quotes(json, at + 1, span);
}
