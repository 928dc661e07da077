/* dump: the documents of one collection, out of an archive of mongodump (see dump.h). */
#include "format/cut/bson_length.h"
#include "input/archive/dump.h"
#include "input/decode/decoder.h"

#include <lzma.h>
#include <stdlib.h>
#include <string.h>

enum { PASSED = 64 * 1024, HEADER_MOST = FEED_BYTES / 2 };

typedef struct {
    decoder_t decoder;
    const char *collection;
    enum { AT_START, IN_PRELUDE, AT_BLOCK, IN_BLOCK, AT_END } at;
    bool ours;     /* the block's documents are the collection's */
    uint32_t left; /* bytes of the document at hand */
    uint64_t crc;
} dump_t;

static decode_t damaged(feed_t *feed, const char *why, err_t *err) {
    feed->what = "mongodump";
    feed_damaged(feed, why, err);
    return DECODE_FAULT;
}

static decode_t cut_off(feed_t *feed, err_t *err) {
    feed->what = "mongodump";
    feed_cut_off(feed, err);
    return DECODE_FAULT;
}

/* The length of the next document, or the terminator. MORE: it is there, and not taken. */
static decode_t next_length(feed_t *feed, uint32_t *length, err_t *err) {
    if (feed_want(feed, 4) < 4)
        return cut_off(feed, err);
    *length = bson_length(feed_bytes(feed));
    if (*length != dump_terminator && !bson_length_may_be(*length))
        return damaged(feed, "the length of a document", err);
    return DECODE_MORE;
}

/* The header of a block; of the collection's last one END. */
static decode_t read_header(dump_t *dump, feed_t *feed, err_t *err) {
    uint32_t length;
    dump_header_t header;
    const decode_t there = next_length(feed, &length, err);
    if (there != DECODE_MORE)
        return there;
    if (length > HEADER_MOST)
        return damaged(feed, "a block without a header", err);
    if (feed_want(feed, length) < length)
        return cut_off(feed, err);
    if (!dump_header_read(feed_bytes(feed), length, &header))
        return damaged(feed, "the header of a block", err);
    feed_take(feed, length);
    dump->ours = strcmp(header.name, dump->collection) == 0;
    dump->at = IN_BLOCK;
    if (!dump->ours || !header.ends)
        return DECODE_MORE;
    if (header.crc != dump->crc)
        return damaged(feed, "its checksum", err);
    dump->at = AT_END;
    return DECODE_END;
}

/* The next document of a block begins, or the block ends. */
static decode_t next_document(dump_t *dump, feed_t *feed, err_t *err) {
    const decode_t there = next_length(feed, &dump->left, err);
    if (there != DECODE_MORE)
        return there;
    if (dump->left != dump_terminator)
        return DECODE_MORE;
    feed_take(feed, 4);
    dump->left = 0;
    dump->at = AT_BLOCK;
    return DECODE_MORE;
}

static decode_t begin(dump_t *dump, feed_t *feed, err_t *err) {
    if (feed_want(feed, DUMP_MAGIC_BYTES) < DUMP_MAGIC_BYTES)
        return cut_off(feed, err);
    feed_take(feed, DUMP_MAGIC_BYTES);
    dump->at = IN_PRELUDE;
    return DECODE_MORE;
}

/* Gives out some of the document at hand, or passes it. */
static decode_t take(dump_t *dump, feed_t *feed, uint8_t *out, size_t size, size_t *got, err_t *err) {
    const bool gives = dump->at == IN_BLOCK && dump->ours;
    uint8_t passed[PASSED];
    size_t want = gives ? size - *got : PASSED;
    want = want < dump->left ? want : dump->left;
    uint8_t *to = gives ? out + *got : passed;
    const size_t taken = feed_copy(feed, to, want);
    dump->left -= (uint32_t)taken;
    if (gives) {
        dump->crc = lzma_crc64(to, taken, dump->crc);
        *got += taken;
    }
    return taken < want ? cut_off(feed, err) : DECODE_MORE;
}

static decode_t dump_read(decoder_t *decoder, feed_t *feed, uint8_t *out, size_t size, size_t *got,
                          err_t *err) {
    dump_t *dump = (dump_t *)decoder;
    decode_t is = DECODE_MORE;
    *got = 0;
    while (is == DECODE_MORE && *got < size) {
        if (dump->left)
            is = take(dump, feed, out, size, got, err);
        else if (dump->at == AT_START)
            is = begin(dump, feed, err);
        else if (dump->at == AT_BLOCK)
            is = read_header(dump, feed, err);
        else if (dump->at == AT_END)
            is = DECODE_END;
        else
            is = next_document(dump, feed, err);
    }
    return is;
}

static void dump_close(decoder_t *decoder) {
    free(decoder);
}

decoder_t *decoder_dump(const input_file_t *file) {
    dump_t *dump = calloc(1, sizeof *dump);
    if (!dump)
        return NULL;
    dump->collection = file->collection;
    dump->decoder = (decoder_t){dump_read, NULL, dump_close};
    return &dump->decoder;
}
