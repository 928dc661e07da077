#include "format/records.h"
#include "base/threads.h"
#include "format/cut/bson_span.h"
#include "format/cut/bson_walk.h"
#include "format/delimited/delimited.h"
#include "format/fixed/fixed.h"
#include "format/json/json.h"
#include "format/record/bsonw.h"
#include "format/record/own_id.h"
#include "format/record/record.h"

#include <stdlib.h>
#include <string.h>

/* documents: copies the documents of a BSON text, block by block: they are checked, and not decoded. Used through `records`. A
 * documents_t belongs to one thread. */

typedef struct documents documents_t;

struct documents {
    bool keeps_id;
    const uint8_t *text;
    uint32_t length, at, line;
    bool with_id;
    int64_t id_base;
};

/* keeps_id: a document keeps an _id of its own, which comes first as a server would put it. NULL: out of memory. */
static documents_t *documents_new(bool keeps_id) {
    documents_t *documents = calloc(1, sizeof *documents);
    if (documents)
        *documents = (documents_t){.keeps_id = keeps_id};
    return documents;
}

static void documents_destroy(documents_t *documents) {
    free(documents);
}

/* As records_begin. */
static void documents_begin(documents_t *documents, const uint8_t *text, uint32_t length, bool with_id,
                            int64_t id_base) {
    documents->text = text;
    documents->length = length;
    documents->at = documents->line = 0;
    documents->with_id = with_id;
    documents->id_base = id_base;
}

static parsed_t refuse(record_t *record, size_t at, const char *reason) {
    record->column = (uint32_t)at + 1;
    record->reason = reason;
    return PARSED_REJECT;
}

/* Its own `_id` comes first. */
static uint32_t copy_with_own_id(const uint8_t *document, uint32_t length, const bson_walk_t *walk,
                                 uint8_t *out) {
    const uint32_t id = walk->own_id_end - walk->own_id;
    memcpy(out, document, 4);
    memcpy(out + 4, document + walk->own_id, id);
    memcpy(out + 4 + id, document + 4, walk->own_id - 4);
    memcpy(out + walk->own_id_end, document + walk->own_id_end, length - walk->own_id_end);
    return length;
}

/* The document, behind an `_id` made of its place where that is wanted, and it has none. */
static uint32_t copy(const documents_t *documents, const record_t *record, const bson_walk_t *walk,
                     uint8_t *out) {
    enum { ID_BYTES = 13 };
    const uint8_t *document = documents->text + record->offset;
    if (documents->with_id && walk->own_id)
        return copy_with_own_id(document, record->length, walk, out);
    if (!documents->with_id) {
        memcpy(out, document, record->length);
        return record->length;
    }
    out = bsonw_int32(out, (int32_t)record->length + ID_BYTES);
    *out = BSON_TYPE_INT64;
    memcpy(out + 1, "_id", 4);
    out = bsonw_int64(out + 5, documents->id_base + record->offset);
    memcpy(out, document + 4, record->length - 4);
    return record->length + ID_BYTES;
}

/* As records_next. The line of a record is its number among those of the text, its column the byte in it. */
static parsed_t documents_next(documents_t *documents, uint8_t *out, size_t room, record_t *record) {
    const uint8_t *text = documents->text + documents->at;
    const uint32_t left = documents->length - documents->at;
    bson_walk_t walk;
    bool lies;
    if (!left)
        return PARSED_END;
    const uint32_t length = (uint32_t)bson_span_find(text, left, &lies);
    *record = (record_t){.offset = documents->at, .length = length ? length : left, .line = documents->line};
    record->needed = record->length + 64;
    if (length && room < record->needed)
        return PARSED_FULL;
    documents->at += record->length;
    documents->line++;
    if (!length) /* of what a person has changed in a reject file */
        return refuse(record, 0, "its first 4 bytes are not its length, or it does not end with a zero");
    if (!bson_walk(text, length, &walk))
        return refuse(record, walk.at, walk.fault);
    if (walk.replaced && documents->with_id)
        return refuse(record, walk.replaced, RECORD_SERVER_REPLACES);
    if (walk.own_id && documents->with_id && !documents->keeps_id)
        return refuse(
            record, walk.own_id,
            "it brings its own _id, but in this collection the _id of a document is the place of its "
            "record: load it into another collection with --id _id, or take its _id out");
    record->document_length = copy(documents, record, &walk, out);
    return PARSED_DOCUMENT;
}

struct records {
    delimited_t *delimited; /* one of these is used */
    fixed_t *fixed;
    json_t *json;
    documents_t *documents;
    const own_id_t *id; /* NULL: the `_id` is the record's place */
    bool own_id;        /* documents get one, that is not their place */
};

records_t *records_new(const schema_t *schema) {
    records_t *records = calloc(1, sizeof *records);
    const own_id_t *id = schema->id;
    if (!records)
        return NULL;
    records->id = id;
    switch (schema->kind) {
    case RECORDS_DELIMITED:
        records->delimited = delimited_new(schema);
        break;
    case RECORDS_FIXED:
        records->fixed = fixed_new(schema);
        break;
    case RECORDS_JSON:
        records->json = json_new(schema, id && id->kept);
        break;
    case RECORDS_BSON:
        records->documents = documents_new(id && id->kept);
        break;
    }
    if (records->fixed || records->delimited || records->json || records->documents)
        return records;
    free(records);
    return NULL;
}

void records_destroy(records_t *records) {
    if (!records)
        return;
    delimited_destroy(records->delimited);
    fixed_destroy(records->fixed);
    json_destroy(records->json);
    documents_destroy(records->documents);
    free(records);
}

void records_begin(records_t *records, const dialect_t *dialect, const uint8_t *text, uint32_t length,
                   bool file_start, bool with_id, int64_t id_base) {
    records->own_id = with_id && records->id;
    with_id = with_id && (!records->id || records->id->kept);
    if (records->fixed)
        fixed_begin(records->fixed, text, length, file_start, with_id, id_base);
    else if (records->json)
        json_begin(records->json, text, length, file_start, with_id, id_base);
    else if (records->documents)
        documents_begin(records->documents, text, length, with_id, id_base);
    else
        delimited_begin(records->delimited, dialect, text, length, file_start, with_id, id_base);
}

void records_from(records_t *records, const char *file) {
    if (records->delimited)
        delimited_from(records->delimited, file);
}

static inline parsed_t next(records_t *records, uint8_t *out, size_t room, record_t *record, shape_t *shape) {
    return records->delimited ? delimited_next(records->delimited, out, room, record, shape)
           : records->fixed   ? fixed_next(records->fixed, out, room, record)
           : records->json    ? json_next(records->json, out, room, record)
                              : documents_next(records->documents, out, room, record);
}

static parsed_t next_with_own_id(records_t *records, uint8_t *out, size_t room, record_t *record,
                                 shape_t *shape) {
    const own_id_t *id = records->id;
    const parsed_t parsed = next(records, out, id->kept ? room : own_id_leaves(room), record, shape);
    if (parsed == PARSED_FULL && !id->kept)
        record->needed = own_id_needs(record->needed);
    if (parsed != PARSED_DOCUMENT ||
        (id->kept ? own_id_may_stay(out, &record->field, &record->reason)
                  : own_id_put(id, out, room, &record->document_length, &record->field, &record->reason)))
        return parsed;
    record->column = 1;
    return PARSED_REJECT;
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

parsed_t records_one(records_t *records, const dialect_t *dialect, const uint8_t *text, size_t length,
                     bool file_start, int64_t id, records_place_t *place, record_t *record) {
    *record = (record_t){.needed = (uint32_t)length};
    uint8_t *room = calloc(1, length + 2 * (size_t)POOL_SLACK);
    if (!room)
        return PARSED_MEMORY;
    memcpy(room + POOL_SLACK, text, length);
    records_begin(records, dialect, room + POOL_SLACK, (uint32_t)length, file_start, true, id);
    const parsed_t parsed = records_next_into(records, place, record, NULL);
    free(room);
    return parsed;
}

uint64_t records_bad_values(const records_t *records) {
    return records->fixed       ? fixed_odd(records->fixed)
           : records->delimited ? delimited_bad_values(records->delimited)
           : records->json      ? json_bad_values(records->json)
                                : 0; /* nothing is converted */
}

uint64_t records_bad_of(const records_t *records, size_t field) {
    return records->delimited ? delimited_bad_of(records->delimited, field)
           : records->json    ? json_bad_of(records->json, field)
                              : 0;
}

passed_over_t records_passed_over(const records_t *records) {
    return records->delimited ? delimited_passed_over(records->delimited) : (passed_over_t){0, 0};
}
