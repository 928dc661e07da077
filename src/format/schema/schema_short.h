/* schema_short: a schema with short keys: a, b, ... z, aa, ab, ..., one for each word of its keys, in their order in
 * the format. A word always gets the same short one, so documents keep their structure, and different keys stay
 * different. Keys that every format has (_id, order, unparsed, hour24, and id in sections) are unchanged; fields keep
 * their names. */
#ifndef TIPPLE_FORMAT_SCHEMA_SCHEMA_SHORT_H
#define TIPPLE_FORMAT_SCHEMA_SCHEMA_SHORT_H

#include "format/schema/schema.h"

/* Call it before anything is compiled from the schema. It is another format from then on, with its own digest. False:
 * out of memory. */
bool schema_shorten(schema_t *schema, err_t *err);

/* No word of its fields' keys is longer than two bytes: shortening gains nothing. */
bool schema_is_short(const schema_t *schema);

#endif
