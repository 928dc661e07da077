#include "load/read_back/snapshot_read.h"
#include "server/server.h"

#include <stdio.h>
#include <stdlib.h>

/* A range's documents come in one reply wherever they fit into one. */
enum { BATCH = 1000000, CURSOR_NOT_FOUND = 43, CURSOR_KILLED = 237, QUERY_PLAN_KILLED = 175 };

struct snapshot_read {
    server_t *server;
    mongoc_client_t *client, *taken;
    mongoc_read_prefs_t *primary;
    bson_t *options;    /* of all finds */
    const bson_t *more; /* further ones of those at hand; NULL: usual ones */
    command_cursor_t cursor;
    patience_t patience;
    bool again;
    char doing[300];
};

snapshot_read_t *snapshot_read_new(server_t *server, mongoc_client_t *client, err_t *err) {
    snapshot_read_t *reader = calloc(1, sizeof *reader);
    if (!reader) {
        err_memory(err, sizeof *reader);
        return NULL;
    }
    reader->server = server;
    reader->primary = mongoc_read_prefs_new(MONGOC_READ_PRIMARY);
    reader->options = BCON_NEW("sort", "{", "_id", BCON_INT32(1), "}", "readConcern", "{", "level",
                               BCON_UTF8("majority"), "}");
    snprintf(reader->doing, sizeof reader->doing, "read %s", server_namespace(server));
    reader->client = client ? client : (reader->taken = server_take(server, err));
    if (!reader->client) {
        snapshot_read_free(reader);
        return NULL;
    }
    return reader;
}

void snapshot_read_free(snapshot_read_t *reader) {
    if (!reader)
        return;
    command_cursor_end(&reader->cursor);
    server_give(reader->server, reader->taken);
    mongoc_read_prefs_destroy(reader->primary);
    bson_destroy(reader->options);
    free(reader);
}

void snapshot_read_refresh(snapshot_read_t *reader) {
    reader->patience = server_patience(reader->server);
}

static void append_range(bson_t *filter, int64_t from, int64_t end) {
    BCON_APPEND(filter, "_id", "{", "$gte", BCON_INT64(from), end == INT64_MAX ? "$lte" : "$lt",
                BCON_INT64(end), "}");
}

void snapshot_read_begin_filter(snapshot_read_t *reader, const bson_t *filter) {
    bson_t *options = bson_copy(reader->options);
    if (reader->more)
        bson_concat(options, reader->more);
    else
        BSON_APPEND_INT32(options, "batchSize", BATCH);
    command_cursor_end(&reader->cursor);
    command_cursor_find(&reader->cursor, reader->client, server_database(reader->server),
                        server_collection(reader->server), filter, options, reader->primary);
    bson_destroy(options);
    reader->again = false;
}

void snapshot_read_begin(snapshot_read_t *reader, int64_t from, int64_t end) {
    bson_t filter = BSON_INITIALIZER;
    append_range(&filter, from, end);
    snapshot_read_begin_filter(reader, &filter);
    bson_destroy(&filter);
}

/* A cursor that the server has forgotten is as good as a lost connection: everything is asked anew. */
static bool is_lost(const bson_error_t *error) {
    return (error->domain == MONGOC_ERROR_SERVER || error->domain == MONGOC_ERROR_CURSOR) &&
           (error->code == CURSOR_NOT_FOUND || error->code == CURSOR_KILLED ||
            error->code == QUERY_PLAN_KILLED);
}

int snapshot_read_next(snapshot_read_t *reader, const uint8_t **document, uint32_t *length, err_t *err) {
    const bson_t *next, *reply;
    bson_error_t error;
    if (command_cursor_next(&reader->cursor, &next)) {
        *document = bson_get_data(next);
        *length = next->len;
        return 1;
    }
    const bool failed = command_cursor_failed(&reader->cursor, &error, &reply);
    if (!failed)
        command_cursor_end(&reader->cursor); /* its reply may be large */
    else
        reader->again = (is_lost(&error) ? server_wait : server_again)(
            reader->server, reader->client, &reader->patience, &error, reply, reader->doing, err);
    return failed ? -1 : 0;
}

bool snapshot_read_again(const snapshot_read_t *reader) {
    return reader->again;
}

bool snapshot_read_filtered(snapshot_read_t *reader, const bson_t *filter, const bson_t *more,
                            snapshot_clear_fn *clear, snapshot_keep_fn *keep, void *context, err_t *err) {
    const bson_t all = BSON_INITIALIZER;
    const uint8_t *document = NULL;
    uint32_t length = 0;
    bool ok = true;
    int got = 0;
    snapshot_read_refresh(reader);
    reader->more = more;
    do {
        clear(context);
        snapshot_read_begin_filter(reader, filter ? filter : &all);
        while (ok && (got = snapshot_read_next(reader, &document, &length, err)) > 0)
            ok = keep(context, document, length, err);
    } while (ok && got < 0 && snapshot_read_again(reader));
    reader->more = NULL;
    command_cursor_end(&reader->cursor);
    return ok && got == 0;
}

bool snapshot_read_all(snapshot_read_t *reader, int64_t from, int64_t end, snapshot_clear_fn *clear,
                       snapshot_keep_fn *keep, void *context, err_t *err) {
    bson_t filter = BSON_INITIALIZER;
    append_range(&filter, from, end);
    const bool ok = snapshot_read_filtered(reader, &filter, NULL, clear, keep, context, err);
    bson_destroy(&filter);
    return ok;
}
