/* Collections of dumps, and archives of mongodump: their list, and the documents of one collection. */
#include "base/stop.h"
#include "base/text.h"
#include "format/cut/ends.h"
#include "format/json/json.h"
#include "input/archive/archive.h"
#include "input/decode/decoder.h"
#include "input/file/fault.h"

#include <lzma.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- what is left out ---- */

const char *const dump_of_server = "a collection of the server itself; mongorestore restores it";
const char *const dump_of_tipple = "what tipple itself keeps next to data; a load makes a catalog of its own";

const char *dump_why_left_out(const char *name, const char *wanted) {
    const char *collection = strchr(name, '.');
    if (name[0] == '.' || strncmp(name, "admin.", 6) == 0 || strncmp(name, "config.", 7) == 0 ||
        (collection && strncmp(collection, ".system.", 8) == 0))
        return dump_of_server;
    return collection && own_names_has(collection + 1) && !(wanted && strcmp(name, wanted) == 0)
               ? dump_of_tipple
               : NULL;
}

/* ---- documents ---- */

static const char *text_at(const bson_t *document, const char *path) {
    bson_iter_t iter, at;
    uint32_t length;
    if (!bson_iter_init(&iter, document) || !bson_iter_find_descendant(&iter, path, &at) ||
        !BSON_ITER_HOLDS_UTF8(&at))
        return NULL;
    const char *text = bson_iter_utf8(&at, &length);
    return length && strlen(text) == length ? text : NULL;
}

bool dump_metadata_read(const char *json, const char *type, dump_metadata_t *metadata, err_t *err) {
    err_t why = {.status = STATUS_OK};
    bson_t *document = json ? json_document(json, true, &why) : NULL;
    bson_iter_t iter, at;
    *metadata = (dump_metadata_t){.name = ""};
    if (!document && why.status == STATUS_HOST) {
        *err = why;
        return false;
    }
    if (document) {
        const char *name = text_at(document, "collectionName");
        type = type ? type : text_at(document, "type");
        type = !type && text_at(document, "options.viewOn") ? "view" : type; /* of older mongodumps */
        snprintf(metadata->name, sizeof metadata->name, "%s", name ? name : "");
        metadata->has_indexes = bson_iter_init_find(&iter, document, "indexes");
        metadata->capped = bson_iter_init(&iter, document) &&
                           bson_iter_find_descendant(&iter, "options.capped", &at) && bson_iter_as_bool(&at);
    }
    if (type && (strcmp(type, "view") == 0 || strcmp(type, "timeseries") == 0))
        metadata->why_empty =
            "a view or a time series, of which a dump holds no documents; mongorestore restores it";
    bson_destroy(document);
    return true;
}

bool dump_header_read(const uint8_t *document, uint32_t length, dump_header_t *header) {
    bson_t bson;
    bson_iter_t iter;
    if (!bson_init_static(&bson, document, length))
        return false;
    const char *collection = text_at(&bson, "collection");
    if (!collection || !bson_iter_init_find(&iter, &bson, "db") || !BSON_ITER_HOLDS_UTF8(&iter))
        return false;
    const char *database = bson_iter_utf8(&iter, NULL);
    *header = (dump_header_t){.type = text_at(&bson, "type"), .metadata = text_at(&bson, "metadata")};
    header->ends = bson_iter_init_find(&iter, &bson, "EOF") && bson_iter_as_bool(&iter);
    if (bson_iter_init_find(&iter, &bson, "CRC") && BSON_ITER_HOLDS_INT64(&iter))
        header->crc = (uint64_t)bson_iter_int64(&iter);
    return (size_t)snprintf(header->name, sizeof header->name, "%s.%s", database, collection) <
           sizeof header->name;
}

/* ---- the list of an archive ---- */

/* How many bytes the next document has: 0: the list or block ends here; 1: none may begin so; SIZE_MAX: the bytes end. */
static size_t next_length(feed_t *feed) {
    if (feed_want(feed, 4) < 4)
        return SIZE_MAX;
    const uint32_t length = bson_length(feed_bytes(feed));
    return length == dump_terminator ? 0 : bson_length_may_be(length) ? length : 1;
}

bool dump_read_list(feed_t *feed, dump_visit_t *visit, void *context, err_t *err) {
    dump_header_t header;
    bool ok = feed_want(feed, DUMP_MAGIC_BYTES) >= DUMP_MAGIC_BYTES;
    if (ok)
        feed_take(feed, DUMP_MAGIC_BYTES);
    size_t length = 0;
    /* the first document is of the archive itself */
    for (bool first = true; ok && (length = next_length(feed)); first = false) {
        ok = length > 1 && feed_want(feed, length) >= length &&
             (first || dump_header_read(feed_bytes(feed), (uint32_t)length, &header));
        if (ok && !first && !visit(context, &header, err))
            return false;
        if (ok)
            feed_take(feed, length);
    }
    if (ok)
        feed_take(feed, 4);
    return ok || err_set(err, STATUS_INPUT,
                         "%.1000s: the list of what it holds, with which an archive of mongodump begins, is "
                         "damaged or cut off: get the whole file, and run the command again",
                         feed->name);
}

/* ---- the documents of one collection ---- */

typedef struct {
    decoder_t decoder;
    const char *collection;
    bool to_end;  /* reads on after the collection, to the end of the archive */
    int64_t open; /* how many collections of the list have not ended */
    enum { AT_START, AT_BLOCK, IN_BLOCK } at;
    bool whole;  /* its last block was read */
    bool ours;   /* the block's documents are the collection's */
    size_t left; /* bytes of the document at hand */
    bool ends;   /* the block is its collection's last one, and holds no documents */
    uint64_t crc;
} dump_t;

/* What should stand here does not: the archive is cut off (ends), damaged, or over, and something follows it. */
static decode_t refuse(const dump_t *dump, feed_t *feed, bool ends, const char *why, err_t *err) {
    const bool followed = dump->whole && dump->at == AT_BLOCK && dump->open <= 0;
    if (ends && !followed)
        feed_take(feed, feed_want(feed, 1));
    err = feed->failed ? &feed->fault : err;
    if (!feed->failed && followed)
        feed_followed(feed, err);
    else if (!feed->failed)
        feed_damaged(feed, ends ? NULL : why, err);
    if (err->status == STATUS_INPUT && !err->changed)
        err_add(err, ". The collection %s was %sread to its end before that", dump->collection,
                dump->whole ? "" : "not ");
    return DECODE_FAULT;
}

/* The header of a block, or the end of all. The collection's last block holds no documents. */
static decode_t read_header(dump_t *dump, feed_t *feed, err_t *err) {
    dump_header_t header;
    const size_t length = next_length(feed);
    if (dump->whole && dump->open <= 0 && !feed->failed && !feed_want(feed, 1))
        return DECODE_END;
    if (stop_signal()) {
        fault_stopped(err, feed->name, stop_signal());
        return DECODE_FAULT;
    }
    const bool ends = length == SIZE_MAX || feed_want(feed, length) < length;
    if (ends || length <= 1 || !dump_header_read(feed_bytes(feed), (uint32_t)length, &header))
        return refuse(dump, feed, ends, "the header of a block", err);
    dump->ours = strcmp(header.name, dump->collection) == 0;
    if (dump->ours && (dump->whole || (header.ends && header.crc != dump->crc)))
        return refuse(dump, feed, false, "its checksum", err);
    feed_take(feed, length);
    dump->at = IN_BLOCK;
    dump->ends = header.ends;
    dump->open -= header.ends;
    dump->whole |= dump->ours && header.ends;
    return dump->whole && !dump->to_end ? DECODE_END : DECODE_MORE;
}

/* The next document of a block begins, or the block ends. */
static decode_t next_document(dump_t *dump, feed_t *feed, err_t *err) {
    const size_t length = next_length(feed);
    if (length == SIZE_MAX || length == 1 || (length && dump->ends))
        return refuse(dump, feed, length == SIZE_MAX, "the length of a document", err);
    if (!length) {
        feed_take(feed, 4);
        dump->at = AT_BLOCK;
    } else if (dump->ours) {
        dump->left = length;
    } else if (!feed_skip_to(feed, feed_offset(feed) + length)) {
        return refuse(dump, feed, true, "", err);
    }
    return DECODE_MORE;
}

/* Gives out some of the document at hand. */
static decode_t take(dump_t *dump, feed_t *feed, uint8_t *out, size_t size, size_t *got, err_t *err) {
    const size_t want = size - *got < dump->left ? size - *got : dump->left,
                 taken = feed_copy(feed, out + *got, want);
    dump->left -= taken;
    dump->crc = lzma_crc64(out + *got, taken, dump->crc);
    *got += taken;
    return taken < want ? refuse(dump, feed, true, "", err) : DECODE_MORE;
}

static bool count(void *context, const dump_header_t *header, err_t *err) {
    (void)header, (void)err;
    ((dump_t *)context)->open++;
    return true;
}

static decode_t dump_read(decoder_t *decoder, feed_t *feed, uint8_t *out, size_t size, size_t *got,
                          err_t *err) {
    dump_t *dump = (dump_t *)decoder;
    decode_t is = DECODE_MORE;
    *got = 0;
    while (is == DECODE_MORE && *got < size) {
        if (dump->left)
            is = take(dump, feed, out, size, got, err);
        else if (dump->at == IN_BLOCK)
            is = next_document(dump, feed, err);
        else if (dump->at == AT_BLOCK)
            is = read_header(dump, feed, err);
        else if (dump_read_list(feed, count, dump, err))
            dump->at = AT_BLOCK;
        else
            is = DECODE_FAULT;
    }
    return is;
}

decoder_t *decoder_dump(const input_file_t *file, bool to_end) {
    dump_t *dump = calloc(1, sizeof *dump);
    if (!dump)
        return NULL;
    dump->collection = file->collection;
    dump->to_end = to_end;
    dump->decoder = (decoder_t){.read = dump_read, .close = decoder_free};
    return &dump->decoder;
}
