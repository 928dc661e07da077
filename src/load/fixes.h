/* fixes: what fixed reject files have put into the collection: by `_id`, the document that the fixed record
 * makes, or none where it is still no record, or was left out. Read once, then read-only and shared by
 * threads. */
#ifndef TIPPLE_LOAD_FIXES_H
#define TIPPLE_LOAD_FIXES_H

#include "format/filter.h"
#include "format/schema.h"
#include "catalog/places.h"

typedef struct fixes fixes_t;

typedef struct {
    int64_t id;
    uint64_t line;     /* of the record in its file */
    uint8_t *document; /* NULL: nothing is expected there */
    uint32_t length;
    size_t number; /* as it was read */
} fix_t;

typedef struct {
    const schema_t *schema;
    const filter_t *filter; /* or NULL */
    uint64_t max_record;
    uint32_t max_document;
    const char *name; /* of the collection, for sentences */
} fixes_options_t;

/* As a load reads them: where two entries have one place, the first that makes a document counts. Status 1
 * with the entry that is wrong. */
fixes_t *fixes_read(char *const *paths, size_t count, const places_t *places, const fixes_options_t *options,
                    err_t *err);
void fixes_free(fixes_t *fixes); /* NULL is allowed */

size_t fixes_count(const fixes_t *fixes);
/* By `_id`; and the first that is not before this one (fixes_count: none). */
const fix_t *fixes_at(const fixes_t *fixes, size_t at);
size_t fixes_first(const fixes_t *fixes, int64_t id);

#endif
