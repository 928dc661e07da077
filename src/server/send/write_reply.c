#include "server/send/write_reply.h"
#include "base/text.h"
#include "server/refusal.h"

#include <ctype.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

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

/* Reads the fields of a write error, or of a write concern error. */
static void read_error(const bson_iter_t *entry, write_error_t *error) {
    bson_iter_t field, keys;
    *error = (write_error_t){.index = UINT32_MAX};
    for (bool more = BSON_ITER_HOLDS_DOCUMENT(entry) && bson_iter_recurse(entry, &field);
         more && bson_iter_next(&field);) {
        const char *key = bson_iter_key(&field);
        if (strcmp(key, "index") == 0) {
            error->index = read_count(&field);
        } else if (strcmp(key, "code") == 0) {
            error->code = (int)bson_iter_as_int64(&field);
        } else if (strcmp(key, "errmsg") == 0 && BSON_ITER_HOLDS_UTF8(&field)) {
            copy_words(error->words, sizeof error->words, bson_iter_utf8(&field, NULL));
        } else if (strcmp(key, "keyPattern") == 0 && BSON_ITER_HOLDS_DOCUMENT(&field) &&
                   bson_iter_recurse(&field, &keys)) {
            /* if a server does not name the index, the document is read back like any duplicate */
            const bool is_id = bson_iter_next(&keys) && strcmp(bson_iter_key(&keys), "_id") == 0 &&
                               bson_iter_as_int64(&keys) == 1 && !bson_iter_next(&keys);
            error->other_index = !is_id;
        }
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

static void take_concern(write_reply_t *read, const bson_iter_t *entry, reply_t *reply) {
    write_error_t error;
    read_error(entry, &error);
    reply->concern_failed = true;
    reply->concern_code = error.code;
    copy_words(read->words, sizeof read->words, error.words);
}

static void read_concern(write_reply_t *read, reply_t *reply) {
    bson_iter_t iter, entry;
    if (!bson_iter_init_find(&iter, &read->reply, "writeConcernErrors") ||
        !bson_iter_recurse(&iter, &entry) || !bson_iter_next(&entry))
        return;
    take_concern(read, &entry, reply);
}

/* What kind of reply it is when the driver gives none that names documents. */
static reply_kind_t kind_of(const bson_error_t *error, const bson_t *reply) {
    switch (error->domain) {
    case MONGOC_ERROR_SERVER:
        return REPLY_FAILED;
    case MONGOC_ERROR_SERVER_SELECTION:
        return refusal_of(error, reply) == REFUSAL_GONE ? REPLY_UNSENT : REPLY_IMPOSSIBLE;
    default:
        return refusal_of(error, reply) == REFUSAL_GONE ? REPLY_LOST : REPLY_IMPOSSIBLE;
    }
}

static bool take_failure(write_reply_t *read, reply_t *reply) {
    reply->kind = kind_of(&read->error, &read->reply);
    reply->code = (int)read->error.code;
    reply->passing = mongoc_error_has_label(&read->reply, "RetryableWriteError");
    copy_words(read->words, sizeof read->words, read->error.message);
    return true;
}

bool write_reply_read_insert(write_reply_t *read, bool ok, uint32_t count, reply_t *reply, err_t *err) {
    bson_iter_t iter;
    *reply = (reply_t){.kind = REPLY_GIVEN, .words = read->words};
    read->words[0] = '\0';
    if (!read_write_errors(read, reply, err))
        return false;
    read_concern(read, reply);
    reply->inserted = bson_iter_init_find(&iter, &read->reply, "insertedCount") ? read_count(&iter) : 0;
    if (!ok && !reply->error_count && !reply->concern_failed) {
        take_failure(read, reply);
    } else if (!reply->concern_failed && reply->inserted + reply->error_count != count) {
        snprintf(read->words, sizeof read->words, "the server answered for %" PRIu64 " of %u documents",
                 reply->inserted + reply->error_count, (unsigned)count);
    }
    return true;
}

bool write_reply_read_update(write_reply_t *read, bool ok, reply_t *reply, err_t *err) {
    bson_iter_t iter;
    *reply = (reply_t){.kind = REPLY_GIVEN, .words = read->words};
    read->words[0] = '\0';
    if (!ok)
        return take_failure(read, reply);
    if (!read_write_errors(read, reply, err))
        return false;
    reply->inserted = bson_iter_init_find(&iter, &read->reply, "n") ? read_count(&iter) : 0;
    if (bson_iter_init_find(&iter, &read->reply, "writeConcernError")) {
        take_concern(read, &iter, reply);
    } else {
        snprintf(read->words, sizeof read->words,
                 "of the documents to be replaced some are other ones by now");
    }
    return true;
}
