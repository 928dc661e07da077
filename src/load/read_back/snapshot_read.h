/* snapshot_read: reads ranges of `_id`s back, in ascending order: the documents that the majority has, from the primary
 * and through the router, so that orphans do not count. Verify compares them with its files, a load with blocks that an
 * earlier run has begun. Belongs to one thread.
 *
 * A lost connection, an election, a moved chunk or a forgotten cursor can end a range too early. Then the caller reads
 * it again from its start: what came until then proves nothing. */
#ifndef TIPPLE_LOAD_READ_BACK_SNAPSHOT_READ_H
#define TIPPLE_LOAD_READ_BACK_SNAPSHOT_READ_H

#include "server/server.h"

typedef struct snapshot_read snapshot_read_t;

/* client: the thread's own, which stays the caller's; NULL: one of the server's is taken. */
snapshot_read_t *snapshot_read_new(server_t *server, mongoc_client_t *client, err_t *err);
void snapshot_read_free(snapshot_read_t *reader); /* NULL is allowed */

/* All patience is there again: before a new piece of work, or after a piece that went well. */
void snapshot_read_refresh(snapshot_read_t *reader);

/* The documents with `_id`s in [from, end) are next; INT64_MAX as the end is in it. */
void snapshot_read_begin(snapshot_read_t *reader, int64_t from, int64_t end);
/* Or those that pass the filter. */
void snapshot_read_begin_filter(snapshot_read_t *reader, const bson_t *filter);

/* The next document, which lasts until the next call. 1: it is there; 0: the end; -1: the range was cut
 * short: with snapshot_read_again it is worth another try, which was waited for already; else err says why
 * not. */
int snapshot_read_next(snapshot_read_t *reader, const uint8_t **document, uint32_t *length, err_t *err);
bool snapshot_read_again(const snapshot_read_t *reader);

typedef void snapshot_clear_fn(void *context);
typedef bool snapshot_keep_fn(void *context, const uint8_t *document, uint32_t length, err_t *err);

/* All of a range: keep is called for each document, clear before the first one, and whenever it starts over.
 * False: the server stayed away for longer than its patience, or refused, or keep did. */
bool snapshot_read_all(snapshot_read_t *reader, int64_t from, int64_t end, snapshot_clear_fn *clear,
                       snapshot_keep_fn *keep, void *context, err_t *err);

/* The same of all documents that pass the filter (NULL: of the whole collection). more: further options of the finds, such as
 * a projection and the size of their batches; NULL: as in all others. */
bool snapshot_read_filtered(snapshot_read_t *reader, const bson_t *filter, const bson_t *more,
                            snapshot_clear_fn *clear, snapshot_keep_fn *keep, void *context, err_t *err);

#endif
