#include "base/document.h"
#include "format/cut/ends.h"
#include "format/records.h"
#include "load/threads/loader.h"

#include <stdlib.h>
#include <string.h>
#include <xxhash.h>

/* True if the record at this offset begins with the bytes that were torn there. */
static bool begins_with(const block_t *block, uint32_t offset, const torn_t *torn) {
    const uint32_t length = block->length - offset + block->oversize.held;
    return torn->offset == block->offset + offset && torn->length <= length &&
           XXH3_64bits(block->buffer.bytes + offset, torn->length) == torn->hash;
}

bool correct_was_torn(const block_t *block, uint32_t offset) {
    for (size_t i = 0; i < block->piece->torn_count; i++)
        if (begins_with(block, offset, &block->piece->torn[i]))
            return true;
    return false;
}

/* Returns the record's length now, as far as it is in memory. */
static uint64_t length_now(const schema_t *schema, const block_t *block, uint32_t offset) {
    const uint8_t *from = block->buffer.bytes + offset;
    const uint64_t most = block->length + block->oversize.held - offset;
    uint64_t length = most;
    if (offset < block->length) {
        const size_t end =
            ends_find(schema, block->piece->dialect->delimiter, from, block->length - offset, true);
        length = from[end - 1] == '\n' ? end - 1 : most;
    }
    return length - (length && from[length - 1] == '\r');
}

static bool is_outgrown(const schema_t *schema, const block_t *block, const torn_t *torn) {
    const uint64_t end = block->offset + block->length + (block->oversize.length > 0);
    const uint32_t offset = (uint32_t)(torn->offset - block->offset);
    return torn->offset >= block->offset && torn->offset < end && begins_with(block, offset, torn) &&
           length_now(schema, block, offset) > torn->length;
}

bool correct_has_outgrown(const schema_t *schema, const block_t *block) {
    const active_piece_t *piece = block->piece;
    for (size_t i = 0; i < piece->torn_count; i++)
        if (is_outgrown(schema, block, &piece->torn[i]))
            return true;
    return false;
}

/* Returns the dialect of the record when it ended there: its own, if no whole line came before it. */
static const dialect_t *dialect_then(const schema_t *schema, const block_t *block, uint32_t offset,
                                     const torn_t *torn, dialect_t *own) {
    const uint8_t *text = block->buffer.bytes;
    err_t ignored;
    size_t begins, ends;
    const size_t length = offset + torn->length;
    const bool first = block->file_start && !dialect_first_line(schema, text, length, false, &begins, &ends);
    if (!first || !dialect_sniff(schema, text, length, "", own, &ignored))
        return block->piece->dialect;
    own->bad_value = block->piece->bad_value;
    return own;
}

/* Encodes the document that the record made when it ended there. *length 0: none. */
static bool encode_old(const schema_t *schema, const block_t *block, uint32_t offset, const torn_t *torn,
                       records_place_t *place, uint32_t *length, err_t *err) {
    record_t record = {.needed = torn->length};
    dialect_t own;
    *length = 0;
    records_t *reader = records_new(schema);
    if (!reader)
        return err_memory(err, torn->length);
    records_from(reader, block_known_as(block));
    records_begin(reader, dialect_then(schema, block, offset, torn, &own), block->buffer.bytes + offset,
                  (uint32_t)torn->length, block->file_start && !offset, true, block->id_base + offset);
    const parsed_t parsed = records_next_into(reader, place, &record, NULL);
    if (parsed == PARSED_DOCUMENT)
        *length = record.document_length;
    records_destroy(reader);
    return parsed != PARSED_MEMORY || err_memory(err, record.needed);
}

bool correct_made_document(const schema_t *schema, const block_t *block, bool *made, err_t *err) {
    const active_piece_t *piece = block->piece;
    records_place_t place = {NULL, 0};
    bool ok = true;
    *made = false;
    for (size_t i = 0; ok && i < piece->torn_count; i++) {
        const uint32_t offset = (uint32_t)(piece->torn[i].offset - block->offset);
        uint32_t length;
        if (!is_outgrown(schema, block, &piece->torn[i]))
            continue;
        ok = encode_old(schema, block, offset, &piece->torn[i], &place, &length, err);
        *made |= ok && length;
    }
    free(place.bytes);
    return ok;
}

/* Makes the query for exactly this document, all of its bytes, as a literal that the server does not interpret. Both sides are
 * lists of one, since MongoDB 4.4 refuses to compare $$ROOT itself (code 16409). NULL: *err says why. */
static bson_t *query_of(const bson_t *document, err_t *err) {
    bson_iter_t id;
    if (element_of(document, "_id", &id)) {
        bson_t *query = bson_new();
        element_append(query, "_id", &id);
        BCON_APPEND(query, "$expr", "{", "$eq", "[", "[", BCON_UTF8("$$ROOT"), "]", "[", "{", "$literal",
                    BCON_DOCUMENT(document), "}", "]", "]", "}");
        return query;
    }
    err_set(err, STATUS_HOST, "a document has no _id: this is a mistake in tipple, please report it");
    return NULL;
}

/* Runs the command, and frees it. */
static bool run(const target_t *target, mongoc_client_t *client, bson_t *command, uint64_t *matched,
                int *code, err_t *err) {
    bson_t reply;
    bson_iter_t n;
    server_append_uuid(target->server, target->settings.uuid, command);
    bool ok =
        server_command(target->server, client, server_database(target->server), command, true, &reply, err);
    *code = ok ? 0 : server_code(&reply);
    *matched = ok && bson_iter_init_find(&n, &reply, "n") ? (uint64_t)bson_iter_as_int64(&n) : 0;
    bson_destroy(&reply);
    bson_destroy(command);
    return ok;
}

/* Replaces the document `before` by `to`; NULL removes it. */
static bool change(const target_t *target, mongoc_client_t *client, const bson_t *before, const bson_t *to,
                   uint64_t *matched, int *code, err_t *err) {
    const char *collection = server_collection(target->server);
    bson_t *query = query_of(before, err);
    if (!query)
        return false;
    bson_t *command = to ? BCON_NEW("update", BCON_UTF8(collection), "updates", "[", "{", "q",
                                    BCON_DOCUMENT(query), "u", BCON_DOCUMENT(to), "}", "]")
                         : BCON_NEW("delete", BCON_UTF8(collection), "deletes", "[", "{", "q",
                                    BCON_DOCUMENT(query), "limit", BCON_INT32(1), "}", "]");
    bson_destroy(query);
    return run(target, client, command, matched, code, err);
}

/* Checks that the document is there to stay: an update that changes nothing waits for the write concern like any other. */
static bool is_there(const target_t *target, mongoc_client_t *client, const bson_t *document, bool *there,
                     int *code, err_t *err) {
    uint64_t matched;
    bson_t *nothing = BCON_NEW("$setOnInsert", "{", "nothing", BCON_INT32(1), "}");
    const bool ok = change(target, client, document, nothing, &matched, code, err);
    bson_destroy(nothing);
    *there = ok && matched == 1;
    return ok;
}

bool correct_refuse(const block_t *block, uint32_t offset, const char *why, err_t *err) {
    block->piece->changed = true;
    return err_set(err, STATUS_INPUT,
                   "%s has grown in the middle of a record (at byte %llu), whose document would have to be "
                   "replaced; %s: give --reload-changed, which removes the documents of this input and loads "
                   "it again",
                   block->piece->input->name, (unsigned long long)block->offset + offset, why);
}

/* Tries the documents that earlier versions made of the record, the newest first: replaces the one that is there by `after`, or
 * removes it if `after` is NULL. A refusal of the server ends this; *code says which. */
static bool change_torn(loader_t *loader, const block_t *block, uint32_t offset, const bson_t *after,
                        bool *changed, int *code, err_t *err) {
    const target_t *target = loader->loading->target;
    const active_piece_t *piece = block->piece;
    records_place_t room = {0};
    bool ok = true;
    *changed = false;
    for (size_t i = piece->torn_count; ok && !*changed && i-- > 0;) {
        uint32_t length;
        uint64_t matched = 0;
        bson_t before;
        if (!begins_with(block, offset, &piece->torn[i]))
            continue;
        ok = encode_old(loader->loading->plan->schema, block, offset, &piece->torn[i], &room, &length, err);
        if (!ok || !length || !bson_init_static(&before, room.bytes, length))
            continue;
        if (after && (uint64_t)before.len + after->len > server_facts(target->server)->max_document_bytes)
            ok = correct_refuse(block, offset, "no command can hold both documents", err);
        ok = ok && change(target, writer_client(loader->writer), &before, after, &matched, code, err);
        *changed = matched == 1;
    }
    free(room.bytes);
    return ok;
}

bool correct_replace(loader_t *loader, const block_t *block, uint32_t offset, const uint8_t *document,
                     uint32_t length, corrected_t *corrected, err_t *err) {
    int code = 0;
    bool done = false, removed;
    bson_t after;
    err_t removing;
    *corrected = CORRECT_OTHER;
    if (!bson_init_static(&after, document, length))
        return true;
    /* the reply of a change may have been lost, and its retry found nothing */
    if (change_torn(loader, block, offset, &after, &done, &code, err) &&
        (done ||
         is_there(loader->loading->target, writer_client(loader->writer), &after, &done, &code, err))) {
        *corrected = done ? CORRECT_DONE : CORRECT_OTHER;
        return true;
    }
    if (!code_rejects(code) && code != CODE_DUPLICATE_KEY)
        return false;
    *corrected = CORRECT_REFUSED;
    if (correct_remove(loader, block, offset, &removed, &removing))
        return true;
    *err = removing;
    return false;
}

bool correct_remove(loader_t *loader, const block_t *block, uint32_t offset, bool *removed, err_t *err) {
    int code;
    return change_torn(loader, block, offset, NULL, removed, &code, err);
}

/* True if a user has put the same document there as a fix. */
static bool is_fix(const block_t *block, uint32_t offset, const uint8_t *document, uint32_t length) {
    const active_piece_t *piece = block->piece;
    return fix_marks_know(piece->fixes, piece->fix_count, block->offset + offset,
                          XXH3_64bits(document, length));
}

bool correct_expect_late(const schema_t *schema, block_t *block, uint32_t offset, err_t *err) {
    records_place_t room = {0};
    bool ok = true;
    for (size_t i = 0; ok && i < block->piece->torn_count; i++) {
        const torn_t *torn = &block->piece->torn[i];
        uint32_t length;
        late_document_t *late;
        if (!begins_with(block, offset, torn))
            continue;
        ok = encode_old(schema, block, offset, torn, &room, &length, err);
        if (!ok || !length || is_fix(block, offset, room.bytes, length))
            continue;
        if (!(late = malloc(sizeof *late + length))) {
            ok = err_memory(err, length);
            continue;
        }
        *late = (late_document_t){.next = block->late, .piece = block->piece, .length = length};
        memcpy(late->document, room.bytes, length);
        block->late = late;
    }
    free(room.bytes);
    return ok;
}

bool correct_remove_late(const target_t *target, const late_document_t *late, bool *removed, err_t *err) {
    uint64_t matched = 0;
    bson_t document;
    int code;
    const bool ok = !bson_init_static(&document, late->document, late->length) ||
                    change(target, target->client, &document, NULL, &matched, &code, err);
    *removed = matched > 0;
    return ok;
}
