#define ZLIB_CONST
#include "generate/write/sink.h"
#include "base/stop.h"
#include "base/numbers/units.h"

#include <errno.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <zlib.h>

enum { PACKED_BYTES = 1 << 18, GZIP_WINDOW = 15 + 16 };

struct sink {
    int fd;
    bool gzip;
    const char *fewer;
    uint64_t written;
    z_stream stream;
    unsigned char *packed;
};

sink_t *sink_new(bool gzip, const char *fewer) {
    sink_t *sink = calloc(1, sizeof *sink);
    if (!sink)
        return NULL;
    *sink = (sink_t){.fd = -1, .fewer = fewer};
    if (!gzip)
        return sink;
    sink->packed = malloc(PACKED_BYTES);
    sink->gzip = sink->packed && deflateInit2(&sink->stream, Z_DEFAULT_COMPRESSION, Z_DEFLATED, GZIP_WINDOW,
                                              8, Z_DEFAULT_STRATEGY) == Z_OK;
    if (sink->gzip)
        return sink;
    sink_destroy(sink);
    return NULL;
}

void sink_destroy(sink_t *sink) {
    if (!sink)
        return;
    if (sink->gzip)
        deflateEnd(&sink->stream);
    free(sink->packed);
    free(sink);
}

uint64_t sink_bytes(const sink_t *sink) {
    return sink->written;
}

static bool may_go_on(uint64_t written, err_t *err) {
    char size[UNITS_MAX];
    int signal = stop_signal();
    return !signal || err_set(err, (status_t)(128 + signal),
                              "interrupted after %s, so the file is not whole; run the same command again",
                              units_size(size, written));
}

static bool cannot_write(const sink_t *sink, int error, err_t *err) {
    char size[UNITS_MAX];
    units_size(size, sink->written);
    if (error == EPIPE)
        return err_set(err, STATUS_READER_GONE, "the reader of the output went away after %s", size);
    if (error == ENOSPC || error == EDQUOT)
        return err_set(
            err, STATUS_HOST,
            "the output is full after %s (%s); free some space or ask for fewer %s, then run the same "
            "command again",
            size, strerror(error), sink->fewer);
    return err_set(err, STATUS_HOST, "the output could not be written after %s: %s", size, strerror(error));
}

static bool write_whole(sink_t *sink, const void *from, size_t count, err_t *err) {
    const char *bytes = from;
    while (count) {
        if (!may_go_on(sink->written, err))
            return false;
        ssize_t n = write(sink->fd, bytes, count);
        if (n >= 0) {
            bytes += n;
            count -= (size_t)n;
            sink->written += (uint64_t)n;
        } else if (errno == EAGAIN || errno == EWOULDBLOCK) {
            struct pollfd room = {.fd = sink->fd, .events = POLLOUT};
            poll(&room, 1, 1000);
        } else if (errno != EINTR) {
            return cannot_write(sink, errno, err);
        }
    }
    return true;
}

static bool pack(sink_t *sink, const char *bytes, size_t count, int flush, err_t *err) {
    z_stream *stream = &sink->stream;
    stream->next_in = (const Bytef *)bytes;
    stream->avail_in = (uInt)count;
    do {
        stream->next_out = sink->packed;
        stream->avail_out = PACKED_BYTES;
        deflate(stream, flush);
        if (!write_whole(sink, sink->packed, PACKED_BYTES - stream->avail_out, err))
            return false;
    } while (!stream->avail_out);
    return true;
}

void sink_begin(sink_t *sink, int fd) {
    sink->fd = fd;
    if (sink->gzip)
        deflateReset(&sink->stream);
}

bool sink_write(sink_t *sink, const char *bytes, size_t count, err_t *err) {
    return sink->gzip ? pack(sink, bytes, count, Z_NO_FLUSH, err) : write_whole(sink, bytes, count, err);
}

bool sink_end(sink_t *sink, err_t *err) {
    return !sink->gzip || pack(sink, "", 0, Z_FINISH, err);
}
