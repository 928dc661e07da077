/* schema_bad_value: what a format does with a value that does not fit its field's type, by its word: text, null or
 * reject. Only delimited records and JSON with types have the choice. */
#ifndef TIPPLE_FORMAT_SCHEMA_SCHEMA_BAD_VALUE_H
#define TIPPLE_FORMAT_SCHEMA_SCHEMA_BAD_VALUE_H

#include "base/text.h"
#include "format/schema/schema.h"

/* "kept as text: 2 values that are not what their field's type says". stay: the format has no types, but a person has
 * named some. */
void schema_tell_bad(text_t *out, bad_value_t bad_value, bool stay, uint64_t count);

extern const char *const schema_bad_values[BAD_VALUES];

/* Another choice than the format file's, before anything is compiled from the schema: then it is another format, with
 * its own digest. False: this kind of records has no choice (status 1). */
bool schema_set_bad_value(schema_t *schema, bad_value_t bad_value, err_t *err);

/* Is this the digest of the same format with another choice (or with the same one)? *then: which. */
bool schema_digest_tells(const schema_t *schema, const char *digest, bad_value_t *then);

#endif
