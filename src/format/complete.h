/* complete: what a format file needs besides its own text: the files of its lookups; and whether its constants are of their
 * types. */
#ifndef TIPPLE_FORMAT_COMPLETE_H
#define TIPPLE_FORMAT_COMPLETE_H

#include "format/schema/schema.h"

/* path: of the format file; names of lookup files are relative to its folder. The content of lookups is a part of the
 * digest: documents depend on it. Failure: status 1, or 5 for a lookup that cannot be read as one. */
bool format_complete(schema_t *schema, const char *path, err_t *err);

#endif
