#include "query/suite/aggregate.h"

#include <string.h>

/* batchSize goes to the cursor, and readConcern to the driver, which would otherwise add the client's; all other
 * options go into the command. */
static void make_command(bson_t *command, bson_t *driver, bson_t *batch, const char *collection,
                         const bson_t *pipeline, const bson_t *options) {
    bson_iter_t option;
    bson_append_utf8(command, "aggregate", -1, collection, -1);
    bson_append_array(command, "pipeline", -1, pipeline);
    bson_iter_init(&option, options);
    while (bson_iter_next(&option)) {
        const char *name = bson_iter_key(&option);
        bson_append_iter(strcmp(name, "batchSize") == 0     ? batch
                         : strcmp(name, "readConcern") == 0 ? driver
                                                            : command,
                         NULL, 0, &option);
    }
    bson_append_document(command, "cursor", -1, batch);
}

/* Chooses the server to ask, and the session, for the command and for all later requests of its cursor. */
static bool choose(aggregate_t *aggregate, mongoc_client_t *client, const mongoc_read_prefs_t *prefs,
                   bson_t *options) {
    mongoc_session_opt_t *plain = mongoc_session_opts_new();
    mongoc_session_opts_set_causal_consistency(plain, false);
    aggregate->session = mongoc_client_start_session(client, plain, &aggregate->error);
    mongoc_session_opts_destroy(plain);
    mongoc_server_description_t *server =
        aggregate->session ? mongoc_client_select_server(client, false, prefs, &aggregate->error) : NULL;
    if (!server || !mongoc_client_session_append(aggregate->session, options, &aggregate->error)) {
        mongoc_server_description_destroy(server);
        return false;
    }
    bson_append_int32(options, "serverId", -1, (int32_t)mongoc_server_description_id(server));
    mongoc_server_description_destroy(server);
    return true;
}

void aggregate_begin(aggregate_t *aggregate, mongoc_client_t *client, const char *database,
                     const char *collection, const bson_t *pipeline, const bson_t *options,
                     const mongoc_read_prefs_t *prefs) {
    bson_t command = BSON_INITIALIZER, driver = BSON_INITIALIZER, batch = BSON_INITIALIZER, reply;
    bson_t same = BSON_INITIALIZER;
    *aggregate = (aggregate_t){.session = NULL};
    prefs = prefs ? prefs : mongoc_client_get_read_prefs(client);
    make_command(&command, &driver, &batch, collection, pipeline, options);
    if (choose(aggregate, client, prefs, &same)) {
        bson_concat(&driver, &same);
        bson_concat(&batch, &same);
        if (mongoc_client_read_command_with_opts(client, database, &command, prefs, &driver, &reply,
                                                 &aggregate->error))
            aggregate->cursor = mongoc_cursor_new_from_command_reply_with_opts(client, &reply, &batch);
        else
            bson_destroy(&reply);
    }
    bson_destroy(&command);
    bson_destroy(&driver);
    bson_destroy(&batch);
    bson_destroy(&same);
}

bool aggregate_next(aggregate_t *aggregate, const bson_t **document) {
    return aggregate->cursor && mongoc_cursor_next(aggregate->cursor, document);
}

bool aggregate_end(aggregate_t *aggregate, bson_error_t *error) {
    bool ok = aggregate->cursor && !mongoc_cursor_error(aggregate->cursor, error);
    if (!aggregate->cursor)
        *error = aggregate->error;
    mongoc_cursor_destroy(aggregate->cursor);
    if (aggregate->session)
        mongoc_client_session_destroy(aggregate->session);
    return ok;
}
