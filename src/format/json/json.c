#include "format/json/json.h"
#include "base/chars/lines.h"
#include "format/cut/json_span.h"
#include "format/json/json_fields.h"
#include "format/json/json_value.h"
#include "format/record/dialect.h"

#include <stdlib.h>
#include <string.h>

struct json {
    json_value_t *value;
    json_fields_t *fields; /* NULL: values have the types that they are written with */
    const uint8_t *text;
    uint32_t length, at, line;
    bool keeps_id, with_id;
    int64_t id_base;
};

json_t *json_new(const schema_t *schema, bool keeps_id) {
    json_t *json = calloc(1, sizeof *json);
    if (!json || !(json->value = json_value_new()) ||
        (schema->field_count && !(json->fields = json_fields_new(schema)))) {
        json_destroy(json);
        return NULL;
    }
    json->keeps_id = keeps_id;
    return json;
}

void json_destroy(json_t *json) {
    if (!json)
        return;
    json_value_destroy(json->value);
    json_fields_destroy(json->fields);
    free(json);
}

uint64_t json_bad_values(const json_t *json) {
    return json->fields ? json_fields_bad_values(json->fields) : 0;
}

uint64_t json_bad_of(const json_t *json, size_t field) {
    return json->fields ? json_fields_bad_of(json->fields, field) : 0;
}

void json_begin(json_t *json, const uint8_t *text, uint32_t length, bool file_start, bool with_id,
                int64_t id_base) {
    json->text = text;
    json->length = length;
    json->at = file_start ? (uint32_t)lines_bom(text, length) : 0;
    json->line = 0;
    json->with_id = with_id;
    json->id_base = id_base;
}

/* Where the mistake is, not where its record begins. */
static parsed_t refuse(const json_t *json, record_t *record, uint32_t mistake, const char *reason) {
    const uint32_t at = record->offset + mistake;
    const uint8_t *line = at ? memrchr(json->text, '\n', at) : NULL;
    record->line += (uint32_t)lines_count(json->text + record->offset, mistake);
    record->column = at + 1 - (uint32_t)(line ? line + 1 - json->text : 0);
    record->reason = reason;
    return PARSED_REJECT;
}

/* The next record: [at, at + length) with its line end. Returns where its object begins. */
static uint32_t find(const json_t *json, record_t *record) {
    const uint8_t *text = json->text + json->at;
    json_span_t span = {0};
    uint32_t length = (uint32_t)json_span_find(&span, text, json->length - json->at, true);
    const bool feed = length && text[length - 1] == '\n',
               carriage = feed && length > 1 && text[length - 2] == '\r';
    const uint8_t line_end = (uint8_t)(feed + carriage);
    *record =
        (record_t){.offset = json->at, .length = length - line_end, .line = json->line, .line_end = line_end};
    return span.phase == SPAN_BEFORE ? record->length : (uint32_t)span.object;
}

static void pass(json_t *json, const record_t *record) {
    const uint32_t length = record->length + record->line_end;
    json->line += (uint32_t)lines_count(json->text + json->at, length);
    json->at += length;
}

/* Gives values the types of the format. */
static __attribute__((noinline)) json_read_t apply(json_t *json, uint8_t *out, size_t room,
                                                   json_result_t *result) {
    json_fields_result_t applied = {.needed = 0};
    const json_read_t read = json_fields_apply(json->fields, out, room, &result->length, &applied);
    result->needed = applied.needed;
    result->reason = applied.reason;
    result->field = NULL;
    result->at = 0;
    return read;
}

parsed_t json_next(json_t *json, uint8_t *out, size_t room, record_t *record) {
    if (json->at >= json->length)
        return PARSED_END;
    const uint32_t from = find(json, record);
    const uint8_t *text = json->text + record->offset;
    uint32_t to = record->length;
    while (to > from + 1 && json_span_is_around(text[to - 1]))
        to--;
    json_result_t result;
    if (from == record->length) {
        pass(json, record);
        return PARSED_BLANK;
    }
    json_read_t read = json_value_read(json->value, text + from, to - from, out, room, json->with_id,
                                       json->id_base + record->offset, &result);
    if (__builtin_expect(read == JSON_DOCUMENT && json->fields, 0))
        read = apply(json, out, room, &result);
    switch (read) {
    case JSON_FULL:
        record->needed = result.needed;
        return PARSED_FULL;
    case JSON_MEMORY:
        record->needed = to - from;
        return PARSED_MEMORY;
    case JSON_REJECT:
        pass(json, record);
        record->field = result.field;
        return refuse(json, record, from + (uint32_t)result.at, result.reason);
    case JSON_DOCUMENT:
        break;
    }
    pass(json, record);
    if (result.own_id && json->with_id && !json->keeps_id)
        return refuse(
            json, record, from,
            "it brings its own _id, but in this collection the _id of a document is the place of its "
            "record: load it into another collection with --id _id, or take its _id out");
    record->document_length = result.length;
    return PARSED_DOCUMENT;
}
