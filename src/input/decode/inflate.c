/* Raw deflate through ISA-L, which is two to three times as fast as zlib, or through zlib. */
#include "input/decode/decoder.h"

#include <stdlib.h>
#include <string.h>
#include <zlib.h>

enum { LARGEST_STEP = 1 << 30 };

static uint32_t step(size_t size) {
    return (uint32_t)(size < LARGEST_STEP ? size : LARGEST_STEP);
}

#ifdef TIPPLE_HAVE_ISAL
#include <isa-l/igzip_lib.h>

typedef struct {
    decoder_t decoder;
    const char *broken;
    struct inflate_state state;
} isal_t;

static const char *isal_reason(int code) {
    return code == ISAL_INVALID_BLOCK    ? "invalid block"
           : code == ISAL_INVALID_SYMBOL ? "invalid symbol"
                                         : "invalid distance";
}

/* ISA-L reports a fault at once, but text from before it may still be in its own buffer: gives that out. */
static decode_t isal_rest(isal_t *isal, feed_t *feed, uint8_t *out, size_t size, size_t *got, err_t *err) {
    struct inflate_state *state = &isal->state;
    size_t rest = (size_t)(state->tmp_out_valid - state->tmp_out_processed);
    size_t n = rest < size - *got ? rest : size - *got;
    memcpy(out + *got, state->tmp_out_buffer + state->tmp_out_processed, n);
    state->tmp_out_processed += (int32_t)n;
    *got += n;
    if (n < rest)
        return DECODE_MORE;
    feed_damaged(feed, isal->broken, err);
    return DECODE_FAULT;
}

static decode_t isal_read(decoder_t *decoder, feed_t *feed, uint8_t *out, size_t size, size_t *got,
                          err_t *err) {
    isal_t *isal = (isal_t *)decoder;
    struct inflate_state *state = &isal->state;
    *got = 0;
    while (*got < size && !isal->broken) {
        uint32_t have = (uint32_t)feed_want(feed, 1), room = step(size - *got);
        state->next_in = have ? feed->bytes + feed->at : (uint8_t *)"";
        state->avail_in = have;
        state->next_out = out + *got;
        state->avail_out = room;
        int code = isal_inflate(state);
        feed_take(feed, have - state->avail_in);
        *got += room - state->avail_out;
        if (state->block_state == ISAL_BLOCK_FINISH) {
            feed_unread(feed, (size_t)state->read_in_length / 8);
            return DECODE_END;
        }
        if (code < 0) {
            isal->broken = isal_reason(code);
        } else if (room == state->avail_out && have == state->avail_in) {
            if (have)
                feed_damaged(feed, "no progress", err);
            else
                feed_cut_off(feed, err);
            return DECODE_FAULT;
        }
    }
    return isal->broken ? isal_rest(isal, feed, out, size, got, err) : DECODE_MORE;
}

static void isal_restart(decoder_t *decoder) {
    isal_t *isal = (isal_t *)decoder;
    isal_inflate_reset(&isal->state);
    isal->broken = NULL;
}

static void isal_close(decoder_t *decoder) {
    free(decoder);
}

static decoder_t *isal_new(void) {
    isal_t *isal = malloc(sizeof *isal);
    if (!isal)
        return NULL;
    isal->decoder = (decoder_t){isal_read, isal_restart, isal_close};
    isal->broken = NULL;
    isal_inflate_init(&isal->state);
    return &isal->decoder;
}
#endif

typedef struct {
    decoder_t decoder;
    z_stream stream;
} zlib_t;

static decode_t zlib_read(decoder_t *decoder, feed_t *feed, uint8_t *out, size_t size, size_t *got,
                          err_t *err) {
    z_stream *stream = &((zlib_t *)decoder)->stream;
    *got = 0;
    while (*got < size) {
        uint32_t have = (uint32_t)feed_want(feed, 1), room = step(size - *got);
        stream->next_in = have ? feed->bytes + feed->at : (uint8_t *)"";
        stream->avail_in = have;
        stream->next_out = out + *got;
        stream->avail_out = room;
        int code = inflate(stream, Z_NO_FLUSH);
        feed_take(feed, have - stream->avail_in);
        *got += room - stream->avail_out;
        if (code == Z_STREAM_END)
            return DECODE_END;
        if (code == Z_BUF_ERROR && !have)
            feed_cut_off(feed, err);
        else if (code == Z_MEM_ERROR)
            err_memory(err, 1 << 15);
        else if (code != Z_OK)
            feed_damaged(feed, stream->msg ? stream->msg : "invalid data", err);
        if (code != Z_OK)
            return DECODE_FAULT;
    }
    return DECODE_MORE;
}

static void zlib_restart(decoder_t *decoder) {
    inflateReset(&((zlib_t *)decoder)->stream);
}

static void zlib_close(decoder_t *decoder) {
    inflateEnd(&((zlib_t *)decoder)->stream);
    free(decoder);
}

static decoder_t *zlib_new(void) {
    zlib_t *zlib = calloc(1, sizeof *zlib);
    if (!zlib)
        return NULL;
    zlib->decoder = (decoder_t){zlib_read, zlib_restart, zlib_close};
    if (inflateInit2(&zlib->stream, -MAX_WBITS) != Z_OK) {
        free(zlib);
        return NULL;
    }
    return &zlib->decoder;
}

decoder_t *decoder_inflate(inflate_engine_t engine) {
#ifdef TIPPLE_HAVE_ISAL
    if (engine == INFLATE_BEST)
        return isal_new();
#endif
    (void)engine;
    return zlib_new();
}
