/* Cuts a text by one way, record by record (guess_next), also from its middle on (guess_middle); and refuses what is no
 * delimited text at all (guess_is_text). */
#include "base/chars.h"
#include "format/cut/ends.h"
#include "format/guess/guess_inner.h"

#include <string.h>

enum {
    TRIED_LINES = 200, /* to find the first record of a piece */
    IN_A_ROW = 10,     /* records that have to fit from there on */
    HEAD = 64 * 1024,  /* bytes that show whether it is text */
};

void guess_schema(schema_t *schema, const way_t *way) {
    memset(schema, 0, sizeof *schema);
    schema->delimiters[0] = way->delimiter;
    schema->delimiter_count = 1;
    schema->blanks = way->blanks;
    if (way->wide[0])
        schema->wide = (schema_text_t){way->wide, strlen(way->wide)};
    schema->quote = way->quote;
    schema->guessed = true;
    schema->escape_double = true;
    schema->escape_backslash = way->backslash;
    schema->escape_backslashes = way->backslashes;
    schema->multiline = way->quote != 0;
    schema->surplus_field = -1;
}

bool guess_next(const schema_t *schema, const uint8_t **at, const uint8_t *end, bool last,
                dialect_line_t *line) {
    return dialect_next_line(schema, schema->delimiters[0], at, end, last, line) && line->whole;
}

/* ---- the middle of a text ---- */

/* True if a record begins here, and all after it fit (IN_A_ROW, or fewer at the end). */
static bool fits_from(const schema_t *schema, size_t columns, split_t *split, const uint8_t *at,
                      const uint8_t *end) {
    dialect_line_t line;
    size_t fitting = 0;
    for (; fitting < IN_A_ROW && guess_next(schema, &at, end, false, &line); fitting++)
        if (!split_record(split, schema, schema->delimiters[0], line.text, line.length) ||
            !split_is_sound(split) || split->count != columns)
            return false;
    return fitting > 0;
}

static bool is_edge(const schema_t *schema, uint8_t byte) {
    return byte == (uint8_t)schema->delimiters[0] || byte == '\n' || byte == '\r' ||
           (schema->blanks && byte == ' ');
}

/* True if the text begins within quotes: the first quote closes a field. Lines of a text in quotes may look like records. */
static bool begins_within(const schema_t *schema, const uint8_t *text, const uint8_t *quote,
                          const uint8_t *end) {
    return quote && quote > text && quote + 1 < end && !is_edge(schema, quote[-1]) &&
           is_edge(schema, quote[1]);
}

const uint8_t *guess_middle(const schema_t *schema, size_t columns, split_t *split, const uint8_t *text,
                            const uint8_t *end) {
    const uint8_t *quote = schema->quote ? memchr(text, schema->quote, (size_t)(end - text)) : NULL,
                  *at = begins_within(schema, text, quote, end) ? quote : text;
    for (size_t i = 0; i < TRIED_LINES && at < end; i++) {
        if (at != quote && fits_from(schema, columns, split, at, end))
            return at;
        const uint8_t *feed = memchr(at, '\n', (size_t)(end - at));
        at = feed ? feed + 1 : end;
    }
    return NULL;
}

/* ---- is it delimited text at all? ---- */

bool guess_is_empty(const uint8_t *text, size_t length) {
    size_t at = lines_bom(text, length);
    while (at < length && (text[at] == '\n' || text[at] == '\r'))
        at++;
    return at == length;
}

/* True if the first line that is not blank begins with a bracket, as XML and lists and objects of JSON, Python and JavaScript do,
 * and holds no other after a comma, as <DATE>,<TIME> does. */
static bool is_of_brackets(const uint8_t *text, size_t length) {
    const uint8_t *at = text + json_span_begins(text, length),
                  *feed = memchr(at, '\n', length - (size_t)(at - text));
    const char *const rows[] = {['['] = "],[", ['{'] = "},{", ['<'] = ">,<"};
    const char *row = *at < COUNT(rows) ? rows[*at] : NULL;
    return row && !memmem(at, (size_t)((feed ? feed : text + length) - at), row, 3);
}

bool guess_refuse_cr(const char *name, err_t *err) {
    return err_set(
        err, STATUS_INPUT,
        "%.1000s: lines of it end with CR CR LF, or some with CR alone (byte 0d): make each an LF first (of "
        "CR CR LF: sed 's/\\r*$//'; of CR alone: tr '\\r' '\\n'); if the CRs are parts of values, give "
        "--format",
        name);
}

bool guess_is_text(const char *name, const uint8_t *text, size_t length, err_t *err) {
    const size_t head = length < HEAD ? length : HEAD;
    const char *why =
        memchr(text, 0, head) ? "holds NUL bytes (if it is BSON, its first document is broken)"
        : json_span_begins(text, head) == head ? "holds no record"
        : is_of_brackets(text, head)
            ? "looks like XML, HTML, Python or JavaScript, or like JSON without objects, or with keys in "
              "other quotes than double ones"
            : NULL;
    return !why || err_set(err, STATUS_INPUT, "%.1000s: %s, so its format cannot be guessed; give --format",
                           name, why);
}

const char *guess_shown(char *out, size_t room, const char *text, size_t length) {
    enum { SHOWN = 40 };
    const bool cut = length > SHOWN;
    length = cut ? SHOWN : length;
    while (cut && length && ((uint8_t)text[length] & 0xC0) == 0x80)
        length--;
    return escape_text(out, room, text, length);
}
