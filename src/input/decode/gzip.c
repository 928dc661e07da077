/* gzip: any number of members one after the other (RFC 1952). The frame is read here, and the deflate data by an
 * inflate decoder, so that both libraries follow the same rules and give the same sentences. */
#include "input/decode/decoder.h"
#include "input/file/bytes.h"

#include <stdlib.h>

enum { FLAG_HEADER_CRC = 2, FLAG_EXTRA = 4, FLAG_NAME = 8, FLAG_COMMENT = 16, FLAGS_RESERVED = 0xe0 };
enum { HEADER_BYTES = 10, TRAILER_BYTES = 8 };

typedef struct {
    decoder_t decoder;
    decoder_t *inflate;
    bool in_member;
    uint64_t members;
    uint32_t crc;
    uint32_t length; /* modulo 2^32, as in the trailer */
} gzip_t;

static bool skip(feed_t *feed, size_t count) {
    for (; count; count--)
        if (feed_byte(feed) < 0)
            return false;
    return true;
}

static bool skip_string(feed_t *feed) {
    int byte;
    while ((byte = feed_byte(feed)) > 0)
        ;
    return byte == 0;
}

static bool read_header(feed_t *feed, err_t *err) {
    if (feed_want(feed, HEADER_BYTES) < HEADER_BYTES)
        return feed_cut_off(feed, err);
    const uint8_t *header = feed_bytes(feed);
    int flags = header[3];
    if (header[2] != 8 || flags & FLAGS_RESERVED)
        return feed_damaged(feed, "an unknown gzip header", err);
    feed_take(feed, HEADER_BYTES);
    if (flags & FLAG_EXTRA) {
        int low = feed_byte(feed), high = feed_byte(feed);
        if (high < 0 || !skip(feed, (size_t)(low | high << 8)))
            return feed_cut_off(feed, err);
    }
    if ((flags & FLAG_NAME && !skip_string(feed)) || (flags & FLAG_COMMENT && !skip_string(feed)) ||
        (flags & FLAG_HEADER_CRC && !skip(feed, 2)))
        return feed_cut_off(feed, err);
    return true;
}

static bool check_trailer(gzip_t *gzip, feed_t *feed, err_t *err) {
    if (feed_want(feed, TRAILER_BYTES) < TRAILER_BYTES)
        return feed_cut_off(feed, err);
    const uint8_t *trailer = feed_bytes(feed);
    if (bytes_le32(trailer) != gzip->crc)
        return feed_damaged(feed, "the checksum of a member does not fit its text", err);
    if (bytes_le32(trailer + 4) != gzip->length)
        return feed_damaged(feed, "the length of a member does not fit its text", err);
    feed_take(feed, TRAILER_BYTES);
    return true;
}

/* Goes to the next member. Zeros are padding, as tapes and some copy programs leave them. */
static decode_t next_member(gzip_t *gzip, feed_t *feed, err_t *err) {
    while (gzip->members && feed_want(feed, 1) && *feed_bytes(feed) == 0)
        feed_take(feed, 1);
    size_t have = feed_want(feed, 2);
    if (!have && gzip->members)
        return DECODE_END;
    const uint8_t *mark = have ? feed_bytes(feed) : NULL;
    if (have && (mark[0] != 0x1f || (have > 1 && mark[1] != 0x8b))) {
        err_set(err, STATUS_INPUT,
                "%.1000s: what follows the gzip data at byte %llu is something else; everything before that "
                "was read. If the rest belongs to it, fetch the file again; else cut it off (head -c %llu), "
                "and run the same command again, with --reload-changed if it says that the file has changed",
                feed->name, (unsigned long long)feed_offset(feed), (unsigned long long)feed_offset(feed));
        return DECODE_FAULT;
    }
    if (!read_header(feed, err))
        return DECODE_FAULT;
    if (gzip->members++)
        gzip->inflate->restart(gzip->inflate);
    gzip->in_member = true;
    gzip->crc = gzip->length = 0;
    return DECODE_MORE;
}

static decode_t gzip_read(decoder_t *decoder, feed_t *feed, uint8_t *out, size_t size, size_t *got,
                          err_t *err) {
    gzip_t *gzip = (gzip_t *)decoder;
    decode_t done = DECODE_MORE;
    *got = 0;
    while (*got < size && done == DECODE_MORE) {
        if (!gzip->in_member && (done = next_member(gzip, feed, err)) != DECODE_MORE)
            break;
        size_t n;
        done = gzip->inflate->read(gzip->inflate, feed, out + *got, size - *got, &n, err);
        gzip->crc = bytes_crc32(gzip->crc, out + *got, n);
        gzip->length += (uint32_t)n;
        *got += n;
        if (done == DECODE_END) {
            gzip->in_member = false;
            done = check_trailer(gzip, feed, err) ? DECODE_MORE : DECODE_FAULT;
        }
    }
    return done;
}

static void gzip_restart(decoder_t *decoder) {
    gzip_t *gzip = (gzip_t *)decoder;
    gzip->inflate->restart(gzip->inflate);
    gzip->in_member = false;
    gzip->members = 0;
}

static void gzip_close(decoder_t *decoder) {
    gzip_t *gzip = (gzip_t *)decoder;
    gzip->inflate->close(gzip->inflate);
    free(gzip);
}

decoder_t *decoder_gzip(inflate_engine_t engine) {
    gzip_t *gzip = calloc(1, sizeof *gzip);
    if (!gzip || !(gzip->inflate = decoder_inflate(engine))) {
        free(gzip);
        return NULL;
    }
    gzip->decoder = (decoder_t){gzip_read, gzip_restart, gzip_close};
    return &gzip->decoder;
}
