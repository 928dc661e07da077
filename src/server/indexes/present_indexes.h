/* present_indexes: the indexes of a collection, as --index would name them, so that they can be made again after a drop;
 * and what else it has that cannot be made again. Main thread. */
#ifndef TIPPLE_SERVER_INDEXES_PRESENT_INDEXES_H
#define TIPPLE_SERVER_INDEXES_PRESENT_INDEXES_H

#include "server/server.h"

enum { PRESENT_MOST_INDEXES = 16 };

typedef struct {
    char *texts[PRESENT_MOST_INDEXES]; /* "d:1,k:-1"; without the index of _id */
    size_t count;
    /* the name of one that is not among these: hidden, of texts, with a collation or a time to live; "": none */
    char other[160];
} present_indexes_t;

/* No indexes if there is no such collection. */
bool present_indexes_read(server_t *server, mongoc_client_t *client, present_indexes_t *indexes, err_t *err);
void present_indexes_free(present_indexes_t *indexes);

/* The name of one other thing that a load would not make again, "validator" or "collation" or the like, and that is not among the
 * options that were asked for (NULL: none); "": nothing. */
bool present_indexes_beyond(server_t *server, mongoc_client_t *client, const bson_t *asked, char beyond[64],
                            err_t *err);

/* The text of --index for an index of listIndexes; the caller frees it. NULL: it is none of those. */
char *present_indexes_spell(const bson_t *index);

#endif
