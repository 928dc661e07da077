/* ejson: BSON as Extended JSON on one line, word for word as libbson 1.23 prints it but for two things: a double has
 * as few digits as read back the same (12.067, not 12.067000000000000171), and what a terminal would obey is escaped. */
#ifndef TIPPLE_BASE_EJSON_H
#define TIPPLE_BASE_EJSON_H

#include "base/text.h"

#include <bson/bson.h>

/* For free(); ends with a NUL that length (may be NULL) does not count. NULL: it is no BSON, or nested deeper than a
 * server takes. Without memory for it the process ends with status 8 and a sentence. */
char *ejson_print(const bson_t *document, bool relaxed, size_t *length);

/* A text with its quotes: as it stands in JSON, and in a command for the mongo shell, whatever it holds. */
void ejson_append_text(text_t *to, const char *text);

#endif
