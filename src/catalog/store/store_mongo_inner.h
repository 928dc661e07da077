/* What the files of store_mongo share: commands to the two collections, and reading what they reply. */
#ifndef TIPPLE_CATALOG_STORE_STORE_MONGO_INNER_H
#define TIPPLE_CATALOG_STORE_STORE_MONGO_INNER_H

#include "catalog/store/store_mongo.h"

enum { STORE_MONGO_PAGE = 1000 /* documents that one command reads */ };

typedef struct {
    store_t store; /* must be first: callers have a pointer to this field */
    server_t *server;
    mongoc_client_t *client;
    char files[280], loads[280]; /* collections, without the database */
} store_mongo_t;

static inline store_mongo_t *store_mongo_of(store_t *store) {
    return (store_mongo_t *)store;
}

/* Sends a command to the database. writes: it is majority and journaled. */
bool store_mongo_run(store_mongo_t *mongo, const bson_t *command, bool writes, bson_t *reply, err_t *err);
/* Sends one update command to a collection. *matched: how many documents it matched. */
bool store_mongo_update(store_mongo_t *mongo, const char *collection, const bson_t *statements,
                        uint64_t *matched, err_t *err);

/* Sends a `find`, which it frees, and begins to read the documents of the reply. */
bool store_mongo_find(store_mongo_t *mongo, bson_t *find, bson_t *reply, bson_iter_t *documents, err_t *err);
/* Reads the next of them. False: there are no more, or, with *ok false, it failed and err says why. */
bool store_mongo_next(const store_mongo_t *mongo, bson_iter_t *documents, bson_t *document, bool *ok,
                      err_t *err);

/* A field as a number; 0 if it is missing or negative. */
uint64_t store_mongo_number(const bson_t *document, const char *field);
/* A date in milliseconds; 0 if it is missing. */
int64_t store_mongo_date(const bson_t *document, const char *key);
/* Sets the sentence about a document that tipple has not written. then: what to do before starting over. Always
 * false. */
bool store_mongo_damaged(const store_mongo_t *mongo, err_t *err, const char *what, const char *then);

/* Makes the unique indexes that keep two loads from registering one input twice. */
bool store_mongo_prepare(store_t *store, err_t *err);

/* The functions of store.h that are in store_mongo_entries.c and store_mongo_loads.c. */
bool store_mongo_read_entries(store_t *store, uint64_t *from, const uint32_t *among, size_t among_count,
                              entries_t *entries, bool *more, err_t *err);
bool store_mongo_add_entries(store_t *store, const entry_t *const *entries, size_t count, uint64_t *added,
                             err_t *err);
bool store_mongo_change_entries(store_t *store, const entry_change_t *changes, size_t count,
                                uint64_t *changed, err_t *err);
bool store_mongo_remove_entries(store_t *store, uint64_t below, err_t *err);
bool store_mongo_read_loads(store_t *store, loads_t *loads, err_t *err);
bool store_mongo_beat(store_t *store, const load_id_t *load, uint64_t number, uint64_t documents, err_t *err);

#endif
