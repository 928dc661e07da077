#include "input/identify.h"
#include "input/archive/archive.h"
#include "input/file/bytes.h"
#include "input/file/fault.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <zstd.h>

enum {
    DEFLATE_EXPANDS = 1032, /* a match of 258 bytes takes at least two bits */
    ZSTD_HEADER_MOST = 18,
    ZSTD_BLOCKS_MOST = 512,
    EXPANDS =
        32768, /* zstd: a block of up to 128 KiB takes at least four bytes; xz and bzip2 make less of a byte */
};

static const uint64_t BOUND_MOST = 1ull << 36; /* above that, taking pieces as needed wastes less */

static bool read_piece(int fd, const char *name, uint8_t *out, size_t size, uint64_t offset, size_t *got,
                       err_t *err) {
    for (*got = 0; *got < size;) {
        ssize_t n = pread(fd, out + *got, size - *got, (off_t)(offset + *got));
        if (n == 0)
            break;
        if (n < 0 && errno != EINTR)
            return fault_at(err, name, offset + *got, errno);
        *got += n > 0 ? (size_t)n : 0;
    }
    return true;
}

static void set_digest(uint64_t digest[2], const uint8_t *bytes, size_t size) {
    XXH128_hash_t hash = XXH3_128bits(bytes, size);
    digest[0] = hash.low64;
    digest[1] = hash.high64;
}

static void put_le64(uint8_t *out, uint64_t value) {
    for (int i = 0; i < 8; i++)
        out[i] = (uint8_t)(value >> 8 * i);
}

/*     a frame:  mark 4  descriptor 1  [window 1]  [dictionary 0-4]  [content size 0-8]  blocks  [checksum 4]
 *     a block:  3 bytes: last 1 bit, type 2 bits, size 21 bits; a repeated byte (type 1) takes one byte */
static uint64_t frame_bytes(int fd, uint64_t at, const uint8_t head[ZSTD_HEADER_MOST], unsigned *blocks) {
    static const uint8_t dictionary_bytes[4] = {0, 1, 2, 4}, content_bytes[4] = {0, 2, 4, 8};
    uint8_t descriptor = head[4];
    bool single = descriptor & 0x20;
    uint64_t from = at;
    at += 5 + (single ? 0u : 1u) + dictionary_bytes[descriptor & 3] + content_bytes[descriptor >> 6] +
          (single && descriptor >> 6 == 0 ? 1u : 0u);
    for (bool last = false; !last;) {
        uint8_t block[3];
        if (++*blocks > ZSTD_BLOCKS_MOST || pread(fd, block, 3, (off_t)at) != 3)
            return 0;
        uint32_t header = bytes_le16(block) | (uint32_t)block[2] << 16;
        last = header & 1;
        at += 3 + ((header >> 1 & 3) == 1 ? 1 : header >> 3);
    }
    return at + (descriptor & 4 ? 4 : 0) - from;
}

uint64_t identify_zstd_bound(int fd, uint64_t from, uint64_t to) {
    uint64_t at = from, text = 0;
    unsigned blocks = 0;
    while (at < to) {
        uint8_t head[ZSTD_HEADER_MOST] = {0};
        ssize_t n = pread(fd, head, sizeof head, (off_t)at);
        if (n < 8 || ++blocks > ZSTD_BLOCKS_MOST)
            return 0;
        if ((head[0] & 0xf0) == 0x50) { /* skippable: mark, size, anything */
            at += 8 + (uint64_t)bytes_le32(head + 4);
            continue;
        }
        unsigned long long content = ZSTD_getFrameContentSize(head, (size_t)n);
        uint64_t frame = 0;
        if (content != ZSTD_CONTENTSIZE_UNKNOWN && content != ZSTD_CONTENTSIZE_ERROR)
            frame = frame_bytes(fd, at, head, &blocks);
        if (!frame || __builtin_add_overflow(text, content, &text))
            return 0;
        at += frame;
    }
    return at == to ? text : 0;
}

bool identify_digest(int fd, const char *name, uint64_t size, uint64_t digest[2], uint8_t *scratch,
                     size_t *head_got, size_t *tail_got, err_t *err) {
    uint64_t head_bytes = size < IDENTIFY_END_BYTES ? size : IDENTIFY_END_BYTES;
    uint64_t tail_bytes = size - head_bytes < IDENTIFY_END_BYTES ? size - head_bytes : IDENTIFY_END_BYTES;
    uint8_t *head = scratch + FEED_BACK;
    bool in_one = size == head_bytes + tail_bytes;
    *head_got = *tail_got = 0;
    put_le64(head - 8, size);
    if (!read_piece(fd, name, head, head_bytes + (in_one ? tail_bytes : 0), 0, head_got, err) ||
        (!in_one && !read_piece(fd, name, head + *head_got, tail_bytes, size - tail_bytes, tail_got, err)))
        return false;
    if (*head_got + *tail_got != head_bytes + tail_bytes)
        return fault_changed(err, name, "it became shorter");
    set_digest(digest, head - 8, 8 + *head_got + *tail_got);
    return true;
}

/* Of UTF-16: two bytes become three at most. */
static uint64_t utf8_bound(uint64_t bytes) {
    return bytes + bytes / 2;
}

static uint64_t text_bound(int fd, uint64_t from, uint64_t size, input_kind_t kind) {
    return kind == INPUT_PLAIN   ? size
           : kind == INPUT_GZIP  ? size * DEFLATE_EXPANDS
           : kind == INPUT_ZSTD  ? identify_zstd_bound(fd, from, from + size)
           : kind == INPUT_UTF16 ? utf8_bound(size)
                                 : 0;
}

/* What kind of text begins with these compressed bytes of a file? Decompresses only the first block of a tar. zstd gives
 * nothing before it has 128 KiB of text together, and bzip2 900 KB: for that they may need more than the first bytes. */
static magic_t magic_within(spare_t *peek, int fd, const input_file_t *file, uint8_t *head, size_t size) {
    const input_kind_t kind = file->kind;
    uint8_t block[TAR_BLOCK];
    size_t got = 0;
    feed_t feed;
    err_t ignored;
    const char *compressed;
    const bool reads_on = kind == INPUT_BZIP2 || (kind == INPUT_ZSTD && size < file->disk_bytes);
    decoder_t *decoder = spare_take(peek, kind);
    if (!decoder)
        return MAGIC_TEXT;
    if (reads_on)
        feed_init(&feed, "", fd, false, 0, file->disk_bytes);
    else
        feed_init_bytes(&feed, "", head, size);
    feed.most = IDENTIFY_END_BYTES;
    decoder->read(decoder, &feed, block, sizeof block, &got, &ignored);
    if (reads_on)
        feed_free(&feed);
    spare_give(peek, kind, decoder);
    return magic_of(block, got, &compressed);
}

/* A zip whose first member is what only the files of office programs begin with. */
static bool is_of_office(const uint8_t *zip, size_t size) {
    static const char *const firsts[] = {"[Content_Types].xml", "_rels/.rels", "xl/", "docProps/"};
    enum { NAME = 30 };
    for (size_t i = 0; i < sizeof firsts / sizeof *firsts; i++)
        if (size > NAME + strlen(firsts[i]) && memcmp(zip + NAME, firsts[i], strlen(firsts[i])) == 0)
            return true;
    return false;
}

/* Systems that make a file while it is read (/proc, and some network drives) report a size of 0. */
static bool is_as_large_as_it_says(int fd, const input_file_t *file, err_t *err) {
    uint8_t byte;
    size_t got = 0;
    return file->disk_bytes || (read_piece(fd, file->name, &byte, 1, 0, &got, err) &&
                                (!got || err_set(err, STATUS_INPUT,
                                                 "%.1000s: says that it has 0 bytes, and has more, so nobody "
                                                 "knows where it ends; pipe it in, and name the input '-'",
                                                 file->name)));
}

bool identify_file(int fd, input_file_t *file, identified_t *as, spare_t *peek, uint8_t *scratch,
                   err_t *err) {
    uint64_t size = file->disk_bytes;
    uint8_t *head = scratch + FEED_BACK;
    size_t head_got, tail_got;
    if (!is_as_large_as_it_says(fd, file, err) ||
        !identify_digest(fd, file->name, size, file->digest, scratch, &head_got, &tail_got, err))
        return false;
    const char *compressed;
    magic_t magic = magic_of(head, head_got, &compressed);
    if (magic == MAGIC_REFUSED)
        return magic_refuse(err, file->name, compressed);
    file->kind = magic_kind(magic);
    /* Before a zip there may be a program that unpacks it, or (in the last part of a divided one) anything. */
    bool ends_as_zip = size >= 22 && bytes_le32(head + head_got + tail_got - 22) == 0x06054b50;
    bool is_zip = magic == MAGIC_ZIP || (magic == MAGIC_PROGRAM && zip_is_archive(fd, size)) ||
                  (magic == MAGIC_TEXT && ends_as_zip);
    if (is_zip && is_of_office(head, head_got))
        return magic_refuse(err, file->name, "Excel");
    const bool packed = file->kind != INPUT_PLAIN && file->kind != INPUT_UTF16;
    if (packed)
        magic = magic_within(peek, fd, file, head, head_got);
    *as = is_zip                   ? IDENTIFIED_ZIP
          : magic == MAGIC_TAR     ? IDENTIFIED_TAR
          : magic == MAGIC_DUMP    ? IDENTIFIED_DUMP
          : magic == MAGIC_REJECTS ? IDENTIFIED_REJECTS
                                   : IDENTIFIED_FILE;
    file->text_bound = text_bound(fd, 0, size, file->kind);
    if (packed && magic == MAGIC_UTF16)
        file->text_bound = utf8_bound(file->text_bound);
    return true;
}

bool identify_tar_member(int fd, const uint8_t *head, size_t size, input_file_t *file, bool *rejects,
                         err_t *err) {
    const char *compressed;
    magic_t magic = magic_of(head, size, &compressed);
    *rejects = magic == MAGIC_REJECTS;
    if (magic == MAGIC_ZIP || magic == MAGIC_TAR)
        return err_set(err, STATUS_INPUT,
                       "%.1000s: is a %s archive inside of a tar; unpack the tar and load what was in it",
                       file->name, compressed);
    if (magic == MAGIC_DUMP)
        return magic_refuse_dump(err, file->name);
    if (magic == MAGIC_REFUSED)
        return magic_refuse(err, file->name, compressed);
    file->kind = magic_kind(magic);
    if (fd >= 0 || file->kind != INPUT_ZSTD)
        file->text_bound = text_bound(fd, file->archive_offset, file->disk_bytes, file->kind);
    /* bzip2 makes of some bytes whatever it likes */
    if (input_kind_is_compressed(file->kind) && file->kind != INPUT_BZIP2 && !file->text_bound &&
        file->disk_bytes < BOUND_MOST / EXPANDS)
        file->text_bound = file->disk_bytes * EXPANDS;
    return true;
}

void identify_as_utf16(input_file_t *file) {
    if (file->kind != INPUT_UTF16)
        file->text_bound = utf8_bound(file->text_bound);
}

void identify_by_name(const input_file_t *file, const char *member, uint64_t digest[2]) {
    const XXH128_hash_t hash =
        XXH3_128bits_withSeed(member, strlen(member), file->content[0] ^ file->content[1]);
    digest[0] = hash.low64;
    digest[1] = hash.high64;
}

void identify_zip_member(const zip_entry_t *entry, input_file_t *file) {
    uint8_t key[24];
    put_le64(key, entry->compressed_bytes);
    put_le64(key + 8, entry->text_bytes);
    put_le64(key + 16, entry->crc32);
    set_digest(file->content, key, sizeof key);
    file->kind = INPUT_ZIP_MEMBER;
    file->has_identity = true;
    file->disk_bytes = entry->compressed_bytes;
    file->text_bound = entry->text_bytes;
    file->zip.header_offset = entry->header_offset;
    file->zip.compressed_bytes = entry->compressed_bytes;
    file->zip.text_bytes = entry->text_bytes;
    file->zip.crc32 = entry->crc32;
    file->zip.method = entry->method;
}

bool manifest_digest_at(const input_file_t *file, uint64_t size, uint64_t digest[2], err_t *err) {
    size_t head_got, tail_got;
    uint8_t *scratch = malloc(IDENTIFY_SCRATCH);
    if (!scratch)
        return err_memory(err, IDENTIFY_SCRATCH);
    int fd = open(file->path, O_RDONLY | O_CLOEXEC);
    bool ok = fd >= 0 ? identify_digest(fd, file->name, size, digest, scratch, &head_got, &tail_got, err)
                      : fault_system(err, file->name, errno);
    if (fd >= 0)
        close(fd);
    free(scratch);
    return ok;
}
