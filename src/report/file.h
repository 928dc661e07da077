/* file: a file that is written completely or not at all: under another name in the same folder, made durable, then
 * renamed. After a kill the old file is there, and perhaps a part of the new one under the other name. */
#ifndef TIPPLE_REPORT_FILE_H
#define TIPPLE_REPORT_FILE_H

#include "base/err.h"

/* A file may be replaced if its first FILE_MARK bytes show that it is a report of tipple. */
enum { FILE_MARK = 256 };
#define FILE_MARK_PAGE "<meta name=\"generator\" content=\"tipple\">"
#define FILE_MARK_JSON "{\n  \"tipple_report\":"

/* Do both names mean one file, whether it exists or not? */
bool file_is_same(const char *one, const char *other);

/* Tries whether a file can be made in the folder of `path`. Status 1 if not, or if there is something that is not a
 * report. */
bool file_check(const char *path, err_t *err);

/* False: status 8, and what was there before is unchanged; also if it is no longer a report. */
bool file_write(const char *path, const char *text, size_t length, err_t *err);

#endif
