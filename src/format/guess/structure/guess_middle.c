/* Where records begin in the middle of a text. Lines of a text in quotes may look like records. But its quotes tell: one
 * that opens a field stands behind a delimiter, and one that closes it before one. */
#include "format/guess/structure/guess_middle.h"

#include <string.h>

enum {
    TRIED_LINES = 200, /* to find a record, */
    IN_A_ROW = 10,     /* after which so many others fit */
};

static bool ends_line(const uint8_t *at, const uint8_t *end) {
    return *at == '\n' || (*at == '\r' && at + 1 < end && at[1] == '\n');
}

static bool divides(const way_t *way, uint8_t character) {
    return character == (uint8_t)way->delimiter || (way->blanks && (character == ' ' || character == '\t'));
}

/* Behind the first quote of which it is certain that it closes a field; NULL: one opens a field before, or none tells. */
static const uint8_t *find_closed(const way_t *way, const uint8_t *text, const uint8_t *end) {
    const size_t wide = strlen(way->wide);
    const uint8_t last = (uint8_t)(wide ? way->wide[wide - 1] : way->delimiter);
    const uint8_t *at = text, *begin;
    while ((begin = memchr(at, way->quote, (size_t)(end - at)))) {
        for (at = begin; at < end && *at == (uint8_t)way->quote;)
            at++;
        if (at == end)
            break;
        const bool behind =
                       begin == text || begin[-1] == '\n' || begin[-1] == last || divides(way, begin[-1]),
                   before = ends_line(at, end) || divides(way, *at);
        if (behind == before || (at - begin) % 2 == 0 || (begin > text && begin[-1] == '\\'))
            continue;
        return before ? at : NULL;
    }
    return NULL;
}

/* Where the record ends of which a field ends there. */
static const uint8_t *end_of_record(const schema_t *schema, const uint8_t *at, const uint8_t *end) {
    guess_line_t line;
    if (ends_line(at, end))
        return (const uint8_t *)memchr(at, '\n', (size_t)(end - at)) + 1;
    at++;
    return guess_next(schema, &at, end, false, &line) ? at : end;
}

/* A line is the first of a record if so are those after it, as far as can be seen. */
static bool fits_from(const structure_t *structure, const schema_t *schema, split_t *split, const uint8_t *at,
                      const uint8_t *end) {
    guess_line_t line;
    size_t fitting = 0;
    while (fitting < IN_A_ROW && guess_next(schema, &at, end, false, &line)) {
        if (!split_record(split, schema, structure->way.delimiter, line.text, line.length) ||
            !split_is_sound(split) || split->count != structure->columns)
            return false;
        fitting++;
    }
    return fitting > 0;
}

const uint8_t *guess_middle(const structure_t *structure, const schema_t *schema, split_t *split,
                            const uint8_t *text, const uint8_t *end) {
    const way_t *way = &structure->way;
    const uint8_t *at = text, *closed = way->quote ? find_closed(way, text, end) : NULL;
    if (closed)
        at = end_of_record(schema, closed, end);
    for (size_t i = 0; i < TRIED_LINES && at < end; i++) {
        if (fits_from(structure, schema, split, at, end))
            return at;
        const uint8_t *feed = memchr(at, '\n', (size_t)(end - at));
        at = feed ? feed + 1 : end;
    }
    return NULL;
}
