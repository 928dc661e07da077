/* json: a document as readable JSON: an item a line, short arrays of numbers on one, UTF-8, numbers as they
 * are. What is no UTF-8 is U+FFFD. Any thread. */
#ifndef TIPPLE_REPORT_JSON_H
#define TIPPLE_REPORT_JSON_H

#include <bson/bson.h>

/* Ends with a line end; free. */
char *json_print(const bson_t *document, size_t *length);

#endif
