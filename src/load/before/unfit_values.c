#include "load/before/unfit_values.h"
#include "base/numbers/units.h"
#include "base/text.h"
#include "format/bad_values.h"
#include "format/schema/schema_bad_value.h"

#include <stdlib.h>

/* False: out of memory. */
static bool read_all(records_t *reader, uint64_t *rows) {
    records_place_t place = {NULL, 0};
    parsed_t parsed;
    do {
        record_t record;
        parsed = records_next_into(reader, &place, &record, NULL);
        *rows += parsed == PARSED_DOCUMENT || parsed == PARSED_REJECT;
    } while (parsed != PARSED_END && parsed != PARSED_MEMORY);
    free(place.bytes);
    return parsed == PARSED_END;
}

static void tell(text_t *out, const schema_t *schema, const char *name, const bad_values_t *values,
                 uint64_t rows) {
    static const char *const become[BAD_VALUES] = {[BAD_VALUE_TEXT] = "are kept as text",
                                                   [BAD_VALUE_NULL] = "are stored as null",
                                                   [BAD_VALUE_SKIP] = "are left out",
                                                   [BAD_VALUE_REJECT] = "make their records rejects",
                                                   [BAD_VALUE_STOP] = "end the load"};
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

static bool look(const schema_t *schema, const char *name, bad_values_text_t *text, const dialect_t *dialect,
                 char **line, err_t *err) {
    records_t *reader = records_new(schema);
    bad_values_t *values = bad_values_new(schema);
    uint64_t rows = 0;
    bool ok = (reader && values) || err_memory(err, text->length);
    text->dialect = dialect;
    if (ok)
        records_begin(reader, dialect, text->bytes, text->length, true, false, 0);
    ok = ok && (read_all(reader, &rows) || err_memory(err, text->length)) &&
         bad_values_look(values, reader, text, err);
    if (ok && records_bad_values(reader)) {
        text_t out = {.length = 0};
        tell(&out, schema, name, values, rows);
        ok = (*line = text_take(&out, err)) != NULL;
    }
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
