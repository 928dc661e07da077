/* The target against a real server: TIPPLE_TEST_URI names it. Everything lives in a database of this process,
 * which is dropped at the end. What needs failures made to order is left out where the server has no test
 * commands.
 * needs: replset; nightly on: standalone; locks: failpoints */
#include "base/clock.h"
#include "base/stop.h"
#include "format/record/record_id.h"
#include "input/manifest.h"
#include "load/deliver/deliver.h"
#include "server/collection.h"
#include "server/send/writer.h"

#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#define MS 1000000ll
/* A patience for where nobody should wait for a server; and what is less by far, on a busy host, too. */
#define LONG    (3600000 * MS)
#define AT_ONCE (300000 * MS)

static char database[64], app[64];
static bool has_test_commands;

/* ---- a lab: one connection to one collection ---- */

typedef struct {
    server_t *server;
    mongoc_client_t *client;
    err_t err;
} lab_t;

static const char *uri_of(char uri[600], const char *collection) {
    const char *given = getenv("TIPPLE_TEST_URI"), *query = strchr(given, '?');
    size_t length = query ? (size_t)(query - given) : strlen(given);
    const char *hosts = strstr(given, "://"), *slash = hosts ? strchr(hosts + 3, '/') : NULL;
    if (slash && slash < given + length)
        length = (size_t)(slash - given);
    snprintf(uri, 600, "%.*s/%s.%s?appName=%s&heartbeatFrequencyMS=500%s%s", (int)length, given, database,
             collection, app, query && query[1] ? "&" : "", query && query[1] ? query + 1 : "");
    return uri;
}

static lab_t open_lab_with(const char *collection, int64_t patience_ns) {
    char uri[600];
    lab_t lab = {0};
    lab.server = server_connect(
        &(server_options_t){.uri = uri_of(uri, collection), .patience_ns = patience_ns, .connections = 8},
        &lab.err);
    if (!lab.server || !(lab.client = server_take(lab.server, &lab.err)))
        fail_msg("%s", lab.err.text);
    return lab;
}

static lab_t open_lab(const char *collection) {
    return open_lab_with(collection, 20000 * MS);
}

static void close_lab(lab_t *lab) {
    server_give(lab->server, lab->client);
    server_destroy(lab->server);
}

#define OK(lab, call)                                                                                        \
    do {                                                                                                     \
        if (!(call))                                                                                         \
            fail_msg("%s: status %d: %s", #call, (int)(lab).err.status, (lab).err.text);                     \
    } while (0)

#define REFUSED(lab, wanted, words, call)                                                                    \
    do {                                                                                                     \
        if (call)                                                                                            \
            fail_msg("%s was not refused", #call);                                                           \
        if ((lab).err.status != (wanted) || !strstr((lab).err.text, words))                                  \
            fail_msg("%s: '%s' was expected, not status %d: %s", #call, words, (int)(lab).err.status,        \
                     (lab).err.text);                                                                        \
    } while (0)

static bool raw(lab_t *lab, const char *name, const char *json) {
    bson_error_t error;
    bson_t *command = bson_new_from_json((const uint8_t *)json, -1, &error);
    assert_non_null(command);
    bool ok = mongoc_client_command_simple(lab->client, name, command, NULL, NULL, &error);
    bson_destroy(command);
    return ok;
}

/* ---- batches ---- */

typedef struct {
    uint8_t *bytes;
    uint32_t starts[20001];
    size_t count, room;
} batch_t;

static void add(batch_t *batch, const bson_t *document) {
    uint32_t at = batch->starts[batch->count];
    if (at + document->len > batch->room) {
        batch->room = (at + document->len) * 2;
        batch->bytes = realloc(batch->bytes, batch->room);
        assert_non_null(batch->bytes);
    }
    memcpy(batch->bytes + at, bson_get_data(document), document->len);
    batch->starts[++batch->count] = at + document->len;
}

static void add_number(batch_t *batch, int64_t id, int32_t value) {
    bson_t document = BSON_INITIALIZER;
    BSON_APPEND_INT64(&document, "_id", id);
    BSON_APPEND_INT32(&document, "v", value);
    add(batch, &document);
    bson_destroy(&document);
}

static void add_large(batch_t *batch, int64_t id, size_t bytes) {
    bson_t document = BSON_INITIALIZER;
    char *text = malloc(bytes);
    assert_non_null(text);
    memset(text, 'x', bytes);
    BSON_APPEND_INT64(&document, "_id", id);
    bson_append_utf8(&document, "t", 1, text, (int)bytes);
    add(batch, &document);
    free(text);
    bson_destroy(&document);
}

static batch_t *numbers(int64_t from, size_t count) {
    batch_t *batch = calloc(1, sizeof *batch);
    assert_non_null(batch);
    for (size_t i = 0; i < count; i++)
        add_number(batch, from + (int64_t)i, (int32_t)i);
    return batch;
}

static void free_batch(batch_t *batch) {
    free(batch->bytes);
    free(batch);
}

/* A writer and what decides about its replies. */
typedef struct {
    writer_t *writer;
    deliver_t *deliver;
} sender_t;

static sender_t *open_sender(lab_t *lab) {
    sender_t *sender = calloc(1, sizeof *sender);
    assert_non_null(sender);
    sender->writer = writer_new(lab->server, NULL, &lab->err);
    OK(*lab, sender->writer);
    sender->deliver = deliver_new(writer_wire(sender->writer), NULL, NULL, &lab->err);
    OK(*lab, sender->deliver);
    return sender;
}

static void close_sender(sender_t *sender) {
    deliver_free(sender->deliver);
    writer_destroy(sender->writer);
    free(sender);
}

static bool put(lab_t *lab, sender_t *sender, const batch_t *batch, delivered_t *delivered) {
    const documents_t documents = {
        .bytes = batch->bytes, .starts = batch->starts, .count = (uint32_t)batch->count};
    bool stale, ok = writer_begin_batch(sender->writer, (straight_t){.server = NULL}, &lab->err) &&
                     deliver(sender->deliver, &documents, delivered, &lab->err);
    writer_end_batch(sender->writer, &stale);
    assert_false(stale);
    return ok;
}

static uint64_t count_of(lab_t *lab) {
    collection_t place;
    OK(*lab, collection_look(lab->server, lab->client, &place, &lab->err));
    return place.count;
}

/* ---- failures to order ---- */

/* The lab's own connection may have little patience, and the host much to do. */
static void fail_inserts(lab_t *lab, const char *mode, const char *how) {
    enum { TRIES = 100 };
    char json[600];
    bool ok = false;
    snprintf(json, sizeof json,
             "{\"configureFailPoint\": \"failCommand\", \"mode\": %s, \"data\": {\"failCommands\": "
             "[\"insert\"], \"appName\": "
             "\"%s\"%s%s}}",
             mode, app, *how ? ", " : "", how);
    for (int i = 0; i < TRIES && !ok; i++)
        ok = raw(lab, "admin", json) || usleep(100000) < 0;
    assert_true(ok);
}

/* ---- server ---- */

static void test_facts(void **state) {
    (void)state;
    lab_t lab = open_lab("facts");
    const server_facts_t *facts = server_facts(lab.server);
    const char *kind = getenv("TIPPLE_TEST_KIND");
    if (kind && strcmp(kind, "standalone") == 0)
        assert_int_equal(facts->kind, SERVER_STANDALONE);
    if (kind && strcmp(kind, "replset") == 0)
        assert_int_equal(facts->kind, SERVER_REPLICA_SET);
    assert_true(facts->major >= 4);
    assert_int_equal(facts->max_document_bytes, 16 << 20);
    assert_true(facts->max_message_bytes >= 48000000 && facts->max_batch >= 1000);
    assert_string_equal(server_database(lab.server), database);
    assert_string_equal(server_collection(lab.server), "facts");
    bool standalone = facts->kind == SERVER_STANDALONE;
    assert_true(mongoc_write_concern_get_wmajority(server_data_concern(lab.server)) == !standalone);
    assert_true(mongoc_write_concern_get_wmajority(server_catalog_concern(lab.server)) == !standalone);
    assert_true(mongoc_write_concern_get_journal(server_catalog_concern(lab.server)));
    char one[25], two[25];
    OK(lab, server_process(lab.server, lab.client, one, &lab.err));
    OK(lab, server_process(lab.server, lab.client, two, &lab.err));
    assert_int_equal(strlen(one), 24);
    assert_string_equal(one, two);
    close_lab(&lab);
}

static void test_nobody_listens(void **state) {
    (void)state;
    lab_t lab = {0};
    int64_t start = clock_now_ns();
    REFUSED(lab, STATUS_SERVER, "127.0.0.1:9",
            server_connect(
                &(server_options_t){.uri = "mongodb://joe:hunter2@127.0.0.1:9/a.b", .patience_ns = 1000 * MS},
                &lab.err));
    int64_t took = clock_now_ns() - start;
    assert_uint_in_range(took, 900 * MS, 15000 * MS);
    assert_null(strstr(lab.err.text, "hunter2"));
}

static void test_wrong_password(void **state) {
    (void)state;
    char uri[600], with[700];
    lab_t lab = {0};
    uri_of(uri, "docs");
    if (strchr(uri, '@'))
        return;
    snprintf(with, sizeof with, "mongodb://nobody:hunter2@%s", uri + strlen("mongodb://"));
    int64_t start = clock_now_ns();
    REFUSED(lab, STATUS_USAGE, "log in",
            server_connect(&(server_options_t){.uri = with, .patience_ns = LONG}, &lab.err));
    assert_true(clock_now_ns() - start < AT_ONCE);
    assert_null(strstr(lab.err.text, "hunter2"));
}

static void test_tls_not_spoken(void **state) {
    (void)state;
    char uri[700];
    lab_t lab = {0};
    uri_of(uri, "docs");
    if (strstr(uri, "tls=") || strstr(uri, "ssl="))
        return;
    strcat(uri, "&tls=true");
    int64_t start = clock_now_ns();
    REFUSED(lab, STATUS_USAGE, "does not speak TLS",
            server_connect(&(server_options_t){.uri = uri, .patience_ns = LONG}, &lab.err));
    assert_true(clock_now_ns() - start < AT_ONCE);
}

static void test_wrong_set(void **state) {
    (void)state;
    char uri[600], other[700];
    lab_t lab = {0};
    uri_of(uri, "docs");
    char *set = strstr(uri, "&replicaSet=");
    if (set)
        *set = '\0';
    snprintf(other, sizeof other, "%s&replicaSet=nosuchset", uri);
    int64_t start = clock_now_ns();
    REFUSED(lab, STATUS_USAGE, "nosuchset",
            server_connect(&(server_options_t){.uri = other, .patience_ns = LONG}, &lab.err));
    assert_true(clock_now_ns() - start < AT_ONCE);
}

static void test_command_refused(void **state) {
    (void)state;
    lab_t lab = open_lab("docs");
    bson_t *command = BCON_NEW("nosuchcommand", BCON_INT32(1)), reply;
    REFUSED(lab, STATUS_SERVER, "nosuchcommand",
            server_command(lab.server, lab.client, database, command, false, &reply, &lab.err));
    assert_int_equal(server_code(&reply), 59);
    bson_destroy(&reply);
    bson_destroy(command);
    close_lab(&lab);
}

/* ---- place ---- */

static void test_make_and_drop(void **state) {
    (void)state;
    lab_t lab = open_lab("made");
    const server_facts_t *facts = server_facts(lab.server);
    collection_t place, again;
    OK(lab, collection_look(lab.server, lab.client, &place, &lab.err));
    assert_false(place.exists);
    OK(lab, collection_make(lab.server, lab.client, &(collection_options_t){.compressor = "zlib"}, &place,
                            &lab.err));
    bool can = facts->major > 5 || (facts->major == 5 && facts->minor >= 3);
    assert_true(place.exists && place.empty && place.clustered == can);
    assert_string_equal(place.compressor, "zlib");
    OK(lab, collection_make(lab.server, lab.client, &(collection_options_t){0}, &again, &lab.err));
    assert_memory_equal(place.uuid, again.uuid, sizeof place.uuid);
    if (can)
        REFUSED(lab, STATUS_USAGE, "--no-clustered",
                collection_make(lab.server, lab.client, &(collection_options_t){.clustered = CLUSTERED_NO},
                                &again, &lab.err));
    REFUSED(lab, STATUS_USAGE, "zlib",
            collection_make(lab.server, lab.client, &(collection_options_t){.compressor = "zstd"}, &again,
                            &lab.err));
    REFUSED(lab, STATUS_USAGE, "no block compressor",
            collection_make(lab.server, lab.client, &(collection_options_t){.compressor = "lzma"}, &again,
                            &lab.err));
    OK(lab, collection_drop(lab.server, lab.client, &lab.err));
    OK(lab, collection_drop(lab.server, lab.client, &lab.err));
    OK(lab, collection_make(lab.server, lab.client, &(collection_options_t){.clustered = CLUSTERED_NO},
                            &again, &lab.err));
    assert_false(again.clustered);
    assert_memory_not_equal(place.uuid, again.uuid, sizeof place.uuid);
    /* made without a compressor's name: the storage engine is asked */
    REFUSED(lab, STATUS_USAGE, "snappy",
            collection_make(lab.server, lab.client, &(collection_options_t){.compressor = "none"}, &again,
                            &lab.err));
    close_lab(&lab);
}

static void test_other_kinds_are_refused(void **state) {
    (void)state;
    lab_t lab = open_lab("seen");
    collection_t place;
    assert_true(raw(&lab, database, "{\"create\": \"seen\", \"viewOn\": \"docs\", \"pipeline\": []}"));
    REFUSED(lab, STATUS_USAGE, "is a view", collection_look(lab.server, lab.client, &place, &lab.err));
    assert_true(raw(&lab, database, "{\"drop\": \"seen\"}"));
    assert_true(raw(&lab, database, "{\"create\": \"seen\", \"capped\": true, \"size\": 4096}"));
    REFUSED(lab, STATUS_USAGE, "capped", collection_look(lab.server, lab.client, &place, &lab.err));
    close_lab(&lab);
}

static void test_index(void **state) {
    (void)state;
    lab_t lab = open_lab("indexed");
    sender_t *writer = open_sender(&lab);
    batch_t *batch = numbers(0, 1000);
    delivered_t delivered;
    index_spec_t spec;
    collection_built_t built;
    OK(lab, put(&lab, writer, batch, &delivered));
    OK(lab, collection_parse_index("v:1,_id:-1", &spec, &lab.err));
    OK(lab, collection_build_index(lab.server, lab.client, &spec, &built, &lab.err));
    assert_true(built.took_ns > 0);
    OK(lab,
       collection_build_index(lab.server, lab.client, &spec, &built, &lab.err)); /* it is there already */
    collection_free_index(&spec);
    OK(lab, collection_parse_index("v:2dsphere", &spec, &lab.err));
    REFUSED(lab, STATUS_SERVER, "v_2dsphere",
            collection_build_index(lab.server, lab.client, &spec, &built, &lab.err));
    collection_free_index(&spec);
    free_batch(batch);
    close_sender(writer);
    close_lab(&lab);
}

/* ---- writer ---- */

static void test_insert(void **state) {
    (void)state;
    lab_t lab = open_lab("inserted");
    sender_t *writer = open_sender(&lab);
    batch_t *batch = numbers(0, 1000), *overlapping = numbers(500, 1000);
    delivered_t delivered;
    OK(lab, put(&lab, writer, batch, &delivered));
    assert_int_equal(delivered.count, 0);
    OK(lab, put(&lab, writer, overlapping, &delivered));
    assert_int_equal(delivered.count, 500);
    for (uint32_t i = 0; i < 500; i++) {
        assert_int_equal(delivered.exceptions[i].index, i);
        assert_false(delivered.exceptions[i].there);
        assert_non_null(strstr(delivered.exceptions[i].reason, "another document"));
    }
    assert_int_equal(delivered.retries, 0);
    assert_int_equal(count_of(&lab), 1500);
    batch->count = 0;
    OK(lab, put(&lab, writer, batch, &delivered));
    assert_int_equal(delivered.count, 0);
    free_batch(batch);
    free_batch(overlapping);
    close_sender(writer);
    close_lab(&lab);
}

static void test_duplicate_of_another_index(void **state) {
    (void)state;
    lab_t lab = open_lab("unique");
    char json[300];
    snprintf(json, sizeof json,
             "{\"createIndexes\": \"unique\", \"indexes\": [{\"key\": {\"v\": 1}, \"name\": \"v\", "
             "\"unique\": true}]}");
    assert_true(raw(&lab, database, json));
    sender_t *writer = open_sender(&lab);
    batch_t *batch = calloc(1, sizeof *batch);
    delivered_t delivered;
    add_number(batch, 1, 7);
    add_number(batch, 2, 7);
    OK(lab, put(&lab, writer, batch, &delivered));
    assert_int_equal(delivered.count, 1);
    assert_int_equal(delivered.exceptions[0].index, 1);
    assert_false(delivered.exceptions[0].there);
    assert_non_null(strstr(delivered.exceptions[0].reason, "dup key"));
    free_batch(batch);
    close_sender(writer);
    close_lab(&lab);
}

static void test_refused_documents(void **state) {
    (void)state;
    lab_t lab = open_lab("validated");
    assert_true(raw(&lab, database, "{\"create\": \"validated\", \"validator\": {\"v\": {\"$ne\": 5}}}"));
    sender_t *writer = open_sender(&lab);
    batch_t *batch = numbers(0, 10);
    delivered_t delivered;
    OK(lab, put(&lab, writer, batch, &delivered));
    assert_int_equal(delivered.count, 1);
    assert_int_equal(delivered.exceptions[0].index, 5);
    assert_false(delivered.exceptions[0].there);
    assert_non_null(strstr(delivered.exceptions[0].reason, "validation"));
    assert_int_equal(count_of(&lab), 9);
    /* every document of a batch, and still each for its own reason */
    batch->count = 0;
    add_number(batch, 100, 5);
    OK(lab, put(&lab, writer, batch, &delivered));
    assert_int_equal(delivered.count, 1);
    free_batch(batch);
    close_sender(writer);
    close_lab(&lab);
}

/* A document over the server's limit is refused by itself; a batch over the message limit goes out in
 * several. */
static void test_large(void **state) {
    (void)state;
    lab_t lab = open_lab("large");
    sender_t *writer = open_sender(&lab);
    batch_t *batch = calloc(1, sizeof *batch);
    delivered_t delivered;
    for (int i = 0; i < 7; i++)
        add_large(batch, i, i == 3 ? (16u << 20) + 100 : i == 5 ? (16u << 20) - 30 : 8 << 20);
    OK(lab, put(&lab, writer, batch, &delivered));
    assert_int_equal(delivered.count, 1);
    assert_int_equal(delivered.exceptions[0].index, 3);
    assert_non_null(strstr(delivered.exceptions[0].reason, "server takes up to"));
    assert_int_equal(count_of(&lab), 6);
    OK(lab, put(&lab, writer, batch, &delivered));
    assert_int_equal(delivered.count, 7);
    for (uint32_t i = 0; i < 7; i++) {
        assert_int_equal(delivered.exceptions[i].index, i);
        assert_true(delivered.exceptions[i].there == (i != 3));
    }
    free_batch(batch);
    close_sender(writer);
    close_lab(&lab);
}

/* One of each: equal, another, none; and a number of another type, which is the same `_id` to a server. */
static void test_read_back(void **state) {
    (void)state;
    lab_t lab = open_lab("compared");
    sender_t *writer = open_sender(&lab);
    batch_t *batch = calloc(1, sizeof *batch);
    delivered_t delivered;
    bool there;
    add_number(batch, 1, 7);
    add_number(batch, 3, 7);
    OK(lab, put(&lab, writer, batch, &delivered));
    batch->count = 0;
    bson_t as_double = BSON_INITIALIZER, text = BSON_INITIALIZER;
    BSON_APPEND_DOUBLE(&as_double, "_id", 3);
    BSON_APPEND_UTF8(&text, "_id", "three");
    add_number(batch, 1, 7);
    add_number(batch, 1, 8);
    add_number(batch, 2, 7);
    add(batch, &as_double);
    add(batch, &text);
    add(batch, &text);
    OK(lab, put(&lab, writer, batch, &delivered));
    static const struct {
        uint32_t index;
        bool there;
    } wanted[] = {{0, true}, {1, false}, {3, false}, {5, true}};
    assert_int_equal(delivered.count, 4);
    for (size_t i = 0; i < 4; i++) {
        assert_int_equal(delivered.exceptions[i].index, wanted[i].index);
        assert_true(delivered.exceptions[i].there == wanted[i].there);
    }
    assert_int_equal(count_of(&lab), 4);
    const documents_t documents = {
        .bytes = batch->bytes, .starts = batch->starts, .count = (uint32_t)batch->count};
    OK(lab, deliver_look(writer->deliver, &documents, 0, &there, &lab.err));
    assert_true(there);
    bson_destroy(&as_double);
    bson_destroy(&text);
    free_batch(batch);
    close_sender(writer);
    close_lab(&lab);
}

/* Inserts that say which collection they mean do not make another one of its name. */
static void test_another_collection(void **state) {
    (void)state;
    lab_t lab = open_lab_with("meant", LONG);
    collection_t place;
    if (server_facts(lab.server)->major < 6)
        skip();
    OK(lab, collection_make(lab.server, lab.client, &(collection_options_t){0}, &place, &lab.err));
    sender_t *writer = open_sender(&lab);
    batch_t *batch = numbers(0, 10), *more = numbers(10, 10);
    delivered_t delivered;
    writer_set_uuid(writer->writer, place.uuid);
    OK(lab, put(&lab, writer, batch, &delivered));
    assert_int_equal(delivered.count, 0);
    OK(lab, collection_drop(lab.server, lab.client, &lab.err));
    REFUSED(lab, STATUS_SERVER, "was dropped", put(&lab, writer, more, &delivered));
    OK(lab, collection_make(lab.server, lab.client, &(collection_options_t){0}, &place, &lab.err));
    REFUSED(lab, STATUS_SERVER, "was dropped", put(&lab, writer, more, &delivered));
    assert_int_equal(count_of(&lab), 0);
    free_batch(batch);
    free_batch(more);
    close_sender(writer);
    close_lab(&lab);
}

static void test_passing_failures(void **state) {
    (void)state;
    if (!has_test_commands)
        skip();
    static const struct {
        const char *how;
        uint32_t times;
    } cases[] = {
        {"\"closeConnection\": true", 2},
        {"\"errorCode\": 10107", 1},
        {"\"errorCode\": 11602", 1},
        {"\"errorCode\": 112", 1},
        {"\"writeConcernError\": {\"code\": 91, \"errmsg\": \"stepping down\"}", 1},
        {"\"writeConcernError\": {\"code\": 64, \"errmsg\": \"waiting for replication timed out\"}", 1},
        {"\"writeConcernError\": {\"code\": 12345, \"errmsg\": \"of a kind nobody knows\"}", 1},
    };
    lab_t lab = open_lab("passing");
    sender_t *writer = open_sender(&lab);
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        batch_t *batch = numbers((int64_t)i * 10, 10);
        delivered_t delivered;
        fail_inserts(&lab, cases[i].times == 2 ? "{\"times\": 2}" : "{\"times\": 1}", cases[i].how);
        if (!put(&lab, writer, batch, &delivered))
            fail_msg("%s: %s", cases[i].how, lab.err.text);
        /* whatever a try had written: it is ours, and counts as loaded */
        if (delivered.retries != cases[i].times || delivered.count)
            fail_msg("%s: %u retries, %zu exceptions", cases[i].how, delivered.retries, delivered.count);
        assert_int_equal(count_of(&lab), (i + 1) * 10);
        free_batch(batch);
    }
    /* both at once: documents refused, and a write concern that failed; 0 to 4 are there, with other values
     */
    batch_t *batch = numbers(-5, 10);
    delivered_t delivered;
    fail_inserts(&lab, "{\"times\": 1}",
                 "\"writeConcernError\": {\"code\": 91, \"errmsg\": \"stepping down\"}");
    OK(lab, put(&lab, writer, batch, &delivered));
    assert_int_equal(delivered.retries, 1);
    assert_int_equal(delivered.count, 5);
    for (uint32_t i = 0; i < 5; i++)
        assert_true(delivered.exceptions[i].index == i + 5 && !delivered.exceptions[i].there);
    free_batch(batch);
    close_sender(writer);
    close_lab(&lab);
}

static void test_final_failures(void **state) {
    (void)state;
    if (!has_test_commands)
        skip();
    static const struct {
        const char *how, *says;
        status_t status;
    } cases[] = {
        {"\"errorCode\": 13", "asks for a user", STATUS_USAGE},
        {"\"errorCode\": 18", "log in", STATUS_USAGE},
        {"\"errorCode\": 14031", "make room", STATUS_SERVER},
        {"\"errorCode\": 20", "read-only", STATUS_SERVER},
        {"\"errorCode\": 371", "setUserWriteBlockMode", STATUS_SERVER},
        {"\"writeConcernError\": {\"code\": 100, \"errmsg\": \"Not enough data-bearing nodes\"}",
         "w= in the URI", STATUS_USAGE},
    };
    lab_t lab = open_lab_with("final", LONG);
    sender_t *writer = open_sender(&lab);
    batch_t *batch = numbers(0, 10);
    delivered_t delivered;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        int64_t start = clock_now_ns();
        fail_inserts(&lab, "\"alwaysOn\"", cases[i].how);
        REFUSED(lab, cases[i].status, cases[i].says, put(&lab, writer, batch, &delivered));
        assert_true(clock_now_ns() - start < AT_ONCE);
        fail_inserts(&lab, "\"off\"", "");
    }
    OK(lab, put(&lab, writer, batch, &delivered));
    free_batch(batch);
    close_sender(writer);
    close_lab(&lab);
}

static void test_patience_ends(void **state) {
    (void)state;
    if (!has_test_commands)
        skip();
    lab_t lab = open_lab_with("patience", 700 * MS);
    sender_t *writer = open_sender(&lab);
    batch_t *batch = numbers(0, 10);
    delivered_t delivered;
    fail_inserts(&lab, "\"alwaysOn\"", "\"closeConnection\": true");
    int64_t start = clock_now_ns();
    REFUSED(lab, STATUS_SERVER, "--patience", put(&lab, writer, batch, &delivered));
    assert_uint_in_range(clock_now_ns() - start, 600 * MS, 15000 * MS);
    fail_inserts(&lab, "\"off\"", "");
    assert_int_equal(count_of(&lab), 0);
    OK(lab, put(&lab, writer, batch, &delivered));
    free_batch(batch);
    close_sender(writer);
    close_lab(&lab);
}

/* The second life of this program: inserts into a server that never answers, until a signal comes. */
static int insert_until_stopped(void) {
    lab_t lab = open_lab_with("stopped", LONG);
    sender_t *writer = open_sender(&lab);
    batch_t *batch = numbers(0, 10);
    delivered_t delivered;
    stop_install();
    puts("ready");
    fflush(stdout);
    int status = put(&lab, writer, batch, &delivered) ? 1 : (int)lab.err.status;
    free_batch(batch);
    close_sender(writer);
    close_lab(&lab);
    return status;
}

static void test_stop(void **state) {
    (void)state;
    if (!has_test_commands)
        skip();
    lab_t lab = open_lab("stopped");
    fail_inserts(&lab, "\"alwaysOn\"", "\"closeConnection\": true");
    int ends[2], status;
    char name[80];
    assert_int_equal(pipe(ends), 0);
    snprintf(name, sizeof name, "%s", database);
    pid_t child = fork();
    if (child == 0) {
        dup2(ends[1], STDOUT_FILENO);
        execl("/proc/self/exe", "target_test", "stop", name, app, (char *)NULL);
        _exit(99);
    }
    close(ends[1]);
    assert_int_equal(read(ends[0], name, sizeof name), strlen("ready\n"));
    close(ends[0]);
    usleep(200000);
    int64_t start = clock_now_ns();
    assert_int_equal(kill(child, SIGTERM), 0);
    assert_int_equal(waitpid(child, &status, 0), child);
    fail_inserts(&lab, "\"off\"", "");
    assert_true(WIFEXITED(status));
    assert_int_equal(WEXITSTATUS(status), STATUS_TERMINATED);
    assert_true(clock_now_ns() - start < AT_ONCE);
    close_lab(&lab);
}

static void no_talk(mongoc_log_level_t level, const char *domain, const char *message, void *data) {
    (void)level, (void)domain, (void)message, (void)data;
}

static int drop_all(void **state) {
    (void)state;
    lab_t lab = open_lab("docs");
    raw(&lab, database, "{\"dropDatabase\": 1}");
    close_lab(&lab);
    return 0;
}

static int look_around(void **state) {
    (void)state;
    lab_t lab = open_lab("docs");
    has_test_commands = raw(&lab, "admin", "{\"configureFailPoint\": \"failCommand\", \"mode\": \"off\"}");
    if (!has_test_commands)
        print_message("the server has no test commands (enableTestCommands=1): some tests are left out\n");
    close_lab(&lab);
    return 0;
}

int main(int count, char **arguments) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_facts),
        cmocka_unit_test(test_nobody_listens),
        cmocka_unit_test(test_wrong_password),
        cmocka_unit_test(test_tls_not_spoken),
        cmocka_unit_test(test_wrong_set),
        cmocka_unit_test(test_command_refused),
        cmocka_unit_test(test_make_and_drop),
        cmocka_unit_test(test_other_kinds_are_refused),
        cmocka_unit_test(test_index),
        cmocka_unit_test(test_insert),
        cmocka_unit_test(test_duplicate_of_another_index),
        cmocka_unit_test(test_refused_documents),
        cmocka_unit_test(test_large),
        cmocka_unit_test(test_read_back),
        cmocka_unit_test(test_another_collection),
        cmocka_unit_test(test_passing_failures),
        cmocka_unit_test(test_final_failures),
        cmocka_unit_test(test_patience_ends),
        cmocka_unit_test(test_stop),
    };
    if (!getenv("TIPPLE_TEST_URI")) {
        puts("TIPPLE_TEST_URI is not set: skipped");
        return 77;
    }
    mongoc_init();
    mongoc_log_set_handler(no_talk, NULL);
    snprintf(database, sizeof database, "tipple_target_%d", (int)getpid());
    snprintf(app, sizeof app, "%s", database);
    if (count == 4 && strcmp(arguments[1], "stop") == 0) {
        snprintf(database, sizeof database, "%s", arguments[2]);
        snprintf(app, sizeof app, "%s", arguments[3]);
        return insert_until_stopped();
    }
    const int failed = cmocka_run_group_tests_name("target", tests, look_around, drop_all);
    server_end_process(failed);
    return failed;
}
