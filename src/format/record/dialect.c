#include "base/chars.h"
#include "format/cut/bson_length.h"
#include "format/cut/bson_walk.h"
#include "format/cut/ends.h"
#include "format/record/dialect.h"
#include "format/record/dialect_inner.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <xxhash.h>

enum { BSON_FIRST = 8 };

size_t dialect_begin(const schema_t *schema, const uint8_t *text, size_t length) {
    size_t at = lines_bom(text, length);
    for (uint32_t i = 0; i < schema->skip; i++) {
        const uint8_t *feed = at < length ? memchr(text + at, '\n', length - at) : NULL;
        if (!feed)
            return length;
        at = (size_t)(feed - text) + 1;
    }
    return at;
}

/* The next line (or record of several) that is neither blank nor a comment, without its end; false at the end of the
 * text. */
static bool next_line(const schema_t *schema, char delimiter, const uint8_t **at, const uint8_t *end,
                      dialect_text_t *line, uint8_t *line_end) {
    while (*at < end) {
        const size_t length = ends_find(schema, delimiter, *at, (size_t)(end - *at), true);
        const bool feed = (*at)[length - 1] == '\n';
        line->text = *at;
        line->length = length - feed;
        *at += length;
        bool carriage = line->length && line->text[line->length - 1] == '\r';
        line->length -= carriage;
        if (line_end)
            *line_end = carriage ? 2 : 1;
        if (line->length && !schema_is_comment(schema, line->text[0]))
            return true;
    }
    return false;
}

/* No header: the delimiter and layout that fit most of the first records whose quotes are closed; of those that fit as many
 * the one of more columns: a delimiter that is nowhere in the text fits a layout of one column. */
static bool guess_layout(const schema_t *schema, split_t *split, const uint8_t *text, size_t length,
                         dialect_t *dialect, err_t *err) {
    size_t best = 0;
    dialect->delimiter = schema->delimiters[0];
    const layout_t *chosen = &schema->layouts[0];
    for (size_t d = 0; d < schema->delimiter_count; d++) {
        size_t exact[SCHEMA_MOST_LAYOUTS] = {0}, surplus = 0;
        const uint8_t *at = text;
        dialect_text_t line;
        for (int n = 0; n < DIALECT_SAMPLE_LINES &&
                        next_line(schema, schema->delimiters[d], &at, text + length, &line, NULL);
             n++) {
            if (!split_record(split, schema, schema->delimiters[d], line.text, line.length))
                return err_memory(err, line.length);
            if (!split_is_sound(split))
                continue;
            bool fits = false;
            for (size_t i = 0; i < schema->layout_count; i++) {
                exact[i] += schema->layouts[i].count == split->count;
                fits |= schema->layouts[i].count == split->count;
            }
            surplus += !fits && schema->surplus_field >= 0 && split->count > schema->layouts[0].count;
        }
        for (size_t i = 0; i < schema->layout_count; i++) {
            size_t score = exact[i] * 2 + (exact[i] || i == 0 ? surplus : 0);
            const size_t more = schema->layouts[i].count, most = chosen->count;
            if (score > best || (score && score == best && more > most)) {
                best = score;
                chosen = &schema->layouts[i];
                dialect->delimiter = schema->delimiters[d];
            }
        }
    }
    dialect_use_layout(schema, dialect, chosen);
    return true;
}

/* Without zeros in its spans: they are many, and a small file has few bytes. */
static split_t *new_split(void) {
    split_t *split = malloc(sizeof *split);
    if (split)
        memset((uint8_t *)split + sizeof split->spans, 0, sizeof *split - sizeof split->spans);
    return split;
}

/* What the first line says. False: it is a header that does not fit. */
static bool sniff_header(const schema_t *schema, split_t *split, const uint8_t *text, size_t length,
                         const char *name, dialect_t *dialect, uint64_t *number, err_t *err) {
    const uint8_t *const first = text + dialect_begin(schema, text, length), *at = first;
    dialect_text_t line;
    *number = 1;
    dialect->line_end = 1;
    dialect->delimiter = schema->delimiters[0];
    dialect_use_layout(schema, dialect, &schema->layouts[0]);
    if (!next_line(schema, dialect->delimiter, &at, text + length, &line, &dialect->line_end))
        return true;
    if (schema->header == HEADER_WORDS)
        dialect->header = dialect_starts_with_word(schema, line.text, line.length, &dialect->delimiter);
    if (schema->header == HEADER_LINE)
        dialect->header = true;
    if (schema->header == HEADER_YES) {
        dialect->header = true;
        size_t most = 0;
        for (size_t d = 0; d < schema->delimiter_count; d++) {
            at = first;
            next_line(schema, schema->delimiters[d], &at, text + length, &line, NULL);
            if (!split_record(split, schema, schema->delimiters[d], line.text, line.length))
                return err_memory(err, line.length);
            size_t known = dialect_columns_known(schema, split);
            if (known > most) {
                most = known;
                dialect->delimiter = schema->delimiters[d];
            }
        }
    }
    at = first; /* its end may depend on the delimiter */
    next_line(schema, dialect->delimiter, &at, text + length, &line, &dialect->line_end);
    *number = line.number = 1 + lines_count(text, (size_t)(line.text - text));
    if (dialect->header) {
        dialect->header_length = line.length;
        dialect->header_hash = XXH3_64bits(line.text, line.length);
        dialect->header_first = line.text[0];
    }
    if (schema->header == HEADER_LINE)
        return dialect_is_header_line(schema, &line, name, err);
    if (schema->header == HEADER_REFUSE)
        return dialect_is_no_header(schema, split, &line, name, dialect, err);
    return !dialect->header || dialect_read_header(schema, split, &line, name, dialect, err);
}

/* ---- JSON ---- */

/* A file of another kind would be a reject on each of its lines. */
static bool check_json(const uint8_t *text, size_t length, const char *name, err_t *err) {
    const size_t at = json_span_begins(text, length);
    if (at == length || text[at] == '{' || text[at] == '[')
        return true;
    const bool shown = text[at] > ' ' && text[at] < 0x7F;
    char byte[8];
    snprintf(byte, sizeof byte, shown ? "%c" : "\\x%02X", text[at]);
    return err_set(err, STATUS_INPUT, "%s: is no JSON: it begins with %s, and not with { or [", name, byte);
}

/* ---- BSON ---- */

bool dialect_refuse_bson(const char *name, const uint8_t *text, size_t length, err_t *err) {
    char shown[16];
    for (size_t i = 0, used = 0; i < 5 && i < length; i++)
        used += (size_t)snprintf(shown + used, sizeof shown - used, i ? " %02X" : "%02X", text[i]);
    return err_set(err, STATUS_INPUT,
                   "%.1000s: is no BSON: it begins with the bytes %s, and not with the length of a document, "
                   "%d to %d, and the type of its first element",
                   name, shown, BSON_LENGTH_LEAST, BSON_LENGTH_MOST);
}

/* Is it BSON where that is wanted, and nowhere else? Whether its documents are whole, its reader sees. */
static bool check_bson(const schema_t *schema, const uint8_t *text, size_t length, const char *name,
                       err_t *err) {
    if (schema->kind != RECORDS_BSON)
        return !bson_span_begins(text, length) ||
               err_set(err, STATUS_INPUT, "%.1000s: holds BSON documents: give --format bson, or none", name);
    const bool may_be = length < 4 || bson_length_may_be(bson_length(text));
    return (may_be && (length < 5 || !text[4] || bson_walk_knows(text[4]))) ||
           bson_span_begins_broken(text, length) || dialect_refuse_bson(name, text, length, err);
}

bool dialect_may_be_encoded(const schema_t *schema, const uint8_t *text, size_t length, bool utf16,
                            const char *name, err_t *err) {
    return encoding_keeps_utf8(schema->encoding) || (!utf16 && !lines_bom(text, length)) ||
           err_set(err, STATUS_INPUT,
                   "%s:1: its text is %s, and by the format %s it is %s; give a --format without 'encoding'",
                   name, utf16 ? "UTF-16" : "UTF-8, as its byte-order mark says", schema->name,
                   encoding_names[schema->encoding]);
}

static bool sniff(const schema_t *schema, const uint8_t *text, size_t length, const char *name, bool warns,
                  dialect_t *dialect, err_t *err) {
    dialect_start(dialect);
    if (!check_bson(schema, text, length, name, err) ||
        !dialect_may_be_encoded(schema, text, length, false, name, err))
        return false;
    if (schema->kind != RECORDS_DELIMITED) {
        dialect_clear_columns(dialect);
        const size_t begins = schema->kind == RECORDS_JSON ? json_span_begins(text, length) : length;
        dialect->array = begins < length && text[begins] == '[';
        dialect->line_end = 1;
        dialect->hash = dialect_hash_of(schema, dialect);
        return schema->kind != RECORDS_JSON || check_json(text, length, name, err);
    }
    split_t *split = new_split();
    if (!split)
        return err_memory(err, sizeof *split);
    const size_t begin = dialect_begin(schema, text, length);
    uint64_t number;
    bool ok = sniff_header(schema, split, text, length, name, dialect, &number, err);
    if (ok && dialect->header && schema->header != HEADER_LINE && warns)
        dialect_warn_unknown(schema, split, dialect, name, number);
    else if (ok && !dialect->header)
        ok = guess_layout(schema, split, text + begin, length - begin, dialect, err);
    dialect->hash = dialect_hash_of(schema, dialect);
    split_free(split);
    free(split);
    return ok;
}

bool dialect_sniff(const schema_t *schema, const uint8_t *text, size_t length, const char *name,
                   dialect_t *dialect, err_t *err) {
    return sniff(schema, text, length, name, true, dialect, err);
}

bool dialect_sniff_again(const schema_t *schema, const uint8_t *text, size_t length, dialect_t *dialect) {
    err_t told; /* when it was sniffed first */
    return sniff(schema, text, length, "", false, dialect, &told);
}

/* Is there anything that only the file's first line tells? */
static bool asks_first_line(const schema_t *schema) {
    return schema->kind == RECORDS_DELIMITED &&
           (schema->header != HEADER_NO || schema->delimiter_count > 1 || schema->layout_count > 1);
}

/* Of a line of which only the beginning is there. */
static bool begins_header(const schema_t *schema, const dialect_text_t *line) {
    char delimiter;
    return schema->header == HEADER_YES || schema->header == HEADER_LINE ||
           (schema->header == HEADER_WORDS &&
            dialect_starts_with_word(schema, line->text, line->length, &delimiter));
}

/* All of it is skipped, and the header is not there: it may be among that. An empty file is none. */
static bool check_skipped(const schema_t *schema, const uint8_t *text, size_t length, const char *name,
                          err_t *err) {
    size_t begins, ends;
    if (!schema->skip || (schema->header != HEADER_YES && schema->header != HEADER_LINE) ||
        dialect_first_line(schema, text, length, true, &begins, &ends) || begins < length)
        return true;
    return !ends_last_byte(text, length) ||
           err_set(err, STATUS_INPUT,
                   "%s ends within the %u line%s that the format skips, before its header: it has fewer "
                   "lines in front of "
                   "that, or is not complete. If it has fewer, load it by a --format of its own (skip)",
                   name, schema->skip, schema->skip == 1 ? "" : "s");
}

bool dialect_sniff_head(const schema_t *schema, const dialect_head_t *head, const char *name,
                        dialect_t *dialect, err_t *err) {
    const uint8_t *first = head->text + dialect_begin(schema, head->text, head->length + head->begun),
                  *at = first;
    dialect_text_t line;
    if (!dialect_may_be_encoded(schema, head->text, head->length, head->utf16, name, err))
        return false;
    if (schema->kind == RECORDS_BSON || schema->kind == RECORDS_JSON) /* which have no lines */
        return dialect_sniff(schema, head->text, head->length + head->begun, name, dialect, err);
    if (schema->skip && head->more && first >= head->text + head->length)
        return err_set(
            err, STATUS_INPUT,
            "%s:1: the %u lines that the format %s skips are longer than %zu bytes; give a smaller "
            "'skip', or take them away first (tail -n +%u)",
            name, schema->skip, schema->name, head->length, schema->skip + 1);
    if (!head->more && !check_skipped(schema, head->text, head->length + head->begun, name, err))
        return false;
    const bool says = next_line(schema, schema->delimiters[0], &at, head->text + head->length, &line, NULL);
    if (says || !head->more || !asks_first_line(schema))
        return dialect_sniff(schema, head->text, head->length, name, dialect, err);
    at = first;
    if (!next_line(schema, schema->delimiters[0], &at, head->text + head->length + head->begun, &line, NULL))
        return err_set(err, STATUS_INPUT,
                       "%s:1: its first %zu bytes are empty lines%s, so that its columns are not known; take "
                       "these lines away (sed '/%s/,$!d')",
                       name, head->length, schema->comment ? " and comments" : "",
                       schema->comment ? (const char[]){'^', '[', '^', schema->comment, ']', 0} : ".");
    if (begins_header(schema, &line))
        return err_set(err, STATUS_INPUT,
                       "%s:1: its header is longer than 16 MiB, so that its columns are not known", name);
    return dialect_sniff(schema, head->text, head->length, name, dialect, err);
}

bool dialect_may_refuse(const schema_t *schema) {
    return schema_any_fields(schema) ||
           (schema->kind == RECORDS_DELIMITED &&
            (schema->header != HEADER_NO || !encoding_keeps_utf8(schema->encoding)));
}

/* An empty line, or a comment, which may have no end yet. *end: after it; length: there is none. */
static bool is_no_record(const schema_t *schema, const uint8_t *text, size_t length, bool whole,
                         size_t *end) {
    size_t found = 0;
    if (schema_is_comment(schema, *text)) {
        found = ends_find(schema, schema->delimiters[0], text, length, whole);
    } else {
        const uint8_t *feed = memchr(text, '\n', length);
        found = feed ? (size_t)(feed - text) + 1 : 0;
        if (*text != '\n' && (*text != '\r' || found != 2))
            return false;
    }
    *end = found ? found : length;
    return true;
}

bool dialect_first_line(const schema_t *schema, const uint8_t *text, size_t length, bool whole,
                        size_t *begins, size_t *ends) {
    const size_t count = schema->kind == RECORDS_DELIMITED && schema->multiline ? schema->delimiter_count : 1;
    size_t at = dialect_begin(schema, text, length);
    *begins = *ends = length;
    if (schema->kind == RECORDS_BSON) { /* which has no lines; its first bytes tell all */
        *begins = 0;
        *ends = length < BSON_FIRST ? length : BSON_FIRST;
        return length >= BSON_FIRST || (whole && length);
    }
    for (size_t end; at < length && is_no_record(schema, text + at, length - at, whole, &end);)
        at += end;
    if (at == length)
        return false;
    *begins = at;
    size_t most = 0;
    for (size_t d = 0; d < count; d++) {
        const size_t end = ends_find(schema, schema->delimiters[d], text + at, length - at, whole);
        if (!end || text[at + end - 1] != '\n')
            return false;
        most = end > most ? end : most;
    }
    *ends = at + most - 1;
    return true;
}

bool dialect_fits(const schema_t *schema, const uint8_t *text, size_t length, const char *name, err_t *err) {
    dialect_t dialect;
    if (!check_bson(schema, text, length, name, err))
        return false;
    if (!dialect_may_refuse(schema) || schema->kind == RECORDS_BSON)
        return true;
    if (schema->kind == RECORDS_JSON)
        return check_json(text, length, name, err);
    if (!check_skipped(schema, text, length, name, err))
        return false;
    dialect_start(&dialect);
    split_t *split = new_split();
    if (!split)
        return err_memory(err, sizeof *split);
    uint64_t number;
    bool ok = sniff_header(schema, split, text, length, name, &dialect, &number, err);
    split_free(split);
    free(split);
    return ok;
}

void first_line_note(first_line_t *first, const schema_t *schema, const uint8_t *text, size_t length) {
    size_t begins, ends;
    const bool kept = dialect_first_line(schema, text, length, false, &begins, &ends) &&
                      ends - begins <= sizeof first->line;
    first->length = kept ? ends - begins : 0;
    memcpy(first->line, text + begins, first->length);
}

bool first_line_is(const first_line_t *first, const schema_t *schema, const uint8_t *text, size_t length) {
    size_t begins, ends;
    return first->length && dialect_first_line(schema, text, length, false, &begins, &ends) &&
           ends - begins == first->length && memcmp(text + begins, first->line, first->length) == 0;
}
