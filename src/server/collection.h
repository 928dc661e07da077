#ifndef TIPPLE_SERVER_COLLECTION_H
#define TIPPLE_SERVER_COLLECTION_H

#include "server/server.h"

/* collection: makes, drops, inspects and indexes the collection. Main thread only. */

typedef struct {
    /* Documents are asked for by single `_id`s, for which a server reads all of a clustered collection. A new one is clustered
     * where it is not said otherwise, the server can (5.3), and this is false. */
    bool own_ids;
    /* "none", "snappy", "zlib", "zstd"; goes before a storage engine among the options. NULL: the server's own choice */
    const char *compressor;
    const bson_t *options; /* of `create`; `clusteredIndex` may be true or false, too. NULL: none */
} collection_options_t;

typedef struct {
    bool exists;
    bool clustered;
    bool collated; /* it has a default collation, which an index gets that does not say otherwise */
    bool empty;
    uint8_t uuid[16];
    /* what makes the server remove its documents by age: "the index t_1"; "" if nothing does */
    char expiry[160];
    /* what the server keeps, which is too small after a crash of it, but never 0 if not empty */
    uint64_t count;
} collection_t;

/* Reads what is there. A view, a time series or a capped collection is refused (status 1). */
bool collection_look(server_t *server, mongoc_client_t *client, collection_t *place, err_t *err);

/* The same in one short command, for what does not change while data comes in: empty and count are not filled in. */
bool collection_identity(server_t *server, mongoc_client_t *client, collection_t *place, err_t *err);

/* Counts the documents that the filter (NULL: none) finds, one by one, half a second for a million: right after a crash of
 * the server, too, and without what waits to be cleaned away. */
bool collection_count(server_t *server, mongoc_client_t *client, const char *collection, const bson_t *filter,
                      uint64_t *documents, err_t *err);

/* The server's list of the collection, or of its indexes: a reply with a batch of documents, which the caller always
 * destroys. If there is no collection, the first has an empty batch and the second fails. */
bool collection_ask(server_t *server, mongoc_client_t *client, bson_t *reply, err_t *err);
bool collection_ask_indexes(server_t *server, mongoc_client_t *client, bson_t *reply, err_t *err);

/* Does this connection reach all of the collection? False, with what to do: a direct connection to a shard of a cluster
 * reaches only what that shard has. What is written there belongs to no chunk, and the next cleaning removes it. */
bool collection_is_whole(server_t *server, mongoc_client_t *client, err_t *err);

/* Makes the collection if it is missing; one that exists keeps its options. *place is filled in as by collection_look. */
bool collection_make(server_t *server, mongoc_client_t *client, const collection_options_t *options,
                     collection_t *place, err_t *err);

/* Drops the collection and its catalog (NAME.tipple.files, .loads). */
bool collection_drop(server_t *server, mongoc_client_t *client, err_t *err);

/* Drops only the collection of this UUID (zeros: there is none). Before 6.0 the server does not
 * check the UUID: then a second try after a lost reply drops what was made under the name meanwhile, from which the intent in the
 * catalog keeps other loads. */
bool collection_drop_data(server_t *server, mongoc_client_t *client, const uint8_t uuid[16], err_t *err);

/* An index given as 'd:1,k:-1', 'st:hashed', 'position:2dsphere', 'email:1;unique;name=mail', or in JSON as a server lists it. */
enum { COLLECTION_INDEX_NAME = 128 }; /* of a name, with its NUL: enough for those that people give */
typedef struct {
    bson_t keys, options; /* options: further ones, such as {unique: true} */
    char name[COLLECTION_INDEX_NAME];
} index_spec_t;
bool collection_parse_index(const char *text, index_spec_t *spec, err_t *err); /* status 1 */
/* An index as a server lists it, with its options. Status 5: it is none. */
bool collection_take_index(const bson_t *index, index_spec_t *spec, err_t *err);
/* Names an index as shells do: "d_1_k_-1". Returns how many bytes the name has; it is cut if they are too many. */
size_t collection_name_index(const bson_t *keys, char name[COLLECTION_INDEX_NAME]);
/* Are these keys {_id: 1}? */
bool collection_keys_of_id(const bson_t *keys);
/* True if two indexes, or two shard keys, have the same fields in the same order, and of the same kinds. 1, 1.0 and a long 1 are one
 * kind. */
bool collection_same_keys(const bson_t *a, const bson_t *b);
/* An index that a server lists without a collation has none. Says so in the spec, for a collection that has a default one. */
void collection_keep_uncollated(index_spec_t *spec);
/* True if two indexes differ in their names only. Either may be as a server lists it. Text indexes are compared by their names,
 * because a server lists other keys than it was given. but_collation: collations are not compared. */
bool collection_same_index(const index_spec_t *a, const index_spec_t *b, bool but_collation);
void collection_free_index(index_spec_t *spec);

/* Builds one index and waits for its end; one that is there costs nothing, whatever its name. A stop signal ends the wait; the
 * server continues to build. */
typedef struct {
    int64_t took_ns;
    bool refused; /* by a server that answers */
} collection_built_t;
bool collection_build_index(server_t *server, mongoc_client_t *client, const index_spec_t *spec,
                            collection_built_t *built, err_t *err);

/* The options of the collection that is there, as --create takes them; the caller frees the text. NULL: err. */
char *collection_options_read(server_t *server, mongoc_client_t *client, err_t *err);

#endif
