#include "format/record/first_line.h"
#include "format/record/dialect.h"

#include <string.h>

void first_line_note(first_line_t *first, const schema_t *schema, const uint8_t *text, size_t length) {
    size_t begins, ends;
    const bool kept = dialect_first_line(schema, text, length, false, &begins, &ends) &&
                      ends - begins <= sizeof first->line;
    first->length = kept ? ends - begins : 0;
    memcpy(first->line, text + begins, first->length);
}

bool first_line_is(const first_line_t *first, const schema_t *schema, const uint8_t *text, size_t length) {
    size_t begins, ends;
    return first->length && dialect_first_line(schema, text, length, false, &begins, &ends) &&
           ends - begins == first->length && memcmp(text + begins, first->line, first->length) == 0;
}
