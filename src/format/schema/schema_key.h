/* schema_key: what a document's key can be. */
#ifndef TIPPLE_FORMAT_SCHEMA_SCHEMA_KEY_H
#define TIPPLE_FORMAT_SCHEMA_SCHEMA_KEY_H

#include <stddef.h>

/* NULL, or what is wrong with the key. */
const char *schema_key_problem(const char *key, size_t length);

#endif
