#include "load/threads/correct.h"
#include "format/records.h"

#include <stdlib.h>
#include <string.h>
#include <xxhash.h>

/* Does the record that begins at this offset begin with what was torn there? */
static bool begins_with(const block_t *block, uint32_t offset, const torn_t *torn) {
    const uint32_t length = block->length - offset + block->oversize.held;
    return torn->offset == block->offset + offset && torn->length <= length &&
           XXH3_64bits(block->buffer.bytes + offset, torn->length) == torn->hash;
}

bool correct_was_torn(const block_t *block, uint32_t offset) {
    for (size_t i = 0; i < block->file->torn_count; i++)
        if (begins_with(block, offset, &block->file->torn[i]))
            return true;
    return false;
}

/* How long the record is now, as far as it is in memory. */
static uint64_t length_now(const block_t *block, uint32_t offset) {
    const uint8_t *from = block->buffer.bytes + offset, *end = NULL;
    const uint64_t most = block->length + block->oversize.held - offset;
    if (offset < block->length)
        end = memchr(from, '\n', block->length - offset);
    const uint64_t length = end ? (uint64_t)(end - from) : most;
    return length - (length && from[length - 1] == '\r');
}

bool correct_has_outgrown(const block_t *block) {
    const load_file_t *file = block->file;
    for (size_t i = 0; i < file->torn_count; i++) {
        const torn_t *torn = &file->torn[i];
        const uint64_t end = block->offset + block->length + (block->oversize.length > 0);
        const uint32_t offset = (uint32_t)(torn->offset - block->offset);
        if (torn->offset >= block->offset && torn->offset < end && begins_with(block, offset, torn) &&
            length_now(block, offset) > torn->length)
            return true;
    }
    return false;
}

/* The document that the record made when it ended there; NULL with *err untouched: none. */
static bool encode_old(const schema_t *schema, const block_t *block, uint32_t offset, const torn_t *torn,
                       records_place_t *place, uint32_t *length, err_t *err) {
    record_t record;
    *length = 0;
    records_t *reader = records_new(schema);
    if (!reader)
        return err_memory(err, torn->length);
    const parsed_t parsed =
        records_one(reader, block->file->dialect, block->buffer.bytes + offset, torn->length,
                    block->file_start && !offset, block->id_base + offset, place, &record);
    if (parsed == PARSED_DOCUMENT)
        *length = record.document_length;
    records_destroy(reader);
    return parsed != PARSED_MEMORY || err_memory(err, record.needed);
}

/* The document itself, of all of its bytes: in a place where nothing in them means anything to the server.
 * after NULL: it is removed. */
static bool change(const correct_place_t *place, const bson_t *before, const bson_t *after, uint64_t *matched,
                   int *code, err_t *err) {
    bson_t reply;
    bson_iter_t id, n;
    if (!bson_iter_init_find(&id, before, "_id"))
        return err_set(err, STATUS_HOST,
                       "a document has no _id: this is a mistake in tipple, please report it");
    bson_t *query = BCON_NEW("_id", BCON_ITER(&id), "$expr", "{", "$eq", "[", BCON_UTF8("$$ROOT"), "{",
                             "$literal", BCON_DOCUMENT(before), "}", "]", "}");
    const char *collection = server_collection(place->server);
    bson_t *command = after ? BCON_NEW("update", BCON_UTF8(collection), "updates", "[", "{", "q",
                                       BCON_DOCUMENT(query), "u", BCON_DOCUMENT(after), "}", "]")
                            : BCON_NEW("delete", BCON_UTF8(collection), "deletes", "[", "{", "q",
                                       BCON_DOCUMENT(query), "limit", BCON_INT32(1), "}", "]");
    server_append_uuid(place->server, place->uuid, command);
    bool ok = server_command(place->server, place->client, server_database(place->server), command, true,
                             &reply, err);
    *code = ok ? 0 : server_code(&reply);
    *matched = ok && bson_iter_init_find(&n, &reply, "n") ? (uint64_t)bson_iter_as_int64(&n) : 0;
    bson_destroy(&reply);
    bson_destroy(command);
    bson_destroy(query);
    return ok;
}

/* Of what each earlier version made of the record, the newest first: replaced, or removed. One that the
 * server refuses ends it. */
static bool change_torn(const correct_place_t *place, const block_t *block, uint32_t offset,
                        const bson_t *after, bool *changed, int *code, err_t *err) {
    const load_file_t *file = block->file;
    records_place_t room = {0};
    bool ok = true;
    *changed = false;
    *code = 0;
    for (size_t i = file->torn_count; ok && !*changed && i-- > 0;) {
        uint32_t length;
        uint64_t matched = 0;
        bson_t before;
        if (!begins_with(block, offset, &file->torn[i]))
            continue;
        ok = encode_old(place->schema, block, offset, &file->torn[i], &room, &length, err);
        if (ok && length && bson_init_static(&before, room.bytes, length))
            ok = change(place, &before, after, &matched, code, err);
        *changed = matched == 1;
    }
    free(room.bytes);
    return ok;
}

bool correct_replace(const correct_place_t *place, const block_t *block, uint32_t offset,
                     const uint8_t *document, uint32_t length, corrected_t *corrected, err_t *err) {
    uint64_t matched = 0;
    bool changed = false;
    int code = 0;
    bson_t after;
    err_t removing;
    *corrected = CORRECT_OTHER;
    if (!bson_init_static(&after, document, length))
        return true;
    bool ok = change_torn(place, block, offset, &after, &changed, &code, err);
    if (!ok && (code_rejects(code, place->reject_codes) || code == CODE_DUPLICATE_KEY)) {
        *corrected = CORRECT_REFUSED;
        if (correct_remove(place, block, offset, &changed, &removing))
            return true;
        *err = removing;
        return false;
    }
    /* the reply of an update that was made may have been lost, and the one that was sent again found nothing
     */
    ok = ok && (changed || change(place, &after, &after, &matched, &code, err));
    if (changed || matched == 1)
        *corrected = CORRECT_DONE;
    return ok;
}

bool correct_remove(const correct_place_t *place, const block_t *block, uint32_t offset, bool *removed,
                    err_t *err) {
    int code;
    return change_torn(place, block, offset, NULL, removed, &code, err);
}

/* A person has put the same document there. */
static bool is_fix(const block_t *block, uint32_t offset, const uint8_t *document, uint32_t length) {
    const load_file_t *file = block->file;
    return fix_marks_know(file->fixes, file->fix_count, block->offset + offset,
                          XXH3_64bits(document, length));
}

bool correct_expect_late(const schema_t *schema, block_t *block, uint32_t offset, err_t *err) {
    records_place_t room = {0};
    bool ok = true;
    for (size_t i = 0; ok && i < block->file->torn_count; i++) {
        const torn_t *torn = &block->file->torn[i];
        uint32_t length;
        late_t *late;
        if (!begins_with(block, offset, torn))
            continue;
        ok = encode_old(schema, block, offset, torn, &room, &length, err);
        if (!ok || !length || is_fix(block, offset, room.bytes, length))
            continue;
        if (!(late = malloc(sizeof *late + length))) {
            ok = err_memory(err, length);
            continue;
        }
        *late = (late_t){.next = block->late, .file = block->file, .epoch = block->epoch, .length = length};
        memcpy(late->document, room.bytes, length);
        block->late = late;
    }
    free(room.bytes);
    return ok;
}

bool correct_remove_late(const correct_place_t *place, const late_t *late, bool *removed, err_t *err) {
    uint64_t matched = 0;
    bson_t document;
    int code;
    const bool ok = !bson_init_static(&document, late->document, late->length) ||
                    change(place, &document, NULL, &matched, &code, err);
    *removed = matched > 0;
    return ok;
}
