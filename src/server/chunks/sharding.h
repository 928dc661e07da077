/* sharding: is a collection sharded, by which key, under which name, and is it balanced? As the config servers have it at
 * this moment: a person may shard a collection, give its key more fields or the collection another name, at any time.
 * Main thread; needs a router. */
#ifndef TIPPLE_SERVER_CHUNKS_SHARDING_H
#define TIPPLE_SERVER_CHUNKS_SHARDING_H

#include "server/chunks/shardkey.h"
#include "server/server.h"

enum { SHARDING_NAME = 300, SHARDING_UUID = 16 };

/* Not to be copied: the key points into itself. */
typedef struct {
    bool hidden; /* this user may not read the config database: the rest is not known, and err says so */
    bool sharded;
    /* the rest: only where it is sharded */
    bool unbalanced;
    bool unique;              /* no two documents have the same key */
    bool unmerged;            /* its chunks are not to be merged (7.0) */
    bool unmoved;             /* nor to be moved, by nobody (sh.disableMigrations) */
    int64_t chunk_bytes;      /* of its chunks, where it has a size of its own; or 0 */
    char name[SHARDING_NAME]; /* by which it is called now */
    uint8_t uuid[SHARDING_UUID];
    shardkey_t key;
    /* together they identify the collection as it is sharded now */
    bson_oid_t epoch;
    uint64_t timestamp;
} sharding_t;

/* uuid: of this collection, whatever its name is; NULL: of the one that has the name in the address. False: err. The result
 * is freed in any case. */
bool sharding_read(server_t *server, mongoc_client_t *client, const uint8_t *uuid, sharding_t *sharding,
                   err_t *err);
void sharding_free(sharding_t *sharding);

/* Where it is hidden: is the collection of the address sharded at all, by its statistics, which who may read it sees? */
bool sharding_is_any(server_t *server, mongoc_client_t *client, bool *sharded, err_t *err);

#endif
