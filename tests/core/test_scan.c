/* scan: every implementation against the plain one, byte for byte, at every alignment and length. */
#include "format/cut/scan.c" /* the ones that scan_best does not choose on this machine are static */
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

typedef struct {
    const char *name;
    scan_fn *scan;
} way_t;

static size_t ways(way_t out[4]) {
    size_t count = 0;
    out[count++] = (way_t){"the best", scan_best()};
#if defined(__x86_64__)
    out[count++] = (way_t){"sse2", scan_sse2};
    if (__builtin_cpu_supports("avx2") && __builtin_cpu_supports("bmi2"))
        out[count++] = (way_t){"avx2", scan_avx2};
#endif
    return count;
}

static void compare(const way_t *way, const uint8_t *text, uint32_t from, uint32_t to, char delimiter,
                    char quote) {
    scan_t one = make(to - from), other = make(to - from);
    scan_plain(text, from, to, delimiter, quote, &one);
    way->scan(text, from, to, delimiter, quote, &other);
    if (one.end_count != other.end_count || one.row_count != other.row_count ||
        memcmp(one.ends, other.ends, one.end_count * sizeof *one.ends) != 0 ||
        memcmp(one.rows, other.rows, one.row_count * sizeof *one.rows) != 0 ||
        memcmp(one.row_quotes, other.row_quotes, one.row_count * sizeof *one.rows) != 0)
        fail_msg("%s: bounds of [%u, %u), delimiter %02x, quote %02x", way->name, from, to,
                 (unsigned)delimiter & 0xFF, (unsigned)quote & 0xFF);
    if (one.high != other.high || one.quotes != other.quotes || one.quote_count != other.quote_count)
        fail_msg("%s: marks of [%u, %u), delimiter %02x, quote %02x", way->name, from, to,
                 (unsigned)delimiter & 0xFF, (unsigned)quote & 0xFF);
    drop(&one);
    drop(&other);
}

/* The picture in the header. */
TEST(by_hand) {
    slack_t slack = slack_new("12|3||4\n", 8);
    scan_t scan = make(8);
    scan_plain(slack.text, 0, 8, '|', '"', &scan);
    static const uint32_t ends[] = {2, 4, 5, 7};
    assert_int_equal(scan.end_count, 4);
    assert_memory_equal(scan.ends, ends, sizeof ends);
    assert_int_equal(scan.row_count, 1);
    assert_int_equal(scan.rows[0], 4);
    assert_false(scan.high);
    assert_false(scan.quotes);
    drop(&scan);
    slack_free(&slack);
    slack = slack_new("a,\"b\n\n\x80", 7);
    scan = make(7);
    scan_plain(slack.text, 0, 7, ',', '"', &scan);
    static const uint32_t ends2[] = {1, 4, 5}, rows2[] = {2, 3};
    assert_int_equal(scan.end_count, 3);
    assert_memory_equal(scan.ends, ends2, sizeof ends2);
    assert_int_equal(scan.row_count, 2);
    assert_memory_equal(scan.rows, rows2, sizeof rows2);
    assert_true(scan.high);
    assert_true(scan.quotes);
    assert_int_equal(scan.quote_count, 1);
    assert_int_equal(scan.row_quotes[0], 1);
    assert_int_equal(scan.row_quotes[1], 1);
    drop(&scan);
    slack_free(&slack);
}

static uint8_t telling(uint64_t *seed, uint64_t kind) {
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

/* Random bytes, alignments, lengths and delimiters; memory that ends where the contract says. */
TEST(random) {
    static const char delimiters[] = {'|', ',', '\t', ';', ' ', 'a', 0x01, 0x7f};
    way_t list[4];
    size_t count = ways(list);
    uint64_t seed = 9;
    for (int round = 0; round < 20000; round++) {
        uint32_t length = (uint32_t)lab_chance(&seed, round % 10 ? 300 : 5000),
                 front = (uint32_t)lab_chance(&seed, 64);
        uint8_t *raw = malloc((size_t)front + length + 63);
        LAB_MUST(raw);
        uint64_t kind = lab_chance(&seed, 4);
        for (size_t i = 0; i < (size_t)front + length + 63; i++)
            raw[i] = telling(&seed, i < front || i >= front + length ? 1 : kind);
        uint32_t from = (uint32_t)lab_chance(&seed, length + 1),
                 to = from + (uint32_t)lab_chance(&seed, length - from + 1);
        char quote = "\"'\0"[lab_chance(&seed, 3)];
        compare(&list[(size_t)round % count], raw + front, from, to, delimiters[lab_chance(&seed, 8)], quote);
        free(raw);
    }
}

/* A mark at one place, and only there: nothing beyond the end is noticed. */
TEST(one_byte) {
    way_t list[4];
    size_t count = ways(list);
    uint8_t raw[256 + 63];
    for (uint32_t place = 0; place < 256 + 63; place++) {
        for (int what = 0; what < 4; what++) {
            memset(raw, 'x', sizeof raw);
            raw[place] = (uint8_t) "|\n\"\xE9"[what];
            for (size_t i = 0; i < count; i++) {
                scan_t scan = make(256);
                list[i].scan(raw, 3, 250, '|', '"', &scan);
                bool inside = place >= 3 && place < 250;
                assert_int_equal(scan.end_count, inside && what < 2);
                assert_int_equal(scan.row_count, inside && what == 1);
                assert_int_equal(scan.quotes, inside && what == 2);
                assert_int_equal(scan.quote_count, inside && what == 2);
                assert_int_equal(scan.high, inside && what == 3);
                if (scan.end_count)
                    assert_int_equal(scan.ends[0], place);
                drop(&scan);
            }
        }
    }
}

/* A text scanned in pieces gives the bounds of the whole: pieces append, and marks stay. */
TEST(pieces) {
    way_t list[4];
    size_t count = ways(list);
    uint64_t seed = 10;
    for (int round = 0; round < 2000; round++) {
        uint8_t text[1000 + 63];
        for (size_t i = 0; i < sizeof text; i++)
            text[i] = telling(&seed, 2);
        scan_t whole = make(1000), pieces = make(1000);
        scan_plain(text, 0, 1000, ',', '"', &whole);
        for (uint32_t at = 0; at < 1000;) {
            uint32_t to = at + 1 + (uint32_t)lab_chance(&seed, 200);
            to = to < 1000 ? to : 1000;
            list[(size_t)round % count].scan(text, at, to, ',', '"', &pieces);
            at = to;
        }
        assert_int_equal(whole.end_count, pieces.end_count);
        assert_int_equal(whole.row_count, pieces.row_count);
        assert_memory_equal(whole.ends, pieces.ends, whole.end_count * sizeof *whole.ends);
        assert_memory_equal(whole.rows, pieces.rows, whole.row_count * sizeof *whole.rows);
        assert_int_equal(whole.high, pieces.high);
        assert_int_equal(whole.quotes, pieces.quotes);
        assert_int_equal(whole.quote_count, pieces.quote_count);
        assert_memory_equal(whole.row_quotes, pieces.row_quotes, whole.row_count * sizeof *whole.row_quotes);
        drop(&whole);
        drop(&pieces);
    }
}
