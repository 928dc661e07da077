/* odd_driver: in the driver's place, a server that answers what a fuzzer's bytes say: what a real one would, except for a few
 * places; an error; or anything at all. The functions have the driver's own names, so that all code above them is the
 * real one. Where the bytes are at an end it finds nothing, so that whoever reads to the end comes to one. */
#ifndef TIPPLE_TESTS_ODD_DRIVER_H
#define TIPPLE_TESTS_ODD_DRIVER_H

#include "odd_bson.h"
#include "server/server.h"

#include <netdb.h>

static struct {
    odd_t *odd;
    bson_t *hello; /* of the server that was chosen last */
    bson_t *reply; /* to the last command, if it did not fail */
    /* what a message of that many documents is answered with */
    bool (*insert)(size_t count, bson_t *reply, bson_error_t *error);
} odd_server;

/* ---- what a real one would say ---- */

typedef struct {
    const char *name, *json; /* with ' for " */
    bson_t *document;        /* once it was asked for */
} odd_sample_t;

/* Of commands, by their names. */
static odd_sample_t odd_replies[] = {
    {"buildInfo", "{'version': '6.0.5', 'ok': 1}", NULL},
    {"hello",
     "{'isWritablePrimary': true, 'setName': 'r', 'msg': 'isdbgrid', 'maxBsonObjectSize': 16777216, "
     "'maxMessageSizeBytes': 48000000, 'maxWriteBatchSize': 100000, 'readOnly': false, "
     "'topologyVersion': {'processId': {'$oid': '64a000000000000000000001'}}, 'ok': 1}",
     NULL},
    {"listShards",
     "{'shards': [{'_id': 's0', 'host': 's0/a:1'}, {'_id': 's1', 'host': 's1/b:1,c:2', "
     "'draining': true}], 'ok': 1}",
     NULL},
    {"serverStatus",
     "{'pid': {'$numberLong': '7'}, 'metrics': {'queryExecutor': {'scannedObjects': 5}}, 'wiredTiger': "
     "{'cache': {'bytes read into cache': 5, 'maximum bytes configured': 1000, 'bytes currently in the "
     "cache': 900, 'tracked dirty bytes in the cache': 100}, 'concurrentTransactions': {'write': {'out': 1, "
     "'available': 127, 'totalTickets': 128}}}, 'globalLock': {'currentQueue': {'writers': 1}}, "
     "'flowControl': {'isLagged': false}, 'opLatencies': {'reads': {'latency': 5, 'ops': 1}}, 'ok': 1}",
     NULL},
    {"hostInfo", "{'system': {'hostname': 'h', 'numCores': 2, 'numCoresAvailableToProcess': 1}, 'ok': 1}",
     NULL},
    {"listCollections",
     "{'cursor': {'firstBatch': [{'name': 'c', 'type': 'collection', 'options': {'clusteredIndex': true, "
     "'storageEngine': {'wiredTiger': {'configString': 'block_compressor=zstd,x'}}}, 'info': {'uuid': "
     "{'$binary': {'base64': 'AAECAwQFBgcICQoLDA0ODw==', 'subType': '04'}}}}]}, 'ok': 1}",
     NULL},
    {"find",
     "{'cursor': {'firstBatch': [{'_id': {'$numberLong': '1'}}, {'_id': {'$numberLong': '2'}}], "
     "'id': 0, 'ns': 'd.c'}, 'ok': 1}",
     NULL},
    {"count", "{'n': 5, 'ok': 1}", NULL},
    {"aggregate",
     "{'cursor': {'firstBatch': [{'s': {'count': 9, 'size': 900, 'numOrphanDocs': 1, 'storageSize': 400, "
     "'totalIndexSize': 100}, 'shard': 's0', 'name': 'k_1', 'key': {'k': 1}}]}, 'ok': 1}",
     NULL},
    {"update", "{'n': 1, 'nModified': 1, 'ok': 1}", NULL},
    {"delete", "{'n': 1, 'ok': 1}", NULL},
    {"insert", "{'n': 1, 'ok': 1}", NULL},
    {NULL, "{'ok': 1}", NULL},
};

/* Of documents, by the end of their collection's name. */
static odd_sample_t odd_documents[] = {
    {"collections",
     "{'_id': 'd.c', 'key': {'_id': 1}, 'uuid': {'$binary': {'base64': 'AAECAwQFBgcICQoLDA0ODw==', "
     "'subType': '04'}}, 'lastmodEpoch': {'$oid': '64a000000000000000000001'}, 'timestamp': {'$timestamp': "
     "{'t': 5, 'i': 1}}, 'noBalance': true}",
     NULL},
    {"chunks",
     "{'min': {'_id': {'$minKey': 1}}, 'max': {'_id': {'$maxKey': 1}}, 'shard': 's0', 'lastmod': "
     "{'$timestamp': {'t': 1, 'i': 1}}}",
     NULL},
    {"tags", "{'ns': 'd.c', 'tag': 'tipple.d.c.0', 'min': {'_id': 1}, 'max': {'_id': 2}}", NULL},
    {"shards", "{'_id': 's0', 'host': 's0/a:1,b:2', 'tags': ['tipple.d.c.0', 'x']}", NULL},
    {".files",
     "{'_id': {'$numberLong': '1'}, 'key': 'k', 'path': 'p', 'kind': 'plain', 'registeredBy': null, "
     "'removed': true, 'remains': true, 'version': 1, 'outgrown': 1, 'versions': [{'size': 9, 'digest': 'd', "
     "'modified': 1, 'completed': 1, 'torn': {'offset': 1, 'length': 2, 'hash': 3}}], 'extents': [{'base': "
     "1, 'start': 0, 'length': 9}], 'fixes': {'5-00000000000000ff': {'hash': 3, 'confirmed': true, "
     "'generation': 1, 'noted': {'00000000000000fe': true}}}, 'pieces': [{'from': 0, 'owner': {'$oid': "
     "'64a000000000000000000001'}, 'epoch': 1, 'generation': 1, 'complete': 1, 'unsafe': true, 'modified': "
     "5, 'done': [[0, 1, 7], [3, 4, 8]], 'read': 5, 'loaded': 5, 'already': 1, 'rejected': 1, 'filtered': 1, "
     "'corrected': 1, 'tail': {'from': 4, 'to': 5, 'hash': 6, 'read': 1}, 'rejects': {'$binary': {'base64': "
     "'AQAAAAAAAAACAAAAAAAAAA==', 'subType': '00'}}}]}",
     NULL},
    {".loads",
     "{'_id': {'$oid': '64a000000000000000000001'}, 'beat': 5, 'documents': 7, 'host': 'h', "
     "'process': 9, 'processes': 'p', 'started': {'$date': {'$numberLong': '5'}}, 'silent': 9}",
     NULL},
    {NULL, "{'_id': {'$numberLong': '1'}, 'a': 1}", NULL},
};

LAB_UNUSED const bson_t *odd_sample(odd_sample_t *samples, const char *name) {
    odd_sample_t *sample = samples;
    for (; sample->name; sample++) {
        const size_t length = strlen(name), end = strlen(sample->name);
        if (length >= end && strcmp(name + length - end, sample->name) == 0)
            break;
    }
    if (!sample->document)
        sample->document = lab_value(sample->json);
    return sample->document;
}

/* Any bytes that begin and end as a document does: the driver hands on no others. */
static bson_t *odd_raw(odd_t *odd) {
    const uint32_t length = 5 + (uint32_t)odd_below(odd, 64);
    uint8_t bytes[70] = {(uint8_t)length};
    for (uint32_t i = 4; i + 1 < length; i++)
        bytes[i] = odd_byte(odd);
    return bson_new_from_data(bytes, length);
}

LAB_UNUSED bson_t *odd_document(odd_t *odd, odd_sample_t *samples, const char *name) {
    const uint8_t choice = odd_byte(odd);
    bson_t *document = choice == 255 ? odd_raw(odd) : bson_new();
    if (choice < 240)
        odd_copy(odd, odd_sample(samples, name), false, document);
    else if (choice < 255)
        odd_value(odd, document, "value", 0);
    LAB_MUST(document);
    return document;
}

static void odd_find(odd_t *odd, const char *collection, bson_t ***documents, size_t *count) {
    *count = odd_below(odd, 5);
    *documents = calloc(*count + 1, sizeof **documents);
    LAB_MUST(*documents);
    for (size_t i = 0; i < *count; i++)
        (*documents)[i] = odd_document(odd, odd_documents, collection);
}

static void odd_free_list(bson_t **documents, size_t count) {
    for (size_t i = 0; i < count; i++)
        bson_destroy(documents[i]);
    free(documents);
}

/* {cursor: {NAME: [...], id, ns: "d.c"}, ok: 1} */
static bson_t *odd_cursor_reply(const char *name, bson_t **documents, size_t count, int64_t id) {
    bson_t *reply = bson_new(), cursor, batch;
    BSON_APPEND_DOCUMENT_BEGIN(reply, "cursor", &cursor);
    bson_append_array_unsafe_begin(&cursor, name, -1, &batch);
    for (size_t i = 0; i < count; i++) {
        char key[24];
        snprintf(key, sizeof key, "%zu", i);
        BSON_APPEND_DOCUMENT(&batch, key, documents[i]);
    }
    bson_append_array_end(&cursor, &batch);
    BSON_APPEND_INT64(&cursor, "id", id);
    BSON_APPEND_UTF8(&cursor, "ns", "d.c");
    bson_append_document_end(reply, &cursor);
    BSON_APPEND_INT32(reply, "ok", 1);
    return reply;
}

static bson_t *odd_batch(odd_t *odd, const char *collection) {
    bson_t **documents;
    size_t count;
    odd_find(odd, collection, &documents, &count);
    bson_t *reply = odd_cursor_reply("firstBatch", documents, count, 0);
    odd_free_list(documents, count);
    return reply;
}

static bool odd_fails(odd_t *odd, bson_error_t *error) {
    static const uint32_t domains[] = {
        MONGOC_ERROR_SERVER,        MONGOC_ERROR_STREAM, MONGOC_ERROR_SERVER_SELECTION, MONGOC_ERROR_CLIENT,
        MONGOC_ERROR_WRITE_CONCERN, MONGOC_ERROR_BSON,   MONGOC_ERROR_COMMAND,          0};
    static const uint32_t codes[] = {11000, 26, 13, 361, 91, 10334, 2, 13388, 211, 64, 100, 20};
    static const char *const words[] = {"", "No space left on device", "not primary",
                                        "Authentication failed.",
                                        "No suitable servers found: `serverSelectionTimeoutMS` expired"};
    int length;
    if (odd_byte(odd) < 232)
        return false;
    memset(error, 0, sizeof *error);
    error->domain = domains[odd_below(odd, sizeof domains / sizeof *domains)];
    error->code =
        odd_byte(odd) & 1 ? (uint32_t)odd_number(odd) : codes[odd_below(odd, sizeof codes / sizeof *codes)];
    const char *said = odd_byte(odd) & 1 ? odd_text(odd, &length) : words[odd_below(odd, 5)];
    snprintf(error->message, sizeof error->message, "%s", said);
    return true;
}

/* ---- the driver's functions: most of what they are given means nothing here ---- */

#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wunused-parameter"

static struct { char name[300]; /* of a collection */ } odd_client, odd_collection;

/* What the open cursor still has. */
static struct {
    bson_t **documents;
    size_t count, at;
} odd_cursor;

static mongoc_host_list_t odd_host = {.host = "h", .host_and_port = "h:27017", .port = 27017};

bool mongoc_client_command_simple(mongoc_client_t *client, const char *database, const bson_t *command,
                                  const mongoc_read_prefs_t *prefs, bson_t *reply, bson_error_t *error) {
    bson_iter_t first;
    bson_error_t ignored;
    bson_t *made, ignored_reply;
    LAB_MUST(bson_iter_init(&first, command) && bson_iter_next(&first));
    const char *name = bson_iter_key(&first);
    const bool fails = odd_fails(odd_server.odd, error ? error : &ignored);
    if (strcmp(name, "find") == 0 && odd_byte(odd_server.odd) < 240)
        made = odd_batch(odd_server.odd, bson_iter_utf8(&first, NULL));
    else
        made = odd_document(odd_server.odd, odd_replies, name);
    reply = reply ? reply : &ignored_reply;
    bson_copy_to(made, reply);
    if (reply == &ignored_reply)
        bson_destroy(reply);
    bson_destroy(odd_server.reply);
    odd_server.reply = fails ? NULL : made;
    if (fails)
        bson_destroy(made);
    return !fails;
}

bool mongoc_collection_insert_many(mongoc_collection_t *collection, const bson_t **documents, size_t count,
                                   const bson_t *options, bson_t *reply, bson_error_t *error) {
    LAB_MUST(odd_server.insert);
    return odd_server.insert(count, reply, error);
}

mongoc_client_session_t *mongoc_client_start_session(mongoc_client_t *client,
                                                     const mongoc_session_opt_t *options,
                                                     bson_error_t *error) {
    return odd_fails(odd_server.odd, error) ? NULL : (mongoc_client_session_t *)&odd_client;
}

void mongoc_client_session_destroy(mongoc_client_session_t *session) {
}

bool mongoc_client_session_append(const mongoc_client_session_t *session, bson_t *options,
                                  bson_error_t *error) {
    return true;
}

uint32_t mongoc_server_description_id(const mongoc_server_description_t *description) {
    return 1;
}

static void odd_forget_cursor(void) {
    odd_free_list(odd_cursor.documents, odd_cursor.count);
    odd_cursor.documents = NULL;
    odd_cursor.count = odd_cursor.at = 0;
}

/* The next of its documents, all of them or some; now and then a reply that is none. */
static bool odd_answer(const char *batch, bson_t *reply, bson_error_t *error) {
    odd_t *odd = odd_server.odd;
    const size_t left = odd_cursor.count - odd_cursor.at;
    const bool all = odd_byte(odd) < 192;
    const size_t count = all ? left : odd_below(odd, left + 1);
    bson_t **const next = count ? odd_cursor.documents + odd_cursor.at : NULL;
    bson_t *honest = odd_cursor_reply(batch, next, count, all ? 0 : 5);
    const bool fails = odd_fails(odd, error);
    bson_init(reply);
    if (odd_byte(odd) < 240)
        bson_concat(reply, honest);
    else
        odd_copy(odd, honest, false, reply);
    bson_destroy(honest);
    odd_cursor.at += count;
    if (all || fails)
        odd_forget_cursor();
    return !fails;
}

/* A find or an aggregation. */
bool mongoc_client_read_command_with_opts(mongoc_client_t *client, const char *database,
                                          const bson_t *command, const mongoc_read_prefs_t *prefs,
                                          const bson_t *options, bson_t *reply, bson_error_t *error) {
    bson_iter_t first;
    LAB_MUST(bson_iter_init(&first, command) && bson_iter_next(&first));
    odd_forget_cursor(); /* one whose id was not reported, or that failed */
    odd_find(odd_server.odd, bson_iter_utf8(&first, NULL), &odd_cursor.documents, &odd_cursor.count);
    return odd_answer("firstBatch", reply, error);
}

/* Of a cursor; nothing else is asked this way. */
bool mongoc_client_command_with_opts(mongoc_client_t *client, const char *database, const bson_t *command,
                                     const mongoc_read_prefs_t *prefs, const bson_t *options, bson_t *reply,
                                     bson_error_t *error) {
    bson_iter_t first;
    LAB_MUST(bson_iter_init(&first, command) && bson_iter_next(&first));
    if (strcmp(bson_iter_key(&first), "getMore") == 0)
        return odd_answer("nextBatch", reply, error);
    LAB_MUST(strcmp(bson_iter_key(&first), "killCursors") == 0 && !reply);
    odd_forget_cursor();
    return true;
}

mongoc_collection_t *mongoc_client_get_collection(mongoc_client_t *client, const char *database,
                                                  const char *collection) {
    snprintf(odd_collection.name, sizeof odd_collection.name, "%s", collection);
    return (mongoc_collection_t *)&odd_collection;
}

void mongoc_collection_destroy(mongoc_collection_t *collection) {
}

mongoc_client_pool_t *mongoc_client_pool_new_with_error(const mongoc_uri_t *uri, bson_error_t *error) {
    return (mongoc_client_pool_t *)&odd_client;
}

bool mongoc_client_pool_set_error_api(mongoc_client_pool_t *pool, int32_t version) {
    return true;
}

void mongoc_client_pool_max_size(mongoc_client_pool_t *pool, uint32_t size) {
}

mongoc_client_t *mongoc_client_pool_try_pop(mongoc_client_pool_t *pool) {
    return (mongoc_client_t *)&odd_client;
}

void mongoc_client_pool_push(mongoc_client_pool_t *pool, mongoc_client_t *client) {
}

void mongoc_client_pool_destroy(mongoc_client_pool_t *pool) {
}

mongoc_client_t *mongoc_client_new_from_uri(const mongoc_uri_t *uri) {
    return (mongoc_client_t *)&odd_client;
}

mongoc_client_t *mongoc_client_new_from_uri_with_error(const mongoc_uri_t *uri, bson_error_t *error) {
    return mongoc_client_new_from_uri(uri);
}

void mongoc_client_destroy(mongoc_client_t *client) {
}

bool mongoc_client_set_error_api(mongoc_client_t *client, int32_t version) {
    return true;
}

void mongoc_client_set_ssl_opts(mongoc_client_t *client, const mongoc_ssl_opt_t *options) {
}

mongoc_server_description_t *mongoc_client_select_server(mongoc_client_t *client, bool writes,
                                                         const mongoc_read_prefs_t *prefs,
                                                         bson_error_t *error) {
    return odd_fails(odd_server.odd, error) ? NULL : (mongoc_server_description_t *)&odd_host;
}

mongoc_server_description_t **mongoc_client_get_server_descriptions(const mongoc_client_t *client,
                                                                    size_t *count) {
    static mongoc_server_description_t *all[3] = {(mongoc_server_description_t *)&odd_host,
                                                  (mongoc_server_description_t *)&odd_host, NULL};
    *count = odd_below(odd_server.odd, 3);
    return all;
}

mongoc_server_description_t *mongoc_client_get_server_description(mongoc_client_t *client, uint32_t number) {
    return odd_below(odd_server.odd, number + 1) ? NULL : (mongoc_server_description_t *)&odd_host;
}

void mongoc_server_descriptions_destroy_all(mongoc_server_description_t **all, size_t count) {
}

void mongoc_server_description_destroy(mongoc_server_description_t *description) {
}

const char *mongoc_server_description_type(const mongoc_server_description_t *description) {
    static const char *const types[] = {"Mongos",       "RSPrimary", "Standalone", "RSSecondary",
                                        "LoadBalancer", "Unknown",   "RSGhost"};
    return types[odd_below(odd_server.odd, sizeof types / sizeof *types)];
}

/* The driver gives a constant from 2.0 on. */
typeof(mongoc_server_description_host(NULL))
mongoc_server_description_host(const mongoc_server_description_t *description) {
    return &odd_host;
}

const bson_t *mongoc_server_description_hello_response(const mongoc_server_description_t *description) {
    static odd_sample_t hellos[] = {
        {NULL,
         "{'maxBsonObjectSize': 16777216, 'maxMessageSizeBytes': 48000000, 'maxWriteBatchSize': 100000, "
         "'readOnly': false, 'hosts': ['127.0.0.1:1', 'b:2'], 'passives': ['[::1]:5'], 'setName': 'r'}",
         NULL}};
    bson_destroy(odd_server.hello);
    return odd_server.hello = odd_document(odd_server.odd, hellos, "");
}

/* Nobody asks the network what a name means. */
int getaddrinfo(const char *name, const char *service, const struct addrinfo *hints,
                struct addrinfo **found) {
    *found = NULL;
    return EAI_NONAME;
}

#pragma GCC diagnostic pop

/* ---- a server that is made of it ---- */

/* Warnings of the code under test go nowhere. */
static void odd_begin(odd_t *odd) {
    static FILE *nowhere;
    if (!nowhere && (nowhere = fopen("/dev/null", "w")))
        stderr = nowhere;
    odd_server.odd = odd;
}

static void odd_end(void) {
    odd_forget_cursor();
    bson_destroy(odd_server.hello);
    bson_destroy(odd_server.reply);
    odd_server.hello = odd_server.reply = NULL;
}

/* With TLS the pool is ended at once, and by nobody else. NULL: refused; err has a sentence. */
LAB_UNUSED server_t *odd_connect(err_t *err) {
    const server_options_t options = {.uri = "mongodb://h/d.c?tls=true", .patience_ns = 1, .connections = 4};
    *err = (err_t){.text = ""};
    server_t *server = server_connect(&options, err);
    LAB_MUST(server || (err->status != STATUS_OK && err->text[0]));
    return server;
}

#endif
