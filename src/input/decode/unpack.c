/* Streams of gzip, zstd, xz and bzip2, one after the other, and raw deflate. What the formats have in common is here once:
 * the loop over streams, the padding between them, and the faults. A codec only begins a stream and unpacks a piece. */
#include "input/decode/decoder.h"

#include <bzlib.h>
#include <isa-l/igzip_lib.h>
#include <lzma.h>
#include <stdlib.h>
#include <string.h>
#include <zstd.h>
#include <zstd_errors.h>

enum { LARGEST_STEP = 1 << 30, MEMORY_MOST = 512 << 20 /* xz -9 takes 65 MB */ };

typedef enum {
    STEP_ON,
    STEP_ENDS,      /* the stream ends with what was taken */
    STEP_FOREIGN,   /* these bytes begin no stream of the codec */
    STEP_DAMAGED,   /* packed->why says how */
    STEP_TOO_LARGE, /* it needs more memory than is given to it */
    STEP_NO_MEMORY,
} step_t;

/* A piece of a stream: a codec takes some bytes of `in`, fills some of `out`, and counts both. */
typedef struct {
    const uint8_t *in;
    size_t have, taken;
    uint8_t *out;
    size_t room, made;
} piece_t;

typedef struct packed packed_t;
typedef struct {
    size_t size; /* of the struct that begins with packed_t; it begins as zeros, */
    /* except for these last bytes, which `begin` sets: for a small file, zeros would take longer than the rest */
    size_t unset;
    size_t padding; /* zeros may follow a stream, as a multiple of this; 0: none may */
    bool single;    /* one stream is all */
    step_t (*begin)(packed_t *packed, feed_t *feed);
    step_t (*run)(packed_t *packed, piece_t *piece);
    void (*free)(packed_t *packed);
} codec_t;

struct packed {
    decoder_t decoder;
    const codec_t *codec;
    const char *why; /* of STEP_DAMAGED */
    bool in_stream;
    bool again; /* a stream has ended before */
};

static bool pass_padding(feed_t *feed, size_t multiple) {
    uint64_t zeros = 0;
    for (; feed_want(feed, 1) && !*feed_bytes(feed); zeros++)
        feed_take(feed, 1);
    return zeros % multiple == 0;
}

static decode_t explain(packed_t *packed, step_t step, feed_t *feed, err_t *err) {
    if (step == STEP_FOREIGN && packed->again)
        feed_followed(feed, err);
    else if (step == STEP_NO_MEMORY)
        err_memory(err, MEMORY_MOST);
    else if (step == STEP_TOO_LARGE)
        err_set(
            err, STATUS_INPUT,
            "%.1000s: needs more memory to be decompressed than is given to it (%d MB, or a window of 128 "
            "MB); pipe it in: xz -dc FILE, zstd -dc --long=31 FILE",
            feed->name, MEMORY_MOST >> 20);
    else
        feed_damaged(feed, step == STEP_FOREIGN ? "its structure" : packed->why, err);
    return DECODE_FAULT;
}

/* Finds the next stream. MORE: it has begun. */
static decode_t next_stream(packed_t *packed, feed_t *feed, err_t *err) {
    const codec_t *codec = packed->codec;
    const bool odd_padding = packed->again && codec->padding && !pass_padding(feed, codec->padding);
    if (packed->again && (codec->single || (!odd_padding && !feed_want(feed, 1))))
        return DECODE_END;
    packed->why = "padding whose length is no multiple of four";
    const step_t step = odd_padding ? STEP_DAMAGED : codec->begin(packed, feed);
    packed->in_stream = step == STEP_ON;
    return step == STEP_ON ? DECODE_MORE : explain(packed, step, feed, err);
}

static decode_t packed_read(decoder_t *decoder, feed_t *feed, uint8_t *out, size_t size, size_t *got,
                            err_t *err) {
    packed_t *packed = (packed_t *)decoder;
    *got = 0;
    while (*got < size) {
        const decode_t begun = packed->in_stream ? DECODE_MORE : next_stream(packed, feed, err);
        if (begun != DECODE_MORE)
            return begun;
        const size_t have = feed_want(feed, 1), left = size - *got;
        piece_t piece = {.in = have ? feed_bytes(feed) : (const uint8_t *)"",
                         .have = have,
                         .out = out + *got,
                         .room = left < LARGEST_STEP ? left : LARGEST_STEP};
        const step_t step = packed->codec->run(packed, &piece);
        *got += piece.made;
        if (step == STEP_FOREIGN)
            return explain(packed, step, feed, err);
        feed_take(feed, piece.taken);
        if (step == STEP_ENDS) {
            packed->again = true;
            packed->in_stream = false;
        } else if (step != STEP_ON) {
            return explain(packed, step, feed, err);
        } else if (!piece.taken && !piece.made) {
            feed_damaged(feed, have ? "no progress" : NULL, err);
            return DECODE_FAULT;
        }
    }
    return DECODE_MORE;
}

static void packed_close(decoder_t *decoder) {
    packed_t *packed = (packed_t *)decoder;
    if (packed->codec->free)
        packed->codec->free(packed);
    free(packed);
}

static decoder_t *packed_new(const codec_t *codec) {
    packed_t *packed = malloc(codec->size);
    if (!packed)
        return NULL;
    memset(packed, 0, codec->size - codec->unset);
    packed->decoder = (decoder_t){packed_read, packed_close};
    packed->codec = codec;
    return &packed->decoder;
}

/* ---- gzip and raw deflate ---- */

enum { GZIP_HEADER_BYTES = 10 };

typedef struct {
    packed_t packed;
    int broken; /* what ISA-L said, or 0 */
    struct inflate_state state;
} inflate_t;

static step_t inflate_begin(packed_t *packed, feed_t *feed) {
    inflate_t *inflate = (inflate_t *)packed;
    (void)feed;
    isal_inflate_init(&inflate->state);
    inflate->broken = 0;
    return STEP_ON;
}

/* ISA-L takes a header that is given in pieces for damaged if it has a checksum: so it gets the whole one. Nothing follows
 * one that is cut off, which the next step finds. */
static step_t gzip_begin(packed_t *packed, feed_t *feed) {
    struct inflate_state *state = &((inflate_t *)packed)->state;
    struct isal_gzip_header header;
    size_t want = GZIP_HEADER_BYTES / 2, have;
    int code;
    do {
        have = feed_want(feed, want *= 2);
        const uint8_t *bytes = have ? feed_bytes(feed) : (const uint8_t *)"";
        if (memcmp(bytes, "\x1f\x8b", have < 2 ? have : 2) != 0)
            return STEP_FOREIGN;
        inflate_begin(packed, feed);
        isal_gzip_header_init(&header);
        state->next_in = (uint8_t *)(uintptr_t)bytes;
        state->avail_in = (uint32_t)have;
        code = isal_read_gzip_header(state, &header);
    } while (code > 0 && have >= want);
    packed->why = "an unknown gzip header";
    feed_take(feed, have - state->avail_in);
    inflate_begin(packed, feed);
    state->crc_flag = ISAL_GZIP_NO_HDR_VER;
    return code < 0 ? STEP_DAMAGED : STEP_ON;
}

/* ISA-L decodes ahead into a buffer of 64 KiB, so a reader of the first bytes gives it no more than there is room for.
 * It reports a fault at once, while text from before may still be in that buffer: this is given out first. */
static step_t inflate_run(packed_t *packed, piece_t *piece) {
    inflate_t *inflate = (inflate_t *)packed;
    struct inflate_state *state = &inflate->state;
    const size_t in = piece->have < piece->room ? piece->have : piece->room;
    if (!inflate->broken) {
        state->next_in = (uint8_t *)(uintptr_t)piece->in;
        state->avail_in = (uint32_t)in;
        state->next_out = piece->out;
        state->avail_out = (uint32_t)piece->room;
        const int code = isal_inflate(state);
        inflate->broken = code < 0 ? code : 0;
        piece->made = piece->room - state->avail_out;
        /* whole bytes that are still in its bit buffer were not needed: this may be more than were given now */
        piece->taken = in - state->avail_in;
        if (state->block_state == ISAL_BLOCK_FINISH && !inflate->broken) {
            piece->taken -= (size_t)state->read_in_length / 8;
            return STEP_ENDS;
        }
        if (!inflate->broken)
            return STEP_ON;
    }
    const size_t rest = (size_t)(state->tmp_out_valid - state->tmp_out_processed),
                 left = piece->room - piece->made, n = rest < left ? rest : left;
    memcpy(piece->out + piece->made, state->tmp_out_buffer + state->tmp_out_processed, n);
    state->tmp_out_processed += (int32_t)n;
    piece->made += n;
    packed->why = inflate->broken == ISAL_INCORRECT_CHECKSUM
                      ? "the checksum or length of a member does not fit its text"
                      : "invalid codes";
    return n < rest ? STEP_ON : STEP_DAMAGED;
}

static const codec_t gzip = {.size = sizeof(inflate_t),
                             .unset = sizeof(struct inflate_state),
                             .padding = 1,
                             .begin = gzip_begin,
                             .run = inflate_run},
                     deflate = {.size = sizeof(inflate_t),
                                .unset = sizeof(struct inflate_state),
                                .single = true,
                                .begin = inflate_begin,
                                .run = inflate_run};

/* ---- zstd ---- */

typedef struct {
    packed_t packed;
    ZSTD_DStream *stream;
    bool fresh; /* nothing of the frame was taken */
} zstd_t;

static step_t zstd_begin(packed_t *packed, feed_t *feed) {
    zstd_t *zstd = (zstd_t *)packed;
    (void)feed;
    if (!zstd->stream && !(zstd->stream = ZSTD_createDStream()))
        return STEP_NO_MEMORY;
    ZSTD_DCtx_reset(zstd->stream, ZSTD_reset_session_only);
    zstd->fresh = true;
    return STEP_ON;
}

static step_t zstd_run(packed_t *packed, piece_t *piece) {
    zstd_t *zstd = (zstd_t *)packed;
    ZSTD_outBuffer output = {piece->out, piece->room, 0};
    ZSTD_inBuffer input = {piece->in, piece->have, 0};
    const size_t code = ZSTD_decompressStream(zstd->stream, &output, &input);
    const ZSTD_ErrorCode error = ZSTD_getErrorCode(code);
    piece->made = output.pos;
    piece->taken = input.pos;
    packed->why = ZSTD_getErrorName(code);
    if (error)
        return error == ZSTD_error_prefix_unknown && zstd->fresh   ? STEP_FOREIGN
               : error == ZSTD_error_memory_allocation             ? STEP_NO_MEMORY
               : error == ZSTD_error_frameParameter_windowTooLarge ? STEP_TOO_LARGE
                                                                   : STEP_DAMAGED;
    zstd->fresh &= !input.pos;
    return code ? STEP_ON : STEP_ENDS;
}

static void zstd_free(packed_t *packed) {
    ZSTD_freeDStream(((zstd_t *)packed)->stream);
}

static const codec_t zstd = {.size = sizeof(zstd_t), .begin = zstd_begin, .run = zstd_run, .free = zstd_free};

/* ---- xz ---- */

typedef struct {
    packed_t packed;
    lzma_stream stream;
} xz_t;

static step_t xz_step(packed_t *packed, lzma_ret result) {
    packed->why = "its checksum or structure";
    return result == LZMA_OK || result == LZMA_BUF_ERROR ? STEP_ON
           : result == LZMA_STREAM_END                   ? STEP_ENDS
           : result == LZMA_MEM_ERROR                    ? STEP_NO_MEMORY
           : result == LZMA_MEMLIMIT_ERROR               ? STEP_TOO_LARGE
                                                         : STEP_DAMAGED;
}

/* liblzma takes twelve bytes before it judges them, and what follows a stream may be fewer. */
static step_t xz_begin(packed_t *packed, feed_t *feed) {
    static const uint8_t mark[] = {0xfd, '7', 'z', 'X', 'Z', 0};
    const size_t have = feed_want(feed, sizeof mark);
    if (have && memcmp(feed_bytes(feed), mark, have < sizeof mark ? have : sizeof mark) != 0)
        return STEP_FOREIGN;
    return xz_step(packed, lzma_stream_decoder(&((xz_t *)packed)->stream, MEMORY_MOST, 0));
}

static step_t xz_run(packed_t *packed, piece_t *piece) {
    lzma_stream *stream = &((xz_t *)packed)->stream;
    stream->next_in = piece->in;
    stream->avail_in = piece->have;
    stream->next_out = piece->out;
    stream->avail_out = piece->room;
    const lzma_ret result = lzma_code(stream, piece->have ? LZMA_RUN : LZMA_FINISH);
    piece->taken = piece->have - stream->avail_in;
    piece->made = piece->room - stream->avail_out;
    return xz_step(packed, result);
}

static void xz_free(packed_t *packed) {
    lzma_end(&((xz_t *)packed)->stream);
}

static const codec_t xz = {
    .size = sizeof(xz_t), .padding = 4, .begin = xz_begin, .run = xz_run, .free = xz_free};

/* ---- bzip2 ---- */

typedef struct {
    packed_t packed;
    bz_stream stream;
} bzip2_t;

static void bzip2_free(packed_t *packed) {
    bzip2_t *bzip2 = (bzip2_t *)packed;
    BZ2_bzDecompressEnd(&bzip2->stream); /* refuses where there is nothing to end */
    bzip2->stream = (bz_stream){0};
}

static step_t bzip2_begin(packed_t *packed, feed_t *feed) {
    (void)feed;
    bzip2_free(packed);
    return BZ2_bzDecompressInit(&((bzip2_t *)packed)->stream, 0, 0) == BZ_OK ? STEP_ON : STEP_NO_MEMORY;
}

static step_t bzip2_run(packed_t *packed, piece_t *piece) {
    bz_stream *stream = &((bzip2_t *)packed)->stream;
    stream->next_in = (char *)(uintptr_t)piece->in;
    stream->avail_in = (unsigned)piece->have;
    stream->next_out = (char *)piece->out;
    stream->avail_out = (unsigned)piece->room;
    const int result = BZ2_bzDecompress(stream);
    piece->taken = piece->have - stream->avail_in;
    piece->made = piece->room - stream->avail_out;
    packed->why = "its checksum or structure";
    return result == BZ_OK                 ? STEP_ON
           : result == BZ_STREAM_END       ? STEP_ENDS
           : result == BZ_MEM_ERROR        ? STEP_NO_MEMORY
           : result == BZ_DATA_ERROR_MAGIC ? STEP_FOREIGN
                                           : STEP_DAMAGED;
}

static const codec_t bzip2 = {
    .size = sizeof(bzip2_t), .begin = bzip2_begin, .run = bzip2_run, .free = bzip2_free};

/* ---- what is not packed ---- */

static decode_t stored_read(decoder_t *decoder, feed_t *feed, uint8_t *out, size_t size, size_t *got,
                            err_t *err) {
    (void)decoder, (void)err;
    *got = feed_copy(feed, out, size);
    return *got < size && feed->ended ? DECODE_END : DECODE_MORE;
}

void decoder_free(decoder_t *decoder) {
    free(decoder);
}

/* ---- by kind ---- */

decoder_t *decoder_of(input_kind_t kind) {
    static const codec_t *const codecs[INPUT_STREAM + 1] = {[INPUT_GZIP] = &gzip,
                                                            [INPUT_ZSTD] = &zstd,
                                                            [INPUT_XZ] = &xz,
                                                            [INPUT_BZIP2] = &bzip2,
                                                            [INPUT_ZIP_MEMBER] = &deflate};
    decoder_t *stored = codecs[kind] ? NULL : malloc(sizeof *stored);
    if (stored)
        *stored = (decoder_t){stored_read, decoder_free};
    return codecs[kind] ? packed_new(codecs[kind]) : stored;
}
