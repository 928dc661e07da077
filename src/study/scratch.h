/* scratch: the collection beside a target in which something is tried out: NAME.tipple.tune or another tail,
 * with the catalog that loads of it keep. It is ours by a mark, NAME.tipple.tune.tipple.mark, which is made
 * before it and dropped behind it, so that what a killed study left is known as such, a collection of
 * somebody else's is not touched, and two studies do not drop each other's. The target itself is never
 * written to. Main thread. */
#ifndef TIPPLE_STUDY_SCRATCH_H
#define TIPPLE_STUDY_SCRATCH_H

#include "server/server.h"

#define SCRATCH_TUNE  ".tipple.tune"
#define SCRATCH_DRILL ".tipple.drill"

/* The URI of the scratch collection with this tail of a target's URI, through the first `routers` of its
 * hosts (0: all of them), with these wire compressors ("zstd,zlib", "none") and this write concern ("1");
 * NULL: as it is. Free it. NULL: status 1. */
char *scratch_uri(const char *uri, const char *tail, size_t routers, const char *wire, const char *concern,
                  err_t *err);

typedef struct scratch scratch_t;

/* Connects, takes the mark, and drops what a study that died has left. Refused with status 1: the name is
 * another collection's, or another study of the target is at work. */
scratch_t *scratch_open(const char *uri, const char *tail, int64_t patience_ns, err_t *err);

server_t *scratch_server(const scratch_t *scratch);
mongoc_client_t *scratch_client(const scratch_t *scratch);

/* Before each trial: the mark stays ours for this long at least, and what was written before lies on disk (*checkpoint,
 * which may be NULL: whether it does). Status 4: another study has taken the mark. */
bool scratch_begin(scratch_t *scratch, int64_t for_ns, bool *checkpoint, err_t *err);

/* From here to scratch_close a thread of its own keeps the mark ours, however long something takes. */
bool scratch_hold(scratch_t *scratch, err_t *err);

/* Drops the collection and its catalog; the mark stays. */
bool scratch_drop(scratch_t *scratch, err_t *err);

/* A checkpoint of the servers' storage, so that what one trial left to be written is not the next one's
 * burden. False: this user, or this kind of target, may not; it is not tried again. */
bool scratch_checkpoint(scratch_t *scratch);

/* Drops everything, the mark last. False: what is left, and that the next study clears it away. NULL is
 * allowed. */
bool scratch_close(scratch_t *scratch, err_t *err);

#endif
