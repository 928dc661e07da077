/* What the files of the box share. */
#ifndef TIPPLE_TESTS_BOX_INNER_H
#define TIPPLE_TESTS_BOX_INNER_H

#include "box.h"

#include <pthread.h>

extern int box_stderr; /* as it was before the first box: tests listen to what is said there */
_Noreturn void box_die(const char *words, ...) __attribute__((format(printf, 1, 2)));
bson_t *box_json(const char *json); /* NULL: {} */

/* ---- fields of documents ---- */

const char *box_text(const bson_t *document, const char *field); /* "" where there is no text */
int64_t box_number(const bson_t *document, const char *field, int64_t otherwise);
void box_part(const bson_t *document, const char *field, bson_t *part); /* a view; {} if there is none */

/* ---- box_match.c ---- */

/* Texts are equal in either case: the collation of the collection that this thread looked up last. */
extern _Thread_local bool box_folds;
/* As servers sort values of all types. */
int box_compare(const bson_iter_t *a, const bson_iter_t *b);
bool box_matches(const bson_t *document, const bson_t *filter);
bool box_has_operators(const bson_iter_t *iter); /* {$gt: 5} */
/* What is at a path, of the first element where arrays are on the way. */
bool box_at(const bson_t *document, const char *path, bson_iter_t *value);
void box_inside(const bson_iter_t *iter, bson_t *inside); /* a view of a document or an array */

/* ---- box_update.c ---- */

/* {"": the value}, or {} where it is missing */
void box_evaluate(const bson_iter_t *expression, const bson_t *root, bson_t *value);
void box_set(bson_t **document, const char *path, const bson_iter_t *value); /* NULL: it is removed */
/* A new document. inserting: by an upsert. */
bson_t *box_updated(const bson_t *document, const bson_iter_t *update, bool inserting);

/* ---- box_store.c ---- */

typedef struct {
    bson_t *spec; /* {v: 2, key: {...}, name, unique, partialFilterExpression, collation} */
    bool folds;
} box_index_t;

enum { BOX_INDEXES = 8, BOX_COLLECTIONS = 32 };

typedef struct {
    char name[256];                  /* with the database */
    bson_t **documents;              /* by _id */
    uint64_t (*hashes)[BOX_INDEXES]; /* of each document's keys in the indexes; 0: it is not in that one */
    size_t count, room;
    bson_t *options; /* of create */
    bool folds;
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
    int code;
    char words[200];
    bson_t *more; /* NULL, or further fields of the error, to be destroyed */
} box_error_t;

bool box_refused(box_error_t *error, int code, bson_t *more, const char *words, ...)
    __attribute__((format(printf, 4, 5)));   /* always false */
bool box_is_collated(const bson_t *options); /* by a collation that folds; others end the test */

box_collection_t *box_find_collection(box_store_t *store, const char *database, const char *name);
box_collection_t *box_make_collection(box_store_t *store, const char *database, const char *name,
                                      const bson_t *options);
void box_drop_collection(box_store_t *store, box_collection_t *collection);
/* An index as it is listed: a collation that does nothing is left out, and the collection's is added. */
bson_t *box_listed(const box_collection_t *collection, const bson_t *spec);
/* False: *error. True also if it is there already. */
bool box_add_index(box_collection_t *collection, const bson_t *spec, box_error_t *error);
void box_drop_index(box_collection_t *collection); /* the last one */
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
    bson_t *said_of_build, *said_of_hello, *said_of_stats;
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
bool box_fail(bson_t *reply, int code, const char *words); /* always false */
box_collection_t *box_collection_of(const call_t *call);   /* NULL: there is none */
/* These fields in the places of what it had under their names. */
void box_overlay(bson_t *document, const bson_t *said);
/* Copies of what matches, by _id; collection may be NULL. */
bson_t **box_matching(const box_collection_t *collection, const bson_t *filter, size_t *count);
void box_free_documents(bson_t **documents, size_t count);
typedef struct {
    int64_t matched, modified;
    bson_t *upserted; /* NULL, or {_id: ...}, to be destroyed */
} box_change_t;

/* One statement; collection NULL: there is none. False: *error. */
bool box_update_one(box_collection_t *collection, const bson_t *statement, box_change_t *change,
                    box_error_t *error);
int64_t box_delete_from(box_collection_t *collection, const bson_t *query, int64_t limit); /* NULL: 0 */

/* ---- box_fields.c ---- */

/* Fields that are not known here end the test. False: what the concerns ask for is refused in the reply. */
bool box_begin_command(const call_t *call, const char *fields);
void box_end_command(const call_t *call); /* adds what became of the write concern */

/* ---- box_cluster.c ---- */

void box_begin_cluster(box_t *box);
bool box_run_cluster(const call_t *call);                             /* false: it is no command of routers */
void box_drop_shards(box_t *box, const box_collection_t *collection); /* what the cluster knows of it */

/* Without the lock. False: the connection is to be closed. */
bool box_answer(box_t *box, const bson_t *command, bson_t *reply);
void box_close_connections(box_t *box); /* with the lock */

#endif
