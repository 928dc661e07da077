#include "format/emit.h"
#include "base/threads/pool.h"
#include "format/delimited/emit_delimited.h"
#include "format/fixed/emit_fixed.h"

#include <stdlib.h>

struct emit {
    draft_t draft;
    records_t *reader;           /* reads records back */
    records_place_t again;       /* the document that they give */
    emit_delimited_t *delimited; /* one of these two is used */
    emit_fixed_t *fixed;
};

/* 1: the record reads back as the document; 0: it does not; -1: out of memory. After CR LF, before which a CR stays its
 * own: only in quotes, or in a file of such line ends, a record ends with one. */
static int reads_back(emit_t *emit, const dialect_t *dialect, const bson_t *document) {
    draft_t *draft = &emit->draft;
    bson_iter_t first;
    record_t record;
    const size_t length = draft->length;
    if (!draft->schema->multiline && memchr(draft->bytes, '\n', length))
        return 0;
    if (!draft_put(draft, "\r\n", 2))
        return -1;
    draft->length = length;
    memset(draft->bytes + length + 2, 0, POOL_SLACK);
    const bool with_id = bson_iter_init_find(&first, document, "_id") && BSON_ITER_HOLDS_INT64(&first);
    records_begin(emit->reader, dialect, draft->bytes, (uint32_t)length + 2, false, with_id,
                  with_id ? bson_iter_int64(&first) : 0);
    const parsed_t parsed = records_next_into(emit->reader, &emit->again, &record, NULL);
    if (parsed == PARSED_MEMORY)
        return -1;
    return parsed == PARSED_DOCUMENT && record.length == length && record.document_length == document->len &&
           memcmp(emit->again.bytes, bson_get_data(document), document->len) == 0;
}

emit_t *emit_new(const schema_t *schema) {
    emit_t *emit = calloc(1, sizeof *emit);
    if (!emit)
        return NULL;
    emit->draft.schema = schema;
    emit->reader = records_new(schema);
    if (schema->kind == RECORDS_FIXED)
        emit->fixed = emit_fixed_new(&emit->draft);
    else if (schema->kind == RECORDS_DELIMITED)
        emit->delimited = emit_delimited_new(&emit->draft);
    if (emit->reader && (emit->fixed || emit->delimited || schema_any_fields(schema)))
        return emit;
    emit_destroy(emit);
    return NULL;
}

void emit_destroy(emit_t *emit) {
    if (!emit)
        return;
    free(emit->draft.base);
    free(emit->again.bytes);
    records_destroy(emit->reader);
    emit_delimited_destroy(emit->delimited);
    emit_fixed_destroy(emit->fixed);
    free(emit);
}

bool emit_possible(const schema_t *schema, err_t *err) {
    if (schema->kind == RECORDS_JSON)
        return err_set(err, STATUS_USAGE,
                       "records of JSON are not written again byte for byte; --emit json prints the "
                       "documents as JSON");
    if (schema->bad_value == BAD_VALUE_NULL)
        return err_set(err, STATUS_USAGE,
                       "by 'on_bad_value: null' the format %s does not keep values that do not fit, so its "
                       "documents make no records again; text keeps them",
                       schema->name);
    if (schema->blanks)
        return err_set(
            err, STATUS_USAGE,
            "how many blanks divide the columns of the format %s is not kept, so its documents make no "
            "records again",
            schema->name);
    if (schema->kind == RECORDS_BSON)
        return err_set(err, STATUS_USAGE,
                       "--emit raw is for records of text; --emit bson prints BSON documents as they are");
    if (schema_tells_place(schema))
        return err_set(
            err, STATUS_USAGE,
            "documents of the format %s name the file of their records, so that records written again would "
            "make others; leave that out of 'make' to get records again",
            schema->name);
    for (size_t i = 0; i < schema->field_count; i++)
        if (schema->fields[i].type == TYPE_JSON)
            return err_set(
                err, STATUS_USAGE,
                "the field %s of the format %s is a text of JSON, of which the document does not tell how "
                "it was written; give it the type text to get records again",
                schema->fields[i].name, schema->name);
    for (size_t i = 0; i < schema->part_count; i++)
        if (schema->parts[i].leave_out)
            return err_set(err, STATUS_USAGE,
                           "the format %s leaves out what comes after %s, so its documents make no records "
                           "again; take a format that keeps everything",
                           schema->name, schema->parts[i].marker.text);
    return true;
}

bool emit_record(emit_t *emit, const dialect_t *dialect, const bson_t *document, const shape_t *shape,
                 const uint8_t **record, size_t *length, err_t *err) {
    if (!emit_possible(emit->draft.schema, err))
        return false;
    int same = emit->fixed ? emit_fixed_record(emit->fixed, document, err)
                           : emit_delimited_record(emit->delimited, dialect, document, shape, err);
    if (same == 1)
        same = reads_back(emit, dialect, document);
    if (same == -1)
        return err_memory(err, emit->draft.length);
    if (same == -2)
        return false;
    *record = emit->draft.bytes;
    *length = emit->draft.length;
    if (same)
        return true;
    return err_set(err, STATUS_INPUT,
                   emit->fixed ? "the values of this document cannot be written as a record of this format"
                               : "the values of this document cannot be written with the delimiter and "
                                 "quotes of this file");
}

bool draft_put(draft_t *draft, const void *bytes, size_t length) {
    if (draft->length + length + POOL_SLACK > draft->room) {
        size_t room = 2 * (draft->length + length) + 4 * POOL_SLACK;
        uint8_t *larger = realloc(draft->base, POOL_SLACK + room);
        if (!larger)
            return false;
        memset(larger, 0, POOL_SLACK);
        draft->base = larger;
        draft->bytes = larger + POOL_SLACK;
        draft->room = room;
    }
    memcpy(draft->bytes + draft->length, bytes, length);
    draft->length += length;
    return true;
}
