/* tar: the headers of a tar, one after the other, wherever its bytes come from. Knows old v7 tars, ustar, GNU
 * (long names, large numbers) and pax. Belongs to one thread.
 *
 *     header 512   body, padded to 512   header   body   …   two blocks of zeros   [zeros]
 *
 * Directories, and headers that only describe others, are not shown. */
#ifndef TIPPLE_INPUT_ARCHIVE_TAR_H
#define TIPPLE_INPUT_ARCHIVE_TAR_H

#include "base/err.h"

#include <stdint.h>

enum { TAR_BLOCK = 512 };

/* Up to `size` bytes of the tar from `offset`; fewer only at its end. Offsets never go back behind what an
 * earlier call was asked for. *got is TAR_BEHIND when the tar ends before the offset. */
#define TAR_BEHIND SIZE_MAX
typedef bool tar_read_t(void *context, uint64_t offset, uint8_t *out, size_t size, size_t *got, err_t *err);

typedef struct {
    char *path; /* of the header, or of what came before it; NULL: none */
    bool has_size, is_sparse;
    uint64_t size;
} tar_facts_t;

typedef struct {
    const char *name; /* for sentences */
    tar_read_t *read;
    void *context;
    uint64_t at;  /* behind the last body, before its padding */
    char *member; /* the last one's path */
    tar_facts_t global, local;
    bool has_ended;
} tar_t;

typedef struct {
    const char *path;    /* not clean; valid until the next call */
    const char *no_file; /* a clause that says what it is instead (a link), or NULL */
    uint64_t from, size; /* its bytes in the tar */
} tar_entry_t;

/* Whether a tar begins with these TAR_BLOCK bytes. */
bool tar_begins(const uint8_t *block);

/* name and context must outlive it. */
void tar_open(tar_t *tar, const char *name, tar_read_t *read, void *context);
void tar_close(tar_t *tar);

/* 1: an entry; 0: the end; -1: the tar is cut off, broken, or holds what cannot be read, status 5; nothing
 * comes after that. */
int tar_next(tar_t *tar, tar_entry_t *entry, err_t *err);

#endif
