#include "format/fixed/fixed_encode.h"
#include "base/chars/utf8.h"
#include "format/record/bsonw.h"

static uint8_t *put_close(uint8_t *out, uint8_t *body) {
    *out++ = 0;
    bsonw_int32(body, (int32_t)(out - body));
    return out;
}

/* Writes type, key and NUL of an array. Copies of a constant size are the fast ones. */
static inline uint8_t *put_array_head(uint8_t *out, const uint8_t *head, size_t size) {
    if (__builtin_expect(size <= 48, 1))
        memcpy(out, head, 48);
    else
        memcpy(out, head, size);
    return out + size;
}

/* Writes type and key of an element of an array. */
static inline uint8_t *put_place(uint8_t *out, uint8_t type, uint32_t place) {
    *out++ = type;
    if (__builtin_expect(place < 10, 1)) {
        *out++ = (uint8_t)('0' + place);
    } else {
        uint8_t digits[10];
        size_t count = 0;
        for (; place; place /= 10)
            digits[count++] = (uint8_t)('0' + place % 10);
        while (count)
            *out++ = digits[--count];
    }
    *out++ = 0;
    return out;
}

static inline uint8_t *put_id(uint8_t *out, const uint8_t *id) {
    memcpy(out, "\x02id\0\x04\0\0\0AA1", 12);
    memcpy(out + 8, id, SCHEMA_ID);
    return out + 12;
}

typedef struct {
    const fixed_walk_t *walk;
    bool with_ids;
    uint64_t written[4]; /* sections that are written already, if they are not side by side */
} sections_t;

/* Writes all sections of the kind of the section at `first`; *next is after those that follow it directly. */
static uint8_t *put_family(fixed_encoder_t *encoder, const sections_t *sections, size_t first, size_t *next,
                           uint8_t *out) {
    const fixed_walk_t *walk = sections->walk;
    const fixed_found_t *found = walk->sections;
    const fixed_section_t *planned = &encoder->plan->sections[found[first].section];
    const char *listed = planned->section->ids[0].first;
    size_t end = first + 1, last = walk->section_count;
    while (end < last && found[end].section == found[first].section)
        end++;
    *next = end;
    if (walk->together)
        last = end;
    bool repeated = end - first > 1;
    for (size_t i = end; i < last && !repeated; i++)
        repeated = found[i].section == found[first].section;
    bool array = planned->several || repeated;
    uint8_t *body = put_array_head(out, planned->head, planned->head_size);
    *out = array ? 0x04 : 0x03;
    out = body + (array ? 4 : 0);
    uint32_t place = 0;
    for (size_t i = first; i < last; i++) {
        if (found[i].section != found[first].section)
            continue;
        const uint8_t *id = encoder->record + found[i].at;
        if (array)
            out = put_place(out, 0x03, place++);
        uint8_t *entry = out;
        out += 4;
        if (sections->with_ids && (planned->several || memcmp(id, listed, SCHEMA_ID) != 0))
            out = put_id(out, id);
        out = fixed_ops_run(encoder, &planned->ops, id + SCHEMA_ID, out);
        out = put_close(out, entry);
    }
    return array ? put_close(out, body) : out;
}

static uint8_t *put_ids(const fixed_encoder_t *encoder, const fixed_walk_t *walk, const char *key,
                        uint8_t *out) {
    *out++ = 0x04;
    out = (uint8_t *)stpcpy((char *)out, key) + 1;
    uint8_t *body = out;
    out += 4;
    for (size_t i = 0; i < walk->section_count; i++) {
        out = put_place(out, 0x02, (uint32_t)i);
        out = bsonw_int32(out, SCHEMA_ID + 1);
        memcpy(out, encoder->record + walk->sections[i].at, SCHEMA_ID);
        out += SCHEMA_ID;
        *out++ = 0;
    }
    return put_close(out, body);
}

static uint8_t *put_sections(fixed_encoder_t *encoder, const tail_part_t *part, const fixed_walk_t *walk,
                             uint8_t *out) {
    sections_t sections = {.walk = walk, .with_ids = !part->list};
    if (part->list && walk->section_count)
        out = put_ids(encoder, walk, part->list, out);
    for (size_t i = 0; i < walk->section_count;) {
        uint8_t section = walk->sections[i].section;
        uint64_t *written = &sections.written[section >> 6], bit = 1ull << (section & 63);
        if (!walk->together && *written & bit) {
            i++;
            continue;
        }
        *written |= bit;
        out = put_family(encoder, &sections, i, &i, out);
    }
    return out;
}

static uint8_t *put_entries(fixed_encoder_t *encoder, size_t index, const fixed_walk_t *walk, uint8_t *out) {
    const fixed_part_t *part = &encoder->plan->parts[index];
    uint32_t at = walk->parts[index].from, to = walk->parts[index].to, place = 0;
    uint8_t *head = out, *body = put_array_head(out, part->head, part->head_size);
    out = body + 4;
    while (at < to) {
        if (at == walk->gap && walk->gap_end) {
            at = walk->gap_end;
            continue;
        }
        out = put_place(out, 0x03, place++);
        uint8_t *entry = out;
        out = fixed_ops_run(encoder, &part->ops, encoder->record + at, out + 4);
        out = put_close(out, entry);
        at = part->counted_width ? fixed_walk_entry(part, encoder->record, at, encoder->length)
                                 : at + part->width;
    }
    return place ? put_close(out, body) : head;
}

static uint8_t *put_unparsed(const fixed_encoder_t *encoder, const fixed_walk_t *walk, uint8_t *out) {
    const uint8_t *text = encoder->record + walk->gap;
    size_t length = walk->gap_end - walk->gap;
    memcpy(out, "\x03unparsed", 10);
    uint8_t *body = out += 10;
    memcpy(out + 4,
           "\x10"
           "at",
           4);
    out = bsonw_int32(out + 8, (int32_t)walk->gap);
    memcpy(out, "\x02text", 6);
    if (encoder->high && !utf8_valid(text, length)) {
        *out = 0x05;
        out = bsonw_binary(out + 6, text, length);
    } else {
        out = bsonw_int32(out + 6, (int32_t)length + 1);
        memcpy(out, text, length);
        out += length;
        *out++ = 0;
    }
    return put_close(out, body);
}

uint8_t *fixed_encode(fixed_encoder_t *encoder, const fixed_walk_t *walk, uint8_t *out) {
    const schema_t *schema = encoder->plan->schema;
    bool listed = false;
    encoder->made = 0;
    out = fixed_ops_run(encoder, &encoder->plan->record, encoder->record, out);
    for (size_t i = 0; i < schema->part_count; i++) {
        const tail_part_t *part = &schema->parts[i];
        listed |= part->list || (part->sections && part->leave_out);
        if (walk->parts[i].from == walk->parts[i].to || part->leave_out)
            continue;
        out = part->sections ? put_sections(encoder, part, walk, out) : put_entries(encoder, i, walk, out);
    }
    if (!walk->ascending && !listed)
        out = put_ids(encoder, walk, "order", out);
    return walk->gap_end ? put_unparsed(encoder, walk, out) : out;
}
