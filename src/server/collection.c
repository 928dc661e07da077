/* The collection that is loaded into: what is there, making it as asked, dropping it, and building an index of it. */
#include "base/clock.h"
#include "base/document.h"
#include "base/stop.h"
#include "server/bson_read.h"
#include "server/collection.h"
#include "server/server_errors.h"
#include "server/server_inner.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define CLUSTERED "clusteredIndex"

static bool read_listing(const server_t *server, const bson_t *listing, collection_t *place, err_t *err) {
    const char *name = server_namespace(server), *type = bson_read_text(listing, "type");
    const uint8_t *uuid = bson_read_uuid(listing, "info.uuid");
    const bool capped = bson_read_number(listing, "options.capped") > 0;
    if (capped || (*type && strcmp(type, "collection") != 0))
        return err_set(err, STATUS_USAGE, "%s is a %s, not a plain collection: name another one in the URI",
                       name,
                       capped                            ? "capped collection"
                       : strcmp(type, "timeseries") == 0 ? "time series"
                                                         : type);
    if (!uuid)
        return err_set(err, STATUS_USAGE,
                       "the server does not report the identity (UUID) of %s: is it a MongoDB server?", name);
    memcpy(place->uuid, uuid, sizeof place->uuid);
    place->exists = true;
    place->clustered = bson_has_field(listing, "options.clusteredIndex");
    place->collated = bson_has_field(listing, "options.collation");
    if (bson_has_field(listing, "options.expireAfterSeconds"))
        snprintf(place->expiry, sizeof place->expiry, "its option expireAfterSeconds");
    return true;
}

bool collection_ask(server_t *server, mongoc_client_t *client, bson_t *reply, err_t *err) {
    bson_t *command = BCON_NEW("listCollections", BCON_INT32(1), "filter", "{", "name",
                               BCON_UTF8(server_collection(server)), "}");
    return server_ask(server, client, command, reply, err);
}

bool collection_ask_indexes(server_t *server, mongoc_client_t *client, bson_t *reply, err_t *err) {
    bson_t *command = BCON_NEW("listIndexes", BCON_UTF8(server_collection(server)), "cursor", "{",
                               "batchSize", BCON_INT32(1000), "}");
    return server_ask(server, client, command, reply, err);
}

bool collection_identity(server_t *server, mongoc_client_t *client, collection_t *place, err_t *err) {
    *place = (collection_t){.empty = true};
    bson_t reply, listing;
    bson_iter_t batch;
    bool ok = collection_ask(server, client, &reply, err);
    if (ok && bson_read_batch(&reply, &batch) && bson_read_next(&batch, &listing))
        ok = read_listing(server, &listing, place, err);
    bson_destroy(&reply);
    return ok;
}

static uint64_t count_in(const bson_t *reply, const char *path) {
    const double count = bson_read_number(reply, path);
    return count > 0 ? (uint64_t)count : 0;
}

bool collection_count(server_t *server, mongoc_client_t *client, const char *collection, const bson_t *filter,
                      uint64_t *documents, err_t *err) {
    bson_t reply, all = BSON_INITIALIZER;
    bson_t *command =
        BCON_NEW("aggregate", BCON_UTF8(collection), "pipeline", "[", "{", "$match",
                 BCON_DOCUMENT(filter ? filter : &all), "}", "{", "$count", BCON_UTF8("n"), "}", "]",
                 "cursor", "{", "}", "readConcern", "{", "level", BCON_UTF8("majority"), "}");
    const bool ok = server_ask(server, client, command, &reply, err);
    *documents = count_in(&reply, "cursor.firstBatch.0.n");
    bson_destroy(&reply);
    bson_destroy(&all);
    return ok;
}

static bool look_inside(server_t *server, mongoc_client_t *client, collection_t *place, err_t *err) {
    const char *collection = server_collection(server);
    bson_t reply, *find = BCON_NEW("find", BCON_UTF8(collection), "limit", BCON_INT32(1), "singleBatch",
                                   BCON_BOOL(true), "projection", "{", "_id", BCON_INT32(1), "}");
    bool ok = server_ask(server, client, find, &reply, err);
    place->empty = ok && !bson_has_field(&reply, "cursor.firstBatch.0");
    bson_destroy(&reply);
    if (!ok || place->empty)
        return ok;
    ok = server_ask(server, client, BCON_NEW("count", BCON_UTF8(collection)), &reply, err);
    place->count = count_in(&reply, "n");
    bson_destroy(&reply);
    /* there is at least one document: after a crash a server may have lost the exact count */
    return ok && (place->count || collection_count(server, client, collection, NULL, &place->count, err));
}

/* expiry stays empty if this user may not list indexes. */
static void look_for_expiry(server_t *server, mongoc_client_t *client, collection_t *place) {
    bson_t reply, index;
    bson_iter_t batch;
    err_t ignored;
    if (collection_ask_indexes(server, client, &reply, &ignored) && bson_read_batch(&reply, &batch))
        while (!place->expiry[0] && bson_read_next(&batch, &index))
            if (bson_has_field(&index, "expireAfterSeconds") && !bson_has_field(&index, "clustered"))
                snprintf(place->expiry, sizeof place->expiry, "the index %.127s",
                         bson_read_text(&index, "name"));
    bson_destroy(&reply);
}

bool collection_look(server_t *server, mongoc_client_t *client, collection_t *place, err_t *err) {
    if (!collection_identity(server, client, place, err))
        return false;
    if (place->exists && !place->expiry[0])
        look_for_expiry(server, client, place);
    return !place->exists || look_inside(server, client, place, err);
}

bool collection_is_whole(server_t *server, mongoc_client_t *client, err_t *err) {
    bson_t reply, first;
    bson_iter_t batch;
    err_t ignored;
    bool whole = true;
    if (server_facts(server)->kind != SERVER_REPLICA_SET)
        return true;
    bson_t *command = BCON_NEW("aggregate", BCON_UTF8(server_collection(server)), "pipeline", "[", "{",
                               "$collStats", "{", "}", "}", "]", "cursor", "{", "}");
    if (server_ask(server, client, command, &reply, &ignored) && bson_read_batch(&reply, &batch) &&
        bson_read_next(&batch, &first) && *bson_read_text(&first, "shard"))
        whole = err_set(err, STATUS_USAGE,
                        "%s at %s is what one shard (%.120s) of a cluster has: give the addresses of the "
                        "cluster's routers (mongos) to --uri, which know what belongs to which shard",
                        server_namespace(server), server_where(server), bson_read_text(&first, "shard"));
    bson_destroy(&reply);
    return whole;
}

char *collection_options_read(server_t *server, mongoc_client_t *client, err_t *err) {
    bson_t reply, entry, options, made = BSON_INITIALIZER;
    bson_iter_t at;
    char *text = NULL;
    bool ok = collection_ask(server, client, &reply, err);
    if (ok && bson_read_batch(&reply, &at) && bson_read_next(&at, &entry) &&
        bson_read_field(&entry, "options", &options)) {
        BSON_APPEND_BOOL(&made, CLUSTERED, bson_has_field(&options, CLUSTERED));
        bson_copy_to_excluding_noinit(&options, &made, CLUSTERED, "autoIndexId", NULL);
    }
    if (ok && !(text = ejson_print(&made, true, NULL)))
        err_memory(err, made.len);
    bson_destroy(&made);
    bson_destroy(&reply);
    return text;
}

/* Options that the command has already are not overwritten. `clusteredIndex` may be true or false, which no server
 * takes. */
static void append_options(bson_t *command, const bson_t *options) {
    bson_iter_t at;
    for (bool more = options && bson_iter_init(&at, options); more && bson_iter_next(&at);)
        if (!bson_has_field(command, bson_iter_key(&at)) &&
            (strcmp(bson_iter_key(&at), CLUSTERED) != 0 || !BSON_ITER_HOLDS_BOOL(&at)))
            bson_append_iter(command, NULL, 0, &at);
}

/* clustered: with the usual clustered index. *code: the server's code, if it refused. */
static bool create_as(server_t *server, mongoc_client_t *client, const collection_options_t *options,
                      bool clustered, int *code, err_t *err) {
    bson_t command = BSON_INITIALIZER, reply;
    BSON_APPEND_UTF8(&command, "create", server_collection(server));
    if (clustered)
        BCON_APPEND(&command, CLUSTERED, "{", "key", "{", "_id", BCON_INT32(1), "}", "unique",
                    BCON_BOOL(true), "}");
    if (options->compressor) {
        char config[64];
        snprintf(config, sizeof config, "block_compressor=%s", options->compressor);
        BCON_APPEND(&command, "storageEngine", "{", "wiredTiger", "{", "configString", BCON_UTF8(config), "}",
                    "}");
    }
    append_options(&command, options->options);
    bool ok = server_command(server, client, server_database(server), &command, true, &reply, err);
    *code = ok ? 0 : server_code(&reply);
    bson_destroy(&reply);
    bson_destroy(&command);
    return ok;
}

/* As create_as. */
static bool create(server_t *server, mongoc_client_t *client, const collection_options_t *options, int *code,
                   err_t *err) {
    bson_iter_t said;
    const server_facts_t *facts = server_facts(server);
    const bool can = facts->major * 100 + facts->minor >= 503, /* servers can since 5.3 */
        chosen = options->options && bson_iter_init_find(&said, options->options, CLUSTERED),
               clustered =
                   chosen ? BSON_ITER_HOLDS_BOOL(&said) && bson_iter_bool(&said) : can && !options->own_ids;
    if (create_as(server, client, options, clustered, code, err))
        return true;
    /* the featureCompatibilityVersion may be older than the server */
    return *code == CODE_INVALID_OPTIONS && !chosen && clustered &&
           create_as(server, client, options, false, code, err);
}

/* Always false. What a server refuses for good, and no right is lacking, is the options' fault. */
static bool blame_options(const server_t *server, int code, err_t *err) {
    const err_t why = *err;
    const code_class_t class = code_class(code, why.text);
    if (!code || class == CODE_PASSING || class == CODE_NOT_ALLOWED || class == CODE_STATE)
        return false;
    return err_set(
        err, STATUS_USAGE,
        "the server does not make %s with these options: %.900s. Correct --create, or the metadata "
        "of the dump (*.metadata.json)",
        server_namespace(server), why.text);
}

bool collection_make(server_t *server, mongoc_client_t *client, const collection_options_t *options,
                     collection_t *place, err_t *err) {
    if (!collection_look(server, client, place, err))
        return false;
    if (!place->exists) {
        int code;
        /* another load made it at the same moment, or our own first try did */
        if (!create(server, client, options, &code, err) && code != CODE_NAMESPACE_EXISTS)
            return options->options && blame_options(server, code, err);
        return collection_look(server, client, place, err);
    }
    return true;
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

bool collection_drop(server_t *server, mongoc_client_t *client, err_t *err) {
    static const char *const tails[] = {"", OWN_FILES, OWN_LOADS};
    bool ok = true;
    /* the data is dropped first: a catalog that is left without its data is refused by the next load */
    for (size_t i = 0; ok && i < sizeof tails / sizeof *tails; i++)
        ok = drop_one(server, client, tails[i], NULL, err);
    return ok;
}

bool collection_drop_data(server_t *server, mongoc_client_t *client, const uint8_t uuid[16], err_t *err) {
    static const uint8_t none[16];
    return memcmp(uuid, none, sizeof none) == 0 || drop_one(server, client, "", uuid, err);
}

/* ---- building an index, however long it takes ---- */

/* One try, on a connection of its own, whose time no timeout limits. A stop signal shuts it down (stop_hangs_up). */
static bool build_once(server_t *server, const bson_t *command, bson_t *reply, bson_error_t *error) {
    mongoc_uri_t *uri = mongoc_uri_copy(server_address(server)->uri);
    mongoc_uri_set_option_as_int32(uri, MONGOC_URI_SOCKETTIMEOUTMS, INT32_MAX);
    mongoc_uri_set_option_as_bool(uri, MONGOC_URI_SERVERSELECTIONTRYONCE, false);
    mongoc_uri_set_option_as_int32(uri, MONGOC_URI_SERVERSELECTIONTIMEOUTMS, 5000);
    mongoc_client_t *client = mongoc_client_new_from_uri(uri);
    bool ok = false;
    *error = (bson_error_t){.domain = MONGOC_ERROR_STREAM};
    if (client) {
        mongoc_client_set_error_api(client, MONGOC_ERROR_API_VERSION_2);
        ok = mongoc_client_command_simple(client, server_database(server), command, NULL, reply, error);
        mongoc_client_destroy(client);
    } else {
        bson_init(reply);
    }
    mongoc_uri_destroy(uri);
    return ok;
}

static bson_t *index_command(const server_t *server, const index_spec_t *spec) {
    server_kind_t kind = server_facts(server)->kind;
    bson_t index = BSON_INITIALIZER;
    BSON_APPEND_DOCUMENT(&index, "key", &spec->keys);
    BSON_APPEND_UTF8(&index, "name", spec->name);
    bson_concat(&index, &spec->options);
    bson_t *command = BCON_NEW("createIndexes", BCON_UTF8(server_collection(server)), "indexes", "[",
                               BCON_DOCUMENT(&index), "]");
    bson_destroy(&index);
    /* the server's default, all voting members, would wait for a member that is down */
    if (kind == SERVER_REPLICA_SET)
        BSON_APPEND_UTF8(command, "commitQuorum", "majority");
    if (kind != SERVER_STANDALONE)
        BCON_APPEND(command, "writeConcern", "{", "w", BCON_UTF8("majority"), "}");
    return command;
}

/* The server's words for an existing index that differs in its name only, or is hidden. Where other options differ, the
 * words are others. */
static const char HAS_ANOTHER_NAME[] = "Index already exists with a different name";

/* Queries do not use a hidden index. */
static bool is_hidden(server_t *server, mongoc_client_t *client, const bson_t *keys) {
    bson_t reply, index, listed;
    bson_iter_t batch;
    bool hidden = false;
    err_t ignored;
    if (collection_ask_indexes(server, client, &reply, &ignored) && bson_read_batch(&reply, &batch))
        while (!hidden && bson_read_next(&batch, &index))
            hidden = bson_read_true(&index, "hidden") && bson_read_field(&index, "key", &listed) &&
                     collection_same_keys(&listed, keys);
    bson_destroy(&reply);
    return hidden;
}

bool collection_build_index(server_t *server, mongoc_client_t *client, const index_spec_t *spec,
                            collection_built_t *built, err_t *err) {
    char doing[300];
    snprintf(doing, sizeof doing, "build the index %s on %.120s", spec->name, server_namespace(server));
    bson_t *command = index_command(server, spec);
    const int64_t start = clock_now_ns();
    bool ok = false, again = true;
    *built = (collection_built_t){.took_ns = 0};
    patience_t patience = server_patience(server);
    while (!ok && again) {
        bson_t reply;
        bson_error_t error;
        ok = build_once(server, command, &reply, &error) ||
             (server_code(&reply) == CODE_INDEX_OPTIONS_CONFLICT && strstr(error.message, HAS_ANOTHER_NAME) &&
              !bson_read_true(&spec->options, "hidden") && !is_hidden(server, client, &spec->keys));
        if (!ok && stop_signal()) {
            again = err_set(err, (status_t)(128 + stop_signal()),
                            "interrupted while the index %s was built on %s: the "
                            "server goes on with it",
                            spec->name, server_namespace(server));
        } else if (!ok) {
            /* patience is for a server that does not answer, not for one that was building until now */
            if (patience.tries == 0)
                patience = server_patience(server);
            again = server_again(server, client, &patience, &error, &reply, doing, err);
            built->refused = refusal_of(&error, &reply) != CODE_PASSING;
        }
        bson_destroy(&reply);
    }
    bson_destroy(command);
    built->took_ns = clock_now_ns() - start;
    return ok;
}
