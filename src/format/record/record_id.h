/* record_id: the `_id` of a record, computed only from its place in its file.
 *
 *     bit 63 62      53 52                                                   0
 *         0  | lane     | voff = extent base + offset in the decompressed text |
 *
 *     lane = the 10 bits of (ordinal + offset / 256 KiB) mod 1024, reversed
 *
 * Reversing the bits sends neighbouring blocks to lanes that are far apart. So if the lanes are cut into ranges, all
 * ranges are busy at any moment. */
#ifndef TIPPLE_FORMAT_RECORD_RECORD_ID_H
#define TIPPLE_FORMAT_RECORD_RECORD_ID_H

#include <stdint.h>

#define RECORD_ID_BLOCK_BYTES  (256 * 1024)
#define RECORD_ID_LANES        1024
#define RECORD_ID_OFFSET_BITS  53
#define RECORD_ID_EXTENT_UNIT  (1024 * 1024) /* extents are whole MiB */
#define RECORD_ID_STREAM_PIECE (64ull << 30) /* an input of unknown size gets extents of this many bytes */
#define RECORD_ID_LANE_RULE    1             /* kept in the catalog; a changed rule gets another number */

static inline uint32_t record_id_lane(uint32_t ordinal, uint64_t offset) {
    uint32_t bits = (uint32_t)((ordinal + offset / RECORD_ID_BLOCK_BYTES) % RECORD_ID_LANES);
    uint32_t lane = 0;
    for (int i = 0; i < 10; i++)
        lane |= ((bits >> i) & 1) << (9 - i);
    return lane;
}

static inline int64_t record_id_make(uint32_t lane, uint64_t voff) {
    return (int64_t)((uint64_t)lane << RECORD_ID_OFFSET_BITS | voff);
}

static inline uint64_t record_id_voff(int64_t id) {
    return (uint64_t)id & ((1ull << RECORD_ID_OFFSET_BITS) - 1);
}

static inline uint32_t record_id_lane_of(int64_t id) {
    return (uint32_t)((uint64_t)id >> RECORD_ID_OFFSET_BITS);
}

#endif
