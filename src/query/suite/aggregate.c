#include "query/suite/aggregate.h"

#include <string.h>

/* batchSize goes to the cursor, and readConcern to the driver; all other options go into the command. */
static void make_command(bson_t *command, const char *collection, const bson_t *pipeline,
                         const bson_t *options) {
    bson_t batch = BSON_INITIALIZER;
    bson_iter_t option;
    if (collection)
        bson_append_utf8(command, "aggregate", -1, collection, -1);
    else
        bson_append_int32(command, "aggregate", -1, 1);
    bson_append_array(command, "pipeline", -1, pipeline);
    bson_iter_init(&option, options);
    while (bson_iter_next(&option)) {
        const char *name = bson_iter_key(&option);
        if (strcmp(name, "readConcern") != 0)
            bson_append_iter(strcmp(name, "batchSize") == 0 ? &batch : command, NULL, 0, &option);
    }
    bson_append_document(command, "cursor", -1, &batch);
    bson_destroy(&batch);
}

void aggregate_begin(aggregate_t *aggregate, mongoc_client_t *client, const char *database,
                     const char *collection, const bson_t *pipeline, const bson_t *options,
                     const mongoc_read_prefs_t *prefs) {
    bson_t command = BSON_INITIALIZER;
    make_command(&command, collection, pipeline, options);
    command_cursor_begin(aggregate, client, database, &command, options, prefs);
    bson_destroy(&command);
}

bool aggregate_next(aggregate_t *aggregate, const bson_t **document) {
    return command_cursor_next(aggregate, document);
}

bool aggregate_end(aggregate_t *aggregate, bson_error_t *error) {
    const bson_t *reply;
    const bool ok = !command_cursor_failed(aggregate, error, &reply);
    command_cursor_end(aggregate);
    return ok;
}
