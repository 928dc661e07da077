#include "server/command_cursor.h"
#include "server/bson_read.h"

#include <stdlib.h>
#include <string.h>

/* Chooses the server to ask, and the session, for the command and for all later requests of its cursor. */
static bool choose(command_cursor_t *cursor) {
    mongoc_session_opt_t *plain = mongoc_session_opts_new();
    mongoc_session_opts_set_causal_consistency(plain, false);
    cursor->session = mongoc_client_start_session(cursor->client, plain, &cursor->error);
    mongoc_session_opts_destroy(plain);
    mongoc_server_description_t *server =
        cursor->session ? mongoc_client_select_server(cursor->client, false, cursor->prefs, &cursor->error)
                        : NULL;
    if (!server || !mongoc_client_session_append(cursor->session, &cursor->same, &cursor->error)) {
        mongoc_server_description_destroy(server);
        return false;
    }
    bson_append_int32(&cursor->same, "serverId", -1, (int32_t)mongoc_server_description_id(server));
    mongoc_server_description_destroy(server);
    return true;
}

/* ---- replies ---- */

static bool has_no_cursor(command_cursor_t *cursor) {
    bson_set_error(&cursor->error, MONGOC_ERROR_CURSOR, MONGOC_ERROR_CURSOR_INVALID_CURSOR,
                   "the server's reply has no cursor that can be read");
    return false;
}

/* Takes the reply, and of it the cursor's id and its batch. */
static bool take(command_cursor_t *cursor, bson_t *reply, const char *batch) {
    bson_iter_t top, id, documents;
    bson_destroy(&cursor->reply);
    bson_steal(&cursor->reply, reply);
    if (!bson_iter_init(&top, &cursor->reply) || !bson_iter_find_descendant(&top, "cursor.id", &id) ||
        !BSON_ITER_HOLDS_NUMBER(&id) || !bson_iter_init(&top, &cursor->reply) ||
        !bson_iter_find_descendant(&top, batch, &documents) || !BSON_ITER_HOLDS_ARRAY(&documents) ||
        !bson_iter_recurse(&documents, &cursor->rest))
        return has_no_cursor(cursor);
    cursor->id = bson_iter_as_int64(&id);
    return true;
}

/* "database.collection" */
static bool take_namespace(command_cursor_t *cursor) {
    const char *name = bson_read_text(&cursor->reply, "cursor.ns");
    char *dot = strchr(name, '.') ? bson_strdup(name) : NULL;
    cursor->namespace = dot;
    dot = dot ? strchr(dot, '.') : NULL;
    if (!dot || dot == cursor->namespace || !dot[1])
        return has_no_cursor(cursor);
    *dot = '\0';
    return true;
}

static const char *collection_of(const command_cursor_t *cursor) {
    return cursor->namespace + strlen(cursor->namespace) + 1;
}

/* ---- requests ---- */

void command_cursor_begin(command_cursor_t *cursor, mongoc_client_t *client, const char *database,
                          const bson_t *command, const bson_t *options, const mongoc_read_prefs_t *prefs) {
    bson_t driver = BSON_INITIALIZER, reply;
    bson_iter_t option;
    *cursor = (command_cursor_t){.client = client, .open = true};
    bson_init(&cursor->reply);
    bson_init(&cursor->same);
    cursor->prefs = mongoc_read_prefs_copy(prefs ? prefs : mongoc_client_get_read_prefs(client));
    if (options && bson_iter_init_find(&option, options, "batchSize"))
        cursor->batch = bson_iter_as_int64(&option);
    bool ok = choose(cursor);
    if (ok) {
        /* the driver would otherwise add the client's */
        if (options && bson_iter_init_find(&option, options, "readConcern"))
            bson_append_iter(&driver, NULL, 0, &option);
        bson_concat(&driver, &cursor->same);
        ok = (options ? mongoc_client_read_command_with_opts : mongoc_client_command_with_opts)(
            client, database, command, cursor->prefs, &driver, &reply, &cursor->error);
        if (ok) {
            ok = take(cursor, &reply, "cursor.firstBatch") && take_namespace(cursor);
        } else {
            bson_destroy(&cursor->reply);
            bson_steal(&cursor->reply, &reply);
        }
    }
    cursor->failed = !ok;
    bson_destroy(&driver);
}

void command_cursor_find(command_cursor_t *cursor, mongoc_client_t *client, const char *database,
                         const char *collection, const bson_t *filter, const bson_t *options,
                         const mongoc_read_prefs_t *prefs) {
    bson_t command = BSON_INITIALIZER;
    bson_append_utf8(&command, "find", -1, collection, -1);
    bson_append_document(&command, "filter", -1, filter);
    bson_copy_to_excluding_noinit(options, &command, "readConcern", NULL);
    command_cursor_begin(cursor, client, database, &command, options, prefs);
    bson_destroy(&command);
}

void command_cursor_list(command_cursor_t *cursor, mongoc_client_t *client, const char *database,
                         const bson_t *command) {
    mongoc_read_prefs_t *primary = mongoc_read_prefs_new(MONGOC_READ_PRIMARY);
    command_cursor_begin(cursor, client, database, command, NULL, primary);
    mongoc_read_prefs_destroy(primary);
}

/* The next batch, which may be empty. */
static bool get_more(command_cursor_t *cursor) {
    bson_t command = BSON_INITIALIZER, reply;
    bson_append_int64(&command, "getMore", -1, cursor->id);
    bson_append_utf8(&command, "collection", -1, collection_of(cursor), -1);
    if (cursor->batch > 0)
        bson_append_int64(&command, "batchSize", -1, cursor->batch);
    bool ok = mongoc_client_command_with_opts(cursor->client, cursor->namespace, &command, cursor->prefs,
                                              &cursor->same, &reply, &cursor->error);
    bson_destroy(&command);
    if (ok)
        return take(cursor, &reply, "cursor.nextBatch");
    bson_destroy(&cursor->reply);
    bson_steal(&cursor->reply, &reply);
    return false;
}

bool command_cursor_next(command_cursor_t *cursor, const bson_t **document) {
    while (cursor->open && !cursor->failed) {
        if (bson_iter_next(&cursor->rest)) {
            cursor->failed = !bson_read_document(&cursor->rest, &cursor->document) && !has_no_cursor(cursor);
            *document = &cursor->document;
            return !cursor->failed;
        }
        if (!cursor->id)
            return false;
        cursor->failed = !get_more(cursor);
    }
    return false;
}

bool command_cursor_has_more(const command_cursor_t *cursor) {
    return cursor->id != 0;
}

bool command_cursor_failed(command_cursor_t *cursor, bson_error_t *error, const bson_t **reply) {
    *error = cursor->error;
    *reply = &cursor->reply;
    return cursor->failed;
}

/* A lost connection is not made again only for this: the server forgets the cursor by itself. */
static void close_at_server(command_cursor_t *cursor) {
    const bool lost = cursor->failed && cursor->error.domain != MONGOC_ERROR_SERVER &&
                      cursor->error.domain != MONGOC_ERROR_CURSOR;
    if (!cursor->id || lost)
        return;
    bson_t *command = BCON_NEW("killCursors", BCON_UTF8(collection_of(cursor)), "cursors", "[",
                               BCON_INT64(cursor->id), "]");
    mongoc_client_command_with_opts(cursor->client, cursor->namespace, command, cursor->prefs, &cursor->same,
                                    NULL, NULL);
    bson_destroy(command);
}

void command_cursor_end(command_cursor_t *cursor) {
    if (!cursor->open)
        return;
    if (cursor->namespace)
        close_at_server(cursor);
    if (cursor->session)
        mongoc_client_session_destroy(cursor->session);
    bson_destroy(&cursor->reply);
    bson_destroy(&cursor->same);
    bson_free(cursor->namespace);
    mongoc_read_prefs_destroy(cursor->prefs);
    *cursor = (command_cursor_t){.open = false};
}
