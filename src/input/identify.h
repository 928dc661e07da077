/* identify: what a regular file is, what makes it the same file next time, and how much text it can hold. */
#ifndef TIPPLE_INPUT_IDENTIFY_H
#define TIPPLE_INPUT_IDENTIFY_H

#include "input/archive/archive.h"
#include "input/decode/decoder.h"
#include "input/magic.h"

#include <xxhash.h>

enum {
    IDENTIFY_END_BYTES = 64 * 1024,
    IDENTIFY_MEMBER_END_BYTES = 16 * 1024,
    IDENTIFY_SCRATCH = FEED_BACK + 2 * IDENTIFY_END_BYTES + FEED_SLACK,
};

typedef enum {
    IDENTIFIED_FILE,
    IDENTIFIED_REJECTS, /* a reject file of tipple, compressed or not */
    IDENTIFIED_ZIP,     /* it is replaced by its members; kind is not set */
    IDENTIFIED_TAR,     /* it is replaced by its members; kind is how it is compressed */
    IDENTIFIED_DUMP,    /* it is replaced by one of its collections; kind as of a tar */
} identified_t;

/* Sets the digest, the kind and the text bound of a file of file->disk_bytes, and tells whether it is an archive. peek,
 * scratch (IDENTIFY_SCRATCH bytes): may be used again for other files. */
bool identify_file(int fd, input_file_t *file, identified_t *as, spare_t *peek, uint8_t *scratch, err_t *err);

/* The digest of the first `size` bytes. head_got, tail_got: how much was read into the scratch, after FEED_BACK. */
bool identify_digest(int fd, const char *name, uint64_t size, uint64_t digest[2], uint8_t *scratch,
                     size_t *head_got, size_t *tail_got, err_t *err);

/* All but its digest. */
void identify_zip_member(const zip_entry_t *entry, input_file_t *file);

/* The text of a compressed member of an archive has proved to be UTF-16, which is longer as UTF-8. */
void identify_as_utf16(input_file_t *file);

/* The digest that the member of a zip or a tar has by this name, or would have by another one. */
void identify_by_name(const input_file_t *file, const char *member, uint64_t digest[2]);

/* The kind and the text bound of a tar's member of file->disk_bytes, from its first bytes, up to MAGIC_BYTES.
 * fd: of the tar if it is not compressed, otherwise -1. *rejects: the member is a reject file, not compressed itself. */
bool identify_tar_member(int fd, const uint8_t *head, size_t size, input_file_t *file, bool *rejects,
                         err_t *err);

/* The content size of the zstd frames in these bytes of a file, if each frame states one; otherwise 0. Examines only
 * frames of some hundred blocks in all, because each block's header must be read. */
uint64_t identify_zstd_bound(int fd, uint64_t from, uint64_t to);

#endif
