/* ends_lab: the ends of a text's records, found in three ways. */
#ifndef TIPPLE_TESTS_ENDS_LAB_H
#define TIPPLE_TESTS_ENDS_LAB_H

#include "format/cut/ends.h"
#include "format_lab.h"

typedef struct {
    size_t *at, count, room;
} list_t;

LAB_UNUSED void add(list_t *list, size_t at) {
    if (list->count == list->room) {
        list->room = 2 * list->room + 16;
        list->at = realloc(list->at, list->room * sizeof *list->at);
        LAB_MUST(list->at);
    }
    list->at[list->count++] = at;
}

/* The first record's length: of all of the text, and where more may follow. */
LAB_UNUSED void expect_first(const schema_t *schema, const char *text, size_t whole, size_t part) {
    const size_t length = strlen(text),
                 is_whole = ends_find(schema, ',', (const uint8_t *)text, length, true),
                 is_part = ends_find(schema, ',', (const uint8_t *)text, length, false);
    if (is_whole == whole && is_part == part)
        return;
    dprintf(2, "%s\nends at %zu and %zu, not at %zu and %zu\n", text, is_whole, is_part, whole, part);
    abort();
}

LAB_UNUSED list_t by_find(const schema_t *schema, const uint8_t *text, size_t length) {
    list_t list = {0};
    for (size_t at = 0; at < length;)
        add(&list, at += ends_find(schema, ',', text + at, length - at, true));
    return list;
}

/* The records of a text that grows; those at its end, which more text could change, one by one. */
LAB_UNUSED list_t by_steps(const schema_t *schema, const uint8_t *text, size_t length, uint64_t *seed) {
    list_t list = {0};
    ends_t ends = ends_begin(schema, ',');
    size_t have = 0, last = 0;
    for (;;) {
        if (ends_on(&ends, text, have, have == length, last + 1)) {
            add(&list, last = ends.record);
            continue;
        }
        LAB_MUST(ends.record == last);
        if (have == length)
            break;
        have += 1 + lab_chance(seed, 200);
        have = have < length ? have : length;
    }
    while (last < length)
        add(&list, last += ends_find(schema, ',', text + last, length - last, true));
    return list;
}

LAB_UNUSED list_t by_records(const schema_t *schema, const slack_t *slack) {
    list_t list = {0};
    err_t err;
    dialect_t dialect;
    const bool json = schema->kind == RECORDS_JSON; /* any text, also such whose file would be refused */
    if (json || !dialect_sniff(schema, slack->text, slack->length, "x", &dialect, &err)) {
        LAB_MUST(json || lab_may_be_bson(slack->text, slack->length));
        LAB_MUST(dialect_sniff(schema, (const uint8_t *)"{}", 2, "x", &dialect, &err));
    }
    dialect.delimiter = ',';
    records_t *records = records_new(schema);
    records_place_t place = {0};
    record_t record;
    uint32_t line = 0;
    records_begin(records, &dialect, slack->text, (uint32_t)slack->length, false, false, 0);
    for (parsed_t parsed; (parsed = records_next_into(records, &place, &record, NULL)) != PARSED_END;) {
        const size_t end = record.offset + record.length + record.line_end;
        const uint32_t first = line;
        LAB_MUST(record.offset == (list.count ? list.at[list.count - 1] : 0));
        for (size_t i = record.offset; i < end; i++)
            line += slack->text[i] == '\n';
        /* of JSON, where the mistake is */
        LAB_MUST(record.line == first || (schema->kind == RECORDS_JSON && parsed == PARSED_REJECT &&
                                          record.line > first && record.line <= line));
        add(&list, end);
    }
    records_destroy(records);
    free(place.bytes);
    return list;
}

LAB_UNUSED void same(const list_t *one, const list_t *other, const char *what, const uint8_t *text,
                     size_t length) {
    size_t i = 0;
    while (i < one->count && i < other->count && one->at[i] == other->at[i])
        i++;
    if (i == one->count && i == other->count)
        return;
    const size_t from = i ? one->at[i - 1] : 0, rest = length - from < 200 ? length - from : 200;
    dprintf(2, "%s: record %zu from %zu ends at %zu, not at %zu, of:\n%.*s\n", what, i, from,
            i < other->count ? other->at[i] : 0, i < one->count ? one->at[i] : 0, (int)rest, text + from);
    abort();
}

#endif
