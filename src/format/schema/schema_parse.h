/* schema_parse: reads a format file, or a built-in format, as a schema. */
#ifndef TIPPLE_FORMAT_SCHEMA_SCHEMA_PARSE_H
#define TIPPLE_FORMAT_SCHEMA_SCHEMA_PARSE_H

#include "format/schema/schema.h"

/* `name` is used in messages. NULL: err says what is wrong, and where. */
schema_t *schema_parse(const char *text, size_t length, const char *name, err_t *err);

/* One that was guessed, for this load or for an earlier one. */
schema_t *schema_parse_guessed(const char *text, const char *name, err_t *err);

#endif
