#include "server/command_cursor.h"
#include "server/bson_read.h"

#include <string.h>

/* Chooses the server to ask, and the session, for the command and for all later requests of its cursor. */
static bool choose(command_cursor_t *cursor, mongoc_client_t *client, const mongoc_read_prefs_t *prefs,
                   bson_t *options) {
    mongoc_session_opt_t *plain = mongoc_session_opts_new();
    mongoc_session_opts_set_causal_consistency(plain, false);
    cursor->session = mongoc_client_start_session(client, plain, &cursor->error);
    mongoc_session_opts_destroy(plain);
    mongoc_server_description_t *server =
        cursor->session ? mongoc_client_select_server(client, false, prefs, &cursor->error) : NULL;
    if (!server || !mongoc_client_session_append(cursor->session, options, &cursor->error)) {
        mongoc_server_description_destroy(server);
        return false;
    }
    bson_append_int32(options, "serverId", -1, (int32_t)mongoc_server_description_id(server));
    mongoc_server_description_destroy(server);
    return true;
}

/* readConcern goes to the driver, which would otherwise add the client's, and batchSize to the cursor. */
static void divide(const bson_t *options, bson_t *driver, bson_t *batch) {
    bson_iter_t option;
    if (bson_iter_init_find(&option, options, "readConcern"))
        bson_append_iter(driver, NULL, 0, &option);
    if (bson_iter_init_find(&option, options, "batchSize"))
        bson_append_iter(batch, NULL, 0, &option);
}

/* The driver ends the process where a cursor is none. */
static bool has_cursor(const bson_t *reply) {
    const char *name = bson_read_text(reply, "cursor.ns"), *dot = strchr(name, '.');
    bson_iter_t top, id, documents;
    return dot && dot > name && dot[1] && bson_read_batch(reply, &documents) && bson_iter_init(&top, reply) &&
           bson_iter_find_descendant(&top, "cursor.id", &id) && BSON_ITER_HOLDS_NUMBER(&id);
}

void command_cursor_begin(command_cursor_t *cursor, mongoc_client_t *client, const char *database,
                          const bson_t *command, const bson_t *options, const mongoc_read_prefs_t *prefs) {
    bson_t driver = BSON_INITIALIZER, batch = BSON_INITIALIZER, same = BSON_INITIALIZER, reply;
    *cursor = (command_cursor_t){.session = NULL};
    bson_init(&cursor->reply);
    prefs = prefs ? prefs : mongoc_client_get_read_prefs(client);
    divide(options, &driver, &batch);
    if (choose(cursor, client, prefs, &same)) {
        bson_concat(&driver, &same);
        bson_concat(&batch, &same);
        const bool ok = mongoc_client_read_command_with_opts(client, database, command, prefs, &driver,
                                                             &reply, &cursor->error);
        if (ok && has_cursor(&reply)) {
            cursor->cursor = mongoc_cursor_new_from_command_reply_with_opts(client, &reply, &batch);
        } else {
            if (ok)
                bson_set_error(&cursor->error, MONGOC_ERROR_CURSOR, MONGOC_ERROR_CURSOR_INVALID_CURSOR,
                               "the server's reply has no cursor that can be read");
            bson_destroy(&cursor->reply);
            bson_steal(&cursor->reply, &reply);
        }
    }
    bson_destroy(&driver);
    bson_destroy(&batch);
    bson_destroy(&same);
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

bool command_cursor_next(command_cursor_t *cursor, const bson_t **document) {
    return cursor->cursor && mongoc_cursor_next(cursor->cursor, document);
}

bool command_cursor_failed(command_cursor_t *cursor, bson_error_t *error, const bson_t **reply) {
    if (cursor->cursor)
        return mongoc_cursor_error_document(cursor->cursor, error, reply);
    *error = cursor->error;
    *reply = &cursor->reply;
    return true;
}

void command_cursor_end(command_cursor_t *cursor) {
    if (!cursor->cursor && !cursor->session && !cursor->reply.len)
        return;
    mongoc_cursor_destroy(cursor->cursor);
    if (cursor->session)
        mongoc_client_session_destroy(cursor->session);
    bson_destroy(&cursor->reply);
    *cursor = (command_cursor_t){.session = NULL};
}
