/* scratch: the collection next to a target in which a study loads: NAME.tipple.tune.ID or NAME.tipple.drill.ID, with the
 * catalog of the loads into it. ID is drawn, so studies of one target never meet. A study that is killed leaves its
 * collection, and the next study of the target drops it: when the process of the last load into it is gone from this host,
 * or when that load gave no sign of life for a day. The target is never written to. Main thread. */
#ifndef TIPPLE_STUDY_SCRATCH_H
#define TIPPLE_STUDY_SCRATCH_H

#include "base/text.h"
#include "server/server.h"

/* A target's URI with this tail after its collection's name. The caller frees it. NULL: status 1. */
char *scratch_uri(const char *uri, const char *tail, err_t *err);

typedef struct scratch scratch_t;

/* Connects, and drops what dead studies have left. tail: SCRATCH_TUNE or SCRATCH_DRILL. */
scratch_t *scratch_open(const char *uri, const char *tail, int64_t patience_ns, err_t *err);

const char *scratch_place(const scratch_t *scratch); /* the collection's URI */
server_t *scratch_server(const scratch_t *scratch);
mongoc_client_t *scratch_client(const scratch_t *scratch);

/* Drops the collection and its catalog. */
bool scratch_drop(scratch_t *scratch, err_t *err);

/* Makes the servers write a checkpoint, so that sizes are known, and what one trial has not yet written does not slow
 * the next one. False: this user, or this kind of target, may not; it is not tried again. */
bool scratch_checkpoint(scratch_t *scratch);

/* Drops everything. False: the sentence says what is left, and that the next study drops it. NULL is allowed. */
bool scratch_close(scratch_t *scratch, err_t *err);

#endif
