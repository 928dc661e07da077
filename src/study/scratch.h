/* scratch: the collection next to a target in which something is tried out: NAME.tipple.tune or another tail, with the
 * catalog of the loads into it. A mark shows that it is ours: NAME.tipple.tune.tipple.mark, made before the collection
 * and dropped after it. So what a killed study left is recognised, a collection of someone else is not touched, and two
 * studies do not drop each other's collections. The target itself is never written to. Main thread. */
#ifndef TIPPLE_STUDY_SCRATCH_H
#define TIPPLE_STUDY_SCRATCH_H

#include "base/chars/own_names.h"
#include "server/server.h"

/* The URI of the scratch collection with this tail for a target's URI, through the first `routers` of its hosts (0:
 * all), with these wire compressors ("zstd,zlib", "none") and this write concern ("1"); NULL: unchanged. The caller
 * frees it. NULL: status 1. */
char *scratch_uri(const char *uri, const char *tail, size_t routers, const char *wire, const char *concern,
                  err_t *err);

typedef struct scratch scratch_t;

/* Connects, takes the mark, and drops what a study that died has left. Refused with status 1 if the name belongs to
 * another collection, or another study of the target is running. */
scratch_t *scratch_open(const char *uri, const char *tail, int64_t patience_ns, err_t *err);

server_t *scratch_server(const scratch_t *scratch);
mongoc_client_t *scratch_client(const scratch_t *scratch);

/* Call it before each trial. The mark stays ours for at least this long, and everything written before is on disk;
 * *checkpoint says whether it is (may be NULL). Status 4: another study has taken the mark. */
bool scratch_begin(scratch_t *scratch, int64_t for_ns, bool *checkpoint, err_t *err);

/* From here to scratch_close a thread keeps the mark ours, however long something takes. */
bool scratch_hold(scratch_t *scratch, err_t *err);

/* Drops the collection and its catalog; the mark stays. */
bool scratch_drop(scratch_t *scratch, err_t *err);

/* Makes the servers' storage write a checkpoint, so that what one trial has not yet written does not slow the next one.
 * False: this user, or this kind of target, may not; it is not tried again. */
bool scratch_checkpoint(scratch_t *scratch);

/* Drops everything, the mark last. False: the sentence says what is left, and that the next study removes it. NULL is
 * allowed. */
bool scratch_close(scratch_t *scratch, err_t *err);

#endif
