#include "load/correct.h"
#include "format/records.h"

#include <stdlib.h>
#include <string.h>
#include <xxhash.h>

const torn_t *correct_find(const block_t *block, uint32_t offset) {
    const load_file_t *file = block->file;
    for (size_t i = 0; i < file->torn_count; i++)
        if (file->torn[i].offset == block->offset + offset &&
            file->torn[i].length <= block->length - offset &&
            XXH3_64bits(block->buffer.bytes + offset, file->torn[i].length) == file->torn[i].hash)
            return &file->torn[i];
    return NULL;
}

/* The document that the record made when it ended there; NULL with *err untouched: none. */
static bool encode_old(const schema_t *schema, const block_t *block, uint32_t offset, const torn_t *torn,
                       records_place_t *place, uint32_t *length, err_t *err) {
    record_t record;
    *length = 0;
    uint8_t *text = calloc(1, torn->length + 2 * (size_t)POOL_SLACK);
    records_t *reader = records_new(schema);
    if (!text || !reader) {
        free(text);
        records_destroy(reader);
        return err_memory(err, torn->length);
    }
    memcpy(text + POOL_SLACK, block->buffer.bytes + offset, torn->length);
    records_begin(reader, block->file->dialect, text + POOL_SLACK, (uint32_t)torn->length,
                  block->file_start && !offset, true, block->id_base + offset);
    const parsed_t parsed = records_next_into(reader, place, &record, NULL);
    if (parsed == PARSED_DOCUMENT)
        *length = record.document_length;
    records_destroy(reader);
    free(text);
    return parsed != PARSED_MEMORY || err_memory(err, record.needed);
}

/* All of it, in a place where nothing in it means anything to the server. */
static bool replace(server_t *server, mongoc_client_t *client, const bson_t *before, const bson_t *after,
                    uint64_t *matched, err_t *err) {
    bson_t reply;
    bson_iter_t id, n;
    if (!bson_iter_init_find(&id, after, "_id"))
        return err_set(err, STATUS_HOST,
                       "a document has no _id: this is a mistake in tipple, please report it");
    bson_t *command =
        BCON_NEW("update", BCON_UTF8(server_collection(server)), "updates", "[", "{", "q", "{", "_id",
                 BCON_ITER(&id), "$expr", "{", "$eq", "[", BCON_UTF8("$$ROOT"), "{", "$literal",
                 BCON_DOCUMENT(before), "}", "]", "}", "}", "u", BCON_DOCUMENT(after), "}", "]");
    bool ok = server_command(server, client, server_database(server), command, true, &reply, err);
    bson_destroy(command);
    *matched = ok && bson_iter_init_find(&n, &reply, "n") ? (uint64_t)bson_iter_as_int64(&n) : 0;
    bson_destroy(&reply);
    return ok;
}

bool correct_torn(server_t *server, mongoc_client_t *client, const schema_t *schema, const block_t *block,
                  uint32_t offset, const torn_t *torn, const uint8_t *document, uint32_t length,
                  bool *corrected, err_t *err) {
    records_place_t place = {0};
    uint32_t old_length;
    uint64_t matched = 0;
    bson_t before, after;
    *corrected = false;
    bool ok = encode_old(schema, block, offset, torn, &place, &old_length, err);
    if (ok && old_length && bson_init_static(&before, place.bytes, old_length) &&
        bson_init_static(&after, document, length)) {
        ok = replace(server, client, &before, &after, &matched, err);
        *corrected = matched == 1;
    }
    free(place.bytes);
    return ok;
}
