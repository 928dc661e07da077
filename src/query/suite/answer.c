/* Answers: requests are sent, and what comes back is counted, kept, accumulated by the client, or compared with what a
 * suite expects. */
#include "base/clock.h"
#include "base/document.h"
#include "base/numbers.h"
#include "base/stop.h"
#include "base/text.h"
#include "query/suite/request.h"
#include "server/bson_read.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <xxhash.h>

/* ---- documents ---- */

enum { KEPT_BYTES = 4 << 20 };

void answer_begin(answer_t *answer, bool keep) {
    *answer = (answer_t){.keep = keep, .most_bytes = KEPT_BYTES};
    if (keep)
        answer->documents = bson_new();
}

void answer_take(answer_t *answer, const bson_t *document) {
    if (answer->keep && !answer->more) {
        char digits[16];
        const char *key;
        bson_uint32_to_string((uint32_t)answer->count, &key, digits, sizeof digits);
        answer->more = answer->documents->len + document->len > answer->most_bytes ||
                       !bson_append_document(answer->documents, key, -1, document);
    }
    answer->count++;
}

void answer_drop(answer_t *answer) {
    if (!answer->keep)
        return;
    bson_destroy(answer->documents);
    answer->documents = bson_new();
    answer->more = answer->count > 0;
}

void answer_end(answer_t *answer) {
    if (answer->keep)
        bson_destroy(answer->documents);
    answer->documents = NULL;
    answer->keep = false;
}

/* ---- what a client accumulates ---- */

void accumulate_begin(accumulate_t *sums, const char *field, bool keeps) {
    *sums = (accumulate_t){.field = field, .keeps = keeps};
}

/* In the server's order, where NaN is the least number. */
static bool is_below(double one, double other) {
    return isnan(one) ? !isnan(other) : one < other;
}

static void take_number(accumulate_t *sums, double number) {
    if (!sums->count || is_below(number, sums->least))
        sums->least = number;
    if (!sums->count || is_below(sums->greatest, number))
        sums->greatest = number;
    sums->sum += (long double)number;
    sums->count++;
}

void accumulate_take(accumulate_t *sums, const bson_t *document) {
    bson_iter_t at, inner;
    double number;
    sums->documents++;
    if (!bson_iter_init(&at, document) || !bson_iter_find_descendant(&at, sums->field, &inner) ||
        !numeric_double(&inner, &number))
        return;
    if (!sums->keeps)
        take_number(sums, number);
    else if (!GROW(sums->list, sums->room, sums->listed + 1, NULL))
        err_end_without_memory((sums->listed + 1) * sizeof *sums->list);
    else
        sums->list[sums->listed++] = number;
}

static void append_double(bson_t *to, const char *key, double number, bool there) {
    if (there)
        bson_append_double(to, key, -1, number);
    else
        bson_append_null(to, key, -1);
}

void accumulate_result(accumulate_t *sums, bson_t *result) {
    bson_t value;
    for (size_t i = 0; i < sums->listed; i++)
        take_number(sums, sums->list[i]);
    bson_init(result);
    bson_append_int32(result, "_id", -1, 0);
    bson_append_document_begin(result, "value", -1, &value);
    bson_append_int64(&value, "count", -1, (int64_t)sums->count);
    append_double(&value, "max", sums->greatest, sums->count > 0);
    append_double(&value, "min", sums->least, sums->count > 0);
    append_double(&value, "sum", (double)sums->sum, true);
    bson_append_document_end(result, &value);
    free(sums->list);
    *sums = (accumulate_t){.documents = sums->documents};
}

/* ---- sending ---- */

/* With the read concern of the request, or else of the client. */
static bool ask_command(mongoc_client_t *client, const request_t *request, const bson_t *command,
                        bson_t *reply, bson_error_t *error) {
    bson_t options = BSON_INITIALIZER;
    bson_iter_t concern;
    if (bson_iter_init_find(&concern, request->options, "readConcern"))
        bson_append_iter(&options, NULL, 0, &concern);
    const bool ok = mongoc_client_read_command_with_opts(client, request->database, command, request->prefs,
                                                         &options, reply, error);
    bson_destroy(&options);
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

/* Takes all documents of the cursor, into `sums` if it is not NULL, and ends it. After a stop signal or its time further
 * batches, which may never end, are left at the server: what has come is no answer then. */
static bool read_all(command_cursor_t *cursor, answer_t *answer, accumulate_t *sums, int64_t until_ns,
                     bson_error_t *error) {
    const bson_t *document, *reply;
    bson_error_t late;
    bool cut_off = false;
    while (!cut_off && command_cursor_next(cursor, &document)) {
        if (sums)
            accumulate_take(sums, document);
        else
            answer_take(answer, document);
        cut_off = cursor->id && (stop_signal() || clock_now_ns() > until_ns);
    }
    if (cut_off)
        bson_set_error(error, MONGOC_ERROR_CURSOR, MONGOC_ERROR_CURSOR_INVALID_CURSOR, "interrupted");
    const bool ok = !command_cursor_failed(cursor, cut_off ? &late : error, &reply) && !cut_off;
    command_cursor_end(cursor);
    return ok;
}

static bool send_map_reduce(const request_t *request, mongoc_client_t *client, answer_t *answer,
                            bson_error_t *error) {
    bson_t reply, document;
    bson_iter_t results;
    const bool ok = ask_command(client, request, request->body, &reply, error);
    if (ok && bson_read_list(&reply, "results", &results))
        while (bson_read_next(&results, &document))
            answer_take(answer, &document);
    bson_destroy(&reply);
    return ok;
}

static bool send_find(const request_t *request, mongoc_client_t *client, answer_t *answer, accumulate_t *sums,
                      int64_t until_ns, bson_error_t *error) {
    command_cursor_t cursor;
    command_cursor_find(&cursor, client, request->database, request->collection, request->body,
                        request->options, request->prefs);
    return read_all(&cursor, answer, sums, until_ns, error);
}

static bool send_accumulate(const request_t *request, mongoc_client_t *client, answer_t *answer,
                            int64_t until_ns, bson_error_t *error) {
    accumulate_t sums;
    bson_t result;
    accumulate_begin(&sums, request->field, request->keeps);
    const bool ok = send_find(request, client, NULL, &sums, until_ns, error);
    accumulate_result(&sums, &result);
    answer_take(answer, &result);
    bson_destroy(&result);
    answer->count = sums.documents;
    return ok;
}

bool request_send(const request_t *request, mongoc_client_t *client, answer_t *answer, int64_t until_ns,
                  bson_error_t *error) {
    command_cursor_t cursor;
    switch (request->kind) {
    case QUERY_MAP_REDUCE:
        return send_map_reduce(request, client, answer, error);
    case QUERY_ACCUMULATE:
        return send_accumulate(request, client, answer, until_ns, error);
    case QUERY_FIND:
        return send_find(request, client, answer, NULL, until_ns, error);
    default:
        aggregate_begin(&cursor, client, request->database, request->collection, request->body,
                        request->options, request->prefs);
        return read_all(&cursor, answer, NULL, until_ns, error);
    }
}

/* ---- what a server reads for a find ---- */

/* A server alone is its only shard. */
static void read_stats(const bson_t *reply, explained_t *to) {
    bson_iter_t shards;
    *to = (explained_t){.asked = true,
                        .returned = bson_read_number(reply, "executionStats.nReturned"),
                        .keys = bson_read_number(reply, "executionStats.totalKeysExamined"),
                        .documents = bson_read_number(reply, "executionStats.totalDocsExamined"),
                        .ms = bson_read_number(reply, "executionStats.executionTimeMillis")};
    if (bson_read_list(reply, "executionStats.executionStages.shards", &shards))
        while (bson_iter_next(&shards))
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
    bson_copy_to_excluding_noinit(request->options, &find, "readConcern", NULL);
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

/* ---- what is expected ---- */

/* Servers nest at most 200 deep; what is deeper is taken byte by byte. */
enum { DEEPEST = 250 };

static XXH128_hash_t digest_of(const bson_iter_t *at, int depth);

/* The digest of the contents of a list or a map. The order of a map's fields does not count: their digests are added. */
static XXH128_hash_t digest_all(bson_iter_t *at, bool list, int depth) {
    XXH128_canonical_t parts[3]; /* of everything before, the name, the value */
    XXH128_hash_t all = {0, 0};
    uint64_t count = 0;
    for (; bson_iter_next(at); count++) {
        const char *name = list ? "" : bson_iter_key(at);
        XXH128_canonicalFromHash(&parts[0], list ? all : (XXH128_hash_t){0, 0});
        XXH128_canonicalFromHash(&parts[1], XXH3_128bits(name, strlen(name)));
        XXH128_canonicalFromHash(&parts[2], digest_of(at, depth));
        XXH128_hash_t one = XXH3_128bits(parts, sizeof parts);
        all = list ? one : (XXH128_hash_t){all.low64 + one.low64, all.high64 + one.high64};
    }
    XXH128_canonicalFromHash(&parts[0], all);
    return XXH3_128bits_withSeed(&parts[0], sizeof parts[0], count);
}

static XXH128_hash_t digest_of(const bson_iter_t *at, int depth) {
    const bool list = BSON_ITER_HOLDS_ARRAY(at);
    int64_t whole;
    double number;
    bson_iter_t inner;
    char text[64];
    if (numeric_whole(at, &whole))
        return XXH3_128bits(text, (size_t)snprintf(text, sizeof text, "%" PRId64, whole));
    if (numeric_double(at, &number))
        return XXH3_128bits(text, (size_t)snprintf(text, sizeof text, "%.10g", isnan(number) ? NAN : number));
    if (depth < DEEPEST && (list || BSON_ITER_HOLDS_DOCUMENT(at)) && bson_iter_recurse(at, &inner))
        return digest_all(&inner, list, depth + 1);
    bson_t holder = BSON_INITIALIZER;
    element_append(&holder, "", at);
    XXH128_hash_t hash = XXH3_128bits(bson_get_data(&holder), holder.len);
    bson_destroy(&holder);
    return hash;
}

void expected_digest(const bson_t *documents, char digest[EXPECTED_DIGEST]) {
    bson_iter_t at;
    XXH128_hash_t hash = {0, 0};
    if (bson_iter_init(&at, documents))
        hash = digest_all(&at, true, 0);
    snprintf(digest, EXPECTED_DIGEST, "%016" PRIx64 "%016" PRIx64, hash.high64, hash.low64);
}

void expected_check(const bson_t *filled, const answer_t *answer, char *difference, size_t room) {
    bson_iter_t at;
    int64_t count;
    char digest[EXPECTED_DIGEST];
    difference[0] = 0;
    if (bson_iter_init_find(&at, filled, "documents") && numeric_whole(&at, &count) &&
        (uint64_t)count != answer->count) {
        snprintf(difference, room, "%" PRIu64 " document%s where %" PRId64 " were expected", answer->count,
                 units_s(answer->count), count);
    } else if (bson_iter_init_find(&at, filled, "digest") && answer->more) {
        snprintf(difference, room,
                 "the answer is too large to be compared: only its number of documents, %" PRIu64
                 ", can be expected",
                 answer->count);
    } else if (bson_iter_init_find(&at, filled, "digest")) {
        expected_digest(answer->documents, digest);
        if (strcmp(digest, bson_iter_utf8(&at, NULL)) != 0)
            snprintf(difference, room, "the digest of the answer is %s, not %s", digest,
                     bson_iter_utf8(&at, NULL));
    }
}
