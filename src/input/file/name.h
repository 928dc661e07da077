/* name: how a file is called, in messages and in the catalog. */
#ifndef TIPPLE_INPUT_FILE_NAME_H
#define TIPPLE_INPUT_FILE_NAME_H

#include <stdbool.h>
#include <stddef.h>

/* The folder that macOS adds to a zip for its resource forks. */
#define NAME_MACOSX "__MACOSX"

/* The path without "./", "//", "/./" and a last "/". A new string, or NULL: out of memory. */
char *name_clean(const char *path);

/* "before" + "between" + text, the text made valid UTF-8 without control characters: each other byte becomes
 * \xHH, and so does a backslash that \xHH of the text's own begins with: different texts stay different. A
 * new string, or NULL. before may be NULL. */
char *name_join(const char *before, const char *between, const char *text, size_t length);

/* Undoes name_join: what the file is called on this disk. For a name with "!" in it, which may be an archive's member,
 * the longest beginning before a "!" that exists, or else all of it. A new string, or NULL. */
char *name_on_disk(const char *name);

/* Why a walk leaves out a file or folder of this name (a clause for a note), or NULL. */
const char *name_reason_to_skip(const char *name, size_t length);

/* The same for a file only: what publishers put beside their data. */
const char *name_reason_to_skip_file(const char *name, size_t length);

/* The same for a path that was named explicitly: resource forks are left out then, too, and
 * nothing else is. */
const char *name_reason_to_skip_path(const char *path);

#endif
