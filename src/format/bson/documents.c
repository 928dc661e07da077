#include "format/bson/documents.h"
#include "format/cut/bson_span.h"
#include "format/cut/bson_walk.h"
#include "format/record/bsonw.h"

#include <stdlib.h>
#include <string.h>

struct documents {
    bool keeps_id;
    const uint8_t *text;
    uint32_t length, at, line;
    bool with_id;
    int64_t id_base;
};

documents_t *documents_new(bool keeps_id) {
    documents_t *documents = calloc(1, sizeof *documents);
    if (documents)
        *documents = (documents_t){.keeps_id = keeps_id};
    return documents;
}

void documents_destroy(documents_t *documents) {
    free(documents);
}

void documents_begin(documents_t *documents, const uint8_t *text, uint32_t length, bool with_id,
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

parsed_t documents_next(documents_t *documents, uint8_t *out, size_t room, record_t *record) {
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
