#include "input/archive/archive.h"
#include "input/decode/decoder.h"
#include "input/file/bytes.h"
#include "input/file/fault.h"

#include <isa-l/crc.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/*     [data before]  member  member  …  directory  [zip64 end, its locator]  end  [comment]
 *
 * All offsets count from the first member's header; or, if the program that wrote the zip has adjusted them, from the
 * file's first byte. The true place of the directory, directly before the end, shows which is the case. */
enum {
    MEMBER_MARK = 0x04034b50,
    MEMBER_BYTES = 30,
    ENTRY_MARK = 0x02014b50,
    ENTRY_BYTES = 46,
    END_MARK = 0x06054b50,
    END_BYTES = 22,
    END64_BYTES = 56,
    LOCATOR_MARK = 0x07064b50,
    LOCATOR_BYTES = 20,
    LONGEST_COMMENT = 65535,
    FLAG_ENCRYPTED = 1,
    FLAG_DIRECTORY_ENCRYPTED = 1 << 13,
    EXTRA_ZIP64 = 1,
    MADE_BY_UNIX = 3,
    LARGEST_DIRECTORY = 1 << 30,
};

typedef struct {
    uint64_t place, bytes; /* in the file */
    uint64_t stated;       /* its offset as the archive counts: each entry's offset is smaller */
    uint64_t count;
    bool is_zip64;
} directory_t;

static const char a_link[] = "a symbolic link";

static bool broken(err_t *err, const char *name, const char *why) {
    return err_set(err, STATUS_INPUT,
                   "%.1000s: the zip archive is broken (%s); fetch it again, or repair it (zip -FF) and load "
                   "the repaired one",
                   name, why);
}

/* Reads exactly these bytes; a file that ends before them is broken. */
static bool read_at(const origin_t *origin, const char *name, void *out, size_t size, uint64_t offset,
                    err_t *err) {
    size_t got;
    return origin_read(origin, name, out, size, offset, &got, err) &&
           (got == size || broken(err, name, "it ends too early"));
}

/* Looks for the end record in the file's last bytes; *end: its place. Nothing but zeros follows it, and its comment, which may
 * hold what looks like such a record. */
static bool find_end(const origin_t *origin, uint64_t size, const char *name, uint8_t record[END_BYTES],
                     uint64_t *end, err_t *err) {
    const size_t n = size < END_BYTES + LONGEST_COMMENT ? (size_t)size : END_BYTES + LONGEST_COMMENT;
    bool found = false;
    uint8_t *tail = malloc(n + 1);
    if (!tail)
        return err_memory(err, n);
    bool ok = read_at(origin, name, tail, n, size - n, err);
    for (size_t i = ok && n >= END_BYTES ? n - END_BYTES + 1 : 0; i-- > 0 && !found;) {
        const size_t after = i + END_BYTES + bytes_le16(tail + i + 20);
        found = bytes_le32(tail + i) == END_MARK && after <= n && bytes_are_zero(tail + after, n - after);
        *end = size - n + i;
        memcpy(record, tail + i, END_BYTES);
    }
    free(tail);
    return found || (ok && broken(err, name,
                                  "its end is missing: it was cut off, is one part of a divided archive, or "
                                  "something follows its end"));
}

/* A zip64 end record, and its locator, are directly before the end. */
static bool find_directory(const origin_t *origin, uint64_t size, const char *name, directory_t *directory,
                           err_t *err) {
    uint8_t end[END_BYTES] = {0}, wide[END64_BYTES + LOCATOR_BYTES] = {0};
    uint64_t place = 0;
    if (!find_end(origin, size, name, end, &place, err) ||
        (place >= sizeof wide && !read_at(origin, name, wide, sizeof wide, place - sizeof wide, err)))
        return false;
    const bool is_zip64 = bytes_le32(wide + END64_BYTES) == LOCATOR_MARK;
    /* of this part, and of the one in which the directory begins */
    if (is_zip64 ? bytes_le64(wide + 16) : bytes_le32(end + 4))
        return broken(err, name, "it is one part of a divided one, which zip -s 0 joins");
    if (is_zip64)
        *directory = (directory_t){
            .count = bytes_le64(wide + 32), .bytes = bytes_le64(wide + 40), .stated = bytes_le64(wide + 48)};
    else
        *directory = (directory_t){
            .count = bytes_le16(end + 10), .bytes = bytes_le32(end + 12), .stated = bytes_le32(end + 16)};
    directory->is_zip64 = is_zip64;
    place -= is_zip64 ? sizeof wide : 0;
    if (directory->bytes > place || directory->bytes > LARGEST_DIRECTORY ||
        directory->stated > place - directory->bytes)
        return broken(err, name, "its directory is not inside the file");
    directory->place = place - directory->bytes;
    return true;
}

/* Reads the 64-bit sizes and offset. Only those whose 32-bit field is all ones are there, in this order. Padding after the
 * extra fields is common and harmless. */
static bool read_zip64_extra(archive_entry_t *entry, const uint8_t *extra, size_t length) {
    uint64_t *const fields[] = {&entry->place.text_bytes, &entry->size, &entry->from};
    for (size_t size; length >= 4 && (size = bytes_le16(extra + 2)) <= length - 4;) {
        extra += 4;
        for (size_t i = 0, at = 0; i < 3 && bytes_le16(extra - 4) == EXTRA_ZIP64; i++) {
            if (*fields[i] != UINT32_MAX)
                continue;
            if (size - at < 8)
                return false;
            *fields[i] = bytes_le64(extra + at);
            at += 8;
        }
        extra += size;
        length -= 4 + size;
    }
    return true;
}

/* The number of bytes of the entry at `at`; 0: it is not valid. */
static size_t read_entry(const uint8_t *at, size_t left, archive_entry_t *entry) {
    if (left < ENTRY_BYTES || bytes_le32(at) != ENTRY_MARK)
        return 0;
    size_t name = bytes_le16(at + 28), extra = bytes_le16(at + 30), comment = bytes_le16(at + 32);
    if (ENTRY_BYTES + name + extra + comment > left)
        return 0;
    *entry = (archive_entry_t){
        .name = (const char *)at + ENTRY_BYTES,
        .length = name,
        .flags = bytes_le16(at + 8),
        .place = {.method = bytes_le16(at + 10),
                  .crc32 = bytes_le32(at + 16),
                  .text_bytes = bytes_le32(at + 24)},
        .from = bytes_le32(at + 42),
        .size = bytes_le32(at + 20),
        .no_file = at[5] == MADE_BY_UNIX && S_ISLNK((mode_t)(bytes_le32(at + 38) >> 16)) ? a_link : NULL,
    };
    if (!read_zip64_extra(entry, at + ENTRY_BYTES + name, extra))
        return 0;
    return ENTRY_BYTES + name + extra + comment;
}

/* Moves the place of an entry from the header before its data to the data. */
static bool find_data(const origin_t *origin, const char *name, archive_entry_t *entry, err_t *err) {
    uint8_t header[MEMBER_BYTES];
    if (!read_at(origin, name, header, sizeof header, entry->from, err))
        return false;
    if (bytes_le32(header) != MEMBER_MARK || bytes_le16(header + 8) != entry->place.method)
        return broken(err, name, "a member is not where the directory says");
    entry->from += (uint64_t)MEMBER_BYTES + bytes_le16(header + 26) + bytes_le16(header + 28);
    return true;
}

/* Before the first member there may be a program. Where another archive's members are there, nobody would read them. */
static bool is_one_archive(const origin_t *origin, const char *name, uint64_t first, err_t *err) {
    uint8_t mark[4];
    if (first < MEMBER_BYTES)
        return true;
    if (!read_at(origin, name, mark, sizeof mark, 0, err))
        return false;
    return bytes_le32(mark) != MEMBER_MARK ||
           err_set(err, STATUS_INPUT,
                   "%.1000s: another zip archive stands before this one, which begins at byte %llu; divide "
                   "them there (head -c, tail -c), and load both",
                   name, (unsigned long long)first);
}

bool zip_list(const origin_t *origin, uint64_t size, const char *name, archive_visit_t *visit, void *context,
              err_t *err) {
    directory_t directory = {0};
    if (!find_directory(origin, size, name, &directory, err))
        return false;
    size_t left = (size_t)directory.bytes;
    uint8_t *bytes = malloc(left + 1), *at = bytes;
    if (!bytes)
        return err_memory(err, left);
    bool ok = read_at(origin, name, bytes, left, directory.place, err);
    uint64_t count = 0, first = directory.place;
    for (size_t used; ok && left; at += used, left -= used, count++) {
        archive_entry_t entry;
        used = read_entry(at, left, &entry);
        if (!used || entry.from > directory.stated || entry.size > directory.stated - entry.from) {
            ok = broken(err, name, "an entry of its directory makes no sense");
        } else {
            entry.from += directory.place - directory.stated;
            first = entry.from < first ? entry.from : first;
            ok = find_data(origin, name, &entry, err) && visit(context, &entry, err);
        }
    }
    /* programs without zip64 count modulo 65,536 */
    if (ok && (directory.is_zip64 ? count : count & 0xffff) != directory.count)
        ok = broken(err, name, "its directory does not hold as many entries as it says");
    free(bytes);
    return ok && is_one_archive(origin, name, first, err);
}

bool zip_can_read(const archive_entry_t *entry, const char *member_name, err_t *err) {
    const uint16_t method = entry->place.method;
    const bool is_known = method == ZIP_STORED || method == ZIP_DEFLATE || method == ZIP_DEFLATE64 ||
                          method == ZIP_ZSTD,
               has_name = entry->length && entry->name[entry->length - 1] != '/';
    return (is_known && has_name && !(entry->flags & (FLAG_ENCRYPTED | FLAG_DIRECTORY_ENCRYPTED))) ||
           err_set(err, STATUS_INPUT,
                   "%.1000s: is encrypted, compressed by a method (%u) other than deflate, deflate64 and "
                   "zstd, or a folder with bytes; unpack the archive and load the unpacked files",
                   member_name, method);
}

/* ---- the text of a member ---- */

typedef struct {
    decoder_t decoder;
    decoder_t *inner;
    uint32_t crc, stated_crc;
    uint64_t made, stated;
} member_t;

static decode_t member_read(decoder_t *decoder, feed_t *feed, uint8_t *out, size_t size, size_t *got,
                            err_t *err) {
    member_t *member = (member_t *)decoder;
    const decode_t done = member->inner->read(member->inner, feed, out, size, got, err);
    member->made += *got;
    member->crc = crc32_gzip_refl(member->crc, out, *got);
    if (done != DECODE_END || (member->made == member->stated && member->crc == member->stated_crc))
        return done;
    feed_damaged(feed, "its length or checksum is not that of the directory", err);
    return DECODE_FAULT;
}

static void member_close(decoder_t *decoder) {
    member_t *member = (member_t *)decoder;
    member->inner->close(member->inner);
    free(member);
}

decoder_t *decoder_zip_member(const input_file_t *file) {
    member_t *member = calloc(1, sizeof *member);
    if (!member)
        return NULL;
    member->decoder = (decoder_t){.read = member_read, .close = member_close};
    member->stated = file->zip.text_bytes;
    member->stated_crc = file->zip.crc32;
    member->inner = file->zip.method == ZIP_STORED      ? decoder_of(INPUT_PLAIN)
                    : file->zip.method == ZIP_DEFLATE   ? decoder_of(INPUT_ZIP_MEMBER)
                    : file->zip.method == ZIP_DEFLATE64 ? decoder_inflate64()
                                                        : decoder_of(INPUT_ZSTD);
    if (!member->inner) {
        free(member);
        return NULL;
    }
    return &member->decoder;
}
