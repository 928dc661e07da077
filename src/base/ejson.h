/* ejson: BSON as Extended JSON on one line, word for word as libbson 1.23 prints it, with three differences. A double has
 * only as many digits as it needs to be read back as the same number (12.067, not 12.067000000000000171). What a
 * terminal would obey is escaped. A date after the year 9999 is a number of milliseconds. */
#ifndef TIPPLE_BASE_EJSON_H
#define TIPPLE_BASE_EJSON_H

#include "base/text.h"

#include <bson/bson.h>

/* The caller frees the text. It ends with a NUL that `length` (may be NULL) does not count. NULL: this is not BSON, or
 * it is nested deeper than a server accepts. If memory is out, the process ends with status 8 and a sentence. */
char *ejson_print(const bson_t *document, bool relaxed, size_t *length);

/* The same; *replaced: how many of its texts, keys among them, are not UTF-8, and shown with U+FFFD for each byte that is none. */
char *ejson_print_telling(const bson_t *document, bool relaxed, size_t *length, uint64_t *replaced);

/* The same behind a text, which says when memory is out. False: this is not BSON, or nested too deep. */
bool ejson_append(text_t *to, const bson_t *document, bool relaxed);

/* The same as an expression of the mongo shell, which would round whole numbers above 2^53 if it were not told that it may
 * not. */
bool ejson_append_for_shell(text_t *to, const bson_t *document);

/* One value into `out`, cut off with "..." where there is no room. */
void ejson_print_value(const bson_iter_t *value, bool relaxed, char *out, size_t room);
/* So is a text, after a whole character. */
void ejson_shorten(char *out, size_t room, const char *text, size_t length);

/* A text with its quotes: as it stands in JSON, and in a command for the mongo shell, whatever it holds. */
void ejson_append_text(text_t *to, const char *text);

/* That alone; the caller frees it. NULL: memory is out. */
char *ejson_text(const char *text);

#endif
