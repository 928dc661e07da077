/* hex: digits, and ObjectIds and UUIDs in letters of one case and of both. */
#include "format/values/hex.h"
#include "test.h"

#include <stdint.h>
#include <string.h>

TEST(bytes) {
    static const struct {
        const char *text;
        int value; /* -1: it is none */
    } cases[] = {{"", -1},    {"0", 0},   {"7", 7},   {"f", 15},  {"F", 15},   {"00", 0},  {"80", 128},
                 {"fF", 255}, {"g", -1},  {"0x", -1}, {"-1", -1}, {" 1", -1},  {"1 ", -1}, {"/0", -1},
                 {":0", -1},  {"@0", -1}, {"G0", -1}, {"`0", -1}, {"000", -1}, {"0ff", -1}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        uint8_t value;
        const bool is = hex_read_byte((const uint8_t *)cases[i].text, strlen(cases[i].text), &value);
        if (is != (cases[i].value >= 0) || (is && value != cases[i].value))
            fail_msg("'%s'", cases[i].text);
    }
}

/* Asked for one case, and for any. */
TEST(cases) {
    static const struct {
        const char *text;
        bool any, one, capital;
    } cases[] = {
        {"0123456789abcdef01234567", true, true, false},
        {"0123456789ABCDEF01234567", true, true, true},
        {"012345678901234567890123", true, true, false},
        {"0123456789abcdeF01234567", true, false, false},
        {"A123456789012345678901ff", true, false, false},
        {"a123456789012345678901FF", true, false, false},
        {"0123456789abcdeg01234567", false, false, false},
        {"0123456789abcdef0123456", false, false, false},
        {"0123456789abcdef012345678", false, false, false},
        {"0123456789abcdef0123456-", false, false, false},
        {"01234567-89ab-cdef-0123-456789abcdef", true, true, false},
        {"01234567-89AB-CDEF-0123-456789ABCDEF", true, true, true},
        {"01234567-8901-2345-6789-012345678901", true, true, false},
        {"01234567-89ab-cdef-0123-456789abcdeF", true, false, false},
        {"A1234567-8901-2345-6789-01234567890f", true, false, false},
        {"0123456789-ab-cdef-0123-456789abcdef", false, false, false},
        {"01234567-89ab-cdef-0123_456789abcdef", false, false, false},
        {"01234567-89ab-cdef-0123-456789abcdeg", false, false, false},
        {"01234567-89ab-cdef-0123-456789abcde-", false, false, false},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        const uint8_t *const text = (const uint8_t *)cases[i].text;
        const size_t length = strlen(cases[i].text);
        uint8_t bytes[HEX_UUID];
        bool capital = false;
        const bool uuid = length == HEX_UUID_TEXT;
        const bool fits = uuid || length == 24,
                   any = fits && (uuid ? hex_read_uuid : hex_read)(text, length, bytes, NULL),
                   one = fits && (uuid ? hex_read_uuid : hex_read)(text, length, bytes, &capital);
        if (any != cases[i].any || one != cases[i].one || (one && capital != cases[i].capital))
            fail_msg("'%s'", cases[i].text);
    }
}
