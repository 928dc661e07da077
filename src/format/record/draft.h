/* draft: the text of a record while it is written from a document: what the writers of all kinds share. */
#ifndef TIPPLE_FORMAT_RECORD_DRAFT_H
#define TIPPLE_FORMAT_RECORD_DRAFT_H

#include "format/record/dialect.h"
#include "format/record/record.h"

#include <bson/bson.h>

/* The record starts POOL_SLACK bytes behind `base`, because it is read again by the record path. */
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
