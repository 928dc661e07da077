/* mends: what mended reject files have put into the collection: by `_id`, the document that the mended record
 * makes, or none where it is still no record, or was left out. Read once, then read-only and shared by
 * threads. */
#ifndef TIPPLE_LOAD_MENDS_H
#define TIPPLE_LOAD_MENDS_H

#include "format/filter.h"
#include "format/schema.h"
#include "target/catalog.h"

typedef struct mends mends_t;

typedef struct {
    int64_t id;
    uint64_t line;     /* of the record in its file */
    uint8_t *document; /* NULL: nothing is expected there */
    uint32_t length;
    size_t number; /* as it was read */
} mend_t;

typedef struct {
    const schema_t *schema;
    const filter_t *filter; /* or NULL */
    uint64_t max_record;
    uint32_t max_document;
    const char *name; /* of the collection, for sentences */
} mends_options_t;

/* As a load reads them: where two entries have one place, the first that makes a document counts. Status 1
 * with the entry that is wrong. */
mends_t *mends_read(char *const *paths, size_t count, catalog_t *catalog, const mends_options_t *options,
                    err_t *err);
void mends_free(mends_t *mends); /* NULL is allowed */

size_t mends_count(const mends_t *mends);
/* By `_id`; and the first that is not before this one (mends_count: none). */
const mend_t *mends_at(const mends_t *mends, size_t at);
size_t mends_first(const mends_t *mends, int64_t id);

#endif
