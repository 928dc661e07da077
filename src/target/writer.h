/* writer: one batch to one server, and what became of each of its documents. A writer belongs to one thread.
 */
#ifndef TIPPLE_TARGET_WRITER_H
#define TIPPLE_TARGET_WRITER_H

#include "target/server.h"

typedef struct writer writer_t;

/* near: one router of several, which is tried first; NULL: the driver chooses. */
writer_t *writer_new(server_t *server, server_t *near, err_t *err);
void writer_destroy(writer_t *writer);

typedef struct {
    uint32_t index;    /* in the batch */
    int code;          /* the server's */
    bool duplicate_id; /* 11000 on {_id: 1}, nothing else */
    char reason[240];  /* the server's words, short, one line */
} refused_t;

typedef struct {
    refused_t *refused; /* owned by the writer, until its next call; ascending by index, each index once */
    size_t count;
    bool in_doubt; /* a reply was lost on the way: a duplicate_id may be our own write */
    bool stale;    /* the shard has other chunks than its version said: the router had to sort */
    uint32_t retries;
} written_t;

/* Straight to a shard, with the version of the chunks by which the documents were sorted. */
typedef struct {
    server_t *server; /* NULL: through the router */
    const bson_t *version;
} straight_t;

/* Sends the documents (BSON, back to back; starts[i] is where the i-th begins, starts[count] the end) as
 * unordered inserts without further validation: one message unless the server's limits ask for more. Network
 * errors and elections are tried again until the patience is over (with the whole batch: then in_doubt is
 * set); what a shard refuses as stale goes through the router. A stop signal ends the trying. False: the
 * batch's fate is unknown and the load must stop (status 4 or 1). */
bool writer_insert(writer_t *writer, straight_t straight, const uint8_t *bytes, const uint32_t *starts,
                   size_t count, written_t *written, err_t *err);

typedef enum { STORED_SAME, STORED_DIFFERENT, STORED_MISSING } stored_t;

/* Fetches the document with this document's `_id` (majority) and compares the bytes. */
bool writer_compare(writer_t *writer, const uint8_t *document, uint32_t length, stored_t *stored, err_t *err);

/* The `_id`s in [from, to) that the majority has, ascending, through the router. */
typedef struct {
    int64_t *ids; /* to be freed by whoever has it; may be used again */
    size_t count, room;
} present_t;
bool writer_present(writer_t *writer, int64_t from, int64_t to, present_t *present, err_t *err);

/* Nanoseconds spent waiting for replies. */
int64_t writer_wait_ns(const writer_t *writer);

#endif
