/* An entry, and its parts, as documents. */
#include "catalog/store/entry_bson.h"

#include <string.h>

void load_id_to_oid(const load_id_t *id, bson_oid_t *oid) {
    memcpy(oid->bytes, id->bytes, sizeof id->bytes);
}

const char *entry_index_key(size_t at, char text[16]) {
    const char *key;
    bson_uint32_to_string((uint32_t)at, &key, text, 16);
    return key;
}

void entry_append_number(bson_t *to, const char *key, uint64_t value) {
    bson_append_int64(to, key, -1, (int64_t)value);
}

/* Most inputs have most fields empty. A field that is left out is read as 0: so thousands of small files cost half as
 * much. */
static void append_some(bson_t *to, const char *key, uint64_t value) {
    if (value)
        entry_append_number(to, key, value);
}

static void append_counts(bson_t *to, const counts_t *counts) {
    append_some(to, "read", counts->read);
    append_some(to, "loaded", counts->loaded);
    append_some(to, "already", counts->already_there);
    append_some(to, "rejected", counts->rejected);
    append_some(to, "filtered", counts->filtered);
    append_some(to, "corrected", counts->corrected);
    append_some(to, "replaced", counts->replaced);
    append_some(to, "kept", counts->kept);
}

static void append_tail(bson_t *to, const tail_t *tail) {
    bson_t inner;
    if (tail->from == tail->to)
        return;
    BSON_APPEND_DOCUMENT_BEGIN(to, "tail", &inner);
    entry_append_number(&inner, "from", tail->from);
    entry_append_number(&inner, "to", tail->to);
    entry_append_number(&inner, "hash", tail->hash);
    append_counts(&inner, &tail->counts);
    bson_append_document_end(to, &inner);
}

static void append_runs(bson_t *to, const done_runs_t *done) {
    bson_t runs, run;
    char text[16];
    if (!done->count)
        return;
    BSON_APPEND_ARRAY_UNSAFE_BEGIN(to, "done", &runs);
    for (size_t i = 0; i < done->count; i++) {
        const char *key = entry_index_key(i, text);
        BSON_APPEND_ARRAY_UNSAFE_BEGIN(&runs, key, &run);
        entry_append_number(&run, "0", done->runs[i].from);
        entry_append_number(&run, "1", done->runs[i].to);
        entry_append_number(&run, "2", done->runs[i].hash);
        bson_append_array_end(&runs, &run);
    }
    bson_append_array_end(to, &runs);
}

/* In memory they already have the form in which they are written, so this allocates nothing. */
static void append_rejects(bson_t *to, const piece_t *piece) {
    _Static_assert(sizeof(reject_mark_t) == 16 && offsetof(reject_mark_t, offset) == 0 &&
                       __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__,
                   "a reject mark is its offset and its hash, little endian");
    if (piece->reject_count)
        BSON_APPEND_BINARY(to, "rejects", BSON_SUBTYPE_BINARY, (const uint8_t *)piece->rejects,
                           (uint32_t)(piece->reject_count * sizeof *piece->rejects));
}

void entry_append_owner(bson_t *to, const char *key, const load_id_t *owner) {
    bson_oid_t oid;
    load_id_to_oid(owner, &oid);
    if (load_id_is_nobody(owner))
        bson_append_null(to, key, -1);
    else
        bson_append_oid(to, key, -1, &oid);
}

void entry_append_piece(bson_t *to, const char *key, const piece_t *piece, const load_id_t *owner,
                        uint32_t epoch) {
    bson_t inner;
    bson_append_document_begin(to, key, -1, &inner);
    entry_append_number(&inner, "from", piece->from);
    entry_append_owner(&inner, "owner", owner);
    entry_append_number(&inner, "epoch", epoch);
    append_some(&inner, "generation", piece->generation);
    append_some(&inner, "complete", piece->complete);
    if (piece->unsafe)
        BSON_APPEND_BOOL(&inner, "unsafe", true);
    append_some(&inner, "modified", (uint64_t)piece->modified_ns);
    append_some(&inner, "dialect", piece->dialect ^ entry_dialect_mark(piece->bad_value));
    append_runs(&inner, &piece->done);
    append_counts(&inner, &piece->counts);
    append_tail(&inner, &piece->tail);
    append_rejects(&inner, piece);
    bson_append_document_end(to, &inner);
}

void entry_append_extent(bson_t *to, const char *key, const extent_t *extent) {
    bson_t inner;
    bson_append_document_begin(to, key, -1, &inner);
    entry_append_number(&inner, "base", extent->base);
    entry_append_number(&inner, "start", extent->start);
    entry_append_number(&inner, "length", extent->length);
    bson_append_document_end(to, &inner);
}

void entry_append_torn(bson_t *to, const char *key, const torn_t *torn) {
    bson_t inner;
    bson_append_document_begin(to, key, -1, &inner);
    entry_append_number(&inner, "offset", torn->offset);
    entry_append_number(&inner, "length", torn->length);
    entry_append_number(&inner, "hash", torn->hash);
    bson_append_document_end(to, &inner);
}

void entry_append_version(bson_t *to, const char *key, uint32_t number, uint32_t slot,
                          const version_t *version) {
    bson_t inner;
    bson_append_document_begin(to, key, -1, &inner);
    if (number != slot + 1)
        entry_append_number(&inner, "number", number);
    entry_append_number(&inner, "size", version->size);
    BSON_APPEND_UTF8(&inner, "digest", version->digest);
    BSON_APPEND_INT64(&inner, "modified", version->modified_ns);
    if (version->completed_ns)
        BSON_APPEND_INT64(&inner, "completed", version->completed_ns);
    if (version->torn.length)
        entry_append_torn(&inner, "torn", &version->torn);
    bson_append_document_end(to, &inner);
}

/* If no version was dropped, each is at its own slot. */
static const version_t *in_slot(const entry_t *entry, uint32_t slot) {
    const version_t *version = &entry->versions[slot];
    for (size_t i = 0; version->slot != slot && i < entry->version_count; i++)
        if (entry->versions[i].slot == slot)
            version = &entry->versions[i];
    return version;
}

void entry_to_bson(const entry_t *entry, bson_t *to) {
    bson_t array;
    char text[16];
    entry_append_number(to, "_id", entry->ordinal);
    BSON_APPEND_UTF8(to, "key", entry->key);
    BSON_APPEND_UTF8(to, "path", entry->path);
    BSON_APPEND_UTF8(to, "kind", entry->kind ? entry->kind : "");
    if (entry->follows)
        BSON_APPEND_UTF8(to, "follows", entry->follows);
    entry_append_owner(to, "registeredBy", &entry->registered_by);
    entry_append_number(to, "version", entry->version);
    BSON_APPEND_ARRAY_UNSAFE_BEGIN(to, "versions", &array);
    for (uint32_t slot = 0; slot < entry->version_count; slot++) {
        const version_t *version = in_slot(entry, slot);
        entry_append_version(&array, entry_index_key(slot, text), version->number, slot, version);
    }
    bson_append_array_end(to, &array);
    BSON_APPEND_ARRAY_UNSAFE_BEGIN(to, "extents", &array);
    for (size_t i = 0; i < entry->extent_count; i++)
        entry_append_extent(&array, entry_index_key(i, text), &entry->extents[i]);
    bson_append_array_end(to, &array);
    append_some(to, "badValue", entry->piece_count ? entry->pieces->bad_value : 0);
    BSON_APPEND_ARRAY_UNSAFE_BEGIN(to, "pieces", &array);
    for (size_t i = 0; i < entry->piece_count; i++)
        entry_append_piece(&array, entry_index_key(i, text), &entry->pieces[i], &entry->pieces[i].owner,
                           entry->pieces[i].epoch);
    bson_append_array_end(to, &array);
}
