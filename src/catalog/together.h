/* together: a series of commands, none of which waits for another one, over two connections where there is a second
 * one: the server works on two at a time, and the next command is made meanwhile. */
#ifndef TIPPLE_CATALOG_TOGETHER_H
#define TIPPLE_CATALOG_TOGETHER_H

#include "target/server.h"

typedef struct {
    server_t *server;
    mongoc_client_t *client; /* the caller's */
    void *context;
    /* Puts the next command into an empty document; false: there is none. One thread at a time calls it. */
    bool (*next)(void *context, bson_t *command);
    /* What became of one; false: that was a failure, and no other command begins. One thread at a time calls it. */
    bool (*take)(void *context, bool ok, const bson_t *reply);
} together_t;

/* alone: the first one is the only one, or nearly; a second connection is not worth it. Returns when all that were begun
 * have ended. False: err has what the first failure said; others may have been made all the same. */
bool together_run(const together_t *together, bool alone, err_t *err);

#endif
