/* bad_values: the values that do not fit their field's type: how many each field has, and where the first of them are.
 * Readers only count them; a text with places that are not known yet is read again. Belongs to one thread. */
#ifndef TIPPLE_FORMAT_BAD_VALUES_H
#define TIPPLE_FORMAT_BAD_VALUES_H

#include "base/err.h"
#include "format/filter.h"
#include "format/records.h"

enum { BAD_VALUES_PLACES = 3 };

/* A text that a reader has read, and where it comes from. */
typedef struct {
    const uint8_t *bytes; /* as records_begin wants it */
    uint32_t length;
    const dialect_t *dialect;
    bool file_start;
    const void *input; /* the caller's; inputs are in the order of their addresses */
    uint64_t offset;   /* in the input */
    uint64_t first_line, lines_from;
    const filter_t *filter; /* or NULL: values of documents that do not pass are none */
} bad_values_text_t;

typedef struct {
    const void *input;
    uint64_t offset, line, lines_from; /* line: of those from the offset lines_from on */
} bad_place_t;

typedef struct {
    uint64_t count;
    bad_place_t places[BAD_VALUES_PLACES]; /* the first ones, in order */
    size_t place_count;
} bad_field_t;

typedef struct bad_values bad_values_t;

bad_values_t *bad_values_new(const schema_t *schema); /* NULL: out of memory */
void bad_values_free(bad_values_t *values);           /* NULL is allowed */

/* After a text was read by `reader`, always the same one. False: out of memory. */
bool bad_values_look(bad_values_t *values, const records_t *reader, const bad_values_text_t *text,
                     err_t *err);

void bad_values_add(bad_values_t *values, const bad_values_t *more);

/* How many of the reader's values are in documents that a filter left out. */
uint64_t bad_values_left_out(const bad_values_t *values);

/* By the number of the field in the schema, as of schema_counted_field. */
const bad_field_t *bad_values_of(const bad_values_t *values, size_t field);

#endif
