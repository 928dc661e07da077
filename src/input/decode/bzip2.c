/* bzip2: any number of streams, read by libbz2. */
#include "input/decode/decoder.h"

#include <bzlib.h>
#include <stdlib.h>

typedef struct {
    decoder_t decoder;
    bz_stream stream;
    bool in_stream; /* a stream was begun, and did not end yet */
    bool begun;     /* of the input: a stream has ended */
} bzip2_t;

static decode_t explain(const bzip2_t *bzip2, int result, feed_t *feed, err_t *err) {
    if (result == BZ_MEM_ERROR)
        err_memory(err, 4 << 20);
    else if (result == BZ_DATA_ERROR_MAGIC && bzip2->begun)
        feed_followed(feed, err);
    else
        feed_damaged(feed, result == BZ_DATA_ERROR ? "its checksum" : "its structure", err);
    return DECODE_FAULT;
}

static bool begin_stream(bzip2_t *bzip2) {
    bzip2->stream = (bz_stream){0};
    bzip2->in_stream = BZ2_bzDecompressInit(&bzip2->stream, 0, 0) == BZ_OK;
    return bzip2->in_stream;
}

static void end_stream(bzip2_t *bzip2) {
    if (bzip2->in_stream)
        BZ2_bzDecompressEnd(&bzip2->stream);
    bzip2->in_stream = false;
}

static decode_t bzip2_read(decoder_t *decoder, feed_t *feed, uint8_t *out, size_t size, size_t *got,
                           err_t *err) {
    bzip2_t *bzip2 = (bzip2_t *)decoder;
    bz_stream *stream = &bzip2->stream;
    *got = 0;
    while (*got < size) {
        const size_t have = feed_want(feed, 1), before = *got;
        if (!have && !bzip2->in_stream) {
            if (bzip2->begun)
                return DECODE_END;
            feed_cut_off(feed, err);
            return DECODE_FAULT;
        }
        if (!bzip2->in_stream && !begin_stream(bzip2))
            return explain(bzip2, BZ_MEM_ERROR, feed, err);
        stream->next_in = (char *)feed_bytes(feed);
        stream->avail_in = (unsigned)have;
        stream->next_out = (char *)out + *got;
        stream->avail_out = (unsigned)(size - *got < 1u << 30 ? size - *got : 1u << 30);
        const unsigned room = stream->avail_out;
        const int result = BZ2_bzDecompress(stream);
        feed_take(feed, have - stream->avail_in);
        *got += room - stream->avail_out;
        if (result == BZ_STREAM_END) {
            end_stream(bzip2);
            bzip2->begun = true;
        } else if (result != BZ_OK) {
            return explain(bzip2, result, feed, err);
        } else if (!have && *got == before) {
            feed_cut_off(feed, err);
            return DECODE_FAULT;
        }
    }
    return DECODE_MORE;
}

static void bzip2_close(decoder_t *decoder) {
    end_stream((bzip2_t *)decoder);
    free(decoder);
}

decoder_t *decoder_bzip2(void) {
    bzip2_t *bzip2 = calloc(1, sizeof *bzip2);
    if (bzip2)
        bzip2->decoder = (decoder_t){.read = bzip2_read, .close = bzip2_close};
    return bzip2 ? &bzip2->decoder : NULL;
}
