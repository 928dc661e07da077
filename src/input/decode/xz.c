/* xz: any number of streams, with zeros between them, read by liblzma. */
#include "input/decode/decoder.h"

#include <lzma.h>
#include <stdlib.h>
#include <string.h>

static const uint64_t MOST_MEMORY = 512u
                                    << 20; /* xz -9 takes 65 MB; who gives more to a dictionary says so */

typedef struct {
    decoder_t decoder;
    lzma_stream stream;
    bool in_stream; /* a stream was begun, and did not end yet */
    bool begun;     /* of the input: a stream has ended */
} xz_t;

static decode_t explain(const xz_t *xz, lzma_ret result, feed_t *feed, err_t *err) {
    if (result == LZMA_MEMLIMIT_ERROR)
        err_set(err, STATUS_INPUT,
                "%.1000s: needs %llu MB to be decompressed, and at most %llu MB are given to it; compress it "
                "again (xz -9 or less), or pipe it in: xz -dc FILE",
                feed->name, (unsigned long long)(lzma_memusage(&xz->stream) >> 20),
                (unsigned long long)(MOST_MEMORY >> 20));
    else if (result == LZMA_MEM_ERROR)
        err_memory(err, lzma_memusage(&xz->stream));
    else if (result == LZMA_BUF_ERROR)
        feed_cut_off(feed, err);
    else
        feed_damaged(feed, result == LZMA_OPTIONS_ERROR ? "unknown options" : "its checksum or structure",
                     err);
    return DECODE_FAULT;
}

/* Zeros may stand between streams and behind them. */
static size_t pass_zeros(feed_t *feed) {
    size_t have;
    while ((have = feed_want(feed, 1)) && !*feed_bytes(feed)) {
        size_t zeros = 1;
        while (zeros < have && !feed_bytes(feed)[zeros])
            zeros++;
        feed_take(feed, zeros);
    }
    return have;
}

/* MORE: the next stream has begun. */
static decode_t begin_stream(xz_t *xz, feed_t *feed, err_t *err) {
    static const uint8_t mark[] = {0xfd, '7', 'z', 'X', 'Z', 0};
    if (xz->begun && !pass_zeros(feed))
        return DECODE_END;
    if (xz->begun &&
        (feed_want(feed, sizeof mark) < sizeof mark || memcmp(feed_bytes(feed), mark, sizeof mark) != 0)) {
        feed_followed(feed, err);
        return DECODE_FAULT;
    }
    const lzma_ret result = lzma_stream_decoder(&xz->stream, MOST_MEMORY, 0);
    xz->in_stream = result == LZMA_OK;
    return xz->in_stream ? DECODE_MORE : explain(xz, result, feed, err);
}

static decode_t xz_read(decoder_t *decoder, feed_t *feed, uint8_t *out, size_t size, size_t *got,
                        err_t *err) {
    xz_t *xz = (xz_t *)decoder;
    lzma_stream *stream = &xz->stream;
    *got = 0;
    while (*got < size) {
        const decode_t begun = xz->in_stream ? DECODE_MORE : begin_stream(xz, feed, err);
        if (begun != DECODE_MORE)
            return begun;
        const size_t have = feed_want(feed, 1);
        stream->next_in = feed_bytes(feed);
        stream->avail_in = have;
        stream->next_out = out + *got;
        stream->avail_out = size - *got;
        const lzma_ret result = lzma_code(stream, have ? LZMA_RUN : LZMA_FINISH);
        feed_take(feed, have - stream->avail_in);
        *got = size - stream->avail_out;
        xz->in_stream = result == LZMA_OK;
        xz->begun |= result == LZMA_STREAM_END;
        if (result != LZMA_OK && result != LZMA_STREAM_END)
            return explain(xz, result, feed, err);
    }
    return DECODE_MORE;
}

static void xz_restart(decoder_t *decoder) {
    xz_t *xz = (xz_t *)decoder;
    xz->in_stream = xz->begun = false;
}

static void xz_close(decoder_t *decoder) {
    lzma_end(&((xz_t *)decoder)->stream);
    free(decoder);
}

decoder_t *decoder_xz(void) {
    xz_t *xz = calloc(1, sizeof *xz);
    if (!xz)
        return NULL;
    xz->stream = (lzma_stream)LZMA_STREAM_INIT;
    xz->decoder = (decoder_t){xz_read, xz_restart, xz_close};
    return &xz->decoder;
}
