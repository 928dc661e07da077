/* underline: a line that some programs write below the names of columns, again on each page: `--;----;-`, `==== ====`, `___`. */
#ifndef TIPPLE_FORMAT_RECORD_UNDERLINE_H
#define TIPPLE_FORMAT_RECORD_UNDERLINE_H

#include "format/cut/split.h"

/* May a record that begins so be one? */
static inline bool underline_may_be(const schema_t *schema, uint8_t first) {
    return first == '-' || first == '=' || first == '_' || first == '+' ||
           (schema->quote && first == (uint8_t)schema->quote);
}

/* Is nothing in the record's fields but - = _ + and blanks, each of them with such a sign, three in all that are no +, and two in
 * one field? A lone - is a value that is missing, and + or +++ a mark. Splits what may be one. */
typedef enum { UNDERLINE_NOT, UNDERLINE_IS, UNDERLINE_MEMORY } underline_t;
underline_t underline_look(split_t *split, const schema_t *schema, char delimiter, const uint8_t *record,
                           size_t length);

#endif
