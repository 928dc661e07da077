#include "query/explained.h"
#include "query/suite/ask.h"
#include "server/bson_read.h"

#include <math.h>

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
