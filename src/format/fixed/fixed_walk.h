/* fixed_walk: what stands behind the fixed part of a record: the parts in their order, each with its sections
 * or entries, strictly from left to right.
 *
 *     ....ADD AA1xxxxxxxx GA1xxxxxxxxxxxxx ??? MA1xxxxxxxxxxxx REM SYN004abcd MET005abcde
 *     fixed   |section    |section         gap |section            |entry     |entry
 *
 * At a place that explains nothing (an unknown identifier, an entry that reaches beyond the end, a marker
 * with nothing behind it) a gap begins. It ends at the nearest place from which the rest explains itself
 * exactly to the record's end, in the same part or at the marker of a later one; so there is at most one. A
 * marker opens its part even when the gap begins with it: then all of it belongs to the gap. */
#ifndef TIPPLE_FORMAT_FIXED_FIXED_WALK_H
#define TIPPLE_FORMAT_FIXED_FIXED_WALK_H

#include "format/fixed/fixed_plan.h"

typedef struct {
    uint32_t at; /* in the record: where its identifier stands */
    uint8_t section;
} fixed_found_t;

typedef struct {
    fixed_found_t *sections;
    size_t section_count, section_room;
    bool ascending; /* their identifiers are, strictly */
    bool together;  /* those of one section stand side by side */
    struct {
        uint32_t from, to; /* its entries, a gap among them; empty: the record has none */
    } parts[SCHEMA_MOST_PARTS];
    uint32_t gap, gap_end; /* empty: none */
    size_t worst;          /* bytes of a document of all this, at most */
    uint8_t *explained;    /* memory from gap to gap */
    size_t explained_room;
} fixed_walk_t;

/* length: at least the fixed part's. Bytes up to POOL_SLACK behind the record may be read. False: out of
 * memory. */
bool fixed_walk(const fixed_plan_t *plan, const uint8_t *record, uint32_t length, fixed_walk_t *walk);
void fixed_walk_free(fixed_walk_t *walk);

/* The end of the entry at `at`, at most `end`; or 0 when none stands there. */
static inline uint32_t fixed_walk_entry(const fixed_part_t *part, const uint8_t *record, uint32_t at,
                                        uint32_t end) {
    const uint8_t *text = record + at;
    uint32_t counted = 0;
    if (end - at < part->width)
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
    return end - at - part->width >= counted ? at + part->width + counted : 0;
}

#endif
