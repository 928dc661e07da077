/* masks: both ways to read 64 bytes, against a reading byte by byte. */
#include "format/cut/masks.h"
#include "format_lab.h"
#include "test.h"

#if defined(__x86_64__)
MASKS_WIDE static uint64_t wide_high(const uint8_t *text) {
    return masks_wide(text, MASKS_HIGH, MASKS_HIGH);
}

MASKS_WIDE static uint64_t wide(const uint8_t *text, uint8_t of, uint8_t byte) {
    return masks_wide(text, of, byte);
}
#endif

/* Both ways to read 64 bytes say the same of each. */
TEST(masks) {
    uint64_t seed = 10;
    for (int round = 0; round < 5000; round++) {
        static const uint8_t bytes[] = "|\n\",\t\r\\\x7f\x80\xff;";
        uint8_t text[64], byte = bytes[lab_chance(&seed, 11)], of = round % 2 ? 0xFF : 0xDF;
        uint64_t same_byte = 0, high = 0;
        for (int i = 0; i < 64; i++) {
            text[i] = round % 3 ? bytes[lab_chance(&seed, 11)] : (uint8_t)lab_chance(&seed, 256);
            same_byte |= (uint64_t)((text[i] & of) == byte) << i;
            high |= (uint64_t)(text[i] > 0x7F) << i;
        }
        assert_true(masks_narrow(text, of, byte) == same_byte);
        assert_true(masks_narrow(text, MASKS_HIGH, MASKS_HIGH) == high);
#if defined(__x86_64__)
        assert_true(!masks_are_wide() || wide(text, of, byte) == same_byte);
        assert_true(!masks_are_wide() || wide_high(text) == high);
#endif
    }
}
