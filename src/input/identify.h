/* identify: what a regular file is, what makes it the same file next time, and how much text it can hold. */
#ifndef TIPPLE_INPUT_IDENTIFY_H
#define TIPPLE_INPUT_IDENTIFY_H

#include "input/magic.h"
#include "input/zip.h"

enum { IDENTIFY_END_BYTES = 64 * 1024, IDENTIFY_SCRATCH = 8 + 2 * IDENTIFY_END_BYTES };

/* Sets the digest, the kind and the text bound of a file of file->disk_bytes. A zip sets *is_zip and no kind:
 * it stands for its members. scratch: IDENTIFY_SCRATCH bytes, for many calls. */
bool identify_file(int fd, input_file_t *file, bool *is_zip, uint8_t *scratch, err_t *err);

/* The digest of the first `size` bytes. head_got, tail_got: what lies in the scratch, from its 8th byte. */
bool identify_digest(int fd, const char *name, uint64_t size, uint64_t digest[2], uint8_t *scratch,
                     size_t *head_got, size_t *tail_got, err_t *err);

void identify_member(const zip_entry_t *entry, input_file_t *file);

/* The content size of a zstd file of which every frame states it, or 0. Looks at frames of no more than some
 * hundred blocks in all, because each block's header has to be read. */
uint64_t identify_zstd_bound(int fd, uint64_t size);

#endif
