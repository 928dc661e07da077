/* balance_check: will new documents reach all shards of the cluster, and what can be done if not? An empty collection
 * that is not split yet is spread; for others, it prints the commands that a person may give. Main thread. */
#ifndef TIPPLE_SERVER_PRESPLIT_BALANCE_CHECK_H
#define TIPPLE_SERVER_PRESPLIT_BALANCE_CHECK_H

#include "base/text.h"
#include "server/chunks/route.h"
#include "server/presplit/presplit.h"

#include <stdio.h>

typedef struct {
    size_t owners, shards; /* shards with a share of their own, and how many shards there are */
    double most;           /* the largest share, from 0 to 1 */
    char name[128];        /* the shard that has it */
    char leaving[128];     /* a shard that has chunks but is being drained; "": none */
    bool known;            /* computed from lanes; false: chunks were counted, which is only a hint */
    bool even;
} balance_check_t;

balance_check_t balance_check_of(const chunkmap_t *map, const shardkey_t *key, const shard_names_t *shards);

/* Prints lines for the mongo shell that give each shard its share of what is still to come. */
void balance_check_commands(const server_t *server, const chunkmap_t *map, const shardkey_t *key,
                            const shard_names_t *shards, text_t *out);

/* For an empty collection of one chunk: splits it at the bounds, one part for each shard. */
bool balance_check_split(server_t *server, mongoc_client_t *client, const shardkey_t *key,
                         const shard_names_t *shards, bson_t *const *bounds, size_t count, err_t *err);

#endif
