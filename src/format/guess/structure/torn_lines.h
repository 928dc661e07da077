/* torn_lines: text that knows no quotes, as many exports of tables, and has some all the same ("Rome, and lines later
 * Brave"): read with quotes, whole records vanish in a field, and all seems well. Is a record of several lines such a one? */
#ifndef TIPPLE_FORMAT_GUESS_STRUCTURE_TORN_LINES_H
#define TIPPLE_FORMAT_GUESS_STRUCTURE_TORN_LINES_H

#include "format/cut/split.h"

typedef enum {
    TORN_NOT,
    TORN_MAYBE,  /* each of its lines looks like a record, with numbers and dates where others have them */
    TORN_SURELY, /* each has as many tabs or | as a record takes; a text seldom has these */
    TORN_MEMORY,
} torn_lines_t;

/* The field that goes on in another line: which one, and where it begins. */
typedef struct {
    size_t column;
    uint32_t at;
} torn_field_t;

/* Of record[0, length), without its line end, which holds a line end in quotes. The split is used up. */
torn_lines_t torn_lines(split_t *split, const schema_t *schema, char delimiter, size_t columns,
                        const uint8_t *record, size_t length, torn_field_t *field);

#endif
