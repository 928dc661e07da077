/* Records of JSON, one after the other, and texts in memory that are one document. */
#include "format/json/json.h"
#include "base/chars.h"
#include "base/text.h"
#include "base/threads.h"
#include "format/cut/json_span.h"
#include "format/json/json_inner.h"
#include "format/record/dialect.h"

#include <stdlib.h>
#include <string.h>

/* ---- records ---- */

struct json {
    json_value_t *value;
    bad_values_t *bad;
    record_text_t in;
    bool keeps_id;
};

json_t *json_new(const schema_t *schema, bool keeps_id, bad_values_t *bad) {
    json_t *json = calloc(1, sizeof *json);
    if (!json || !(json->value = values_new()) ||
        (schema->field_count && !(json->value->fields = json_fields_new(schema)))) {
        json_destroy(json);
        return NULL;
    }
    json->bad = bad;
    json->keeps_id = keeps_id;
    return json;
}

void json_destroy(json_t *json) {
    if (!json)
        return;
    if (json->value)
        free(json->value->fields);
    values_free(json->value);
    free(json);
}

void json_begin(json_t *json, const record_text_t *in) {
    json->in = *in;
}

/* Where the mistake is, not where its record begins. */
static parsed_t refuse(const json_t *json, record_t *record, uint32_t mistake, const char *reason) {
    const uint32_t at = record->offset + mistake;
    const uint8_t *line = at ? memrchr(json->in.text, '\n', at) : NULL;
    record->line += (uint32_t)lines_count(json->in.text + record->offset, mistake);
    record->column = at + 1 - (uint32_t)(line ? line + 1 - json->in.text : 0);
    record->reason = reason;
    return PARSED_REJECT;
}

/* Describes the record at hand, which has `length` bytes with its line end. */
static void set_record(const json_t *json, uint32_t length, record_t *record) {
    const uint8_t *const text = json->in.text + json->in.at;
    const bool feed = length && text[length - 1] == '\n',
               carriage = feed && length > 1 && text[length - 2] == '\r';
    const uint8_t line_end = (uint8_t)(feed + carriage);
    *record = (record_t){
        .offset = json->in.at, .length = length - line_end, .line = json->in.line, .line_end = line_end};
}

/* What stands before the object of most records. */
static bool is_before(uint8_t byte) {
    return byte == ' ' || byte == '\t' || byte == ',' || byte == 0x1E;
}

/* Reads the record at hand from its object's bracket on, which is at *begin; it ends where the object does, with what stands
 * around it. Where no object can be read so, json_span finds the end: the object may end elsewhere, or be missing, and then the
 * record is blank. */
static json_read_t read_record(json_t *json, uint8_t *out, size_t room, record_t *record, uint32_t *begin,
                               uint32_t *lines, json_result_t *result) {
    enum { MOST_BEFORE = 32 };
    const int64_t place = json->in.id_base + json->in.at, *const id = json->in.with_id ? &place : NULL;
    const uint8_t *const text = json->in.text + json->in.at;
    const uint32_t left = json->in.length - json->in.at;
    uint32_t from = 0;
    while (from < MOST_BEFORE && is_before(text[from]))
        from++;
    if (from < left && text[from] == '{' &&
        json_value_read(json->value, text + from, left - from, false, out, room, id, result) ==
            JSON_DOCUMENT &&
        !json->value->slashes) {
        const uint32_t at = from + (uint32_t)result->end;
        const bool usual = at < left && text[at] == '\n';
        const uint32_t end = usual ? at + 1 : (uint32_t)json_span_after(text, left, at);
        *lines = json->value->lines + (usual ? 1 : (uint32_t)lines_count(text + at, end - at));
        *begin = from;
        set_record(json, end, record);
        return JSON_DOCUMENT;
    }
    json_span_t span = {0};
    set_record(json, (uint32_t)json_span_find(&span, text, left, true), record);
    uint32_t to = record->length;
    *lines = (uint32_t)lines_count(text, to + record->line_end);
    *begin = span.phase == SPAN_BEFORE ? to : (uint32_t)span.object;
    while (to > *begin + 1 && json_span_is_around(text[to - 1]))
        to--;
    return *begin == record->length
               ? JSON_DOCUMENT
               : json_value_read(json->value, text + *begin, to - *begin, true, out, room, id, result);
}

parsed_t json_next(json_t *json, uint8_t *out, size_t room, record_t *record) {
    json_result_t result;
    uint32_t from, lines;
    if (json->in.at >= json->in.length)
        return PARSED_END;
    const json_read_t read = read_record(json, out, room, record, &from, &lines, &result);
    if (read == JSON_FULL || read == JSON_MEMORY) {
        record->needed = read == JSON_FULL ? result.needed : record->length - from;
        return read == JSON_FULL ? PARSED_FULL : PARSED_MEMORY;
    }
    json->in.line += lines;
    json->in.at += record->length + record->line_end;
    if (from == record->length)
        return PARSED_BLANK;
    if (json->value->fields) {
        record_t object = *record;
        object.line += (uint32_t)lines_count(json->in.text + record->offset, from);
        json_fields_note(json->value->fields, json->bad, &object);
    }
    if (read == JSON_REJECT) {
        record->field = result.field;
        return refuse(json, record, from + (uint32_t)result.at, result.reason);
    }
    if (result.own_id && json->in.with_id && !json->keeps_id)
        return refuse(
            json, record, from,
            "it brings its own _id, but in this collection the _id of a document is the place of its "
            "record: load it into another collection with --id _id, or take its _id out");
    record->document_length = result.length;
    return PARSED_DOCUMENT;
}

/* ---- texts in memory ---- */

bson_t *json_document(const char *text, bool placed, err_t *err) {
    const size_t length = strlen(text), room = JSON_TIMES * length + JSON_AROUND;
    uint8_t *padded = calloc(1, length + 2 * POOL_SLACK + room);
    json_value_t *json = values_new();
    json_result_t result = {0};
    bson_t *made = NULL;
    if (padded && json) {
        uint8_t *const at = padded + POOL_SLACK, *const document = at + length + POOL_SLACK;
        memcpy(at, text, length);
        if (json_value_read(json, at, length, true, document, room, NULL, &result) == JSON_DOCUMENT)
            made = bson_new_from_data(document, result.length);
    }
    if (!made && !result.reason)
        err_memory(err, length);
    else if (!made)
        err_set(err, STATUS_USAGE, "%s", result.reason);
    if (result.reason && placed && result.field)
        err_where(err, "%s", result.field);
    if (result.reason && placed)
        err_add(err, ", at byte %zu", result.at);
    values_free(json);
    free(padded);
    return made;
}
