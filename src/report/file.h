/* file: a file that is written whole or not at all: beside its place under another name, made durable, then
 * renamed. What a kill leaves is the old file, and perhaps a part of the new one under the other name. */
#ifndef TIPPLE_REPORT_FILE_H
#define TIPPLE_REPORT_FILE_H

#include "base/err.h"

/* Tries whether a file can be made beside `path`: status 1 if not. */
bool file_check(const char *path, err_t *err);

/* Status 8, and what was there before is as it was. */
bool file_write(const char *path, const char *text, size_t length, err_t *err);

#endif
