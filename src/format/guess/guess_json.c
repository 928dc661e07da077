/* A text of JSON: there is nothing to guess but that it is one. */
#include "format/guess/guess_inner.h"
#include "format/record/dialect.h"
#include "format/record/json_span.h"

bool guess_is_json(const uint8_t *text, size_t length) {
    uint8_t first, second;
    guess_first_bytes(text, length, &first, &second);
    return (first == '{' && (second == '"' || second == '}')) ||
           (first == '[' && (second == '{' || second == '['));
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

void guess_json_tell(text_t out[GUESS_LINES]) {
    text_append(&out[0], "no --format: read as JSON");
    text_append(&out[1], "each object brings its own fields");
    text_append(&out[2], "the same as --format json");
}
