/* format_laws: what holds for every text read by every format, as one function: the fuzz targets give it
 * texts.
 *
 * - Every line that is neither blank nor a header, and not passed over, is a document or a reject; records touch each other and
 * reach from the start to the end.
 * - Documents are valid BSON; the fast and the careful way, and any cut into blocks, make the same ones.
 * - What is written from the documents makes the same documents again: by the dialect of its text, and as a new file,
 * whose dialect is found from its own first lines. If that is another one, the new file is refused.
 * - A row that was written in the usual way (see usual_row) comes out byte for byte, and so does every record
 * of fixed width, unless the format leaves parts of it out. */
#ifndef TIPPLE_TESTS_FORMAT_LAWS_H
#define TIPPLE_TESTS_FORMAT_LAWS_H

#include "base/chars.h"
#include "format/cut/split.h"
#include "format/records.h"
#include "format/schema/schema.h"
#include "format/values/values.h"
#include "format_lab.h"

typedef struct {
    schema_t *schema;
    records_t *reader;
    emit_t *emit;
    bool may_refuse; /* a document need not make a record again; when it does, it must be the right one */
} law_t;

LAB_UNUSED law_t law_for(schema_t *schema) {
    law_t law = {schema, records_new(schema), emit_new(schema), false};
    LAB_MUST(law.reader && law.emit);
    return law;
}

LAB_UNUSED void law_end(law_t *law) {
    records_destroy(law->reader);
    emit_destroy(law->emit);
    schema_destroy(law->schema);
    *law = (law_t){NULL, NULL, NULL, false};
}

/* Warnings of the code under test say nothing here. What a sanitizer or this file says still gets out: it
 * does not go through `stderr`. */
LAB_UNUSED void law_quiet(void) {
    static FILE *nowhere;
    if (!nowhere && (nowhere = fopen("/dev/null", "w")))
        stderr = nowhere;
}

static void law_show(const char *what, const uint8_t *text, size_t length) {
    dprintf(2, "%s: ", what);
    for (size_t i = 0; i < length; i++)
        dprintf(2, text[i] >= ' ' && text[i] < 0x7F ? "%c" : "\\x%02X", text[i]);
    dprintf(2, "\n");
}

/* Like LAB_MUST, with the texts that it is about. */
#define LAW(condition, a, a_length, b, b_length)                                                             \
    do {                                                                                                     \
        if (!(condition)) {                                                                                  \
            law_show("text", a, a_length);                                                                   \
            law_show("other", b, b_length);                                                                  \
            LAB_MUST(condition);                                                                             \
        }                                                                                                    \
    } while (0)

/* ----------------------------------------------------------------------------------------- lines, read
 * plainly */

/* How many bytes of a delimiter are there? Of blanks, the first. */
static size_t law_divides(const schema_t *schema, char delimiter, const uint8_t *text, size_t at,
                          size_t length) {
    const size_t wide = schema->wide.length;
    if (at >= length)
        return 0;
    if (schema->blanks)
        return text[at] == ' ' || text[at] == '\t';
    if (wide)
        return length - at >= wide && memcmp(text + at, schema->wide.text, wide) == 0 ? wide : 0;
    return text[at] == (uint8_t)delimiter;
}

static bool law_starts_with_header_word(const schema_t *schema, const uint8_t *line, size_t length) {
    for (size_t i = 0; i < schema->header_words.count; i++) {
        const schema_text_t *word = &schema->header_words.items[i];
        for (int quoted = 0; quoted < 2; quoted++) {
            size_t used = word->length + 2 * (size_t)quoted;
            if (length < used || (quoted && (!schema->quote || line[0] != (uint8_t)schema->quote ||
                                             line[used - 1] != (uint8_t)schema->quote)))
                continue;
            if (memcmp(line + quoted, word->text, word->length) != 0)
                continue;
            if (length == used || (schema_is_wide(schema) ? law_divides(schema, 0, line, used, length) > 0
                                                          : memchr(schema->delimiters, line[used],
                                                                   schema->delimiter_count) != NULL))
                return true;
        }
    }
    return false;
}

/* What closes the quoted field that begins at `at`: its place after the closing quote, 0 where none does, or 1 where what
 * would close it is odd (*odd is its place). */
static size_t law_closed(const schema_t *schema, char delimiter, const uint8_t *text, size_t at,
                         size_t length, bool backslash, size_t *odd) {
    for (size_t i = at + 1; i < length; i++) {
        const bool again = i + 1 < length && text[i + 1] == (uint8_t)schema->quote;
        const bool pair = schema->escape_backslashes && i + 1 < length && text[i + 1] == '\\';
        if (backslash && text[i] == '\\' && (again || pair)) {
            i++;
        } else if (text[i] == (uint8_t)schema->quote && schema->escape_double && again) {
            i++;
        } else if (text[i] == (uint8_t)schema->quote) {
            const bool end = i + 1 == length || law_divides(schema, delimiter, text, i + 1, length) ||
                             text[i + 1] == '\n' ||
                             (text[i + 1] == '\r' && (i + 2 == length || text[i + 2] == '\n'));
            *odd = i;
            return end ? i + 1 : 1;
        }
    }
    return 0;
}

/* Where the record at `at` ends, before its line feed. */
static size_t law_record_end(const schema_t *schema, char delimiter, const uint8_t *text, size_t at,
                             size_t length) {
    for (bool begins = true; at < length && text[at] != '\n';) {
        size_t odd, line = at;
        if (schema->multiline && begins && text[at] == (uint8_t)schema->quote) {
            size_t closed = law_closed(schema, delimiter, text, at, length, schema->escape_backslash, &odd);
            while (line < length && text[line] != '\n')
                line++;
            if (closed == 1 && odd < line && schema->escape_backslash)
                closed = law_closed(schema, delimiter, text, at, length, false, &odd);
            if (!closed || (closed == 1 && odd > line))
                return line;
            if (closed > 1 && (at = closed) == length)
                return length;
            if (text[at] == '\n')
                return at;
        }
        const size_t divides = law_divides(schema, delimiter, text, at, length);
        begins = divides > 0;
        at += divides ? divides : 1;
    }
    return at;
}

/* Counts a text's lines the plain way: blank ones, those that begin as headers do (by words) or are the first one again,
 * and the rest. */
typedef struct {
    size_t blank, headers, records, comments, skipped;
} law_lines_t;

static law_lines_t law_count(const schema_t *schema, const dialect_t *dialect, const uint8_t *text,
                             size_t length, bool file_start) {
    law_lines_t lines = {0};
    const uint8_t *first = NULL;
    size_t first_length = 0, at = 0;
    if (file_start && length >= 3 && memcmp(text, "\xEF\xBB\xBF", 3) == 0)
        at = 3;
    for (; file_start && lines.skipped < schema->skip && at < length; lines.skipped++) {
        while (at < length && text[at] != '\n')
            at++;
        at += at < length;
    }
    while (at < length) {
        size_t end = law_record_end(schema, dialect->delimiter, text, at, length), next = end + 1;
        if (end > at && text[end - 1] == '\r')
            end--;
        const uint8_t *line = text + at;
        size_t size = end - at;
        at = next;
        bool header = false;
        if (size && schema_is_comment(schema, *line)) {
            lines.comments++;
            continue;
        }
        const size_t mark =
            size >= 3 && memcmp(line, "\xEF\xBB\xBF", 3) == 0 ? 3 : 0; /* of a file put after another */
        if (size > mark && schema->header == HEADER_WORDS)
            header = law_starts_with_header_word(schema, line + mark, size - mark);
        if (size && schema->header == HEADER_YES && !first) {
            first = line;
            first_length = size;
        }
        if (size && schema->header == HEADER_YES) /* of one column a later line is a value */
            header = line == first ||
                     (dialect->columns > 1 && size == first_length && memcmp(line, first, size) == 0);
        lines.blank += size == 0;
        lines.headers += header;
        lines.records += size && !header;
    }
    return lines;
}

/* ------------------------------------------------------------------------------------------------ the usual
 * way */

static bool law_usual_int(const uint8_t *text, size_t length) {
    size_t at = length && text[0] == '-';
    if (at == length || length - at > 18 || (text[at] == '0' && length > 1))
        return false;
    for (; at < length; at++)
        if (text[at] < '0' || text[at] > '9')
            return false;
    return true;
}

static bool law_usual_number(const uint8_t *text, size_t length) {
    size_t at = length && text[0] == '-', digits = 0, point = 0;
    if (at == length || length > 14)
        return false;
    size_t first = at;
    for (; at < length; at++) {
        if (text[at] == '.' && !point && digits)
            point = at;
        else if (text[at] >= '0' && text[at] <= '9')
            digits++;
        else
            return false;
    }
    bool zero_first = text[first] == '0' && digits > 1 && point != first + 1;
    return !zero_first && (!point || (text[length - 1] >= '1' && text[length - 1] <= '9'));
}

/* Text that no number can be made of. */
static bool law_not_a_number(const uint8_t *text, size_t length) {
    for (size_t i = 0; i < length; i++)
        if (!strchr("0123456789+-.eE ", text[i]) || !text[i])
            return true;
    return false;
}

static bool law_is_filler(const field_t *field, const uint8_t *text, size_t length) {
    for (size_t i = 0; i < field->nulls.count; i++)
        if (field->nulls.items[i].length == length && memcmp(field->nulls.items[i].text, text, length) == 0)
            return true;
    return false;
}

/* Without marks, as few digits as need none; with marks, whole numbers of two or three groups; or no number at all. */
static bool law_usual_numeral(const field_t *field, const uint8_t *text, size_t length) {
    bool other = false;
    for (size_t i = 0; i < length; i++)
        other |= !strchr("0123456789+-.,' eE", text[i]) || !text[i];
    const bool no_zero = length && text[0] >= '1' && text[0] <= '9';
    bool digits = no_zero && length <= (field->thousands ? 3 : 9);
    bool groups = no_zero && field->thousands && length >= 5 && length <= 11;
    for (size_t i = 0; i < length; i++) {
        digits &= text[i] >= '0' && text[i] <= '9';
        groups &= (length - 1 - i) % 4 == 3 ? text[i] == (uint8_t)field->thousands
                                            : text[i] >= '0' && text[i] <= '9';
    }
    return other || digits || groups;
}

/* Is it a text that none of the patterns reads, or as one of them writes it? */
static bool law_usual_date(const field_t *field, const uint8_t *text, size_t length) {
    uint8_t padded[PATTERN_PRINTED + 8] = {0}, out[PATTERN_PRINTED];
    if (length > PATTERN_PRINTED)
        return true;
    memcpy(padded, text, length);
    for (size_t i = 0; i < field->patterns.count; i++) {
        pattern_t pattern;
        int64_t ms;
        LAB_MUST(!pattern_compile(field->patterns.items[i].text, field->patterns.items[i].length, &pattern));
        if (pattern_read(&pattern, padded, length, &ms))
            return pattern_write(&pattern, ms, out) == length && memcmp(out, text, length) == 0;
    }
    return true;
}

static bool law_has_capital(const uint8_t *text, size_t length) {
    for (size_t i = 0; i < length; i++)
        if (text[i] >= 'A' && text[i] <= 'F')
            return true;
    return false;
}

static bool law_usual_word(const field_t *field, const uint8_t *text, size_t length) {
    for (int is = 0; is < 2; is++)
        for (size_t i = 1; i < field->words[is].count; i++)
            if (field->words[is].items[i].length == length &&
                memcmp(field->words[is].items[i].text, text, length) == 0)
                return false;
    return true;
}

static bool law_usual_value(const schema_t *schema, const field_t *field, const uint8_t *text,
                            size_t length) {
    if (law_is_filler(field, text, length))
        return true;
    if (schema->encoding && !utf8_valid(text, length))
        return false; /* it will be re-encoded */
    switch (field->type) {
    case TYPE_TEXT:
    case TYPE_JSON:
        return true;
    case TYPE_DATE:
        return law_usual_date(field, text, length);
    case TYPE_BOOLEAN:
        return law_usual_word(field, text, length);
    case TYPE_OBJECTID:
    case TYPE_UUID:
    case TYPE_BINARY:
        return !law_has_capital(text, length) || (field->type == TYPE_BINARY && !field->hex);
    case TYPE_TRIMMED:
        return !length || (text[0] != ' ' && text[length - 1] != ' ');
    case TYPE_INT:
    case TYPE_LONG:
        if (field->point)
            return law_usual_numeral(field, text, length);
        return law_usual_int(text, length) || law_not_a_number(text, length);
    case TYPE_NUMBER:
    case TYPE_DECIMAL:
        if (field->point)
            return law_usual_numeral(field, text, length);
        return law_usual_number(text, length) || law_not_a_number(text, length);
    case TYPE_LENGTH:
        break;
    }
    return false;
}

/* A row of as many fields as there are columns (or one too long in the surplus field), each bare and without
 * any quote or backslash, or in quotes because it holds a delimiter or a quote; all quotes of a row doubled,
 * or all after a backslash. That is: no needless quotes, no padding, no re-encoding, and one habit a row. */
static bool law_usual_row(const schema_t *schema, const dialect_t *dialect, const uint8_t *row,
                          size_t length) {
    if (schema_is_wide(schema))
        return false;
    uint8_t value[4096];
    size_t column = 0, fields = 1, doubled = 0, backslashed = 0;
    uint8_t quote = (uint8_t)schema->quote, delimiter = (uint8_t)dialect->delimiter;
    if (length > sizeof value || (length && row[length - 1] == '\r'))
        return false;
    bool quotes = quote && memchr(row, quote, length);
    if (quotes && memchr(row, '\\', length) && !schema->escape_backslash)
        return false;
    for (size_t i = 0; i < length; i++)
        fields += row[i] == delimiter;
    size_t surplus =
        !quotes && dialect->surplus_column >= 0 && fields > dialect->columns ? fields - dialect->columns : 0;
    for (size_t at = 0;; at++, column++) {
        size_t size = 0;
        bool in_quotes = quotes && at < length && row[at] == quote, needed = false, closed = false;
        if (column == dialect->columns)
            return false;
        if (in_quotes) {
            for (at++; at < length && !closed; at++) {
                uint8_t next = at + 1 < length ? row[at + 1] : 0;
                if (row[at] == '\\' && next == quote && schema->escape_backslash) {
                    value[size++] = row[++at];
                    backslashed++;
                    needed = true;
                } else if (row[at] == '\\') {
                    return false;
                } else if (row[at] == quote && next == quote && at + 1 < length && schema->escape_double) {
                    value[size++] = row[++at];
                    doubled++;
                    needed = true;
                } else if (row[at] == quote) {
                    closed = true;
                } else {
                    needed |= row[at] == delimiter || row[at] == '\n';
                    value[size++] = row[at];
                }
            }
            if (!closed || !needed || (at < length && row[at] != delimiter))
                return false;
        } else {
            size_t more = column == (size_t)dialect->surplus_column ? surplus : 0;
            for (; at < length && (row[at] != delimiter || more); at++) {
                more -= row[at] == delimiter;
                if (row[at] == quote && quote)
                    return false;
                value[size++] = row[at];
            }
        }
        uint16_t field = dialect->field_of[column];
        if (field == DIALECT_NO_FIELD ? size > 0
                                      : !law_usual_value(schema, &schema->fields[field], value, size))
            return false;
        if (at >= length)
            break;
    }
    return column + 1 == dialect->columns && !(doubled && backslashed);
}

/* -------------------------------------------------------------------------------------------------- the laws
 */

static bool law_is_replaced(const bson_iter_t *at) {
    uint32_t seconds = 1, increment = 1;
    if (BSON_ITER_HOLDS_TIMESTAMP(at))
        bson_iter_timestamp(at, &seconds, &increment);
    return !seconds && !increment;
}

static void law_valid(const lab_record_t *one) {
    bson_t document;
    size_t at;
    LAB_MUST(bson_init_static(&document, one->document, one->record.document_length));
    LAB_MUST(bson_validate(&document, BSON_VALIDATE_UTF8 | BSON_VALIDATE_UTF8_ALLOW_NULL, &at));
    /* a server puts `_id` first, and gives Timestamps of zero the time of day: what it stores must be what was sent */
    bson_iter_t field;
    LAB_MUST(bson_iter_init(&field, &document));
    for (bool first = true; bson_iter_next(&field); first = false)
        LAB_MUST(!law_is_replaced(&field) && (first || strcmp(bson_iter_key(&field), "_id") != 0));
}

static void law_same_records(const lab_records_t *a, size_t from, size_t to, const lab_records_t *b,
                             size_t offset) {
    LAB_MUST(b->count == to - from);
    for (size_t i = from; i < to; i++) {
        const lab_record_t *one = &a->records[i], *other = &b->records[i - from];
        LAB_MUST(one->parsed == other->parsed);
        LAB_MUST(one->record.offset == other->record.offset + offset &&
                 one->record.length == other->record.length &&
                 one->record.line_end == other->record.line_end);
        LAB_MUST(one->parsed != PARSED_DOCUMENT || lab_same_document(one, other));
        LAB_MUST(one->parsed != PARSED_REJECT ||
                 (one->record.column == other->record.column && strcmp(one->reason, other->reason) == 0));
    }
}

/* Rejects that begin as a comment does, because they have several lines or the sign was guessed. */
static size_t law_marked(const law_t *law, const lab_records_t *all, const uint8_t *text) {
    size_t marked = 0;
    for (size_t i = 0; i < all->count; i++) {
        const lab_record_t *one = &all->records[i];
        const uint8_t *record = text + one->record.offset;
        LAB_MUST(one->parsed != PARSED_COMMENT || !memchr(record, '\n', one->record.length));
        marked += one->parsed == PARSED_REJECT && one->record.length &&
                  schema_is_comment(law->schema, *record) &&
                  (law->schema->guessed || memchr(record, '\n', one->record.length));
    }
    return marked;
}

static void law_accounts(const law_t *law, const dialect_t *dialect, const lab_records_t *all,
                         const uint8_t *text, size_t length) {
    law_lines_t lines = law_count(law->schema, dialect, text, length, true);
    size_t line = 0;
    LAB_MUST(lab_count(all, PARSED_BLANK) == lines.blank);
    const size_t marked = law_marked(law, all, text);
    LAB_MUST(lab_count(all, PARSED_COMMENT) + marked == lines.comments);
    LAB_MUST(lab_count(all, PARSED_SKIPPED) == lines.skipped);
    /* what begins with a header's word is no document; where the first line is a header, it is one each time, and so may
     * be others that name its columns */
    const size_t headers = lab_count(all, PARSED_HEADER), others = lab_count(all, PARSED_OTHER_HEADER),
                 records = lab_count(all, PARSED_DOCUMENT) + lab_count(all, PARSED_REJECT) - marked;
    LAB_MUST(headers + others + records == lines.headers + lines.records);
    LAB_MUST(law->schema->header == HEADER_WORDS ? records >= lines.records : headers >= lines.headers);
    LAB_MUST(lab_count(all, PARSED_DOCUMENT) <= lines.records);
    size_t at = lines_bom(text, length);
    for (size_t i = 0; i < all->count; i++) {
        const lab_record_t *one = &all->records[i];
        LAB_MUST(one->record.offset == at && one->record.line == line);
        LAB_MUST(one->record.line_end > 0 || i + 1 == all->count);
        for (; at < one->record.offset + one->record.length + one->record.line_end; at++)
            line += text[at] == '\n';
        if (one->parsed == PARSED_DOCUMENT)
            law_valid(one);
        if (one->parsed == PARSED_REJECT)
            LAB_MUST(one->reason[0] && one->record.column >= 1 &&
                     one->record.column <= one->record.length + 1);
    }
    LAB_MUST(at == length);
}

/* The number of the first header; 0: it is the first line, or there is none. */
static size_t law_header_at(const lab_records_t *all) {
    for (size_t i = 0; i < all->count; i++)
        if (all->records[i].parsed == PARSED_HEADER)
            return i;
    return 0;
}

/* A cut into two blocks, at the start of a record. */
static void law_blocks(const law_t *law, const dialect_t *dialect, const lab_records_t *all,
                       const uint8_t *text, size_t length, size_t cut) {
    if (!all->count)
        return;
    cut %= all->count;
    if (cut < lab_count(all, PARSED_SKIPPED)) /* they are in the first block */
        cut = 0;
    if (cut <= law_header_at(all)) /* and so is the header */
        cut = 0;
    size_t at = cut ? all->records[cut].record.offset : 0;
    lab_records_t head = lab_parse(law->reader, dialect, text, at, (lab_how_t){.careful = false});
    lab_records_t tail =
        lab_parse(law->reader, dialect, text + at, length - at, (lab_how_t){.middle = at > 0});
    law_same_records(all, 0, cut, &head, 0);
    law_same_records(all, cut, all->count, &tail, at);
    lab_records_free(&head);
    lab_records_free(&tail);
}

/* Made keys can hold what the fields' own keys do not: how a number was written. */
static bool law_made_says_more(const schema_t *schema) {
    for (size_t i = 0; i < schema->made_count; i++) {
        const make_t *made = &schema->made[i];
        for (size_t j = 0; made->kind != MAKE_POINT && j < made->from_count; j++) {
            const size_t count = made->from[j].count;
            for (size_t k = 0; k < count; k++) {
                const field_t *field = &schema->fields[made->from[j].fields[k]];
                if (field->type != TYPE_TEXT && field->type != TYPE_TRIMMED)
                    return true;
            }
        }
    }
    return false;
}

/* Is there a header with a quote that is never closed? */
static bool law_open_header(const law_t *law, const dialect_t *dialect, const lab_records_t *all,
                            const uint8_t *text) {
    static split_t split;
    bool open = false;
    for (size_t i = 0; i < all->count; i++) {
        const lab_record_t *one = &all->records[i];
        if (one->parsed != PARSED_HEADER && one->parsed != PARSED_OTHER_HEADER)
            continue;
        LAB_MUST(split_record(&split, law->schema, dialect->delimiter, text + one->record.offset,
                              one->record.length));
        open |= split.open != 0;
    }
    return open;
}

static bool law_all_usual(const law_t *law, const dialect_t *dialect, const lab_records_t *all,
                          const uint8_t *text) {
    bool usual = true;
    for (size_t i = 0; i < all->count; i++)
        usual &= all->records[i].parsed != PARSED_DOCUMENT ||
                 law_usual_row(law->schema, dialect, text + all->records[i].record.offset,
                               all->records[i].record.length);
    return usual;
}

static void law_there_and_back(const law_t *law, const dialect_t *dialect, const lab_records_t *all,
                               const uint8_t *text, size_t length) {
    /* where a record ends whose quote is never closed depends on how the next ones are quoted; they are not written with
     * it */
    if (law->schema->multiline && (lab_count(all, PARSED_REJECT) || law_open_header(law, dialect, all, text)))
        return;
    grown_t written = {0};
    err_t err = {.text = ""};
    bool fixed = law->schema->fixed, possible = emit_possible(law->schema, &err);
    bool ok = lab_emit(law->emit, dialect, all, text, &written, &err);
    LAW(ok || err.text[0], text, length, written.at, written.size);
    LAW(possible || !ok || !lab_count(all, PARSED_DOCUMENT), text, length, written.at, written.size);
    /* there is one way of writing a row: what it cannot say is refused */
    bool may_refuse = !possible || law->may_refuse || law_made_says_more(law->schema);
    may_refuse |= !fixed && !law_all_usual(law, dialect, all, text);
    if (!ok && may_refuse) {
        grown_free(&written);
        return;
    }
    LAW(ok, text, length, (const uint8_t *)err.text, strlen(err.text));
    lab_records_t again =
        lab_parse(law->reader, dialect, written.at, written.size, (lab_how_t){.careful = false});
    LAW(again.count == all->count, text, length, written.at, written.size);
    for (size_t i = 0; i < all->count; i++) {
        const lab_record_t *one = &all->records[i], *other = &again.records[i];
        const uint8_t *row = text + one->record.offset, *other_row = written.at + other->record.offset;
        LAW(one->parsed == other->parsed, row, one->record.length, other_row, other->record.length);
        if (one->parsed != PARSED_DOCUMENT)
            continue;
        LAW(lab_same_document(one, other), row, one->record.length, other_row, other->record.length);
        if (fixed || law_usual_row(law->schema, dialect, row, one->record.length))
            LAW(one->record.length == other->record.length && memcmp(row, other_row, one->record.length) == 0,
                row, one->record.length, other_row, other->record.length);
    }
    lab_records_free(&again);
    grown_free(&written);
}

static void law_grow(void *to, const void *bytes, size_t length) {
    grown_add(to, bytes, length);
}

/* Of objects: the same documents however they are asked for and cut, and what a server would take. */
LAB_UNUSED void law_whole_holds(const law_t *law, const uint8_t *text, size_t length, size_t cut) {
    dialect_t dialect;
    err_t err = {.text = ""};
    if (!dialect_sniff(law->schema, text, length, "fuzz.json", &dialect, &err))
        return;
    lab_records_t all = lab_parse(law->reader, &dialect, text, length, (lab_how_t){.careful = false});
    lab_records_t careful = lab_parse(law->reader, &dialect, text, length, (lab_how_t){.careful = true});
    law_same_records(&all, 0, all.count, &careful, 0);
    for (size_t i = 0; i < all.count; i++) {
        bson_t document;
        LAB_MUST(
            all.records[i].parsed != PARSED_DOCUMENT ||
            (bson_init_static(&document, all.records[i].document, all.records[i].record.document_length) &&
             bson_validate(&document, BSON_VALIDATE_UTF8 | BSON_VALIDATE_UTF8_ALLOW_NULL, NULL)));
    }
    if (!lab_count(&all, PARSED_REJECT)) /* whose columns are counted in lines, and those may be cut here */
        law_blocks(law, &dialect, &all, text, length, cut);
    lab_records_free(&all);
    lab_records_free(&careful);
}

/* One input's lines, without rejects, into a new file. */
static bool law_emit_into(const law_t *law, emitted_t *emitted, const dialect_t *dialect,
                          const lab_records_t *some, const uint8_t *text, err_t *err) {
    const dialect_t *written = emitted_begin(emitted, dialect, "fuzz.csv");
    if (some->count && lines_bom(text, some->records[0].record.offset))
        emitted_mark(emitted);
    for (size_t i = 0; i < some->count; i++) {
        const lab_record_t *one = &some->records[i];
        const uint8_t *row = text + one->record.offset;
        emitted_line_t line = {.text = row,
                               .length = one->record.length,
                               .end = row + one->record.length,
                               .end_length = one->record.line_end,
                               .record = one->parsed == PARSED_DOCUMENT,
                               .passed = one->parsed == PARSED_COMMENT || one->parsed == PARSED_SKIPPED};
        bson_t document;
        if (line.record) {
            LAB_MUST(bson_init_static(&document, one->document, one->record.document_length));
            LAB_MUST(emit_record(law->emit, written, &document, &one->shape, &line.text, &line.length, err));
        }
        if (!emitted_line(emitted, &line, err))
            return false;
    }
    return true;
}

static bool law_emitted(const law_t *law, const dialect_t *dialect, const lab_records_t *some,
                        const uint8_t *text, grown_t *file, err_t *err) {
    emitted_t emitted = {.schema = law->schema, .head = SIZE_MAX, .put = law_grow, .to = file};
    bool ok = law_emit_into(law, &emitted, dialect, some, text, err);
    ok = emitted_end(&emitted, err) && ok;
    text_free(&emitted.kept);
    return ok;
}

/* Of the documents every `each`th one: as where a filter leaves some out. */
static void law_new_file(const law_t *law, const dialect_t *dialect, const lab_records_t *all,
                         const uint8_t *text, size_t each) {
    lab_records_t some = {.records = calloc(all->count + 1, sizeof *some.records)};
    grown_t written = {0}, file = {0};
    err_t err = {.text = ""};
    dialect_t again;
    LAB_MUST(some.records);
    for (size_t i = 0; i < all->count; i++) {
        const parsed_t parsed = all->records[i].parsed;
        if (parsed == PARSED_HEADER || parsed == PARSED_BLANK || parsed == PARSED_COMMENT ||
            parsed == PARSED_SKIPPED || (parsed == PARSED_DOCUMENT && i % each == each - 1))
            some.records[some.count++] = all->records[i];
    }
    if (lab_emit(law->emit, dialect, &some, text, &written, &err)) {
        const uint8_t *new = written.at ? written.at : (const uint8_t *)""; /* no record, no file */
        bool same = dialect_sniff(law->schema, new, written.size, "again.csv", &again, &err) &&
                    again.header == dialect->header;
        if (same && !law->schema->fixed &&
            some.count > lab_count(&some, PARSED_BLANK) + lab_count(&some, PARSED_COMMENT) +
                             lab_count(&some, PARSED_SKIPPED))
            same = again.delimiter == dialect->delimiter && again.columns == dialect->columns &&
                   memcmp(again.field_of, dialect->field_of, sizeof again.field_of) == 0;
        const bool ok = law_emitted(law, dialect, &some, text, &file, &err);
        LAW(ok == same || (!ok && law->schema->multiline) || lab_may_be_bson(written.at, written.size),
            written.at, written.size, file.at, file.size);
        LAW(!ok || (file.size == written.size && (!file.size || memcmp(file.at, written.at, file.size) == 0)),
            written.at, written.size, file.at, file.size);
        LAW(ok || !file.size, written.at, written.size, file.at, file.size);
        if (ok) {
            lab_records_t read =
                lab_parse(law->reader, &again, file.at, file.size, (lab_how_t){.careful = false});
            LAW(read.count == some.count, written.at, written.size, file.at, file.size);
            for (size_t i = 0; i < some.count; i++)
                LAW(read.records[i].parsed == some.records[i].parsed &&
                        (read.records[i].parsed != PARSED_DOCUMENT ||
                         lab_same_document(&read.records[i], &some.records[i])),
                    text + some.records[i].record.offset, some.records[i].record.length, file.at, file.size);
            lab_records_free(&read);
        }
    }
    grown_free(&written);
    grown_free(&file);
    free(some.records);
}

/* cut: any number, says where the text is cut into blocks. */
LAB_UNUSED void law_holds(const law_t *law, const uint8_t *text, size_t length, size_t cut, bool emit) {
    err_t err = {.text = ""};
    dialect_t dialect;
    if (!dialect_sniff(law->schema, text, length, "fuzz.csv", &dialect, &err)) {
        LAB_MUST(err.status == STATUS_INPUT &&
                 (strncmp(err.text, "fuzz.csv:", 9) == 0 ||
                  (strstr(err.text, "holds BSON") && lab_may_be_bson(text, length))));
        return;
    }
    lab_records_t careful = lab_parse(law->reader, &dialect, text, length, (lab_how_t){.careful = true});
    law_accounts(law, &dialect, &careful, text, length);
    lab_records_t fast = lab_parse(law->reader, &dialect, text, length, (lab_how_t){.careful = false});
    law_same_records(&careful, 0, careful.count, &fast, 0);
    law_blocks(law, &dialect, &fast, text, length, cut);
    if (emit)
        law_there_and_back(law, &dialect, &careful, text, length);
    for (size_t each = 1; emit && each <= 2; each++)
        law_new_file(law, &dialect, &careful, text, each);
    lab_records_free(&careful);
    lab_records_free(&fast);
}

/* --------------------------------------------------------------------------------------- formats to try it
 * with */

/* NULL: that one is built in. A fuzz input's first byte names its format: '0' is the first one here. */
static const struct {
    const char *name, *yaml;
} law_formats[] = {
    {"mot", NULL},
    {"mot-item", NULL},
    {"types",
     "format: types\nrecord: {delimiter: \";\", header: no, encoding: latin1}\nfields:\n"
     "  - {name: l, type: long}\n  - {name: n, type: number}\n  - {name: p, type: number, divide: 100}\n"
     "  - {name: d, type: date, pattern: [DD/MM/YYYY, YYYYMMDD]}\n  - {name: w, type: datetime}\n"
     "  - {name: t, nulls: []}\n  - {name: i, type: int, optional: yes}\n"},
    {"groups",
     "format: groups\nrecord: {delimiter: [\",\", \"|\"], header: yes, escape: [double, "
     "backslash]}\nfields:\n"
     "  - {name: a, key: p.q.a}\n  - {name: b, key: p.q.b, type: int}\n  - {name: c, key: p.c}\n"
     "  - {name: d, optional: yes, type: trimmed}\n"
     "  - {name: e, key: a_key_that_is_longer_than_sixteen_bytes.and_another_one, optional: yes}\n"},
    {"bare",
     "format: bare\nrecord: {delimiter: [\"\\t\", \" \"], quote: none, header: no}\nfields:\n"
     "  - {name: a}\n  - {name: b, type: int}\n  - {name: c, type: trimmed}\nsurplus: {into: a, left: 0}\n"},
    {"nulls", "format: nulls\nrecord: {delimiter: \",\", header: no}\nfields:\n"
              "  - {name: a, type: int, nulls: [\"0\", \"9999\"]}\n  - {name: b, type: trimmed, nulls: "
              "[\"XX\", \"\"]}\n"
              "  - {name: c, type: number, nulls: [\"1\"]}\n"
              "  - {name: d, type: date, pattern: YYYYMMDD, nulls: [\"19000101\", \"N/A\"]}\n"},
    {"one", "format: one\nrecord: {delimiter: \",\", header: no}\nfields: [{name: a, type: trimmed, nulls: "
            "[\"\", NULL]}]\n"},
    {"words", "format: words\nrecord: {delimiter: [\",\", \";\"], escape: backslash}\nfields:\n"
              "  - {name: id}\n  - {name: note, type: trimmed}\n  - {name: n, type: long}\nsurplus: {into: "
              "note, left: 1}\n"},
    {"apostrophes",
     "format: apostrophes\nrecord: {delimiter: \",\", quote: \"'\", escape: [], header: no}\nfields:\n"
     "  - {name: a}\n  - {name: b}\n"},
    /* keys that are made of fields: of one, of several, of joined ones, of what takes more bytes than in the record */
    {"made", "format: made\nrecord: {delimiter: [\"|\", \",\"], header: no, encoding: latin1}\nfields:\n"
             "  - {name: a, type: trimmed, nulls: [\"\", XX]}\n  - {name: b}\n"
             "  - {name: c, type: number, nulls: [\"\", \"50\"]}\n  - {name: d, type: number}\n"
             "make:\n  - {k: first, from: [a, b, [a, b]], with: [\"\", \"b:\", \"12345678\"]}\n"
             "  - {j: first, from: [[b, a]]}\n  - {p: point, from: [c, d]}\n"},
    {"joined",
     "format: joined\nrecord: {delimiter: [\";\", \" \"], header: yes, escape: [backslash]}\nfields:\n"
     "  - {name: a, optional: yes}\n  - {name: b, type: trimmed, optional: yes}\n  - {name: c, key: g.c, "
     "type: "
     "int}\n"
     "  - {name: d, key: g.d, type: date, pattern: YYYYMMDD, optional: yes}\n"
     "make:\n  - {a_made_key_of_28_bytes_12345: first, from: [[a, b, c, d], [d, c], [b, a], c], with: [x, y, "
     "z, \"\"]}\n"
     "  - {k: first, from: [b, a, [c, d, a, b]]}\n  - {l: first, from: [[d, b]]}\n"},
    /* the types that are not in every file, also where a value looks like a null */
    {"typed", "format: typed\nrecord: {delimiter: [\";\", \"|\"], header: no, encoding: latin1}\nfields:\n"
              "  - {name: a, type: boolean}\n  - {name: b, type: boolean, true: [j, \"1\", \"\xC3\xA9\"], "
              "false: [n, \"0\"]}\n"
              "  - {name: c, type: decimal}\n  - {name: d, key: g.d, type: decimal, divide: 100, nulls: "
              "[\"\", \"0\"]}\n"
              "  - {name: e, key: g.e, type: objectid, nulls: [\"\", \"aaaaaaaaaaaaaaaaaaaaaaaa\"]}\n"
              "  - {name: f, type: uuid, optional: yes}\n"},
    {"numerals",
     "format: numerals\nrecord: {delimiter: [\";\", \"|\"], header: no, decimal: \",\", thousands: "
     "\".\"}\nfields:\n"
     "  - {name: a, type: int}\n  - {name: b, type: number, nulls: [\"\", \"1.000\"]}\n"
     "  - {name: c, type: decimal, thousands: \" \"}\n  - {name: d, key: g.d, type: number, divide: 100}\n"
     "  - {name: e, key: g.e, type: long, thousands: \"'\"}\n"
     "  - {name: f, type: number, decimal: \".\", thousands: none, optional: yes}\n"
     "make:\n  - {p: point, from: [b, d]}\n"},
    {"windows", "format: windows\nrecord: {delimiter: [\";\", \"|\"], header: yes, encoding: windows-1252}\n"
                "fields:\n  - {name: a, column: [a, \"\xE2\x82\xAC\"], nulls: [\"\xE2\x80\x93\"]}\n  - "
                "{name: b, type: trimmed}\n"
                "make:\n  - {k: first, from: [a, [b, a]]}\n"},
    {"dates",
     "format: dates\nrecord: {delimiter: [\";\", \"|\"], header: no}\nfields:\n"
     "  - {name: a, type: date, pattern: [D/M/YYYY, DD/MM/YYYY, epoch_s, epoch_ms]}\n"
     "  - {name: b, type: date, pattern: [\"DD-MON-YY\", \"MONTH D, YYYY\"], nulls: [\"\", \"01-Jan-70\"]}\n"
     "  - {name: c, type: date, pattern: [\"M/D/YY h:mm A\", \"M/D/YYYY h:mm:ss.S A\"]}\n"
     "  - {name: d, type: date, pattern: [\"YYYY-MM-DDThh:mm:ssZZ\", \"YYYY-MM-DDThh:mm:ss.SSSSSSSZZ\"]}\n"},
    /* lines that are no records */
    {"passed",
     "format: passed\nrecord: {delimiter: [\",\", \";\"], header: yes, skip: 2, comment: \"#\"}\nfields:\n"
     "  - {name: a}\n  - {name: b, type: int}\n"},
    {"wide",
     "format: wide\nrecord: {delimiter: [\"||\"], header: [a], escape: [double, backslash]}\nfields:\n"
     "  - {name: a}\n  - {name: b, type: trimmed, optional: yes}\n  - {name: c, type: int, optional: yes}\n"
     "surplus: {into: a, left: 0}\n"},
    {"tilde", "format: tilde\nrecord: {delimiter: \"|~|\", header: no, quote: none}\nfields:\n"
              "  - {name: a}\n  - {name: b, optional: yes}\n"},
    {"blanks", "format: blanks\nrecord: {delimiter: blanks, header: yes, comment: \"#\"}\nfields:\n"
               "  - {name: a}\n  - {name: b, type: int, optional: yes}\n"},
    {"exact", "format: exact\nrecord: {delimiter: [\",\", \";\"], header: no, exact: yes}\nfields:\n"
              "  - {name: a, type: int, nulls: [\"\", \"7\"]}\n  - {name: b, key: g.b, type: long}\n  - "
              "{name: c, type: number}\n"
              "  - {name: d, type: decimal}\n  - {name: e, type: int, thousands: \"'\", optional: yes}\n"
              "make:\n  - {p: point, from: [c, c]}\n"},
    {"comments",
     "format: comments\nrecord: {delimiter: \",\", quote: none, header: no, comment: \"%\"}\nfields:\n"
     "  - {name: a}\n  - {name: b, type: trimmed, optional: yes}\n"},
    {"pairs", "format: pairs\nrecord: {delimiter: \",\", header: no, escape: backslashes}\nfields:\n"
              "  - {name: a}\n  - {name: b, type: trimmed, optional: yes}\n"},
    {"all_escapes",
     "format: all_escapes\nrecord: {delimiter: [\",\", \";\"], header: no, escape: [double, backslashes]}\n"
     "fields:\n  - {name: a}\n  - {name: b, optional: yes}\n"},
    {"guessed", "format: guessed\nrecord: {delimiter: \",\", header: no, comment: \"#\"}\n"
                "fields:\n  - {name: a}\n  - {name: b, type: trimmed, exact: yes}\n"},
};
enum { LAW_FORMATS = sizeof law_formats / sizeof *law_formats };

/* Of records of fixed width, with every trap that the language can lay. */
static const struct {
    const char *name, *yaml;
} law_fixed_formats[] = {
    {"isd", NULL},
    {"isd-study", NULL},
    /* markers of one and of eight bytes, one that starts like another, one that looks like an entry; entries
     * that anything is, and entries that only some bytes are */
    {"markers",
     "format: markers\nrecord: {fixed: 2}\nfields: [{name: n, width: 2, type: length}]\ntail:\n"
     "  - {marker: \"#\", name: any, repeat: [{name: a, width: 2, nulls: \"..\"}, {name: b.c, width: 1}]}\n"
     "  - {marker: \"#!\", name: counted, repeat: [{name: is, width: 1, is: \"[#-&]\"}, {name: text, "
     "lengthWidth: "
     "1}]}\n"
     "  - {marker: \"REMARKS:\", name: free, repeat: [{name: text, lengthWidth: 2}]}\n"
     "  - {marker: \"A\", name: word, repeat: [{name: w, width: 3, is: \"A[A-Z]#\"}, {name: i, width: 2, "
     "type: "
     "int}, {name: t, lengthWidth: 1}]}\n"
     "  - {marker: \"AAA\", name: code, repeat: [{name: c, width: 3, type: trimmed, nulls: \"AAA\"}]}\n"},
    /* families with one layout, with several, with ranges apart; entries before the sections, and after */
    {"families",
     "format: families\nrecord: {fixed: 1}\nfields: [{name: a, width: 1}]\ntail:\n"
     "  - {marker: \"0\", name: before, repeat: [{name: a, width: 1, is: \"[A-Z]\"}]}\n"
     "  - {marker: \"::\", sections: yes}\n"
     "  - {marker: \"Z\\r\", name: after, repeat: [{name: a, width: 4, type: int, sign: always}]}\n"
     "sections:\n"
     "  - {ids: AA1-AA4, name: several, fields: [{name: a, width: 1, nulls: \"9\"}]}\n"
     "  - {ids: [AB1-AB2, AC1-AC2], name: apart, fields: [{name: a.b, width: 2, type: number, divide: 10}, "
     "{name: c, width: 1}, {name: a.d, width: 1}]}\n"
     "  - {ids: AB4, name: odd, fields: [{name: a, width: 1}]}\n"
     "  - {ids: AD3, name: one, fields: [{name: a, width: 1, nulls: \" \"}]}\n"
     "  - {ids: AE2, name: low, fields: [{name: a, width: 1, nulls: \"9\"}]}\n"
     "  - {ids: AE7, name: high, fields: [{name: a, width: 1, nulls: \"9\"}]}\n"},
    {"listed", "format: listed\nrecord: {fixed: 1}\nfields: [{name: a, width: 1}]\ntail:\n"
               "  - {marker: \"+\", sections: yes, list: sections}\n"
               "  - {marker: \"-\", name: rest, repeat: [{name: a, lengthWidth: 1}]}\n"
               "sections:\n"
               "  - {ids: AA1-AA4, name: several, fields: [{name: a, width: 1, nulls: \"9\"}]}\n"
               "  - {ids: AB1, name: one, fields: [{name: a, width: 1, nulls: \"9\"}]}\n"
               "  - {ids: AC1, name: low, fields: [{name: a, width: 1}]}\n"
               "  - {ids: AC9, name: high, fields: [{name: a, width: 1}]}\n"},
    {"left-out", "format: left-out\nrecord: {fixed: 2}\nfields: [{name: a, width: 2, type: trimmed}]\ntail:\n"
                 "  - {marker: \"+\", sections: yes, leaveOut: yes}\n"
                 "  - {marker: \"-\", name: out, leaveOut: yes, repeat: [{name: a, lengthWidth: 1}]}\n"
                 "  - {marker: \"=\", name: in, repeat: [{name: a, lengthWidth: 1}]}\n"
                 "sections: [{ids: AA1-AA4, name: several, fields: [{name: a, width: 1}]}]\n"},
    /* no tail; every type, every sign, keys longer than their usual room, subdocuments in each other */
    {"types",
     "format: types\nrecord: {fixed: 60}\ndocument: [long, point, made_of_two_that_are_joined, g]\nfields:\n"
     "  - {name: g.a, width: 1, nulls: \"9\"}\n"
     "  - {name: i1, width: 2, type: int, multiply: 10, nulls: \"99\"}\n"
     "  - {name: i2, width: 3, type: int, sign: minus}\n"
     "  - {name: g.h.i3, width: 1, type: int, sign: always}\n"
     "  - {name: g.h.a_key_of_more_than_thirty_bytes_12345, width: 4, type: number, sign: minus, divide: "
     "1000}\n"
     "  - {name: y, width: 8}\n"
     "  - {name: m, width: 4, nulls: \"9999\"}\n"
     "  - {name: a_group_of_more_than_thirty_bytes_12345.c, width: 3, type: trimmed, nulls: \"   \"}\n"
     "  - {name: long, width: 10, nulls: \"9999999999\"}\n"
     "  - {name: longer, width: 9, nulls: \"AAAAAAAAA\"}\n"
     "  - {name: lat, width: 3, type: number, sign: minus, nulls: \"999\"}\n"
     "  - {name: g.lon, width: 4, type: number, sign: always, divide: 10}\n"
     "  - {name: n8, width: 8, type: number, sign: always, divide: 1000000000}\n"
     "make:\n"
     "  - {ts: utc, from: [y, m]}\n"
     "  - {point: point, from: [lat, g.lon]}\n"
     "  - {made_of_two_that_are_joined: first, from: [g.a, long, [i1, i2]], with: [\"a\", \"\", "
     "\"12345678\"]}\n"},
};
enum { LAW_FIXED_FORMATS = sizeof law_fixed_formats / sizeof *law_fixed_formats };

static void law_make(law_t *law, const char *name, const char *yaml) {
    err_t err = {.text = ""};
    if (law->schema)
        return;
    schema_t *schema = yaml ? lab_schema(yaml) : format_open(name, &err);
    LAB_MUST(schema);
    schema->guessed = strcmp(name, "guessed") == 0;
    *law = law_for(schema);
}

/* One of the formats above, made once. */
LAB_UNUSED const law_t *law_format(uint8_t which) {
    static law_t laws[LAW_FORMATS];
    size_t index = (size_t)(uint8_t)(which - '0') % LAW_FORMATS;
    law_make(&laws[index], law_formats[index].name, law_formats[index].yaml);
    return &laws[index];
}

LAB_UNUSED const law_t *law_fixed(uint8_t which) {
    static law_t laws[LAW_FIXED_FORMATS];
    size_t index = (size_t)(uint8_t)(which - '0') % LAW_FIXED_FORMATS;
    law_make(&laws[index], law_fixed_formats[index].name, law_fixed_formats[index].yaml);
    return &laws[index];
}

#endif
