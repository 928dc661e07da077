/* The store in MongoDB: opening it, commands, and the header of the catalog:
 *
 *   {_id: "catalog", key: "catalog", layout, laneRule, own (an ObjectId), uuid, generation, nextExtent (units),
 *    nextOrdinal, firstOrdinal, leaseMs, format, digest, filter, idFields (of --id), formatText (of a guessed
 *    format), existing (of --existing), dropping: <load>, drops, replacing: <load>, appends (true, or missing),
 *    created, synced, widened, registered: <ordinal>,
 *    columns: {of: <drops>, all, list: [{name, by, type, digest, others, at}]}}
 *
 * Earlier versions know neither `widened` nor `columns`, and leave both there when they drop the collection: so
 * `columns.of` says after which drop the columns were written. When they register an input they leave `registered`
 * below nextOrdinal, because they do not note which columns they leave out. They read formatText, and must not load
 * where a --format has got new columns: BY_FORMAT, which is no format file, stops them, and its key is what their
 * sentence shows. */
#include "base/clock.h"
#include "base/document.h"
#include "base/text.h"
#include "catalog/store/entry_bson.h"
#include "catalog/store/store_mongo_inner.h"
#include "format/record/record_id.h"
#include "server/bson_read.h"
#include "server/collection.h"
#include "server/server_errors.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define HEADER    "catalog"
#define BY_FORMAT "needs a later version of tipple: its --format has got columns"

/* ---- commands ---- */

bool store_mongo_run(store_mongo_t *mongo, const bson_t *command, bool writes, bson_t *reply, err_t *err) {
    return server_command(mongo->server, mongo->client, server_database(mongo->server), command, writes,
                          reply, err);
}

bool store_mongo_update(store_mongo_t *mongo, const char *collection, const bson_t *statements,
                        uint64_t *matched, err_t *err) {
    bson_t command = BSON_INITIALIZER, reply;
    BSON_APPEND_UTF8(&command, "update", collection);
    BSON_APPEND_ARRAY(&command, "updates", statements);
    BSON_APPEND_BOOL(&command, "ordered", false);
    const bool ok = store_mongo_run(mongo, &command, true, &reply, err);
    if (!ok && server_code(&reply) == CODE_DUPLICATE_KEY) /* keys of inputs are the only ones that change */
        err_set(err, STATUS_SERVER,
                "%s.%s: another load has registered the same file meanwhile: run the same command again",
                server_database(mongo->server), collection);
    bson_destroy(&command);
    *matched = ok ? store_mongo_number(&reply, "n") : 0;
    bson_destroy(&reply);
    return ok;
}

static bool refuse_answer(const store_mongo_t *mongo, err_t *err) {
    return err_set(err, STATUS_SERVER,
                   "the server at %s answers a 'find' with something else: is it a MongoDB server?",
                   server_where(mongo->server));
}

bool store_mongo_find(store_mongo_t *mongo, bson_t *find, bson_t *reply, bson_iter_t *documents, err_t *err) {
    const bool ok = store_mongo_run(mongo, find, false, reply, err);
    bson_destroy(find);
    return ok && (bson_read_batch(reply, documents) || refuse_answer(mongo, err));
}

bool store_mongo_next(const store_mongo_t *mongo, bson_iter_t *documents, bson_t *document, bool *ok,
                      err_t *err) {
    if (!*ok || (!bson_iter_next(documents) && !documents->err_off))
        return false;
    *ok = !documents->err_off && bson_read_document(documents, document);
    return *ok || refuse_answer(mongo, err);
}

uint64_t store_mongo_number(const bson_t *document, const char *field) {
    bson_iter_t iter;
    const int64_t value = bson_iter_init_find(&iter, document, field) ? bson_iter_as_int64(&iter) : 0;
    return value > 0 ? (uint64_t)value : 0;
}

int64_t store_mongo_date(const bson_t *document, const char *key) {
    bson_iter_t iter;
    const bool is = bson_iter_init_find(&iter, document, key) && BSON_ITER_HOLDS_DATE_TIME(&iter);
    return is ? bson_iter_date_time(&iter) : 0;
}

bool store_mongo_damaged(const store_mongo_t *mongo, err_t *err, const char *what, const char *then) {
    return err_set(err, STATUS_SERVER,
                   "the catalog of %s is damaged: %s (in %s) was not written by tipple. Load into another "
                   "collection, or %sstart over with --drop",
                   server_namespace(mongo->server), what, mongo->files, then);
}

bool store_mongo_prepare(store_t *store, err_t *err) {
    store_mongo_t *mongo = store_mongo_of(store);
    bson_t *command = BCON_NEW("createIndexes", BCON_UTF8(mongo->files), "indexes", "[", "{", "key", "{",
                               "key", BCON_INT32(1), "}", "name", BCON_UTF8("key"), "unique", BCON_BOOL(true),
                               "}", "{", "key", "{", "follows", BCON_INT32(1), "}", "name",
                               BCON_UTF8("follows"), "unique", BCON_BOOL(true), "partialFilterExpression",
                               "{", "follows", "{", "$exists", BCON_BOOL(true), "}", "}", "}", "]");
    bool ok = store_mongo_run(mongo, command, true, NULL, err);
    bson_destroy(command);
    return ok;
}

/* ---- reading the header ---- */

static const stored_t header_fields[] = {
    {"layout", STORED_INT, offsetof(catalog_header_t, layout), true},
    {"laneRule", STORED_INT, offsetof(catalog_header_t, lane_rule), true},
    {"generation", STORED_SMALL, offsetof(catalog_header_t, generation), true},
    {"nextExtent", STORED_WHOLE, offsetof(catalog_header_t, next_extent), true},
    {"nextOrdinal", STORED_WHOLE, offsetof(catalog_header_t, next_ordinal), true},
    {"firstOrdinal", STORED_WHOLE, offsetof(catalog_header_t, first_ordinal), false},
    {"drops", STORED_WHOLE, offsetof(catalog_header_t, drops), false},
    {"widened", STORED_WHOLE, offsetof(catalog_header_t, widened), false},
    {"leaseMs", STORED_WHOLE, offsetof(catalog_header_t, lease_ms), false},
    {"format", STORED_TEXT, offsetof(catalog_header_t, format), false},
    {"digest", STORED_TEXT, offsetof(catalog_header_t, format_digest), false},
    {"filter", STORED_TEXT, offsetof(catalog_header_t, filter), false},
    {"formatText", STORED_TEXT, offsetof(catalog_header_t, format_text), false},
    {"idFields", STORED_TEXT, offsetof(catalog_header_t, id), false},
    {"existing", STORED_TEXT, offsetof(catalog_header_t, existing), false},
    {"dropping", STORED_LOAD, offsetof(catalog_header_t, dropping), false},
    {"replacing", STORED_LOAD, offsetof(catalog_header_t, replacing), false},
    {0}};

static bool refuse_header(const store_mongo_t *mongo, const char *field, err_t *err) {
    char what[64];
    text_t then = {.length = 0};
    snprintf(what, sizeof what, "the field '%s' of its header", field);
    text_append(&then, "remove the header (db.getCollection(");
    ejson_append_text(&then, mongo->files);
    text_append(&then, ").deleteOne({_id: \"" HEADER "\"})) and ");
    char *words = text_take(&then, err);
    if (words)
        store_mongo_damaged(mongo, err, what, words);
    free(words);
    return false;
}

/* Copies the texts of a column into one piece of memory, which begins with its name. */
static bool take_column(const bson_t *from, header_column_t *column, err_t *err) {
    static const char *const keys[] = {"name", "by", "type", "digest"};
    const char **const texts[] = {&column->name, &column->by, &column->type, &column->digest};
    size_t room = 0;
    for (size_t i = 0; i < COUNT(keys); i++)
        room += strlen(bson_read_text(from, keys[i])) + 1;
    char *at = malloc(room);
    if (!at)
        return err_memory(err, room);
    for (size_t i = 0; i < COUNT(keys); i++) {
        *texts[i] = strcpy(at, bson_read_text(from, keys[i]));
        at += strlen(at) + 1;
    }
    column->others = bson_read_true(from, "others");
    column->at_ms = store_mongo_date(from, "at");
    return true;
}

static bool take_columns(const bson_t *document, catalog_header_t *header, err_t *err) {
    bson_iter_t iter, list;
    bson_t columns, item;
    size_t room = 0;
    if (header->format_text && strcmp(header->format_text, BY_FORMAT) == 0) {
        free(header->format_text);
        header->format_text = NULL;
    }
    if (!bson_iter_init_find(&iter, document, "columns") || !bson_read_document(&iter, &columns) ||
        store_mongo_number(&columns, "of") != header->drops ||
        !bson_iter_init_find(&iter, &columns, "list") || !bson_iter_recurse(&iter, &list))
        return true;
    header->knows_columns = header->registered && bson_read_true(&columns, "all");
    while (bson_iter_next(&list)) {
        if (!bson_read_document(&list, &item))
            continue;
        if (!GROW(header->columns, room, header->column_count + 1, err) ||
            !take_column(&item, &header->columns[header->column_count], err))
            return false;
        header->column_count++;
    }
    return true;
}

/* Reads a header of another layout as far as possible; the caller refuses it by its layout. Otherwise refuses one with
 * a field that no change could believe. */
static bool header_from_bson(const store_mongo_t *mongo, const bson_t *document, catalog_header_t *header,
                             err_t *err) {
    bson_iter_t iter;
    const char *odd = "";
    const uint8_t *uuid = bson_read_uuid(document, "uuid");
    const bson_oid_t *own = bson_read_oid(document, "own");
    bool ok = bson_iter_init(&iter, document) && stored_take(&iter, header_fields, header, &odd, err);
    if (header->first_ordinal > header->next_ordinal)
        odd = "firstOrdinal";
    if (header->lease_ms > INT64_MAX / 1000000)
        odd = "leaseMs";
    header->lease_ms = header->lease_ms ? header->lease_ms : STORE_LEASE_MS;
    header->odd = *odd;
    header->registered = store_mongo_number(document, "registered") == header->next_ordinal;
    header->appends = bson_read_true(document, "appends");
    if (uuid)
        memcpy(header->uuid, uuid, STORE_UUID);
    if (own)
        bson_oid_to_string(own, header->own);
    const bool refused = *odd && (header->layout == STORE_LAYOUT || strcmp(odd, "layout") == 0);
    ok = ok && (!refused || refuse_header(mongo, odd, err)) && take_columns(document, header, err);
    if (!ok)
        catalog_header_free(header);
    return ok;
}

/* Numbers sort before texts: by descending _id the header comes first, or, if it is missing, an entry. */
static bool find_header(store_t *store, catalog_header_t *header, bool *found, err_t *err) {
    store_mongo_t *mongo = store_mongo_of(store);
    bson_t reply, document;
    bson_iter_t documents, id;
    *header = (catalog_header_t){0};
    *found = false;
    bson_t *find = BCON_NEW("find", BCON_UTF8(mongo->files), "sort", "{", "_id", BCON_INT32(-1), "}", "limit",
                            BCON_INT32(1), "singleBatch", BCON_BOOL(true));
    bool ok = store_mongo_find(mongo, find, &reply, &documents, err);
    if (store_mongo_next(mongo, &documents, &document, &ok, err)) {
        *found = bson_iter_init_find(&id, &document, "_id") && BSON_ITER_HOLDS_UTF8(&id);
        header->has_entries = !*found;
        ok = !*found || header_from_bson(mongo, &document, header, err);
    }
    bson_destroy(&reply);
    return ok;
}

/* ---- changing the header ---- */

static bool make_header(store_t *store, const catalog_header_t *header, err_t *err) {
    store_mongo_t *mongo = store_mongo_of(store);
    bson_t command = BSON_INITIALIZER, documents, document, reply;
    bson_oid_t own;
    if (!store_mongo_prepare(store, err))
        return false;
    bson_oid_init(&own, NULL);
    BSON_APPEND_UTF8(&command, "insert", mongo->files);
    BSON_APPEND_ARRAY_UNSAFE_BEGIN(&command, "documents", &documents);
    BSON_APPEND_DOCUMENT_BEGIN(&documents, "0", &document);
    BCON_APPEND(&document, "_id", BCON_UTF8(HEADER), "key", BCON_UTF8(HEADER), "layout",
                BCON_INT32(header->layout), "laneRule", BCON_INT32(header->lane_rule), "own", BCON_OID(&own),
                "uuid", BCON_BIN(BSON_SUBTYPE_UUID, header->uuid, STORE_UUID), "generation",
                BCON_INT64(header->generation), "nextExtent", BCON_INT64((int64_t)header->next_extent),
                "nextOrdinal", BCON_INT64((int64_t)header->next_ordinal), "leaseMs",
                BCON_INT64(header->lease_ms ? header->lease_ms : STORE_LEASE_MS), "created",
                BCON_DATE_TIME(clock_wall_ms()));
    bson_append_document_end(&documents, &document);
    bson_append_array_end(&command, &documents);
    bool ok =
        store_mongo_run(mongo, &command, true, &reply, err) || server_code(&reply) == CODE_DUPLICATE_KEY;
    bson_destroy(&reply);
    bson_destroy(&command);
    return ok;
}

static void put_columns(bson_t *set, const header_change_t *change) {
    bson_t list = BSON_INITIALIZER;
    char text[16];
    for (size_t i = 0; i < change->column_count; i++) {
        const header_column_t *column = &change->columns[i];
        BCON_APPEND(&list, entry_index_key(i, text), "{", "name", BCON_UTF8(column->name), "by",
                    BCON_UTF8(column->by), "type", BCON_UTF8(column->type), "digest",
                    BCON_UTF8(column->digest), "others", BCON_BOOL(column->others), "at",
                    BCON_DATE_TIME(column->at_ms), "}");
    }
    BCON_APPEND(set, "columns", "{", "of", BCON_INT64((int64_t)change->drops), "all",
                BCON_BOOL(change->knows_columns), "list", BCON_ARRAY(&list), "}");
    bson_destroy(&list);
}

/* Believes a number that is missing as long as it is 0. */
static void believe_number(bson_t *query, const char *name, uint64_t number) {
    if (number)
        BSON_APPEND_INT64(query, name, (int64_t)number);
    else
        BSON_APPEND_NULL(query, name); /* matches a missing field */
}

static void set_text(bson_t *set, const char *name, const char *text) {
    if (text && text[0])
        BSON_APPEND_UTF8(set, name, text);
}

static void header_change_to_bson(const header_change_t *change, bson_t *query, bson_t *set, bson_t *unset) {
    static const load_id_t nobody;
    static const char *const of_binding[] = {"format",  "digest",   "filter",  "formatText", "idFields",
                                             "appends", "existing", "columns", "replacing"};
    switch (change->kind) {
    case HEADER_TAKE_NUMBERS:
        BSON_APPEND_INT64(query, "generation", change->generation);
        BSON_APPEND_INT64(query, "nextExtent", (int64_t)change->next_extent);
        BSON_APPEND_INT64(query, "nextOrdinal", (int64_t)change->next_ordinal);
        BSON_APPEND_INT64(set, "nextExtent", (int64_t)(change->next_extent + change->extents));
        BSON_APPEND_INT64(set, "nextOrdinal", (int64_t)(change->next_ordinal + change->ordinals));
        if (change->knows_columns)
            BSON_APPEND_INT64(set, "registered", (int64_t)(change->next_ordinal + change->ordinals));
        return;
    case HEADER_BIND:
        BSON_APPEND_NULL(query, "format"); /* matches a missing field */
        BSON_APPEND_INT64(query, "generation", change->generation);
        entry_append_owner(query, "dropping", &nobody);
        BSON_APPEND_UTF8(set, "format", change->format);
        BSON_APPEND_UTF8(set, "digest", change->format_digest);
        BSON_APPEND_UTF8(set, "filter", change->filter);
        set_text(set, "idFields", change->id);
        set_text(set, "existing", change->existing);
        if (change->format_text)
            BSON_APPEND_UTF8(set, "formatText", change->format_text);
        put_columns(set, change);
        return;
    case HEADER_WIDEN:
        BSON_APPEND_UTF8(query, "digest", change->format_digest);
        entry_append_owner(query, "dropping", &nobody);
        believe_number(query, "widened", change->widened);
        BSON_APPEND_INT64(set, "widened", (int64_t)change->widened + 1);
        put_columns(set, change);
        if (change->format_text)
            BSON_APPEND_UTF8(set, "formatText", *change->format_text ? change->format_text : BY_FORMAT);
        return;
    case HEADER_BEGIN_DROP:
        entry_append_owner(query, "dropping", &change->dropping);
        entry_append_owner(set, "dropping", &change->by);
        believe_number(query, "drops", change->drops);
        BSON_APPEND_INT64(set, "drops", (int64_t)change->drops + 1);
        return;
    case HEADER_CANCEL_DROP:
        entry_append_owner(query, "dropping", &change->by);
        if (change->drops) { /* the columns of the last drop are those of this one */
            BSON_APPEND_INT64(query, "columns.of", (int64_t)change->drops - 1);
            BSON_APPEND_INT64(set, "columns.of", (int64_t)change->drops);
        }
        entry_append_owner(set, "dropping", &nobody);
        return;
    case HEADER_END_DROP:
        entry_append_owner(query, "dropping", &change->by);
        BSON_APPEND_INT64(query, "nextOrdinal", (int64_t)change->next_ordinal);
        BSON_APPEND_INT64(set, "firstOrdinal", (int64_t)change->next_ordinal);
        BSON_APPEND_INT64(set, "registered", (int64_t)change->next_ordinal);
        entry_append_owner(set, "dropping", &nobody);
        BSON_APPEND_INT32(set, "layout", STORE_LAYOUT);
        BSON_APPEND_INT32(set, "laneRule", RECORD_ID_LANE_RULE);
        BSON_APPEND_INT64(set, "generation", change->generation);
        BSON_APPEND_BINARY(set, "uuid", BSON_SUBTYPE_UUID, change->uuid, STORE_UUID);
        for (size_t i = 0; i < COUNT(of_binding); i++)
            BSON_APPEND_BOOL(unset, of_binding[i], true);
        return;
    case HEADER_NEW_UUID:
        entry_append_owner(query, "dropping", &nobody);
        BSON_APPEND_INT64(query, "generation", change->generation);
        if (change->unbound)
            BSON_APPEND_NULL(query, "format");
        BSON_APPEND_INT64(set, "generation", (int64_t)change->generation + 1);
        BSON_APPEND_BINARY(set, "uuid", BSON_SUBTYPE_UUID, change->uuid, STORE_UUID);
        return;
    case HEADER_BEGIN_REPLACING:
        entry_append_owner(query, "dropping", &nobody);
        entry_append_owner(query, "replacing", &change->replacing);
        entry_append_owner(set, "replacing", &change->by);
        return;
    case HEADER_END_REPLACING:
        entry_append_owner(query, "replacing", &change->by);
        entry_append_owner(set, "replacing", &nobody);
        return;
    case HEADER_APPEND:
        entry_append_owner(query, "dropping", &nobody);
        BSON_APPEND_INT64(query, "generation", change->generation);
        BSON_APPEND_BOOL(set, "appends", true);
        return;
    case HEADER_SYNC:
        BSON_APPEND_DATE_TIME(set, "synced", clock_wall_ms());
        return;
    }
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
    bool ok =
        store_mongo_update(store_mongo_of(store), store_mongo_of(store)->files, &statements, &matched, err);
    bson_destroy(&set);
    bson_destroy(&unset);
    bson_destroy(&statements);
    *changed = matched == 1;
    return ok;
}

static bool collection(store_t *store, uint8_t uuid[STORE_UUID], err_t *err) {
    collection_t place;
    memset(uuid, 0, STORE_UUID);
    if (!collection_identity(store_mongo_of(store)->server, store_mongo_of(store)->client, &place, err))
        return false;
    if (place.exists)
        memcpy(uuid, place.uuid, STORE_UUID);
    return true;
}

store_t *store_mongo_open(server_t *server, mongoc_client_t *client, err_t *err) {
    store_mongo_t *mongo = calloc(1, sizeof *mongo);
    if (!mongo) {
        err_memory(err, sizeof *mongo);
        return NULL;
    }
    mongo->server = server;
    mongo->client = client;
    snprintf(mongo->files, sizeof mongo->files, "%s" OWN_FILES, server_collection(server));
    snprintf(mongo->loads, sizeof mongo->loads, "%s" OWN_LOADS, server_collection(server));
    mongo->store = (store_t){.find_header = find_header,
                             .make_header = make_header,
                             .change_header = change_header,
                             .read_entries = store_mongo_read_entries,
                             .add_entries = store_mongo_add_entries,
                             .change_entries = store_mongo_change_entries,
                             .remove_entries = store_mongo_remove_entries,
                             .read_loads = store_mongo_read_loads,
                             .beat = store_mongo_beat,
                             .collection = collection};
    return &mongo->store;
}

void store_mongo_close(store_t *store) {
    free(store);
}
