/* json_value: texts by hand, with what must become of them; rooms, guards, ends. (The same as
 * libbson makes of it: tests/fuzz/fuzz_json.c.) */
#include "format/types.h"
#include "json_value_lab.h"
#include "test.h"

static json_value_t *json;

static int make_reader(TEST_UNUSED void **state) {
    return (json = values_new()) ? 0 : -1;
}

static int drop_reader(TEST_UNUSED void **state) {
    values_free(json);
    return 0;
}

/* As canonical extended JSON; an empty array as the driver writes it from 1.30 on. */
static char *printed(const lab_json_t *one) {
    bson_t document;
    if (!bson_init_static(&document, one->document, one->length))
        fail_msg("this is no BSON");
    assert_true(lab_valid_json(one));
    char *text = bson_as_canonical_extended_json(&document, NULL);
    assert_non_null(text);
    for (char *empty; (empty = strstr(text, "[  ]")) || (empty = strstr(text, "{  }"));)
        memmove(empty + 1, empty + 2, strlen(empty + 2) + 1);
    return text;
}

static void becomes(const char *text, size_t length, const char *expected) {
    lab_json_t one = lab_json_read(json, text, length);
    if (one.read != PARSED_DOCUMENT)
        fail_msg("%s is rejected: %s, at %zu", text, one.reason, one.at);
    char *now = printed(&one);
    if (strcmp(now, expected) != 0)
        fail_msg("%s\nbecomes %s\nnot     %s", text, now, expected);
    bson_free(now);
    lab_json_free(&one);
}

/* --- what becomes of texts ---------------------------------------------------------------------------------------- */

/* Calls `row` with each row of tests/data/json/values.txt, cut at its tabs. */
static void each_row(size_t parts, void (*row)(char **parts, size_t length)) {
    char path[1000], line[2000], *part[5];
    const char *const root = getenv("TIPPLE_ROOT");
    size_t rows = 0;
    snprintf(path, sizeof path, "%s/tests/data/json/values.txt", root ? root : ".");
    FILE *file = fopen(path, "r");
    assert_non_null(file);
    while (fgets(line, sizeof line, file)) {
        char *rest = line;
        size_t count = 0;
        while (count < 4 && (part[count] = strsep(&rest, "\t\n")))
            count++;
        if (*line == '#' || (count == 4) != (parts == 4))
            continue;
        rows++;
        for (size_t i = 1; i < count; i++)
            lab_plain(part[i]);
        row(part, lab_plain(part[0]));
    }
    fclose(file);
    assert_true(rows > 30);
}

static void is_accepted(char **row, size_t length) {
    becomes(row[0], length, row[1]);
}

TEST(accepted) {
    each_row(2, is_accepted);
}

/* A NUL in a text is written as an escape, and libbson prints it so. */
TEST(nul) {
    becomes("{\"a\":\"b\\u0000c\"}", 16, "{ \"a\" : \"b\\u0000c\" }");
}

/* --- rejects ------------------------------------------------------------------------------------------------------ */

static void is_rejected(char **row, size_t length) {
    lab_json_t one = lab_json_read(json, row[0], length);
    if (one.read != PARSED_REJECT)
        fail_msg("%s is taken", row[0]);
    if (one.at != (size_t)atoi(row[1]) || !strstr(one.reason, row[2]))
        fail_msg("%s\nis rejected at %zu: %s\nnot at         %s: %s", row[0], one.at, one.reason, row[1],
                 row[2]);
    lab_json_free(&one);
}

TEST(rejected) {
    each_row(4, is_rejected);
}

/* Whatever stands after the end of a text must not complete it. */
static void has_no_beginning(char **row, TEST_UNUSED size_t all) {
    static const char *const tails[] = {"\"}",     "}",  "]}",   ":1}", "7}",      "\"}\"}}}}",
                                        "\":1}}}", "e}", "rue}", " }",  "77777777"};
    const size_t whole = (size_t)(strrchr(row[0], '}') - row[0]);
    for (size_t length = 0; length <= whole; length++)
        for (size_t j = 0; j < sizeof tails / sizeof *tails; j++) {
            uint8_t out[8192], room[512] = {0};
            memcpy(room + POOL_SLACK, row[0], length);
            for (size_t at = POOL_SLACK + length; at < sizeof room; at++)
                room[at] = (uint8_t)tails[j][(at - POOL_SLACK - length) % strlen(tails[j])];
            if (json_value_read(json, room + POOL_SLACK, length, true, out, sizeof out, NULL) !=
                PARSED_REJECT)
                fail_msg("%.*s", (int)length, row[0]);
            assert_true(json->place <= room + POOL_SLACK + length);
        }
}

TEST(every_beginning) {
    each_row(2, has_no_beginning);
}

/* --- _id ---------------------------------------------------------------------------------------------------------- */

static void with_id(const char *text, bool own, const char *expected) {
    lab_json_t one = lab_json_id(json, text, strlen(text), true, 1LL << 40);
    if (one.read != PARSED_DOCUMENT)
        fail_msg("%s: %s", text, one.reason);
    char *now = printed(&one);
    assert_string_equal(now, expected);
    assert_int_equal(one.own_id, own);
    bson_free(now);
    lab_json_free(&one);
}

TEST(id) {
    with_id("{}", false, "{ \"_id\" : { \"$numberLong\" : \"1099511627776\" } }");
    with_id("{\"a\":{\"_id\":1}}", false,
            "{ \"_id\" : { \"$numberLong\" : \"1099511627776\" }, \"a\" : { \"_id\" : { \"$numberInt\" : "
            "\"1\" } } }");
    with_id("{\"_id\":\"x\",\"a\":1}", true, "{ \"_id\" : \"x\", \"a\" : { \"$numberInt\" : \"1\" } }");
    with_id("{\"a\":1,\"_id\":\"x\",\"b\":2}", true,
            "{ \"_id\" : \"x\", \"a\" : { \"$numberInt\" : \"1\" }, \"b\" : { \"$numberInt\" : \"2\" } }");
    with_id("{\"a\":\"a text that is longer than the id\",\"_i\\u0064\":{\"b\":[],\"c\":{\"_id\":0}}}", true,
            "{ \"_id\" : { \"b\" : [ ], \"c\" : { \"_id\" : { \"$numberInt\" : \"0\" } } }, \"a\" : \"a "
            "text that is "
            "longer than the id\" }");
    with_id("{\"_id\":{\"$oid\":\"0123456789abcdef01234567\"}}", true,
            "{ \"_id\" : { \"$oid\" : \"0123456789abcdef01234567\" } }");
    becomes("{\"a\":1,\"_id\":2}", 15,
            "{ \"a\" : { \"$numberInt\" : \"1\" }, \"_id\" : { \"$numberInt\" : \"2\" } }");
    lab_json_t twice = lab_json_id(json, "{\"_id\":1,\"a\":0,\"_id\":2}", 24, true, 1);
    assert_int_equal(twice.read, PARSED_REJECT);
    lab_json_free(&twice);
}

/* --- limits ------------------------------------------------------------------------------------------------------- */

static void nest(grown_t *text, size_t levels, bool arrays) {
    grown_text(text, "{\"a\":");
    for (size_t i = 1; i < levels; i++)
        grown_text(text, arrays ? "[" : "{\"a\":");
    grown_text(text, "1");
    for (size_t i = 1; i < levels; i++)
        grown_text(text, arrays ? "]" : "}");
    grown_text(text, "}");
}

TEST(levels) {
    for (int arrays = 0; arrays < 2; arrays++) {
        for (size_t levels = 178; levels < 184; levels++) {
            grown_t text = {0};
            nest(&text, levels, arrays);
            lab_json_t one = lab_json_read(json, text.at, text.size);
            assert_int_equal(one.read, levels <= 180 ? PARSED_DOCUMENT : PARSED_REJECT);
            if (levels > 180)
                assert_non_null(strstr(one.reason, "180 levels"));
            lab_json_free(&one);
            grown_free(&text);
        }
        grown_t text = {0};
        nest(&text, 100000, arrays);
        lab_json_t one = lab_json_read(json, text.at, text.size);
        assert_int_equal(one.read, PARSED_REJECT);
        lab_json_free(&one);
        grown_free(&text);
    }
}

/* {"a": "xxx..."} of exactly this many bytes of BSON. */
static lab_json_t of_size(size_t size, bool add_id) {
    grown_t text = {0};
    char *content = malloc(size);
    memset(content, 'x', size);
    grown_text(&text, "{\"a\":\"");
    grown_add(&text, content, size - 13);
    grown_text(&text, add_id ? "\",\"_id\":7}" : "\"}");
    lab_json_t one = lab_json_id(json, text.at, text.size, add_id, 0);
    grown_free(&text);
    free(content);
    return one;
}

TEST(largest) {
    for (int add_id = 0; add_id < 2; add_id++) {
        const size_t id = add_id ? 9 : 0;
        lab_json_t largest = of_size(16777216 - id, add_id), larger = of_size(16777217 - id, add_id),
                   much = of_size(30000000, add_id);
        assert_int_equal(largest.read, PARSED_DOCUMENT);
        assert_int_equal(largest.length, 16777216);
        assert_true(lab_valid_json(&largest));
        assert_int_equal(larger.read, PARSED_REJECT);
        assert_non_null(strstr(larger.reason, "larger than 16 MiB"));
        assert_int_equal(much.read, PARSED_REJECT);
        assert_non_null(strstr(much.reason, "larger than 16 MiB"));
        lab_json_free(&largest);
        lab_json_free(&larger);
        lab_json_free(&much);
    }
}

static void has_every_room(char **row, size_t length) {
    lab_json_t whole = lab_json_id(json, row[0], length, true, 5);
    for (size_t room = 0; room <= whole.length + JSON_MARGIN; room++) {
        lab_json_t one = lab_json_room(json, row[0], length, room, true, 5);
        if (one.read == PARSED_DOCUMENT) {
            assert_int_equal(one.length, whole.length);
            assert_memory_equal(one.document, whole.document, whole.length);
        } else {
            assert_int_equal(one.read, PARSED_FULL);
            assert_true(one.needed > room);
        }
        lab_json_free(&one);
    }
    lab_json_free(&whole);
}

TEST(every_room) {
    each_row(2, has_every_room);
}

/* --- keys --------------------------------------------------------------------------------------------------------- */

TEST(many_keys) {
    for (int twice = 0; twice < 2; twice++) {
        grown_t text = {0};
        char key[80];
        grown_text(&text, "{");
        for (int i = 0; i < 100000; i++) {
            snprintf(key, sizeof key, "%s\"%s%d\":{\"a\":0,\"b\":{}}", i ? "," : "",
                     i % 3 ? "k" : "a key that is longer than others ", i);
            grown_text(&text, key);
        }
        grown_text(&text, twice ? ",\"k77777\":1}" : "}");
        lab_json_t one = lab_json_read(json, text.at, text.size);
        assert_int_equal(one.read, twice ? PARSED_REJECT : PARSED_DOCUMENT);
        if (twice)
            assert_non_null(strstr(one.reason, "\"k77777\" is there twice"));
        lab_json_free(&one);
        grown_free(&text);
    }
}

/* --- numbers against libc ----------------------------------------------------------------------------------------- */

static void check_double(const char *number) {
    char text[600];
    bson_iter_t iter;
    bson_t document;
    const int size = snprintf(text, sizeof text, "{\"a\":%s}", number);
    const double expected = strtod(number, NULL);
    const bool vanishes = expected == 0 && strcspn(number, "123456789") < strcspn(number, "e");
    lab_json_t one = lab_json_read(json, text, (size_t)size);
    if (!isfinite(expected) || vanishes) {
        assert_int_equal(one.read, PARSED_REJECT);
    } else {
        assert_int_equal(one.read, PARSED_DOCUMENT);
        assert_true(bson_init_static(&document, one.document, one.length));
        assert_true(bson_iter_init_find(&iter, &document, "a"));
        assert_int_equal(bson_iter_type(&iter), BSON_TYPE_DOUBLE);
        const double now = bson_iter_double(&iter);
        if (memcmp(&now, &expected, sizeof now) != 0)
            fail_msg("%s is read as %.17g, not %.17g", number, now, expected);
    }
    lab_json_free(&one);
}

TEST(doubles) {
    uint64_t seed = 1;
    char number[600];
    /* digits on both sides of the point, of every length */
    for (size_t whole = 1; whole < 30; whole++) {
        for (size_t part = 1; part < 30; part++) {
            size_t at = 0;
            for (size_t i = 0; i < whole; i++)
                number[at++] = (char)('1' + lab_chance(&seed, 9));
            number[at++] = '.';
            for (size_t i = 0; i < part; i++)
                number[at++] = (char)('0' + lab_chance(&seed, 10));
            number[at] = '\0';
            check_double(number);
        }
    }
    /* in the middle between two doubles, or nearly */
    static const char *const odd[] = {
        "9007199254740993.0",
        "1.8446744073709551617", /* 2^64 + 1: 20 digits whose last 64 bits are few */
        "9007199254740993.00000000000000000000000001",
        "0.500000000000000166533453693773481063544750213623046875",
        "1.7976931348623159e308",
        "4.9e-324",
        "2e-324",
        "0.0e999999999999",
        "-0e-400",
        "1e-999999999",
        "1e999999999"};
    for (size_t i = 0; i < sizeof odd / sizeof *odd; i++)
        check_double(odd[i]);
    memset(number, '7', 500);
    memcpy(number + 500, "e-400", 6);
    check_double(number);
}

TEST_GROUP(make_reader, drop_reader);
