/* bad_values: the values that do not fit their field's type: how many each field has, and where the first of them are.
 *
 * Each reader (records.h) notes such a value with its place when it meets it. The values of the last record that has any
 * are kept apart until another record has some or a caller asks, so that a caller who does not store the record's document
 * can take them back (records_leave_out). Fields are numbered as schema_counted_field does; after them comes one for all
 * other fields, which is what records of fixed width count by; and last one for values that do fit, but are local times that
 * there were twice (bad_values_twice), which the count of all fields leaves out. Belongs to one thread. */
#ifndef TIPPLE_FORMAT_RECORD_BAD_VALUES_H
#define TIPPLE_FORMAT_RECORD_BAD_VALUES_H

#include "format/record/record.h"

enum { BAD_VALUES_PLACES = 3 };

typedef struct {
    const void *input;                 /* the caller's; inputs are in the order of their addresses */
    uint64_t offset, line, lines_from; /* line: counted from the offset lines_from on */
} bad_place_t;

typedef struct {
    uint64_t count;
    bad_place_t places[BAD_VALUES_PLACES]; /* the first ones, in order */
    size_t place_count;
    uint64_t recent; /* values of the last record, which are not in `count` yet */
} bad_field_t;

typedef struct {
    uint64_t count;              /* of all fields, */
    uint64_t became[BAD_VALUES]; /* and by what became of them */
    bad_place_t text;            /* where the text that is read begins, */
    bad_value_t by;              /* and what becomes of its values */
    bad_place_t record;          /* the last record that has such values, while they are kept apart */
    bool any_recent;
    bool binary;          /* some that were to stay as texts are binary: their bytes are no text */
    passed_over_t passed; /* lines that are no records, which are counted here, too */
    size_t field_count;
    bad_field_t fields[];
} bad_values_t;

bad_values_t *bad_values_new(const schema_t *schema); /* NULL: out of memory; freed by free */

static inline size_t bad_values_twice(const bad_values_t *values) {
    return values->field_count - 1;
}

/* For readers: `count` values of a field of this record do not fit. */
void bad_values_note(bad_values_t *values, size_t field, uint64_t count, const record_t *record);

/* Takes back what was noted of this record. */
void bad_values_take_back(bad_values_t *values, const record_t *record);

/* Counts what is kept apart. */
void bad_values_settle(bad_values_t *values);

/* Adds those of a reader of the same schema, which are settled. */
void bad_values_add(bad_values_t *values, const bad_values_t *more);

#endif
