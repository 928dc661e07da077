/* schema_digest: what a format means, as one number: two formats of the same digest make the same documents.
 */
#ifndef TIPPLE_FORMAT_SCHEMA_SCHEMA_DIGEST_H
#define TIPPLE_FORMAT_SCHEMA_SCHEMA_DIGEST_H

#include "format/schema/schema.h"

/* Fills schema->digest. False: out of memory. */
bool schema_digest(schema_t *schema, err_t *err);

#endif
