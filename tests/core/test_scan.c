/* ends_scan where each line end ends a record, and the masks that it is made of, against a reading byte by byte. (Of texts whose
 * quoted fields may contain line ends: test_ends.c, and tests/fuzz/fuzz_ends.c.) */
#include "format/cut/ends.h"
#include "format/cut/masks.h"
#include "format_lab.h"
#include "test.h"

static scan_t make(size_t length) {
    scan_t scan = {.ends = malloc((length + SCAN_SLACK) * sizeof(uint32_t)),
                   .rows = malloc((length + 2) * sizeof(uint32_t)),
                   .row_quotes = malloc((length + 2) * sizeof(uint32_t))};
    LAB_MUST(scan.ends && scan.rows && scan.row_quotes);
    return scan;
}

static void drop(scan_t *scan) {
    free(scan->ends);
    free(scan->rows);
    free(scan->row_quotes);
}

static void scan_plain(const uint8_t *text, uint32_t from, uint32_t to, char delimiter, char quote,
                       scan_t *scan) {
    for (uint32_t at = from; at < to; at++) {
        const bool is_quote = quote && text[at] == (uint8_t)quote;
        scan->high |= text[at] > 0x7F;
        scan->quotes |= is_quote;
        scan->quote_count += is_quote;
        if (text[at] == (uint8_t)delimiter || text[at] == '\n')
            scan->ends[scan->end_count++] = at;
        if (text[at] == '\n') {
            scan->row_quotes[scan->row_count] = scan->quote_count;
            scan->rows[scan->row_count++] = (uint32_t)scan->end_count;
        }
    }
}

static void same(const scan_t *one, const scan_t *other) {
    assert_int_equal(one->end_count, other->end_count);
    assert_int_equal(one->row_count, other->row_count);
    assert_memory_equal(one->ends, other->ends, one->end_count * sizeof *one->ends);
    assert_memory_equal(one->rows, other->rows, one->row_count * sizeof *one->rows);
    assert_memory_equal(one->row_quotes, other->row_quotes, one->row_count * sizeof *one->row_quotes);
    assert_int_equal(one->high, other->high);
    assert_int_equal(one->quotes, other->quotes);
    assert_int_equal(one->quote_count, other->quote_count);
}

static uint8_t byte_of(uint64_t *seed, uint64_t kind) {
    static const uint8_t bytes[] = "|\n\",\t\r\\\x7f\x80\xff;";
    switch (kind) {
    case 0:
        return (uint8_t)lab_chance(seed, 256);
    case 1:
        return bytes[lab_chance(seed, 11)];
    case 2:
        return lab_chance(seed, 20) ? (uint8_t)('a' + lab_chance(seed, 26)) : bytes[lab_chance(seed, 5)];
    default:
        return (uint8_t) "|\n"[lab_chance(seed, 2)];
    }
}

/* Random bytes, alignments, lengths and delimiters, in memory that ends where the contract says; at once and in pieces. */
TEST(random) {
    static const char delimiters[] = {'|', ',', '\t', ';', ' ', 'a', 0x01, 0x7f};
    uint64_t seed = 9;
    for (int round = 0; round < 20000; round++) {
        const uint32_t length = (uint32_t)lab_chance(&seed, round % 10 ? 300 : 5000),
                       front = (uint32_t)lab_chance(&seed, 64);
        uint8_t *raw = malloc((size_t)front + length + 64), *text = raw + front;
        LAB_MUST(raw);
        const uint64_t kind = lab_chance(&seed, 4);
        for (size_t i = 0; i < (size_t)front + length + 64; i++)
            raw[i] = byte_of(&seed, i < front || i >= front + length ? 1 : kind);
        const schema_t schema = {.quote = "\"'\0"[lab_chance(&seed, 3)]};
        const char delimiter = delimiters[lab_chance(&seed, 8)];
        const uint32_t step = round % 3 ? length : 1 + (uint32_t)lab_chance(&seed, 200);
        scan_t plain = make(length), scan = make(length);
        scan_plain(text, 0, length, delimiter, schema.quote, &plain);
        for (uint32_t at = 0; at < length; at += step)
            ends_scan(&schema, delimiter, text, length, 0, at, length - at < step ? length : at + step,
                      &scan);
        same(&plain, &scan);
        drop(&plain);
        drop(&scan);
        free(raw);
    }
}

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
        uint8_t text[64], byte = byte_of(&seed, 1), of = round % 2 ? 0xFF : 0xDF;
        uint64_t same_byte = 0, high = 0;
        for (int i = 0; i < 64; i++) {
            text[i] = byte_of(&seed, (uint64_t)round % 3);
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
