/* Records of fixed width: finds each record and what follows its fixed part, and writes the fixed part, the sections, the
 * entries and the gap, each by its operations.
 *
 * The walk finds what follows the fixed part of a record: the parts in their order, each with its sections or
 * entries, strictly from left to right.
 *
 *     ....ADD AA1xxxxxxxx GA1xxxxxxxxxxxxx ??? MA1xxxxxxxxxxxx REM SYN004abcd MET005abcde
 *     fixed   |section    |section         gap |section            |entry     |entry
 *
 * Where nothing known is found (an unknown identifier, an entry that is longer than the rest, a marker that nothing
 * follows), a gap begins. It ends at the nearest place from which everything up to the record's end is known, in the
 * same part or at the marker of a later one; after MOST_STEPS no such place is looked for. So there is at most one gap. A marker
 * begins its part even if the gap begins with the marker: then the whole part is in the gap. */
#include "base/chars.h"
#include "format/engine/encode.h"
#include "format/engine/program.h"

#include <assert.h>
#include <stdio.h>
#include <stdlib.h>

/* A section, or an entry of another part. Those of one list (program.h) are a chain, in their order. */
typedef struct {
    uint32_t at;   /* its place in the record */
    uint32_t next; /* the number of the next one of its list; 0: it is the last one */
    uint16_t list;
    bool first; /* of its list */
} found_t;

typedef struct {
    found_t *found;
    size_t count, room;
    bool ascending;   /* the identifiers of sections are strictly ascending */
    uint32_t last_id; /* the last of them */
    uint32_t last[SCHEMA_MOST_SECTIONS +
                  SCHEMA_MOST_PARTS]; /* of each list the number of the last one, from 1; 0: none */
    uint32_t gap, gap_end;            /* empty: there is none */
    uint32_t steps;                   /* sections, entries and markers that were tried */
} walk_t;

struct fixed {
    engine_t engine;
    walk_t walk;
};

/* ---- the walk ---- */

enum { NO_PART = -1, MOST_STEPS = 1 << 16 };

/* The end of an entry with texts that are checked, or counted; 0: it is none. */
static uint32_t checked_end(const program_list_t *list, const uint8_t *record, uint32_t at, uint32_t end) {
    uint32_t counted = 0;
    for (const field_t *field = list->of->fields; field < list->of->fields + list->of->field_count; field++) {
        const uint8_t *text = record + at + field->offset;
        for (size_t i = 0; field->is && i < field->width; i++)
            if (!byteset_has(&field->is[i], text[i]))
                return 0;
        for (size_t i = 0; field->counted && i < field->width; i++) {
            const uint32_t digit = (uint32_t)text[i] - '0';
            if (digit > 9)
                return 0;
            counted = counted * 10 + digit;
        }
    }
    return end - at - list->of->width >= counted ? at + list->of->width + counted : 0;
}

/* The end of the section or entry of the part at `at`, at most `end`; 0: there is none. */
INLINED uint32_t entry_end(const program_t *program, int part, const uint8_t *record, uint32_t at,
                           uint32_t end, uint16_t *number) {
    const bool section = program->schema->parts[part].sections;
    if (section && end - at < SCHEMA_ID)
        return 0;
    *number = section ? program_section(program, record + at)
                      : (uint16_t)(program->schema->section_count + (size_t)part);
    if (section && *number == NO_SECTION)
        return 0;
    const program_list_t *list = &program->lists[*number];
    if (end - at < list->of->width)
        return 0;
    return section ? at + list->of->width : checked_end(list, record, at, end);
}

/* The marker of a part after `part`; with_entry: only a marker that an entry follows. */
static int marker_at(const program_t *program, int part, const uint8_t *record, uint32_t at, uint32_t end,
                     bool with_entry) {
    const schema_t *schema = program->schema;
    uint16_t list;
    for (int next = part + 1; next < (int)schema->part_count; next++) {
        const schema_text_t *marker = &schema->parts[next].marker;
        if (record[at] == (uint8_t)marker->text[0] && end - at >= marker->length &&
            memcmp(record + at, marker->text, marker->length) == 0 &&
            (!with_entry || entry_end(program, next, record, at + (uint32_t)marker->length, end, &list)))
            return next;
    }
    return NO_PART;
}

static inline bool add_found(walk_t *walk, const uint8_t *record, uint32_t at, uint16_t list, bool section) {
    if (!GROW(walk->found, walk->room, walk->count + 1, NULL))
        return false;
    if (section) {
        const uint32_t id = (uint32_t)record[at] << 16 | (uint32_t)record[at + 1] << 8 | record[at + 2];
        walk->ascending &= id > walk->last_id;
        walk->last_id = id;
    }
    uint32_t *last = &walk->last[list];
    if (*last)
        walk->found[*last - 1].next = (uint32_t)walk->count;
    walk->found[walk->count++] = (found_t){.at = at, .list = list, .first = !*last};
    *last = (uint32_t)walk->count;
    return true;
}

/* Walks from `at` in this part as far as all is known: over sections as long as there are some, over entries as long as no
 * marker with an entry is in their place, and over the markers of later parts. What is directly after a marker is always an
 * entry. Returns the place where that ends. take: what is found belongs to the record. */
static uint32_t walk_known(const program_t *program, const uint8_t *record, uint32_t at, uint32_t end,
                           int *part, walk_t *walk, bool take) {
    bool after_marker = false;
    for (; at < end; walk->steps++) {
        const bool sections = *part != NO_PART && program->schema->parts[*part].sections;
        uint32_t after = 0;
        uint16_t list;
        if (sections || after_marker ||
            (*part != NO_PART && marker_at(program, *part, record, at, end, true) == NO_PART))
            after = entry_end(program, *part, record, at, end, &list);
        after_marker = false;
        if (after) {
            if (take && !add_found(walk, record, at, list, sections))
                return 0;
            at = after;
            continue;
        }
        const int next = marker_at(program, *part, record, at, end, true);
        if (next == NO_PART)
            break;
        after_marker = true;
        *part = next;
        at += (uint32_t)program->schema->parts[next].marker.length;
    }
    return at;
}

/* length: at least that of the fixed part. False: out of memory. */
static bool walk_record(const program_t *program, const uint8_t *record, uint32_t length, walk_t *walk) {
    int part = NO_PART;
    while (walk->count)
        walk->last[walk->found[--walk->count].list] = 0;
    walk->ascending = true;
    walk->last_id = walk->gap = walk->gap_end = walk->steps = 0;
    const uint32_t at = walk_known(program, record, program->schema->fixed, length, &part, walk, true);
    if (at == length || !at)
        return at;
    const int marker = marker_at(program, part, record, at, length, false),
              from = marker == NO_PART ? part : marker;
    walk->gap = at;
    walk->gap_end = at + (marker == NO_PART ? 1 : (uint32_t)program->schema->parts[marker].marker.length);
    for (part = from; walk->gap_end < length &&
                      walk_known(program, record, walk->gap_end, length, &part, walk, false) < length;
         part = from)
        walk->gap_end = walk->steps < MOST_STEPS ? walk->gap_end + 1 : length;
    part = from;
    return walk_known(program, record, walk->gap_end, length, &part, walk, true);
}

/* ---- a document ---- */

/* Writes the fields of the part that begins at `text`. */
static __attribute__((noinline)) uint8_t *put_fields(engine_t *engine, const ops_t *ops, const uint8_t *text,
                                                     uint8_t *out) {
    const spans_t spans = {.record = text};
    return encode(engine, ops, &spans, SPANS_FIXED, out, NULL);
}

/* Writes all of the list of the one at `first`, which is the first of them. A section is an array, with identifiers, where it
 * has several or is there several times. */
static uint8_t *put_list(engine_t *engine, const walk_t *walk, size_t first, uint8_t *out) {
    const found_t *found = &walk->found[first];
    const program_list_t *list = &engine->program.lists[found->list];
    const tail_list_t *section = list_has_sections(list) ? list->of : NULL;
    const bool several = !section || section_several(section), array = several || found->next;
    uint8_t *body = put_head(engine, out, list->head, false);
    *out = array ? BSON_TYPE_ARRAY : BSON_TYPE_DOCUMENT;
    out = body + (array ? 4 : 0);
    for (uint32_t place = 0;; place++) {
        const uint8_t *text = engine->fixed + found->at;
        if (array) {
            *out = BSON_TYPE_DOCUMENT;
            out = bsonw_index(out + 1, place);
        }
        uint8_t *entry = out;
        out += 4;
        if (section && !list->part->list && (several || memcmp(text, section->ids[0].first, SCHEMA_ID) != 0))
            out = bsonw_text((uint8_t *)mempcpy(out, "\x02id", 4), text, SCHEMA_ID);
        out = put_fields(engine, &list->ops, text + (section ? SCHEMA_ID : 0), out);
        out = put_close(out, entry);
        if (!found->next)
            return array ? put_close(out, body) : out;
        found = &walk->found[found->next];
    }
}

static uint8_t *put_ids(const engine_t *engine, const walk_t *walk, const char *key, uint8_t *out) {
    *out++ = BSON_TYPE_ARRAY;
    out = (uint8_t *)stpcpy((char *)out, key) + 1;
    uint8_t *body = out;
    uint32_t place = 0;
    out += 4;
    for (size_t i = 0; i < walk->count; i++) {
        if (!list_has_sections(&engine->program.lists[walk->found[i].list]))
            continue;
        *out = BSON_TYPE_UTF8;
        out = bsonw_text(bsonw_index(out + 1, place++), engine->fixed + walk->found[i].at, SCHEMA_ID);
    }
    return put_close(out, body);
}

static uint8_t *put_unparsed(const engine_t *engine, const walk_t *walk, uint8_t *out) {
    const uint8_t *text = engine->fixed + walk->gap;
    size_t length = walk->gap_end - walk->gap;
    const bool binary = engine->high && !utf8_valid(text, length);
    memcpy(out, "\x03unparsed", 10);
    uint8_t *body = out + 10;
    memcpy(body + 4, "\x10\x61t", 4); /* the key `at` */
    out = bsonw_int32(body + 8, (int32_t)walk->gap);
    memcpy(out, "\x02text", 6);
    *out = binary ? BSON_TYPE_BINARY : BSON_TYPE_UTF8;
    out = binary ? bsonw_binary(out + 6, text, length) : bsonw_text(out + 6, text, length);
    return put_close(out, body);
}

/* Writes the elements of the document. */
static uint8_t *put_record(engine_t *engine, const walk_t *walk, uint8_t *out) {
    const program_list_t *lists = engine->program.lists;
    const tail_list_t *sections = lists->part; /* if there are any */
    bool listed = false;
    engine->made = 0;
    out = put_fields(engine, &engine->program.record, engine->fixed, out);
    for (size_t i = 0; i < walk->count; i++) {
        const tail_list_t *part = lists[walk->found[i].list].part;
        if (!walk->found[i].first || part->leave_out)
            continue;
        if (part->list && !listed)
            out = put_ids(engine, walk, part->list, out);
        listed |= part->list != NULL;
        out = put_list(engine, walk, i, out);
    }
    if (!walk->ascending && !sections->list && !sections->leave_out)
        out = put_ids(engine, walk, "order", out);
    return walk->gap_end ? put_unparsed(engine, walk, out) : out;
}

/* ---- records ---- */

fixed_t *fixed_new(const schema_t *schema, bad_values_t *bad, record_text_t *in) {
    fixed_t *fixed = calloc(1, sizeof *fixed);
    if (fixed && engine_init(&fixed->engine, schema, bad, in) &&
        program_compile(schema, NULL, &fixed->engine.program))
        return fixed;
    fixed_destroy(fixed);
    return NULL;
}

void fixed_destroy(fixed_t *fixed) {
    if (!fixed)
        return;
    engine_free(&fixed->engine);
    free(fixed->walk.found);
    free(fixed);
}

/* Does the record end too early: within its fixed part, or where the file was cut off? */
static bool is_short(engine_t *engine, bool ends_file, const uint8_t *text, uint32_t length) {
    const schema_t *schema = engine->schema;
    uint64_t says = 0;
    if (length < schema->fixed)
        return snprintf(engine->reason, sizeof engine->reason,
                        "it has %u characters; a record of the format %s has at least %u", length,
                        schema->name, schema->fixed);
    for (const field_t *field = schema->fields; ends_file && field < schema->fields + schema->field_count;
         field++)
        if (field->type == TYPE_LENGTH && !convert_digits(text + field->offset, field->width, &says))
            says = 0;
    if (says > engine->tail)
        snprintf(
            engine->reason, sizeof engine->reason,
            "it was cut short: it announces %llu characters after the first %u, and the file ends after %u",
            (unsigned long long)says, schema->fixed, engine->tail);
    return says > engine->tail;
}

/* Widths count bytes. The record's writer counted characters instead if the fixed part contains a character of several
 * bytes, and what follows the fixed part is unknown to the format: it is the end of the fixed part. *at: after that
 * character. */
static bool is_shifted(const fixed_t *fixed, const record_t *record, uint32_t *at) {
    const uint8_t *text = fixed->engine.in->text + record->offset;
    const uint32_t width = fixed->engine.schema->fixed;
    size_t length = 0;
    if (fixed->walk.gap != width || fixed->walk.gap_end <= width)
        return false;
    for (*at = 0; *at < width && length < 2; *at += length < 2)
        length = utf8_character(text + *at, record->length - *at);
    return length >= 2;
}

parsed_t fixed_next(fixed_t *fixed, uint8_t *out, size_t room, record_t *record, shape_t *shape) {
    engine_t *engine = &fixed->engine;
    if (engine->in->at >= engine->in->length)
        return PARSED_END;
    const uint8_t *text = engine->in->text + engine->in->at;
    uint32_t rest = engine->in->length - engine->in->at, column;
    const uint8_t *stop = memchr(text, '\n', rest);
    const uint32_t whole = stop ? (uint32_t)(stop - text) + 1 : rest;
    *record = record_at(engine->in, whole);
    const uint32_t length = record->length;
    engine->tail = length > engine->schema->fixed ? length - engine->schema->fixed : 0;
    record->needed = engine->program.record.bytes + engine->program.times * engine->tail;
    if (room < record->needed && record->needed <= RECORD_MOST_NEEDED)
        return PARSED_FULL;
    engine->in->at += whole;
    engine->in->line++;
    if (!length)
        return PARSED_BLANK;
    if (is_short(engine, !stop, text, length))
        return record_refuse(record, length + 1, engine->reason);
    if (record->needed > RECORD_MOST_NEEDED)
        return record_refuse_large(record);
    if (!walk_record(&engine->program, text, length, &fixed->walk))
        return PARSED_MEMORY;
    if (shape)
        shape->carriage = record->line_end && text[length] == '\r';
    engine->record = record;
    engine->fixed = text;
    engine->high = !encoding_is_ascii(text, length);
    if (__builtin_expect(engine->high, 0) && is_shifted(fixed, record, &column))
        return record_refuse(
            record, column + 1,
            "a character of several bytes (UTF-8) has moved what comes after it: widths count "
            "bytes; have the file written with one byte a character (Latin-1)");
    uint8_t *at = out + 4;
    if (engine->in->with_id)
        at = bsonw_id(at, engine->in->id_base + record->offset);
    at = put_close(put_record(engine, &fixed->walk, at), out);
    record->document_length = (uint32_t)(at - out);
    assert(record->document_length <= record->needed);
    return PARSED_DOCUMENT;
}
