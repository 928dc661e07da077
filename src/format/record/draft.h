/* draft: the text of a record while it is made from a document: shared by the writers of all kinds of formats. */
#ifndef TIPPLE_FORMAT_RECORD_DRAFT_H
#define TIPPLE_FORMAT_RECORD_DRAFT_H

#include "format/record/dialect.h"
#include "format/record/record.h"

#include <bson/bson.h>

/* The record begins POOL_SLACK bytes after `base`, because it is then read back. */
typedef struct {
    const schema_t *schema;
    uint8_t *base, *bytes;
    size_t length, room;
} draft_t;

bool draft_put(draft_t *draft, const void *bytes, size_t length); /* false: out of memory */

#endif
