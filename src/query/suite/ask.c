#include "query/suite/ask.h"

/* The read concern of the request, or else of the URI. */
static void add_concern(mongoc_client_t *client, const request_t *request, bson_t *command) {
    const char *level = mongoc_read_concern_get_level(mongoc_client_get_read_concern(client));
    bson_iter_t stated;
    bson_t concern;
    if (bson_iter_init_find(&stated, request->options, "readConcern")) {
        bson_append_iter(command, NULL, 0, &stated);
    } else if (level) {
        bson_append_document_begin(command, "readConcern", -1, &concern);
        bson_append_utf8(&concern, "level", -1, level, -1);
        bson_append_document_end(command, &concern);
    }
}

bool ask_command(mongoc_client_t *client, const request_t *request, const bson_t *command, bson_t *reply,
                 bson_error_t *error) {
    const mongoc_read_prefs_t *prefs = request->prefs ? request->prefs : mongoc_client_get_read_prefs(client);
    bson_t whole;
    bson_copy_to(command, &whole);
    add_concern(client, request, &whole);
    bool ok = mongoc_client_command_with_opts(client, request->database, &whole, prefs, NULL, reply, error);
    bson_destroy(&whole);
    return ok;
}
