/* extents: all files of a collection's books at once, to tell whose place an `_id` is. Read once, then
 * read-only and shared by threads; lives no longer than the catalog. */
#ifndef TIPPLE_TARGET_EXTENTS_H
#define TIPPLE_TARGET_EXTENTS_H

#include "target/catalog.h"

typedef struct extents extents_t;

extents_t *extents_read(catalog_t *catalog, err_t *err);
void extents_free(extents_t *extents); /* NULL is allowed */

size_t extents_files(const extents_t *extents);
/* By ordinal; NULL: the books have no such file. */
const catalog_file_t *extents_file(const extents_t *extents, uint32_t ordinal);

/* Do both know the same extents? */
bool extents_equal(const extents_t *a, const extents_t *b);

/* The file whose extent holds this virtual offset, and the offset in it. NULL: nobody's. */
const catalog_file_t *extents_find(const extents_t *extents, uint64_t voff, uint64_t *offset);

#endif
