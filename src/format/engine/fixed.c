/* Records of fixed width: finds each record and what follows its fixed part (fixed_walk.h), and writes the fixed part, the
 * sections, the entries and the gap, each by its operations. */
#include "base/chars.h"
#include "format/engine/encode.h"
#include "format/engine/fixed_walk.h"
#include "format/engine/readers.h"

#include <assert.h>
#include <stdio.h>
#include <stdlib.h>

struct fixed {
    engine_t engine;
    fixed_walk_t walk;
    record_text_t in;
    char reason[200];
};

/* ---- a document ---- */

/* Writes the fields of the part that begins at `text`. */
static __attribute__((noinline)) uint8_t *put_fields(engine_t *engine, const ops_t *ops, const uint8_t *text,
                                                     uint8_t *out) {
    const spans_t spans = {.record = text};
    return encode(engine, ops, &spans, SPANS_FIXED, out, NULL);
}

/* Writes type and key of an element of an array. */
static inline uint8_t *put_place(uint8_t *out, uint8_t type, uint32_t place) {
    *out = type;
    return bsonw_index(out + 1, place);
}

static inline uint8_t *put_section_id(uint8_t *out, const uint8_t *id) {
    memcpy(out, "\x02id\0\x04\0\0\0AA1", 12);
    memcpy(out + 8, id, SCHEMA_ID);
    return out + 12;
}

/* Writes all sections of the kind of the one at `first`, which is the first of them. */
static uint8_t *put_family(engine_t *engine, const fixed_walk_t *walk, size_t first, bool with_ids,
                           uint8_t *out) {
    const fixed_found_t *found = &walk->sections[first];
    const program_list_t *planned = &engine->program.sections[found->section];
    const section_t *section = &engine->schema->sections[found->section];
    const bool several = section_several(section); /* always an array, with ids */
    const bool array = several || found->next;
    uint8_t *body = put_head(engine, out, planned->head, false);
    *out = array ? BSON_TYPE_ARRAY : BSON_TYPE_DOCUMENT;
    out = body + (array ? 4 : 0);
    for (uint32_t place = 0;; place++) {
        const uint8_t *id = engine->fixed + found->at;
        if (array)
            out = put_place(out, BSON_TYPE_DOCUMENT, place);
        uint8_t *entry = out;
        out += 4;
        if (with_ids && (several || memcmp(id, section->ids[0].first, SCHEMA_ID) != 0))
            out = put_section_id(out, id);
        out = put_fields(engine, &planned->ops, id + SCHEMA_ID, out);
        out = put_close(out, entry);
        if (!found->next)
            return array ? put_close(out, body) : out;
        found = &walk->sections[found->next];
    }
}

static uint8_t *put_ids(const engine_t *engine, const fixed_walk_t *walk, const char *key, uint8_t *out) {
    *out++ = BSON_TYPE_ARRAY;
    out = (uint8_t *)stpcpy((char *)out, key) + 1;
    uint8_t *body = out;
    out += 4;
    for (size_t i = 0; i < walk->section_count; i++) {
        out = put_place(out, BSON_TYPE_UTF8, (uint32_t)i);
        out = bsonw_int32(out, SCHEMA_ID + 1);
        memcpy(out, engine->fixed + walk->sections[i].at, SCHEMA_ID);
        out += SCHEMA_ID;
        *out++ = 0;
    }
    return put_close(out, body);
}

static uint8_t *put_sections(engine_t *engine, const tail_part_t *part, const fixed_walk_t *walk,
                             uint8_t *out) {
    if (part->list && walk->section_count)
        out = put_ids(engine, walk, part->list, out);
    for (size_t i = 0; i < walk->section_count; i++)
        if (walk->sections[i].first)
            out = put_family(engine, walk, i, !part->list, out);
    return out;
}

static uint8_t *put_entries(engine_t *engine, size_t index, const fixed_walk_t *walk, uint8_t *out) {
    const program_part_t *part = &engine->program.parts[index];
    uint32_t at = walk->parts[index].from, to = walk->parts[index].to, place = 0;
    uint8_t *head = out, *body = put_head(engine, out, part->list.head, false);
    out = body + 4;
    while (at < to) {
        if (at == walk->gap && walk->gap_end) {
            at = walk->gap_end;
            continue;
        }
        out = put_place(out, BSON_TYPE_DOCUMENT, place++);
        uint8_t *entry = out;
        out = put_fields(engine, &part->list.ops, engine->fixed + at, out + 4);
        out = put_close(out, entry);
        at = part->counted_width ? fixed_walk_entry(part, engine->fixed, at, engine->record->length)
                                 : at + part->list.width;
    }
    return place ? put_close(out, body) : head;
}

static uint8_t *put_unparsed(const engine_t *engine, const fixed_walk_t *walk, uint8_t *out) {
    const uint8_t *text = engine->fixed + walk->gap;
    size_t length = walk->gap_end - walk->gap;
    memcpy(out, "\x03unparsed", 10);
    uint8_t *body = out += 10;
    memcpy(out + 4,
           "\x10"
           "at",
           4);
    out = bsonw_int32(out + 8, (int32_t)walk->gap);
    memcpy(out, "\x02text", 6);
    if (engine->high && !utf8_valid(text, length)) {
        *out = BSON_TYPE_BINARY;
        out = bsonw_binary(out + 6, text, length);
    } else {
        out = bsonw_text(out + 6, text, length);
    }
    return put_close(out, body);
}

/* Writes the elements of the document, at most walk->worst bytes and those of the program. */
static uint8_t *put_record(engine_t *engine, const fixed_walk_t *walk, uint8_t *out) {
    const schema_t *schema = engine->schema;
    bool listed = false;
    engine->made = 0;
    out = put_fields(engine, &engine->program.record, engine->fixed, out);
    for (size_t i = 0; i < schema->part_count; i++) {
        const tail_part_t *part = &schema->parts[i];
        listed |= part->list || (part->sections && part->leave_out);
        if (walk->parts[i].from == walk->parts[i].to || part->leave_out)
            continue;
        out = part->sections ? put_sections(engine, part, walk, out) : put_entries(engine, i, walk, out);
    }
    if (!walk->ascending && !listed)
        out = put_ids(engine, walk, "order", out);
    return walk->gap_end ? put_unparsed(engine, walk, out) : out;
}

/* ---- records ---- */

fixed_t *fixed_new(const schema_t *schema, bad_values_t *bad) {
    fixed_t *fixed = calloc(1, sizeof *fixed);
    if (fixed && engine_init(&fixed->engine, schema, bad) &&
        program_compile(schema, NULL, &fixed->engine.program))
        return fixed;
    fixed_destroy(fixed);
    return NULL;
}

void fixed_destroy(fixed_t *fixed) {
    if (!fixed)
        return;
    engine_free(&fixed->engine);
    fixed_walk_free(&fixed->walk);
    free(fixed);
}

void fixed_begin(fixed_t *fixed, const record_text_t *in) {
    fixed->in = *in;
}

static bool holds_high(const uint8_t *text, size_t length) {
    uint64_t bits = 0;
    size_t i = 0;
    for (; i + 32 <= length; i += 32)
        bits |= digits_load(text + i) | digits_load(text + i + 8) | digits_load(text + i + 16) |
                digits_load(text + i + 24);
    for (; i < length; i++)
        bits |= text[i];
    return bits & 0x8080808080808080ull;
}

/* How many characters follow the fixed part, as the record says; 0 if it does not say. */
static uint64_t announced(const schema_t *schema, const uint8_t *record) {
    for (size_t i = 0; i < schema->field_count; i++) {
        const field_t *field = &schema->fields[i];
        uint64_t count;
        if (field->type == TYPE_LENGTH)
            return convert_digits(record + field->offset, field->width, &count) ? count : 0;
    }
    return 0;
}

/* Does the record end too early: within its fixed part, or where the file was cut off? */
static bool is_short(fixed_t *fixed, bool ends_file, const record_t *record) {
    const schema_t *schema = fixed->engine.schema;
    if (record->length < schema->fixed) {
        snprintf(fixed->reason, sizeof fixed->reason,
                 "it has %u characters; a record of the format %s has at least %u", record->length,
                 schema->name, schema->fixed);
        return true;
    }
    const uint64_t says = ends_file ? announced(schema, fixed->in.text + record->offset) : 0;
    const uint32_t tail = record->length - schema->fixed;
    if (says > tail)
        snprintf(
            fixed->reason, sizeof fixed->reason,
            "it was cut short: it announces %llu characters after the first %u, and the file ends after %u",
            (unsigned long long)says, schema->fixed, tail);
    return says > tail;
}

/* Widths count bytes. The record's writer counted characters instead if the fixed part contains a character of several
 * bytes, and what follows the fixed part is unknown to the format: it is the end of the fixed part. *at: after that
 * character. */
static bool is_shifted(fixed_t *fixed, const record_t *record, uint32_t *at) {
    const uint8_t *text = fixed->in.text + record->offset;
    const uint32_t width = fixed->engine.schema->fixed;
    size_t length = 0;
    if (fixed->walk.gap != width || fixed->walk.gap_end <= width)
        return false;
    for (*at = 0; *at < width && length < 2; *at += length < 2)
        length = utf8_character(text + *at, record->length - *at);
    if (length >= 2)
        snprintf(
            fixed->reason, sizeof fixed->reason,
            "a character of %zu bytes (UTF-8) has moved what comes after it: the widths of the format %s "
            "count bytes; have the file written with one byte a character (Latin-1)",
            length, fixed->engine.schema->name);
    return length >= 2;
}

parsed_t fixed_next(fixed_t *fixed, uint8_t *out, size_t room, record_t *record) {
    engine_t *engine = &fixed->engine;
    if (fixed->in.at >= fixed->in.length)
        return PARSED_END;
    const uint8_t *text = fixed->in.text + fixed->in.at;
    uint32_t rest = fixed->in.length - fixed->in.at, column;
    const uint8_t *stop = memchr(text, '\n', rest);
    uint32_t whole = stop ? (uint32_t)(stop - text) + 1 : rest;
    uint32_t length = whole - (stop != NULL);
    length -= length && text[length - 1] == '\r';
    *record = (record_t){.offset = fixed->in.at,
                         .length = length,
                         .line = fixed->in.line,
                         .line_end = (uint8_t)(whole - length)};
    const bool too_short = length && is_short(fixed, !stop, record);
    if (length && !too_short) {
        if (!fixed_walk(&engine->program, text, length, &fixed->walk))
            return PARSED_MEMORY;
        record->needed = engine->program.record.bytes + fixed->walk.worst;
        if (room < record->needed && record->needed <= RECORD_MOST_NEEDED)
            return PARSED_FULL;
    }
    fixed->in.at += whole;
    fixed->in.line++;
    if (!length)
        return PARSED_BLANK;
    if (too_short)
        return record_refuse(record, length + 1, fixed->reason);
    if (record->needed > RECORD_MOST_NEEDED)
        return record_refuse_large(record);
    engine->record = record;
    engine->fixed = text;
    engine->tail = length - engine->schema->fixed;
    engine->high = holds_high(text, length);
    if (__builtin_expect(engine->high, 0) && is_shifted(fixed, record, &column))
        return record_refuse(record, column + 1, fixed->reason);
    uint8_t *at = out + 4;
    if (fixed->in.with_id)
        at = bsonw_id(at, fixed->in.id_base + record->offset);
    at = put_close(put_record(engine, &fixed->walk, at), out);
    record->document_length = (uint32_t)(at - out);
    assert(record->document_length <= record->needed);
    return PARSED_DOCUMENT;
}
