/* filter: simple comparisons of a document's fields, such as 'testType==N' or 'm>=100000 && d<2013-01-01'. A field is
 * given by its name or its key. Read-only after it is made; shared by threads. */
#ifndef TIPPLE_FORMAT_FILTER_H
#define TIPPLE_FORMAT_FILTER_H

#include "format/schema/schema.h"

typedef struct filter filter_t;

/* texts: several filters, which must all be true. Status 1 with what is wrong: also a number that the format would read
 * in another way. */
filter_t *filter_parse(const schema_t *schema, char *const *texts, size_t count, err_t *err);
void filter_free(filter_t *filter);

/* The same filter in a unique spelling, for the catalog: keys, operators and values in the order given; values in
 * quotes where needed. Parsing it gives this filter again. */
const char *filter_text(const filter_t *filter);

/* A header must have the columns that it compares (schema_need). */
void filter_need(const filter_t *filter, schema_t *schema);

/* Is the filter true for the document? For a field that is missing, or of another kind than the value, only '!=' is
 * true. */
bool filter_passes(const filter_t *filter, const uint8_t *document, uint32_t length);

#endif
