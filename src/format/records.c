#include "format/records.h"
#include "base/chars.h"
#include "base/threads.h"
#include "format/cut/ends.h"
#include "format/engine/program.h"
#include "format/json/json.h"
#include "format/record/record.h"
#include "format/types.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct records {
    const schema_t *schema;
    record_text_t in;       /* the text at hand */
    delimited_t *delimited; /* by kind, one of these reads it; NULL: it is BSON */
    fixed_t *fixed;
    json_value_t *json;
    bad_values_t *bad;
    char why[200]; /* of the last reject, where it is no sentence of the program */
    bool own_id;   /* documents get an `_id` that is not their place */
};

/* ---- documents of BSON are checked and copied, not decoded ---- */

/* The document with its `_id` first: its own one, or one made of its place. */
static uint32_t copy(const records_t *records, const record_t *record, const bson_walk_t *walk,
                     uint8_t *out) {
    const uint8_t *document = records->in.text + record->offset;
    const bool own = records->in.with_id && walk->own_id;
    const uint32_t id = own ? walk->own_id : 4, id_end = own ? walk->own_id_end : 4;
    uint8_t *at = mempcpy(out + 4, document + id, id_end - id);
    if (records->in.with_id && !own)
        at = bsonw_id(at, records->in.id_base + record->offset);
    at = mempcpy(at, document + 4, id - 4);
    at = mempcpy(at, document + id_end, record->length - id_end);
    bsonw_int32(out, (int32_t)(at - out));
    return (uint32_t)(at - out);
}

/* A symbol in the place of a value that a document cannot hold, whose text is the value's, and whose key is the field; or, without
 * a key, one that says what is wrong with the row. */
static parsed_t refuse_symbol(records_t *records, record_t *record, uint32_t symbol) {
    const uint8_t *const document = records->in.text + record->offset;
    const char *const key = (const char *)document + symbol + 1, *const text = key + strlen(key) + 1 + 4;
    snprintf(records->why, sizeof records->why, "%s%s",
             *key ? "a document cannot hold this value as it is: " : "", text);
    record_refuse(record, symbol + 1, records->why);
    record->field = *key ? key : NULL;
    return PARSED_REJECT;
}

/* As records_next. The line of a record is its number among those of the text, its column the byte in it. */
static parsed_t next_document(records_t *records, uint8_t *out, size_t room, record_t *record) {
    const uint8_t *text = records->in.text + records->in.at;
    const uint32_t left = records->in.length - records->in.at;
    bson_walk_t walk;
    bool lies;
    if (!left)
        return PARSED_END;
    const uint32_t length = (uint32_t)bson_span_find(text, left, &lies);
    *record =
        (record_t){.offset = records->in.at, .length = length ? length : left, .line = records->in.line};
    record->needed = record->length + 64;
    if (length && room < record->needed)
        return PARSED_FULL;
    records->in.at += record->length;
    records->in.line++;
    if (!length) /* in a reject file that the user has changed */
        return record_refuse(record, 1,
                             "its first 4 bytes are not its length, or it does not end with a zero");
    if (!bson_walk(text, length, records->schema->validate, &walk))
        return record_refuse(record, walk.at + 1, walk.fault);
    if (walk.replaced && records->in.with_id)
        return record_refuse(record, walk.replaced + 1, RECORD_SERVER_REPLACES);
    if (walk.symbol && records->schema->arrow)
        return refuse_symbol(records, record, walk.symbol);
    if (walk.own_id && records->in.with_id && !(records->schema->id && records->schema->id->kept))
        return record_refuse(record, walk.own_id + 1, RECORD_OWN_ID);
    record->document_length = copy(records, record, &walk, out);
    return PARSED_DOCUMENT;
}

/* ---- all kinds ---- */

records_t *records_new(const schema_t *schema) {
    records_t *records = calloc(1, sizeof *records);
    if (!records)
        return NULL;
    records->schema = schema;
    records->bad = bad_values_new(schema);
    if (records->bad && schema->kind == RECORDS_DELIMITED)
        records->delimited = delimited_new(schema, records->bad, &records->in);
    else if (records->bad && schema->kind == RECORDS_FIXED)
        records->fixed = fixed_new(schema, records->bad, &records->in);
    else if (records->bad && schema->kind == RECORDS_JSON)
        records->json = json_new(schema, records->bad, &records->in);
    if (records->delimited || records->fixed || records->json ||
        (records->bad && schema->kind == RECORDS_BSON))
        return records;
    records_destroy(records);
    return NULL;
}

void records_destroy(records_t *records) {
    if (!records)
        return;
    delimited_destroy(records->delimited);
    fixed_destroy(records->fixed);
    values_free(records->json);
    free(records->bad);
    free(records);
}

void records_begin(records_t *records, const dialect_t *dialect, const uint8_t *text, uint32_t length,
                   bool file_start, bool with_id, int64_t id_base) {
    bad_values_settle(records->bad);
    records->bad->text = (bad_place_t){.line = 0};
    records->bad->by = dialect ? dialect->bad_value : BAD_VALUE_TEXT;
    const bool bson = records->schema->kind == RECORDS_BSON; /* which has no byte order mark */
    records->own_id = with_id && records->schema->id;
    records->in = (record_text_t){.text = text,
                                  .length = length,
                                  .at = file_start && !bson ? (uint32_t)lines_bom(text, length) : 0,
                                  .file_start = file_start,
                                  .with_id = with_id,
                                  .bad_value = records->bad->by,
                                  .id_base = id_base,
                                  .file = records->in.file};
    if (records->delimited)
        delimited_begin(records->delimited, dialect);
}

void records_from(records_t *records, const char *file) {
    records->in.file = file;
}

static inline parsed_t next(records_t *records, uint8_t *out, size_t room, record_t *record, shape_t *shape) {
    return records->delimited ? delimited_next(records->delimited, out, room, record, shape)
           : records->fixed   ? fixed_next(records->fixed, out, room, record, shape)
           : records->json    ? json_next(records->json, out, room, record)
                              : next_document(records, out, room, record);
}

static parsed_t next_with_own_id(records_t *records, uint8_t *out, size_t room, record_t *record,
                                 shape_t *shape) {
    const own_id_t *id = records->schema->id;
    const size_t leaves =
        room / 2 > OWN_ID_ROOM ? room / 2 - OWN_ID_ROOM : 0; /* as much again for the `_id` */
    const parsed_t parsed = next(records, out, id->kept ? room : leaves, record, shape);
    if (parsed == PARSED_FULL && !id->kept)
        record->needed = 2 * (record->needed + OWN_ID_ROOM);
    return parsed != PARSED_DOCUMENT || own_id_put(id, out, room, record) ? parsed : PARSED_REJECT;
}

parsed_t records_next(records_t *records, uint8_t *out, size_t room, record_t *record, shape_t *shape) {
    return __builtin_expect(records->own_id, 0) ? next_with_own_id(records, out, room, record, shape)
                                                : next(records, out, room, record, shape);
}

parsed_t records_next_into(records_t *records, records_place_t *place, record_t *record, shape_t *shape) {
    for (;;) {
        parsed_t parsed = records_next(records, place->bytes, place->room, record, shape);
        if (parsed != PARSED_FULL)
            return parsed;
        free(place->bytes);
        place->room = 2 * record->needed;
        if (!(place->bytes = malloc(place->room))) {
            place->room = 0;
            return PARSED_MEMORY;
        }
    }
}

void records_place(records_t *records, const bad_place_t *begin) {
    records->bad->text = *begin;
}

void records_leave_out(records_t *records, const record_t *record) {
    bad_values_take_back(records->bad, record);
}

const bad_values_t *records_bad(records_t *records) {
    bad_values_settle(records->bad);
    return records->bad;
}

passed_over_t records_passed_over(const records_t *records) {
    return records->bad->passed;
}
