/* Sends one batch and reads back what is there: the wire of one thread to real servers. send.h has the contract. */
#include "base/clock.h"
#include "base/document.h"
#include "base/log.h"
#include "base/stop.h"
#include "base/text.h"
#include "server/bson_read.h"
#include "server/collection.h"
#include "server/send.h"
#include "server/server.h"
#include "server/server_errors.h"
#include "server/server_inner.h"

#include <ctype.h>
#include <inttypes.h>
#include <stdalign.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- replies of the driver as plain data ---- */

typedef struct {
    /* the driver fills these */
    bson_t reply;
    bson_error_t error;
    /* a reply_t points into these until the next one is read */
    write_error_t *errors; /* free() them at the end */
    size_t error_room;
    char words[BSON_ERROR_BUFFER_SIZE];
} write_reply_t;

static void copy_words(char *to, size_t size, const char *words) {
    size_t length = strlen(words);
    if (length > size - 1)
        for (length = size - 1; length && ((unsigned char)words[length] & 0xC0) == 0x80;)
            length--; /* not in the middle of a character */
    for (size_t i = 0; i < length; i++)
        to[i] = iscntrl((unsigned char)words[i]) ? ' ' : words[i];
    to[length] = '\0';
}

/* UINT32_MAX is more than any message has, so then nothing of the reply is believed. */
static uint32_t read_count(const bson_iter_t *field) {
    const int64_t count =
        BSON_ITER_HOLDS_INT32(field) || BSON_ITER_HOLDS_INT64(field) ? bson_iter_as_int64(field) : -1;
    return count >= 0 && count < UINT32_MAX ? (uint32_t)count : UINT32_MAX;
}

/* Reads the fields of a write error, or of a write concern error. If a server does not name the index, the document is read back
 * like any duplicate. */
static void read_error(const bson_iter_t *entry, write_error_t *error) {
    bson_t said, keys;
    bson_iter_t field;
    *error = (write_error_t){.index = UINT32_MAX};
    if (bson_read_document(entry, &said)) {
        if (bson_iter_init_find(&field, &said, "index"))
            error->index = read_count(&field);
        if (bson_iter_init_find(&field, &said, "code"))
            error->code = (int)bson_iter_as_int64(&field);
        copy_words(error->words, sizeof error->words, bson_read_text(&said, "errmsg"));
        error->other_index = bson_read_field(&said, "keyPattern", &keys) && !collection_keys_of_id(&keys);
    }
    if (!error->words[0])
        snprintf(error->words, sizeof error->words, "the server says no more than its error code, %d",
                 error->code);
}

static bool read_write_errors(write_reply_t *read, reply_t *reply, err_t *err) {
    bson_iter_t iter, entry;
    if (!bson_iter_init_find(&iter, &read->reply, "writeErrors") || !bson_iter_recurse(&iter, &entry))
        return true;
    while (bson_iter_next(&entry)) {
        if (!GROW(read->errors, read->error_room, reply->error_count + 1, err))
            return false;
        read_error(&entry, &read->errors[reply->error_count++]);
    }
    reply->errors = read->errors;
    return true;
}

/* The driver's replies have a list of write concern errors, a server's own reply has one. */
static void read_concern(write_reply_t *read, reply_t *reply) {
    bson_iter_t iter, entry;
    write_error_t error;
    const bool listed = bson_iter_init_find(&iter, &read->reply, "writeConcernErrors") &&
                        bson_iter_recurse(&iter, &entry) && bson_iter_next(&entry);
    if (!listed && !bson_iter_init_find(&entry, &read->reply, "writeConcernError"))
        return;
    read_error(&entry, &error);
    reply->concern_failed = true;
    reply->concern_code = error.code;
    copy_words(read->words, sizeof read->words, error.words);
}

/* What kind of reply it is when the driver gives none that names documents. */
static reply_kind_t kind_of(const bson_error_t *error, const bson_t *reply) {
    return error->domain == MONGOC_ERROR_SERVER             ? REPLY_FAILED
           : refusal_of(error, reply) != CODE_PASSING       ? REPLY_IMPOSSIBLE
           : error->domain == MONGOC_ERROR_SERVER_SELECTION ? REPLY_UNSENT
                                                            : REPLY_LOST;
}

/* ok: what the driver has returned; count: documents of the message; counted: the field that says how many were written.
 * False: memory. */
static bool read_reply(write_reply_t *read, bool ok, uint32_t count, const char *counted, reply_t *reply,
                       err_t *err) {
    bson_iter_t iter;
    *reply = (reply_t){.kind = REPLY_GIVEN, .words = read->words};
    read->words[0] = '\0';
    if (!read_write_errors(read, reply, err))
        return false;
    read_concern(read, reply);
    reply->inserted = bson_iter_init_find(&iter, &read->reply, counted) ? read_count(&iter) : 0;
    if (!ok && !reply->error_count && (!reply->concern_failed || read->error.domain == MONGOC_ERROR_SERVER)) {
        reply->kind = kind_of(&read->error, &read->reply);
        reply->code = (int)read->error.code;
        reply->passing = mongoc_error_has_label(&read->reply, "RetryableWriteError");
        copy_words(read->words, sizeof read->words, read->error.message);
    } else if (!reply->concern_failed && reply->inserted + reply->error_count != count) {
        snprintf(read->words, sizeof read->words, "the server answered for %" PRIu64 " of %u documents",
                 reply->inserted + reply->error_count, (unsigned)count);
    }
    return true;
}

/* What a message contains next to documents: much more than the driver ever needs. */
enum { MESSAGE_OVERHEAD = 65536 };

static const int64_t NEAR_OFF_NS = 1000000000;

/* A connection through which messages go. */
typedef struct {
    server_t *server;
    mongoc_client_t *client;
    mongoc_collection_t *collection;
    const bson_t *options; /* of each insert */
} line_t;

struct writer {
    wire_t wire;
    server_t *server;
    line_t home;         /* to the server, through any host that the driver chooses */
    line_t near;         /* through one router; its server is NULL if there is none */
    line_t straight;     /* to one shard, while a batch goes there */
    const line_t *line;  /* the line that the current batch uses */
    int64_t near_off_ns; /* the router did not answer: it is not tried before this time */
    bool stale;
    bson_t *options;
    bson_t straight_options;
    mongoc_read_prefs_t *primary;
    /* the documents of a message in the driver's form: reused, so that no document costs an allocation */
    bson_t *views;
    const bson_t **pointers;
    size_t room;
    /* the last try */
    write_reply_t read;
    patience_t patience;
    char doing[300], reading[300];
};

static bool open_line(line_t *line, server_t *server, const bson_t *options, err_t *err) {
    *line = (line_t){.server = server, .client = server_take(server, err), .options = options};
    if (line->client)
        line->collection =
            mongoc_client_get_collection(line->client, server_database(server), server_collection(server));
    return line->client != NULL;
}

static void close_line(line_t *line) {
    if (line->collection)
        mongoc_collection_destroy(line->collection);
    if (line->client)
        server_give(line->server, line->client);
    *line = (line_t){.server = NULL};
}

void writer_destroy(writer_t *writer) {
    if (!writer)
        return;
    close_line(&writer->home);
    close_line(&writer->near);
    close_line(&writer->straight);
    bson_destroy(writer->options);
    bson_destroy(&writer->straight_options);
    bson_destroy(&writer->read.reply);
    mongoc_read_prefs_destroy(writer->primary);
    free(writer->views);
    free(writer->pointers);
    free(writer->read.errors);
    free(writer);
}

void writer_set_uuid(writer_t *writer, const uint8_t uuid[16]) {
    if (!bson_has_field(writer->options, "collectionUUID"))
        server_append_uuid(writer->server, uuid, writer->options);
}

mongoc_client_t *writer_client(const writer_t *writer) {
    return writer->home.client;
}

const wire_t *writer_wire(const writer_t *writer) {
    return &writer->wire;
}

bool writer_begin_batch(writer_t *writer, straight_t straight, err_t *err) {
    writer->stale = false;
    if (straight.server) {
        if (!open_line(&writer->straight, straight.server, &writer->straight_options, err))
            return false;
        bson_destroy(&writer->straight_options);
        bson_copy_to(writer->options, &writer->straight_options);
        bson_concat(&writer->straight_options, straight.version);
        writer->line = &writer->straight;
    } else {
        const bool near = writer->near.server && clock_now_ns() >= writer->near_off_ns;
        writer->line = near ? &writer->near : &writer->home;
    }
    return true;
}

void writer_end_batch(writer_t *writer, bool *stale) {
    *stale = writer->stale;
    close_line(&writer->straight);
    writer->line = &writer->home;
}

/* ---- a message ---- */

static bool make_room(writer_t *writer, size_t count, err_t *err) {
    if (count <= writer->room)
        return true;
    free(writer->views);
    free(writer->pointers);
    writer->room = 0;
    writer->views = aligned_alloc(alignof(bson_t), count * sizeof *writer->views);
    writer->pointers = malloc(count * sizeof *writer->pointers);
    if (!writer->views || !writer->pointers)
        return err_memory(err, count * sizeof *writer->views);
    for (size_t i = 0; i < count; i++)
        writer->pointers[i] = &writer->views[i];
    writer->room = count;
    return true;
}

static bool view_documents(writer_t *writer, const message_t *message, err_t *err) {
    const documents_t *all = message->all;
    if (!make_room(writer, message->count, err))
        return false;
    for (uint32_t i = 0; i < message->count; i++) {
        const uint32_t index = message_index(message, i), start = all->starts[index];
        if (!bson_init_static(&writer->views[i], all->bytes + start, all->starts[index + 1] - start))
            return err_set(
                err, STATUS_HOST,
                "document %u of a batch is not BSON: this is a mistake in tipple, please report it",
                (unsigned)index);
    }
    return true;
}

/* ---- the wire ---- */

static bool insert(void *context, const message_t *message, reply_t *reply, err_t *err) {
    writer_t *writer = context;
    if (!view_documents(writer, message, err))
        return false;
    memset(&writer->read.error, 0, sizeof writer->read.error);
    bson_destroy(&writer->read.reply);
    bool ok = mongoc_collection_insert_many(writer->line->collection, writer->pointers, message->count,
                                            writer->line->options, &writer->read.reply, &writer->read.error);
    return read_reply(&writer->read, ok, message->count, "insertedCount", reply, err);
}

/* One statement of an update command: the document takes the place of the one that has all of these bytes. Compared as lists of one,
 * since MongoDB 4.4 refuses to compare $$ROOT itself (code 16409). */
static bool append_replacement(writer_t *writer, bson_t *updates, uint32_t i, const replaced_t *before) {
    char buffer[16];
    const char *key;
    bson_t query = BSON_INITIALIZER, stored;
    bson_iter_t id;
    const size_t length = bson_uint32_to_string(i, &key, buffer, sizeof buffer);
    bool ok = bson_init_static(&stored, before->bytes, before->length) && element_of(&stored, "_id", &id) &&
              element_append(&query, "_id", &id);
    if (ok) {
        BCON_APPEND(&query, "$expr", "{", "$eq", "[", "[", BCON_UTF8("$$ROOT"), "]", "[", "{", "$literal",
                    BCON_DOCUMENT(&stored), "}", "]", "]", "}");
        bson_t *statement = BCON_NEW("q", BCON_DOCUMENT(&query), "u", BCON_DOCUMENT(&writer->views[i]));
        ok = bson_append_document(updates, key, (int)length, statement);
        bson_destroy(statement);
    }
    bson_destroy(&query);
    return ok;
}

/* An update command by hand: the driver's own would be sent again by itself, or be cut into several. */
static bool replace(void *context, const message_t *message, const replaced_t *before, reply_t *reply,
                    err_t *err) {
    writer_t *writer = context;
    bson_t command = BSON_INITIALIZER, updates;
    if (!view_documents(writer, message, err))
        return false;
    BSON_APPEND_UTF8(&command, "update", server_collection(writer->server));
    BSON_APPEND_BOOL(&command, "ordered", false);
    bson_copy_to_excluding_noinit(writer->options, &command, "validate", "ordered", NULL);
    bool ok = BSON_APPEND_ARRAY_UNSAFE_BEGIN(&command, "updates", &updates);
    for (uint32_t i = 0; ok && i < message->count; i++)
        ok = append_replacement(writer, &updates, i, &before[i]);
    ok = ok && bson_append_array_end(&command, &updates);
    if (!ok) {
        bson_destroy(&command);
        return err_memory(err, command.len);
    }
    memset(&writer->read.error, 0, sizeof writer->read.error);
    bson_destroy(&writer->read.reply);
    ok = mongoc_client_command_simple(writer->line->client, server_database(writer->server), &command, NULL,
                                      &writer->read.reply, &writer->read.error);
    bson_destroy(&command);
    return read_reply(&writer->read, ok, message->count, "n", reply, err);
}

/* The driver's own words for the trouble: they name hosts and their state. */
static void describe(const writer_t *writer, const trouble_t *trouble, bson_error_t *error) {
    if (!trouble || (trouble->reply && trouble->reply->kind != REPLY_GIVEN)) {
        *error = writer->read.error;
        return;
    }
    memset(error, 0, sizeof *error);
    if (trouble->error)
        bson_set_error(error, MONGOC_ERROR_SERVER, (uint32_t)trouble->error->code, "%s",
                       trouble->error->words);
    else if (trouble->reply && trouble->reply->concern_failed)
        bson_set_error(error, MONGOC_ERROR_WRITE_CONCERN, (uint32_t)trouble->reply->concern_code, "%s",
                       trouble->reply->words);
    else
        bson_set_error(error, MONGOC_ERROR_STREAM, MONGOC_ERROR_STREAM_SOCKET, "%s",
                       trouble->reply ? trouble->reply->words : trouble->words);
}

static bool says_stale(const reply_t *reply) {
    bool stale = reply->kind == REPLY_FAILED && reply->code == CODE_STALE_CONFIG;
    for (uint32_t i = 0; i < reply->error_count && !stale; i++)
        stale = reply->errors[i].code == CODE_STALE_CONFIG;
    return stale;
}

/* Goes back to `home` after another line failed. True: try again at once, without using patience. */
static bool turn_home(writer_t *writer, const trouble_t *trouble) {
    if (!trouble || !trouble->reply || writer->line == &writer->home)
        return false;
    if (writer->line == &writer->near)
        writer->near_off_ns = clock_now_ns() + NEAR_OFF_NS;
    else if (!says_stale(trouble->reply))
        return false; /* the router would not find the shard either */
    else
        writer->stale = true;
    writer->line = &writer->home;
    return true;
}

static void begin(void *context) {
    writer_t *writer = context;
    /* a near router that fails is left at once, so the patience is that of all routers */
    writer->patience =
        server_patience(writer->line == &writer->straight ? writer->line->server : writer->server);
}

static bool again(void *context, const trouble_t *trouble, err_t *err) {
    writer_t *writer = context;
    const line_t *line = trouble && trouble->reply ? writer->line : &writer->home;
    bson_error_t error;
    if (turn_home(writer, trouble))
        return true;
    describe(writer, trouble, &error);
    return server_wait(line->server, line->client, &writer->patience, &error, &writer->read.reply,
                       trouble ? writer->doing : writer->reading, err);
}

static bool refuse(void *context, const trouble_t *trouble, err_t *err) {
    writer_t *writer = context;
    bson_error_t error;
    describe(writer, trouble, &error);
    return refusal_explain(server_address(writer->line->server), &error, &writer->read.reply, writer->doing,
                           err);
}

/* {_id: {$in: [...]}} */
static bool ask_for(writer_t *writer, const message_t *message, bson_t *filter, err_t *err) {
    char buffer[16];
    const char *key;
    bson_t in, list;
    bson_iter_t id;
    bool ok = view_documents(writer, message, err);
    BSON_APPEND_DOCUMENT_BEGIN(filter, "_id", &in);
    BSON_APPEND_ARRAY_UNSAFE_BEGIN(&in, "$in", &list);
    for (uint32_t i = 0; ok && i < message->count; i++) {
        bson_uint32_to_string(i, &key, buffer, sizeof buffer);
        ok = (element_of(&writer->views[i], "_id", &id) && element_append(&list, key, &id)) ||
             err_memory(err, list.len);
    }
    bson_append_array_end(&in, &list);
    bson_append_document_end(filter, &in);
    return ok;
}

static fetched_t fetch(void *context, const message_t *message, found_fn *found, void *finder, err_t *err) {
    writer_t *writer = context;
    bson_t filter = BSON_INITIALIZER;
    const bson_t *document, *reply;
    bson_t *options = BCON_NEW("batchSize", BCON_INT64((int64_t)message->count + 1), "readConcern", "{",
                               "level", BCON_UTF8("majority"), "}");
    bool ok = ask_for(writer, message, &filter, err);
    fetched_t fetched = ok ? FETCHED : FETCH_FAILED;
    command_cursor_t cursor;
    command_cursor_find(&cursor, writer->home.client, server_database(writer->server),
                        server_collection(writer->server), &filter, options, writer->primary);
    while (ok && command_cursor_next(&cursor, &document))
        ok = found(finder, bson_get_data(document), document->len, err);
    if (!ok) {
        fetched = FETCH_FAILED;
    } else if (command_cursor_failed(&cursor, &writer->read.error, &reply)) {
        bson_destroy(&writer->read.reply);
        bson_copy_to(reply, &writer->read.reply);
        if (refusal_of(&writer->read.error, reply) == CODE_PASSING) {
            fetched = FETCH_AGAIN;
        } else {
            refusal_explain(server_address(writer->server), &writer->read.error, reply, writer->reading, err);
            fetched = FETCH_FAILED;
        }
    }
    command_cursor_end(&cursor);
    bson_destroy(options);
    bson_destroy(&filter);
    return fetched;
}

writer_t *writer_new(server_t *server, server_t *near, err_t *err) {
    writer_t *writer = ZEROED(writer_t);
    const server_facts_t *facts = server_facts(server);
    if (!writer) {
        err_memory(err, sizeof *writer);
        return NULL;
    }
    writer->server = server;
    bson_init(&writer->read.reply);
    bson_init(&writer->straight_options);
    writer->options = BCON_NEW("validate", BCON_BOOL(false), "ordered", BCON_BOOL(false));
    writer->line = &writer->home;
    if (!open_line(&writer->home, server, writer->options, err) ||
        (near && !open_line(&writer->near, near, writer->options, err))) {
        writer_destroy(writer);
        return NULL;
    }
    bson_concat(writer->options, server->data);
    writer->primary = mongoc_read_prefs_new(MONGOC_READ_PRIMARY);
    snprintf(writer->doing, sizeof writer->doing, "insert into %s", server_namespace(server));
    snprintf(writer->reading, sizeof writer->reading, "read documents of %s back", server_namespace(server));
    writer->wire = (wire_t){.context = writer,
                            .max_document_bytes = facts->max_document_bytes,
                            .max_message_bytes = facts->max_message_bytes - MESSAGE_OVERHEAD,
                            .max_batch = facts->max_batch,
                            .begin = begin,
                            .insert = insert,
                            .replace = replace,
                            .fetch = fetch,
                            .again = again,
                            .refuse = refuse};
    return writer;
}

/* ---- several routers ---- */

static const int64_t PATIENCE_NS = 1000000000;

void routers_open(server_t *server, uint32_t connections, routers_t *routers) {
    const mongoc_uri_t *uri = server_address(server)->uri;
    const mongoc_host_list_t *hosts = mongoc_uri_get_hosts(uri);
    err_t err;
    *routers = (routers_t){.count = 0};
    if (server_facts(server)->kind != SERVER_ROUTER || mongoc_uri_get_srv_hostname(uri) || !hosts ||
        !hosts->next)
        return;
    for (; hosts && routers->count < ROUTERS_MOST && !stop_signal(); hosts = hosts->next) {
        server_t *router =
            server_of_hosts(server, hosts->host_and_port, NULL, connections, PATIENCE_NS, &err);
        if (router)
            routers->servers[routers->count++] = router;
        else
            log_note("the router %s is left out: %s", hosts->host_and_port, err.text);
    }
    if (routers->count < 2)
        routers_close(routers);
}

void routers_close(routers_t *routers) {
    while (routers->count)
        server_destroy(routers->servers[--routers->count]);
}
