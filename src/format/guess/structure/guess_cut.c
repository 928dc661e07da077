#include "format/cut/ends.h"
#include "format/guess/structure/guess_cut.h"

#include <string.h>

void guess_schema(schema_t *schema, const way_t *way) {
    memset(schema, 0, sizeof *schema);
    schema->delimiters[0] = way->delimiter;
    schema->delimiter_count = 1;
    schema->blanks = way->blanks;
    if (way->wide[0])
        schema->wide = way_delimiter(way);
    schema->quote = way->quote;
    schema->guessed = true;
    schema->escape_double = true;
    schema->escape_backslash = way->backslash;
    schema->escape_backslashes = way->backslashes;
    schema->multiline = way->quote != 0;
    schema->surplus_field = -1;
}

bool guess_line(const schema_t *schema, const uint8_t **at, const uint8_t *end, bool last,
                guess_line_t *line) {
    while (*at < end) {
        const size_t length = ends_find(schema, schema->delimiters[0], *at, (size_t)(end - *at), last);
        if (!length)
            return false;
        line->text = *at;
        line->length = length - ((*at)[length - 1] == '\n');
        *at += length;
        if (line->length && line->text[line->length - 1] == '\r')
            line->length--;
        if (line->length)
            return true;
    }
    return false;
}

bool guess_next(const schema_t *schema, const uint8_t **at, const uint8_t *end, bool last,
                guess_line_t *line) {
    while (guess_line(schema, at, end, last, line))
        if (!schema_is_comment(schema, line->text[0]))
            return true;
    return false;
}
