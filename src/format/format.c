#include "format/format.h"
#include "base/threads.h"
#include "builtin/builtin.h"
#include "format/schema/schema.h"
#include "format/types.h"

#include <stdlib.h>
#include <string.h>

/* A constant must be a value of its type. */
static bool check_constant(const schema_t *schema, const make_t *made, err_t *err) {
    const field_t *field = &made->field;
    uint8_t text[SCHEMA_MOST_CONSTANT + POOL_SLACK] = {0}, value[TYPES_VALUE], type;
    char sentence[VALUE_MISFIT];
    if (made->kind != MAKE_CONSTANT || field->type == TYPE_TEXT || field->type == TYPE_TRIMMED)
        return true;
    memcpy(text, made->text.text, made->text.length);
    if (value_read(field, NULL, ENCODING_NONE, text, made->text.length, &type, value))
        return true;
    value_misfit(field, text, made->text.length, sentence);
    return yaml_tree_complain(schema->tree, field->at, err, "%s", sentence);
}

schema_t *format_open(const char *name, err_t *err) {
    opened_t opened;
    if (!builtin_open(builtin_formats, "format", name, &opened, err))
        return NULL;
    schema_t *schema = schema_parse(opened.text, opened.length, name, err);
    free(opened.text);
    bool ok = schema != NULL;
    for (size_t i = 0; ok && i < schema->made_count; i++)
        ok = check_constant(schema, &schema->made[i], err);
    if (ok)
        return schema;
    schema_destroy(schema);
    return NULL;
}
