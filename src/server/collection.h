/* collection: the collection itself: made, dropped, looked at, indexed. Main thread only. */
#ifndef TIPPLE_SERVER_COLLECTION_H
#define TIPPLE_SERVER_COLLECTION_H

#include "server/server.h"

typedef enum { CLUSTERED_DEFAULT, CLUSTERED_YES, CLUSTERED_NO } clustered_t;

typedef struct {
    clustered_t clustered;  /* default: clustered where the server can (5.3) and the collection is new */
    const char *compressor; /* "none", "snappy", "zlib", "zstd", or NULL: the server's own choice */
} collection_options_t;

typedef struct {
    bool exists;
    bool clustered;
    bool empty;
    uint8_t uuid[16];
    char compressor[16]; /* "" when the server did not say */
    char expiry[160];    /* by what the server removes documents of it: "the index t_1"; "" when by nothing */
    uint64_t count;      /* estimated */
} collection_t;

/* What is there. A view or a time series is refused (status 1). */
bool collection_look(server_t *server, mongoc_client_t *client, collection_t *place, err_t *err);

/* The same in one short command, for what does not change while data comes in: empty and count are not looked
 * for. */
bool collection_identity(server_t *server, mongoc_client_t *client, collection_t *place, err_t *err);

/* What the server lists of the collection, and its indexes: a reply with a batch of documents, which is to be destroyed
 * whatever comes back. Without the collection the first has an empty batch, and the second fails. */
bool collection_ask(server_t *server, mongoc_client_t *client, bson_t *reply, err_t *err);
bool collection_ask_indexes(server_t *server, mongoc_client_t *client, bson_t *reply, err_t *err);

/* Does one speak with all of the collection? False, with what to do: past the routers of a cluster there is only what one
 * shard has. What is written there is nobody's, and gone with the next cleaning. */
bool collection_is_whole(server_t *server, mongoc_client_t *client, err_t *err);

/* Is "database.collection" short enough to be sharded? A server refuses it only behind steps that leave something. */
bool collection_may_shard(const char *name, err_t *err);

/* Are the options possible on this server? Before anything is touched. */
bool collection_may_make(const server_t *server, const collection_options_t *options, err_t *err);

/* Makes the collection if it is missing. An existing one that contradicts an explicit option is refused with
 * what to do. *place is filled as by collection_look. */
bool collection_make(server_t *server, mongoc_client_t *client, const collection_options_t *options,
                     collection_t *place, err_t *err);

/* Drops the collection and its catalog (NAME.tipple.files, .loads). */
bool collection_drop(server_t *server, mongoc_client_t *client, err_t *err);

/* Drops the collection alone: the one of this UUID (zeros: there is none), and no other. Before 6.0 the server cannot tell one from
 * another, and a second try after a lost reply might drop a new one: so there is none. */
bool collection_drop_data(server_t *server, mongoc_client_t *client, const uint8_t uuid[16], err_t *err);

/* An index given as 'd:1,k:-1', 'st:hashed', 'position:2dsphere'. */
typedef struct {
    bson_t keys;
    char name[128];
} index_spec_t;
bool collection_parse_index(const char *text, index_spec_t *spec, err_t *err); /* status 1 */
void collection_free_index(index_spec_t *spec);

/* Builds one index, waiting for its end (stop_signal is respected: the wait ends, the server goes on). */
bool collection_build_index(server_t *server, mongoc_client_t *client, const index_spec_t *spec,
                            int64_t *took_ns, err_t *err);

#endif
