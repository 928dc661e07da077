/* file: a file that is written whole or not at all: beside its place under another name, made durable, then
 * renamed. What a kill leaves is the old file, and perhaps a part of the new one under the other name. */
#ifndef TIPPLE_REPORT_FILE_H
#define TIPPLE_REPORT_FILE_H

#include "base/err.h"

/* What the first FILE_MARK bytes of a file hold that may be written over: a report of tipple. */
enum { FILE_MARK = 256 };
#define FILE_MARK_PAGE "<meta name=\"generator\" content=\"tipple\">"
#define FILE_MARK_JSON "{\n  \"tipple_report\":"

/* Do both names stand for one file that is there, or for one that is not? */
bool file_is_same(const char *one, const char *other);

/* Tries whether a file can be made beside `path`: status 1 if not, or if something is there that is no report. */
bool file_check(const char *path, err_t *err);

/* False: status 8, and what was there before is as it was: also where it is no report by now. */
bool file_write(const char *path, const char *text, size_t length, err_t *err);

#endif
