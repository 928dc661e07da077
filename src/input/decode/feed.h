/* feed: bytes as they lie on the disk or come out of a pipe, for the decoders. Belongs to one thread; only
 * `taken` may be read by others.
 *
 * A feed never fails in the middle of a decoder: a read error looks like the end, and feed->failed with its
 * sentence replaces whatever the decoder then says. So what came before an error is still decoded. */
#ifndef TIPPLE_INPUT_DECODE_FEED_H
#define TIPPLE_INPUT_DECODE_FEED_H

#include "base/err.h"
#include "base/threads/pool.h"

#include <stdatomic.h>
#include <stdint.h>
#include <sys/types.h>

enum {
    FEED_BYTES = 256 * 1024,
    FEED_BACK = 16,  /* bytes that can be given back after a decoder took them */
    FEED_SLACK = 64, /* readable zeros after the last byte */
};

/* What a feed reads where there is no descriptor: bytes that another source gives, in order. As source_read.
 */
typedef ssize_t feed_pull_t(void *context, void *out, size_t size, err_t *err);

typedef struct {
    const char *name; /* for sentences */
    const char *what; /* "gzip", "zip" */
    int fd;
    bool stream;
    const uint8_t *kept; /* all bytes up to `end`, where they were read before; or NULL */
    feed_pull_t *pull;
    void *context;
    uint64_t next, end; /* where the next pread goes; the end of this input on disk */
    uint8_t *bytes;     /* made at the first feed_want */
    size_t most;        /* to read at once; 0: FEED_BYTES */
    size_t room, at, filled;
    bool ended, failed;
    bool damaged; /* a decoder said so: what it gave before may be wrong, too */
    _Atomic uint64_t taken;
    pool_t *pool; /* closed: nobody wants a stream's bytes any more, and the waiting ends; or NULL */
    err_t fault;  /* last: it is long, and written only when it is needed */
} feed_t;

/* Bytes [from, to) of a file, or a stream (from and to are 0). The descriptor stays the caller's. */
void feed_init(feed_t *feed, const char *name, int fd, bool stream, uint64_t from, uint64_t to);
/* The next to - from bytes that pull gives. */
void feed_init_pull(feed_t *feed, const char *name, feed_pull_t *pull, void *context, uint64_t from,
                    uint64_t to);
/* A head of a file that is already there, with FEED_BACK readable bytes before and FEED_SLACK behind it; they
 * stay the caller's, and nothing is to be freed. */
void feed_init_bytes(feed_t *feed, const char *name, uint8_t *bytes, size_t size);
void feed_free(feed_t *feed);

/* Makes at least `count` (up to FEED_BYTES / 2) bytes available in one piece; returns how many there are:
 * fewer only at the end. */
size_t feed_want(feed_t *feed, size_t count);

static inline const uint8_t *feed_bytes(const feed_t *feed) {
    return feed->bytes + feed->at;
}

static inline void feed_take(feed_t *feed, size_t count) {
    feed->at += count;
}

/* Gives back up to FEED_BACK bytes that were taken. */
static inline void feed_unread(feed_t *feed, size_t count) {
    feed->at -= count;
}

/* The next byte, or -1 at the end. */
int feed_byte(feed_t *feed);

/* Copies up to size bytes past the buffer where it can; fewer only at the end. */
size_t feed_copy(feed_t *feed, uint8_t *out, size_t size);

/* The place in the file of the next byte that a decoder takes. */
uint64_t feed_offset(const feed_t *feed);

/* The sentences for data that stops too early, and for data that makes no sense (why, in two or three words).
 */
bool feed_cut_off(const feed_t *feed, err_t *err);
bool feed_damaged(feed_t *feed, const char *why, err_t *err);

#endif
