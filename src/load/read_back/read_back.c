#include "load/read_back/read_back.h"
#include "base/chars.h"
#include "base/document.h"
#include "base/numbers.h"
#include "base/text.h"
#include "server/server.h"

#include <bson/bson.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <xxhash.h>

/* With this batch size a range's documents come in one reply if they fit into one. */
enum { BATCH = 1000000, CURSOR_NOT_FOUND = 43, CURSOR_KILLED = 237, QUERY_PLAN_KILLED = 175 };

struct snapshot_read {
    server_t *server;
    mongoc_client_t *client, *taken;
    mongoc_read_prefs_t *primary;
    bson_t *options;    /* of all finds */
    const bson_t *more; /* further options of the current finds; NULL: the usual batch size */
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

/* A cursor that the server has forgotten is handled like a lost connection: the range is read again. */
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

/* ---- a hash of a document by which servers may have changed the types of its numbers ---- */

static uint64_t mix(uint64_t sum, const void *bytes, size_t length) {
    return XXH3_64bits_withSeed(bytes, length, sum);
}

static uint64_t mix_number(uint64_t sum, const bson_iter_t *at) {
    bson_decimal128_t decimal;
    char text[BSON_DECIMAL128_STRING];
    double value = bson_iter_as_double(at);
    if (bson_iter_decimal128(at, &decimal)) {
        bson_decimal128_to_string(&decimal, text);
        number_read(text, strlen(text), &value);
    }
    value = isnan(value) ? 12345.6789 : value + 0.0; /* -0.0 is 0.0 */
    return mix(sum, &value, sizeof value);
}

static uint64_t mix_all(uint64_t sum, bson_iter_t *at) {
    while (element_next(at)) {
        bson_iter_t inner;
        uint32_t length;
        sum = mix(sum, bson_iter_key(at), bson_iter_key_len(at));
        if (BSON_ITER_HOLDS_NUMBER(at) || BSON_ITER_HOLDS_DECIMAL128(at))
            sum = mix_number(sum, at);
        else if (BSON_ITER_HOLDS_UTF8(at) || BSON_ITER_HOLDS_SYMBOL(at)) {
            const char *text =
                BSON_ITER_HOLDS_UTF8(at) ? bson_iter_utf8(at, &length) : bson_iter_symbol(at, &length);
            sum = mix(sum, text, length);
        } else if ((BSON_ITER_HOLDS_DOCUMENT(at) || BSON_ITER_HOLDS_ARRAY(at)) &&
                   bson_iter_recurse(at, &inner)) {
            sum = mix_all(sum + 1, &inner);
        } else {
            sum = mix(sum + (uint64_t)bson_iter_type(at), at->raw + at->d1, at->next_off - at->d1);
        }
    }
    return sum;
}

uint64_t loose_hash(const uint8_t *document, uint32_t length) {
    bson_t whole;
    bson_iter_t at;
    return bson_init_static(&whole, document, length) && bson_iter_init(&at, &whole) ? mix_all(0, &at) : 0;
}
