/* An entry and its parts as BSON, and back. */
#include "catalog/store/entry_bson.h"
#include "base/text.h"
#include "format/schema/schema.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Loops over the elements of a document or array. */
#define EACH_AT(more, iter, of)   for (bool more = bson_iter_recurse(of, iter); more && bson_iter_next(iter);)
#define EACH_ON(line, iter, of)   EACH_AT(more_##line, iter, of)
#define EACH_LINE(line, iter, of) EACH_ON(line, iter, of)
#define EACH(iter, of)            EACH_LINE(__LINE__, iter, of)

/* A number of an entry, and the key of its field. */
typedef struct {
    const char *key;
    uint64_t *at;
    bool is_hash; /* uses all 64 bits; other numbers are not negative */
} number_t;

static const char *const fate_keys[FATES] = {"loaded",    "already",  "rejected", "filtered",
                                             "corrected", "replaced", "kept"};

/* Is mixed into the dialect's hash of a piece with a bad_value of its own, even if no dialect is decided: earlier
 * versions of tipple, which know no bad_value and would read the records differently, then take the input for a changed
 * one. */
static uint64_t dialect_mark(uint32_t bad_value) {
    return bad_value * 0x9E3779B97F4A7C15u;
}

/* ---- writing ---- */

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

/* Leaves out a zero, which is also what a missing field reads as: this halves the entries of thousands of small
 * files. */
static void append_some(bson_t *to, const char *key, uint64_t value) {
    if (value)
        entry_append_number(to, key, value);
}

static void append_counts(bson_t *to, const counts_t *counts) {
    append_some(to, "read", counts->read);
    for (size_t fate = 0; fate < FATES; fate++)
        append_some(to, fate_keys[fate], counts->of[fate]);
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

/* Rejects have the same form in memory and in the document, so nothing is allocated. */
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
    append_some(&inner, "dialect", piece->dialect ^ dialect_mark(piece->bad_value));
    append_runs(&inner, &piece->done);
    append_counts(&inner, &piece->counts);
    append_tail(&inner, &piece->tail);
    append_rejects(&inner, piece);
    bson_append_document_end(to, &inner);
}

void entry_append_extent(bson_t *to, const char *key, const extent_t *extent) {
    BCON_APPEND(to, key, "{", "base", BCON_INT64((int64_t)extent->base), "start",
                BCON_INT64((int64_t)extent->start), "length", BCON_INT64((int64_t)extent->length), "}");
}

void entry_append_torn(bson_t *to, const char *key, const torn_t *torn) {
    BCON_APPEND(to, key, "{", "offset", BCON_INT64((int64_t)torn->offset), "length",
                BCON_INT64((int64_t)torn->length), "hash", BCON_INT64((int64_t)torn->hash), "}");
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

/* As long as no version was dropped, each is at the index of its slot. */
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

/* ---- reading ---- */

load_id_t load_id_from_oid(const bson_oid_t *oid) {
    load_id_t id;
    memcpy(id.bytes, oid->bytes, sizeof id.bytes);
    return id;
}

static uint64_t whole(const bson_iter_t *iter) {
    const int64_t value = bson_iter_as_int64(iter);
    return value > 0 ? (uint64_t)value : 0;
}

/* A hash uses all 64 bits. */
static uint64_t bits(const bson_iter_t *iter) {
    return (uint64_t)bson_iter_as_int64(iter);
}

/* Fast, because the first letter sets most keys apart. */
static inline bool is(const bson_iter_t *iter, const char *key) {
    const char *found = bson_iter_key(iter);
    return found[0] == key[0] && strcmp(found, key) == 0;
}

static bool take_text(const bson_iter_t *iter, char **text, err_t *err) {
    if (!BSON_ITER_HOLDS_UTF8(iter))
        return true;
    free(*text);
    *text = strdup(bson_iter_utf8(iter, NULL));
    return *text != NULL || err_memory(err, 1);
}

static void take_numbers(const bson_iter_t *of, const number_t *numbers, size_t count) {
    bson_iter_t field;
    EACH(&field, of) {
        for (size_t i = 0; i < count; i++)
            if (is(&field, numbers[i].key))
                *numbers[i].at = numbers[i].is_hash ? bits(&field) : whole(&field);
    }
}

static void take_count(const bson_iter_t *field, counts_t *counts) {
    if (is(field, "read"))
        counts->read = whole(field);
    for (size_t fate = 0; fate < FATES; fate++)
        if (is(field, fate_keys[fate]))
            counts->of[fate] = whole(field);
}

static void take_tail(const bson_iter_t *of, tail_t *tail) {
    const number_t numbers[] = {
        {"from", &tail->from, false}, {"to", &tail->to, false}, {"hash", &tail->hash, true}};
    bson_iter_t field;
    take_numbers(of, numbers, COUNT(numbers));
    EACH(&field, of) {
        take_count(&field, &tail->counts);
    }
}

static bool take_runs(const bson_iter_t *of, done_runs_t *done, err_t *err) {
    bson_iter_t run, number;
    EACH(&run, of) {
        uint64_t values[3] = {0};
        size_t count = 0;
        bool is_new;
        EACH(&number, &run) {
            if (count < 3)
                values[count] = count == 2 ? bits(&number) : whole(&number);
            count++;
        }
        if (count >= 3 && !done_runs_add(done, values[0], values[1], values[2], &is_new))
            return err_memory(err, sizeof(done_run_t));
    }
    return true;
}

static bool take_rejects(const bson_iter_t *iter, piece_t *piece, err_t *err) {
    bson_subtype_t subtype;
    uint32_t length;
    const uint8_t *bytes;
    if (!BSON_ITER_HOLDS_BINARY(iter))
        return true;
    bson_iter_binary(iter, &subtype, &length, &bytes);
    for (size_t left = length / sizeof(reject_mark_t), count; left; left -= count) {
        reject_mark_t marks[256];
        count = left < COUNT(marks) ? left : COUNT(marks);
        memcpy(marks, bytes, count * sizeof *marks); /* the binary may be unaligned */
        bytes += count * sizeof *marks;
        if (!piece_add_rejects(piece, marks, count, err))
            return false;
    }
    return true;
}

static bool take_piece(const bson_iter_t *of, piece_t *piece, err_t *err) {
    bson_iter_t field;
    bool ok = true;
    EACH(&field, of) {
        if (!ok)
            break;
        if (is(&field, "from"))
            piece->from = whole(&field);
        else if (is(&field, "owner") && BSON_ITER_HOLDS_OID(&field))
            piece->owner = load_id_from_oid(bson_iter_oid(&field));
        else if (is(&field, "epoch"))
            piece->epoch = (uint32_t)whole(&field);
        else if (is(&field, "generation"))
            piece->generation = (uint32_t)whole(&field);
        else if (is(&field, "complete"))
            piece->complete = (uint32_t)whole(&field);
        else if (is(&field, "unsafe"))
            piece->unsafe = bson_iter_as_bool(&field);
        else if (is(&field, "modified"))
            piece->modified_ns = bson_iter_as_int64(&field);
        else if (is(&field, "dialect"))
            piece->dialect = bits(&field);
        else if (is(&field, "done"))
            ok = take_runs(&field, &piece->done, err);
        else if (is(&field, "tail"))
            take_tail(&field, &piece->tail);
        else if (is(&field, "rejects"))
            ok = take_rejects(&field, piece, err);
        else
            take_count(&field, &piece->counts);
    }
    return ok;
}

static bool take_pieces(const bson_iter_t *of, entry_t *entry, err_t *err) {
    bson_iter_t item;
    size_t count = 0, at = 0;
    EACH(&item, of) {
        count++;
    }
    if (!entry_make_pieces(entry, count ? count : 1, 0, err))
        return false;
    EACH(&item, of) {
        if (!take_piece(&item, &entry->pieces[at++], err))
            return false;
    }
    for (size_t i = 0; i + 1 < entry->piece_count; i++)
        entry->pieces[i].to = entry->pieces[i + 1].from;
    entry->pieces[entry->piece_count - 1].to = UINT64_MAX;
    return true;
}

static void take_bad_value(uint32_t bad_value, entry_t *entry) {
    for (size_t i = 0; i < entry->piece_count; i++) {
        entry->pieces[i].bad_value = bad_value;
        entry->pieces[i].dialect ^= dialect_mark(bad_value);
    }
}

static void take_torn(const bson_iter_t *of, torn_t *torn) {
    const number_t numbers[] = {
        {"offset", &torn->offset, false}, {"length", &torn->length, false}, {"hash", &torn->hash, true}};
    take_numbers(of, numbers, COUNT(numbers));
}

static int by_number(const void *a, const void *b) {
    const version_t *left = a, *right = b;
    if (left->number != right->number)
        return left->number < right->number ? -1 : 1;
    return (left->slot > right->slot) - (left->slot < right->slot);
}

static bool take_versions(const bson_iter_t *of, entry_t *entry, err_t *err) {
    bson_iter_t item, field;
    EACH(&item, of) {
        version_t version = {.size = 0};
        uint32_t number = 0;
        EACH(&field, &item) {
            if (is(&field, "number") && (BSON_ITER_HOLDS_INT(&field)))
                number = (uint32_t)whole(&field);
            else if (is(&field, "size"))
                version.size = whole(&field);
            else if (is(&field, "digest") && BSON_ITER_HOLDS_UTF8(&field))
                snprintf(version.digest, sizeof version.digest, "%s", bson_iter_utf8(&field, NULL));
            else if (is(&field, "modified"))
                version.modified_ns = bson_iter_as_int64(&field);
            else if (is(&field, "completed"))
                version.completed_ns = bson_iter_as_int64(&field);
            else if (is(&field, "torn"))
                take_torn(&field, &version.torn);
        }
        if (!entry_add_version(entry, &version, err))
            return false;
        version_t *added = &entry->versions[entry->version_count - 1];
        added->number = number && number <= INT32_MAX ? number : added->slot + 1;
    }
    if (entry->version_count) {
        qsort(entry->versions, entry->version_count, sizeof *entry->versions, by_number);
        entry->version = entry_newest(entry)->number;
    }
    return true;
}

static bool take_extents(const bson_iter_t *of, entry_t *entry, err_t *err) {
    bson_iter_t item;
    EACH(&item, of) {
        extent_t extent = {0};
        const number_t numbers[] = {{"base", &extent.base, false},
                                    {"start", &extent.start, false},
                                    {"length", &extent.length, false}};
        take_numbers(&item, numbers, COUNT(numbers));
        if (!entry_add_extent(entry, extent, err))
            return false;
    }
    return true;
}

static bool take_noted(const bson_iter_t *of, const fix_mark_t *reject, entry_t *entry, err_t *err) {
    bson_iter_t field, hash;
    EACH(&field, of) {
        if (!is(&field, "noted"))
            continue;
        EACH(&hash, &field) {
            const fix_mark_t fix = {
                .offset = reject->offset, .of = reject->of, .hash = strtoull(bson_iter_key(&hash), NULL, 16)};
            if (!entry_add_fix(entry, fix, err))
                return false;
        }
    }
    return true;
}

static bool take_fixes(const bson_iter_t *of, entry_t *entry, err_t *err) {
    bson_iter_t item, field;
    EACH(&item, of) {
        char *end;
        fix_mark_t fix = {.offset = strtoull(bson_iter_key(&item), &end, 10)};
        fix.of = *end == '-' ? strtoull(end + 1, NULL, 16) : 0;
        bool has_hash = false;
        EACH(&field, &item) {
            if (is(&field, "hash")) {
                fix.hash = bits(&field);
                has_hash = true;
            } else if (is(&field, "confirmed")) {
                fix.confirmed = bson_iter_as_bool(&field);
            } else if (is(&field, "generation")) {
                fix.generation = (uint32_t)whole(&field);
            }
        }
        if ((has_hash && !entry_add_fix(entry, fix, err)) || !take_noted(&item, &fix, entry, err))
            return false;
    }
    return true;
}

static bool take_names(const bson_iter_t *of, entry_t *entry, err_t *err) {
    bson_iter_t item;
    EACH(&item, of) {
        if (BSON_ITER_HOLDS_UTF8(&item) && !entry_add_name(entry, bson_iter_utf8(&item, NULL), err))
            return false;
    }
    return true;
}

bool entry_from_bson(const bson_t *document, entry_t *entry, err_t *err) {
    bson_iter_t iter;
    uint32_t bad_value = 0;
    bool ok = bson_iter_init(&iter, document);
    while (ok && bson_iter_next(&iter)) {
        if (is(&iter, "_id"))
            entry->ordinal = (uint32_t)whole(&iter);
        else if (is(&iter, "key"))
            ok = take_text(&iter, &entry->key, err);
        else if (is(&iter, "path"))
            ok = take_text(&iter, &entry->path, err);
        else if (is(&iter, "names"))
            ok = take_names(&iter, entry, err);
        else if (is(&iter, "kind"))
            ok = take_text(&iter, &entry->kind, err);
        else if (is(&iter, "registeredBy") && BSON_ITER_HOLDS_OID(&iter))
            entry->registered_by = load_id_from_oid(bson_iter_oid(&iter));
        else if (is(&iter, "removed"))
            entry->removed = bson_iter_as_bool(&iter);
        else if (is(&iter, "heirs"))
            entry->heirs = (uint32_t)whole(&iter);
        else if (is(&iter, "remains"))
            entry->remains = bson_iter_as_bool(&iter);
        else if (is(&iter, "versions"))
            ok = take_versions(&iter, entry, err);
        else if (is(&iter, "outgrown"))
            entry->outgrown = (uint32_t)whole(&iter);
        else if (is(&iter, "extents"))
            ok = take_extents(&iter, entry, err);
        else if (is(&iter, "fixes"))
            ok = take_fixes(&iter, entry, err);
        else if (is(&iter, "badValue") && whole(&iter) <= BAD_VALUES)
            bad_value = (uint32_t)whole(&iter);
        else if (is(&iter, "pieces"))
            ok = take_pieces(&iter, entry, err);
    }
    take_bad_value(bad_value, entry);
    if (!ok)
        return false;
    if ((!entry->path && !(entry->path = strdup(""))) || (!entry->key && !(entry->key = strdup(""))))
        return err_memory(err, 1);
    return (entry->version || entry_add_version(entry, &(version_t){.size = 0}, err)) &&
           (entry->piece_count || entry_make_pieces(entry, 1, 0, err));
}
