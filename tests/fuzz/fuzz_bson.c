/* fuzz_bson: any bytes as a BSON text. Its documents are found the same way however the text grows. A document that is passed is
 * one that libbson gets through, and is given out byte for byte, or after an _id of ours; one of its own comes first. */
#include "bson_lab.h"
#include "format/cut/ends.h"
#include "format_laws.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void one(const record_t *record, const uint8_t *made, const slack_t *slack, bool with_id) {
    const uint8_t *document = slack->text + record->offset;
    bson_walk_t walk;
    LAW(bson_walk(document, record->length, false, &walk), slack->text, slack->length, document,
        record->length);
    const uint32_t more = with_id && !walk.own_id ? 13 : 0;
    LAW(lab_iterates(document, record->length), slack->text, slack->length, document, record->length);
    LAW(record->document_length == record->length + more, slack->text, slack->length, made,
        record->document_length);
    LAW(!with_id || memcmp(made + 5, "_id", 4) == 0, slack->text, slack->length, made,
        record->document_length);
    if (!with_id || !walk.own_id || walk.own_id == 4) /* else its _id comes first */
        LAW(memcmp(made + 4 + more, document + 4, record->length - 4) == 0, slack->text, slack->length, made,
            record->document_length);
    LAW(lab_iterates(made, record->document_length), slack->text, slack->length, made,
        record->document_length);
}

static void read_all(const schema_t *schema, const slack_t *slack, bool with_id) {
    records_t *records = records_new(schema);
    records_place_t place = {0};
    record_t record;
    size_t at = 0;
    LAB_MUST(records);
    records_begin(records, NULL, slack->text, (uint32_t)slack->length, true, with_id, 77);
    for (parsed_t parsed; (parsed = records_next_into(records, &place, &record, NULL)) != PARSED_END;) {
        LAW(record.offset == at, slack->text, slack->length, NULL, 0);
        at += record.length;
        if (parsed == PARSED_DOCUMENT)
            one(&record, place.bytes, slack, with_id);
        else
            LAW(parsed == PARSED_REJECT && record.column <= record.length, slack->text, slack->length, NULL,
                0);
    }
    LAW(at == slack->length, slack->text, slack->length, NULL, 0);
    records_destroy(records);
    free(place.bytes);
}

/* The ends that are certain while the text grows are those of all of it. */
static void grow(const schema_t *schema, const slack_t *slack, uint64_t seed) {
    ends_t ends = ends_begin(schema, ',');
    size_t at = 0;
    bool lies = false;
    for (size_t have = 0;;) {
        if (ends_on(&ends, slack->text, have, have == slack->length, at + 1)) {
            LAW(ends.record == at + bson_span_find(slack->text + at, slack->length - at, &lies), slack->text,
                slack->length, NULL, 0);
            at = ends.record;
            continue;
        }
        if (ends.lies || have == slack->length)
            break;
        have += 1 + lab_chance(&seed, 40);
        have = have < slack->length ? have : slack->length;
    }
    bson_span_find(slack->text + at, slack->length - at, &lies);
    LAW(lies == ends.lies, slack->text, slack->length, NULL, 0);
    LAW(bson_span_count(&(bson_span_counter_t){0}, slack->text, at) == ends_lines(schema, slack->text, at),
        slack->text, slack->length, NULL, 0);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    static schema_t *schema;
    law_quiet();
    if (!schema)
        schema = lab_schema("format: x\nrecord: {bson: yes}\n");
    if (!size)
        return 0;
    slack_t slack = slack_new(data + 1, size - 1);
    grow(schema, &slack, data[0]);
    read_all(schema, &slack, data[0] & 1);
    bson_span_begins(slack.text, slack.length);
    slack_free(&slack);
    return 0;
}
