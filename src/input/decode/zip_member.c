/* Reads a member of a zip: with one of four decoders, and checks the length and the CRC that the directory states. */
#include "input/archive/zip.h"
#include "input/decode/decoder.h"
#include "input/decode/inflate64.h"
#include "input/file/bytes.h"

#include <stdlib.h>

static decode_t stored_read(decoder_t *decoder, feed_t *feed, uint8_t *out, size_t size, size_t *got,
                            err_t *err) {
    (void)decoder, (void)err;
    *got = feed_copy(feed, out, size);
    return *got < size ? DECODE_END : DECODE_MORE;
}

static void stored_close(decoder_t *decoder) {
    free(decoder);
}

decoder_t *decoder_stored(void) {
    decoder_t *stored = calloc(1, sizeof *stored);
    if (stored)
        *stored = (decoder_t){.read = stored_read, .close = stored_close};
    return stored;
}

typedef struct {
    decoder_t decoder;
    inflate64_t *inflater;
} deflate64_t;

static decode_t inflate64_read(decoder_t *decoder, feed_t *feed, uint8_t *out, size_t size, size_t *got,
                               err_t *err) {
    inflate64_t *inflater = ((deflate64_t *)decoder)->inflater;
    *got = 0;
    for (;;) {
        size_t have = feed_want(feed, INFLATE64_LEAST), taken, made;
        const uint8_t *in = have ? feed_bytes(feed) : (const uint8_t[INFLATE64_SLACK]){0};
        inflate64_result_t result =
            inflate64_run(inflater, in, have, feed->ended, &taken, out + *got, size - *got, &made);
        if (taken)
            feed_take(feed, taken);
        *got += made;
        switch (result) {
        case INFLATE64_FULL:
            return DECODE_MORE;
        case INFLATE64_HUNGRY:
            break;
        case INFLATE64_END:
            return DECODE_END;
        case INFLATE64_CUT:
            feed_cut_off(feed, err);
            return DECODE_FAULT;
        case INFLATE64_DAMAGED:
            feed_damaged(feed, inflate64_reason(inflater), err);
            return DECODE_FAULT;
        }
    }
}

static void inflate64_close(decoder_t *decoder) {
    inflate64_destroy(((deflate64_t *)decoder)->inflater);
    free(decoder);
}

decoder_t *decoder_inflate64(void) {
    deflate64_t *deflate64 = calloc(1, sizeof *deflate64);
    if (!deflate64 || !(deflate64->inflater = inflate64_new())) {
        free(deflate64);
        return NULL;
    }
    deflate64->decoder = (decoder_t){.read = inflate64_read, .close = inflate64_close};
    return &deflate64->decoder;
}

typedef struct {
    decoder_t decoder;
    decoder_t *inner;
    uint32_t crc, stated_crc;
    uint64_t made, stated;
} member_t;

static decode_t wrong(feed_t *feed, const char *what, err_t *err) {
    feed->damaged = true;
    err_set(
        err, STATUS_INPUT,
        "%.1000s: %s; the archive is damaged, and what was read before may be wrong. Fetch it again, then "
        "run the same command with --reload-changed, which removes what was loaded of the damaged one",
        feed->name, what);
    return DECODE_FAULT;
}

static decode_t member_read(decoder_t *decoder, feed_t *feed, uint8_t *out, size_t size, size_t *got,
                            err_t *err) {
    member_t *member = (member_t *)decoder;
    decode_t done = member->inner->read(member->inner, feed, out, size, got, err);
    if (*got > member->stated - member->made) {
        *got = (size_t)(member->stated - member->made);
        return wrong(feed, "holds more text than its directory says", err);
    }
    member->made += *got;
    member->crc = bytes_crc32(member->crc, out, *got);
    if (done != DECODE_END)
        return done;
    if (member->made < member->stated)
        return wrong(feed, "holds less text than its directory says", err);
    if (member->crc != member->stated_crc)
        return wrong(feed, "its checksum does not fit its text", err);
    return DECODE_END;
}

static void member_close(decoder_t *decoder) {
    member_t *member = (member_t *)decoder;
    member->inner->close(member->inner);
    free(member);
}

decoder_t *decoder_zip_member(const input_file_t *file, inflate_engine_t engine) {
    member_t *member = calloc(1, sizeof *member);
    if (!member)
        return NULL;
    member->decoder = (decoder_t){.read = member_read, .close = member_close};
    member->stated = file->zip.text_bytes;
    member->stated_crc = file->zip.crc32;
    member->inner = file->zip.method == ZIP_STORED      ? decoder_stored()
                    : file->zip.method == ZIP_DEFLATE   ? decoder_inflate(engine)
                    : file->zip.method == ZIP_DEFLATE64 ? decoder_inflate64()
                                                        : decoder_zstd();
    if (!member->inner) {
        free(member);
        return NULL;
    }
    return &member->decoder;
}
