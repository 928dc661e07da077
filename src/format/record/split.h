/* split: one record into its fields the careful way: quotes, escapes, surplus fields. Used for the rows that
 * have any of those, for headers, and to check what emit writes. */
#ifndef TIPPLE_FORMAT_RECORD_SPLIT_H
#define TIPPLE_FORMAT_RECORD_SPLIT_H

#include "format/schema/schema.h"

enum { SPLIT_MOST = 4096 };

typedef struct {
    const uint8_t *text; /* into the record, or into scratch where an escape was taken out */
    uint32_t length;
    uint32_t at;         /* the field's first byte in the record, quote included */
    uint32_t raw_length; /* with quotes and escapes */
} span_t;

typedef struct split {
    span_t spans[SPLIT_MOST];
    size_t count;
    bool quoted;      /* a field stood in quotes */
    bool backslash;   /* an escape was a backslash */
    bool too_many;    /* more than SPLIT_MOST fields: count stopped there */
    uint8_t *scratch; /* unescaped text; grows, owned by the split */
    size_t scratch_room;
} split_t;

/* Splits record[0, length) (without its line end). A field whose first byte is the quote and that is closed
 * before a delimiter or the end is a quoted one; inside, a doubled quote or (where the format has it) a
 * backslash before a quote is a quote. When that reading finds no proper end, a backslash is taken for
 * itself; when that finds none either, the field is not a quoted one. False: out of memory. */
bool split_record(split_t *split, const schema_t *schema, char delimiter, const uint8_t *record,
                  size_t length);
void split_free(split_t *split);

/* Too many fields: the surplus one takes everything between `left` fields from the left and `right` ones from
 * the right, delimiters included. Afterwards count == left + 1 + right. */
void split_merge(split_t *split, const uint8_t *record, size_t left, size_t right);

#endif
