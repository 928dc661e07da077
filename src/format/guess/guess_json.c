/* A text of JSON: there is nothing to guess but that it is one. */
#include "format/guess/guess_inner.h"
#include "format/record/dialect.h"
#include "format/record/json_span.h"

static const uint8_t *pass_blanks(const uint8_t *at, const uint8_t *end) {
    while (at < end && (*at == ' ' || *at == '\t' || *at == '\r' || *at == '\n'))
        at++;
    return at;
}

bool guess_is_json(const uint8_t *text, size_t length) {
    const uint8_t *end = text + length, *at = pass_blanks(text + dialect_bom(text, length), end);
    if (at == end)
        return false;
    const uint8_t *next = pass_blanks(at + 1, end);
    const uint8_t second = next < end ? *next : 0;
    return (*at == '{' && (second == '"' || second == '}')) ||
           (*at == '[' && (second == '{' || second == '['));
}

void guess_json_take(guess_t *guess, const uint8_t *text, size_t length, bool from_start, bool last,
                     size_t *used) {
    size_t at = from_start ? dialect_bom(text, length) : 0, end;
    while (at < length && (end = json_span_find(&(json_span_t){0}, text + at, length - at, last))) {
        for (size_t i = at; i < at + end; i++)
            if (!json_span_is_around(text[i])) {
                guess->records++;
                break;
            }
        at += end;
    }
    guess->bytes += at;
    *used = at;
}

void guess_json_yaml(text_t *out) {
    text_append(out, "record: {json: yes}\n");
}

void guess_json_tell(text_t out[GUESS_LINES]) {
    text_append(&out[0], "no --format: read as JSON");
    text_append(&out[1], "each object brings its own fields");
    text_append(&out[2], "the same as --format json");
}
