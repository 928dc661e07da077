/* zstd: any number of frames, also skippable ones, read by libzstd. */
#include "input/decode/decoder.h"

#include <stdlib.h>
#include <zstd.h>
#include <zstd_errors.h>

typedef struct {
    decoder_t decoder;
    ZSTD_DStream *stream;
    bool in_frame;
    bool begun;
} zstd_t;

static decode_t explain(const zstd_t *zstd, size_t code, feed_t *feed, err_t *err) {
    ZSTD_ErrorCode error = ZSTD_getErrorCode(code);
    if (error == ZSTD_error_frameParameter_windowTooLarge)
        err_set(err, STATUS_INPUT,
                "%.1000s: was compressed with a window of more than 128 MB (zstd --long or --ultra); "
                "compress it again without, or pipe it in: zstd -dc --long=31 FILE",
                feed->name);
    else if (error == ZSTD_error_memory_allocation)
        err_memory(err, (size_t)1 << 27);
    else if (error == ZSTD_error_prefix_unknown && zstd->begun && !zstd->in_frame)
        feed_followed(feed, err);
    else
        feed_damaged(feed, ZSTD_getErrorName(code), err);
    return DECODE_FAULT;
}

static decode_t zstd_read(decoder_t *decoder, feed_t *feed, uint8_t *out, size_t size, size_t *got,
                          err_t *err) {
    zstd_t *zstd = (zstd_t *)decoder;
    ZSTD_outBuffer output = {out, size, 0};
    *got = 0;
    while (output.pos < size) {
        size_t have = feed_want(feed, 1), before = output.pos;
        if (!have && !zstd->in_frame) {
            if (zstd->begun)
                return DECODE_END;
            feed_cut_off(feed, err);
            return DECODE_FAULT;
        }
        ZSTD_inBuffer input = {have ? feed_bytes(feed) : NULL, have, 0};
        size_t code = ZSTD_decompressStream(zstd->stream, &output, &input);
        *got = output.pos;
        if (ZSTD_isError(code))
            return explain(zstd, code, feed, err);
        feed_take(feed, input.pos);
        zstd->begun = true;
        zstd->in_frame = code != 0;
        if (!input.pos && output.pos == before) {
            feed_cut_off(feed, err);
            return DECODE_FAULT;
        }
    }
    return DECODE_MORE;
}

static void zstd_restart(decoder_t *decoder) {
    zstd_t *zstd = (zstd_t *)decoder;
    ZSTD_DCtx_reset(zstd->stream, ZSTD_reset_session_only);
    zstd->in_frame = zstd->begun = false;
}

static void zstd_close(decoder_t *decoder) {
    ZSTD_freeDStream(((zstd_t *)decoder)->stream);
    free(decoder);
}

decoder_t *decoder_zstd(void) {
    zstd_t *zstd = calloc(1, sizeof *zstd);
    if (!zstd || !(zstd->stream = ZSTD_createDStream())) {
        free(zstd);
        return NULL;
    }
    zstd->decoder = (decoder_t){zstd_read, zstd_restart, zstd_close};
    return &zstd->decoder;
}
