/* dump: the documents of one collection, out of an archive of mongodump (see dump.h). */
#include "base/stop.h"
#include "format/cut/bson_length.h"
#include "input/archive/dump.h"
#include "input/archive/dump_list.h"
#include "input/decode/decoder.h"
#include "input/file/fault.h"

#include <lzma.h>
#include <stdlib.h>
#include <string.h>

enum { PASSED = 64 * 1024, HEADER_MOST = FEED_BYTES / 2 };

typedef struct {
    decoder_t decoder;
    const char *collection;
    enum { AT_START, IN_PRELUDE, AT_BLOCK, IN_BLOCK } at;
    bool to_end;   /* it is read on behind the collection, to the end of the archive */
    bool whole;    /* its last block was read */
    bool ours;     /* the block's documents are the collection's */
    uint32_t left; /* bytes of the document at hand */
    uint64_t crc;
    dump_list_t
        missing; /* collections that the archive lists, and whose ends were not seen; only if it is read to_end */
} dump_t;

static decode_t damaged(feed_t *feed, const char *why, err_t *err) {
    feed->what = "mongodump";
    feed_damaged(feed, why, err);
    return DECODE_FAULT;
}

/* The file below it cannot be read on, and says why: what that means for the collection. */
static decode_t cannot_go_on(const dump_t *dump, feed_t *feed) {
    if (feed->fault.status == STATUS_INPUT && !feed->fault.changed && feed->fault.text[0])
        err_add(&feed->fault,
                ". The collection %s was %sread to its end before that. Where the next load says that it has "
                "changed, add --reload-changed",
                dump->collection, dump->whole ? "" : "not ");
    return DECODE_FAULT;
}

/* The archive ends too early, be it within the collection or behind it. */
static decode_t cut_off(const dump_t *dump, feed_t *feed, err_t *err) {
    if (feed->failed)
        return cannot_go_on(dump, feed);
    const unsigned long long end = feed_offset(feed) + feed_want(feed, 1);
    char *names = dump->whole && dump->missing.count ? dump_list_names(&dump->missing, err) : NULL;
    err_set(err, STATUS_INPUT,
            "%.1000s: %sits archive ends too early, at byte %llu%s, before the end of %s%s. Get the whole "
            "archive, and load it with --reload-changed",
            feed->name, dump->whole ? "was read to its end, but " : "", end,
            feed->pull ? " of what is unpacked" : "",
            !dump->whole ? "this collection"
            : names      ? names
                         : "its last block",
            dump->whole ? "" : "; everything before that was read");
    free(names);
    return DECODE_FAULT;
}

/* Is what comes the beginning of an archive? Its mark is the length of no document. */
static bool begins_archive(feed_t *feed) {
    return feed_want(feed, DUMP_MAGIC_BYTES) >= DUMP_MAGIC_BYTES &&
           memcmp(feed_bytes(feed), DUMP_MAGIC, DUMP_MAGIC_BYTES) == 0;
}

static decode_t joined(const feed_t *feed, err_t *err) {
    const unsigned long long at = feed_offset(feed);
    if (feed->pull)
        err_set(
            err, STATUS_INPUT,
            "%.1000s: another archive of mongodump follows the first one, at byte %llu of what is unpacked; "
            "everything before that was read. Unpack the file, divide it there (head -c %llu and tail -c "
            "+%llu), and load both parts",
            feed->name, at, at, at + 1);
    else
        err_set(
            err, STATUS_INPUT,
            "%.1000s: another archive of mongodump follows the first one, at byte %llu; everything before "
            "that was read. Copy it into a file of its own (tail -c +%llu), cut it off here (truncate -s "
            "%llu), and load both, this one with --reload-changed",
            feed->name, at, at + 1, at);
    return DECODE_FAULT;
}

/* What may be wrong where a block is to begin: the archive is cut off, damaged, or over, and something is behind it. */
static decode_t no_block(const dump_t *dump, feed_t *feed, bool ends, const char *why, err_t *err) {
    if (feed->failed || (ends && (!dump->whole || dump->missing.count)))
        return cut_off(dump, feed, err);
    if (!dump->whole)
        return damaged(feed, why, err);
    feed->what = "mongodump";
    feed_followed(feed, err);
    return DECODE_FAULT;
}

/* The length of the next document, or the terminator. MORE: it is there, and not taken. */
static decode_t next_length(const dump_t *dump, feed_t *feed, uint32_t *length, err_t *err) {
    if (feed_want(feed, 4) < 4)
        return cut_off(dump, feed, err);
    *length = bson_length(feed_bytes(feed));
    if (*length != dump_terminator && !bson_length_may_be(*length))
        return no_block(dump, feed, false, "the length of a document", err);
    return DECODE_MORE;
}

/* The collection's last block, which holds no documents. */
static decode_t end_collection(dump_t *dump, feed_t *feed, const dump_header_t *header, err_t *err) {
    if (header->crc != dump->crc)
        return damaged(feed, "its checksum", err);
    dump->whole = true;
    dump->ours = false;
    if (!dump->to_end)
        return DECODE_END;
    if (feed_want(feed, 4) >= 4 && bson_length(feed_bytes(feed)) != dump_terminator)
        return no_block(dump, feed, false, "", err);
    return DECODE_MORE;
}

/* The header of a block, or the end of all. */
static decode_t read_header(dump_t *dump, feed_t *feed, err_t *err) {
    dump_header_t header;
    const size_t there = feed_want(feed, 4);
    if (!there && dump->whole && !dump->missing.count && !feed->failed)
        return DECODE_END;
    if (stop_signal()) {
        fault_stopped(err, feed->name, stop_signal());
        return DECODE_FAULT;
    }
    if (begins_archive(feed))
        return joined(feed, err);
    const uint32_t length = there < 4 ? 0 : bson_length(feed_bytes(feed));
    if (there < 4 || !bson_length_may_be(length) || length > HEADER_MOST)
        return no_block(dump, feed, there < 4, "a block without a header", err);
    if (feed_want(feed, length) < length)
        return no_block(dump, feed, true, "", err);
    if (!dump_header_read(feed_bytes(feed), length, &header))
        return no_block(dump, feed, false, "the header of a block", err);
    dump->ours = strcmp(header.name, dump->collection) == 0;
    if (dump->ours && dump->whole)
        return no_block(dump, feed, false, "", err);
    feed_take(feed, length);
    dump->at = IN_BLOCK;
    if (header.ends)
        dump_list_remove(&dump->missing, header.name);
    return dump->ours && header.ends ? end_collection(dump, feed, &header, err) : DECODE_MORE;
}

/* What the archive lists, and is to have an end in it, unless memory is out. */
static bool expect(dump_t *dump, feed_t *feed, err_t *err) {
    dump_header_t header;
    if (!dump->to_end || dump->left > HEADER_MOST || feed_want(feed, dump->left) < dump->left ||
        !dump_header_read(feed_bytes(feed), dump->left, &header) || dump_list_why_empty(header.type))
        return true;
    return dump_list_add(&dump->missing, strdup(header.name), NULL, err);
}

/* The next document of a block begins, or the block ends. */
static decode_t next_document(dump_t *dump, feed_t *feed, err_t *err) {
    const decode_t there = next_length(dump, feed, &dump->left, err);
    if (there != DECODE_MORE)
        return there;
    if (dump->left != dump_terminator)
        return dump->at == IN_BLOCK || expect(dump, feed, err) ? DECODE_MORE : DECODE_FAULT;
    feed_take(feed, 4);
    dump->left = 0;
    dump->at = AT_BLOCK;
    return DECODE_MORE;
}

static decode_t begin(dump_t *dump, feed_t *feed, err_t *err) {
    if (feed_want(feed, DUMP_MAGIC_BYTES) < DUMP_MAGIC_BYTES)
        return cut_off(dump, feed, err);
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
    return taken < want ? cut_off(dump, feed, err) : DECODE_MORE;
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
        else
            is = next_document(dump, feed, err);
    }
    return is;
}

static void dump_close(decoder_t *decoder) {
    dump_list_free(&((dump_t *)decoder)->missing);
    free(decoder);
}

decoder_t *decoder_dump(const input_file_t *file, bool to_end) {
    dump_t *dump = calloc(1, sizeof *dump);
    if (!dump)
        return NULL;
    dump->collection = file->collection;
    dump->to_end = to_end;
    dump->decoder = (decoder_t){dump_read, NULL, dump_close};
    return &dump->decoder;
}
