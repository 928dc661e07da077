/* The target against a real server: TIPPLE_TEST_URI names it. Everything lives in a database of this process,
 * which is dropped at the end. What needs failures made to order is left out where the server has no test
 * commands. */
#include "base/clock.h"
#include "base/stop.h"
#include "input/manifest.h"
#include "load/deliver.h"
#include "target/catalog.h"
#include "target/place.h"
#include "target/presence.h"
#include "target/position.h"
#include "target/writer.h"

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
    const documents_t documents = {batch->bytes, batch->starts, (uint32_t)batch->count};
    bool stale, ok = writer_begin_batch(sender->writer, (straight_t){.server = NULL}, &lab->err) &&
                     deliver(sender->deliver, &documents, delivered, &lab->err);
    writer_end_batch(sender->writer, &stale);
    assert_false(stale);
    return ok;
}

static uint64_t count_of(lab_t *lab) {
    place_t place;
    OK(*lab, place_look(lab->server, lab->client, &place, &lab->err));
    return place.count;
}

/* ---- failures to order ---- */

static void fail_inserts(lab_t *lab, const char *mode, const char *how) {
    char json[600];
    snprintf(json, sizeof json,
             "{\"configureFailPoint\": \"failCommand\", \"mode\": %s, \"data\": {\"failCommands\": "
             "[\"insert\"], \"appName\": "
             "\"%s\"%s%s}}",
             mode, app, *how ? ", " : "", how);
    assert_true(raw(lab, "admin", json));
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
    assert_true(mongoc_write_concern_get_wmajority(server_books_concern(lab.server)) == !standalone);
    assert_true(mongoc_write_concern_get_journal(server_books_concern(lab.server)));
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
    assert_in_range(took, 900 * MS, 15000 * MS);
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
    place_t place, again;
    OK(lab, place_look(lab.server, lab.client, &place, &lab.err));
    assert_false(place.exists);
    OK(lab, place_make(lab.server, lab.client, &(place_options_t){.compressor = "zlib"}, &place, &lab.err));
    bool can = facts->major > 5 || (facts->major == 5 && facts->minor >= 3);
    assert_true(place.exists && place.empty && place.clustered == can);
    assert_string_equal(place.compressor, "zlib");
    OK(lab, place_make(lab.server, lab.client, &(place_options_t){0}, &again, &lab.err));
    assert_memory_equal(place.uuid, again.uuid, sizeof place.uuid);
    if (can)
        REFUSED(lab, STATUS_USAGE, "--no-clustered",
                place_make(lab.server, lab.client, &(place_options_t){.clustered = CLUSTERED_NO}, &again,
                           &lab.err));
    REFUSED(lab, STATUS_USAGE, "zlib",
            place_make(lab.server, lab.client, &(place_options_t){.compressor = "zstd"}, &again, &lab.err));
    REFUSED(lab, STATUS_USAGE, "no block compressor",
            place_make(lab.server, lab.client, &(place_options_t){.compressor = "lzma"}, &again, &lab.err));
    OK(lab, place_drop(lab.server, lab.client, &lab.err));
    OK(lab, place_drop(lab.server, lab.client, &lab.err));
    OK(lab,
       place_make(lab.server, lab.client, &(place_options_t){.clustered = CLUSTERED_NO}, &again, &lab.err));
    assert_false(again.clustered);
    assert_memory_not_equal(place.uuid, again.uuid, sizeof place.uuid);
    /* made without a compressor's name: the storage engine is asked */
    REFUSED(lab, STATUS_USAGE, "snappy",
            place_make(lab.server, lab.client, &(place_options_t){.compressor = "none"}, &again, &lab.err));
    close_lab(&lab);
}

static void test_other_kinds_are_refused(void **state) {
    (void)state;
    lab_t lab = open_lab("seen");
    place_t place;
    assert_true(raw(&lab, database, "{\"create\": \"seen\", \"viewOn\": \"docs\", \"pipeline\": []}"));
    REFUSED(lab, STATUS_USAGE, "is a view", place_look(lab.server, lab.client, &place, &lab.err));
    assert_true(raw(&lab, database, "{\"drop\": \"seen\"}"));
    assert_true(raw(&lab, database, "{\"create\": \"seen\", \"capped\": true, \"size\": 4096}"));
    REFUSED(lab, STATUS_USAGE, "capped", place_look(lab.server, lab.client, &place, &lab.err));
    close_lab(&lab);
}

static void test_index(void **state) {
    (void)state;
    lab_t lab = open_lab("indexed");
    sender_t *writer = open_sender(&lab);
    batch_t *batch = numbers(0, 1000);
    delivered_t delivered;
    index_spec_t spec;
    int64_t took;
    OK(lab, put(&lab, writer, batch, &delivered));
    OK(lab, place_parse_index("v:1,_id:-1", &spec, &lab.err));
    OK(lab, place_build_index(lab.server, lab.client, &spec, &took, &lab.err));
    assert_true(took > 0);
    OK(lab, place_build_index(lab.server, lab.client, &spec, &took, &lab.err)); /* it is there already */
    place_free_index(&spec);
    OK(lab, place_parse_index("v:2dsphere", &spec, &lab.err));
    REFUSED(lab, STATUS_SERVER, "v_2dsphere",
            place_build_index(lab.server, lab.client, &spec, &took, &lab.err));
    place_free_index(&spec);
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
        assert_non_null(strstr(delivered.exceptions[i].reason, "another document with its _id"));
    }
    assert_int_equal(delivered.retries, 0);
    assert_int_equal(count_of(&lab), 1500);
    assert_true(writer_wait_ns(writer->writer) > 0);
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
    assert_non_null(strstr(delivered.exceptions[0].reason, "the server takes up to"));
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
    const documents_t documents = {batch->bytes, batch->starts, (uint32_t)batch->count};
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
    place_t place;
    if (server_facts(lab.server)->major < 6)
        skip();
    OK(lab, place_make(lab.server, lab.client, &(place_options_t){0}, &place, &lab.err));
    sender_t *writer = open_sender(&lab);
    batch_t *batch = numbers(0, 10), *more = numbers(10, 10);
    delivered_t delivered;
    writer_set_uuid(writer->writer, place.uuid);
    OK(lab, put(&lab, writer, batch, &delivered));
    assert_int_equal(delivered.count, 0);
    OK(lab, place_drop(lab.server, lab.client, &lab.err));
    REFUSED(lab, STATUS_SERVER, "was dropped, or made anew", put(&lab, writer, more, &delivered));
    OK(lab, place_make(lab.server, lab.client, &(place_options_t){0}, &place, &lab.err));
    REFUSED(lab, STATUS_SERVER, "was dropped, or made anew", put(&lab, writer, more, &delivered));
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
    assert_in_range(clock_now_ns() - start, 600 * MS, 15000 * MS);
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

/* ---- catalog ---- */

static const catalog_settings_t mot = {.format = "mot", .format_digest = "0123abcd", .filter = ""};

/* A manifest of made-up files, all with identity. */
static manifest_t make_manifest(size_t count) {
    manifest_t manifest = {.files = calloc(count, sizeof(input_file_t)), .count = count};
    assert_non_null(manifest.files);
    for (size_t i = 0; i < count; i++) {
        input_file_t *file = &manifest.files[i];
        char name[60];
        snprintf(name, sizeof name, "data/%zu/file_%05zu.txt", i % 10, i);
        file->name = strdup(name);
        file->has_identity = true;
        file->disk_bytes = 1000 + i;
        file->text_bound = 1000 + i;
        file->digest[0] = i;
        file->digest[1] = 42;
    }
    return manifest;
}

static void rename_file(manifest_t *manifest, size_t i, const char *name) {
    free(manifest->files[i].name);
    manifest->files[i].name = strdup(name);
}

static void free_manifest(manifest_t *manifest) {
    for (size_t i = 0; i < manifest->count; i++)
        free(manifest->files[i].name);
    free(manifest->files);
}

static catalog_t *open_catalog(lab_t *lab, place_t *place) {
    OK(*lab, place_make(lab->server, lab->client, &(place_options_t){0}, place, &lab->err));
    catalog_t *catalog = catalog_open(lab->server, lab->client, place, &mot, &lab->err);
    OK(*lab, catalog);
    return catalog;
}

static void test_register(void **state) {
    (void)state;
    lab_t lab = open_lab("registered");
    place_t place;
    catalog_file_t *files[6], *again[6];
    manifest_t manifest = make_manifest(6);
    manifest.files[1].text_bound = 3 * POSITION_EXTENT_UNIT + 1;
    manifest.files[2].text_bound = 0;
    manifest.files[2].kind = INPUT_STREAM;
    manifest.files[3].has_identity = false;
    manifest.files[4].text_bound = 2 * POSITION_EXTENT_UNIT;
    rename_file(&manifest, 5, "data/caf\xe9.txt"); /* Latin-1 */
    catalog_t *catalog = open_catalog(&lab, &place);
    OK(lab, catalog_register(catalog, &manifest, files, &lab.err));
    static const uint64_t units[] = {1, 4, POSITION_STREAM_PIECE / POSITION_EXTENT_UNIT, 1, 2, 1};
    static const uint32_t numbers[] = {0, 1, 14, 15, 16, 24}; /* a plain file takes one a window */
    uint64_t base = 0;
    for (size_t i = 0; i < 6; i++) {
        assert_int_equal(files[i]->ordinal, numbers[i]);
        assert_int_equal(files[i]->extent_count, 1);
        assert_int_equal(files[i]->extents[0].base, base);
        assert_int_equal(files[i]->extents[0].start, 0);
        assert_int_equal(files[i]->extents[0].length, units[i] * POSITION_EXTENT_UNIT);
        assert_false(files[i]->parts[0].doubtful || files[i]->parts[0].complete);
        base += units[i] * POSITION_EXTENT_UNIT;
    }
    assert_string_equal(files[5]->path, "data/caf\\xE9.txt");
    uint64_t voff;
    assert_true(catalog_voff(files[1], 1234, &voff));
    assert_int_equal(voff, POSITION_EXTENT_UNIT + 1234);
    assert_false(catalog_voff(files[1], 4 * POSITION_EXTENT_UNIT, &voff));
    catalog_close(catalog);

    /* the same again, in another order: the same files, but for the one without identity */
    catalog = open_catalog(&lab, &place);
    input_file_t swapped = manifest.files[0];
    manifest.files[0] = manifest.files[4];
    manifest.files[4] = swapped;
    OK(lab, catalog_register(catalog, &manifest, again, &lab.err));
    static const uint32_t ordinals[] = {16, 1, 14, 25, 0, 24};
    for (size_t i = 0; i < 6; i++)
        assert_int_equal(again[i]->ordinal, ordinals[i]);
    catalog_close(catalog);
    free_manifest(&manifest);
    close_lab(&lab);
}

/* Files that are started by being registered need no further word to be in doubt. */
static void test_register_and_start(void **state) {
    (void)state;
    lab_t lab = open_lab("begun");
    place_t place;
    catalog_file_t *files[2];
    manifest_t manifest = make_manifest(2);
    catalog_close(open_catalog(&lab, &place));
    catalog_settings_t starting = mot;
    starting.starts = true;
    catalog_t *catalog = catalog_open(lab.server, lab.client, &place, &starting, &lab.err);
    OK(lab, catalog && catalog_register(catalog, &manifest, files, &lab.err));
    for (size_t i = 0; i < 2; i++)
        assert_true(files[i]->started && !files[i]->parts[0].doubtful);
    OK(lab, catalog_start(catalog, files, 2, &lab.err));
    catalog_close(catalog);
    catalog = open_catalog(&lab, &place);
    OK(lab, catalog_register(catalog, &manifest, files, &lab.err));
    for (size_t i = 0; i < 2; i++)
        assert_true(files[i]->started && files[i]->parts[0].doubtful);
    catalog_close(catalog);
    free_manifest(&manifest);
    close_lab(&lab);
}

static void test_progress_and_resume(void **state) {
    (void)state;
    lab_t lab = open_lab("resumed");
    place_t place;
    catalog_file_t *files[3];
    manifest_t manifest = make_manifest(3);
    catalog_t *catalog = open_catalog(&lab, &place);
    OK(lab, catalog_register(catalog, &manifest, files, &lab.err));
    bson_t *fields = BCON_NEW("settings", "{", "batch", BCON_INT32(1000), "}");
    presence_t *presence = presence_open(lab.server, lab.client, fields, &lab.err);
    OK(lab, presence != NULL);
    size_t alive = 7;
    OK(lab, presence_count(lab.server, lab.client, &alive, &lab.err));
    assert_int_equal(alive, 1);
    bson_destroy(fields);
    OK(lab, catalog_start(catalog, files, 2, &lab.err));
    OK(lab, catalog_start(catalog, files, 2, &lab.err));
    assert_true(runs_add(&files[0]->parts[0].done, 0, 3) && runs_add(&files[0]->parts[0].done, 5, 6) &&
                runs_add(&files[1]->parts[0].done, 0, 7));
    files[0]->parts[0].counts =
        (counts_t){.read = 10, .loaded = 6, .already_there = 1, .rejected = 2, .filtered = 1};
    files[1]->parts[0].counts.read = files[1]->parts[0].counts.loaded = 700;
    OK(lab, catalog_barrier(catalog, &lab.err));
    checkpoint_t changed[] = {{.piece = {files[0], 0}},
                              {.piece = {files[1], 0}, .complete = true, .blocks = 7}};
    OK(lab, catalog_checkpoint(catalog, changed, 2, &lab.err));
    assert_true(files[1]->parts[0].complete);
    fields = BCON_NEW("status", BCON_INT32(4));
    OK(lab, presence_close(presence, fields, &lab.err));
    OK(lab, presence_count(lab.server, lab.client, &alive, &lab.err));
    assert_int_equal(alive, 0);
    bson_destroy(fields);
    catalog_close(catalog);

    batch_t *batch = numbers(0, 1); /* the books tell of documents: there must be one */
    sender_t *writer = open_sender(&lab);
    delivered_t delivered;
    OK(lab, put(&lab, writer, batch, &delivered));
    catalog = open_catalog(&lab, &place);
    OK(lab, catalog_register(catalog, &manifest, files, &lab.err));
    assert_true(files[0]->parts[0].doubtful && !files[0]->parts[0].complete);
    assert_true(!files[1]->parts[0].doubtful && files[1]->parts[0].complete);
    assert_true(!files[2]->parts[0].doubtful && !files[2]->parts[0].complete);
    assert_true(runs_cover(&files[0]->parts[0].done, 0, 3) && runs_has(&files[0]->parts[0].done, 5) &&
                !runs_has(&files[0]->parts[0].done, 4));
    assert_int_equal(runs_total(&files[0]->parts[0].done), 4);
    assert_int_equal(files[0]->parts[0].counts.read, 10);
    assert_int_equal(files[0]->parts[0].counts.already_there, 1);
    assert_int_equal(files[0]->parts[0].counts.filtered, 1);
    assert_int_equal(files[1]->parts[0].counts.loaded, 700);
    catalog_close(catalog);

    /* emptied behind the books */
    assert_true(raw(&lab, database, "{\"delete\": \"resumed\", \"deletes\": [{\"q\": {}, \"limit\": 0}]}"));
    catalog = open_catalog(&lab, &place);
    REFUSED(lab, STATUS_USAGE, "is empty", catalog_register(catalog, &manifest, files, &lab.err));
    catalog_close(catalog);
    free_batch(batch);
    close_sender(writer);
    free_manifest(&manifest);
    close_lab(&lab);
}

/* One load is silent for too long, another takes over two of its four parts. */
static void test_taken_over(void **state) {
    (void)state;
    lab_t lab = open_lab("taken_over");
    place_t place;
    catalog_file_t *silent_files[4], *other_files[4];
    manifest_t manifest = make_manifest(4);
    bson_oid_t silent_load, other_load;
    bson_oid_init_from_string(&silent_load, "000000000000000000000001");
    bson_oid_init_from_string(&other_load, "000000000000000000000002");
    catalog_t *silent = open_catalog(&lab, &place), *other = open_catalog(&lab, &place);
    OK(lab, catalog_register(silent, &manifest, silent_files, &lab.err));
    OK(lab, catalog_register(other, &manifest, other_files, &lab.err));
    catalog_own(silent, &silent_load);
    catalog_own(other, &other_load);
    /* its own so far, but for the last two, which it has not written to yet */
    checkpoint_t begun[] = {{.piece = {silent_files[0], 0}}, {.piece = {silent_files[1], 0}}};
    OK(lab, catalog_checkpoint(silent, begun, 2, &lab.err));
    const piece_t taken[] = {{other_files[1], 0}, {other_files[2], 0}};
    OK(lab, catalog_adopt(other, taken, 2, &lab.err));
    piece_t all[4];
    for (size_t i = 0; i < 4; i++)
        all[i] = (piece_t){silent_files[i], 0};
    OK(lab, catalog_find_lost(silent, all, 4, &lab.err));
    for (size_t i = 0; i < 4; i++)
        assert_int_equal(silent_files[i]->parts[0].lost, i == 1 || i == 2);
    catalog_close(silent);
    catalog_close(other);
    free_manifest(&manifest);
    close_lab(&lab);
}

static void test_moved_copied_changed(void **state) {
    (void)state;
    lab_t lab = open_lab("moved");
    place_t place;
    catalog_file_t *files[4];
    manifest_t manifest = make_manifest(4);
    catalog_t *catalog = open_catalog(&lab, &place);
    OK(lab, catalog_register(catalog, &manifest, files, &lab.err));
    /* moved: the same name in another folder */
    rename_file(&manifest, 1, "archive/file_00001.txt");
    OK(lab, catalog_register(catalog, &manifest, files, &lab.err));
    assert_int_equal(files[1]->ordinal, 1);
    assert_string_equal(files[1]->path, "data/1/file_00001.txt");
    /* both at once are two files, and stay two */
    input_file_t kept = manifest.files[3];
    manifest.files[3] = manifest.files[1];
    manifest.files[3].name = strdup("data/1/file_00001.txt");
    for (int i = 0; i < 2; i++) {
        OK(lab, catalog_register(catalog, &manifest, files, &lab.err));
        assert_int_equal(files[3]->ordinal, 1);
        assert_int_equal(files[1]->ordinal, 4);
    }
    free(manifest.files[3].name);
    manifest.files[3] = kept;
    /* another name is another file */
    rename_file(&manifest, 2, "data/2/other.txt");
    OK(lab, catalog_register(catalog, &manifest, files, &lab.err));
    assert_int_equal(files[2]->ordinal, 5);
    /* changed before anything of it was sent: a new file; afterwards: refused (a zip's member does not grow)
     */
    manifest.files[0].kind = INPUT_ZIP_MEMBER;
    manifest.files[0].digest[0] = 99;
    OK(lab, catalog_register(catalog, &manifest, files, &lab.err));
    assert_int_equal(files[0]->ordinal, 6);
    OK(lab, catalog_start(catalog, files, 1, &lab.err));
    manifest.files[0].digest[0] = 98;
    REFUSED(lab, STATUS_USAGE, "same size, but other content",
            catalog_register(catalog, &manifest, files, &lab.err));
    manifest.files[0].disk_bytes = 5000;
    REFUSED(lab, STATUS_USAGE, "it had 1,000 bytes, and has 5,000 now",
            catalog_register(catalog, &manifest, files, &lab.err));
    catalog_close(catalog);
    free_manifest(&manifest);
    close_lab(&lab);
}

/* New files that equal each other are as many files, now and the next time. */
static void test_equal_new_files(void **state) {
    (void)state;
    lab_t lab = open_lab("equal");
    place_t place;
    catalog_file_t *files[4];
    manifest_t manifest = make_manifest(4);
    for (size_t i = 0; i < 3; i++) {
        char name[40];
        snprintf(name, sizeof name, "%zu/same.txt", i);
        rename_file(&manifest, i, name);
        manifest.files[i].disk_bytes = 7;
        manifest.files[i].digest[0] = 5;
    }
    catalog_t *catalog = open_catalog(&lab, &place);
    for (int again = 0; again < 2; again++) {
        OK(lab, catalog_register(catalog, &manifest, files, &lab.err));
        for (size_t i = 0; i < 4; i++)
            assert_int_equal(files[i]->ordinal, i);
    }
    catalog_close(catalog);
    free_manifest(&manifest);
    close_lab(&lab);
}

/* A file that was read in part and is longer now keeps its ordinal, and gets the room that it needs. */
static void test_grown(void **state) {
    (void)state;
    lab_t lab = open_lab("grown");
    place_t place;
    catalog_file_t *file;
    manifest_t manifest;
    uint64_t voff;
    char path[] = "grown-XXXXXX", *paths[] = {path};
    int fd = mkstemp(path);
    assert_true(fd >= 0);
    assert_int_equal(write(fd, "one\ntwo\n", 8), 8);
    OK(lab, manifest_build(&manifest, paths, 1, &(manifest_options_t){0}, &lab.err));
    catalog_t *catalog = open_catalog(&lab, &place);
    OK(lab, catalog_register(catalog, &manifest, &file, &lab.err));
    OK(lab, catalog_start(catalog, &file, 1, &lab.err));
    OK(lab, catalog_checkpoint(catalog, &(checkpoint_t){.piece = {file, 0}}, 1, &lab.err));
    manifest_free(&manifest);
    assert_int_equal(ftruncate(fd, 3 * POSITION_EXTENT_UNIT), 0);
    OK(lab, manifest_build(&manifest, paths, 1, &(manifest_options_t){0}, &lab.err));
    for (int again = 0; again < 2; again++) {
        OK(lab, catalog_register(catalog, &manifest, &file, &lab.err));
        assert_int_equal(file->ordinal, 0);
        assert_false(file->parts[0].complete);
        assert_true(catalog_voff(file, 3 * POSITION_EXTENT_UNIT - 1, &voff));
        assert_int_equal(voff, 3 * POSITION_EXTENT_UNIT - 1);
    }
    /* other bytes at its beginning: another file */
    manifest_free(&manifest);
    assert_int_equal(pwrite(fd, "ONE", 3, 0), 3);
    assert_int_equal(ftruncate(fd, 4 * POSITION_EXTENT_UNIT), 0);
    OK(lab, manifest_build(&manifest, paths, 1, &(manifest_options_t){0}, &lab.err));
    REFUSED(lab, STATUS_USAGE, "has changed", catalog_register(catalog, &manifest, &file, &lab.err));
    manifest_free(&manifest);
    close(fd);
    unlink(path);
    catalog_close(catalog);
    close_lab(&lab);
}

static void test_streams_and_overflow(void **state) {
    (void)state;
    lab_t lab = open_lab("streams");
    place_t place;
    catalog_file_t *files[2];
    manifest_t manifest = make_manifest(2);
    manifest.files[0].text_bound = 0;
    manifest.files[0].kind = INPUT_STREAM;
    catalog_t *catalog = open_catalog(&lab, &place);
    OK(lab, catalog_register(catalog, &manifest, files, &lab.err));
    uint64_t voff, beyond = POSITION_STREAM_PIECE + 5;
    assert_false(catalog_voff(files[0], beyond, &voff));
    OK(lab, catalog_extend(catalog, files[0], beyond, &lab.err));
    OK(lab, catalog_extend(catalog, files[0], beyond, &lab.err));
    assert_true(catalog_voff(files[0], beyond, &voff));
    assert_int_equal(voff, POSITION_STREAM_PIECE + POSITION_EXTENT_UNIT + 5);
    assert_true(catalog_voff(files[0], POSITION_STREAM_PIECE - 1, &voff));
    assert_int_equal(voff, POSITION_STREAM_PIECE - 1);
    OK(lab, catalog_extend(catalog, files[0], 4 * POSITION_STREAM_PIECE, &lab.err));
    assert_int_equal(files[0]->extent_count, 3);
    assert_true(catalog_voff(files[0], 4 * POSITION_STREAM_PIECE, &voff));
    assert_true(catalog_voff(files[0], 2 * POSITION_STREAM_PIECE, &voff));
    /* and so it stands in the books */
    catalog_file_t *found = catalog_find(catalog, files[0]->path, &lab.err);
    OK(lab, found);
    assert_int_equal(found->extent_count, 3);
    assert_memory_equal(found->extents, files[0]->extents, 3 * sizeof(extent_t));
    assert_null(catalog_find(catalog, "nosuchfile", &lab.err));
    assert_int_equal(lab.err.status, STATUS_OK);
    /* 8 PiB and no further; never wrapped */
    manifest.files[0].digest[0] = 77;
    static const uint64_t bounds[] = {UINT64_MAX, UINT64_MAX - POSITION_EXTENT_UNIT, 1ull << 53,
                                      (1ull << 53) - POSITION_STREAM_PIECE};
    for (size_t i = 0; i < sizeof bounds / sizeof *bounds; i++) {
        manifest.files[0].text_bound = bounds[i];
        rename_file(&manifest, 0, "huge");
        REFUSED(lab, STATUS_USAGE, "no more room", catalog_register(catalog, &manifest, files, &lab.err));
    }
    REFUSED(lab, STATUS_USAGE, "no more room", catalog_extend(catalog, files[1], 1ull << 60, &lab.err));
    manifest.files[0].text_bound = 1ull << 50;
    OK(lab, catalog_register(catalog, &manifest, files, &lab.err));
    catalog_close(catalog);
    free_manifest(&manifest);
    close_lab(&lab);
}

static void test_where(void **state) {
    (void)state;
    lab_t lab = open_lab("where");
    place_t place;
    catalog_file_t *files[3];
    manifest_t manifest = make_manifest(3);
    manifest.files[0].text_bound = 0;
    manifest.files[0].kind = INPUT_STREAM;
    manifest.files[1].text_bound = 5 * POSITION_EXTENT_UNIT;
    catalog_t *catalog = open_catalog(&lab, &place);
    OK(lab, catalog_register(catalog, &manifest, files, &lab.err));
    OK(lab, catalog_extend(catalog, files[0], POSITION_STREAM_PIECE, &lab.err));
    static const struct {
        size_t file;
        uint64_t offset;
    } records[] = {
        {0, 0}, {0, POSITION_STREAM_PIECE - 1}, {0, POSITION_STREAM_PIECE + 300000}, {1, 0}, {1, 4999999},
        {2, 17}};
    for (size_t i = 0; i < sizeof records / sizeof *records; i++) {
        const catalog_file_t *file = files[records[i].file];
        uint64_t voff, offset = records[i].offset;
        where_t where;
        assert_true(catalog_voff(file, offset, &voff));
        int64_t id = position_id(position_lane(file->ordinal, offset), voff);
        OK(lab, catalog_where(catalog, id, &where, &lab.err));
        assert_true(where.found && where.lane_fits);
        assert_int_equal(where.ordinal, file->ordinal);
        assert_int_equal(where.offset, offset);
        assert_string_equal(where.path, file->path);
        OK(lab, catalog_where(catalog, id ^ (1ll << 60), &where, &lab.err));
        assert_true(where.found && !where.lane_fits);
    }
    where_t where;
    OK(lab, catalog_where(catalog, 1ll << 52, &where, &lab.err));
    assert_false(where.found);
    OK(lab, catalog_where(catalog, -1, &where, &lab.err));
    assert_false(where.found);
    catalog_close(catalog);
    free_manifest(&manifest);
    close_lab(&lab);
}

static bool opens(lab_t *lab, const place_t *place, const catalog_settings_t *settings) {
    catalog_t *catalog = catalog_open(lab->server, lab->client, place, settings, &lab->err);
    catalog_close(catalog);
    return catalog != NULL;
}

static bool peeks(lab_t *lab, const place_t *place, const catalog_settings_t *settings, bool *books) {
    catalog_t *catalog;
    bool ok = catalog_peek(lab->server, lab->client, place, settings, &catalog, &lab->err);
    *books = catalog != NULL;
    catalog_close(catalog);
    return ok;
}

static void test_mismatches(void **state) {
    (void)state;
    lab_t lab = open_lab("mismatched");
    place_t place;
    bool books;
    OK(lab, place_look(lab.server, lab.client, &place, &lab.err));
    OK(lab, peeks(&lab, &place, &mot, &books));
    assert_false(books);
    catalog_t *catalog = open_catalog(&lab, &place);
    catalog_close(catalog);
    catalog_settings_t other = mot;
    other.format = "isd";
    REFUSED(lab, STATUS_USAGE, "--format mot, not isd", opens(&lab, &place, &other));
    other = mot;
    other.format_digest = "ffff";
    REFUSED(lab, STATUS_USAGE, "has changed", opens(&lab, &place, &other));
    other = mot;
    other.filter = "y==N";
    REFUSED(lab, STATUS_USAGE, "without --filter", opens(&lab, &place, &other));
    OK(lab, peeks(&lab, &place, &mot, &books));
    assert_true(books);
    OK(lab, peeks(&lab, &place, NULL, &books));
    assert_true(books);
    /* the collection goes, its books stay */
    assert_true(raw(&lab, database, "{\"drop\": \"mismatched\"}"));
    place_t gone;
    OK(lab, place_look(lab.server, lab.client, &gone, &lab.err));
    REFUSED(lab, STATUS_USAGE, "is gone", peeks(&lab, &gone, &mot, &books));
    OK(lab, place_make(lab.server, lab.client, &(place_options_t){0}, &place, &lab.err));
    REFUSED(lab, STATUS_USAGE, "dropped and made again", opens(&lab, &place, &mot));
    OK(lab, place_drop(lab.server, lab.client, &lab.err));
    /* data without books */
    assert_true(raw(&lab, database, "{\"insert\": \"mismatched\", \"documents\": [{\"_id\": 1}]}"));
    OK(lab, place_look(lab.server, lab.client, &place, &lab.err));
    REFUSED(lab, STATUS_USAGE, "did not load", opens(&lab, &place, &mot));
    REFUSED(lab, STATUS_USAGE, "did not load", peeks(&lab, &place, &mot, &books));
    OK(lab, place_drop(lab.server, lab.client, &lab.err));
    /* files without a header */
    assert_true(
        raw(&lab, database, "{\"insert\": \"mismatched.tipple.files\", \"documents\": [{\"_id\": 1}]}"));
    OK(lab, place_make(lab.server, lab.client, &(place_options_t){0}, &place, &lab.err));
    REFUSED(lab, STATUS_USAGE, "damaged", opens(&lab, &place, &mot));
    close_lab(&lab);
}

/* A collection that is dropped under a load comes back by the next insert: the barrier sees it. */
static void test_dropped_under_a_load(void **state) {
    (void)state;
    lab_t lab = open_lab("dropped");
    place_t place;
    catalog_t *catalog = open_catalog(&lab, &place);
    OK(lab, catalog_barrier(catalog, &lab.err));
    assert_true(raw(&lab, database, "{\"drop\": \"dropped\"}"));
    REFUSED(lab, STATUS_SERVER, "was dropped", catalog_barrier(catalog, &lab.err));
    assert_true(raw(&lab, database, "{\"insert\": \"dropped\", \"documents\": [{\"_id\": 1}]}"));
    REFUSED(lab, STATUS_SERVER, "made again", catalog_barrier(catalog, &lab.err));
    catalog_close(catalog);
    close_lab(&lab);
}

static void test_dry_run_writes_nothing(void **state) {
    (void)state;
    lab_t lab = open_lab("dry");
    place_t place;
    catalog_file_t *files[3], *dry[3];
    manifest_t manifest = make_manifest(3);
    catalog_t *catalog = open_catalog(&lab, &place), *peek;
    manifest.count = 1;
    OK(lab, catalog_register(catalog, &manifest, files, &lab.err));
    manifest.count = 3;
    OK(lab, catalog_peek(lab.server, lab.client, &place, &mot, &peek, &lab.err));
    OK(lab, catalog_register(peek, &manifest, dry, &lab.err));
    OK(lab, catalog_start(peek, dry, 3, &lab.err));
    catalog_close(peek);
    OK(lab, catalog_peek(lab.server, lab.client, &place, &mot, &peek, &lab.err));
    OK(lab, catalog_register(peek, &manifest, dry, &lab.err));
    OK(lab, catalog_register(catalog, &manifest, files, &lab.err));
    for (size_t i = 0; i < 3; i++) {
        assert_int_equal(dry[i]->ordinal, files[i]->ordinal);
        assert_int_equal(dry[i]->extents[0].base, files[i]->extents[0].base);
        assert_false(files[i]->parts[0].doubtful);
    }
    catalog_close(peek);
    catalog_close(catalog);
    free_manifest(&manifest);
    close_lab(&lab);
}

static void test_many_files(void **state) {
    (void)state;
    enum { MANY = 10000 };
    static catalog_file_t *files[MANY];
    static checkpoint_t changed[MANY];
    lab_t lab = open_lab("many");
    place_t place;
    manifest_t manifest = make_manifest(MANY);
    catalog_t *catalog = open_catalog(&lab, &place);
    int64_t start = clock_now_ns();
    OK(lab, catalog_register(catalog, &manifest, files, &lab.err));
    int64_t registered = clock_now_ns();
    OK(lab, catalog_start(catalog, files, MANY, &lab.err));
    int64_t started = clock_now_ns();
    for (size_t i = 0; i < MANY; i++) {
        assert_int_equal(files[i]->ordinal, i);
        assert_true(runs_add(&files[i]->parts[0].done, 0, 1));
        changed[i] = (checkpoint_t){.piece = {files[i], 0}, .complete = true, .blocks = 1};
    }
    int64_t before = clock_now_ns();
    OK(lab, catalog_checkpoint(catalog, changed, MANY, &lab.err));
    int64_t done = clock_now_ns();
    catalog_close(catalog);
    catalog = open_catalog(&lab, &place);
    int64_t again = clock_now_ns();
    OK(lab, catalog_register(catalog, &manifest, files, &lab.err));
    int64_t found = clock_now_ns();
    for (size_t i = 0; i < MANY; i++)
        assert_true(files[i]->ordinal == i && files[i]->parts[0].complete &&
                    runs_has(&files[i]->parts[0].done, 0));
    print_message("%d files: registered in %lld ms, started in %lld ms, checkpointed in %lld ms, found again "
                  "in %lld ms\n",
                  MANY, (registered - start) / MS, (started - registered) / MS, (done - before) / MS,
                  (found - again) / MS);
    assert_true(registered - start < 20000 * MS);
    catalog_close(catalog);
    free_manifest(&manifest);
    close_lab(&lab);
}

/* Two loaders that begin at the same moment: one set of books, each file once. */
typedef struct {
    pthread_barrier_t *together;
    uint32_t ordinals[200];
} loader_t;

static void *begin_load(void *argument) {
    loader_t *loader = argument;
    catalog_file_t *files[200];
    place_t place;
    lab_t lab = open_lab("shared");
    manifest_t manifest = make_manifest(200);
    pthread_barrier_wait(loader->together);
    catalog_t *catalog = open_catalog(&lab, &place);
    OK(lab, catalog_register(catalog, &manifest, files, &lab.err));
    for (size_t i = 0; i < 200; i++)
        loader->ordinals[i] = files[i]->ordinal;
    catalog_close(catalog);
    free_manifest(&manifest);
    close_lab(&lab);
    return NULL;
}

static void test_two_loaders(void **state) {
    (void)state;
    enum { LOADERS = 4 };
    pthread_barrier_t together;
    pthread_t threads[LOADERS];
    static loader_t loaders[LOADERS];
    pthread_barrier_init(&together, NULL, LOADERS);
    for (int i = 0; i < LOADERS; i++) {
        loaders[i].together = &together;
        assert_int_equal(pthread_create(&threads[i], NULL, begin_load, &loaders[i]), 0);
    }
    for (int i = 0; i < LOADERS; i++)
        pthread_join(threads[i], NULL);
    for (int i = 1; i < LOADERS; i++)
        assert_memory_equal(loaders[i].ordinals, loaders[0].ordinals, sizeof loaders[0].ordinals);
    pthread_barrier_destroy(&together);
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
        cmocka_unit_test(test_register),
        cmocka_unit_test(test_register_and_start),
        cmocka_unit_test(test_progress_and_resume),
        cmocka_unit_test(test_taken_over),
        cmocka_unit_test(test_moved_copied_changed),
        cmocka_unit_test(test_equal_new_files),
        cmocka_unit_test(test_grown),
        cmocka_unit_test(test_streams_and_overflow),
        cmocka_unit_test(test_where),
        cmocka_unit_test(test_mismatches),
        cmocka_unit_test(test_dropped_under_a_load),
        cmocka_unit_test(test_dry_run_writes_nothing),
        cmocka_unit_test(test_many_files),
        cmocka_unit_test(test_two_loaders),
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
    return cmocka_run_group_tests_name("target", tests, look_around, drop_all);
}
