/* What a regular file is, what makes it the same file next time, and how much text it can hold. */
#include "base/clock.h"
#include "base/stop.h"
#include "input/build.h"
#include "input/file/bytes.h"
#include "input/file/fault.h"

#include <errno.h>
#include <fcntl.h>
#include <stdatomic.h>
#include <string.h>
#include <unistd.h>
#include <xxhash.h>
#include <zstd.h>

enum { OBJECTS = 0x7e307e };

enum {
    HEADS = 16 << 20,      /* bytes of objects, where no memory is named */
    FILES_A_THREAD = 32,   /* for fewer files another thread is not worth its start */
    END_BYTES = 64 * 1024, /* of what a digest is made, at both ends */
    SCRATCH = 8 + 2 * END_BYTES,
    ZIP_END = 22,           /* bytes at the end of a zip, before its comment */
    DEFLATE_EXPANDS = 1032, /* a match of 258 bytes takes at least two bits */
    ZSTD_HEADER_MOST = 18,
    ZSTD_BLOCKS_MOST = 512,
    EXPANDS = 32768, /* zstd: a block of up to 128 KiB takes at least four bytes; xz makes less of a byte */
};

static const uint64_t BOUND_MOST = 1ull << 36; /* above that, taking pieces as needed wastes less */

static void set_digest(uint64_t digest[2], const void *bytes, size_t size, uint64_t seed) {
    const XXH128_hash_t hash = XXH3_128bits_withSeed(bytes, size, seed);
    digest[0] = hash.low64;
    digest[1] = hash.high64;
}

static _Thread_local uint8_t scratch[SCRATCH];

/* The scratch gets the size and both ends of the file: what its digest is made of. *got: without the size. */
static bool read_ends(const origin_t *origin, const char *name, uint64_t size, uint64_t digest[2],
                      size_t *got, err_t *err) {
    const size_t head = size < END_BYTES ? (size_t)size : END_BYTES,
                 tail = size - head < END_BYTES ? (size_t)(size - head) : END_BYTES;
    size_t more;
    bytes_put_le64(scratch, size);
    if (!origin_read(origin, name, scratch + 8, head, 0, got, err) ||
        !origin_read(origin, name, scratch + 8 + *got, tail, size - tail, &more, err))
        return false;
    *got += more;
    if (*got != head + tail)
        return fault_changed(err, name);
    set_digest(digest, scratch, 8 + *got, 0);
    return true;
}

bool manifest_digest_at(const input_file_t *file, uint64_t size, uint64_t digest[2], err_t *err) {
    size_t got;
    if (file->kind == INPUT_PLAIN && file->head.bytes && size <= file->head.length) {
        bytes_put_le64(scratch, size);
        memcpy(scratch + 8, file->head.bytes, size);
        set_digest(digest, scratch, 8 + size, 0);
        return true;
    }
    origin_t origin;
    const bool ok = origin_open(&origin, file, &(remote_pace_t){.ahead = 0}, err) &&
                    read_ends(&origin, file->name, size, digest, &got, err);
    origin_close(&origin);
    return ok;
}

/* Of UTF-16: two bytes become three at most. */
static uint64_t utf8_bound(uint64_t bytes) {
    return bytes + bytes / 2;
}

/* The content size of the zstd frames in these bytes of a file, if each frame states one; otherwise 0. Examines only frames of
 * some hundred blocks in all, because each block's header must be read.
 *
 *     a frame:  mark 4  descriptor 1  [window 1]  [dictionary 0-4]  [content size 0-8]  blocks  [checksum 4]
 *     a block:  3 bytes: last 1 bit, type 2 bits, size 21 bits; a repeated byte (type 1) takes one byte */
static uint64_t zstd_bound(int fd, uint64_t at, uint64_t to) {
    static const uint8_t dictionary_bytes[4] = {0, 1, 2, 4}, content_bytes[4] = {0, 2, 4, 8};
    uint64_t text = 0;
    for (unsigned blocks = 1; at < to; blocks++) {
        uint8_t head[ZSTD_HEADER_MOST] = {0}, block[3];
        const ssize_t n = pread(fd, head, sizeof head, (off_t)at);
        if (n < 8 || blocks > ZSTD_BLOCKS_MOST)
            return 0;
        if ((head[0] & 0xf0) == 0x50) { /* skippable: mark, size, anything */
            at += 8 + (uint64_t)bytes_le32(head + 4);
            continue;
        }
        const unsigned long long content = ZSTD_getFrameContentSize(head, (size_t)n);
        const unsigned size = head[4] >> 6, single = head[4] >> 5 & 1;
        if (content == ZSTD_CONTENTSIZE_UNKNOWN || content == ZSTD_CONTENTSIZE_ERROR ||
            __builtin_add_overflow(text, content, &text))
            return 0;
        at += 6 - single + dictionary_bytes[head[4] & 3] + content_bytes[size] + (single && !size);
        for (bool last = false; !last;) {
            if (++blocks > ZSTD_BLOCKS_MOST || pread(fd, block, 3, (off_t)at) != 3)
                return 0;
            const uint32_t header = bytes_le16(block) | (uint32_t)block[2] << 16;
            last = header & 1;
            at += 3 + ((header >> 1 & 3) == 1 ? 1 : header >> 3);
        }
        at += head[4] & 4;
    }
    return at == to ? text : 0;
}

/* Sets the most text of a file or of a tar's member. origin: of that file or tar; of a compressed tar none. Looking for the frames
 * of an object would take hundreds of requests. */
static void set_bound(const origin_t *origin, input_file_t *file) {
    const uint64_t from = file->archive_offset, size = file->disk_bytes;
    const input_kind_t kind = file->kind;
    file->text_bound = kind == INPUT_PLAIN                     ? size
                       : kind == INPUT_GZIP                    ? size * DEFLATE_EXPANDS
                       : kind == INPUT_UTF16                   ? utf8_bound(size)
                       : kind == INPUT_ZSTD && origin->fd >= 0 ? zstd_bound(origin->fd, from, from + size)
                                                               : 0;
    if (file->archive && (kind == INPUT_ZSTD || kind == INPUT_XZ) && !file->text_bound &&
        size < BOUND_MOST / EXPANDS)
        file->text_bound = size * EXPANDS;
}

bool identify_head(identifier_t *by, const origin_t *origin, input_file_t *file, const uint8_t *head,
                   size_t size, magic_place_t place, magic_is_t *is) {
    const magic_t *magic = magic_of(head, size);
    const size_t kept = size < INPUT_HEAD_MOST ? size : INPUT_HEAD_MOST;
    *is = magic->is;
    by->head.bytes = NULL;
    file->kind = magic->kind;
    file->cr_lines = file->kind == INPUT_PLAIN && magic_of_cr_lines(head, size);
    if (by->keep && *is == MAGIC_TEXT && !file->cr_lines)
        by->head = (input_head_t){head, (uint32_t)kept, kept == file->disk_bytes};
    set_bound(origin, file);
    return magic_accept(magic, place, file->name, by->err);
}

bool identify_text(identifier_t *by, const origin_t *origin, input_file_t *file, magic_is_t *is) {
    const size_t most = by->keep ? INPUT_HEAD_MOST : MAGIC_BYTES;
    err_t why = {.status = STATUS_OK};
    by->head.bytes = NULL;
    source_t *source = source_open_packed(&by->kit, file, origin->fd, &why);
    const ssize_t got = source ? source_read(source, by->text, most, &why) : 0;
    const size_t length = got > 0 ? (size_t)got : 0;
    uint8_t next;
    const bool whole = source && length < most && source_read(source, &next, 1, &why) == 0;
    const bool refused = why.status == STATUS_HOST || (why.status && source && source_is_unreadable(source));
    source_close(source);
    *is = magic_of(by->text, length < MAGIC_BYTES ? length : MAGIC_BYTES)->is;
    if (*is == MAGIC_UTF16)
        file->text_bound = utf8_bound(file->text_bound);
    const bool as_read = magic_of(by->text, length)->is == MAGIC_TEXT && !magic_of_cr_lines(by->text, length);
    if (by->keep && as_read && (whole || length == most)) /* else the text is damaged */
        by->head = (input_head_t){by->text, (uint32_t)length, whole};
    if (refused)
        *by->err = why;
    return !refused;
}

/* Is the end record of a zip there, with a comment up to the end? */
static bool ends_as_zip(const uint8_t *tail, const uint8_t *end) {
    for (const uint8_t *at = tail + 3; at < end && (at = memchr(at, 6, (size_t)(end - at))); at++)
        if (memcmp(at - 3, "PK\5\6", 4) == 0 && end - at >= ZIP_END - 3 &&
            end - at == ZIP_END - 3 + bytes_le16(at + ZIP_END - 5))
            return true;
    return false;
}

static bool identify_opened(identifier_t *by, const origin_t *origin, input_file_t *file, magic_is_t *is) {
    static const size_t lengths[] = {64, 1024};
    const uint64_t size = file->disk_bytes;
    uint8_t *const head = scratch + 8;
    size_t got;
    if (!read_ends(origin, file->name, size, file->digest, &got, by->err))
        return false;
    for (size_t i = 0; i < sizeof lengths / sizeof *lengths; i++)
        file->begins.hashes[i] = size < lengths[i] ? 0 : XXH3_64bits(head, lengths[i]);
    /* Systems that make a file while it is read (/proc, and some network drives) report a size of 0. */
    if (!size && origin_pread(origin, head, 1, 0, by->err) > 0)
        return err_set(by->err, STATUS_INPUT,
                       "%.1000s: says that it has 0 bytes, and has more, so nobody knows where it ends; pipe "
                       "it in, and name the input '-'",
                       file->name);
    if (!identify_head(by, origin, file, head, got, MAGIC_IN_FILE, is))
        return false;
    /* Before a zip there may be a program that unpacks it, or (in the last part of a divided one) anything. */
    if (*is == MAGIC_TEXT && ends_as_zip(head + (got < END_BYTES ? 0 : got - END_BYTES), head + got))
        *is = MAGIC_ZIP;
    if (*is == MAGIC_PACKED) {
        magic_is_t within;
        if (!identify_text(by, origin, file, &within))
            return false;
        if (within == MAGIC_TAR || within == MAGIC_DUMP || within == MAGIC_REJECTS)
            *is = within;
    }
    return true;
}

/* An object has a device of its own, and a number for its name. */
struct stat identify_object(const char *url) {
    return (struct stat){.st_dev = OBJECTS, .st_ino = XXH3_64bits(url, strlen(url)), .st_mode = S_IFREG};
}

struct stat identify_status(const input_file_t *file) {
    return (struct stat){.st_dev = file->device, .st_ino = file->inode, .st_mode = S_IFREG};
}

/* Sees the object that a URL names, or opens the file. */
static bool open_one(identifier_t *by, const char *path, origin_t *origin, input_file_t *file) {
    struct stat status = {.st_size = 0};
    if (remote_is(path) && !(file->object = remote_see(path, by->patience_ns, by->err)))
        return false;
    if (!origin_open(origin, file, &(remote_pace_t){.ahead = 0}, by->err))
        return false;
    if (file->object) {
        status = identify_object(path);
        status.st_size = (off_t)remote_size(file->object);
        status.st_mtim = clock_to_timespec(remote_modified_ns(file->object));
        file->in_order = !remote_gives_ranges(file->object);
    } else if (fstat(origin->fd, &status) != 0) {
        return fault_system(by->err, file->name, errno);
    }
    file->has_identity = true;
    file->disk_bytes = (uint64_t)status.st_size;
    file->modified_ns = clock_from_timespec(status.st_mtim);
    file->device = status.st_dev;
    file->inode = status.st_ino;
    return true;
}

bool identify_file(identifier_t *by, const char *path, origin_t *origin, input_file_t *file, magic_is_t *is) {
    *origin = origin_none;
    const bool ok = open_one(by, path, origin, file) && identify_opened(by, origin, file, is);
    if (file->object)
        remote_settle(file->object, by->keep ? by->keep : HEADS);
    return ok;
}

/* ---- several files at once ---- */

typedef struct {
    const identifier_t *like;
    char *const *paths;
    identified_t *files;
    size_t count;
    atomic_size_t next;
    atomic_flag failed;
    err_t *err;
} ahead_t;

/* What cannot be identified, and archives, are left to the walk, which has the sentences. */
static void identify_one(identifier_t *by, char *path, identified_t *one) {
    struct stat status;
    origin_t origin = origin_none;
    one->file = (input_file_t){.path = path, .name = path};
    const bool may =
        remote_is(path) ? !remote_is_several(path) : stat(path, &status) == 0 && S_ISREG(status.st_mode);
    const bool ok = may && identify_file(by, path, &origin, &one->file, &one->is);
    if (ok)
        by->err->status = STATUS_OK; /* what an earlier try has left */
    one->known = ok && one->is <= MAGIC_PACKED;
    origin_close(&origin);
    if (!one->known)
        identify_forget(one);
    one->head = by->head;
    if (one->known && one->head.bytes)
        one->head.bytes = memcpy(one->text, by->head.bytes, by->head.length);
}

void identify_forget(identified_t *one) {
    remote_forget(one->file.object);
    one->file.object = NULL;
}

static void *identify_some(void *context) {
    ahead_t *ahead = context;
    err_t err;
    identifier_t by = {.kit = {.looks = true},
                       .keep = ahead->like->keep,
                       .patience_ns = ahead->like->patience_ns,
                       .err = &err};
    for (size_t at; (at = ahead->next++) < ahead->count && !stop_signal();) {
        err.status = STATUS_OK;
        identify_one(&by, ahead->paths[at], &ahead->files[at]);
        if (err.status != STATUS_SERVER)
            continue;
        ahead->next = ahead->count; /* a server that is away is away for all */
        if (!atomic_flag_test_and_set(&ahead->failed))
            *ahead->err = err;
    }
    source_kit_close(&by.kit);
    return NULL;
}

bool identify_ahead(const identifier_t *like, char *const *paths, identified_t *files, size_t count) {
    ahead_t ahead = {.like = like,
                     .paths = paths,
                     .files = files,
                     .count = count,
                     .failed = ATOMIC_FLAG_INIT,
                     .err = like->err};
    for (size_t i = 0; i < count; i++) {
        files[i].known = false;
        files[i].file.object = NULL;
    }
    const size_t at_once = remote_at_once(paths[0]), objects = count < at_once ? count : at_once;
    team_share(identify_some, &ahead, at_once ? objects - 1 : count / FILES_A_THREAD, at_once);
    return !atomic_flag_test_and_set(&ahead.failed);
}

void manifest_digest_as(const input_file_t *file, const char *member, uint64_t digest[2]) {
    set_digest(digest, member, strlen(member), file->content[0] ^ file->content[1]);
}

void identify_zip_member(const archive_entry_t *entry, input_file_t *file) {
    uint8_t key[24];
    bytes_put_le64(key, entry->size);
    bytes_put_le64(key + 8, entry->place.text_bytes);
    bytes_put_le64(key + 16, entry->place.crc32);
    set_digest(file->content, key, sizeof key, 0);
    file->kind = INPUT_ZIP_MEMBER;
    file->archive_offset = entry->from;
    file->disk_bytes = entry->size;
    file->text_bound = entry->place.text_bytes;
    file->zip = entry->place;
}
