/* draft: the text of a record while it is made from a document: shared by the writers of all kinds of formats. */
#ifndef TIPPLE_FORMAT_RECORD_DRAFT_H
#define TIPPLE_FORMAT_RECORD_DRAFT_H

#include "format/record/dialect.h"
#include "format/record/record.h"

#include <bson/bson.h>

/* The record begins POOL_SLACK bytes after `base`, because it is then read back. */
typedef struct draft draft_t;
struct draft {
    const schema_t *schema;
    uint8_t *base, *bytes;
    size_t length, room;
    /* Does the record, with its line end, read back as the document? -1: out of memory. */
    int (*reads_back)(draft_t *draft, const dialect_t *dialect, const bson_t *document, const shape_t *shape);
};

bool draft_put(draft_t *draft, const void *bytes, size_t length); /* false: out of memory */

#endif
