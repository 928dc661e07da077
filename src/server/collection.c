#include "server/collection.h"
#include "base/text.h"
#include "server/bson_read.h"
#include "server/server_errors.h"

#include <stdio.h>
#include <string.h>

#define CLUSTERED "clusteredIndex"

/* The first version of the server that has clustered collections. */
enum { CLUSTERED_MAJOR = 5, CLUSTERED_MINOR = 3 };

static bool can_cluster(const server_facts_t *facts) {
    return facts->major > CLUSTERED_MAJOR ||
           (facts->major == CLUSTERED_MAJOR && facts->minor >= CLUSTERED_MINOR);
}

/* "…,block_compressor=zstd,…" into "zstd". */
static void take_compressor(const char *config, collection_t *place) {
    static const char key[] = "block_compressor=";
    const char *at = strstr(config, key);
    if (at)
        snprintf(place->compressor, sizeof place->compressor, "%.*s", (int)strcspn(at + sizeof key - 1, ","),
                 at + sizeof key - 1);
}

static const char *text_at(const bson_t *document, const char *path) {
    bson_iter_t iter, found;
    return bson_iter_init(&iter, document) && bson_iter_find_descendant(&iter, path, &found) &&
                   BSON_ITER_HOLDS_UTF8(&found)
               ? bson_iter_utf8(&found, NULL)
               : "";
}

static bool read_listing(const server_t *server, const bson_t *listing, collection_t *place, err_t *err) {
    bson_iter_t iter, found;
    const char *name = server_namespace(server), *type = text_at(listing, "type");
    if (*type && strcmp(type, "collection") != 0)
        return err_set(err, STATUS_USAGE, "%s is a %s, not a plain collection: name another one in the URI",
                       name, strcmp(type, "timeseries") == 0 ? "time series" : type);
    if (bson_iter_init(&iter, listing) && bson_iter_find_descendant(&iter, "options.capped", &found) &&
        bson_iter_as_bool(&found))
        return err_set(err, STATUS_USAGE,
                       "%s is a capped collection, which throws old documents away: name another one "
                       "in the URI",
                       name);
    place->exists = true;
    place->clustered =
        bson_iter_init(&iter, listing) && bson_iter_find_descendant(&iter, "options.clusteredIndex", &found);
    place->collated =
        bson_iter_init(&iter, listing) && bson_iter_find_descendant(&iter, "options.collation", &found);
    if (bson_iter_init(&iter, listing) &&
        bson_iter_find_descendant(&iter, "options.expireAfterSeconds", &found))
        snprintf(place->expiry, sizeof place->expiry, "its option expireAfterSeconds");
    take_compressor(text_at(listing, "options.storageEngine.wiredTiger.configString"), place);
    bson_subtype_t subtype;
    uint32_t length = 0;
    const uint8_t *uuid = NULL;
    if (bson_iter_init(&iter, listing) && bson_iter_find_descendant(&iter, "info.uuid", &found) &&
        BSON_ITER_HOLDS_BINARY(&found))
        bson_iter_binary(&found, &subtype, &length, &uuid);
    if (length != sizeof place->uuid)
        return err_set(err, STATUS_USAGE,
                       "the server does not tell the identity (UUID) of %s: is it a MongoDB server?", name);
    memcpy(place->uuid, uuid, length);
    return true;
}

static bool ask(server_t *server, mongoc_client_t *client, bson_t *command, bson_t *reply, err_t *err) {
    const bool ok = server_command(server, client, server_database(server), command, false, reply, err);
    bson_destroy(command);
    return ok;
}

bool collection_ask(server_t *server, mongoc_client_t *client, bson_t *reply, err_t *err) {
    bson_t *command = BCON_NEW("listCollections", BCON_INT32(1), "filter", "{", "name",
                               BCON_UTF8(server_collection(server)), "}");
    return ask(server, client, command, reply, err);
}

bool collection_ask_indexes(server_t *server, mongoc_client_t *client, bson_t *reply, err_t *err) {
    bson_t *command = BCON_NEW("listIndexes", BCON_UTF8(server_collection(server)), "cursor", "{",
                               "batchSize", BCON_INT32(1000), "}");
    return ask(server, client, command, reply, err);
}

bool collection_identity(server_t *server, mongoc_client_t *client, collection_t *place, err_t *err) {
    *place = (collection_t){.empty = true};
    bson_t reply, listing;
    bson_iter_t iter, first;
    bool ok = collection_ask(server, client, &reply, err);
    if (ok && bson_iter_init(&iter, &reply) &&
        bson_iter_find_descendant(&iter, "cursor.firstBatch.0", &first) && BSON_ITER_HOLDS_DOCUMENT(&first)) {
        uint32_t length;
        const uint8_t *data;
        bson_iter_document(&first, &length, &data);
        ok = bson_init_static(&listing, data, length) && read_listing(server, &listing, place, err);
    }
    bson_destroy(&reply);
    return ok;
}

bool collection_count(server_t *server, mongoc_client_t *client, const char *collection, const bson_t *filter,
                      uint64_t *documents, err_t *err) {
    bson_t reply, all = BSON_INITIALIZER;
    bson_iter_t iter, value;
    bson_t *command =
        BCON_NEW("aggregate", BCON_UTF8(collection), "pipeline", "[", "{", "$match",
                 BCON_DOCUMENT(filter ? filter : &all), "}", "{", "$count", BCON_UTF8("n"), "}", "]",
                 "cursor", "{", "}", "readConcern", "{", "level", BCON_UTF8("majority"), "}");
    const bool ok = ask(server, client, command, &reply, err);
    *documents = 0;
    if (ok && bson_iter_init(&iter, &reply) &&
        bson_iter_find_descendant(&iter, "cursor.firstBatch.0.n", &value))
        *documents = (uint64_t)bson_iter_as_int64(&value);
    bson_destroy(&reply);
    bson_destroy(&all);
    return ok;
}

static bool has_documents(server_t *server, mongoc_client_t *client, const char *collection, bool *any,
                          err_t *err) {
    bson_t reply;
    bson_iter_t iter, found;
    bson_t *find = BCON_NEW("find", BCON_UTF8(collection), "limit", BCON_INT32(1), "singleBatch",
                            BCON_BOOL(true), "projection", "{", "_id", BCON_INT32(1), "}");
    const bool ok = ask(server, client, find, &reply, err);
    *any = ok && bson_iter_init(&iter, &reply) &&
           bson_iter_find_descendant(&iter, "cursor.firstBatch.0", &found);
    bson_destroy(&reply);
    return ok;
}

static bool look_inside(server_t *server, mongoc_client_t *client, collection_t *place, err_t *err) {
    const char *database = server_database(server), *collection = server_collection(server);
    bson_t reply;
    bson_iter_t iter;
    bool any, ok = has_documents(server, client, collection, &any, err);
    place->empty = !any;
    if (!ok || place->empty)
        return ok;
    bson_t *count = BCON_NEW("count", BCON_UTF8(collection));
    ok = server_command(server, client, database, count, false, &reply, err);
    bson_destroy(count);
    if (ok && bson_iter_init_find(&iter, &reply, "n"))
        place->count = (uint64_t)bson_iter_as_int64(&iter);
    bson_destroy(&reply);
    /* there is one at least: a server that did not end in an orderly way may have forgotten how many */
    return ok && (place->count || collection_count(server, client, collection, NULL, &place->count, err));
}

/* If this user may not list indexes, expiry stays empty. */
static void look_for_expiry(server_t *server, mongoc_client_t *client, collection_t *place) {
    bson_t reply, index;
    bson_iter_t batch, field;
    err_t ignored;
    if (collection_ask_indexes(server, client, &reply, &ignored) && bson_read_batch(&reply, &batch))
        while (!place->expiry[0] && bson_read_next(&batch, &index))
            if (bson_iter_init_find(&field, &index, "expireAfterSeconds") &&
                !bson_iter_init_find(&field, &index, "clustered"))
                snprintf(place->expiry, sizeof place->expiry, "the index %.127s", text_at(&index, "name"));
    bson_destroy(&reply);
}

bool collection_look(server_t *server, mongoc_client_t *client, collection_t *place, err_t *err) {
    if (!collection_identity(server, client, place, err))
        return false;
    if (place->exists && !place->expiry[0])
        look_for_expiry(server, client, place);
    return !place->exists || look_inside(server, client, place, err);
}

/* The shard that this server is; "": it is none, or that is not known. */
static void find_shard(server_t *server, mongoc_client_t *client, char name[128]) {
    bson_t reply, first;
    bson_iter_t batch;
    err_t ignored;
    name[0] = '\0';
    if (server_facts(server)->kind != SERVER_REPLICA_SET)
        return;
    bson_t *command = BCON_NEW("aggregate", BCON_UTF8(server_collection(server)), "pipeline", "[", "{",
                               "$collStats", "{", "}", "}", "]", "cursor", "{", "}");
    if (server_command(server, client, server_database(server), command, false, &reply, &ignored) &&
        bson_read_batch(&reply, &batch) && bson_read_next(&batch, &first))
        snprintf(name, 128, "%s", text_at(&first, "shard"));
    bson_destroy(command);
    bson_destroy(&reply);
}

bool collection_is_whole(server_t *server, mongoc_client_t *client, err_t *err) {
    char shard[128];
    find_shard(server, client, shard);
    return !shard[0] || err_set(err, STATUS_USAGE,
                                "%s at %s is what one shard (%s) of a cluster has: give the addresses of the "
                                "cluster's routers (mongos) to --uri, which know what belongs to which shard",
                                server_namespace(server), server_where(server), shard);
}

/* Asks the storage engine, for a collection that was made without naming a compressor. */
static bool ask_compressor(server_t *server, mongoc_client_t *client, collection_t *place, err_t *err) {
    bson_t reply;
    bson_iter_t iter, found;
    bson_t *command =
        BCON_NEW("aggregate", BCON_UTF8(server_collection(server)), "pipeline", "[", "{", "$collStats", "{",
                 "storageStats", "{", "}", "}", "}", "{", "$project", "{", "c",
                 BCON_UTF8("$storageStats.wiredTiger.creationString"), "}", "}", "]", "cursor", "{", "}");
    bool ok = server_command(server, client, server_database(server), command, false, &reply, err);
    bson_destroy(command);
    if (ok && bson_iter_init(&iter, &reply) &&
        bson_iter_find_descendant(&iter, "cursor.firstBatch.0.c", &found) && BSON_ITER_HOLDS_UTF8(&found))
        take_compressor(bson_iter_utf8(&found, NULL), place);
    bson_destroy(&reply);
    return ok;
}

/* Does a listed option say all that was asked for? Servers fill in what a document leaves out. */
static bool says(const bson_iter_t *listed, const bson_iter_t *asked) {
    bson_iter_t inner, other;
    if (BSON_ITER_HOLDS_NUMBER(listed) && BSON_ITER_HOLDS_NUMBER(asked))
        return !(bson_iter_as_double(listed) < bson_iter_as_double(asked)) &&
               !(bson_iter_as_double(listed) > bson_iter_as_double(asked));
    if (bson_iter_type(listed) != bson_iter_type(asked))
        return false;
    if (BSON_ITER_HOLDS_UTF8(asked))
        return strcmp(bson_iter_utf8(listed, NULL), bson_iter_utf8(asked, NULL)) == 0;
    if (BSON_ITER_HOLDS_BOOL(asked))
        return bson_iter_bool(listed) == bson_iter_bool(asked);
    if (!bson_iter_recurse(asked, &inner))
        return true;
    while (bson_iter_next(&inner))
        if (!bson_iter_recurse(listed, &other) || !bson_iter_find(&other, bson_iter_key(&inner)) ||
            !says(&other, &inner))
            return false;
    return true;
}

/* Has the collection what --create asks for? */
static bool has_asked(server_t *server, mongoc_client_t *client, const bson_t *asked,
                      const collection_t *place, err_t *err) {
    bson_t reply, entry = BSON_INITIALIZER, options = BSON_INITIALIZER;
    bson_iter_t at, option, listed;
    bool ok = collection_ask(server, client, &reply, err), same = true;
    if (ok && bson_read_batch(&reply, &at) && bson_read_next(&at, &entry))
        bson_read_field(&entry, "options", &options);
    if (ok && bson_iter_init(&option, asked))
        while (same && bson_iter_next(&option)) {
            const char *key = bson_iter_key(&option);
            same = strcmp(key, CLUSTERED) == 0 && BSON_ITER_HOLDS_BOOL(&option)
                       ? bson_iter_bool(&option) == place->clustered
                       : bson_iter_init_find(&listed, &options, key) && says(&listed, &option);
        }
    if (ok && !same)
        ok = err_set(err, STATUS_USAGE,
                     "%s exists, and its '%s' is not as --create says: leave --create out, or make the "
                     "collection again with --drop",
                     server_namespace(server), bson_iter_key(&option));
    bson_destroy(&reply);
    return ok;
}

/* An explicit option must match the existing collection. */
static bool agrees(server_t *server, mongoc_client_t *client, const collection_options_t *options,
                   collection_t *place, err_t *err) {
    if (options->asked && !has_asked(server, client, options->asked, place, err))
        return false;
    if (!options->compressor)
        return true;
    if (!place->compressor[0] && !ask_compressor(server, client, place, err))
        return false;
    if (place->compressor[0] && strcmp(place->compressor, options->compressor) != 0)
        return err_set(err, STATUS_USAGE,
                       "%s exists and is compressed by %s, not %s: leave --compressor out, or make it "
                       "again with --drop",
                       server_namespace(server), place->compressor, options->compressor);
    return true;
}

/* Those of a dump that nobody has chosen otherwise. `clusteredIndex` may be true or false, which no server takes. */
static void append_options(bson_t *command, const bson_t *options, const bson_t *before) {
    bson_iter_t iter;
    if (!options || !bson_iter_init(&iter, options))
        return;
    while (bson_iter_next(&iter)) {
        const char *key = bson_iter_key(&iter);
        const bool is_word = strcmp(key, CLUSTERED) == 0 && BSON_ITER_HOLDS_BOOL(&iter);
        if (!is_word && !bson_has_field(command, key) && !(before && bson_has_field(before, key)))
            bson_append_iter(command, key, -1, &iter);
    }
}

/* clustered: by the usual index. *code: the server's, if it refused. */
static bool create_as(server_t *server, mongoc_client_t *client, const char *name,
                      const collection_options_t *options, bool clustered, int *code, err_t *err) {
    bson_t command = BSON_INITIALIZER, reply;
    BSON_APPEND_UTF8(&command, "create", name);
    if (clustered)
        BCON_APPEND(&command, CLUSTERED, "{", "key", "{", "_id", BCON_INT32(1), "}", "unique",
                    BCON_BOOL(true), "}");
    append_options(&command, options->asked, NULL);
    if (options->compressor) {
        char config[64];
        snprintf(config, sizeof config, "block_compressor=%s", options->compressor);
        BCON_APPEND(&command, "storageEngine", "{", "wiredTiger", "{", "configString", BCON_UTF8(config), "}",
                    "}");
    }
    append_options(&command, options->more, options->asked);
    bool ok = server_command(server, client, server_database(server), &command, true, &reply, err);
    *code = ok ? 0 : server_code(&reply);
    bson_destroy(&reply);
    bson_destroy(&command);
    return ok;
}

/* As create_as. */
static bool create(server_t *server, mongoc_client_t *client, const char *name,
                   const collection_options_t *options, int *code, err_t *err) {
    bson_iter_t said;
    if ((options->asked && bson_iter_init_find(&said, options->asked, CLUSTERED)) ||
        (options->more && bson_iter_init_find(&said, options->more, CLUSTERED)))
        return create_as(server, client, name, options, BSON_ITER_HOLDS_BOOL(&said) && bson_iter_bool(&said),
                         code, err);
    const bool clustered = !options->own_ids && can_cluster(server_facts(server));
    if (create_as(server, client, name, options, clustered, code, err))
        return true;
    /* a server whose featureCompatibilityVersion is older than the server */
    return *code == CODE_INVALID_OPTIONS && clustered &&
           create_as(server, client, name, options, false, code, err);
}

bool collection_may_shard(const char *name, err_t *err) {
    enum { LONGEST = 235 }; /* 20 less than for a collection that is not sharded */
    return strlen(name) <= LONGEST ||
           err_set(err, STATUS_USAGE,
                   "'%.80s...' has %zu bytes, and the name of a sharded collection has at most %d, with its "
                   "database: name a shorter one, or leave it on one shard with --shard-key none. Nothing "
                   "was touched",
                   name, strlen(name), LONGEST);
}

/* Always false. What a server refuses for good, and no right is lacking, is the options' fault. */
static bool blame_options(const server_t *server, int code, const char *end, err_t *err) {
    const err_t why = *err;
    const code_class_t class = code_class(code, why.text);
    if (!code || class == CODE_PASSING || class == CODE_NOT_ALLOWED || class == CODE_STATE)
        return false;
    return err_set(
        err, STATUS_USAGE,
        "the server does not make %s with these options: %.900s. Correct --create, or the metadata "
        "of the dump (*.metadata.json)%s",
        server_namespace(server), why.text, end);
}

bool collection_make(server_t *server, mongoc_client_t *client, const collection_options_t *options,
                     collection_t *place, err_t *err) {
    if (!collection_look(server, client, place, err))
        return false;
    if (!place->exists) {
        int code;
        /* another load made it at the same moment, or our own first try did */
        if (!create(server, client, server_collection(server), options, &code, err) &&
            code != CODE_NAMESPACE_EXISTS)
            return (options->asked || options->more) && blame_options(server, code, "", err);
        if (!collection_look(server, client, place, err))
            return false;
    }
    return agrees(server, client, options, place, err);
}

static bool drop_one(server_t *server, mongoc_client_t *client, const char *tail, const uint8_t *uuid,
                     err_t *err) {
    char name[300];
    bson_t command = BSON_INITIALIZER, reply;
    snprintf(name, sizeof name, "%s%s", server_collection(server), tail);
    BSON_APPEND_UTF8(&command, "drop", name);
    server_append_uuid(server, uuid, &command);
    bool ok = server_command(server, client, server_database(server), &command, true, &reply, err) ||
              server_code(&reply) == CODE_NAMESPACE_NOT_FOUND ||
              (uuid && server_code(&reply) == CODE_OTHER_COLLECTION);
    bson_destroy(&command);
    bson_destroy(&reply);
    return ok;
}

bool collection_try_make(server_t *server, mongoc_client_t *client, const collection_options_t *options,
                         const index_spec_t *indexes, size_t index_count, err_t *err) {
    char name[300];
    int code = 0;
    bool any = false;
    err_t why;
    snprintf(name, sizeof name, "%s" OWN_TRY, server_collection(server));
    if (!has_documents(server, client, name, &any, err) ||
        (!any && !drop_one(server, client, OWN_TRY, NULL, err)))
        return err->status == STATUS_USAGE; /* who may not drop it would leave it behind: nothing is tried */
    if (any)
        return err_set(
            err, STATUS_USAGE,
            "%s" OWN_TRY
            " has documents, and a load with --drop makes a collection of that name for a moment, and "
            "drops it: give yours another name. Nothing was dropped",
            server_namespace(server));
    if (create(server, client, name, options, &code, &why)) {
        const bool ok = collection_try_indexes(server, client, name, indexes, index_count, err);
        return drop_one(server, client, OWN_TRY, NULL, ok ? err : &why) && ok;
    }
    if (code == CODE_UNAUTHORIZED || code == CODE_NAMESPACE_EXISTS)
        return true;
    *err = why;
    return blame_options(server, code, ". Nothing was dropped", err);
}

bool collection_left_try(server_t *server, mongoc_client_t *client, err_t *err) {
    char name[300];
    bson_t reply, entry;
    bson_iter_t at;
    bool any = true;
    snprintf(name, sizeof name, "%s" OWN_TRY, server_collection(server));
    const bool there =
        ask(server, client,
            BCON_NEW("listCollections", BCON_INT32(1), "filter", "{", "name", BCON_UTF8(name), "}"), &reply,
            err) &&
        bson_read_batch(&reply, &at) && bson_read_next(&at, &entry);
    bson_destroy(&reply);
    return there && has_documents(server, client, name, &any, err) && !any;
}

bool collection_drop(server_t *server, mongoc_client_t *client, err_t *err) {
    static const char *const tails[] = {"", OWN_FILES, OWN_LOADS};
    bool ok = true;
    /* the data first: if a stop leaves the rest, the next load refuses it; it does not believe it */
    for (size_t i = 0; ok && i < sizeof tails / sizeof *tails; i++)
        ok = drop_one(server, client, tails[i], NULL, err);
    return ok;
}

bool collection_drop_data(server_t *server, mongoc_client_t *client, const uint8_t uuid[16], err_t *err) {
    static const uint8_t none[16];
    return memcmp(uuid, none, sizeof none) == 0 || drop_one(server, client, "", uuid, err);
}
