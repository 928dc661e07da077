/* fuzz_dump: any bytes as an archive of mongodump, also such that begin as one does. The documents of a collection are the same
 * however they are asked for, also where the rest of the archive is not looked at, as many as a plain reading finds, and a fault
 * is reported after them. The first byte says how
 * much is asked for at once, and whether the archive's own beginning is put before the rest. */
#include "format_lab.h"
#include "input/archive/archive.h"
#include "input/decode/decoder.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static const char collection[] = "a.b";

typedef struct {
    uint8_t *room, *bytes;
    size_t size;
} archive_t;

static archive_t make_archive(const uint8_t *data, size_t size, bool begun) {
    static const uint8_t beginning[] = "\x6d\xe2\x99\x81\5\0\0\0\0\xff\xff\xff";
    const size_t before = begun ? sizeof beginning : 0; /* its last byte is the terminator's */
    archive_t archive = {calloc(1, before + size + 1), NULL, before + size};
    LAB_MUST(archive.room);
    archive.bytes = archive.room;
    memcpy(archive.bytes, beginning, before);
    if (begun)
        archive.bytes[before - 1] = 0xff;
    if (size)
        memcpy(archive.bytes + before, data, size);
    return archive;
}

static ssize_t pull(void *context, void *out, size_t size, err_t *err) {
    archive_t *left = context;
    (void)err;
    size = size < left->size ? size : left->size;
    memcpy(out, left->bytes, size);
    left->bytes += size;
    left->size -= size;
    return (ssize_t)size;
}

static decode_t decode(const archive_t *archive, size_t step, bool to_end, grown_t *out) {
    input_file_t file = {.kind = INPUT_DUMP, .collection = (char *)collection};
    feed_t feed;
    err_t err = {.text = ""};
    decoder_t *decoder = decoder_dump(&file, to_end);
    uint8_t bytes[512];
    decode_t is;
    LAB_MUST(decoder);
    archive_t left = *archive;
    feed_init(&feed, "x", &(origin_t){.fd = -1, .pull = pull, .context = &left}, false, 0, UINT64_MAX);
    do {
        size_t got;
        is = decoder->read(decoder, &feed, bytes, step, &got, &err);
        LAB_MUST(got <= step && (is != DECODE_MORE || got == step));
        grown_add(out, bytes, got);
    } while (is == DECODE_MORE);
    LAB_MUST((is == DECODE_FAULT) == (err.text[0] != 0));
    decoder->close(decoder);
    feed_free(&feed);
    return is;
}

static uint32_t length_at(const archive_t *archive, size_t at) {
    uint32_t length = 0;
    if (at + 4 <= archive->size)
        memcpy(&length, archive->bytes + at, 4);
    return length;
}

/* Whole documents of the collection, read plainly, up to its end or to what cannot be read. */
static void read_plainly(const archive_t *archive, grown_t *out) {
    size_t at = DUMP_MAGIC_BYTES;
    bool ours = false, headed = true, in_list = true, ends = false;
    size_t listed = 0;
    for (;;) {
        const uint32_t length = length_at(archive, at);
        dump_header_t header;
        if (length == dump_terminator && headed) {
            headed = ours = in_list = ends = false;
            at += 4;
            continue;
        }
        /* a block that ends its collection has no documents */
        if (length < 5 || length > archive->size - at || ends)
            return;
        if (in_list && listed++ && !dump_header_read(archive->bytes + at, length, &header))
            return;
        if (headed && ours)
            grown_add(out, archive->bytes + at, length);
        if (!headed && (!dump_header_read(archive->bytes + at, length, &header) ||
                        (!strcmp(header.name, collection) && header.ends)))
            return;
        if (!headed) {
            ours = !strcmp(header.name, collection);
            ends = header.ends;
        }
        headed = true;
        at += length;
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    if (!size)
        return 0;
    archive_t archive = make_archive(data + 1, size - 1, data[0] & 1);
    grown_t plain = {0}, one = {0}, other = {0}, looked = {0};
    const decode_t is = decode(&archive, 512, true, &one);
    LAB_MUST(decode(&archive, 1 + data[0] / 2, true, &other) == is);
    LAB_MUST(one.size == other.size && (!one.size || !memcmp(one.at, other.at, one.size)));
    const decode_t looked_is = decode(&archive, 512, false, &looked);
    LAB_MUST(looked_is == is || (looked_is == DECODE_END && is == DECODE_FAULT));
    LAB_MUST(one.size == looked.size && (!one.size || !memcmp(one.at, looked.at, one.size)));
    read_plainly(&archive, &plain);
    /* a fault may have cut off the last one */
    LAB_MUST(is == DECODE_FAULT ? one.size >= plain.size : one.size == plain.size);
    LAB_MUST(!plain.size || !memcmp(one.at, plain.at, plain.size));
    grown_free(&plain);
    grown_free(&one);
    grown_free(&other);
    grown_free(&looked);
    free(archive.room);
    return 0;
}
