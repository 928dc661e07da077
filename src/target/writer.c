#include "target/writer.h"
#include "base/clock.h"
#include "target/codes.h"

#include <ctype.h>
#include <stdalign.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* What a message holds besides documents: far more than the driver ever puts there. */
enum { MESSAGE_OVERHEAD = 65536 };

static const int64_t NEAR_OFF_NS = 1000000000;

/* A connection that messages take. */
typedef struct {
    server_t *server;
    mongoc_client_t *client;
    mongoc_collection_t *collection;
} line_t;

struct writer {
    server_t *server;
    line_t home;         /* of the server, whichever host of it the driver chooses */
    line_t near;         /* through one router; no server where there is none */
    int64_t near_off_ns; /* the router did not answer: not to be tried before this */
    bson_t *options;
    bool acknowledged;
    /* the documents of a batch as the driver wants them: reused, so that no document costs an allocation */
    bson_t *views;
    const bson_t **pointers;
    size_t room;
    refused_t *refused;
    size_t refused_count, refused_room;
    int64_t wait_ns;
    char doing[300];
};

static bool open_line(line_t *line, server_t *server, err_t *err) {
    *line = (line_t){.server = server, .client = server_take(server, err)};
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
}

writer_t *writer_new(server_t *server, server_t *near, err_t *err) {
    writer_t *writer = calloc(1, sizeof *writer);
    if (!writer) {
        err_memory(err, sizeof *writer);
        return NULL;
    }
    writer->server = server;
    if (!open_line(&writer->home, server, err) || (near && !open_line(&writer->near, near, err))) {
        writer_destroy(writer);
        return NULL;
    }
    writer->options = BCON_NEW("validate", BCON_BOOL(false), "ordered", BCON_BOOL(false));
    /* a copy: appending changes a concern, and the server's is shared by all threads */
    mongoc_write_concern_t *concern = mongoc_write_concern_copy(server_data_concern(server));
    mongoc_write_concern_append(concern, writer->options);
    writer->acknowledged = mongoc_write_concern_is_acknowledged(concern);
    mongoc_write_concern_destroy(concern);
    snprintf(writer->doing, sizeof writer->doing, "insert into %s", server_namespace(server));
    return writer;
}

void writer_destroy(writer_t *writer) {
    if (!writer)
        return;
    close_line(&writer->home);
    close_line(&writer->near);
    bson_destroy(writer->options);
    free(writer->views);
    free(writer->pointers);
    free(writer->refused);
    free(writer);
}

int64_t writer_wait_ns(const writer_t *writer) {
    return writer->wait_ns;
}

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

/* ---- what was refused ---- */

static refused_t *refuse(writer_t *writer, size_t index, int code, const char *reason, err_t *err) {
    if (writer->refused_count == writer->refused_room) {
        size_t room = writer->refused_room ? writer->refused_room * 2 : 64;
        refused_t *larger = realloc(writer->refused, room * sizeof *larger);
        if (!larger) {
            err_memory(err, room * sizeof *larger);
            return NULL;
        }
        writer->refused = larger;
        writer->refused_room = room;
    }
    refused_t *refused = &writer->refused[writer->refused_count++];
    *refused = (refused_t){.index = (uint32_t)index, .code = code};
    size_t length = strlen(reason), most = sizeof refused->reason - 1;
    if (length > most)
        for (length = most; length && ((unsigned char)reason[length] & 0xC0) == 0x80;)
            length--; /* not in the middle of a character */
    for (size_t i = 0; i < length; i++)
        refused->reason[i] = iscntrl((unsigned char)reason[i]) ? ' ' : reason[i];
    return refused;
}

static int by_index(const void *a, const void *b) {
    const refused_t *left = a, *right = b;
    return (left->index > right->index) - (left->index < right->index);
}

/* keyPattern is {_id: 1}, and nothing else. */
static bool is_id_pattern(const bson_iter_t *entry) {
    bson_iter_t fields, keys;
    return bson_iter_recurse(entry, &fields) && bson_iter_find(&fields, "keyPattern") &&
           BSON_ITER_HOLDS_DOCUMENT(&fields) && bson_iter_recurse(&fields, &keys) && bson_iter_next(&keys) &&
           strcmp(bson_iter_key(&keys), "_id") == 0 && bson_iter_as_int64(&keys) == 1 &&
           !bson_iter_next(&keys);
}

/* Codes that may mean a document or the server: the server, when nothing at all was accepted. */
static bool is_general(int code) {
    static const int codes[] = {1,   8,  26, 96,
                                125, 146}; /* InternalError, UnknownError, NamespaceNotFound,
                                              OperationFailed, CommandFailed, ExceededMemoryLimit */
    for (size_t i = 0; i < sizeof codes / sizeof *codes; i++)
        if (codes[i] == code)
            return true;
    return false;
}

typedef enum { SENT, SENT_AGAIN, SENT_NEVER } sent_t;

/* One write error of the reply: of its document (kept), or of the server (error is filled). */
static sent_t take_write_error(writer_t *writer, size_t from, const bson_iter_t *entry, bson_error_t *error,
                               err_t *err) {
    bson_iter_t field;
    uint32_t index = 0, code = 0;
    const char *words = "";
    for (bson_iter_recurse(entry, &field); bson_iter_next(&field);) {
        const char *key = bson_iter_key(&field);
        if (strcmp(key, "index") == 0)
            index = (uint32_t)bson_iter_as_int64(&field);
        else if (strcmp(key, "code") == 0)
            code = (uint32_t)bson_iter_as_int64(&field);
        else if (strcmp(key, "errmsg") == 0 && BSON_ITER_HOLDS_UTF8(&field))
            words = bson_iter_utf8(&field, NULL);
    }
    bson_error_t one = {.domain = MONGOC_ERROR_SERVER, .code = code};
    bson_strncpy(one.message, words, sizeof one.message);
    refusal_t refusal = code == CODE_DUPLICATE_KEY ? REFUSAL_OTHER : server_refusal(&one, NULL);
    if (refusal != REFUSAL_OTHER) {
        *error = one;
        return refusal == REFUSAL_GONE ? SENT_AGAIN : SENT_NEVER;
    }
    refused_t *refused = refuse(writer, from + index, (int)code, words, err);
    if (!refused)
        return SENT_NEVER;
    refused->duplicate_id = code == CODE_DUPLICATE_KEY && is_id_pattern(entry);
    return SENT;
}

/* Everything that a reply says. On SENT_NEVER err is set or error holds the refusal to explain. */
static sent_t read_reply(writer_t *writer, size_t from, size_t count, const bson_t *reply, bool ok,
                         bson_error_t *error, err_t *err) {
    bson_iter_t iter, entry;
    size_t before = writer->refused_count;
    int64_t inserted = bson_iter_init_find(&iter, reply, "insertedCount") ? bson_iter_as_int64(&iter) : 0;
    bool listed = false;
    if (bson_iter_init_find(&iter, reply, "writeErrors") && bson_iter_recurse(&iter, &entry)) {
        while (bson_iter_next(&entry)) {
            listed = true;
            sent_t sent = take_write_error(writer, from, &entry, error, err);
            if (sent != SENT)
                return sent;
        }
    }
    if (bson_iter_init_find(&iter, reply, "writeConcernErrors") && bson_iter_recurse(&iter, &entry)) {
        while (bson_iter_next(&entry)) {
            bson_iter_t field;
            memset(error, 0, sizeof *error);
            error->domain = MONGOC_ERROR_WRITE_CONCERN;
            if (bson_iter_recurse(&entry, &field) && bson_iter_find(&field, "code"))
                error->code = (uint32_t)bson_iter_as_int64(&field);
            if (bson_iter_recurse(&entry, &field) && bson_iter_find(&field, "errmsg") &&
                BSON_ITER_HOLDS_UTF8(&field))
                bson_strncpy(error->message, bson_iter_utf8(&field, NULL), sizeof error->message);
            return server_refusal(error, NULL) == REFUSAL_GONE ? SENT_AGAIN : SENT_NEVER;
        }
    }
    if (!ok && !listed)
        return server_refusal(error, reply) == REFUSAL_GONE ? SENT_AGAIN : SENT_NEVER;
    size_t refused = writer->refused_count - before;
    bool same = refused == count;
    for (size_t i = before; same && i < writer->refused_count; i++)
        same = writer->refused[i].code == writer->refused[before].code;
    if (same && refused && is_general(writer->refused[before].code)) {
        memset(error, 0, sizeof *error);
        error->domain = MONGOC_ERROR_SERVER;
        error->code = (uint32_t)writer->refused[before].code;
        bson_strncpy(error->message, writer->refused[before].reason, sizeof error->message);
        return SENT_NEVER;
    }
    if (writer->acknowledged && (size_t)inserted + refused != count) {
        memset(error, 0, sizeof *error);
        bson_set_error(error, MONGOC_ERROR_STREAM, MONGOC_ERROR_STREAM_SOCKET,
                       "the server answered for %zu of %zu documents", (size_t)inserted + refused, count);
        return SENT_AGAIN;
    }
    return SENT;
}

/* ---- sending ---- */

static bool send_once(writer_t *writer, const line_t *line, const bson_t *options, size_t count,
                      bson_t *reply, bson_error_t *error) {
    int64_t start = clock_now_ns(), cpu = clock_ns(CLOCK_THREAD_CPUTIME_ID);
    memset(error, 0, sizeof *error);
    bool ok = mongoc_collection_insert_many(line->collection, writer->pointers, count, options, reply, error);
    writer->wait_ns += clock_now_ns() - start - (clock_ns(CLOCK_THREAD_CPUTIME_ID) - cpu);
    return ok;
}

/* Home, after the first line failed. True: at once, without patience. */
static bool turn_home(writer_t *writer, const line_t **line, const bson_t **options,
                      const bson_error_t *error, written_t *written) {
    if (*line == &writer->home)
        return false;
    bool stale = error->domain == MONGOC_ERROR_SERVER && error->code == CODE_STALE_CONFIG;
    if (*line == &writer->near)
        writer->near_off_ns = clock_now_ns() + NEAR_OFF_NS;
    else if (!stale)
        return false; /* the router would find the shard gone, too */
    else
        written->stale = true;
    *line = &writer->home;
    *options = writer->options;
    return true;
}

/* One message: the documents [from, to). */
static bool send_range(writer_t *writer, const line_t *line, const bson_t *options, const uint8_t *bytes,
                       const uint32_t *starts, size_t from, size_t to, written_t *written, err_t *err) {
    size_t count = to - from, before = writer->refused_count;
    if (!make_room(writer, count, err))
        return false;
    for (size_t i = 0; i < count; i++)
        if (!bson_init_static(&writer->views[i], bytes + starts[from + i],
                              starts[from + i + 1] - starts[from + i]))
            return err_set(err, STATUS_HOST,
                           "document %zu of a batch is not BSON: this is a mistake in tipple, please "
                           "report it",
                           from + i);
    patience_t patience = server_patience(line == &writer->near ? writer->server : line->server);
    for (;;) {
        bson_t reply;
        bson_error_t error;
        bool ok = send_once(writer, line, options, count, &reply, &error);
        writer->refused_count = before;
        err->text[0] = '\0';
        sent_t sent = ok && writer->acknowledged == false
                          ? SENT
                          : read_reply(writer, from, count, &reply, ok, &error, err);
        bool again = false;
        if (sent == SENT) {
            server_answered(line->server);
        } else if (sent == SENT_NEVER) {
            if (!err->text[0])
                server_explain(line->server, &error, &reply, writer->doing, err);
        } else {
            /* without a server to send to, nothing was sent */
            bool was_sent = error.domain != MONGOC_ERROR_SERVER_SELECTION;
            again = turn_home(writer, &line, &options, &error, written) ||
                    server_again(line->server, line->client, &patience, &error, &reply, writer->doing, err);
            written->in_doubt |= was_sent;
            written->retries += again && was_sent;
        }
        bson_destroy(&reply);
        if (!again)
            return sent == SENT;
    }
}

/* In messages of what the server allows. */
static bool send_all(writer_t *writer, const line_t *line, const bson_t *options, const uint8_t *bytes,
                     const uint32_t *starts, size_t count, written_t *written, err_t *err) {
    const server_facts_t *facts = server_facts(writer->server);
    const uint32_t most_bytes = facts->max_message_bytes - MESSAGE_OVERHEAD;
    bool ok = true;
    for (size_t from = 0, to; ok && from < count; from = to) {
        to = from;
        if (starts[count] - starts[from] <= facts->max_document_bytes && count - from <= facts->max_batch) {
            to = count; /* nothing in it can break a limit */
        } else {
            while (to < count && to - from < facts->max_batch &&
                   starts[to + 1] - starts[from] <= most_bytes &&
                   starts[to + 1] - starts[to] <= facts->max_document_bytes)
                to++;
        }
        if (to > from) {
            ok = send_range(writer, line, options, bytes, starts, from, to, written, err);
        } else {
            char reason[120];
            snprintf(reason, sizeof reason, "the document has %u bytes; the server takes up to %u",
                     starts[from + 1] - starts[from], facts->max_document_bytes);
            ok = refuse(writer, to++, CODE_TOO_LARGE, reason, err) != NULL;
        }
    }
    return ok;
}

static bool send_straight(writer_t *writer, straight_t straight, const uint8_t *bytes, const uint32_t *starts,
                          size_t count, written_t *written, err_t *err) {
    line_t line;
    bson_t options;
    if (!open_line(&line, straight.server, err))
        return false;
    bson_copy_to(writer->options, &options);
    bson_concat(&options, straight.version);
    bool ok = send_all(writer, &line, &options, bytes, starts, count, written, err);
    bson_destroy(&options);
    close_line(&line);
    return ok;
}

bool writer_insert(writer_t *writer, straight_t straight, const uint8_t *bytes, const uint32_t *starts,
                   size_t count, written_t *written, err_t *err) {
    bool near = writer->near.server && clock_now_ns() >= writer->near_off_ns;
    *written = (written_t){0};
    writer->refused_count = 0;
    bool ok = straight.server ? send_straight(writer, straight, bytes, starts, count, written, err)
                              : send_all(writer, near ? &writer->near : &writer->home, writer->options, bytes,
                                         starts, count, written, err);
    /* the server lists them in order; a driver or router that does not is put right here */
    if (writer->refused_count)
        qsort(writer->refused, writer->refused_count, sizeof *writer->refused, by_index);
    written->refused = writer->refused;
    written->count = writer->refused_count;
    return ok;
}

/* ---- comparing ---- */

static bool fetch(writer_t *writer, bson_iter_t *id, const char *level, bson_t *reply, err_t *err) {
    bson_t command = BSON_INITIALIZER, filter, concern;
    BSON_APPEND_UTF8(&command, "find", server_collection(writer->server));
    BSON_APPEND_DOCUMENT_BEGIN(&command, "filter", &filter);
    BSON_APPEND_VALUE(&filter, "_id", bson_iter_value(id));
    bson_append_document_end(&command, &filter);
    BSON_APPEND_INT32(&command, "limit", 1);
    BSON_APPEND_BOOL(&command, "singleBatch", true);
    BSON_APPEND_DOCUMENT_BEGIN(&command, "readConcern", &concern);
    BSON_APPEND_UTF8(&concern, "level", level);
    bson_append_document_end(&command, &concern);
    bool ok = server_command(writer->server, writer->home.client, server_database(writer->server), &command,
                             false, reply, err);
    bson_destroy(&command);
    return ok;
}

static stored_t compare(const bson_t *reply, const uint8_t *document, uint32_t length) {
    bson_iter_t iter, first;
    if (!bson_iter_init(&iter, reply) || !bson_iter_find_descendant(&iter, "cursor.firstBatch.0", &first) ||
        !BSON_ITER_HOLDS_DOCUMENT(&first))
        return STORED_MISSING;
    uint32_t stored_length;
    const uint8_t *stored;
    bson_iter_document(&first, &stored_length, &stored);
    return stored_length == length && memcmp(stored, document, length) == 0 ? STORED_SAME : STORED_DIFFERENT;
}

bool writer_compare(writer_t *writer, const uint8_t *document, uint32_t length, stored_t *stored,
                    err_t *err) {
    bson_t view;
    bson_iter_t id;
    *stored = STORED_MISSING;
    if (!bson_init_static(&view, document, length) || !bson_iter_init_find(&id, &view, "_id"))
        return true;
    patience_t patience = server_patience(writer->server);
    for (bool settled = false;;) {
        bson_t reply;
        bool ok = fetch(writer, &id, settled ? "local" : "majority", &reply, err);
        if (ok)
            *stored = compare(&reply, document, length);
        bson_destroy(&reply);
        if (!ok || (!settled && *stored != STORED_MISSING))
            return ok;
        /* what the majority does not have, the primary may: somebody's write on its way */
        if (settled && *stored == STORED_MISSING)
            return true;
        if (settled) {
            bson_error_t waiting = {.domain = MONGOC_ERROR_WRITE_CONCERN, .code = 64};
            bson_strncpy(waiting.message, "a document is not yet on the majority", sizeof waiting.message);
            if (!server_again(writer->server, writer->home.client, &patience, &waiting, NULL,
                              "compare a document", err))
                return false;
        }
        settled = !settled;
    }
}

/* ---- what is there ---- */

static bool add_present(present_t *present, const bson_t *document, err_t *err) {
    bson_iter_t id;
    if (!bson_iter_init_find(&id, document, "_id") || !BSON_ITER_HOLDS_INT64(&id))
        return true;
    if (present->count == present->room) {
        size_t room = present->room ? 2 * present->room : 4096;
        int64_t *larger = realloc(present->ids, room * sizeof *larger);
        if (!larger)
            return err_memory(err, room * sizeof *larger);
        present->ids = larger;
        present->room = room;
    }
    present->ids[present->count++] = bson_iter_int64(&id);
    return true;
}

bool writer_present(writer_t *writer, int64_t from, int64_t to, present_t *present, err_t *err) {
    bson_t *filter = BCON_NEW("_id", "{", "$gte", BCON_INT64(from), "$lt", BCON_INT64(to), "}");
    bson_t *options =
        BCON_NEW("projection", "{", "_id", BCON_INT32(1), "}", "sort", "{", "_id", BCON_INT32(1), "}",
                 "batchSize", BCON_INT64(100000), "readConcern", "{", "level", BCON_UTF8("majority"), "}");
    patience_t patience = server_patience(writer->server);
    bool ok, again;
    do {
        const bson_t *document, *reply = NULL;
        bson_error_t error;
        mongoc_cursor_t *cursor =
            mongoc_collection_find_with_opts(writer->home.collection, filter, options, NULL);
        present->count = 0;
        again = false;
        ok = true;
        while (ok && mongoc_cursor_next(cursor, &document))
            ok = add_present(present, document, err);
        if (ok && mongoc_cursor_error_document(cursor, &error, &reply)) {
            ok = false;
            again = server_again(writer->server, writer->home.client, &patience, &error, reply,
                                 "read back what is there", err);
        }
        mongoc_cursor_destroy(cursor);
    } while (again);
    if (ok)
        server_answered(writer->server);
    bson_destroy(filter);
    bson_destroy(options);
    return ok;
}
