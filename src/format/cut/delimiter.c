#include "format/cut/delimiter.h"

const uint8_t *delimiter_find_wide(const schema_t *schema, const uint8_t *text, size_t length, size_t from) {
    if (!schema->blanks)
        return memmem(text + from, length - from, schema->wide.text, schema->wide.length);
    while (from < length && !delimiter_is_blank(text[from]))
        from++;
    return from < length ? text + from : NULL;
}
