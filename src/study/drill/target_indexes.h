/* target_indexes: the indexes of a collection, as --index would name them, so that they can be made again after a drop;
 * and what else it has that cannot be made again. Main thread. */
#ifndef TIPPLE_STUDY_DRILL_TARGET_INDEXES_H
#define TIPPLE_STUDY_DRILL_TARGET_INDEXES_H

#include "server/server.h"

enum { TARGET_MOST_INDEXES = 16 };

typedef struct {
    char *texts[TARGET_MOST_INDEXES]; /* "d:1,k:-1"; without the index of _id */
    size_t count;
    /* the name of an index that a drill does not make: of texts, with a collation, with a time to live; "": none */
    char other[160];
} target_indexes_t;

/* No indexes if there is no such collection. */
bool target_indexes_read(server_t *server, mongoc_client_t *client, target_indexes_t *indexes, err_t *err);
void target_indexes_free(target_indexes_t *indexes);

/* The name of one other thing that a load would not make again: "validator", "collation", ...; "": nothing. */
bool target_indexes_beyond(server_t *server, mongoc_client_t *client, char beyond[64], err_t *err);

/* The text of --index for an index of listIndexes; the caller frees it. NULL: --index cannot make it, or it removes documents by
 * their age. */
char *target_indexes_spell(const bson_t *index);

#endif
