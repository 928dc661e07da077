/* What the files of the box share. */
#ifndef TIPPLE_TESTS_BOX_INNER_H
#define TIPPLE_TESTS_BOX_INNER_H

#include "box.h"

#include <pthread.h>

_Noreturn void box_die(const char *words, ...) __attribute__((format(printf, 1, 2)));
bson_t *box_json(const char *json); /* NULL: {} */

/* ---- box_match.c ---- */

/* As servers sort values of all types. */
int box_compare(const bson_iter_t *a, const bson_iter_t *b);
bool box_matches(const bson_t *document, const bson_t *filter);
/* What is at a path, of the first element where arrays are on the way. */
bool box_at(const bson_t *document, const char *path, bson_iter_t *value);
void box_inside(const bson_iter_t *iter, bson_t *inside); /* a view of a document or an array */

/* ---- box_update.c ---- */

/* {"": the value}, or {} where it is missing */
void box_evaluate(const bson_iter_t *expression, const bson_t *root, bson_t *value);
/* A new document. inserting: by an upsert. */
bson_t *box_updated(const bson_t *document, const bson_iter_t *update, bool inserting);

/* ---- box_store.c ---- */

typedef struct {
    bson_t *spec; /* {key: {...}, name, unique, partialFilterExpression} */
} box_index_t;

enum { BOX_INDEXES = 8, BOX_COLLECTIONS = 32 };

typedef struct {
    char name[256];                  /* with the database */
    bson_t **documents;              /* by _id */
    uint64_t (*hashes)[BOX_INDEXES]; /* of each document's keys in the indexes; 0: it is not in that one */
    size_t count, room;
    bson_t *options; /* of create */
    uint8_t uuid[16];
    box_index_t indexes[BOX_INDEXES];
    size_t index_count;
    bson_t *refused; /* NULL: nothing is */
    int refused_code;
} box_collection_t;

typedef struct {
    box_collection_t collections[BOX_COLLECTIONS];
    size_t count;
    uint32_t made; /* collections, ever */
} box_store_t;

typedef struct {
    int code; /* 0: done */
    char words[200];
    const char *key; /* of the index, where it is a duplicate */
} box_error_t;

box_collection_t *box_find_collection(box_store_t *store, const char *database, const char *name);
box_collection_t *box_make_collection(box_store_t *store, const char *database, const char *name,
                                      const bson_t *options);
void box_drop_collection(box_store_t *store, box_collection_t *collection);
void box_add_index(box_collection_t *collection, const bson_t *spec);
/* Where documents are that may match, ascending; to be freed. */
size_t *box_candidates(const box_collection_t *collection, const bson_t *filter, size_t *count);
bool box_put(box_collection_t *collection, const bson_t *document, box_error_t *error);
/* Takes `document` in any case. */
bool box_replace(box_collection_t *collection, size_t at, bson_t *document, box_error_t *error);
void box_take_out(box_collection_t *collection, size_t at);

/* ---- box_commands.c ---- */

typedef struct {
    int64_t id;
    char name[256];
    bson_t **documents;
    size_t count, at;
} box_cursor_t;

enum { BOX_CURSORS = 64, BOX_FAULTS = 32, BOX_KINDS = 256 };

typedef struct {
    char command[32], collection[200];
    size_t times;
    bson_t *last;
} box_asked_t;

typedef struct {
    box_fault_t fault;
    uint32_t left_after, left;
} box_pending_t;

struct box {
    box_kind_t kind;
    uint16_t port;
    pthread_mutex_t lock; /* of all that follows */
    pthread_cond_t changed;
    box_store_t store;
    box_cursor_t cursors[BOX_CURSORS];
    int64_t cursor_ids;
    box_pending_t faults[BOX_FAULTS];
    size_t fault_count;
    box_asked_t asked[BOX_KINDS];
    size_t asked_count;
    bson_t *said_of_build, *said_of_hello, *said_of_status;
    int64_t updates; /* statements */
    int32_t moves;   /* of chunks */
    bson_oid_t process;
    bool ending;
    /* box_wire.c */
    int listener;
    pthread_t acceptor, *threads;
    int *sockets; /* -1: closed */
    size_t connections, connection_room;
};

typedef struct {
    box_t *box;
    const bson_t *command;
    const char *name, *database, *target; /* the command's, and what it is for */
    bson_t *reply;
} call_t;

/* With the lock. */
void box_run(const call_t *call);
box_collection_t *box_collection_of(const call_t *call); /* NULL: there is none */
/* These fields in the places of what it had under their names. */
void box_overlay(bson_t *document, const bson_t *said);
/* Copies of what matches, by _id; collection may be NULL. */
bson_t **box_matching(const box_collection_t *collection, const bson_t *filter, size_t *count);
void box_free_documents(bson_t **documents, size_t count);
/* One statement: how many it matched; false: *error. */
bool box_update_one(box_collection_t *collection, const bson_t *statement, int64_t *matched,
                    box_error_t *error);
int64_t box_delete_from(box_collection_t *collection, const bson_t *query, int64_t limit); /* NULL: 0 */

/* ---- box_cluster.c ---- */

void box_begin_cluster(box_t *box);
bool box_run_cluster(const call_t *call); /* false: it is no command of routers */
void box_drop_shards(box_t *box, const char *database, const char *name);

/* Without the lock. False: the connection is to be closed. */
bool box_answer(box_t *box, const bson_t *command, bson_t *reply);
void box_close_connections(box_t *box); /* with the lock */

#endif
