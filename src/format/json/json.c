/* Records of JSON, one after the other, and texts in memory that are one document. */
#include "format/json/json.h"
#include "base/chars.h"
#include "base/text.h"
#include "base/threads.h"
#include "format/cut/json_span.h"
#include "format/json/json_inner.h"

#include <stdlib.h>
#include <string.h>

/* ---- records ---- */

json_value_t *json_new(const schema_t *schema, bad_values_t *bad, record_text_t *in) {
    json_value_t *json = values_new();
    if (!json)
        return NULL;
    json->schema = schema;
    json->root.field = schema->fields;
    json->bad = bad;
    json->in = in;
    return json;
}

/* Where the mistake is, not where its record begins. */
static parsed_t refuse(const json_value_t *json, record_t *record, uint32_t mistake, const char *reason) {
    const uint32_t at = record->offset + mistake;
    const uint8_t *line = at ? memrchr(json->in->text, '\n', at) : NULL;
    record->line += (uint32_t)lines_count(json->in->text + record->offset, mistake);
    return record_refuse(record, at + 1 - (uint32_t)(line ? line + 1 - json->in->text : 0), reason);
}

/* Reads the record at hand from its object's bracket on, which is at *begin; it ends where the object does, with what stands
 * around it. Where no object can be read so, json_span finds the end: the object may end elsewhere, or be missing, and then the
 * record is blank. */
INLINED parsed_t read_record(json_value_t *json, uint8_t *out, size_t room, record_t *record, uint32_t *begin,
                             uint32_t *lines) {
    enum { MOST_BEFORE = 32 };
    const int64_t place = json->in->id_base + json->in->at, *const id = json->in->with_id ? &place : NULL;
    const uint8_t *const text = json->in->text + json->in->at;
    const uint32_t left = json->in->length - json->in->at;
    uint32_t from = 0;
    while (from < MOST_BEFORE &&
           (text[from] == ' ' || text[from] == '\t' || text[from] == ',' || text[from] == 0x1E))
        from++;
    if (json->root.field)
        json->record = (record_t){.offset = json->in->at, .line = json->in->line};
    if (from < left && text[from] == '{' &&
        json_value_read(json, text + from, left - from, false, out, room, id) == PARSED_DOCUMENT) {
        const uint32_t at = (uint32_t)(json->place - text);
        const bool usual = at < left && text[at] == '\n';
        const uint32_t end = usual ? at + 1 : (uint32_t)json_span_after(text, left, at);
        *lines = json->lines + (usual ? 1 : (uint32_t)lines_count(text + at, end - at));
        *begin = from;
        *record = record_at(json->in, end);
        return PARSED_DOCUMENT;
    }
    json_span_t span = {0};
    *record = record_at(json->in, (uint32_t)json_span_find(&span, text, left, true));
    uint32_t to = record->length;
    *lines = (uint32_t)lines_count(text, to + record->line_end);
    *begin = span.phase == SPAN_BEFORE ? to : (uint32_t)span.object;
    if (*begin == to)
        return PARSED_BLANK;
    if (json->root.field)
        json->record.line += (uint32_t)lines_count(text, *begin);
    while (to > *begin + 1 && json_span_is_around(text[to - 1]))
        to--;
    return json_value_read(json, text + *begin, to - *begin, true, out, room, id);
}

parsed_t json_next(json_value_t *json, uint8_t *out, size_t room, record_t *record) {
    uint32_t from, lines;
    if (json->in->at >= json->in->length)
        return PARSED_END;
    const parsed_t parsed = read_record(json, out, room, record, &from, &lines);
    if (parsed == PARSED_FULL || parsed == PARSED_MEMORY) {
        record->needed = json->needed;
        return parsed;
    }
    json->in->line += lines;
    json->in->at += record->length + record->line_end;
    if (parsed == PARSED_REJECT)
        return refuse(json, record, (uint32_t)(json->place - json->in->text) - record->offset, json->reason);
    if (parsed == PARSED_DOCUMENT && json->has_own_id && json->in->with_id &&
        !(json->schema->id && json->schema->id->kept))
        return refuse(json, record, from, RECORD_OWN_ID);
    record->document_length = (uint32_t)(json->out - json->start);
    return parsed;
}

/* ---- texts in memory ---- */

bson_t *json_document(const char *text, bool placed, err_t *err) {
    const size_t length = strlen(text), room = JSON_TIMES * length + JSON_AROUND;
    uint8_t *padded = calloc(1, length + 2 * POOL_SLACK + room);
    json_value_t *json = values_new();
    parsed_t parsed = PARSED_MEMORY;
    bson_t *made = NULL;
    if (padded && json) {
        uint8_t *const at = padded + POOL_SLACK, *const document = at + length + POOL_SLACK;
        memcpy(at, text, length);
        parsed = json_value_read(json, at, length, true, document, room, NULL);
        if (parsed == PARSED_DOCUMENT)
            made = bson_new_from_data(document, (size_t)(json->out - document));
        else if (parsed == PARSED_REJECT)
            err_set(err, STATUS_USAGE, placed ? "%s, at byte %zu" : "%s", json->reason,
                    (size_t)(json->place - at));
    }
    if (!made && parsed != PARSED_REJECT)
        err_memory(err, length);
    values_free(json);
    free(padded);
    return made;
}
