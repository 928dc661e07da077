#include "format/record/underline.h"

#include <string.h>

enum { LEAST = 3, LEAST_OF_ONE = 2 };

static bool is_sign(uint8_t byte) {
    return byte == '-' || byte == '=' || byte == '_' || byte == '+';
}

/* Of most records the first bytes tell that they are none. */
static bool is_of_signs(const schema_t *schema, char delimiter, const uint8_t *text, size_t length) {
    const schema_text_t *wide = &schema->wide;
    for (size_t i = 0; i < length; i++)
        if (!is_sign(text[i]) && text[i] != ' ' && text[i] != '\t' && text[i] != (uint8_t)delimiter &&
            (!schema->quote || text[i] != (uint8_t)schema->quote) &&
            !(wide->length && memchr(wide->text, text[i], wide->length)))
            return false;
    return true;
}

/* How many of its bytes are such signs; 0 if others are in it. *plus: so many of them are +. */
static size_t count_signs(const span_t *span, size_t *plus) {
    size_t signs = 0;
    *plus = 0;
    for (size_t i = 0; i < span->length; i++) {
        const uint8_t byte = span->text[i];
        if (!is_sign(byte) && byte != ' ' && byte != '\t')
            return 0;
        signs += is_sign(byte);
        *plus += byte == '+';
    }
    return signs;
}

underline_t underline_look(split_t *split, const schema_t *schema, char delimiter, const uint8_t *record,
                           size_t length) {
    size_t all = 0, most = 0;
    if (length < LEAST || !underline_may_be(schema, *record) ||
        !is_of_signs(schema, delimiter, record, length))
        return UNDERLINE_NOT;
    if (!split_record(split, schema, delimiter, record, length))
        return UNDERLINE_MEMORY;
    for (size_t i = 0, plus; i < split->count; i++) {
        const size_t signs = count_signs(&split->spans[i], &plus);
        if (!signs)
            return UNDERLINE_NOT;
        all += signs - plus;
        most = signs - plus > most ? signs - plus : most;
    }
    return all >= LEAST && most >= LEAST_OF_ONE ? UNDERLINE_IS : UNDERLINE_NOT;
}
