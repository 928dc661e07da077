#include "load/before/unfit_values.h"
#include "base/bson/element.h"
#include "base/numbers/units.h"
#include "base/text.h"
#include "format/bad_values.h"
#include "format/schema/schema_bad_value.h"

#include <stdlib.h>
#include <string.h>

/* Of an array each element is tried. key: what is left of it. */
static bool has_key(bson_iter_t *at, bool array, const char *key) {
    const size_t length = strcspn(key, ".");
    const char *left = array ? key : key + length + (key[length] == '.');
    while (element_next(at)) {
        const char *name = bson_iter_key(at);
        bson_iter_t child;
        if (!array && (strncmp(name, key, length) != 0 || name[length]))
            continue;
        if (!*left || ((BSON_ITER_HOLDS_DOCUMENT(at) || BSON_ITER_HOLDS_ARRAY(at)) &&
                       bson_iter_recurse(at, &child) && has_key(&child, BSON_ITER_HOLDS_ARRAY(at), left)))
            return true;
    }
    return false;
}

/* has[i]: an object has the key of the field i. */
static void note_keys(const schema_t *schema, const uint8_t *document, uint32_t length, bool *has) {
    bson_t object;
    bson_iter_t at;
    if (!bson_init_static(&object, document, length))
        return;
    for (size_t i = 0; i < schema_counted(schema); i++)
        has[i] = has[i] ||
                 (bson_iter_init(&at, &object) && has_key(&at, false, schema_counted_field(schema, i)->name));
}

/* has: NULL unless of objects. False: out of memory. */
static bool read_all(records_t *reader, const schema_t *schema, uint64_t *rows, bool *has) {
    records_place_t place = {NULL, 0};
    parsed_t parsed;
    do {
        record_t record;
        parsed = records_next_into(reader, &place, &record, NULL);
        *rows += parsed == PARSED_DOCUMENT || parsed == PARSED_REJECT;
        if (has && parsed == PARSED_DOCUMENT)
            note_keys(schema, place.bytes, record.document_length, has);
        if (has && parsed == PARSED_REJECT) /* nobody knows what it holds */
            memset(has, true, schema_counted(schema) * sizeof *has);
    } while (parsed != PARSED_END && parsed != PARSED_MEMORY);
    free(place.bytes);
    return parsed == PARSED_END;
}

static void tell(text_t *out, const schema_t *schema, const char *name, const bad_values_t *values,
                 uint64_t rows) {
    static const char *const become[BAD_VALUES] = {[BAD_VALUE_TEXT] = "are kept as text",
                                                   [BAD_VALUE_NULL] = "are stored as null",
                                                   [BAD_VALUE_REJECT] = "make their records rejects"};
    char count[UNITS_MAX];
    text_print(out, "of the first %s %s%s of %s, values do not fit their type:", units_count(count, rows),
               schema_any_fields(schema) ? "object" : "row", rows == 1 ? "" : "s", name);
    const size_t before = out->length;
    for (size_t i = 0; i < schema_counted(schema); i++) {
        const bad_field_t *field = bad_values_of(values, i);
        if (field->count)
            text_print(out, "%s %s %s (line %llu%s)", out->length > before ? "," : "",
                       schema_counted_field(schema, i)->name, units_count(count, field->count),
                       (unsigned long long)field->places[0].line, field->count > 1 ? ", ..." : "");
    }
    text_print(out, "; they %s%s",
               !schema->bad_value && schema_any_fields(schema) ? "stay as they are"
                                                               : become[schema->bad_value],
               schema->bad_value ? "" : " (another choice: --on-bad-value)");
}

/* What is left out was there. */
static void tell_missing(text_t *out, const schema_t *schema, const char *name, const bad_values_t *values,
                         uint64_t rows, const bool *has) {
    char count[UNITS_MAX];
    bool any = false;
    for (size_t i = 0; rows && i < schema_counted(schema); i++) {
        if (has[i] || bad_values_of(values, i)->count)
            continue;
        if (any)
            text_print(out, ", ");
        else if (out->length)
            text_print(out, ". None has what --type names: ");
        else
            text_print(out, "of the first %s object%s of %s, none has what --type names: ",
                       units_count(count, rows), rows == 1 ? "" : "s", name);
        text_print(out, "%s", schema_counted_field(schema, i)->name);
        any = true;
    }
}

static bool look(const schema_t *schema, const char *name, bad_values_text_t *text, const dialect_t *dialect,
                 char **line, err_t *err) {
    records_t *reader = records_new(schema);
    bad_values_t *values = bad_values_new(schema);
    bool *has = schema_any_fields(schema) ? calloc(schema_counted(schema) + 1, sizeof *has) : NULL;
    uint64_t rows = 0;
    bool ok = (reader && values && (has || !schema_any_fields(schema))) || err_memory(err, text->length);
    text->dialect = dialect;
    if (ok)
        records_begin(reader, dialect, text->bytes, text->length, true, false, 0);
    ok = ok && (read_all(reader, schema, &rows, has) || err_memory(err, text->length)) &&
         bad_values_look(values, reader, text, err);
    text_t out = {.length = 0};
    if (ok && records_bad_values(reader))
        tell(&out, schema, name, values, rows);
    if (ok && has)
        tell_missing(&out, schema, name, values, rows, has);
    if (ok && out.length)
        ok = (*line = text_take(&out, err)) != NULL;
    free(has);
    bad_values_free(values);
    records_destroy(reader);
    return ok;
}

bool unfit_values_find(const schema_t *schema, const char *name, const uint8_t *text, size_t length,
                       char **line, err_t *err) {
    bad_values_text_t all = {.bytes = text, .length = (uint32_t)length, .file_start = true, .first_line = 1};
    dialect_t *dialect = malloc(sizeof *dialect);
    *line = NULL;
    if (!dialect)
        return err_memory(err, sizeof *dialect);
    /* a beginning that does not fit is told later */
    const bool ok =
        !dialect_sniff_again(schema, text, length, dialect) || look(schema, name, &all, dialect, line, err);
    free(dialect);
    return ok;
}
