/* schema_digest: the meaning of a format as one number: two formats with the same digest make the same documents. */
#ifndef TIPPLE_FORMAT_SCHEMA_SCHEMA_DIGEST_H
#define TIPPLE_FORMAT_SCHEMA_SCHEMA_DIGEST_H

#include "format/schema/schema.h"

/* Fills schema->digest. False: out of memory. */
bool schema_digest(schema_t *schema, err_t *err);

#endif
