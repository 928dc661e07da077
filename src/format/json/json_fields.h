/* json_fields: values of JSON that get the types that a format says (`fields`), by the converters of delimited fields:
 * texts, and whole numbers, which are taken as their digits. They are changed in the finished document, so that reading
 * objects costs nothing for it where there are no types.
 *
 * A name with dots leads through objects and through all elements of arrays. What has the type already, and null, stays.
 * Anything else that does not fit is a bad value, of which `on_bad_value` decides. One thread at a time. */
#ifndef TIPPLE_FORMAT_JSON_JSON_FIELDS_H
#define TIPPLE_FORMAT_JSON_JSON_FIELDS_H

#include "format/json/json_types.h"
#include "format/schema/schema.h"

typedef struct json_fields json_fields_t;

json_fields_t *json_fields_new(const schema_t *schema); /* NULL: out of memory */
void json_fields_destroy(json_fields_t *fields);        /* NULL is allowed */

typedef struct {
    size_t needed;      /* of FULL */
    const char *reason; /* of a reject; valid until the next call */
} json_fields_result_t;

/* Changes the document in `out`, whose length may then be another one. After FULL and MEMORY it is as it was. */
json_read_t json_fields_apply(json_fields_t *fields, uint8_t *out, size_t room, uint32_t *length,
                              json_fields_result_t *result);

/* How many values did not fit, in all and by field. */
uint64_t json_fields_bad_values(const json_fields_t *fields);
uint64_t json_fields_bad_of(const json_fields_t *fields, size_t field);

#endif
