/* input_file: one input: what to open, what it is, and how it is recognised the next time. */
#ifndef TIPPLE_INPUT_FILE_INPUT_FILE_H
#define TIPPLE_INPUT_FILE_INPUT_FILE_H

#include <stdbool.h>
#include <stdint.h>

typedef enum {
    /* a regular file or an object, read by places; this kind and the compressed ones may also be members of a tar */
    INPUT_PLAIN,
    INPUT_GZIP,       /* one or several gzip members, one after the other */
    INPUT_ZSTD,       /* one or several frames */
    INPUT_XZ,         /* one or several streams */
    INPUT_BZIP2,      /* one or several streams */
    INPUT_UTF16,      /* text of UTF-16, which becomes UTF-8 */
    INPUT_ENCODED,    /* text of another encoding, as the format says; see manifest_decode */
    INPUT_ZIP_MEMBER, /* one member of a .zip */
    INPUT_DUMP,       /* one collection of an archive that mongodump has written */
    INPUT_STREAM,     /* stdin, a FIFO, a device: read once, in order; may itself be compressed */
} input_kind_t;

/* Other encodings count, too: a decoder makes their text, from the start on. */
static inline bool input_kind_is_compressed(input_kind_t kind) {
    return kind >= INPUT_GZIP && kind <= INPUT_ENCODED;
}

/* As it is written into the catalog (which has the encoding instead, where the format names one), and in messages. */
static inline const char *input_kind_name(input_kind_t kind) {
    static const char *const names[] = {"plain",  "gzip",    "zstd", "xz",   "bzip2",
                                        "utf-16", "encoded", "zip",  "dump", "stream"};
    return names[kind];
}

typedef struct {
    uint64_t text_bytes;
    uint32_t crc32;
    uint16_t method; /* 0 stored, 8 deflate, 9 deflate64, 93 zstd */
} zip_place_t;

/* The beginning of an input's text, kept since the input was identified, so that it need not be opened again. */
enum { INPUT_HEAD_MOST = 4096 };

typedef struct {
    const uint8_t *bytes; /* NULL: it is not kept */
    uint32_t length;
    bool whole; /* that is all of the text, and its end was checked */
} input_head_t;

/* Hashes of the first 64 and the first 1,024 bytes on disk; 0: there are fewer. Of two files whose hashes differ, neither begins
 * with the other one. */
typedef struct {
    uint64_t hashes[2];
} input_begins_t;

static inline bool input_may_begin_alike(const input_begins_t *one, const input_begins_t *other) {
    bool may = true;
    for (int i = 0; i < 2; i++)
        may &= !one->hashes[i] || !other->hashes[i] || one->hashes[i] == other->hashes[i];
    return may;
}

typedef struct input_file input_file_t;
struct source;
struct input_file {
    char *path;    /* what to open; "-" is stdin */
    char *name;    /* for people, and to recognise it; see below. Mostly the same memory as the path */
    size_t member; /* of a member, or a collection: where its own name begins, after "ARCHIVE!"; 0: no such */
    input_kind_t kind; /* found from the file's first bytes, never from its name */
    /* it can be recognised; false for streams without --input-name, which are never resumed */
    bool has_identity;
    bool by_name;           /* --input-name has named this file: only that name and its content identify it */
    bool cr_lines;          /* of a plain file: CR alone ends its lines, and is given out as LF */
    uint64_t disk_bytes;    /* bytes on disk (a member's: its bytes in the archive); 0 for a stream */
    uint64_t text_bound;    /* the most decompressed bytes that can come; 0: not known, or none */
    uint64_t digest[2];     /* see below; 0 for a stream */
    uint64_t content[2];    /* of a member of an archive: of what its digest is made, without its name */
    input_begins_t begins;  /* of a file or an object, not of a member */
    int64_t modified_ns;    /* its time when it was seen, 0: unknown; a later change stops the load */
    uint64_t device, inode; /* of the file as it was seen: another file in its place also stops the load */
    zip_place_t zip;        /* INPUT_ZIP_MEMBER only */
    char *fault;            /* why it cannot be read: then it has a name, and nothing else; otherwise NULL */
    bool widens;            /* its header has columns that the load adds to its format */
    input_head_t head;      /* of its text; see manifest_options_t.keep */
    /* of a stream whose beginning was looked at: where it goes on, see source_leave; otherwise NULL */
    struct source *begun;
    const int *pushed; /* the descriptor of a stream that this program writes itself; otherwise NULL */
    /* of its text, as iconv calls it; NULL: UTF-8 or UTF-16. Borrowed from the format */
    const char *encoding;
    char *collection; /* of a dump: "db.collection"; else NULL */
    bool capped;      /* that collection was */
    char *metadata;   /* what mongodump has written of its collection, as JSON; NULL: nothing */
    /* for a member of a tar or a dump: that file, which is not an input itself; otherwise NULL */
    const input_file_t *archive;
    struct remote_object *object; /* of a URL: what it names; each file holds it. Otherwise NULL */
    bool in_order;                /* of an object: its server gives no ranges */
    uint64_t archive_offset;      /* where its bytes begin in the zip or the (decompressed) tar */
};

/* name: the path as given, without "./" and "//"; a URL without its query; "a.zip!b/c.csv" for a member; or that of
 * --input-name. Always valid UTF-8 without control characters: every other byte of the file's real name is written as
 * \xHH. Unique in a manifest.
 *
 * digest: XXH3-128 over the size (8 bytes, little endian), the first 64 KiB on disk, and the last 64 KiB of the rest.
 * For a zip member: over compressed size, text size and CRC, and then over its name. For a tar member: over its size and
 * content (in a tar that is not compressed, only both ends of the content), and then over its name. For a collection of a dump:
 * over its name and the digest of the dump.
 *
 * text_bound: of a plain file its size; of a gzip file 1,032 times its size; of a zip member the size in the directory;
 * of a zstd file the sum of the sizes that its frames state, if all state one and there are few frames; of xz and bzip2
 * it is not known. Of other encodings what their bytes can become at most. Members of a tar like files, and those of xz and zstd
 * what a byte can become. Of a compressed tar itself how many bytes it has unpacked. */

/* A tar that is compressed as a whole is one stream. Its members are next to each other in a manifest, and are best
 * read in order by one thread, in one pass. */
static inline bool input_is_in_stream(const input_file_t *file) {
    return file->archive && file->archive->kind != INPUT_PLAIN;
}

/* True if its text is what the disk or a server has, so that a part of it can be read without the rest. */
static inline bool input_has_places(const input_file_t *file) {
    return file->kind == INPUT_PLAIN && !input_is_in_stream(file) && !file->in_order;
}

/* How many bytes on disk its text takes: of a member of a compressed tar its share of the tar's. */
static inline uint64_t input_disk_share(const input_file_t *file) {
    const input_file_t *archive = file->archive;
    if (!input_is_in_stream(file) || file->kind == INPUT_DUMP || !archive->text_bound)
        return file->disk_bytes;
    return (uint64_t)((double)file->disk_bytes * (double)archive->disk_bytes / (double)archive->text_bound);
}

#endif
