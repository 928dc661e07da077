#include "format/format.h"
#include "builtin/builtin.h"
#include "format/complete.h"
#include "format/schema/schema_parse.h"

#include <stdlib.h>

schema_t *format_open(const char *name, err_t *err) {
    opened_t opened;
    if (!builtin_open(builtin_formats, "format", name, &opened, err))
        return NULL;
    schema_t *schema = schema_parse(opened.text, opened.length, name, err);
    free(opened.text);
    if (!schema || format_complete(schema, name, err))
        return schema;
    schema_destroy(schema);
    return NULL;
}

bool format_validate(schema_t *schema, err_t *err) {
    schema->validate = schema->kind == RECORDS_BSON;
    return schema->validate ||
           err_set(err, STATUS_USAGE, "--validate is for BSON, and the format %s makes its documents of text",
                   schema->name);
}
