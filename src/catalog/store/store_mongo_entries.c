#include "base/text.h"
#include "catalog/store/change_bson.h"
#include "catalog/store/entry_bson.h"
#include "catalog/store/store_mongo_inner.h"
#include "server/server_errors.h"

#include <inttypes.h>
#include <stdio.h>

/* The filter for the next of these ordinals: those from `from` on, as many as one command should hold. *asked_to: one
 * more than the last of them. */
static void append_ordinals(const uint32_t *among, size_t count, uint64_t from, bson_t *filter,
                            uint64_t *asked_to, bool *all) {
    bson_t inner, list;
    char text[16];
    size_t at = 0, added = 0;
    while (at < count && among[at] < from)
        at++;
    BSON_APPEND_DOCUMENT_BEGIN(filter, "_id", &inner);
    BSON_APPEND_ARRAY_UNSAFE_BEGIN(&inner, "$in", &list);
    for (; at < count && added < STORE_MONGO_ASKED; at++, added++) {
        BSON_APPEND_INT64(&list, entry_index_key(added, text), among[at]);
        *asked_to = (uint64_t)among[at] + 1;
    }
    bson_append_array_end(&inner, &list);
    bson_append_document_end(filter, &inner);
    *all = at == count;
}

static bool is_owner(const bson_iter_t *owner) {
    return BSON_ITER_HOLDS_NULL(owner) || BSON_ITER_HOLDS_OID(owner);
}

static bool are_rejects(const bson_iter_t *rejects) {
    bson_subtype_t subtype;
    uint32_t length;
    const uint8_t *bytes;
    if (!BSON_ITER_HOLDS_BINARY(rejects))
        return false;
    bson_iter_binary(rejects, &subtype, &length, &bytes);
    return length % sizeof(reject_mark_t) == 0;
}

static const char *odd_in_pieces(const bson_iter_t *pieces) {
    bson_iter_t piece, field;
    uint64_t number, count = 0;
    for (bool more = bson_iter_recurse(pieces, &piece); more && bson_iter_next(&piece);) {
        if (!BSON_ITER_HOLDS_DOCUMENT(&piece))
            return "pieces";
        if (!bson_iter_recurse(&piece, &field) || !bson_iter_find(&field, "owner") || !is_owner(&field))
            return "owner";
        if (!bson_iter_recurse(&piece, &field) || !bson_iter_find(&field, "epoch") ||
            !store_mongo_whole(&field, UINT32_MAX, &number))
            return "epoch";
        if (bson_iter_recurse(&piece, &field) && bson_iter_find(&field, "rejects") && !are_rejects(&field))
            return "rejects";
        count++;
    }
    return count ? "" : "pieces";
}

/* The extents decide which documents belong to the input. */
static bool are_extents(const bson_t *document) {
    static const char *const keys[] = {"base", "start", "length"};
    bson_iter_t extents, extent, field;
    uint64_t number = 0, count = 0;
    if (!bson_iter_init_find(&extents, document, "extents") || !BSON_ITER_HOLDS_ARRAY(&extents))
        return false;
    for (bool more = bson_iter_recurse(&extents, &extent); more && bson_iter_next(&extent); count++)
        for (size_t i = 0; i < COUNT(keys); i++)
            if (!BSON_ITER_HOLDS_DOCUMENT(&extent) || !bson_iter_recurse(&extent, &field) ||
                !bson_iter_find(&field, keys[i]) || !store_mongo_whole(&field, INT64_MAX, &number))
                return false;
    return count;
}

/* The name of a field that a change of the entry could not believe; "": there is none. version: the entry's own
 * version. */
static const char *odd_in_entry(const bson_t *document, uint64_t *version) {
    bson_iter_t iter;
    if (!bson_iter_init_find(&iter, document, "versions") || !BSON_ITER_HOLDS_ARRAY(&iter))
        return "versions";
    if (!bson_iter_init_find(&iter, document, "version") || !store_mongo_whole(&iter, UINT32_MAX, version))
        return "version";
    if (bson_iter_init_find(&iter, document, "removed") && !BSON_ITER_HOLDS_BOOL(&iter))
        return "removed";
    if (!bson_iter_init_find(&iter, document, "pieces") || !BSON_ITER_HOLDS_ARRAY(&iter))
        return "pieces";
    if (!are_extents(document))
        return "extents";
    return odd_in_pieces(&iter);
}

static bool refuse_entry(const store_mongo_t *mongo, uint64_t ordinal, const char *field, err_t *err) {
    char what[100];
    snprintf(what, sizeof what, "the field '%s' of its entry with the _id %" PRIu64, field, ordinal);
    return store_mongo_damaged(mongo, err, what, "remove that entry and ");
}

/* Reads the next entry. Its ordinal must be higher than the one before: or reading all entries would read some again
 * and again, or never. */
static bool read_entry(const store_mongo_t *mongo, const bson_t *document, uint64_t *from, entries_t *entries,
                       err_t *err) {
    bson_iter_t id;
    uint64_t ordinal, version = 0;
    if (!bson_iter_init_find(&id, document, "_id") || !store_mongo_whole(&id, UINT32_MAX, &ordinal) ||
        ordinal < *from)
        return store_mongo_damaged(mongo, err, "the _id of an entry", "remove that entry and ");
    const char *odd = odd_in_entry(document, &version);
    if (*odd)
        return refuse_entry(mongo, ordinal, odd, err);
    entry_t *entry = entries_add(entries, err);
    *from = ordinal + 1;
    return entry && entry_from_bson(document, entry, err) &&
           (entry->version == version || refuse_entry(mongo, ordinal, "version", err));
}

bool store_mongo_read_entries(store_t *store, uint64_t *from, const uint32_t *among, size_t among_count,
                              entries_t *entries, bool *more, err_t *err) {
    store_mongo_t *mongo = store_mongo_of(store);
    bson_t filter = BSON_INITIALIZER, reply, document;
    bson_iter_t documents;
    uint64_t asked_to = *from;
    bool all = true;
    if (among)
        append_ordinals(among, among_count, *from, &filter, &asked_to, &all);
    else
        BCON_APPEND(&filter, "_id", "{", "$gte", BCON_INT64((int64_t)*from), "}");
    /* each page is a command of its own, so an election in between does no harm; a first batch has 101 documents unless
     * more are asked for, and at most 16 MB */
    bson_t *find = BCON_NEW("find", BCON_UTF8(mongo->files), "filter", BCON_DOCUMENT(&filter), "sort", "{",
                            "_id", BCON_INT32(1), "}", "limit", BCON_INT32(STORE_MONGO_PAGE), "batchSize",
                            BCON_INT32(STORE_MONGO_PAGE), "singleBatch", BCON_BOOL(true));
    bool ok = store_mongo_find(mongo, find, &reply, &documents, err);
    size_t count = 0;
    for (; store_mongo_next(mongo, &documents, &document, &ok, err); count++)
        ok = read_entry(mongo, &document, from, entries, err);
    if (!count) /* there is no other among the ordinals that were asked for */
        *from = asked_to;
    *more = count > 0 || !all;
    bson_destroy(&reply);
    bson_destroy(&filter);
    return ok;
}

bool store_mongo_add_entries(store_t *store, const entry_t *const *entries, size_t count, uint64_t *added,
                             err_t *err) {
    store_mongo_t *mongo = store_mongo_of(store);
    bool ok = !count || store_mongo_prepare(store, err); /* another load may have made the header */
    *added = 0;
    for (size_t at = 0; ok && *added == at && at < count;) {
        bson_t command = BSON_INITIALIZER, documents, document, reply;
        char text[16];
        BSON_APPEND_UTF8(&command, "insert", mongo->files);
        BSON_APPEND_BOOL(&command, "ordered", true);
        BSON_APPEND_ARRAY_UNSAFE_BEGIN(&command, "documents", &documents);
        for (size_t i = 0;
             at < count && i < STORE_MONGO_STATEMENTS && documents.len < STORE_MONGO_COMMAND_BYTES;
             i++, at++) {
            BSON_APPEND_DOCUMENT_BEGIN(&documents, entry_index_key(i, text), &document);
            entry_to_bson(entries[at], &document);
            bson_append_document_end(&documents, &document);
        }
        bson_append_array_end(&command, &documents);
        const bool all = store_mongo_run(mongo, &command, true, &reply, err);
        ok = all || server_code(&reply) == CODE_DUPLICATE_KEY;
        *added += all ? store_mongo_number(&reply, "n") : 0;
        bson_destroy(&reply);
        bson_destroy(&command);
    }
    return ok;
}

bool store_mongo_change_entries(store_t *store, const entry_change_t *changes, size_t count,
                                uint64_t *changed, err_t *err) {
    bool ok = true;
    *changed = 0;
    for (size_t at = 0; ok && at < count;) {
        bson_t statements = BSON_INITIALIZER, statement;
        uint64_t matched;
        size_t fixes = 0;
        char text[16];
        for (size_t i = 0;
             at < count && i < STORE_MONGO_STATEMENTS && statements.len < STORE_MONGO_COMMAND_BYTES; i++) {
            fixes += changes[at].fix_count;
            if (i && fixes > STORE_MOST_FIXES)
                break;
            BSON_APPEND_DOCUMENT_BEGIN(&statements, entry_index_key(i, text), &statement);
            at += change_bson_statement(changes + at, count - at, &statement);
            bson_append_document_end(&statements, &statement);
        }
        ok = store_mongo_update(store_mongo_of(store), store_mongo_of(store)->files, &statements, &matched,
                                err);
        *changed += matched;
        bson_destroy(&statements);
    }
    return ok;
}

bool store_mongo_remove_entries(store_t *store, uint64_t below, err_t *err) {
    store_mongo_t *mongo = store_mongo_of(store);
    bson_t *command = BCON_NEW("delete", BCON_UTF8(mongo->files), "deletes", "[", "{", "q", "{", "_id", "{",
                               "$lt", BCON_INT64((int64_t)below), "}", "}", "limit", BCON_INT32(0), "}", "]");
    bool ok = store_mongo_run(mongo, command, true, NULL, err);
    bson_destroy(command);
    return ok;
}
