/* fixed_walk: finds what follows the fixed part of a record: the parts in their order, each with its sections or
 * entries, strictly from left to right.
 *
 *     ....ADD AA1xxxxxxxx GA1xxxxxxxxxxxxx ??? MA1xxxxxxxxxxxx REM SYN004abcd MET005abcde
 *     fixed   |section    |section         gap |section            |entry     |entry
 *
 * Where nothing known is found (an unknown identifier, an entry that is longer than the rest, a marker that nothing
 * follows), a gap begins. It ends at the nearest place from which everything up to the record's end is known, in the
 * same part or at the marker of a later one. So there is at most one gap. A marker begins its part even if the gap
 * begins with the marker: then the whole part is in the gap. */
#ifndef TIPPLE_FORMAT_ENGINE_FIXED_WALK_H
#define TIPPLE_FORMAT_ENGINE_FIXED_WALK_H

#include "format/engine/program.h"

/* Those of one section are a chain, in their order. */
typedef struct {
    uint32_t at;   /* its identifier's place in the record */
    uint32_t next; /* the number of the next one of its section; 0: it is the last one */
    uint8_t section;
    bool first; /* of its section */
} fixed_found_t;

typedef struct {
    fixed_found_t *sections;
    size_t section_count, section_room;
    bool ascending; /* their identifiers are strictly ascending */
    uint32_t
        last[SCHEMA_MOST_SECTIONS]; /* of each section that was found: the number of the last one, from 1 */
    struct {
        uint32_t from, to; /* its entries, with a gap among them; empty: the record does not have the part */
    } parts[SCHEMA_MOST_PARTS];
    uint32_t gap, gap_end; /* empty: there is none */
    size_t worst;          /* the most bytes that a document of all this takes */
    uint8_t *explained;    /* memory that is reused from gap to gap */
    size_t explained_room;
} fixed_walk_t;

/* length: at least that of the fixed part. Up to POOL_SLACK bytes after the record may be read. False: out of
 * memory. */
bool fixed_walk(const program_t *program, const uint8_t *record, uint32_t length, fixed_walk_t *walk);
void fixed_walk_free(fixed_walk_t *walk);

/* The end of the entry at `at`, at most `end`; 0: there is no entry. */
static inline uint32_t fixed_walk_entry(const program_part_t *part, const uint8_t *record, uint32_t at,
                                        uint32_t end) {
    const uint8_t *text = record + at;
    uint32_t counted = 0;
    if (end - at < part->list.width)
        return 0;
    for (size_t i = 0; i < part->check_count; i++)
        if (!byteset_has(part->checks[i].set, text[part->checks[i].offset]))
            return 0;
    for (size_t i = 0; i < part->counted_width; i++) {
        uint32_t digit = (uint32_t)text[part->counted_offset + i] - '0';
        if (digit > 9)
            return 0;
        counted = counted * 10 + digit;
    }
    return end - at - part->list.width >= counted ? at + part->list.width + counted : 0;
}

#endif
