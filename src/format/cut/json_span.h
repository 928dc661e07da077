/* json_span: where the records of a JSON text end. A record is an object with what stands around it: one a line, one
 * after the other, or the elements of an array; nobody has to know which.
 *
 *     {"a": 1}            blanks, commas and the brackets of an array around an object belong to no object: those before
 *     {"a": 2} {"a": 3}   it, and those after it up to the end of its line, are read with it.
 *     [{"a": 4}, {"a":    A line with nothing else is a blank one, and so are more blanks than anybody writes.
 *       5}]
 *     {"a": 6,            Not an object: a line end within quotes, a bracket that closes another one, a { or [ where none
 *     {"a": 7}            can be. It ends before the next line that begins with { in the same column; if there is none,
 *                         with the text.
 *     {"a": "x            A line that begins with { where the line before it ends with } begins a record, whatever comes
 *     }                   before: in no object does a } stand directly before a {. So the middle of a text of such lines
 *     {"a": 7}            can be cut without the text before it (json_span_divides).
 *     oops                What is neither is a record up to the end of its line, or up to a comma that a { follows; where
 *                         it opens a bracket that its line does not close, it ends as what is not an object.
 *     {"a": 8},           Neither is an array that is an element of another one: its [ follows a comma or a [. The record
 *     [{"a": 9}],         begins with that comma, so the one before ends before it.
 *
 * Where a record ends depends on the text from its own first byte on, and on nothing else. */
#ifndef TIPPLE_FORMAT_CUT_JSON_SPAN_H
#define TIPPLE_FORMAT_CUT_JSON_SPAN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum {
    JSON_SPAN_LEVELS = 256, /* no server stores an object with deeper brackets */
    /* A record ends after more blanks in a row: they are no part of a value, and may be any number. After what is not an
     * object, no record begins after more of them in a line. A [ after more of them is no element. */
    JSON_SPAN_BLANKS = 32 * 1024,
};
#define JSON_SPAN_GONE (SIZE_MAX / 2)

/* How far one record was read; begins as {0}. */
typedef struct {
    size_t at;
    uint8_t open[JSON_SPAN_LEVELS]; /* the brackets around, from the outermost */
    uint32_t depth;
    uint32_t indent; /* blanks before its object */
    size_t escaped;  /* one more than the byte that a backslash makes plain; 0: none */
    size_t object;   /* where that begins; JSON_SPAN_GONE: before the text that is there */
    bool quoted;     /* within quotes */
    uint8_t bracket; /* the last [ or ] that belongs to no object; 0: none */
    uint8_t before;  /* the last byte that is no blank; */
    size_t mark;     /* what follows that, outside the object */
    enum { SPAN_BEFORE, SPAN_OBJECT, SPAN_AFTER, SPAN_BROKEN, SPAN_OTHER } phase;
} json_span_t;

/* The length of the record that begins at text[0]; 0: the text ends before it does, and the next call goes on there, with
 * the same text and more of it. whole: nothing follows the text. */
size_t json_span_find(json_span_t *span, const uint8_t *text, size_t length, bool whole);

/* Is text[at - 1] a line end after an object? */
bool json_span_ends_line(const uint8_t *text, size_t at);

/* Does text[at - 1] end a record, and text[at] begin one, whatever comes before? text[at] is there. */
static inline bool json_span_divides(const uint8_t *text, size_t at) {
    return text[at] == '{' && json_span_ends_line(text, at);
}

/* The length of the record whose object ends before text[at]; nothing follows the text. */
size_t json_span_after(const uint8_t *text, size_t length, size_t at);

/* The record is too long to be kept: after json_span_find, which has not found its end in text[0, length), the text may be
 * forgotten, except for its last bytes, fewer than JSON_SPAN_BLANKS + 8. The next call gets those and what follows them, and so on.
 * Returns how many there are. */
size_t json_span_forget(json_span_t *span, size_t length);

/* The text is over, and `last` is its last byte that is no blank: the last [ or ] around its records. Where quotes are open,
 * or brackets do not fit, a ] at the end is the best guess. */
uint8_t json_span_bracket(const json_span_t *span, uint8_t last);

static inline bool json_span_is_blank(uint8_t byte) {
    return byte == ' ' || byte == '\n' || byte == '\r' || byte == '\t';
}

/* The first byte of a text that is no blank, after a byte order mark and the byte before each text of a sequence (RFC 7464);
 * `length` if there is none. */
size_t json_span_begins(const uint8_t *text, size_t length);

/* Does this byte belong to no object? */
static inline bool json_span_is_around(uint8_t byte) {
    return json_span_is_blank(byte) || byte == ',' || byte == '[' || byte == ']' || byte == 0x1E;
}

#endif
