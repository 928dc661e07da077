#include "query/suite/send.h"
#include "base/stop.h"
#include "server/bson_read.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* ---- commands ---- */

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

static bool ask_command(mongoc_client_t *client, const request_t *request, const bson_t *command,
                        bson_t *reply, bson_error_t *error) {
    const mongoc_read_prefs_t *prefs = request->prefs ? request->prefs : mongoc_client_get_read_prefs(client);
    bson_t whole;
    bson_copy_to(command, &whole);
    add_concern(client, request, &whole);
    bool ok = mongoc_client_command_with_opts(client, request->database, &whole, prefs, NULL, reply, error);
    bson_destroy(&whole);
    return ok;
}

/* batchSize goes to the cursor, and readConcern to the driver; all other options go into the command. */
void aggregate_begin(command_cursor_t *cursor, mongoc_client_t *client, const char *database,
                     const char *collection, const bson_t *pipeline, const bson_t *options,
                     const mongoc_read_prefs_t *prefs) {
    bson_t command = BSON_INITIALIZER, batch = BSON_INITIALIZER;
    bson_iter_t option;
    bson_append_utf8(&command, "aggregate", -1, collection, -1);
    bson_append_array(&command, "pipeline", -1, pipeline);
    bson_iter_init(&option, options);
    while (bson_iter_next(&option)) {
        const char *name = bson_iter_key(&option);
        if (strcmp(name, "readConcern") != 0)
            bson_append_iter(strcmp(name, "batchSize") == 0 ? &batch : &command, NULL, 0, &option);
    }
    bson_append_document(&command, "cursor", -1, &batch);
    command_cursor_begin(cursor, client, database, &command, options, prefs);
    bson_destroy(&batch);
    bson_destroy(&command);
}

/* ---- requests ---- */

static bool map_reduce_send(mongoc_client_t *client, const request_t *request, answer_t *answer,
                            bson_error_t *error) {
    bson_t reply, document;
    bson_iter_t results, at;
    const bool ok = ask_command(client, request, request->body, &reply, error);
    if (ok && bson_iter_init_find(&results, &reply, "results") && BSON_ITER_HOLDS_ARRAY(&results) &&
        bson_iter_recurse(&results, &at))
        while (bson_read_next(&at, &document))
            answer_take(answer, &document);
    bson_destroy(&reply);
    return ok;
}

static void find(const request_t *request, const bson_t *options, mongoc_client_t *client,
                 command_cursor_t *cursor) {
    command_cursor_find(cursor, client, request->database, request->collection, request->body, options,
                        request->prefs);
}

/* Takes all documents of the cursor, into `sums` if it is not NULL, and ends it. After a stop signal further batches, which
 * may never end, are left at the server: what has come is no answer then. */
static bool read_all(command_cursor_t *cursor, answer_t *answer, accumulate_t *sums, bson_error_t *error) {
    const bson_t *document, *reply;
    bson_error_t late;
    bool cut_off = false;
    while (!cut_off && command_cursor_next(cursor, &document)) {
        if (sums)
            accumulate_take(sums, document);
        else
            answer_take(answer, document);
        cut_off = stop_signal() && cursor->id;
    }
    if (cut_off)
        bson_set_error(error, MONGOC_ERROR_CURSOR, MONGOC_ERROR_CURSOR_INVALID_CURSOR, "interrupted");
    const bool ok = !command_cursor_failed(cursor, cut_off ? &late : error, &reply) && !cut_off;
    command_cursor_end(cursor);
    return ok;
}

static bool read_sums(const request_t *request, const bson_t *options, mongoc_client_t *client,
                      accumulate_t *sums, bson_error_t *error) {
    command_cursor_t cursor;
    find(request, options, client, &cursor);
    return read_all(&cursor, NULL, sums, error);
}

/* One chunk after the other, each a find of its own, until all have come or there are no more. */
static bool read_chunks(const request_t *request, mongoc_client_t *client, accumulate_t *sums,
                        bson_error_t *error) {
    bool ok = true;
    for (int64_t from = 0; ok && from < request->limit && sums->documents == (uint64_t)from;) {
        const int64_t left = request->limit - from, size = left < request->chunk ? left : request->chunk;
        bson_t options = BSON_INITIALIZER;
        bson_copy_to_excluding_noinit(request->options, &options, "limit", NULL);
        bson_append_int64(&options, "skip", -1, from);
        bson_append_int64(&options, "limit", -1, size);
        ok = read_sums(request, &options, client, sums, error);
        bson_destroy(&options);
        from += size;
    }
    return ok;
}

static bool send_accumulate(const request_t *request, mongoc_client_t *client, answer_t *answer,
                            bson_error_t *error) {
    accumulate_t sums;
    bson_t result;
    accumulate_begin(&sums, request->field, request->keeps);
    const bool ok = request->chunk ? read_chunks(request, client, &sums, error)
                                   : read_sums(request, request->options, client, &sums, error);
    accumulate_result(&sums, &result);
    answer_take(answer, &result);
    bson_destroy(&result);
    answer->count = sums.documents;
    return ok;
}

bool request_send(const request_t *request, mongoc_client_t *client, answer_t *answer, bson_error_t *error) {
    command_cursor_t cursor;
    if (request->kind == QUERY_MAP_REDUCE)
        return map_reduce_send(client, request, answer, error);
    if (request->kind == QUERY_ACCUMULATE)
        return send_accumulate(request, client, answer, error);
    if (request->kind == QUERY_PIPELINE)
        aggregate_begin(&cursor, client, request->database, request->collection, request->body,
                        request->options, request->prefs);
    else
        find(request, request->options, client, &cursor);
    return read_all(&cursor, answer, NULL, error);
}

/* ---- how a server goes about a find ---- */

static void add_options(const bson_t *options, bson_t *to) {
    static const char *const names[] = {"projection", "sort", "limit", "skip", "hint", "collation", "let"};
    bson_iter_t option;
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if (bson_iter_init_find(&option, options, names[i]))
            bson_append_iter(to, NULL, 0, &option);
}

/* A server alone is its only shard. */
static void read_stats(const bson_t *reply, explained_t *to) {
    bson_iter_t top, shards, shard;
    *to = (explained_t){.asked = true,
                        .returned = bson_read_number(reply, "executionStats.nReturned"),
                        .keys = bson_read_number(reply, "executionStats.totalKeysExamined"),
                        .documents = bson_read_number(reply, "executionStats.totalDocsExamined"),
                        .ms = bson_read_number(reply, "executionStats.executionTimeMillis")};
    if (bson_iter_init(&top, reply) &&
        bson_iter_find_descendant(&top, "executionStats.executionStages.shards", &shards) &&
        bson_iter_recurse(&shards, &shard))
        while (bson_iter_next(&shard))
            to->shards++;
    const double total = bson_read_number(reply, "executionStats.executionStages.totalChildMillis");
    to->shard_ms = to->shards > 0 ? total / to->shards : to->ms;
    to->shards = fmax(to->shards, 1);
}

bool explained_ask(const request_t *request, mongoc_client_t *client, explained_t *explained,
                   bson_error_t *error) {
    bson_t command = BSON_INITIALIZER, find, reply;
    bson_append_document_begin(&command, "explain", -1, &find);
    bson_append_utf8(&find, "find", -1, request->collection, -1);
    bson_append_document(&find, "filter", -1, request->body);
    add_options(request->options, &find);
    bson_append_document_end(&command, &find);
    bson_append_utf8(&command, "verbosity", -1, "executionStats", -1);
    const bool ok = ask_command(client, request, &command, &reply, error);
    if (ok)
        read_stats(&reply, explained);
    else
        *explained = (explained_t){true, NAN, NAN, NAN, NAN, NAN, NAN};
    bson_destroy(&command);
    bson_destroy(&reply);
    return ok;
}
