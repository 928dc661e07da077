/* schema_short: a schema under short keys: a, b, ... z, aa, ab, ..., one for each word of its keys, in the
 * order in which they stand in the format. A word has the same short one wherever it stands, so that
 * documents keep their structure, and what was different stays different. What is in every format (_id,
 * order, unparsed, hour24, and id in sections) stays as it is; fields keep their names. */
#ifndef TIPPLE_FORMAT_SCHEMA_SCHEMA_SHORT_H
#define TIPPLE_FORMAT_SCHEMA_SCHEMA_SHORT_H

#include "format/schema/schema.h"

/* Before anything is compiled from the schema. It is another format from then on, with a digest of its own.
 * False: out of memory. */
bool schema_shorten(schema_t *schema, err_t *err);

/* No word of its fields' keys is longer than two bytes: shortening would gain nothing. */
bool schema_is_short(const schema_t *schema);

#endif
