/* json: a document as readable JSON: one item a line, short arrays of numbers on one line, UTF-8, numbers unchanged. A
 * byte that is not UTF-8 becomes U+FFFD. Any thread. */
#ifndef TIPPLE_REPORT_JSON_H
#define TIPPLE_REPORT_JSON_H

#include <bson/bson.h>

/* The text ends with a line end; the caller frees it. */
char *json_print(const bson_t *document, size_t *length);

#endif
