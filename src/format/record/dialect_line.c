/* What a line is: a header, by its words or the columns that it names, or a record. */
#include "base/chars.h"
#include "format/cut/delimiter.h"
#include "format/record/dialect_inner.h"
#include "format/values/blanks.h"

#include <string.h>
#include <strings.h>
#include <xxhash.h>

static bool is_delimiter(const schema_t *schema, const uint8_t *line, size_t length, size_t at) {
    return schema_is_wide(schema) ? delimiter_at(schema, schema->delimiters[0], line, length, at) > 0
                                  : memchr(schema->delimiters, line[at], schema->delimiter_count) != NULL;
}

/* How many bytes of the text are this one as a file in the format's encoding spells it; 0: none. */
static size_t in_encoding(const schema_t *schema, const schema_text_t *word, const uint8_t *text,
                          size_t length, bool any_case) {
    return schema->encoding ? encoding_begins(schema->encoding, (const uint8_t *)word->text, word->length,
                                              text, length, any_case)
                            : 0;
}

bool dialect_starts_with_word(const schema_t *schema, const uint8_t *line, size_t length, char *delimiter) {
    const size_t skip = delimiter_skip(schema, line, length);
    line += skip;
    length -= skip;
    for (size_t i = 0; i < schema->header_words.count; i++) {
        const schema_text_t *word = &schema->header_words.items[i];
        size_t quote = schema->quote && length && line[0] == (uint8_t)schema->quote;
        size_t behind = quote + word->length + quote, other;
        if (length < behind || !encoding_keeps_utf8(schema->encoding) ||
            memcmp(line + quote, word->text, word->length) != 0) {
            if (!(other = in_encoding(schema, word, line + quote, length - quote, false)))
                continue;
            behind = quote + other + quote;
            if (length < behind)
                continue;
        }
        if (quote && line[behind - 1] != (uint8_t)schema->quote)
            continue;
        if (length > behind && !is_delimiter(schema, line, length, behind))
            continue;
        *delimiter = length > behind && !schema_is_wide(schema) ? (char)line[behind] : schema->delimiters[0];
        return true;
    }
    return false;
}

bool dialect_is_word(const schema_t *schema, const schema_text_t *word, const uint8_t *text, size_t length,
                     bool any_case) {
    const char *const bytes = (const char *)text;
    if (word->length == length && (encoding_keeps_utf8(schema->encoding) || !length) &&
        (any_case ? strncasecmp(word->text, bytes, length) : memcmp(word->text, bytes, length)) == 0)
        return true;
    return length && in_encoding(schema, word, text, length, any_case) == length;
}

int dialect_field_of_column(const schema_t *schema, const span_t *span) {
    const uint8_t *text = span->text;
    size_t length = span->length;
    blanks_trim(&text, &length);
    for (size_t i = 0; i < schema->field_count; i++) {
        const texts_t *names = &schema->fields[i].columns;
        for (size_t j = 0; j < names->count; j++)
            if (dialect_is_word(schema, &names->items[j], text, length, true))
                return (int)i;
    }
    return -1;
}

size_t dialect_columns_known(const schema_t *schema, const split_t *split) {
    size_t known = 0;
    for (size_t i = 0; i < split->count; i++)
        known += dialect_field_of_column(schema, &split->spans[i]) >= 0;
    return known;
}

static bool names_same_columns(const schema_t *schema, const dialect_t *dialect, const split_t *split) {
    bool same = !split->too_many && split->count == dialect->columns;
    for (size_t i = 0; same && i < split->count; i++) {
        const int field = dialect_field_of_column(schema, &split->spans[i]);
        same = dialect->field_of[i] == (field < 0 ? DIALECT_NO_FIELD : field);
    }
    return same;
}

/* Has it a column for each field that needs one? */
static bool names_all(const schema_t *schema, const split_t *split) {
    bool named[SCHEMA_MOST_FIELDS] = {false}, all = true;
    for (size_t i = 0; i < split->count; i++) {
        const int field = dialect_field_of_column(schema, &split->spans[i]);
        if (field >= 0)
            named[field] = true;
    }
    for (size_t i = 0; all && i < schema->field_count; i++)
        all = named[i] || schema->fields[i].optional;
    return all;
}

/* Where the first line is always a header: a mere record may hold the name of a column or two. */
static dialect_line_t line_by_columns(const schema_t *schema, const dialect_t *dialect, split_t *split,
                                      const uint8_t *line, size_t length) {
    if (!split_record(split, schema, dialect->delimiter, line, length))
        return DIALECT_MEMORY;
    if (split->count < 2 || dialect_field_of_column(schema, &split->spans[0]) < 0 ||
        dialect_columns_known(schema, split) < 2)
        return DIALECT_RECORD;
    if (names_same_columns(schema, dialect, split))
        return DIALECT_HEADER;
    return names_all(schema, split) ? DIALECT_OTHER_HEADER : DIALECT_RECORD;
}

dialect_line_t dialect_line(const schema_t *schema, const dialect_t *dialect, split_t *split,
                            const uint8_t *line, size_t length) {
    char delimiter;
    if (!header_may_be(schema->header))
        return DIALECT_RECORD;
    const size_t bom = lines_bom(line, length); /* of a file that stands behind another one in this one */
    line += bom;
    length -= bom;
    if (schema->header == HEADER_YES && dialect->columns < 2)
        return DIALECT_RECORD; /* a value may be its only column's name */
    if (dialect->header_length && length == dialect->header_length &&
        XXH3_64bits(line, length) == dialect->header_hash)
        return DIALECT_HEADER;
    if (schema->header == HEADER_LINE)
        return DIALECT_RECORD;
    if (schema->header == HEADER_YES)
        return line_by_columns(schema, dialect, split, line, length);
    if (!dialect_starts_with_word(schema, line, length, &delimiter))
        return DIALECT_RECORD;
    if (!split_record(split, schema, delimiter, line, length))
        return DIALECT_MEMORY;
    if ((delimiter == dialect->delimiter || split->count == 1) && names_same_columns(schema, dialect, split))
        return DIALECT_HEADER;
    return dialect_columns_known(schema, split) > 1 ? DIALECT_OTHER_HEADER : DIALECT_ODD_LINE;
}
