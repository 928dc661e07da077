/* config: what a cluster says about itself, read from its config database through a router. */
#ifndef TIPPLE_SERVER_CHUNKS_CONFIG_H
#define TIPPLE_SERVER_CHUNKS_CONFIG_H

#include "server/server.h"

typedef struct {
    bson_t **documents;
    size_t count;
} config_list_t;

/* All documents of a config collection that match, as the majority has them; if the connection is lost, all are read
 * again. options: sort, limit; NULL for none. hidden (or NULL): set if it failed because this user may not read the
 * collection. */
bool config_find(server_t *server, mongoc_client_t *client, const char *collection, const bson_t *filter,
                 const bson_t *options, config_list_t *list, bool *hidden, err_t *err);
void config_free(config_list_t *list);

/* Connects to a shard itself, using config.shards; as server_beside. */
server_t *config_open_shard(const server_t *server, const config_list_t *shards, const char *name,
                            uint32_t connections, int64_t patience_ns, err_t *err);

#endif
