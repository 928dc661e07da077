/* message: the wire protocol: OP_MSG, and the OP_QUERY with which drivers say their first hello.
 *
 *     OP_MSG    length request answers opcode | flags | kind 0: the command | kind 1: size name documents...
 * | checksum
 *
 * A message is read whole, looked at, and sent on in pieces, so that documents are never copied. */
#ifndef LABROUTER_MESSAGE_H
#define LABROUTER_MESSAGE_H

#include "stream.h"

#include <bson/bson.h>

enum { MOST_MESSAGE = 48000000 + 65536, FLAG_CHECKSUM = 1, FLAG_MORE_TO_COME = 2 };

typedef struct {
    uint8_t *bytes;
    size_t size, room;
    int32_t request, answers;
    bool legacy;        /* OP_QUERY */
    bool has_sequences; /* there is more than the command */
    uint32_t flags;     /* of OP_MSG */
    bson_t command;     /* borrows from bytes */
    size_t at, end;     /* where the command's section begins, and where the last section ends */
} message_t;

void message_clean(message_t *message);

/* Reads one message and finds its command. false: the stream has ended, or this is no message of MongoDB's.
 */
bool message_read(message_t *message, stream_t *from);

/* Sends the message with its command renamed; routed: without the fields that a mongod takes for its own. The
 * fields of `more` (which may be NULL) come after the command's. */
bool message_forward(const message_t *message, stream_t *to, const char *name, bool routed,
                     const bson_t *more);
/* Sends the message as it is; cut: the first half of it. */
bool message_pass(const message_t *message, stream_t *to, bool cut);

/* An answer to a message, in the protocol in which it was asked. */
bool message_answer(const message_t *asked, stream_t *to, const bson_t *reply, bool cut);
/* A command of our own. */
bool message_send(stream_t *to, int32_t request, const bson_t *command);

/* The first key of a command; "" when it is empty. */
const char *command_name(const bson_t *command);

#endif
