/* conceal_bson: secrets in data. Each text of a document is looked through by itself, before it becomes JSON: in the
 * JSON of several values a secret would seem to go on up to some later value, and hiding it would break the JSON. */
#ifndef TIPPLE_BASE_CONCEAL_BSON_H
#define TIPPLE_BASE_CONCEAL_BSON_H

#include <bson/bson.h>

/* The document, or the list, with *** for each secret; the caller destroys it. NULL: this is not BSON, or it is nested
 * deeper than a server accepts. If memory is out, the process ends with status 8 and a sentence. */
bson_t *conceal_bson(const bson_t *document);

/* ejson_print of that, relaxed. */
char *conceal_bson_print(const bson_t *document);

#endif
