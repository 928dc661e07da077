#include "query/suite/ask.h"
#include "server/bson_read.h"

#include <limits.h>
#include <string.h>

/* Where each option of a request goes. */
static const struct {
    const char *name;
    bool parts, merge;
} options_of[] = {
    {"allowDiskUse", true, false}, {"maxTimeMS", true, true}, {"collation", true, true},
    {"let", true, true},           {"hint", true, false},     {"batchSize", false, true},
};

/* With the order on disk as hint, each part would read the whole collection. */
static bool is_natural(const bson_iter_t *option) {
    bson_iter_t inner;
    return strcmp(bson_iter_key(option), "hint") == 0 && BSON_ITER_HOLDS_DOCUMENT(option) &&
           bson_iter_recurse(option, &inner) && bson_iter_find(&inner, "$natural");
}

static void add_options(const request_t *request, bool merge, bson_t *to) {
    for (size_t i = 0; i < sizeof options_of / sizeof *options_of; i++) {
        bson_iter_t option;
        if ((merge ? options_of[i].merge : options_of[i].parts) &&
            bson_iter_init_find(&option, request->options, options_of[i].name) && !is_natural(&option))
            bson_append_iter(to, NULL, 0, &option);
    }
}

void ask_options(const request_t *request, bson_t *options) {
    add_options(request, false, options);
}

void ask_merge_options(const request_t *request, bson_t *options) {
    add_options(request, true, options);
    /* a router merges $documents itself and has no disk, but newer servers would use one by default */
    bson_append_bool(options, "allowDiskUse", -1, false);
}

static const char *level_of(mongoc_client_t *client) {
    return mongoc_read_concern_get_level(mongoc_client_get_read_concern(client));
}

bool ask_has_concern(mongoc_client_t *client, const request_t *request) {
    return bson_has_field(request->options, "readConcern") || level_of(client);
}

static void add_concern(mongoc_client_t *client, const request_t *request, const moment_t *moment,
                        bson_t *command) {
    bson_iter_t stated;
    bson_t concern;
    if (!moment && bson_iter_init_find(&stated, request->options, "readConcern")) {
        bson_append_iter(command, NULL, 0, &stated);
        return;
    }
    const char *level = moment ? "snapshot" : level_of(client);
    if (!level)
        return;
    bson_append_document_begin(command, "readConcern", -1, &concern);
    bson_append_utf8(&concern, "level", -1, level, -1);
    if (moment)
        bson_append_timestamp(&concern, "atClusterTime", -1, moment->seconds, moment->increment);
    bson_append_document_end(command, &concern);
}

bool ask_command(mongoc_client_t *client, const request_t *request, const bson_t *command,
                 const moment_t *moment, bson_t *reply, bson_error_t *error) {
    const mongoc_read_prefs_t *prefs = request->prefs ? request->prefs : mongoc_client_get_read_prefs(client);
    bson_t whole;
    bson_copy_to(command, &whole);
    add_concern(client, request, moment, &whole);
    bool ok = mongoc_client_command_with_opts(client, request->database, &whole, prefs, NULL, reply, error);
    bson_destroy(&whole);
    return ok;
}

bool ask_aggregate(mongoc_client_t *client, const request_t *request, const bson_t *pipeline,
                   const moment_t *moment, bson_t *reply, bson_error_t *error) {
    bson_t command = BSON_INITIALIZER, cursor;
    bson_append_utf8(&command, "aggregate", -1, request->collection, -1);
    bson_append_array(&command, "pipeline", -1, pipeline);
    bson_append_document_begin(&command, "cursor", -1, &cursor);
    bson_append_int32(&cursor, "batchSize", -1, INT_MAX);
    bson_append_document_end(&command, &cursor);
    add_options(request, false, &command);
    bool ok = ask_command(client, request, &command, moment, reply, error);
    bson_destroy(&command);
    return ok;
}

bool ask_end(mongoc_client_t *client, const request_t *request, bool greatest, const moment_t *moment,
             bson_t *reply, bson_error_t *error) {
    bson_t *command = BCON_NEW("find", BCON_UTF8(request->collection), "sort", "{", "_id",
                               BCON_INT32(greatest ? -1 : 1), "}", "projection", "{", "_id", BCON_INT32(1),
                               "}", "limit", BCON_INT32(1), "singleBatch", BCON_BOOL(true));
    bson_t whole, empty = BSON_INITIALIZER, first;
    bson_iter_t documents;
    bool ok = ask_command(client, request, command, moment, &whole, error);
    bson_destroy(command);
    if (ok && ask_batch(client, request, &whole, &documents) && bson_iter_next(&documents) &&
        bson_read_document(&documents, &first))
        bson_concat(&empty, &first);
    bson_destroy(&whole);
    bson_steal(reply, &empty);
    return ok;
}

static void close_cursor(mongoc_client_t *client, const request_t *request, int64_t cursor) {
    bson_t *command =
        BCON_NEW("killCursors", BCON_UTF8(request->collection), "cursors", "[", BCON_INT64(cursor), "]");
    const mongoc_read_prefs_t *prefs = request->prefs ? request->prefs : mongoc_client_get_read_prefs(client);
    mongoc_client_command_simple(client, request->database, command, prefs, NULL, NULL);
    bson_destroy(command);
}

bool ask_batch(mongoc_client_t *client, const request_t *request, const bson_t *reply,
               bson_iter_t *documents) {
    static const uint8_t nothing[] = {5, 0, 0, 0, 0};
    bson_iter_t start, id;
    if (!bson_read_batch(reply, documents))
        bson_iter_init_from_data(documents, nothing, sizeof nothing);
    if (!bson_iter_init(&start, reply) || !bson_iter_find_descendant(&start, "cursor.id", &id) ||
        !bson_iter_as_int64(&id))
        return true;
    close_cursor(client, request, bson_iter_as_int64(&id));
    return false;
}

static bool moment_of(const bson_t *reply, bool router, moment_t *moment) {
    bson_iter_t start, at;
    /* a router's operationTime is that of one shard; a member's clock may be ahead of what it has done */
    bool found = router && bson_iter_init(&start, reply) &&
                 bson_iter_find_descendant(&start, "$clusterTime.clusterTime", &at) &&
                 BSON_ITER_HOLDS_TIMESTAMP(&at);
    if (!found && !(bson_iter_init_find(&at, reply, "operationTime") && BSON_ITER_HOLDS_TIMESTAMP(&at)))
        return false;
    bson_iter_timestamp(&at, &moment->seconds, &moment->increment);
    return true;
}

bool ask_now(mongoc_client_t *client, const request_t *request, bool router, moment_t *now,
             bson_error_t *error) {
    /* a router asks all shards for a single document, and so learns of their writes; before that, its own clock may be
     * behind what was written through another router */
    bson_t *command = BCON_NEW("find", BCON_UTF8(request->collection), "projection", "{", "_id",
                               BCON_INT32(1), "}", "limit", BCON_INT32(1), "singleBatch", BCON_BOOL(true));
    bson_t reply;
    bool ok = ask_command(client, request, command, NULL, &reply, error);
    if (ok) {
        memset(error, 0, sizeof *error);
        ok = moment_of(&reply, router, now);
    }
    bson_destroy(&reply);
    bson_destroy(command);
    return ok;
}
