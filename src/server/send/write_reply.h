/* write_reply: what the driver gives back for a message, as plain data. */
#ifndef TIPPLE_SERVER_SEND_WRITE_REPLY_H
#define TIPPLE_SERVER_SEND_WRITE_REPLY_H

#include "server/send/wire.h"

#include <mongoc/mongoc.h>

typedef struct {
    /* the driver fills these */
    bson_t reply;
    bson_error_t error;
    /* a reply_t points into these until the next one is read */
    write_error_t *errors; /* free() them at the end */
    size_t error_room;
    char words[BSON_ERROR_BUFFER_SIZE];
} write_reply_t;

/* ok: what the driver has returned; count: documents of the message. False: memory. */
bool write_reply_read_insert(write_reply_t *read, bool ok, uint32_t count, reply_t *reply, err_t *err);
/* As a server gives it to an update command, without the driver's work on it. */
bool write_reply_read_update(write_reply_t *read, bool ok, reply_t *reply, err_t *err);

#endif
