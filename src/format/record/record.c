#include "base/document.h"
#include "format/record/record.h"
#include "format/types.h"

#include <stdlib.h>
#include <string.h>

#define NO_VALUE  "the record has no value in the field of --id"
#define TOO_LARGE "its _id would be larger than the rest of it"

/* ---- which fields ---- */

static const char *last_part(const char *path) {
    const char *dot = strrchr(path, '.');
    return dot ? dot + 1 : path;
}

static bool add_field(const schema_t *schema, own_id_t *id, const char *name, err_t *err) {
    const field_t *field = schema_any_fields(schema) ? NULL : schema_field(schema, name);
    const char *path = field ? field->key : name;
    suggestion_t near;
    if (id->count == OWN_ID_MOST)
        return err_set(err, STATUS_USAGE, "--id %s: more than %d fields", id->text, OWN_ID_MOST);
    if (!*name || !schema_makes(schema, path, &near) || strcmp(path, "_id") == 0)
        return err_set(err, STATUS_USAGE, "--id %s: the documents of the format '%s' have no field '%s'%s",
                       id->text, schema->name, name, near.text);
    for (size_t i = 0; i < id->count; i++)
        if (strcmp(last_part(id->paths[i]), last_part(path)) == 0)
            return err_set(err, STATUS_USAGE, "--id %s: two of its fields end in '%s'", id->text,
                           last_part(path));
    id->paths[id->count++] = path;
    return true;
}

bool own_id_set(schema_t *schema, const char *fields, err_t *err) {
    const size_t length = strlen(fields) + 1;
    schema->id = NULL;
    if (!*fields)
        return true;
    if (length > OWN_ID_ROOM / 2)
        return err_set(err, STATUS_USAGE, "--id: its fields have more than %d bytes", OWN_ID_ROOM / 2 - 1);
    own_id_t *id = schema_own(schema, sizeof *id, err);
    char *text = id ? schema_own(schema, 2 * length, err) : NULL;
    if (!text)
        return false;
    id->text = memcpy(text, fields, length);
    id->kept = schema_any_fields(schema) && strcmp(fields, "_id") == 0;
    for (char *at = memcpy(text + length, fields, length), *next; at && !id->kept; at = next) {
        if ((next = strchr(at, ',')))
            *next++ = '\0';
        if (!add_field(schema, id, at, err))
            return false;
    }
    schema->id = id;
    return true;
}

bool own_id_decides(const own_id_t *id, const char *path, err_t *err) {
    bool decides = id->kept || strcmp(path, "_id") == 0;
    for (size_t i = 0; i < id->count; i++)
        decides |= strcmp(id->paths[i], path) == 0;
    return decides ||
           err_set(err, STATUS_USAGE,
                   "--id %s does not go with '%s' in the shard key: two records with one _id could be on two "
                   "shards, and nobody would notice; use _id or fields of --id as the shard key",
                   id->text, path);
}

/* ---- a document ---- */

/* A key with a $ is only taken as one of a reference to a document: $ref, $id and then maybe $db, in this order. */
static bool has_dollar(const bson_iter_t *value) {
    static const char *const reference[] = {"$ref", "$id", "$db"};
    const bool document = BSON_ITER_HOLDS_DOCUMENT(value);
    bson_iter_t key;
    size_t taken = 0;
    if (!(document || BSON_ITER_HOLDS_ARRAY(value)) || !bson_iter_recurse(value, &key))
        return false;
    for (size_t i = 0; element_next(&key); i++) {
        const char *name = bson_iter_key(&key);
        const bool dollar = document && name[0] == '$';
        if ((dollar && (taken != i || i == COUNT(reference) || strcmp(name, reference[i]) != 0)) ||
            has_dollar(&key))
            return true;
        taken += dollar;
    }
    return taken == 1;
}

/* Why a server does not take the value for an `_id`, or could not be asked for it; NULL: it does. */
static const char *refusal_of(const bson_iter_t *value) {
    if (BSON_ITER_HOLDS_UNDEFINED(value) || BSON_ITER_HOLDS_ARRAY(value) || BSON_ITER_HOLDS_REGEX(value))
        return "undefined, an array or a regular expression cannot be an _id";
    return has_dollar(value) ? "an _id cannot have a key that begins with $" : NULL;
}

/* Appends the value of a field. Returns why no `_id` can have it; NULL: it is appended. */
static const char *append_value(bson_t *to, const char *key, const bson_t *document, const char *path) {
    bson_iter_t value;
    if (!element_at(document, path, &value) || BSON_ITER_HOLDS_NULL(&value))
        return NO_VALUE; /* of two records without a value the second would be lost */
    const char *const why = refusal_of(&value);
    return why || element_append(to, key, &value) ? why : TOO_LARGE;
}

/* Appends the element `_id` that is made of the fields. */
static const char *make(const own_id_t *id, const bson_t *document, bson_t *made, const char **field) {
    bson_t all;
    const char *why = NULL;
    if (id->count == 1)
        return append_value(made, "_id", document, *field = id->paths[0]);
    bson_append_document_begin(made, "_id", 3, &all);
    for (size_t i = 0; !why && i < id->count; i++)
        why = append_value(&all, last_part(id->paths[i]), document, *field = id->paths[i]);
    return bson_append_document_end(made, &all) ? why : TOO_LARGE;
}

bool own_id_put(const own_id_t *id, uint8_t *document, size_t room, record_t *record) {
    bson_t whole, made = BSON_INITIALIZER;
    bson_iter_t kept;
    bson_init_static(&whole, document, record->document_length);
    record->column = 1;
    record->field = "_id";
    if (id->kept) {
        record->reason = element_of(&whole, "_id", &kept) ? refusal_of(&kept) : NULL;
        return !record->reason;
    }
    record->reason = make(id, &whole, &made, &record->field);
    const uint32_t bytes = made.len - 5, after = 4 + BSONW_ID; /* its own, and the place that it takes */
    const size_t length = record->document_length - BSONW_ID + (size_t)bytes;
    if (length > room) /* fields within fields */
        record->reason = TOO_LARGE;
    if (!record->reason) {
        memmove(document + 4 + bytes, document + after, record->document_length - after);
        memcpy(document + 4, bson_get_data(&made) + 4, bytes);
        bsonw_int32(document, (int32_t)length);
        record->document_length = (uint32_t)length;
    }
    bson_destroy(&made);
    return !record->reason;
}

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
