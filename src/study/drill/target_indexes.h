/* target_indexes: the indexes that a collection has, as --index would name them, so that what is dropped can
 * be made again as it was; and what else it has that cannot. Main thread. */
#ifndef TIPPLE_STUDY_DRILL_TARGET_INDEXES_H
#define TIPPLE_STUDY_DRILL_TARGET_INDEXES_H

#include "server/server.h"

enum { TARGET_MOST_INDEXES = 16 };

typedef struct {
    char *texts[TARGET_MOST_INDEXES]; /* "d:1,k:-1"; without that of _id */
    size_t count;
    char other[160]; /* the name of one that --index cannot make: unique, sparse, of another order; "" */
} target_indexes_t;

/* None where there is no such collection. */
bool target_indexes_read(server_t *server, mongoc_client_t *client, target_indexes_t *indexes, err_t *err);
void target_indexes_free(target_indexes_t *indexes);

/* The name of one more thing that a load would not make again: "validator", "collation", ...; "": nothing. */
bool target_indexes_beyond(server_t *server, mongoc_client_t *client, char beyond[64], err_t *err);

/* How an index of listIndexes would be named; free it. NULL: --index cannot make it. */
char *target_indexes_spell(const bson_t *index);

#endif
