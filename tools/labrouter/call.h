/* call: one command of a client that the router carries out itself, and what the commands have in common. */
#ifndef LABROUTER_CALL_H
#define LABROUTER_CALL_H

#include "links.h"

enum { NAME_SIZE = 256 };

typedef struct {
    links_t *links;
    const char *database;
    const bson_t *command;
    bson_t *reply; /* filled when the call succeeds */
    problem_t *problem;
} call_t;

typedef bool (*call_run_t)(call_t *call);

/* ---- the client's command ---- */

/* A field as text, or a problem. key NULL: the first. */
const char *call_text(call_t *call, const char *key);
bool call_has(const call_t *call, const char *key, bson_iter_t *iter);
/* "database.collection" of a command on a collection. */
bool call_namespace(call_t *call, char *namespace);
/* Appends the client's fields, but the first, what belongs to the protocol, and those named (ended by NULL).
 */
void call_copy_fields(const call_t *call, bson_t *to, const char *const *but);
/* The same with lsid, txnNumber and writeConcern: for commands that go to a shard as they are. */
void call_copy_all(const call_t *call, bson_t *to, const char *const *but);
void call_majority(bson_t *to);

/* ---- asking ---- */

/* Sends the command, destroys it, and makes the answer the call's own reply. A refusal is a problem. */
bool call_finish(call_t *call, const char *place, const char *database, bson_t *command);
/* Sends the command, destroys it; `reply` is to be destroyed. */
bool call_ask(call_t *call, const char *place, const char *database, bson_t *command, bson_t *reply);
/* An empty reply with ok: 1 */
bool call_done(call_t *call);
/* ok: 1 after what the reply has already */
bool call_close(call_t *call);

/* ---- what the config server knows ---- */

typedef struct {
    char primary[NAME_SIZE];
    bson_t version;
    bool found;
} database_t;

typedef struct {
    bool sharded;
    bson_t document; /* of config.collections */
    bson_t key;      /* borrows from it */
} collection_t;

/* Only the bson of what was found is to be destroyed (catalog_*_clean does). */
bool catalog_database(call_t *call, const char *name, bool create, database_t *database);
void catalog_database_clean(database_t *database);
bool catalog_collection(call_t *call, const char *namespace, collection_t *collection);
void catalog_collection_clean(collection_t *collection);
/* A sharded collection, or a problem. */
bool catalog_sharded(call_t *call, const char *namespace, collection_t *collection);

typedef struct {
    char (*names)[NAME_SIZE];
    size_t count;
} names_t;

void names_clean(names_t *names);
/* All shards; those that own chunks of a sharded collection, or the database's primary shard (none, when
 * there is no such database). The config server owns the databases config and admin. */
bool catalog_shards(call_t *call, names_t *names);
bool catalog_owners(call_t *call, const char *namespace, bool create, names_t *names);
bool catalog_primary(call_t *call, const char *name, bool create, char *place);

typedef struct {
    bson_t document; /* of config.chunks */
    bson_t min, max; /* borrow from it */
    const char *shard;
} chunk_t;

/* The chunk that holds a key; or the one with just these bounds, when `max` is not NULL. */
bool catalog_chunk(call_t *call, const collection_t *collection, const bson_t *key, const bson_t *max,
                   chunk_t *chunk);
void catalog_chunk_clean(chunk_t *chunk);

#endif
