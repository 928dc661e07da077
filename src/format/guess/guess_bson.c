/* A text of BSON: there is nothing to guess but that it is one. */
#include "format/cut/bson_length.h"
#include "format/cut/bson_span.h"
#include "format/guess/guess_inner.h"

bool guess_is_bson(const uint8_t *text, size_t length) {
    bool lies;
    if (!bson_span_begins(text, length))
        return false;
    const size_t next = bson_span_find(text, length, &lies);
    return next + 4 > length || bson_length_may_be(bson_length(text + next));
}

void guess_bson_take(guess_t *guess, const uint8_t *text, size_t length, size_t *used) {
    size_t end;
    bool lies;
    for (*used = 0; (end = bson_span_find(text + *used, length - *used, &lies)) != 0; *used += end)
        guess->records++;
    guess->bytes += *used;
}

void guess_bson_tell(text_t out[GUESS_LINES]) {
    text_append(&out[0], "no --format: read as BSON");
    text_append(&out[1], "each document brings its own fields");
    text_append(&out[4], "the same as --format bson");
}
