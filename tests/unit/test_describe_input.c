/* describe_input: into which pieces a large file is divided. */
#include "format/record/record_id.h"
#include "load/before/describe_input.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

enum { MIB = 1 << 20 };

static void test_pieces(void **state) {
    (void)state;
    for (uint64_t size = 0; size < 40000ull * MIB; size += 17 * MIB - 1) {
        const input_file_t input = {
            .name = "x", .path = "x", .kind = INPUT_PLAIN, .text_bound = size, .disk_bytes = size};
        wanted_t wanted;
        describe_input(&input, &wanted);
        if (size < 128ull * MIB - RECORD_ID_BLOCK_BYTES)
            assert_int_equal(wanted.pieces, 1);
        if (wanted.pieces == 1)
            continue;
        const uint64_t last = (wanted.pieces - 1) * wanted.piece_blocks * RECORD_ID_BLOCK_BYTES;
        assert_uint_in_range(wanted.pieces, 2, 256);
        if (wanted.piece_blocks * RECORD_ID_BLOCK_BYTES < 64 * MIB || last + 63 * (uint64_t)MIB > size)
            fail_msg("%llu bytes: %zu pieces of %llu blocks, and the last one is too small",
                     (unsigned long long)size, wanted.pieces, (unsigned long long)wanted.piece_blocks);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_pieces)};
    return cmocka_run_group_tests_name("describe_input", tests, NULL, NULL);
}
