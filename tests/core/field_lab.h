/* field_lab: tables of one field's texts: what each becomes, and what is written of it again. */
#ifndef TIPPLE_TESTS_FIELD_LAB_H
#define TIPPLE_TESTS_FIELD_LAB_H

#include "format_lab.h"
#include "test.h"

/* value: as canonical extended JSON with ' for "; NULL: it stays the text that it is. back: what is written of the value;
 * NULL: the text. */
typedef struct {
    const char *text, *value, *back;
    bool kept; /* counted as kept as text */
} field_case_t;

LAB_UNUSED bson_t *field_document(const char *text, const char *value) {
    char json[600];
    bson_error_t problem;
    bson_t *document = bson_new();
    if (!value) {
        BSON_APPEND_UTF8(document, "a", text);
        return document;
    }
    snprintf(json, sizeof json, "{'a':%s}", value);
    for (char *at = json; *at; at++)
        *at = *at == '\'' ? '"' : *at;
    bson_destroy(document);
    if (!(document = bson_new_from_json((const uint8_t *)json, -1, &problem)))
        fail_msg("%s: %s", json, problem.message);
    return document;
}

LAB_UNUSED void field_back(emit_t *emit, const dialect_t *dialect, const lab_record_t *one,
                           const char *expected) {
    err_t err = {.text = ""};
    bson_t document;
    const uint8_t *row;
    size_t length;
    LAB_MUST(bson_init_static(&document, one->document, one->record.document_length));
    if (!emit_record(emit, dialect, &document, &one->shape, &row, &length, &err))
        fail_msg("%s: %s", expected, err.text);
    if (length != strlen(expected) || memcmp(row, expected, length) != 0)
        fail_msg("%s is written as %.*s", expected, (int)length, (const char *)row);
}

/* field: what is in its braces after the name, such as ", type: int"; record: the same of the record. */
LAB_UNUSED void field_expect(const char *record, const char *field, const field_case_t *one) {
    char yaml[600];
    err_t err = {.text = ""};
    dialect_t dialect;
    snprintf(yaml, sizeof yaml,
             "format: x\nrecord: {delimiter: \"|\", header: no%s}\nfields:\n  - {name: a%s}\n", record,
             field);
    schema_t *schema = lab_schema(yaml);
    records_t *reader = records_new(schema);
    emit_t *emit = emit_new(schema);
    LAB_MUST(reader && emit &&
             dialect_sniff(schema, (const uint8_t *)one->text, strlen(one->text), "f.csv", &dialect, &err));
    bson_t *expected = field_document(one->text, one->value);
    for (int careful = 0; careful < 2; careful++) {
        lab_records_t got =
            lab_parse(reader, &dialect, one->text, strlen(one->text), (lab_how_t){.careful = careful});
        const lab_record_t *first = got.records;
        LAB_MUST(got.count == 1 && first->parsed == PARSED_DOCUMENT);
        if (first->record.document_length != expected->len ||
            memcmp(first->document, bson_get_data(expected), expected->len) != 0) {
            bson_t is;
            LAB_MUST(bson_init_static(&is, first->document, first->record.document_length));
            fail_msg("'%s' of {%s} becomes %s", one->text, field, bson_as_canonical_extended_json(&is, NULL));
        }
        assert_int_equal(records_bad(reader)->count, one->kept ? 1 + careful : 0);
        if (careful)
            field_back(emit, &dialect, first, one->back ? one->back : one->text);
        lab_records_free(&got);
    }
    bson_destroy(expected);
    emit_destroy(emit);
    records_destroy(reader);
    schema_destroy(schema);
}

LAB_UNUSED void field_table(const char *record, const char *field, const field_case_t *cases) {
    for (; cases->text; cases++)
        field_expect(record, field, cases);
}

/* What is after the name of a field is a mistake, at this place of the format file. */
LAB_UNUSED void field_mistake(const char *record, const char *field, const char *place, const char *says) {
    char yaml[400], expected[40];
    err_t err = {.text = ""};
    snprintf(yaml, sizeof yaml, "format: x\nrecord: {delimiter: \";\"%s}\nfields:\n  - {name: a%s}\n", record,
             field);
    snprintf(expected, sizeof expected, "f.yaml:%s: ", place);
    schema_t *schema = schema_parse(yaml, strlen(yaml), "f.yaml", &err);
    if (schema || err.status != STATUS_USAGE || strncmp(err.text, expected, strlen(expected)) != 0 ||
        !strstr(err.text, says))
        fail_msg("%s: %s", field, schema ? "taken" : err.text);
}

/* Becomes this value, and the text again; or another text; or stays text; or bytes. */
#define IS(text, value)                                                                                      \
    { text, value, NULL, false }
#define BACK(text, value, back)                                                                              \
    { text, value, back, false }
#define KEPT(text)                                                                                           \
    { text, NULL, NULL, true }
#define BYTES(text, value)                                                                                   \
    { text, value, NULL, true }

#define FIELD_TABLE(record, field, ...)                                                                      \
    field_table(record, field, (const field_case_t[]){__VA_ARGS__, KEPT(NULL)})

#endif
