/* json_document: a JSON text that is in memory, as one document: what `json_value` reads, which keeps operators of queries such as
 * {"$type": ["int", "long"]} as they are. Any thread. */
#ifndef TIPPLE_FORMAT_JSON_JSON_DOCUMENT_H
#define TIPPLE_FORMAT_JSON_JSON_DOCUMENT_H

#include "base/err.h"

#include <bson/bson.h>

/* For bson_destroy. NULL: it is none, and err says why, as a part of a sentence, with status 1; or out of memory. placed: and
 * where. */
bson_t *json_document(const char *text, bool placed, err_t *err);

#endif
