#include "format/format.h"
#include "builtin/builtin.h"

#include <stdlib.h>

schema_t *format_open(const char *name, err_t *err) {
    opened_t opened;
    if (!builtin_open(builtin_formats, "format", name, &opened, err))
        return NULL;
    schema_t *schema = schema_parse(opened.text, opened.length, name, err);
    free(opened.text);
    return schema;
}
