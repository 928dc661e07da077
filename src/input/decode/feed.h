/* feed: the bytes on the disk or from a pipe, for the decoders. Belongs to one thread; other threads may read only
 * `taken`.
 *
 * A feed never fails in the middle of a decoder: a read error looks like the end, and feed->failed with its sentence
 * then replaces what the decoder says. So what came before an error is still decoded. */
#ifndef TIPPLE_INPUT_DECODE_FEED_H
#define TIPPLE_INPUT_DECODE_FEED_H

#include "base/err.h"
#include "base/threads.h"
#include "input/decode/origin.h"

#include <stdatomic.h>
#include <stdint.h>
#include <sys/types.h>

enum {
    FEED_BYTES = 256 * 1024,
    FEED_BACK = 16,  /* bytes that can be given back after a decoder has taken them */
    FEED_SLACK = 64, /* readable zeros after the last byte */
};

typedef struct {
    const char *name; /* for sentences */
    const char *what; /* "gzip", "zip" */
    origin_t origin;
    bool stream;
    uint64_t next,
        end;        /* where the next pread begins; where this input ends on disk (UINT64_MAX: not known) */
    uint8_t *bytes; /* allocated at the first feed_want */
    size_t most;    /* how much to read at once; 0: FEED_BYTES */
    size_t room, at, filled;
    bool ended, failed;
    _Atomic uint64_t taken;
    /* if it is closed, a stream's bytes are not needed any more, and the wait ends; may be NULL */
    pool_t *pool;
    err_t fault; /* last, because it is long and rarely written */
} feed_t;

/* Reads bytes [from, to) of an origin, the next to - from bytes of another input, or a stream (from and to are 0). The origin stays
 * the caller's; NULL: none yet. */
void feed_init(feed_t *feed, const char *name, const origin_t *origin, bool stream, uint64_t from,
               uint64_t to);
void feed_free(feed_t *feed);

/* Makes at least `count` bytes available in one piece. Returns how many there are: fewer only at the end. */
size_t feed_want(feed_t *feed, size_t count);

static inline const uint8_t *feed_bytes(const feed_t *feed) {
    return feed->bytes + feed->at;
}

/* A decoder may also give back up to FEED_BACK bytes that it has taken, as a count below zero. */
static inline void feed_take(feed_t *feed, size_t count) {
    feed->at += count;
}

/* Copies up to `size` bytes, past its own buffer if possible. Fewer only at the end, or where a stream has no more yet: one byte
 * is waited for, not all. */
size_t feed_copy(feed_t *feed, uint8_t *out, size_t size);

/* Goes on at this later position; a file on disk is not read for that. False: the bytes end before it. */
bool feed_skip_to(feed_t *feed, uint64_t offset);

/* The position in the file of the next byte that a decoder takes. */
uint64_t feed_offset(const feed_t *feed);

/* The sentences for data that stops too early, has something else after it, or is not valid (why: two or three words;
 * NULL: it stops too early). */
bool feed_followed(const feed_t *feed, err_t *err); /* whole data, and something else after it */
bool feed_damaged(const feed_t *feed, const char *why, err_t *err);

#endif
