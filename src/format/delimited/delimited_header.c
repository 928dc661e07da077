/* Lines in the middle of a file that are headers. */
#include "format/delimited/delimited_inner.h"

#include <stdlib.h>

bool delimited_want_split(delimited_t *reader) {
    return reader->split || (reader->split = calloc(1, sizeof *reader->split));
}

/* In an encoding, characters outside ASCII have other bytes, and so another length. */
static void learn_start(delimited_t *reader, const schema_text_t *word, uint64_t lengths) {
    const encoding_t encoding = reader->schema->encoding;
    uint8_t character[ENCODING_MOST_BYTES];
    const bool any_length = encoding || schema_is_wide(reader->schema);
    reader->header_start[(uint8_t)word->text[0]] |= any_length ? UINT64_MAX : lengths;
    for (unsigned byte = 0x80; encoding && byte <= 0xFF; byte++) {
        const size_t size = encoding_character(encoding, (uint8_t)byte, character);
        if (size && size <= word->length && memcmp(character, word->text, size) == 0)
            reader->header_start[byte] = UINT64_MAX;
    }
}

/* Any column may be the first in a header, in upper or lower case. */
static void learn_columns(delimited_t *reader) {
    const schema_t *schema = reader->schema;
    uint64_t *starts = reader->header_start;
    for (size_t i = 0; i < schema->field_count; i++)
        for (size_t j = 0; j < schema->fields[i].columns.count; j++) {
            const schema_text_t *name = &schema->fields[i].columns.items[j];
            if (name->length)
                learn_start(reader, name,
                            1ull << (name->length < DELIMITED_LONGEST_START ? name->length
                                                                            : DELIMITED_LONGEST_START));
        }
    for (int lower = 'a'; lower <= 'z'; lower++)
        starts[lower] = starts[lower - 'a' + 'A'] |= starts[lower];
    starts[' '] = UINT64_MAX;
    if (reader->dialect->header_length)
        starts[reader->dialect->header_first] = UINT64_MAX;
}

/* Databases that write nothing as \N write a line end within a text as a backslash and a line end. Nobody has said so of a
 * format that is guessed. */
static bool may_go_on(const schema_t *schema) {
    for (size_t i = 0; schema->guessed && i < schema->field_count; i++)
        for (size_t j = 0; j < schema->fields[i].nulls.count; j++)
            if (strcmp(schema->fields[i].nulls.items[j].text, "\\N") == 0)
                return true;
    return false;
}

void delimited_learn_header(delimited_t *reader) {
    const schema_t *schema = reader->schema;
    memset(reader->header_start, 0, sizeof reader->header_start);
    reader->backslash_on = may_go_on(schema);
    reader->doubts = schema->guessed || (schema->multiline && !schema->any_lines);
    if (schema->header == HEADER_YES)
        learn_columns(reader);
    for (size_t i = 0; schema->header == HEADER_WORDS && i < schema->header_words.count; i++)
        learn_start(reader, &schema->header_words.items[i], UINT64_MAX);
    if (schema->header == HEADER_LINE && reader->dialect->header_length)
        reader->header_start[reader->dialect->header_first] = UINT64_MAX;
    const bool by_names = schema->header == HEADER_YES || schema->header == HEADER_WORDS;
    if (schema->quote && by_names)
        reader->header_start[(uint8_t)schema->quote] = UINT64_MAX;
    if (schema->blanks && by_names)
        reader->header_start[' '] = reader->header_start['\t'] = UINT64_MAX;
    if (header_may_be(schema->header)) /* a byte-order mark */
        reader->header_start[0xEF] = UINT64_MAX;
    if (schema->comment)
        reader->header_start[(uint8_t)schema->comment] = UINT64_MAX;
}

bool delimited_skip(delimited_t *reader, record_t *record) {
    const uint8_t *text = reader->text + reader->at;
    const uint32_t left = reader->length - reader->at;
    if (!reader->skip_left || !left)
        return false;
    const uint8_t *feed = memchr(text, '\n', left);
    const uint32_t length = feed ? (uint32_t)(feed - text) : left;
    const bool carriage = feed && length && feed[-1] == '\r';
    *record = (record_t){.offset = reader->at,
                         .length = length - carriage,
                         .line = reader->line++,
                         .line_end = (uint8_t)((feed != NULL) + carriage)};
    reader->at = reader->scanned = reader->at + length + (feed != NULL);
    reader->skip_left--;
    reader->passed.skipped++;
    return true;
}

/* A line that begins as comments do. Nobody has said that there are comments if that was guessed: behind the header,
 * what has as many fields as a record is not taken for one; and nowhere what goes on in other lines, which may be records. */
static parsed_t look_at_comment(delimited_t *reader, record_t *record, const uint8_t *text) {
    const schema_t *schema = reader->schema;
    const bool before = reader->file_start && (schema->header == HEADER_YES || schema->header == HEADER_LINE),
               of_lines = schema->guessed && memchr(text, '\n', record->length);
    if (schema->guessed && !before && reader->dialect->columns > 1) {
        if (!split_record(reader->split, schema, reader->dialect->delimiter, text, record->length))
            return PARSED_MEMORY;
        if (reader->split->count == reader->dialect->columns) {
            record->reason =
                "it begins as a comment does, but has as many fields as a record, and the format "
                "is guessed";
            return PARSED_REJECT;
        }
    }
    if (of_lines) {
        record->reason =
            "it begins as a comment does, but goes on behind a line end that is in quotes, where "
            "records may be, and the format is guessed";
        return PARSED_REJECT;
    }
    reader->passed.comments++;
    return PARSED_COMMENT;
}

parsed_t delimited_look_for_header(delimited_t *reader, record_t *record, const uint8_t *text) {
    static const char odd[] = "it begins as a header does, but is not the header that the file is read by",
                      other[] = "it is a header, and its columns are not those that the file is read by";
    if (!delimited_want_split(reader))
        return PARSED_MEMORY;
    record->field = NULL;
    record->column = 1;
    if (schema_is_comment(reader->schema, *text))
        return look_at_comment(reader, record, text);
    const dialect_line_t line =
        dialect_line(reader->schema, reader->dialect, reader->split, text, record->length);
    const bool by_words = reader->schema->header == HEADER_WORDS;
    switch (line) {
    case DIALECT_HEADER:
        reader->file_start = false;
        return PARSED_HEADER;
    case DIALECT_OTHER_HEADER:
        record->reason = other;
        return record->line_end ? PARSED_OTHER_HEADER : by_words ? PARSED_REJECT : PARSED_DOCUMENT;
    case DIALECT_ODD_LINE:
        record->reason = odd;
        return PARSED_REJECT;
    case DIALECT_MEMORY:
        return PARSED_MEMORY;
    case DIALECT_RECORD:
        break;
    }
    return PARSED_DOCUMENT;
}
