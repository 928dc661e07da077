/* fixed_lab: what the tests of records by width share: small formats, records of isd, documents as JSON. */
#ifndef TIPPLE_TESTS_FIXED_LAB_H
#define TIPPLE_TESTS_FIXED_LAB_H

#include "format/format.h"
#include "format_lab.h"

/* A record of isd in which everything is absent that can be; its count is made right by lab_isd. */
#define ISD_NOTHING                                                                                          \
    "0000999999999992014010206009+99999+99999999999+999999999V020"                                           \
    "999999999999999999999999999+99999+99999999999"

typedef struct {
    schema_t *schema;
    records_t *reader;
    emit_t *emit;
} fixed_lab_t;

LAB_UNUSED fixed_lab_t fixed_lab_of(schema_t *schema) {
    fixed_lab_t lab = {schema, records_new(schema), emit_new(schema)};
    LAB_MUST(lab.reader && lab.emit);
    return lab;
}

LAB_UNUSED void fixed_lab_end(fixed_lab_t *lab) {
    records_destroy(lab->reader);
    emit_destroy(lab->emit);
    schema_destroy(lab->schema);
}

/* All records of a text, as a file's. */
LAB_UNUSED lab_records_t fixed_lab_parse(const fixed_lab_t *lab, const void *text, size_t length,
                                         bool careful) {
    static dialect_t dialect;
    err_t err;
    LAB_MUST(dialect_sniff(lab->schema, text, length, "lab.txt", &dialect, &err));
    return lab_parse(lab->reader, &dialect, text, length, (lab_how_t){.careful = careful});
}

/* A document from relaxed JSON: 1 is int32, 1.0 a double. */
LAB_UNUSED bson_t *fixed_lab_json(const char *json) {
    bson_error_t error;
    bson_t *document = bson_new_from_json((const uint8_t *)json, -1, &error);
    if (!document)
        dprintf(2, "%s: %s\n", error.message, json);
    LAB_MUST(document);
    return document;
}

/* Is a line with this record this document, and the document this record again? Prints what is wrong. */
LAB_UNUSED bool fixed_lab_is(const fixed_lab_t *lab, const void *record, size_t length, const char *json) {
    grown_t line = {0};
    grown_add(&line, record, length);
    grown_text(&line, "\n");
    lab_records_t all = fixed_lab_parse(lab, line.at, line.size, true);
    grown_free(&line);
    LAB_MUST(all.count == 1);
    bson_t *expected = fixed_lab_json(json), is;
    const lab_record_t *one = &all.records[0];
    if (one->parsed != PARSED_DOCUMENT)
        dprintf(2, "a reject: %s\n", one->reason);
    LAB_MUST(one->parsed == PARSED_DOCUMENT);
    LAB_MUST(bson_init_static(&is, one->document, one->record.document_length));
    bool same = bson_equal(expected, &is);
    if (!same) {
        char *text = bson_as_canonical_extended_json(&is, NULL),
             *wanted = bson_as_canonical_extended_json(expected, NULL);
        dprintf(2, "record   %.*s\ndocument %s\nexpected %s\n", (int)length, (const char *)record, text,
                wanted);
        bson_free(text);
        bson_free(wanted);
    }
    err_t err = {.text = ""};
    dialect_t dialect = {.columns = 0};
    const uint8_t *again;
    size_t again_length;
    if (emit_possible(lab->schema, &err)) {
        bool back = emit_record(lab->emit, &dialect, expected, &one->shape, &again, &again_length, &err);
        if (!back || again_length != one->record.length || memcmp(again, record, again_length) != 0) {
            dprintf(2, "record   %.*s\nemitted  %.*s %s\n", (int)length, (const char *)record,
                    back ? (int)again_length : 0, back ? (const char *)again : "", err.text);
            same = false;
        }
    }
    bson_destroy(expected);
    lab_records_free(&all);
    return same;
}

/* A record of isd: its fixed part with `text` put at `at`, the tail behind it, the count made right. */
LAB_UNUSED size_t lab_isd(char *out, size_t at, const char *text, const char *tail) {
    memcpy(out, ISD_NOTHING, 105);
    memcpy(out + at, text, strlen(text));
    memcpy(out + 105, tail, strlen(tail));
    char count[8];
    if (at >= 4 || !*text) {
        snprintf(count, sizeof count, "%04u", (unsigned)strlen(tail) % 10000);
        memcpy(out, count, 4);
    }
    return 105 + strlen(tail);
}

#endif
