/* zip: reads the directory of a .zip, and finds where each member's data is. Members are decoded elsewhere, each by
 * itself. Knows zip64, archive comments, and data before the first member (self-extractors). Any thread may call. */
#ifndef TIPPLE_INPUT_ARCHIVE_ZIP_H
#define TIPPLE_INPUT_ARCHIVE_ZIP_H

#include "base/err.h"
#include "input/file/input_file.h"

enum { ZIP_STORED = 0, ZIP_DEFLATE = 8, ZIP_DEFLATE64 = 9, ZIP_ZSTD = 93 };

typedef struct {
    const char *name; /* not terminated */
    size_t name_length;
    uint16_t flags, method;
    uint32_t crc32;
    uint64_t compressed_bytes, text_bytes;
    uint64_t header_offset; /* from the file's first byte */
    bool is_link;           /* a symbolic link: its data is a path */
} zip_entry_t;

typedef bool zip_visit_t(void *context, const zip_entry_t *entry, err_t *err);

/* Does the file end like a zip? */
bool zip_is_archive(int fd, uint64_t size);

/* Calls `visit` for every entry, in the order of the directory. A broken or divided archive is an error, status 5,
 * and so are several in one file. */
bool zip_list(int fd, uint64_t size, const char *name, zip_visit_t *visit, void *context, err_t *err);

/* Can the member be decoded? If not, the sentence says why. */
bool zip_can_read(const zip_entry_t *entry, const char *member_name, err_t *err);

/* The place of the member's data, from the header before it. */
bool zip_data_offset(int fd, const input_file_t *file, uint64_t *offset, err_t *err);

#endif
