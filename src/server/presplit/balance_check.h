/* balance_check: whether new documents will reach all shards of the cluster, and what to do where they will not:
 * for an empty collection that nobody has split yet, spreading it; for others, the commands that a person may
 * give. Main thread. */
#ifndef TIPPLE_SERVER_PRESPLIT_BALANCE_CHECK_H
#define TIPPLE_SERVER_PRESPLIT_BALANCE_CHECK_H

#include "base/text.h"
#include "server/chunks/route.h"
#include "server/presplit/presplit.h"

#include <stdio.h>

typedef struct {
    size_t owners, shards; /* shards with a share of their own, of how many */
    double most;           /* the largest share, from 0 to 1 */
    char name[128];        /* whose it is */
    char leaving[128];     /* has chunks, and is none of the shards: it is being drained; "" */
    bool known;            /* by lanes; else chunks are counted, which is only a hint */
    bool even;
} balance_check_t;

balance_check_t balance_check_of(const chunkmap_t *map, const shardkey_t *key, const shard_names_t *shards);

/* Lines for the mongo shell that give each shard its share of what is still to come. */
void balance_check_commands(const server_t *server, const chunkmap_t *map, const shardkey_t *key,
                            const shard_names_t *shards, text_t *out);

/* An empty collection of one chunk: split at the bounds, a part for each shard. */
bool balance_check_split(server_t *server, mongoc_client_t *client, const shardkey_t *key,
                         const shard_names_t *shards, bson_t *const *bounds, size_t count, err_t *err);

#endif
