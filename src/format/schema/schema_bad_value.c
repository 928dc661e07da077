#include "format/schema/schema_bad_value.h"
#include "base/numbers.h"
#include "format/schema/schema.h"
#include "format/schema/schema_read.h"

#include <string.h>

const char *const schema_bad_values[BAD_VALUES] = {
    [BAD_VALUE_TEXT] = "text", [BAD_VALUE_NULL] = "null", [BAD_VALUE_REJECT] = "reject"};

static const char *const became[BAD_VALUES] = {[BAD_VALUE_TEXT] = "kept as text",
                                               [BAD_VALUE_NULL] = "stored as null",
                                               [BAD_VALUE_REJECT] = "rejected with their records"};

void schema_tell_bad(text_t *out, bad_value_t bad_value, bool stay, uint64_t count) {
    char text[UNITS_MAX];
    text_print(out, "%s: %s value%s not what %s field's type says",
               !bad_value && stay ? "kept as they are" : became[bad_value], units_count(text, count),
               count == 1 ? " that is" : "s that are", count == 1 ? "its" : "their");
}

/* Why there is no choice; NULL: there is. */
static const char *refusal(const schema_t *schema) {
    return schema->kind == RECORDS_DELIMITED || (schema->kind == RECORDS_JSON && schema->field_count) ? NULL
           : schema_any_fields(schema)
               ? "its values have the types that they are written with, so that none can be a bad one"
               : "records of fixed width keep what does not fit as text, so that each can be written again";
}

bool schema_read_bad_value(reader_t *reader, const yaml_item_t *root) {
    const yaml_item_t *node = yaml_item_get(root, "on_bad_value");
    if (!node)
        return true;
    if (refusal(reader->schema))
        return COMPLAIN(node,
                        "'on_bad_value' is for delimited records, and for JSON with types ('fields'): %s",
                        refusal(reader->schema));
    for (size_t i = 0; node->kind == YAML_ITEM_SCALAR && i < BAD_VALUES; i++)
        if (strcmp(node->text, schema_bad_values[i]) == 0) {
            reader->schema->bad_value = (bad_value_t)i;
            return true;
        }
    return schema_not_gone(reader, node, GONE_BAD_VALUE) &&
           COMPLAIN(node, "text, null or reject was expected: what becomes of a value that does not fit its "
                          "field's type");
}

bool schema_set_bad_value(schema_t *schema, bad_value_t bad_value, err_t *err) {
    if (bad_value != BAD_VALUE_TEXT && refusal(schema))
        return err_set(
            err, STATUS_USAGE,
            "--on-bad-value is for delimited records and JSON with types, and the format %s is neither: %s",
            schema->name, refusal(schema));
    schema->bad_value = bad_value;
    return schema_digest(schema, err);
}

bool schema_digest_tells(const schema_t *schema, const char *digest, bad_value_t *then) {
    err_t ignored;
    for (size_t i = 0; i < BAD_VALUES; i++) {
        schema_t other = *schema;
        other.bad_value = (bad_value_t)i;
        if ((i && refusal(schema)) || !schema_digest(&other, &ignored) || strcmp(other.digest, digest) != 0)
            continue;
        *then = (bad_value_t)i;
        return true;
    }
    return false;
}
