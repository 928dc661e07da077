/* tar: reads the headers of a tar one after the other, wherever its bytes come from. Knows old v7 tars, ustar, GNU
 * (long names, large numbers) and pax. Belongs to one thread.
 *
 *     header 512   body, padded to 512   header   body   …   two blocks of zeros   [zeros]
 *
 * Folders, and headers that only describe others, are not shown. */
#ifndef TIPPLE_INPUT_ARCHIVE_TAR_H
#define TIPPLE_INPUT_ARCHIVE_TAR_H

#include "base/err.h"

#include <stdint.h>

enum { TAR_BLOCK = 512 };

/* Reads up to `size` bytes of the tar from `offset`; fewer only at its end. Offsets never go below the offset of an
 * earlier call. *got is TAR_BEHIND if the tar ends before the offset. */
#define TAR_BEHIND SIZE_MAX
typedef bool tar_read_t(void *context, uint64_t offset, uint8_t *out, size_t size, size_t *got, err_t *err);

typedef struct {
    char *path; /* from the header, or from a description before it; NULL: none */
    bool has_size, is_sparse;
    uint64_t size;
} tar_facts_t;

typedef struct {
    const char *name; /* for sentences */
    tar_read_t *read;
    void *context;
    uint64_t at;  /* the end of the last body, without its padding */
    char *member; /* the path of the last entry */
    tar_facts_t global, local;
    bool has_ended;
} tar_t;

typedef struct {
    const char *path; /* not cleaned; valid until the next call */
    /* a clause that says what it is, if it is not a file (a link, for example); NULL: a file */
    const char *no_file;
    uint64_t from, size; /* its bytes in the tar */
} tar_entry_t;

/* Does a tar begin with these TAR_BLOCK bytes? */
bool tar_begins(const uint8_t *block);

/* name and context must live longer than *tar. */
void tar_open(tar_t *tar, const char *name, tar_read_t *read, void *context);
void tar_close(tar_t *tar);

/* 1: an entry; 0: the end; -1: the tar is cut off, broken, or contains something that cannot be read, status 5. After
 * -1 nothing more can be read. */
int tar_next(tar_t *tar, tar_entry_t *entry, err_t *err);

#endif
