#include "format/bad_values.h"

#include <stdlib.h>
#include <string.h>

struct bad_values {
    const schema_t *schema;
    uint64_t seen; /* of the reader's, in all */
    uint64_t left_out;
    uint64_t *again_seen; /* of `again`, by field */
    bad_field_t *fields;
    uint64_t *seen_of;
    records_t *again; /* made when a text is read again */
    records_place_t place;
};

bad_values_t *bad_values_new(const schema_t *schema) {
    bad_values_t *values = calloc(1, sizeof *values);
    const size_t count = schema_counted(schema) + 1;
    if (!values)
        return NULL;
    values->schema = schema;
    values->fields = calloc(count, sizeof *values->fields);
    values->seen_of = calloc(count, sizeof *values->seen_of);
    values->again_seen = calloc(count, sizeof *values->again_seen);
    if (values->fields && values->seen_of && values->again_seen)
        return values;
    bad_values_free(values);
    return NULL;
}

void bad_values_free(bad_values_t *values) {
    if (!values)
        return;
    records_destroy(values->again);
    free(values->place.bytes);
    free(values->fields);
    free(values->seen_of);
    free(values->again_seen);
    free(values);
}

static int order(const bad_place_t *one, const bad_place_t *other) {
    if (one->input != other->input)
        return one->input < other->input ? -1 : 1;
    return (one->offset > other->offset) - (one->offset < other->offset);
}

/* Is it before one of the first? */
static bool is_early(const bad_field_t *field, const bad_place_t *place) {
    return field->place_count < BAD_VALUES_PLACES || order(place, &field->places[BAD_VALUES_PLACES - 1]) < 0;
}

static void add_place(bad_field_t *field, const bad_place_t *place) {
    size_t at = field->place_count;
    if (!is_early(field, place))
        return;
    if (at == BAD_VALUES_PLACES)
        at--;
    else
        field->place_count++;
    for (; at && order(place, &field->places[at - 1]) < 0; at--)
        field->places[at] = field->places[at - 1];
    field->places[at] = *place;
}

/* Does the filter leave the record out, so that nothing becomes of its values? */
static bool is_left_out(const bad_values_t *values, const bad_values_text_t *text, parsed_t parsed,
                        const record_t *record) {
    return text->filter && parsed == PARSED_DOCUMENT &&
           !filter_passes(text->filter, values->place.bytes, record->document_length);
}

static void note_record(bad_values_t *values, const bad_values_text_t *text, const record_t *record,
                        bool left_out) {
    const bad_place_t place = {.input = text->input,
                               .offset = text->offset + record->offset,
                               .line = text->first_line + record->line,
                               .lines_from = text->lines_from};
    for (size_t i = 0; i < schema_counted(values->schema); i++) {
        const uint64_t count = records_bad_of(values->again, i);
        if (left_out)
            values->fields[i].count -= count - values->again_seen[i];
        else if (count != values->again_seen[i])
            add_place(&values->fields[i], &place);
        values->again_seen[i] = count;
    }
}

/* The same records once more, one by one, until `count` values were found. */
static bool read_again(bad_values_t *values, const bad_values_text_t *text, uint64_t count, err_t *err) {
    if (!values->again && !(values->again = records_new(values->schema)))
        return err_memory(err, text->length);
    const uint64_t before = records_bad_values(values->again);
    uint64_t now = before;
    records_begin(values->again, text->dialect, text->bytes, text->length, text->file_start,
                  text->filter != NULL, 0);
    while (now - before < count) {
        record_t record;
        const parsed_t parsed = records_next_into(values->again, &values->place, &record, NULL);
        if (parsed == PARSED_MEMORY)
            return err_memory(err, text->length);
        if (parsed == PARSED_END)
            break;
        const uint64_t more = records_bad_values(values->again) - now;
        const bool left_out = more && is_left_out(values, text, parsed, &record);
        if (more)
            note_record(values, text, &record, left_out);
        values->left_out += left_out ? more : 0;
        now += more;
    }
    return true;
}

bool bad_values_look(bad_values_t *values, const records_t *reader, const bad_values_text_t *text,
                     err_t *err) {
    const uint64_t now = records_bad_values(reader), more = now - values->seen;
    const bad_place_t begin = {.input = text->input, .offset = text->offset};
    bool again = text->filter != NULL;
    if (!more)
        return true;
    values->seen = now;
    for (size_t i = 0; i < schema_counted(values->schema); i++) {
        const uint64_t count = records_bad_of(reader, i);
        if (count != values->seen_of[i])
            again |= is_early(&values->fields[i], &begin);
        values->fields[i].count += count - values->seen_of[i];
        values->seen_of[i] = count;
    }
    return !again || read_again(values, text, more, err);
}

uint64_t bad_values_left_out(const bad_values_t *values) {
    return values->left_out;
}

void bad_values_add(bad_values_t *values, const bad_values_t *more) {
    for (size_t i = 0; i < schema_counted(values->schema); i++) {
        values->fields[i].count += more->fields[i].count;
        for (size_t j = 0; j < more->fields[i].place_count; j++)
            add_place(&values->fields[i], &more->fields[i].places[j]);
    }
}

const bad_field_t *bad_values_of(const bad_values_t *values, size_t field) {
    return &values->fields[field];
}
