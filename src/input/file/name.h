/* name: the name of a file in messages and in the catalog. */
#ifndef TIPPLE_INPUT_FILE_NAME_H
#define TIPPLE_INPUT_FILE_NAME_H

#include <stdbool.h>
#include <stddef.h>

/* The path without "./", "//", "/./" and a last "/"; a URL as it is. A new string; NULL: out of memory. */
char *name_clean(const char *path);

/* "before" + "between" + text. The text is made valid UTF-8 without control characters: each other byte becomes \xHH,
 * and so does a backslash with which a \xHH of the text itself begins. So different texts stay different. A new string,
 * or NULL. before may be NULL. */
char *name_join(const char *before, const char *between, const char *text, size_t length);

/* The opposite of name_join: the file's name on this disk. A name with "!" may be that of an archive's member: then the
 * result is the longest beginning before a "!" that is a file, or the whole name; of a URL all before the first "!". A new
 * string, or NULL. */
char *name_on_disk(const char *name);

/* Cuts the name of an archive's member, or of a collection, before a "!", so that the longest beginning is left that is a
 * file. False: none is, and the name stays whole. */
bool name_cut_to_file(char *name);

/* Why a path is left out (a clause for a note); NULL: it is not. Resource forks always are; and hidden files and folders, and
 * files that publishers add to their data, if they were found, not named. *length: of the path, and then of what
 * is left out, a folder perhaps; NULL: the path is terminated. */
const char *name_reason_to_skip(const char *path, size_t *length, bool found, bool is_file);

#endif
