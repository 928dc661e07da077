/* read_back: reads ranges of `_id`s in ascending order: the documents that the majority has, from the primary and through the
 * router, so that orphans do not count. Verify compares them with its files, a load with blocks that an earlier run has begun
 * (range.h). Each reader belongs to one thread.
 *
 * A lost connection, an election, a moved chunk or a forgotten cursor can end a range too early. Then the caller reads
 * it again from its start: what came until then proves nothing. */
#ifndef TIPPLE_LOAD_READ_BACK_READ_BACK_H
#define TIPPLE_LOAD_READ_BACK_READ_BACK_H

#include "server/server.h"

typedef struct snapshot_read snapshot_read_t;

/* client: the thread's own, which stays the caller's; NULL: the reader takes one from the server. */
snapshot_read_t *snapshot_read_new(server_t *server, mongoc_client_t *client, err_t *err);
void snapshot_read_free(snapshot_read_t *reader); /* NULL is allowed */

/* Renews the patience: before a new piece of work, or after a piece that went well. */
void snapshot_read_refresh(snapshot_read_t *reader);

/* Begins with the documents whose `_id`s are in [from, end); INT64_MAX as the end is included. */
void snapshot_read_begin(snapshot_read_t *reader, int64_t from, int64_t end);
/* Begins with the documents that pass the filter. */
void snapshot_read_begin_filter(snapshot_read_t *reader, const bson_t *filter);

/* Gives the next document, valid until the next call. 1: there is one; 0: the end; -1: the range was cut short. With
 * snapshot_read_again another try is worth it, and the wait for it is over; else err says why not. */
int snapshot_read_next(snapshot_read_t *reader, const uint8_t **document, uint32_t *length, err_t *err);
bool snapshot_read_again(const snapshot_read_t *reader);

typedef void snapshot_clear_fn(void *context);
typedef bool snapshot_keep_fn(void *context, const uint8_t *document, uint32_t length, err_t *err);

/* Reads all of a range: calls keep for each document, and clear before the first one, also when reading starts over. False:
 * the server was unreachable until patience ran out, or refused, or keep did. */
bool snapshot_read_all(snapshot_read_t *reader, int64_t from, int64_t end, snapshot_clear_fn *clear,
                       snapshot_keep_fn *keep, void *context, err_t *err);

/* The same for all documents that pass the filter (NULL: all of the collection). more: further options of the finds, such as a
 * projection and the batch size; NULL: the usual ones. */
bool snapshot_read_filtered(snapshot_read_t *reader, const bson_t *filter, const bson_t *more,
                            snapshot_clear_fn *clear, snapshot_keep_fn *keep, void *context, err_t *err);

/* Hashes a document so that all documents that a server's comparison takes for equal have the same hash: 1, 1.0 and
 * NumberLong(1) are equal, and so are a text and a symbol. Unequal documents may share it, too. */
uint64_t loose_hash(const uint8_t *document, uint32_t length);

#endif
