/* name: the name of a file in messages and in the catalog. */
#ifndef TIPPLE_INPUT_FILE_NAME_H
#define TIPPLE_INPUT_FILE_NAME_H

#include <stdbool.h>
#include <stddef.h>

/* The folder that macOS adds to a zip for its resource forks. */
#define NAME_MACOSX "__MACOSX"

/* The path without "./", "//", "/./" and a last "/". A new string; NULL: out of memory. */
char *name_clean(const char *path);

/* "before" + "between" + text. The text is made valid UTF-8 without control characters: each other byte becomes \xHH,
 * and so does a backslash with which a \xHH of the text itself begins. So different texts stay different. A new string,
 * or NULL. before may be NULL. */
char *name_join(const char *before, const char *between, const char *text, size_t length);

/* The opposite of name_join: the file's name on this disk. A name with "!" may be that of an archive's member: then the
 * result is the longest beginning before a "!" that exists, or the whole name. A new string, or NULL. */
char *name_on_disk(const char *name);

/* Why a file or folder of this name in a folder is left out (a clause for a note); NULL: it is not. */
const char *name_reason_to_skip(const char *name, size_t length);

/* The same for files only: what publishers add to their data. */
const char *name_reason_to_skip_file(const char *name, size_t length);

/* The same for a path that was named explicitly: only resource forks are left out. */
const char *name_reason_to_skip_path(const char *path);

#endif
