#include "format/engine/fixed_walk.h"
#include "base/text.h"

#include <stdlib.h>
#include <string.h>

enum { NO_PART = -1 };

/* The end of the section at `at`; 0: there is none. */
static inline uint32_t section_end(const program_t *program, const uint8_t *record, uint32_t at, uint32_t end,
                                   uint8_t *section) {
    if (end - at < SCHEMA_ID)
        return 0;
    *section = program_section(program, record + at);
    if (*section == NO_SECTION)
        return 0;
    uint32_t after = at + SCHEMA_ID + program->sections[*section].width;
    return after <= end ? after : 0;
}

static uint32_t entry_end(const program_t *program, int part, const uint8_t *record, uint32_t at,
                          uint32_t end) {
    uint8_t section;
    return program->schema->parts[part].sections ? section_end(program, record, at, end, &section)
                                                 : fixed_walk_entry(&program->parts[part], record, at, end);
}

/* The marker of a part after `part`; with_entry: only a marker that an entry follows. */
static int marker_at(const program_t *program, int part, const uint8_t *record, uint32_t at, uint32_t end,
                     bool with_entry) {
    const schema_t *schema = program->schema;
    for (int next = part + 1; next < (int)schema->part_count; next++) {
        const schema_text_t *marker = &schema->parts[next].marker;
        if (record[at] == (uint8_t)marker->text[0] && end - at >= marker->length &&
            memcmp(record + at, marker->text, marker->length) == 0 &&
            (!with_entry || entry_end(program, next, record, at + (uint32_t)marker->length, end)))
            return next;
    }
    return NO_PART;
}

/* Where the walk continues after a gap that begins at `gap` and contains at least the bytes before `least`. The bits of
 * each place say from which parts the walk would reach the record's end from there: bit n is part n - 1. */
static bool find_resume(const program_t *program, const uint8_t *record, uint32_t gap, uint32_t least,
                        uint32_t end, int part, fixed_walk_t *walk) {
    const schema_t *schema = program->schema;
    size_t places = end - gap + 1;
    if (places > walk->explained_room) {
        free(walk->explained);
        walk->explained_room = 2 * places;
        if (!(walk->explained = malloc(walk->explained_room))) {
            walk->explained_room = 0;
            return false;
        }
    }
    uint8_t *explained = walk->explained;
    explained[end - gap] = 0xFF;
    walk->gap = gap;
    walk->gap_end = end;
    for (uint32_t at = end - 1; at > gap; at--) {
        uint8_t bits = 0;
        for (int from = NO_PART; from < (int)schema->part_count; from++) {
            int next = marker_at(program, from, record, at, end, true);
            int within = next == NO_PART ? from : next;
            uint32_t first = next == NO_PART ? at : at + (uint32_t)schema->parts[next].marker.length;
            uint32_t after = within == NO_PART ? 0 : entry_end(program, within, record, first, end);
            if (after && explained[after - gap] >> (within + 1) & 1)
                bits |= (uint8_t)(1u << (from + 1));
        }
        explained[at - gap] = bits;
    }
    for (uint32_t at = least; at < end; at++)
        if (explained[at - gap] >> (part + 1) & 1) {
            walk->gap_end = at;
            break;
        }
    return true;
}

/* An identifier's bytes as a number that sorts like them. */
static uint32_t id_value(const uint8_t *id) {
    return (uint32_t)id[0] << 16 | (uint32_t)id[1] << 8 | id[2];
}

/* Walks over sections as long as there are some; *at is after them. */
static bool walk_sections(const program_t *program, const uint8_t *record, uint32_t *at, uint32_t end,
                          fixed_walk_t *walk) {
    size_t count = walk->section_count;
    uint32_t place = *at, last = 0;
    size_t worst = 0;
    if (count)
        last = id_value(record + walk->sections[count - 1].at);
    uint8_t section;
    for (uint32_t after; (after = section_end(program, record, place, end, &section)); place = after) {
        uint32_t id = id_value(record + place);
        if (!GROW(walk->sections, walk->section_room, count + 1, NULL))
            return false;
        walk->ascending &= id > last;
        last = id;
        uint32_t *before = &walk->last[section];
        if (*before)
            walk->sections[*before - 1].next = (uint32_t)count;
        walk->sections[count++] = (fixed_found_t){.at = place, .section = section, .first = !*before};
        *before = (uint32_t)count;
        worst += program->sections[section].bytes;
    }
    walk->section_count = count;
    walk->worst += worst;
    *at = place;
    return true;
}

/* Walks over entries as long as there are some, and no marker with an entry is in their place. What is directly after
 * their own marker is always an entry. */
static void walk_entries(const program_t *program, int part, const uint8_t *record, bool after_marker,
                         uint32_t *at, uint32_t end, fixed_walk_t *walk) {
    for (; after_marker || marker_at(program, part, record, *at, end, true) == NO_PART;
         after_marker = false) {
        uint32_t after = fixed_walk_entry(&program->parts[part], record, *at, end);
        if (!after)
            break;
        walk->worst += program->parts[part].list.bytes + 24 + (after - *at);
        *at = after;
    }
}

bool fixed_walk(const program_t *program, const uint8_t *record, uint32_t length, fixed_walk_t *walk) {
    const schema_t *schema = program->schema;
    int part = NO_PART;
    bool after_marker = false;
    uint32_t at = schema->fixed;
    walk->section_count = 0;
    memset(walk->last, 0, schema->section_count * sizeof *walk->last);
    walk->ascending = true;
    walk->gap = walk->gap_end = 0;
    walk->worst = 0;
    for (size_t i = 0; i < schema->part_count; i++)
        walk->parts[i].from = walk->parts[i].to = 0;
    for (;;) {
        if (part != NO_PART) {
            if (!walk->parts[part].from)
                walk->parts[part].from = at;
            if (!schema->parts[part].sections)
                walk_entries(program, part, record, after_marker, &at, length, walk);
            else if (!walk_sections(program, record, &at, length, walk))
                return false;
            walk->parts[part].to = at;
        }
        if (at == length)
            break;
        int next = marker_at(program, part, record, at, length, true);
        if (next == NO_PART) {
            int opened = marker_at(program, part, record, at, length, false);
            uint32_t least = at + 1;
            if (opened != NO_PART) {
                part = opened;
                least = at + (uint32_t)schema->parts[part].marker.length;
            }
            if (!find_resume(program, record, at, least, length, part, walk))
                return false;
            walk->worst += 2 * (size_t)(walk->gap_end - walk->gap) + 64;
            at = walk->gap_end;
            after_marker = false;
            continue;
        }
        part = next;
        after_marker = true;
        at += (uint32_t)schema->parts[part].marker.length;
    }
    for (size_t i = 0; i < schema->part_count; i++)
        walk->worst += 160; /* the arrays' heads */
    return true;
}

void fixed_walk_free(fixed_walk_t *walk) {
    free(walk->sections);
    free(walk->explained);
    *walk = (fixed_walk_t){0};
}
