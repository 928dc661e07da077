#include "format/bson/documents.h"
#include "format/cut/bson_span.h"
#include "format/cut/bson_walk.h"
#include "format/record/bsonw.h"

#include <stdlib.h>
#include <string.h>

struct documents {
    bool validate, keeps_id;
    const uint8_t *text;
    uint32_t length, at, line;
    bool with_id;
    int64_t id_base;
};

documents_t *documents_new(const schema_t *schema, bool keeps_id) {
    documents_t *documents = calloc(1, sizeof *documents);
    if (documents)
        *documents = (documents_t){.validate = schema->validate, .keeps_id = keeps_id};
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

/* ---- what libbson finds; bson_validate of its older versions passes texts that are not UTF-8 ---- */

typedef struct {
    const uint8_t *document;
    bool broken;
    size_t at; /* the byte */
} finding_t;

static bool see(finding_t *finding, const bson_t *document);

/* True: that is enough. */
static bool see_inner(const bson_iter_t *iter, const char *key, const bson_t *document, void *finding) {
    (void)iter;
    (void)key;
    return !see(finding, document);
}

static bool see_scope(const bson_iter_t *iter, const char *key, size_t length, const char *code,
                      const bson_t *scope, void *finding) {
    (void)length;
    (void)code;
    return see_inner(iter, key, scope, finding);
}

/* As many levels as bson_walk allows. */
static bool see(finding_t *finding, const bson_t *document) {
    static const bson_visitor_t visitor = {
        .visit_document = see_inner, .visit_array = see_inner, .visit_codewscope = see_scope};
    bson_iter_t iter;
    const bool ends = bson_iter_init(&iter, document) && !bson_iter_visit_all(&iter, &visitor, finding);
    if (!finding->broken && (!ends || iter.err_off)) {
        finding->broken = true;
        finding->at = (size_t)(bson_get_data(document) - finding->document) + iter.err_off;
    }
    return !finding->broken;
}

/* The document is one that bson_walk has passed. */
static bool is_valid(const uint8_t *bytes, uint32_t length, size_t *at) {
    bson_t document;
    finding_t finding = {.document = bytes};
    const bool valid = bson_init_static(&document, bytes, length) && see(&finding, &document);
    *at = finding.at;
    return valid;
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
    size_t mistake;
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
    if (documents->validate && !is_valid(text, length, &mistake))
        return refuse(record, mistake,
                      "libbson finds it not valid here: a key or a text that is not UTF-8, or a value "
                      "that its type does not allow");
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
