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

/* ---- tables ---- */

/* clang-format off */
#define COUNTS_OF(type)                                                                            \
    {"read", STORED_WHOLE, offsetof(type, counts.read), false},                                     \
    {"loaded", STORED_WHOLE, offsetof(type, counts.of[FATE_LOADED]), false},                        \
    {"already", STORED_WHOLE, offsetof(type, counts.of[FATE_THERE]), false},                        \
    {"rejected", STORED_WHOLE, offsetof(type, counts.of[FATE_REJECTED]), false},                    \
    {"filtered", STORED_WHOLE, offsetof(type, counts.of[FATE_FILTERED]), false},                    \
    {"corrected", STORED_WHOLE, offsetof(type, counts.of[FATE_CORRECTED]), false},                  \
    {"replaced", STORED_WHOLE, offsetof(type, counts.of[FATE_REPLACED]), false},                    \
    {"kept", STORED_WHOLE, offsetof(type, counts.of[FATE_KEPT]), false},
/* clang-format on */
static const stored_t tail_fields[] = {{"from", STORED_WHOLE, offsetof(tail_t, from), true},
                                       {"to", STORED_WHOLE, offsetof(tail_t, to), true},
                                       {"hash", STORED_HASH, offsetof(tail_t, hash), true},
                                       COUNTS_OF(tail_t){0}};
static const stored_t piece_fields[] = {{"from", STORED_WHOLE, offsetof(piece_t, from), true},
                                        {"owner", STORED_LOAD, offsetof(piece_t, owner), true},
                                        {"epoch", STORED_SMALL, offsetof(piece_t, epoch), true},
                                        {"generation", STORED_SMALL, offsetof(piece_t, generation), false},
                                        {"complete", STORED_SMALL, offsetof(piece_t, complete), false},
                                        {"unsafe", STORED_BOOL, offsetof(piece_t, unsafe), false},
                                        {"modified", STORED_HASH, offsetof(piece_t, modified_ns), false},
                                        {"dialect", STORED_HASH, offsetof(piece_t, dialect), false},
                                        COUNTS_OF(piece_t){0}};
static const stored_t torn_fields[] = {{"offset", STORED_WHOLE, offsetof(torn_t, offset), true},
                                       {"length", STORED_WHOLE, offsetof(torn_t, length), true},
                                       {"hash", STORED_HASH, offsetof(torn_t, hash), true},
                                       {0}};
static const stored_t version_fields[] = {
    {"size", STORED_WHOLE, offsetof(version_t, size), true},
    {"modified", STORED_HASH, offsetof(version_t, modified_ns), true},
    {"completed", STORED_HASH, offsetof(version_t, completed_ns), false},
    {0}};
static const stored_t extent_fields[] = {{"base", STORED_WHOLE, offsetof(extent_t, base), true},
                                         {"start", STORED_WHOLE, offsetof(extent_t, start), true},
                                         {"length", STORED_WHOLE, offsetof(extent_t, length), true},
                                         {0}};
static const stored_t fix_fields[] = {{"hash", STORED_HASH, offsetof(fix_mark_t, hash), false},
                                      {"confirmed", STORED_BOOL, offsetof(fix_mark_t, confirmed), false},
                                      {"generation", STORED_SMALL, offsetof(fix_mark_t, generation), false},
                                      {0}};
/* Those below registeredBy are written by changes. */
static const stored_t entry_fields[] = {
    {"_id", STORED_SMALL, offsetof(entry_t, ordinal), true},
    {"key", STORED_TEXT, offsetof(entry_t, key), true},
    {"path", STORED_TEXT, offsetof(entry_t, path), true},
    {"kind", STORED_TEXT, offsetof(entry_t, kind), false},
    {"registeredBy", STORED_LOAD, offsetof(entry_t, registered_by), false},
    {"removed", STORED_BOOL, offsetof(entry_t, removed), false},
    {"heirs", STORED_SMALL, offsetof(entry_t, heirs), false},
    {"remains", STORED_BOOL, offsetof(entry_t, remains), false},
    {"outgrown", STORED_SMALL, offsetof(entry_t, outgrown), false},
    {0}};

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

/* Of numbers, a zero is also what a missing field reads as: leaving it out halves the entries of thousands of small
 * files. */
static void append_fields(bson_t *to, const stored_t *table, const void *from) {
    for (const stored_t *field = table; field->key; field++) {
        const void *at = (const char *)from + field->at;
        uint64_t number = 0;
        switch (field->kind) {
        case STORED_TEXT:
            bson_append_utf8(to, field->key, -1, *(char *const *)at ? *(char *const *)at : "", -1);
            break;
        case STORED_LOAD:
            entry_append_owner(to, field->key, at);
            break;
        case STORED_BOOL:
            if (*(const bool *)at)
                bson_append_bool(to, field->key, -1, true);
            break;
        case STORED_SMALL:
        case STORED_INT:
            number = *(const uint32_t *)at;
            break;
        case STORED_WHOLE:
        case STORED_HASH:
            number = *(const uint64_t *)at;
        }
        if (number || (field->needed && field->kind <= STORED_HASH))
            entry_append_number(to, field->key, number);
    }
}

static void append_struct(bson_t *to, const char *key, const stored_t *table, const void *from) {
    bson_t inner;
    bson_append_document_begin(to, key, -1, &inner);
    append_fields(&inner, table, from);
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
    piece_t written = *piece;
    bson_t inner;
    written.owner = *owner;
    written.epoch = epoch;
    written.dialect ^= dialect_mark(piece->bad_value);
    bson_append_document_begin(to, key, -1, &inner);
    append_fields(&inner, piece_fields, &written);
    append_runs(&inner, &piece->done);
    if (piece->tail.from != piece->tail.to)
        append_struct(&inner, "tail", tail_fields, &piece->tail);
    append_rejects(&inner, piece);
    bson_append_document_end(to, &inner);
}

void entry_append_extent(bson_t *to, const char *key, const extent_t *extent) {
    append_struct(to, key, extent_fields, extent);
}

void entry_append_torn(bson_t *to, const char *key, const torn_t *torn) {
    append_struct(to, key, torn_fields, torn);
}

void entry_append_version(bson_t *to, const char *key, uint32_t number, uint32_t slot,
                          const version_t *version) {
    bson_t inner;
    bson_append_document_begin(to, key, -1, &inner);
    if (number != slot + 1)
        entry_append_number(&inner, "number", number);
    BSON_APPEND_UTF8(&inner, "digest", version->digest);
    append_fields(&inner, version_fields, version);
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
    append_fields(to, entry_fields, entry);
    if (entry->follows)
        BSON_APPEND_UTF8(to, "follows", entry->follows);
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
    if (entry->piece_count && entry->pieces->bad_value)
        entry_append_number(to, "badValue", entry->pieces->bad_value);
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

bool entry_whole(const bson_iter_t *iter, uint64_t most, uint64_t *number) {
    const double value = BSON_ITER_HOLDS_DOUBLE(iter) ? bson_iter_double(iter) : 0;
    *number = 0;
    if (!BSON_ITER_HOLDS_NUMBER(iter) || !(value >= 0 && value < 0x1p62))
        return false;
    const int64_t whole = bson_iter_as_int64(iter);
    if (whole < 0 || (uint64_t)whole > most || (BSON_ITER_HOLDS_DOUBLE(iter) && (double)whole != value))
        return false;
    *number = (uint64_t)whole;
    return true;
}

static bool take_text(const bson_iter_t *iter, char **text, err_t *err) {
    free(*text);
    *text = strdup(bson_iter_utf8(iter, NULL));
    return *text != NULL || err_memory(err, 1);
}

/* *fits: the field is as tipple writes it. */
static bool take_field(const bson_iter_t *iter, const stored_t *field, void *at, bool *fits, err_t *err) {
    uint64_t number;
    switch (field->kind) {
    case STORED_WHOLE:
        *fits = entry_whole(iter, INT64_MAX, at);
        return true;
    case STORED_SMALL:
    case STORED_INT:
        *fits = entry_whole(iter, field->kind == STORED_INT ? INT32_MAX : UINT32_MAX, &number);
        *(uint32_t *)at = (uint32_t)number;
        return true;
    case STORED_HASH:
        *fits = BSON_ITER_HOLDS_NUMBER(iter);
        *(uint64_t *)at = bits(iter);
        return true;
    case STORED_BOOL:
        *fits = BSON_ITER_HOLDS_BOOL(iter);
        *(bool *)at = bson_iter_as_bool(iter);
        return true;
    case STORED_LOAD:
        *fits = BSON_ITER_HOLDS_OID(iter) || BSON_ITER_HOLDS_NULL(iter);
        if (BSON_ITER_HOLDS_OID(iter))
            *(load_id_t *)at = load_id_from_oid(bson_iter_oid(iter));
        return true;
    case STORED_TEXT:
        *fits = BSON_ITER_HOLDS_UTF8(iter);
        return !*fits || take_text(iter, at, err);
    }
    return true;
}

bool stored_take(bson_iter_t *fields, const stored_t *table, void *to, const char **odd, err_t *err) {
    const stored_t *field;
    uint32_t found = 0;
    while (bson_iter_next(fields)) {
        bool fits = true;
        for (field = table; field->key && !is(fields, field->key);)
            field++;
        if (field->key && !take_field(fields, field, (char *)to + field->at, &fits, err))
            return false;
        found |= 1u << (field - table);
        *odd = fits || **odd ? *odd : field->key;
    }
    for (field = table; field->key; field++)
        if (field->needed && !(found >> (field - table) & 1) && !**odd)
            *odd = field->key;
    return true;
}

/* Reads an item of this list, which must be a document. */
static bool take_struct(const bson_iter_t *item, const char *list, const stored_t *table, void *to,
                        const char **odd, err_t *err) {
    bson_iter_t fields;
    if (BSON_ITER_HOLDS_DOCUMENT(item) && bson_iter_recurse(item, &fields))
        return stored_take(&fields, table, to, odd, err);
    *odd = list;
    return true;
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

static bool take_rejects(const bson_iter_t *iter, piece_t *piece, const char **odd, err_t *err) {
    bson_subtype_t subtype;
    uint32_t length = 1;
    const uint8_t *bytes;
    if (BSON_ITER_HOLDS_BINARY(iter))
        bson_iter_binary(iter, &subtype, &length, &bytes);
    if (length % sizeof(reject_mark_t)) {
        *odd = "rejects";
        return true;
    }
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

static bool take_piece(const bson_iter_t *of, piece_t *piece, const char **odd, err_t *err) {
    bson_iter_t field;
    bool ok = take_struct(of, "pieces", piece_fields, piece, odd, err);
    EACH(&field, of) {
        if (ok && is(&field, "done"))
            ok = take_runs(&field, &piece->done, err);
        else if (ok && is(&field, "tail"))
            ok = take_struct(&field, "tail", tail_fields, &piece->tail, odd, err);
        else if (ok && is(&field, "rejects"))
            ok = take_rejects(&field, piece, odd, err);
    }
    return ok;
}

static bool take_pieces(const bson_iter_t *of, entry_t *entry, const char **odd, err_t *err) {
    bson_iter_t item;
    size_t count = 0, at = 0;
    EACH(&item, of) {
        count++;
    }
    if (!count)
        return true;
    if (!entry_make_pieces(entry, count, 0, err))
        return false;
    EACH(&item, of) {
        if (!take_piece(&item, &entry->pieces[at++], odd, err))
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

static int by_number(const void *a, const void *b) {
    const version_t *left = a, *right = b;
    if (left->number != right->number)
        return left->number < right->number ? -1 : 1;
    return (left->slot > right->slot) - (left->slot < right->slot);
}

static bool take_versions(const bson_iter_t *of, entry_t *entry, const char **odd, err_t *err) {
    bson_iter_t item, field;
    EACH(&item, of) {
        version_t version = {.size = 0};
        uint32_t number = 0;
        bool ok = take_struct(&item, "versions", version_fields, &version, odd, err);
        EACH(&field, &item) {
            if (is(&field, "number") && BSON_ITER_HOLDS_INT(&field))
                number = (uint32_t)whole(&field);
            else if (is(&field, "digest") && BSON_ITER_HOLDS_UTF8(&field))
                snprintf(version.digest, sizeof version.digest, "%s", bson_iter_utf8(&field, NULL));
            else if (is(&field, "torn"))
                ok = ok && take_struct(&field, "torn", torn_fields, &version.torn, odd, err);
        }
        if (!ok || !entry_add_version(entry, &version, err))
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

static bool take_extents(const bson_iter_t *of, entry_t *entry, const char **odd, err_t *err) {
    bson_iter_t item;
    EACH(&item, of) {
        extent_t extent = {0};
        if (!take_struct(&item, "extents", extent_fields, &extent, odd, err) ||
            !entry_add_extent(entry, extent, err))
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

static bool take_fixes(const bson_iter_t *of, entry_t *entry, const char **odd, err_t *err) {
    bson_iter_t item;
    EACH(&item, of) {
        char *end;
        fix_mark_t fix = {.offset = strtoull(bson_iter_key(&item), &end, 10)};
        fix.of = *end == '-' ? strtoull(end + 1, NULL, 16) : 0;
        if (!take_struct(&item, "fixes", fix_fields, &fix, odd, err) ||
            ((fix.hash || fix.confirmed) && !entry_add_fix(entry, fix, err)) ||
            !take_noted(&item, &fix, entry, err))
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

bool entry_from_bson(const bson_t *document, entry_t *entry, const char **odd, err_t *err) {
    bson_iter_t iter;
    uint64_t version = 0, bad_value = 0;
    *odd = "";
    bool ok = bson_iter_init(&iter, document) && stored_take(&iter, entry_fields, entry, odd, err) &&
              bson_iter_init(&iter, document);
    while (ok && bson_iter_next(&iter)) {
        const bool list = BSON_ITER_HOLDS_ARRAY(&iter);
        if (is(&iter, "names"))
            ok = take_names(&iter, entry, err);
        else if (is(&iter, "version"))
            entry_whole(&iter, UINT32_MAX, &version);
        else if (is(&iter, "versions") && list)
            ok = take_versions(&iter, entry, odd, err);
        else if (is(&iter, "extents") && list)
            ok = take_extents(&iter, entry, odd, err);
        else if (is(&iter, "fixes"))
            ok = take_fixes(&iter, entry, odd, err);
        else if (is(&iter, "badValue"))
            entry_whole(&iter, BAD_VALUES, &bad_value);
        else if (is(&iter, "pieces") && list)
            ok = take_pieces(&iter, entry, odd, err);
    }
    take_bad_value((uint32_t)bad_value, entry);
    if (!**odd)
        *odd = !entry->version_count       ? "versions"
               : entry->version != version ? "version"
               : !entry->extent_count      ? "extents"
               : !entry->piece_count       ? "pieces"
                                           : "";
    return ok;
}
