#include "format/fixed/fixed.h"
#include "base/chars/lines.h"
#include "base/chars/utf8.h"
#include "format/fixed/fixed_encode.h"
#include "format/record/bsonw.h"
#include "format/record/dialect.h"
#include "format/values/convert.h"

#include <assert.h>
#include <stdio.h>
#include <stdlib.h>

struct fixed {
    const schema_t *schema;
    fixed_plan_t plan;
    fixed_walk_t walk;
    fixed_encoder_t encoder;
    const uint8_t *text;
    uint32_t length, at, line;
    bool with_id;
    int64_t id_base;
    char reason[200];
};

fixed_t *fixed_new(const schema_t *schema) {
    fixed_t *fixed = calloc(1, sizeof *fixed);
    if (!fixed || !fixed_plan_compile(schema, &fixed->plan)) {
        free(fixed);
        return NULL;
    }
    fixed->schema = schema;
    fixed->encoder.plan = &fixed->plan;
    memcpy(&fixed->encoder.day_text, "19700101", 8); /* the date of day 0: valid before any record was read */
    return fixed;
}

void fixed_destroy(fixed_t *fixed) {
    if (!fixed)
        return;
    fixed_plan_free(&fixed->plan);
    fixed_walk_free(&fixed->walk);
    free(fixed);
}

uint64_t fixed_odd(const fixed_t *fixed) {
    return fixed->encoder.kept_as_text;
}

void fixed_begin(fixed_t *fixed, const uint8_t *text, uint32_t length, bool file_start, bool with_id,
                 int64_t id_base) {
    fixed->text = text;
    fixed->length = length;
    fixed->at = file_start ? (uint32_t)lines_bom(text, length) : 0;
    fixed->line = 0;
    fixed->with_id = with_id;
    fixed->id_base = id_base;
}

static bool holds_high(const uint8_t *text, size_t length) {
    uint64_t bits = 0;
    size_t i = 0;
    for (; i + 32 <= length; i += 32)
        bits |= digits_load(text + i) | digits_load(text + i + 8) | digits_load(text + i + 16) |
                digits_load(text + i + 24);
    for (; i < length; i++)
        bits |= text[i];
    return bits & 0x8080808080808080ull;
}

/* How many characters follow the fixed part, as the record says; 0 if it does not say. */
static uint64_t announced(const fixed_t *fixed, const uint8_t *record) {
    for (size_t i = 0; i < fixed->schema->field_count; i++) {
        const field_t *field = &fixed->schema->fields[i];
        uint64_t count;
        if (field->type == TYPE_LENGTH)
            return convert_digits(record + field->offset, field->width, &count) ? count : 0;
    }
    return 0;
}

/* Does the record end too early: within its fixed part, or where the file was cut off? */
static bool is_short(fixed_t *fixed, bool ends_file, record_t *record) {
    const schema_t *schema = fixed->schema;
    const uint8_t *text = fixed->text + record->offset;
    if (record->length < schema->fixed) {
        snprintf(fixed->reason, sizeof fixed->reason,
                 "it has %u characters; a record of the format %s has at least %u", record->length,
                 schema->name, schema->fixed);
    } else if (ends_file && announced(fixed, text) > record->length - schema->fixed) {
        snprintf(
            fixed->reason, sizeof fixed->reason,
            "it was cut short: it announces %llu characters after the first %u, and the file ends after %u",
            (unsigned long long)announced(fixed, text), schema->fixed, record->length - schema->fixed);
    } else {
        return false;
    }
    record->reason = fixed->reason;
    record->column = record->length + 1;
    record->field = NULL;
    return true;
}

/* Widths count bytes. The record's writer counted characters instead if the fixed part contains a character of several
 * bytes, and what follows the fixed part is unknown to the format: it is the end of the fixed part. */
static bool is_shifted(fixed_t *fixed, record_t *record) {
    const uint8_t *text = fixed->text + record->offset;
    const uint32_t width = fixed->schema->fixed;
    size_t at = 0, length = 0;
    if (fixed->walk.gap != width || fixed->walk.gap_end <= width)
        return false;
    for (; at < width && length < 2; at += length < 2)
        length = utf8_character(text + at, record->length - at);
    if (length < 2)
        return false;
    snprintf(
        fixed->reason, sizeof fixed->reason,
        "a character of %zu bytes (UTF-8) has moved what comes after it: the widths of the format %s count "
        "bytes; have the file written with one byte a character (Latin-1)",
        length, fixed->schema->name);
    record->reason = fixed->reason;
    record->column = (uint32_t)at + 1;
    record->field = NULL;
    return true;
}

parsed_t fixed_next(fixed_t *fixed, uint8_t *out, size_t room, record_t *record) {
    if (fixed->at >= fixed->length)
        return PARSED_END;
    const uint8_t *text = fixed->text + fixed->at;
    uint32_t rest = fixed->length - fixed->at;
    const uint8_t *stop = memchr(text, '\n', rest);
    uint32_t whole = stop ? (uint32_t)(stop - text) + 1 : rest;
    uint32_t length = whole - (stop != NULL);
    length -= length && text[length - 1] == '\r';
    *record = (record_t){
        .offset = fixed->at, .length = length, .line = fixed->line, .line_end = (uint8_t)(whole - length)};
    if (!length || is_short(fixed, !stop, record)) {
        fixed->at += whole;
        fixed->line++;
        return length ? PARSED_REJECT : PARSED_BLANK;
    }
    if (!fixed_walk(&fixed->plan, text, length, &fixed->walk))
        return PARSED_MEMORY;
    record->needed = 64 + (size_t)fixed->plan.record.worst + fixed->walk.worst;
    const bool large = record->needed > RECORD_MOST_NEEDED;
    if (room < record->needed && !large)
        return PARSED_FULL;
    fixed->at += whole;
    fixed->line++;
    if (large)
        return record_refuse_large(record);
    fixed_encoder_t *encoder = &fixed->encoder;
    encoder->record = text;
    encoder->length = length;
    encoder->high = holds_high(text, length);
    if (__builtin_expect(encoder->high, 0) && is_shifted(fixed, record))
        return PARSED_REJECT;
    uint8_t *at = out + 4;
    if (fixed->with_id) {
        memcpy(at, "\x12_id", 5);
        at = bsonw_int64(at + 5, fixed->id_base + record->offset);
    }
    at = fixed_encode(encoder, &fixed->walk, at);
    *at++ = 0;
    bsonw_int32(out, (int32_t)(at - out));
    record->document_length = (uint32_t)(at - out);
    assert(record->document_length <= record->needed);
    return PARSED_DOCUMENT;
}
