/* json: converts the objects of a JSON text to BSON documents, block by block. Used through `records`. A json_t belongs to
 * one thread. */
#ifndef TIPPLE_FORMAT_JSON_JSON_H
#define TIPPLE_FORMAT_JSON_JSON_H

#include "format/record/bad_values.h"

typedef struct json json_t;

/* keeps_id: documents may bring their own `_id`, which then is theirs also with with_id. Values that do
 * not fit are noted in `bad`. NULL: out of memory. */
json_t *json_new(const schema_t *schema, bool keeps_id, bad_values_t *bad);
void json_destroy(json_t *json);

/* As records_begin. */
void json_begin(json_t *json, const uint8_t *text, uint32_t length, bool file_start, bool with_id,
                int64_t id_base);

/* As records_next. A reject's line and column are those of its mistake. */
parsed_t json_next(json_t *json, uint8_t *out, size_t room, record_t *record);

#endif
