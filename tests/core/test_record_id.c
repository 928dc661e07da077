/* position: the _id of a record, there and back, and the spread of the lanes. */
#include "format/record/record_id.h"
#include "test.h"

#include <string.h>

TEST(lane_reverses_ten_bits) {
    assert_int_equal(record_id_lane(0, 0), 0);
    assert_int_equal(record_id_lane(0, RECORD_ID_BLOCK_BYTES - 1), 0);
    assert_int_equal(record_id_lane(0, RECORD_ID_BLOCK_BYTES), 512);
    assert_int_equal(record_id_lane(1, 0), 512);
    assert_int_equal(record_id_lane(0, 2 * RECORD_ID_BLOCK_BYTES), 256);
    assert_int_equal(record_id_lane(1, RECORD_ID_BLOCK_BYTES), 256);
    assert_int_equal(record_id_lane(0, 1023ull * RECORD_ID_BLOCK_BYTES), 1023);
    assert_int_equal(record_id_lane(1024, 0), 0);
    /* the sum is taken before it is cut: no overflow at the far ends */
    assert_uint_in_range(record_id_lane(UINT32_MAX, (1ull << RECORD_ID_OFFSET_BITS) - 1), 0,
                         RECORD_ID_LANES - 1);
}

TEST(id_and_back) {
    static const uint64_t voffs[] = {0, 1, 262143, 262144, 1ull << 40, (1ull << RECORD_ID_OFFSET_BITS) - 1};
    for (uint32_t lane = 0; lane < RECORD_ID_LANES; lane++) {
        for (size_t i = 0; i < sizeof voffs / sizeof *voffs; i++) {
            int64_t id = record_id_make(lane, voffs[i]);
            assert_true(id >= 0);
            assert_true(record_id_voff(id) == voffs[i]);
            assert_int_equal(record_id_lane_of(id), lane);
        }
    }
}

/* Any 1,024 blocks in a row use every lane once, so that every id range of equal size gets its share. */
TEST(blocks_use_all_lanes) {
    static const uint32_t ordinals[] = {0, 1, 7, 1000, 123456};
    for (size_t i = 0; i < sizeof ordinals / sizeof *ordinals; i++) {
        char used[RECORD_ID_LANES];
        memset(used, 0, sizeof used);
        for (uint64_t block = 0; block < RECORD_ID_LANES; block++)
            used[record_id_lane(ordinals[i], (block + 37) * RECORD_ID_BLOCK_BYTES)]++;
        for (size_t lane = 0; lane < RECORD_ID_LANES; lane++)
            assert_int_equal(used[lane], 1);
    }
}

/* A few blocks in a row already fall evenly on 2, 4 or 8 equal ranges of lanes, and so do small files. */
TEST(any_moment_is_even) {
    for (uint32_t shards = 2; shards <= 8; shards *= 2) {
        int by_block[8] = {0}, by_file[8] = {0};
        for (uint32_t i = 0; i < 16; i++) {
            by_block[record_id_lane(3, i * (uint64_t)RECORD_ID_BLOCK_BYTES) / (RECORD_ID_LANES / shards)]++;
            by_file[record_id_lane(i, 100) / (RECORD_ID_LANES / shards)]++;
        }
        for (uint32_t shard = 0; shard < shards; shard++) {
            assert_int_equal(by_block[shard], 16 / shards);
            assert_int_equal(by_file[shard], 16 / shards);
        }
    }
}
