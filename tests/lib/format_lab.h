/* format_lab: what the tests and fuzz targets of src/format share: text with the slack that the record path
 * may read, chance that is the same on every host, documents as text, whole texts parsed and written again.
 */
#ifndef TIPPLE_TESTS_FORMAT_LAB_H
#define TIPPLE_TESTS_FORMAT_LAB_H

#include "base/chars.h"
#include "base/threads.h"
#include "format/records.h"
#include "format/schema/schema.h"

#include <bson/bson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define LAB_UNUSED __attribute__((unused)) static

/* What no test can go on from. */
#define LAB_MUST(condition)                                                                                  \
    do {                                                                                                     \
        if (!(condition)) {                                                                                  \
            dprintf(2, "%s:%d: not so: %s\n", __FILE__, __LINE__, #condition);                               \
            abort();                                                                                         \
        }                                                                                                    \
    } while (0)

/* splitmix64: the same on every host. */
LAB_UNUSED uint64_t lab_chance(uint64_t *seed, uint64_t below) {
    uint64_t z = *seed += 0x9E3779B97F4A7C15u;
    z = (z ^ z >> 30) * 0xBF58476D1CE4E5B9u;
    z = (z ^ z >> 27) * 0x94D049BB133111EBu;
    return (z ^ z >> 31) % below;
}

/* ------------------------------------------------------------------------------------------------ text */

typedef struct {
    uint8_t *raw, *text;
    size_t length;
} slack_t;

/* A copy with POOL_SLACK bytes on either side and not one more. The slack holds digits and delimiters, so
 * that a reader who means what it must only load gets something wrong. */
LAB_UNUSED slack_t slack_new(const void *text, size_t length) {
    slack_t slack = {malloc(length + 2 * POOL_SLACK), NULL, length};
    LAB_MUST(slack.raw);
    for (size_t i = 0; i < POOL_SLACK; i++)
        slack.raw[i] = slack.raw[POOL_SLACK + length + i] = (uint8_t) "7|\n,\"8\t\xE9"[i % 8];
    slack.text = slack.raw + POOL_SLACK;
    if (length)
        memcpy(slack.text, text, length);
    return slack;
}

LAB_UNUSED void slack_free(slack_t *slack) {
    free(slack->raw);
    *slack = (slack_t){0};
}

typedef struct {
    uint8_t *at;
    size_t size, room;
} grown_t;

LAB_UNUSED void grown_add(grown_t *grown, const void *bytes, size_t size) {
    if (grown->size + size + 1 > grown->room) {
        grown->room = 2 * (grown->size + size) + 64;
        grown->at = realloc(grown->at, grown->room);
        LAB_MUST(grown->at);
    }
    if (size)
        memcpy(grown->at + grown->size, bytes, size);
    grown->size += size;
    grown->at[grown->size] = 0;
}

LAB_UNUSED void grown_text(grown_t *grown, const char *text) {
    grown_add(grown, text, strlen(text));
}

LAB_UNUSED void grown_free(grown_t *grown) {
    free(grown->at);
    *grown = (grown_t){0};
}

/* ---------------------------------------------------------------------------------------------- schemas */

LAB_UNUSED schema_t *lab_schema(const char *yaml) {
    err_t err = {.text = ""};
    schema_t *schema = schema_parse(yaml, strlen(yaml), "lab.yaml", &err);
    if (!schema)
        fprintf(stderr, "%s\n", err.text);
    LAB_MUST(schema);
    return schema;
}

LAB_UNUSED schema_t *lab_builtin(const char *name) {
    err_t err = {.text = ""};
    schema_t *schema = format_open(name, &err);
    if (!schema)
        fprintf(stderr, "%s\n", err.text);
    LAB_MUST(schema);
    return schema;
}

/* --------------------------------------------------------------------------------------- parsing a text */

typedef struct {
    parsed_t parsed;
    record_t record;
    shape_t shape;
    char reason[200];
    uint8_t *document; /* record.document_length bytes; NULL when there is none */
} lab_record_t;

typedef struct {
    lab_record_t *records; /* documents, rejects, headers and blank lines, in order */
    size_t count;
} lab_records_t;

LAB_UNUSED void lab_records_free(lab_records_t *records) {
    for (size_t i = 0; i < records->count; i++)
        free(records->records[i].document);
    free(records->records);
    *records = (lab_records_t){0};
}

typedef struct {
    bool careful; /* ask for shapes */
    bool middle;  /* not the start of a file */
    bool with_id;
    int64_t id_base;
} lab_how_t;

/* Everything in a block's text. The room is always exactly what the reader asks for; the careful way, for
 * each record anew. */
LAB_UNUSED lab_records_t lab_parse(records_t *reader, const dialect_t *dialect, const void *text,
                                   size_t length, lab_how_t how) {
    lab_records_t all = {0};
    size_t room = 0, slots = 0;
    uint8_t *out = malloc(1);
    slack_t slack = slack_new(text, length);
    records_begin(reader, dialect, slack.text, (uint32_t)length, !how.middle, how.with_id, how.id_base);
    for (;;) {
        lab_record_t one = {.parsed = PARSED_END};
        one.parsed = records_next(reader, out, room, &one.record, how.careful ? &one.shape : NULL);
        LAB_MUST(one.parsed != PARSED_MEMORY);
        if (one.parsed == PARSED_END)
            break;
        if (one.parsed == PARSED_FULL) {
            LAB_MUST(one.record.needed > room);
            free(out);
            room = one.record.needed;
            out = malloc(room);
            LAB_MUST(out);
            continue;
        }
        if (one.parsed == PARSED_REJECT)
            snprintf(one.reason, sizeof one.reason, "%s", one.record.reason);
        one.record.reason = NULL;
        if (one.parsed == PARSED_DOCUMENT) {
            LAB_MUST(one.record.document_length <= room);
            one.document = malloc(one.record.document_length);
            LAB_MUST(one.document);
            memcpy(one.document, out, one.record.document_length);
            room = how.careful ? 0 : room;
        }
        if (all.count == slots) {
            slots = slots ? 2 * slots : 16;
            all.records = realloc(all.records, slots * sizeof *all.records);
            LAB_MUST(all.records);
        }
        all.records[all.count++] = one;
    }
    free(out);
    slack_free(&slack);
    return all;
}

LAB_UNUSED size_t lab_count(const lab_records_t *records, parsed_t parsed) {
    size_t count = 0;
    for (size_t i = 0; i < records->count; i++)
        count += records->records[i].parsed == parsed;
    return count;
}

LAB_UNUSED bool lab_same_document(const lab_record_t *a, const lab_record_t *b) {
    return a->record.document_length == b->record.document_length &&
           memcmp(a->document, b->document, a->record.document_length) == 0;
}

/* A schema, a file's dialect, and what reads and writes its records. The schema becomes the lab's. */
typedef struct {
    schema_t *schema;
    dialect_t dialect;
    records_t *reader;
    emit_t *emit;
} format_lab_t;

LAB_UNUSED format_lab_t lab_open(schema_t *schema, const void *text, size_t length) {
    format_lab_t lab = {.schema = schema, .reader = records_new(schema), .emit = emit_new(schema)};
    err_t err = {.text = ""};
    LAB_MUST(lab.reader && lab.emit);
    if (!dialect_sniff(schema, text, length, "f.csv", &lab.dialect, &err))
        dprintf(2, "%s\n", err.text);
    LAB_MUST(!err.text[0]);
    return lab;
}

LAB_UNUSED void lab_close(format_lab_t *lab) {
    records_destroy(lab->reader);
    emit_destroy(lab->emit);
    schema_destroy(lab->schema);
}

/* The records of a whole file. */
LAB_UNUSED lab_records_t lab_file(const format_lab_t *lab, const void *text, size_t length, bool careful) {
    return lab_parse(lab->reader, &lab->dialect, text, length, (lab_how_t){.careful = careful});
}

/* The document of a record, which owns its bytes. */
LAB_UNUSED void lab_document(const lab_record_t *one, bson_t *document) {
    LAB_MUST(one->parsed == PARSED_DOCUMENT);
    LAB_MUST(bson_init_static(document, one->document, one->record.document_length));
}

/* A document from relaxed JSON with ' for ": 1 is int32, 1.0 a double. */
LAB_UNUSED bson_t *lab_value(const char *text) {
    grown_t json = {0};
    bson_error_t problem;
    grown_text(&json, text);
    for (uint8_t *at = json.at; *at; at++)
        *at = *at == '\'' ? '"' : *at;
    bson_t *document = bson_new_from_json(json.at, (ssize_t)json.size, &problem);
    if (!document)
        dprintf(2, "%s: %s\n", problem.message, text);
    LAB_MUST(document);
    grown_free(&json);
    return document;
}

/* Is a line with this record this document, and the document this record again? Prints what is wrong. */
LAB_UNUSED bool lab_is(const format_lab_t *lab, const void *record, size_t length, const char *json) {
    grown_t line = {0};
    grown_add(&line, record, length);
    grown_text(&line, "\n");
    lab_records_t all = lab_file(lab, line.at, line.size, true);
    grown_free(&line);
    LAB_MUST(all.count == 1);
    bson_t *expected = lab_value(json);
    const lab_record_t *one = &all.records[0];
    if (one->parsed != PARSED_DOCUMENT)
        dprintf(2, "a reject: %s\n", one->reason);
    bson_t is;
    lab_document(one, &is);
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
    const uint8_t *again;
    size_t again_length;
    if (emit_possible(lab->schema, &err)) {
        bool back = emit_record(lab->emit, &lab->dialect, expected, &one->shape, &again, &again_length, &err);
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

/* The documents of a text as records again; headers, blank lines, rejects and line ends as they stand in the
 * text. False: a document could not be written. */
LAB_UNUSED bool lab_emit(emit_t *emitter, const dialect_t *dialect, const lab_records_t *records,
                         const void *text, grown_t *out, err_t *err) {
    const uint8_t *bytes = text;
    bool open = false;
    if (records->count)
        grown_add(out, bytes, lines_bom(bytes, records->records[0].record.offset));
    for (size_t i = 0; i < records->count; i++) {
        const lab_record_t *one = &records->records[i];
        const uint8_t *written = bytes + one->record.offset;
        size_t length = one->record.length;
        bson_t document;
        if (one->parsed == PARSED_DOCUMENT) {
            LAB_MUST(bson_init_static(&document, one->document, one->record.document_length));
            if (!emit_record(emitter, dialect, &document, &one->shape, &written, &length, err))
                return false;
        }
        if (open)
            grown_text(out, "\n");
        if (!out->size && lines_bom(written, length))
            grown_text(out, "\xEF\xBB\xBF"); /* a first row that starts like a mark would lose it */
        grown_add(out, written, length);
        grown_add(out, bytes + one->record.offset + one->record.length, one->record.line_end);
        open = one->record.line_end == 0;
    }
    return true;
}

/* Does it begin with what could be the length of a BSON document? Its file is refused where another kind is wanted. */
LAB_UNUSED bool lab_may_be_bson(const uint8_t *text, size_t length) {
    uint32_t size = 0;
    for (size_t i = 0; i < 4 && i < length; i++)
        size |= (uint32_t)text[i] << (8 * i);
    return length >= 4 && size >= 5 && size <= (16 << 20) + (16 << 10);
}

#endif
