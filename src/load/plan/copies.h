/* copies: the inputs of a load taken several times (--copies N), as if there were N equal files of each. A copy is an input
 * of its own: it has an entry in the catalog and `_id`s of its own. Its name is that of its file and "!copy-2", and so on;
 * the first one has the file's. No other input may have such a name. Used by loads and by verify. */
#ifndef TIPPLE_LOAD_PLAN_COPIES_H
#define TIPPLE_LOAD_PLAN_COPIES_H

#include "input/manifest.h"

enum { COPIES_MOST = 1000 };

/* Adds the copies behind all files of the manifest. copies: 0 and 1 add none. Status 1: a stream cannot be read again, or
 * an input has the name of a copy, which it would be taken for, now or by another load. */
bool copies_make(manifest_t *manifest, uint32_t copies, err_t *err);

/* Is this the end of a copy's name: "!copy-2"? */
bool copies_is_mark(const char *end);

/* That end of a name; of one that has none, the "" behind it. */
const char *copies_mark_of(const char *name);

/* Is the input of this name this file, or a copy of it? */
bool copies_is_of(const char *input, const char *file);

#endif
