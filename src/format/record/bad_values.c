#include "format/record/bad_values.h"

#include <stdlib.h>

bad_values_t *bad_values_new(const schema_t *schema) {
    const size_t count = schema_counted(schema) + 2;
    bad_values_t *values = calloc(1, sizeof *values + count * sizeof *values->fields);
    if (values)
        values->field_count = count;
    return values;
}

static int order(const bad_place_t *one, const bad_place_t *other) {
    if (one->input != other->input)
        return one->input < other->input ? -1 : 1;
    return (one->offset > other->offset) - (one->offset < other->offset);
}

static void add_place(bad_field_t *field, const bad_place_t *place) {
    size_t at = field->place_count;
    if (at == BAD_VALUES_PLACES && order(place, &field->places[--at]) >= 0)
        return;
    field->place_count = at + 1;
    for (; at && order(place, &field->places[at - 1]) < 0; at--)
        field->places[at] = field->places[at - 1];
    field->places[at] = *place;
}

void bad_values_settle(bad_values_t *values) {
    for (size_t i = 0; values->any_recent && i < values->field_count; i++) {
        bad_field_t *field = &values->fields[i];
        if (!field->recent)
            continue;
        add_place(field, &values->record);
        field->count += field->recent;
        if (i != bad_values_twice(values)) {
            values->count += field->recent;
            values->became[values->by] += field->recent;
        }
        field->recent = 0;
    }
    values->any_recent = false;
}

void bad_values_note(bad_values_t *values, size_t field, uint64_t count, const record_t *record) {
    const bad_place_t place = {.input = values->text.input,
                               .offset = values->text.offset + record->offset,
                               .line = values->text.line + record->line,
                               .lines_from = values->text.lines_from};
    if (!values->any_recent || order(&place, &values->record) != 0)
        bad_values_settle(values);
    values->record = place;
    values->any_recent = true;
    values->fields[field].recent += count;
}

void bad_values_take_back(bad_values_t *values, const record_t *record) {
    if (!values->any_recent || values->record.offset != values->text.offset + record->offset)
        return;
    for (size_t i = 0; i < values->field_count; i++)
        values->fields[i].recent = 0;
    values->any_recent = false;
}

void bad_values_add(bad_values_t *values, const bad_values_t *more) {
    values->count += more->count;
    values->binary |= more->binary;
    for (size_t i = 0; i < BAD_VALUES; i++)
        values->became[i] += more->became[i];
    for (size_t i = 0; i < values->field_count; i++) {
        values->fields[i].count += more->fields[i].count;
        for (size_t j = 0; j < more->fields[i].place_count; j++)
            add_place(&values->fields[i], &more->fields[i].places[j]);
    }
}
