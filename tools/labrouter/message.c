#include "message.h"

#include <stdlib.h>
#include <string.h>

enum { HEADER = 16, OP_REPLY = 1, OP_QUERY = 2004, OP_MSG = 2013, MOST_PIECES = 16 };

/* A mongod that gets the number of a transaction ends itself when a router's command carries it. */
static const char *const DROPPED[] = {"txnNumber", "stmtId", "stmtIds"};

static uint32_t get32(const uint8_t *at) {
    uint32_t value;
    memcpy(&value, at, sizeof value);
    return BSON_UINT32_FROM_LE(value);
}

static uint8_t *put32(uint8_t *at, uint32_t value) {
    value = BSON_UINT32_TO_LE(value);
    return (uint8_t *)mempcpy(at, &value, sizeof value);
}

static uint8_t *put_header(uint8_t *at, size_t size, int32_t request, int32_t answers, uint32_t opcode) {
    at = put32(at, (uint32_t)size);
    at = put32(at, (uint32_t)request);
    at = put32(at, (uint32_t)answers);
    return put32(at, opcode);
}

void message_clean(message_t *message) {
    free(message->bytes);
    *message = (message_t){0};
}

const char *command_name(const bson_t *command) {
    bson_iter_t iter;
    return bson_iter_init(&iter, command) && bson_iter_next(&iter) ? bson_iter_key(&iter) : "";
}

/* ---- reading ---- */

/* The document at `at`, which must end before `end`; its size, or 0. */
static size_t document_at(const message_t *message, size_t at, size_t end) {
    if (at + 5 > end)
        return 0;
    const size_t size = get32(message->bytes + at);
    return size < 5 || size > end - at ? 0 : size;
}

/* Documents within it may hold what libbson does not take, and servers store. */
static bool is_whole(const bson_t *command) {
    bson_iter_t iter;
    bool more = bson_iter_init(&iter, command);
    while (more)
        more = bson_iter_next(&iter);
    return !iter.err_off;
}

static bool take_command(message_t *message, size_t at, size_t size) {
    return size && bson_init_static(&message->command, message->bytes + at, size) &&
           is_whole(&message->command);
}

static bool parse_msg(message_t *message) {
    message->flags = get32(message->bytes + HEADER);
    message->end = message->size - (message->flags & FLAG_CHECKSUM ? 4 : 0);
    message->at = 0;
    message->has_sequences = false;
    for (size_t at = HEADER + 4; at < message->end;) {
        const uint8_t kind = message->bytes[at];
        const size_t size =
            document_at(message, at + 1, message->end); /* a sequence, too, begins with its size */
        if (!size || kind > 1 || (kind == 0 && message->at))
            return false;
        if (kind == 0) {
            if (!take_command(message, at + 1, size))
                return false;
            message->at = at;
        }
        message->has_sequences |= kind == 1;
        at += 1 + size;
    }
    return message->at != 0;
}

static bool parse_query(message_t *message) {
    const uint8_t *name = message->bytes + HEADER + 4;
    const size_t length = strnlen((const char *)name, message->size - HEADER - 4);
    const size_t at = HEADER + 4 + length + 1 + 8;
    message->flags = 0;
    return length > 5 && memcmp(name + length - 5, ".$cmd", 5) == 0 &&
           take_command(message, at, document_at(message, at, message->size));
}

bool message_read(message_t *message, stream_t *from) {
    uint8_t header[HEADER];
    if (!stream_read(from, header, HEADER))
        return false;
    message->size = get32(header);
    if (message->size < HEADER + 5 || message->size > MOST_MESSAGE)
        return false;
    if (message->room < message->size) {
        free(message->bytes);
        message->bytes = malloc(message->room = message->size);
    }
    memcpy(message->bytes, header, HEADER);
    if (!stream_read(from, message->bytes + HEADER, message->size - HEADER))
        return false;
    message->request = (int32_t)get32(header + 4);
    message->answers = (int32_t)get32(header + 8);
    const uint32_t opcode = get32(header + 12);
    message->legacy = opcode == OP_QUERY;
    return opcode == OP_MSG ? parse_msg(message) : message->legacy && parse_query(message);
}

/* ---- writing ---- */

static bool is_dropped(const char *key) {
    for (size_t i = 0; i < sizeof DROPPED / sizeof *DROPPED; i++)
        if (strcmp(key, DROPPED[i]) == 0)
            return true;
    return false;
}

static size_t add_piece(struct iovec *pieces, int *count, const uint8_t *from, const uint8_t *to) {
    if (from == to)
        return 0;
    pieces[(*count)++] = (struct iovec){(void *)from, (size_t)(to - from)};
    return (size_t)(to - from);
}

bool message_forward(const message_t *message, stream_t *to, const char *name, bool routed,
                     const bson_t *more) {
    struct iovec pieces[MOST_PIECES];
    uint8_t head[HEADER + 4 + 1 + 4 + 1 + 64];
    const uint8_t *body = bson_get_data(&message->command), *last = body + message->command.len - 1;
    bson_iter_t iter;
    int count = 1;
    size_t size = 0;

    bson_iter_init(&iter, &message->command);
    bson_iter_next(&iter);
    const uint8_t *from = body + bson_iter_offset(&iter) + 1 + strlen(bson_iter_key(&iter)) + 1;
    const uint8_t type = body[bson_iter_offset(&iter)];
    while (bson_iter_next(&iter)) {
        if (!routed || !is_dropped(bson_iter_key(&iter)) || count > MOST_PIECES - 6)
            continue;
        size += add_piece(pieces, &count, from, body + bson_iter_offset(&iter));
        bson_iter_t after = iter;
        from = body + (bson_iter_next(&after) ? bson_iter_offset(&after) : message->command.len - 1);
    }
    size += add_piece(pieces, &count, from, last);
    if (more)
        size += add_piece(pieces, &count, bson_get_data(more) + 4, bson_get_data(more) + more->len - 1);
    size += add_piece(pieces, &count, last, last + 1);
    const size_t body_size = 4 + 1 + strlen(name) + 1 + size;
    size = HEADER + 4 + 1 + body_size;
    size += add_piece(pieces, &count, message->bytes + HEADER + 4, message->bytes + message->at);
    size += add_piece(pieces, &count, last + 1, message->bytes + message->end);

    uint8_t *at = put_header(head, size, message->request, 0, OP_MSG);
    at = put32(at, message->flags & FLAG_MORE_TO_COME);
    *at++ = 0;
    at = put32(at, (uint32_t)body_size);
    *at++ = type;
    at = (uint8_t *)stpcpy((char *)at, name) + 1;
    pieces[0] = (struct iovec){head, (size_t)(at - head)};
    return stream_write(to, pieces, count);
}

bool message_pass(const message_t *message, stream_t *to, bool cut) {
    return stream_write(to, &(struct iovec){message->bytes, cut ? message->size / 2 : message->size}, 1);
}

static bool send_document(stream_t *to, uint8_t *head, size_t head_size, const bson_t *document, bool cut) {
    struct iovec pieces[] = {{head, head_size},
                             {(void *)bson_get_data(document), cut ? document->len / 2 : document->len}};
    return stream_write(to, pieces, 2);
}

bool message_send(stream_t *to, int32_t request, const bson_t *command) {
    uint8_t head[HEADER + 5];
    uint8_t *at = put_header(head, sizeof head + command->len, request, 0, OP_MSG);
    *put32(at, 0) = 0;
    return send_document(to, head, sizeof head, command, false);
}

bool message_answer(const message_t *asked, stream_t *to, const bson_t *reply, bool cut) {
    uint8_t head[HEADER + 20];
    const size_t size = asked->legacy ? sizeof head : HEADER + 5;
    uint8_t *at = put_header(head, size + reply->len, asked->request, asked->request,
                             asked->legacy ? OP_REPLY : OP_MSG);
    if (asked->legacy)
        put32(put32(put32(put32(put32(at, 8), 0), 0), 0),
              1); /* AwaitCapable, no cursor, from 0, one document */
    else
        *put32(at, 0) = 0;
    return send_document(to, head, size, reply, cut);
}
