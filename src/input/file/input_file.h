/* input_file: one input: what to open, what it is, and what makes it the same one the next time. */
#ifndef TIPPLE_INPUT_FILE_INPUT_FILE_H
#define TIPPLE_INPUT_FILE_INPUT_FILE_H

#include <stdbool.h>
#include <stdint.h>

typedef enum {
    INPUT_PLAIN,      /* a regular file (or a member of a tar, as the next two), read with pread */
    INPUT_GZIP,       /* one or several gzip members, one behind the other */
    INPUT_ZSTD,       /* one or several frames */
    INPUT_ZIP_MEMBER, /* one member of a .zip */
    INPUT_STREAM,     /* stdin, a FIFO, a device: read once, in order; may itself be gzip or zstd */
} input_kind_t;

typedef struct input_file input_file_t;
struct input_file {
    char *path;             /* what to open; "-" is stdin */
    char *name;             /* for people and for the identity, see below */
    input_kind_t kind;      /* found by the file's first bytes, never by its name */
    bool has_identity;      /* false for streams without --input-name: never resumed */
    uint64_t disk_bytes;    /* bytes on disk (a member's: its bytes in the archive); 0 for a stream */
    uint64_t text_bound;    /* no more decompressed bytes than this can come; 0: unknown, or none at all */
    uint64_t digest[2];     /* see below; 0 for a stream */
    int64_t modified_ns;    /* mtime when the manifest was built: a later change stops the load */
    uint64_t device, inode; /* of the file that was seen then: another one in its place stops the load, too */
    uint8_t *kept; /* all bytes of a small file, as the digest was made of them; or NULL: to be read again */
    struct {       /* INPUT_ZIP_MEMBER only */
        uint64_t header_offset, compressed_bytes, text_bytes;
        uint32_t crc32;
        uint16_t method; /* 0 stored, 8 deflate, 9 deflate64, 93 zstd */
    } zip;
    const input_file_t *archive; /* of a member of a tar: the tar, which is no input itself; else NULL */
    uint64_t archive_offset;     /* and where its bytes begin in the (decompressed) tar */
};

/* name: the path as given, without "./" and "//"; "a.zip!b/c.csv" for a member. Always valid UTF-8 without
 * control characters: any other byte of the file's real name stands as \xHH. Unique in a manifest.
 *
 * digest: XXH3-128 over the size (8 bytes, little endian), the first 64 KiB and the last 64 KiB on disk (of
 * what lies behind the first); a zip member's: over its name, compressed size, text size and CRC; a tar member's:
 * over its path, size and content, of which in a tar that is not compressed only both ends are looked at.
 *
 * text_bound: a plain file's size, 1,032 times a gzip's, a member's stated size, the sum of a zstd's stated
 * sizes where all frames state one and the frames are few. Members of a tar as files. */

/* A tar that is compressed as a whole is one stream: its members, which stand one behind the other in a manifest,
 * are best read by one thread in order, out of one pass. */
static inline bool input_is_in_stream(const input_file_t *file) {
    return file->archive && file->archive->kind != INPUT_PLAIN;
}

#endif
