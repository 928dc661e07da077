#include "catalog/store/store_mongo.h"
#include "base/clock.h"
#include "base/ejson.h"
#include "base/grow.h"
#include "base/host/host.h"
#include "base/record_id.h"
#include "catalog/store/change_bson.h"
#include "catalog/store/entry_bson.h"
#include "server/bson_read.h"
#include "server/collection.h"
#include "server/server_errors.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* The header:
 *
 *   {_id: "catalog", key: "catalog", layout, laneRule, uuid, generation, nextExtent (units), nextOrdinal,
 *    leaseMs, format, digest, filter, dropping: <load>, drops, created, synced} */
#define HEADER "catalog"

enum { PAGE = 5000, ASKED = 20000, STATEMENTS = 1000, COMMAND_BYTES = 8 << 20 };

typedef struct {
    store_t store; /* must be first: callers have a pointer to this field */
    server_t *server;
    mongoc_client_t *client;
    char files[280], loads[280]; /* collections, without the database */
} mongo_t;

static mongo_t *of(store_t *store) {
    return (mongo_t *)store;
}

static bool run(mongo_t *mongo, const bson_t *command, bool writes, bson_t *reply, err_t *err) {
    return server_command(mongo->server, mongo->client, server_database(mongo->server), command, writes,
                          reply, err);
}

static uint64_t number_at(const bson_t *document, const char *field) {
    bson_iter_t iter;
    const int64_t value = bson_iter_init_find(&iter, document, field) ? bson_iter_as_int64(&iter) : 0;
    return value > 0 ? (uint64_t)value : 0;
}

/* Reads a number that we can write back as the server has it: whole, and from 0 to `most`. */
static bool whole_of(const bson_iter_t *iter, uint64_t most, uint64_t *number) {
    const double value = BSON_ITER_HOLDS_DOUBLE(iter) ? bson_iter_double(iter) : 0;
    if (!BSON_ITER_HOLDS_NUMBER(iter) || !(value >= 0 && value < 0x1p62))
        return false;
    const int64_t whole = bson_iter_as_int64(iter);
    *number = (uint64_t)whole;
    return whole >= 0 && *number <= most && (!BSON_ITER_HOLDS_DOUBLE(iter) || (double)whole == value);
}

static bool damaged(const mongo_t *mongo, err_t *err, const char *what, const char *then) {
    return err_set(err, STATUS_SERVER,
                   "the catalog of %s is damaged: %s (in %s) was not written by tipple. Load into another "
                   "collection, or %sstart over with --drop",
                   server_namespace(mongo->server), what, mongo->files, then);
}

static bool refuse_answer(const mongo_t *mongo, err_t *err) {
    return err_set(err, STATUS_SERVER,
                   "the server at %s answers a 'find' with something else: is it a MongoDB server?",
                   server_where(mongo->server));
}

/* The documents of a reply to `find`, for next_document. */
static bool first_batch(const mongo_t *mongo, const bson_t *reply, bson_iter_t *documents, err_t *err) {
    return bson_read_batch(reply, documents) || refuse_answer(mongo, err);
}

/* False: there are no more, or, with *ok false, it failed and err says why. */
static bool next_document(const mongo_t *mongo, bson_iter_t *documents, bson_t *document, bool *ok,
                          err_t *err) {
    if (!*ok || (!bson_iter_next(documents) && !documents->err_off))
        return false;
    *ok = !documents->err_off && bson_read_document(documents, document);
    return *ok || refuse_answer(mongo, err);
}

/* ---- the header ---- */

static bool take_text(const bson_t *document, const char *field, char **text, err_t *err) {
    bson_iter_t iter;
    if (!bson_iter_init_find(&iter, document, field) || !BSON_ITER_HOLDS_UTF8(&iter))
        return true;
    *text = strdup(bson_iter_utf8(&iter, NULL));
    return *text != NULL || err_memory(err, 1);
}

/* The name of a field that a change of the header could not believe, because we would not write it like this: such a
 * change would never be made. "": there is none. */
static const char *odd_field(const bson_t *document) {
    static const struct {
        const char *name;
        uint64_t most;
        bool needed;
    } numbers[] = {{"layout", INT32_MAX, true},
                   {"laneRule", INT32_MAX, true},
                   {"generation", UINT32_MAX, true},
                   {"nextExtent", INT64_MAX, true},
                   {"nextOrdinal", INT64_MAX, true},
                   {"drops", INT64_MAX, false},
                   {"leaseMs", INT64_MAX / 1000000, false}};
    static const char *const texts[] = {"format", "digest", "filter"};
    bson_iter_t iter;
    uint64_t number;
    for (size_t i = 0; i < sizeof numbers / sizeof *numbers; i++)
        if (bson_iter_init_find(&iter, document, numbers[i].name) ? !whole_of(&iter, numbers[i].most, &number)
                                                                  : numbers[i].needed)
            return numbers[i].name;
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++)
        if (bson_iter_init_find(&iter, document, texts[i]) && !BSON_ITER_HOLDS_UTF8(&iter))
            return texts[i];
    if (bson_iter_init_find(&iter, document, "dropping") && !BSON_ITER_HOLDS_OID(&iter) &&
        !BSON_ITER_HOLDS_NULL(&iter))
        return "dropping";
    return "";
}

static bool refuse_header(const mongo_t *mongo, const char *field, err_t *err) {
    char what[64];
    text_t then = {.length = 0};
    snprintf(what, sizeof what, "the field '%s' of its header", field);
    text_append(&then, "remove the header (db.getCollection(");
    ejson_append_text(&then, mongo->files);
    text_append(&then, ").deleteOne({_id: \"" HEADER "\"})) and ");
    char *words = text_take(&then, err);
    if (words)
        damaged(mongo, err, what, words);
    free(words);
    return false;
}

/* A header of another layout is read as far as possible; the caller refuses it by its layout. */
static bool header_from_bson(const mongo_t *mongo, const bson_t *document, catalog_header_t *header,
                             err_t *err) {
    bson_iter_t iter;
    bson_subtype_t subtype;
    uint32_t length = 0;
    const uint8_t *uuid = NULL;
    *header = (catalog_header_t){.layout = (int32_t)number_at(document, "layout"),
                                 .lane_rule = (int32_t)number_at(document, "laneRule"),
                                 .generation = (uint32_t)number_at(document, "generation"),
                                 .drops = number_at(document, "drops"),
                                 .next_extent = number_at(document, "nextExtent"),
                                 .next_ordinal = number_at(document, "nextOrdinal"),
                                 .lease_ms = (int64_t)number_at(document, "leaseMs")};
    header->lease_ms = header->lease_ms ? header->lease_ms : STORE_LEASE_MS;
    const char *odd = odd_field(document);
    if (*odd && (header->layout == STORE_LAYOUT || strcmp(odd, "layout") == 0))
        return refuse_header(mongo, odd, err);
    if (bson_iter_init_find(&iter, document, "uuid") && BSON_ITER_HOLDS_BINARY(&iter))
        bson_iter_binary(&iter, &subtype, &length, &uuid);
    if (length == STORE_UUID)
        memcpy(header->uuid, uuid, STORE_UUID);
    if (bson_iter_init_find(&iter, document, "dropping") && BSON_ITER_HOLDS_OID(&iter))
        header->dropping = load_id_from_oid(bson_iter_oid(&iter));
    if (take_text(document, "format", &header->format, err) &&
        take_text(document, "digest", &header->format_digest, err) &&
        take_text(document, "filter", &header->filter, err))
        return true;
    catalog_header_free(header);
    return false;
}

/* Numbers sort before texts: sorted by descending _id, the header comes first; where it is missing, an entry does. */
static bool read_header(store_t *store, catalog_header_t *header, bool *found, err_t *err) {
    mongo_t *mongo = of(store);
    bson_t reply, document;
    bson_iter_t documents, id;
    *header = (catalog_header_t){0};
    *found = false;
    bson_t *find = BCON_NEW("find", BCON_UTF8(mongo->files), "sort", "{", "_id", BCON_INT32(-1), "}", "limit",
                            BCON_INT32(1), "singleBatch", BCON_BOOL(true));
    bool ok = run(mongo, find, false, &reply, err);
    bson_destroy(find);
    ok = ok && first_batch(mongo, &reply, &documents, err);
    if (next_document(mongo, &documents, &document, &ok, err)) {
        *found = bson_iter_init_find(&id, &document, "_id") && BSON_ITER_HOLDS_UTF8(&id);
        header->has_entries = !*found;
        ok = !*found || header_from_bson(mongo, &document, header, err);
    }
    bson_destroy(&reply);
    return ok;
}

static bool make_header(store_t *store, const catalog_header_t *header, err_t *err) {
    mongo_t *mongo = of(store);
    bson_t command = BSON_INITIALIZER, documents, document, reply;
    if (!store_mongo_prepare(store, err))
        return false;
    BSON_APPEND_UTF8(&command, "insert", mongo->files);
    BSON_APPEND_ARRAY_BEGIN(&command, "documents", &documents);
    BSON_APPEND_DOCUMENT_BEGIN(&documents, "0", &document);
    BCON_APPEND(&document, "_id", BCON_UTF8(HEADER), "key", BCON_UTF8(HEADER), "layout",
                BCON_INT32(header->layout), "laneRule", BCON_INT32(header->lane_rule), "uuid",
                BCON_BIN(BSON_SUBTYPE_UUID, header->uuid, STORE_UUID), "generation",
                BCON_INT64(header->generation), "nextExtent", BCON_INT64((int64_t)header->next_extent),
                "nextOrdinal", BCON_INT64((int64_t)header->next_ordinal), "leaseMs",
                BCON_INT64(header->lease_ms ? header->lease_ms : STORE_LEASE_MS), "created",
                BCON_DATE_TIME(clock_wall_ms()));
    bson_append_document_end(&documents, &document);
    bson_append_array_end(&command, &documents);
    bool ok = run(mongo, &command, true, &reply, err) || server_code(&reply) == CODE_DUPLICATE_KEY;
    bson_destroy(&reply);
    bson_destroy(&command);
    return ok;
}

static void append_load(bson_t *to, const char *key, const load_id_t *load) {
    bson_oid_t oid;
    load_id_to_oid(load, &oid);
    if (load_id_is_nobody(load))
        bson_append_null(to, key, -1);
    else
        bson_append_oid(to, key, -1, &oid);
}

static void header_change_to_bson(const header_change_t *change, bson_t *query, bson_t *set, bson_t *unset) {
    static const load_id_t nobody;
    switch (change->kind) {
    case HEADER_TAKE_NUMBERS:
        BSON_APPEND_INT64(query, "nextExtent", (int64_t)change->next_extent);
        BSON_APPEND_INT64(query, "nextOrdinal", (int64_t)change->next_ordinal);
        BSON_APPEND_INT64(set, "nextExtent", (int64_t)(change->next_extent + change->extents));
        BSON_APPEND_INT64(set, "nextOrdinal", (int64_t)(change->next_ordinal + change->ordinals));
        return;
    case HEADER_BIND:
        BSON_APPEND_NULL(query, "format"); /* the field is not there */
        BSON_APPEND_INT64(query, "generation", change->generation);
        append_load(query, "dropping", &nobody);
        BSON_APPEND_UTF8(set, "format", change->format);
        BSON_APPEND_UTF8(set, "digest", change->format_digest);
        BSON_APPEND_UTF8(set, "filter", change->filter);
        return;
    case HEADER_BEGIN_DROP:
        append_load(query, "dropping", &change->dropping);
        append_load(set, "dropping", &change->by);
        if (change->drops)
            BSON_APPEND_INT64(query, "drops", (int64_t)change->drops);
        else
            BSON_APPEND_NULL(query, "drops"); /* the field is not there */
        BSON_APPEND_INT64(set, "drops", (int64_t)change->drops + 1);
        return;
    case HEADER_CANCEL_DROP:
        append_load(query, "dropping", &change->by);
        append_load(set, "dropping", &nobody);
        return;
    case HEADER_END_DROP:
        append_load(query, "dropping", &change->by);
        append_load(set, "dropping", &nobody);
        BSON_APPEND_INT32(set, "layout", STORE_LAYOUT);
        BSON_APPEND_INT32(set, "laneRule", RECORD_ID_LANE_RULE);
        BSON_APPEND_INT64(set, "generation", change->generation);
        BSON_APPEND_BINARY(set, "uuid", BSON_SUBTYPE_UUID, change->uuid, STORE_UUID);
        BSON_APPEND_BOOL(unset, "format", true);
        BSON_APPEND_BOOL(unset, "digest", true);
        BSON_APPEND_BOOL(unset, "filter", true);
        return;
    case HEADER_NEW_UUID:
        append_load(query, "dropping", &nobody);
        BSON_APPEND_INT64(query, "generation", change->generation);
        if (change->unbound)
            BSON_APPEND_NULL(query, "format"); /* the field is not there */
        BSON_APPEND_INT64(set, "generation", (int64_t)change->generation + 1);
        BSON_APPEND_BINARY(set, "uuid", BSON_SUBTYPE_UUID, change->uuid, STORE_UUID);
        return;
    case HEADER_SYNC:
        BSON_APPEND_DATE_TIME(set, "synced", clock_wall_ms());
        return;
    }
}

/* One update command on a collection. Returns how many documents it matched. */
static bool update(mongo_t *mongo, const char *collection, const bson_t *statements, uint64_t *matched,
                   err_t *err) {
    bson_t command = BSON_INITIALIZER, reply;
    BSON_APPEND_UTF8(&command, "update", collection);
    BSON_APPEND_ARRAY(&command, "updates", statements);
    BSON_APPEND_BOOL(&command, "ordered", false);
    bool ok = run(mongo, &command, true, &reply, err);
    bson_destroy(&command);
    *matched = ok ? number_at(&reply, "n") : 0;
    bson_destroy(&reply);
    return ok;
}

static bool change_header(store_t *store, const header_change_t *change, bool *changed, err_t *err) {
    bson_t statements = BSON_INITIALIZER, statement, query, set = BSON_INITIALIZER, unset = BSON_INITIALIZER,
           updates;
    uint64_t matched;
    BSON_APPEND_DOCUMENT_BEGIN(&statements, "0", &statement);
    BSON_APPEND_DOCUMENT_BEGIN(&statement, "q", &query);
    BSON_APPEND_UTF8(&query, "_id", HEADER);
    header_change_to_bson(change, &query, &set, &unset);
    bson_append_document_end(&statement, &query);
    BSON_APPEND_DOCUMENT_BEGIN(&statement, "u", &updates);
    BSON_APPEND_DOCUMENT(&updates, "$set", &set);
    if (!bson_empty(&unset))
        BSON_APPEND_DOCUMENT(&updates, "$unset", &unset);
    bson_append_document_end(&statement, &updates);
    bson_append_document_end(&statements, &statement);
    bool ok = update(of(store), of(store)->files, &statements, &matched, err);
    bson_destroy(&set);
    bson_destroy(&unset);
    bson_destroy(&statements);
    *changed = matched == 1;
    return ok;
}

/* ---- entries ---- */

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
    BSON_APPEND_ARRAY_BEGIN(&inner, "$in", &list);
    for (; at < count && added < ASKED; at++, added++) {
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
            !whole_of(&field, UINT32_MAX, &number))
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
                !bson_iter_find(&field, keys[i]) || !whole_of(&field, INT64_MAX, &number))
                return false;
    return count;
}

/* As odd_field, for the fields of an entry that a change believes. version: the entry's own version. */
static const char *odd_in_entry(const bson_t *document, uint64_t *version) {
    bson_iter_t iter;
    if (!bson_iter_init_find(&iter, document, "versions") || !BSON_ITER_HOLDS_ARRAY(&iter))
        return "versions";
    if (!bson_iter_init_find(&iter, document, "version") || !whole_of(&iter, UINT32_MAX, version))
        return "version";
    if (bson_iter_init_find(&iter, document, "removed") && !BSON_ITER_HOLDS_BOOL(&iter))
        return "removed";
    if (!bson_iter_init_find(&iter, document, "pieces") || !BSON_ITER_HOLDS_ARRAY(&iter))
        return "pieces";
    if (!are_extents(document))
        return "extents";
    return odd_in_pieces(&iter);
}

static bool refuse_entry(const mongo_t *mongo, uint64_t ordinal, const char *field, err_t *err) {
    char what[100];
    snprintf(what, sizeof what, "the field '%s' of its entry with the _id %" PRIu64, field, ordinal);
    return damaged(mongo, err, what, "remove that entry and ");
}

/* Reads the next entry. Its ordinal must be higher than the one before: or reading all entries would read some again
 * and again, or never. */
static bool read_entry(const mongo_t *mongo, const bson_t *document, uint64_t *from, entries_t *entries,
                       err_t *err) {
    bson_iter_t id;
    uint64_t ordinal, version = 0;
    if (!bson_iter_init_find(&id, document, "_id") || !whole_of(&id, UINT32_MAX, &ordinal) || ordinal < *from)
        return damaged(mongo, err, "the _id of an entry", "remove that entry and ");
    const char *odd = odd_in_entry(document, &version);
    if (*odd)
        return refuse_entry(mongo, ordinal, odd, err);
    entry_t *entry = entries_add(entries, err);
    *from = ordinal + 1;
    return entry && entry_from_bson(document, entry, err) &&
           (entry->version == version || refuse_entry(mongo, ordinal, "version", err));
}

static bool read_entries(store_t *store, uint64_t *from, const uint32_t *among, size_t among_count,
                         entries_t *entries, bool *more, err_t *err) {
    mongo_t *mongo = of(store);
    bson_t filter = BSON_INITIALIZER, inner, reply, document;
    bson_iter_t documents;
    uint64_t asked_to = *from;
    bool all = true;
    if (among) {
        append_ordinals(among, among_count, *from, &filter, &asked_to, &all);
    } else {
        BSON_APPEND_DOCUMENT_BEGIN(&filter, "_id", &inner);
        BSON_APPEND_INT64(&inner, "$gte", (int64_t)*from);
        bson_append_document_end(&filter, &inner);
    }
    /* each page is a command of its own, so an election in between does no harm; a first batch has 101 documents unless
     * more are asked for, and at most 16 MB */
    bson_t *find = BCON_NEW("find", BCON_UTF8(mongo->files), "filter", BCON_DOCUMENT(&filter), "sort", "{",
                            "_id", BCON_INT32(1), "}", "limit", BCON_INT32(PAGE), "batchSize",
                            BCON_INT32(PAGE), "singleBatch", BCON_BOOL(true));
    bool ok = run(mongo, find, false, &reply, err);
    size_t count = 0;
    ok = ok && first_batch(mongo, &reply, &documents, err);
    for (; next_document(mongo, &documents, &document, &ok, err); count++)
        ok = read_entry(mongo, &document, from, entries, err);
    if (!count) /* there is no other among the ordinals that were asked for */
        *from = asked_to;
    *more = count > 0 || !all;
    bson_destroy(&reply);
    bson_destroy(find);
    bson_destroy(&filter);
    return ok;
}

static bool add_entries(store_t *store, const entry_t *const *entries, size_t count, uint64_t *added,
                        err_t *err) {
    mongo_t *mongo = of(store);
    bool ok = !count || store_mongo_prepare(store, err); /* another load may have made the header */
    *added = 0;
    for (size_t at = 0; ok && at < count;) {
        bson_t command = BSON_INITIALIZER, documents, document, reply;
        char text[16];
        BSON_APPEND_UTF8(&command, "insert", mongo->files);
        BSON_APPEND_BOOL(&command, "ordered", false);
        BSON_APPEND_ARRAY_BEGIN(&command, "documents", &documents);
        for (size_t i = 0; at < count && i < STATEMENTS && documents.len < COMMAND_BYTES; i++, at++) {
            BSON_APPEND_DOCUMENT_BEGIN(&documents, entry_index_key(i, text), &document);
            entry_to_bson(entries[at], &document);
            bson_append_document_end(&documents, &document);
        }
        bson_append_array_end(&command, &documents);
        const bool all = run(mongo, &command, true, &reply, err);
        ok = all || server_code(&reply) == CODE_DUPLICATE_KEY;
        *added += all ? number_at(&reply, "n") : 0;
        bson_destroy(&reply);
        bson_destroy(&command);
    }
    return ok;
}

static bool change_entries(store_t *store, const entry_change_t *changes, size_t count, uint64_t *changed,
                           err_t *err) {
    bool ok = true;
    *changed = 0;
    for (size_t at = 0; ok && at < count;) {
        bson_t statements = BSON_INITIALIZER, statement;
        uint64_t matched;
        size_t fixes = 0;
        char text[16];
        for (size_t i = 0; at < count && i < STATEMENTS && statements.len < COMMAND_BYTES; i++) {
            fixes += changes[at].fix_count;
            if (i && fixes > STORE_MOST_FIXES)
                break;
            BSON_APPEND_DOCUMENT_BEGIN(&statements, entry_index_key(i, text), &statement);
            at += change_bson_statement(changes + at, count - at, &statement);
            bson_append_document_end(&statements, &statement);
        }
        ok = update(of(store), of(store)->files, &statements, &matched, err);
        *changed += matched;
        bson_destroy(&statements);
    }
    return ok;
}

static bool remove_entries(store_t *store, uint64_t below, uint32_t generation, err_t *err) {
    mongo_t *mongo = of(store);
    bson_t *command =
        BCON_NEW("delete", BCON_UTF8(mongo->files), "deletes", "[", "{", "q", "{", "_id", "{", "$lt",
                 BCON_INT64((int64_t)below), "}", "pieces.generation", "{", "$not", "{", "$gt",
                 BCON_INT64(generation), "}", "}", "}", "limit", BCON_INT32(0), "}", "]");
    bool ok = run(mongo, command, true, NULL, err);
    bson_destroy(command);
    return ok;
}

bool store_mongo_prepare(store_t *store, err_t *err) {
    mongo_t *mongo = of(store);
    bson_t *command = BCON_NEW("createIndexes", BCON_UTF8(mongo->files), "indexes", "[", "{", "key", "{",
                               "key", BCON_INT32(1), "}", "name", BCON_UTF8("key"), "unique", BCON_BOOL(true),
                               "}", "{", "key", "{", "follows", BCON_INT32(1), "}", "name",
                               BCON_UTF8("follows"), "unique", BCON_BOOL(true), "partialFilterExpression",
                               "{", "follows", "{", "$exists", BCON_BOOL(true), "}", "}", "}", "]");
    bool ok = run(mongo, command, true, NULL, err);
    bson_destroy(command);
    return ok;
}

/* ---- loads ---- */

/* Is it a process of this host that no longer exists? Then no load needs to wait for the end of its lease. */
static bool is_gone(const bson_t *load, const char *here) {
    bson_iter_t processes;
    return bson_iter_init_find(&processes, load, "processes") && BSON_ITER_HOLDS_UTF8(&processes) &&
           host_is_gone(here, bson_iter_utf8(&processes, NULL), (int64_t)number_at(load, "process"));
}

static load_seen_t load_from_bson(const bson_t *document, const char *here) {
    load_seen_t load = {.beat = number_at(document, "beat"),
                        .documents = number_at(document, "documents"),
                        .process = (int64_t)number_at(document, "process"),
                        .silent_ms = (int64_t)number_at(document, "silent"),
                        .ended = bson_has_field(document, "ended") || is_gone(document, here)};
    bson_iter_t iter;
    if (bson_iter_init_find(&iter, document, "_id") && BSON_ITER_HOLDS_OID(&iter))
        load.id = load_id_from_oid(bson_iter_oid(&iter));
    if (bson_iter_init_find(&iter, document, "host") && BSON_ITER_HOLDS_UTF8(&iter))
        snprintf(load.host, sizeof load.host, "%s", bson_iter_utf8(&iter, NULL));
    if (bson_iter_init_find(&iter, document, "started") && BSON_ITER_HOLDS_DATE_TIME(&iter))
        load.started_ms = bson_iter_date_time(&iter);
    return load;
}

static bool add_load(loads_t *loads, const load_seen_t *load, err_t *err) {
    if (!GROW(loads->loads, loads->room, loads->count + 1, err))
        return false;
    loads->loads[loads->count++] = *load;
    return true;
}

/* Loads that have not said that they ended: read page by page, like entries. */
static bool read_loads(store_t *store, loads_t *loads, err_t *err) {
    mongo_t *mongo = of(store);
    char here[HOST_PROCESSES];
    bool ok = true;
    bson_t *fields =
        BCON_NEW("beat", BCON_BOOL(true), "documents", BCON_BOOL(true), "host", BCON_BOOL(true), "process",
                 BCON_BOOL(true), "processes", BCON_BOOL(true), "started", BCON_BOOL(true), "silent", "{",
                 "$subtract", "[", BCON_UTF8("$$NOW"), BCON_UTF8("$seen"), "]", "}");
    host_processes(here);
    for (size_t count = 1; ok && count;) {
        bson_t reply, document;
        bson_iter_t documents;
        bson_oid_t last;
        load_id_to_oid(loads->count ? &loads->loads[loads->count - 1].id : &(load_id_t){{0}}, &last);
        bson_t *find =
            BCON_NEW("find", BCON_UTF8(mongo->loads), "filter", "{", "_id", "{", "$gt", BCON_OID(&last), "}",
                     "ended", "{", "$exists", BCON_BOOL(false), "}", "}", "projection", BCON_DOCUMENT(fields),
                     "sort", "{", "_id", BCON_INT32(1), "}", "limit", BCON_INT32(PAGE), "batchSize",
                     BCON_INT32(PAGE), "singleBatch", BCON_BOOL(true));
        ok = run(mongo, find, false, &reply, err);
        bson_destroy(find);
        count = 0;
        ok = ok && first_batch(mongo, &reply, &documents, err);
        for (; next_document(mongo, &documents, &document, &ok, err); count++) {
            const load_seen_t load = load_from_bson(&document, here);
            ok = (memcmp(load.id.bytes, last.bytes, sizeof last.bytes) > 0 ||
                  err_set(err, STATUS_SERVER, "the server at %s gives loads (%s) that were not asked for",
                          server_where(mongo->server), mongo->loads)) &&
                 add_load(loads, &load, err);
            load_id_to_oid(&load.id, &last);
        }
        bson_destroy(&reply);
    }
    bson_destroy(fields);
    return ok;
}

static bool beat(store_t *store, const load_id_t *load, uint64_t number, uint64_t documents, err_t *err) {
    bson_oid_t oid;
    uint64_t matched;
    load_id_to_oid(load, &oid);
    bson_t *statements = BCON_NEW("0", "{", "q", "{", "_id", BCON_OID(&oid), "ended", "{", "$exists",
                                  BCON_BOOL(false), "}", "}", "u", "{", "$max", "{", "beat",
                                  BCON_INT64((int64_t)number), "documents", BCON_INT64((int64_t)documents),
                                  "}", "$currentDate", "{", "seen", BCON_BOOL(true), "}", "}", "}");
    bool ok = update(of(store), of(store)->loads, statements, &matched, err);
    bson_destroy(statements);
    return ok;
}

bool store_mongo_enroll(store_t *store, load_id_t *id, const bson_t *fields, err_t *err) {
    char host[256] = "", processes[HOST_PROCESSES];
    bson_t first = BSON_INITIALIZER;
    bson_oid_t oid;
    uint64_t matched;
    bson_oid_init(&oid, NULL);
    *id = load_id_from_oid(&oid);
    gethostname(host, sizeof host - 1);
    host_processes(processes);
    BCON_APPEND(&first, "beat", BCON_INT64(1), "documents", BCON_INT64(0), "host", BCON_UTF8(host), "process",
                BCON_INT32((int32_t)getpid()), "processes", BCON_UTF8(processes), "started",
                BCON_DATE_TIME(clock_wall_ms()));
    bson_concat(&first, fields);
    bson_t *statements = BCON_NEW("0", "{", "q", "{", "_id", BCON_OID(&oid), "}", "u", "{", "$setOnInsert",
                                  BCON_DOCUMENT(&first), "$currentDate", "{", "seen", BCON_BOOL(true),
                                  "since", BCON_BOOL(true), "}", "}", "upsert", BCON_BOOL(true), "}");
    bool ok = update(of(store), of(store)->loads, statements, &matched, err);
    bson_destroy(statements);
    bson_destroy(&first);
    return ok;
}

bool store_mongo_end(store_t *store, const load_id_t *id, const bson_t *fields, err_t *err) {
    bson_oid_t oid;
    uint64_t matched;
    load_id_to_oid(id, &oid);
    bson_t *statements =
        BCON_NEW("0", "{", "q", "{", "_id", BCON_OID(&oid), "}", "u", "{", "$set", BCON_DOCUMENT(fields),
                 "$currentDate", "{", "seen", BCON_BOOL(true), "ended", BCON_BOOL(true), "}", "}", "}");
    bool ok = update(of(store), of(store)->loads, statements, &matched, err);
    bson_destroy(statements);
    return ok;
}

/* ---- the collection ---- */

static bool collection(store_t *store, uint8_t uuid[STORE_UUID], err_t *err) {
    collection_t place;
    memset(uuid, 0, STORE_UUID);
    if (!collection_identity(of(store)->server, of(store)->client, &place, err))
        return false;
    if (place.exists)
        memcpy(uuid, place.uuid, STORE_UUID);
    return true;
}

store_t *store_mongo_open(server_t *server, mongoc_client_t *client, err_t *err) {
    mongo_t *mongo = calloc(1, sizeof *mongo);
    if (!mongo) {
        err_memory(err, sizeof *mongo);
        return NULL;
    }
    mongo->server = server;
    mongo->client = client;
    snprintf(mongo->files, sizeof mongo->files, "%s.tipple.files", server_collection(server));
    snprintf(mongo->loads, sizeof mongo->loads, "%s.tipple.loads", server_collection(server));
    mongo->store = (store_t){.read_header = read_header,
                             .make_header = make_header,
                             .change_header = change_header,
                             .read_entries = read_entries,
                             .add_entries = add_entries,
                             .change_entries = change_entries,
                             .remove_entries = remove_entries,
                             .read_loads = read_loads,
                             .beat = beat,
                             .collection = collection};
    return &mongo->store;
}

void store_mongo_close(store_t *store) {
    free(store);
}
