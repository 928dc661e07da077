/* bson_walk and bson_span: which documents fit into themselves, and where documents end: by hand, against libbson on
 * documents that were damaged by chance, and in texts that are counted in steps. */
#include "bson_lab.h"
#include "format/cut/ends.h"
#include "load/plan/inputs.h"
#include "test.h"

#define ROW(bytes) bytes, sizeof bytes - 1

TEST(by_hand) {
    static const struct {
        const char *bytes;
        uint32_t length, own_id, at;
        const char *fault; /* NULL: none */
    } rows[] = {
        {ROW("\5\0\0\0\0"), 0, 0, NULL},
        {ROW("\x0C\0\0\0\x10k\0\1\0\0\0\0"), 0, 0, NULL},
        {ROW("\x0E\0\0\0\x10_id\0\1\0\0\0\0"), 4, 0, NULL},
        {ROW("\x11\0\0\0\x0A"
             "a\0\x10_id\0\1\0\0\0\0"),
         7, 0, NULL},
        {ROW("\x0F\0\0\0\x10_idx\0\1\0\0\0\0"), 0, 0, NULL},
        {ROW("\x14\0\0\0\3k\0\x0C\0\0\0\x10k\0\1\0\0\0\0\0"), 0, 0, NULL},
        {ROW("\x16\0\0\0\3k\0\x0E\0\0\0\x10_id\0\1\0\0\0\0\0"), 0, 0, NULL}, /* of a document within it */
        {ROW("\x08\0\0\0\xFFk\0\0"), 0, 0, NULL},
        {ROW("\x09\0\0\0\x08k\0\1\0"), 0, 0, NULL},
        {ROW("\x0D\0\0\0\2k\0\1\0\0\0\0\0"), 0, 0, NULL},
        {ROW("\x12\0\0\0\5k\0\5\0\0\0\2\1\0\0\0x\0"), 0, 0, NULL}, /* old binary data: two lengths, */
        {ROW("\x11\0\0\0\5k\0\4\0\0\0\2\0\0\0\0\0"), 0, 0, NULL},
        {ROW("\x12\0\0\0\5k\0\5\0\0\0\2\2\0\0\0x\0"), 0, 12, "the second length"}, /* which must fit */
        {ROW("\x12\0\0\0\5k\0\5\0\0\0\2\0\0\0\0x\0"), 0, 12, "the second length"},
        {ROW("\x12\0\0\0\5k\0\5\0\0\0\2\xFF\xFF\xFF\xFFx\0"), 0, 12, "the second length"},
        {ROW("\x10\0\0\0\5k\0\3\0\0\0\2\0\0\0\0"), 0, 12, "the second length"},
        {ROW("\x0D\0\0\0\5k\0\0\0\0\0\2\0"), 0, 12, "the second length"},
        {ROW("\x0A\0\0\0\x0Bk\0\0\0\0"), 0, 0, NULL},
        {ROW("\x1A\0\0\0\x0Ck\0\1\0\0\0\0xxxxxxxxxxxx\0\0"), 0, 24, "a document ends before"},
        {ROW("\x16\0\0\0\x0Fk\0\x0E\0\0\0\1\0\0\0\0\5\0\0\0\0\0"), 0, 0, NULL},
        {ROW("\x16\0\0\0\x0Fk\0\x0D\0\0\0\1\0\0\0\0\5\0\0\0\0\0"), 0, 0, "length of a value"},
        {ROW("\x16\0\0\0\x0Fk\0\x0E\0\0\0\2\0\0\0\0\5\0\0\0\0\0"), 0, 0, "text does not end"},
        {ROW("\6\0\0\0\0\0"), 0, 4, "a document ends before"},
        {ROW("\6\0\0\0\x10\0"), 0, 5, "a key has no"},
        {ROW("\7\0\0\0\x10k\0"), 0, 5, "a key has no"},
        {ROW("\x18\0\0\0\x10kkkkkkkkkkkkkkkkkk\0"), 0, 5, "a key has no"},
        {ROW("\x09\0\0\0\x55k\0\0\0"), 0, 4, "has this type"},
        {ROW("\x0B\0\0\0\x10k\0\1\0\0\0"), 0, 7, "a value is longer"},
        {ROW("\x09\0\0\0\x08k\0\2\0"), 0, 7, "a boolean is neither 0 nor 1"},
        {ROW("\x0D\0\0\0\2k\0\0\0\0\0\0\0"), 0, 7, "length of a value"},
        {ROW("\x0D\0\0\0\2k\0\2\0\0\0\0\0"), 0, 7, "length of a value"},
        {ROW("\x0D\0\0\0\2k\0\xFF\xFF\xFF\xFF\0\0"), 0, 7, "length of a value"},
        {ROW("\x0D\0\0\0\2k\0\1\0\0\0x\0"), 0, 11, "text does not end"},
        {ROW("\x0D\0\0\0\5k\0\1\0\0\0\0\0"), 0, 7, "length of a value"},
        {ROW("\x0D\0\0\0\3k\0\6\0\0\0\0\0"), 0, 7, "length of a value"},
        {ROW("\x0D\0\0\0\3k\0\4\0\0\0\0\0"), 0, 7, "length of a value"},
        {ROW("\x0D\0\0\0\3k\0\5\0\0\0\1\0"), 0, 11, "a document within it"},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        bson_walk_t walk;
        slack_t slack = slack_new(rows[i].bytes, rows[i].length);
        assert_int_equal(rows[i].length, bson_length(slack.text));
        const bool whole = bson_walk(slack.text, rows[i].length, false, &walk);
        if (whole != !rows[i].fault || (whole && walk.own_id != rows[i].own_id) ||
            (!whole && (!strstr(walk.fault, rows[i].fault) || (rows[i].at && walk.at != rows[i].at))))
            fail_msg("row %zu: %s at %u, own _id at %u", i, whole ? "whole" : walk.fault, walk.at,
                     walk.own_id);
        slack_free(&slack);
    }
}

/* Keys and texts that are not UTF-8 are faults only where that is asked for. */
TEST(utf8) {
    static const struct {
        const char *bytes;
        uint32_t length, at; /* 0: none */
    } rows[] = {
        {ROW("\x0F\0\0\0\2k\0\3\0\0\0\xC3\xA9\0\0"), 0},
        {ROW("\x10\0\0\0\2k\0\4\0\0\0a\0b\0\0"), 0},
        {ROW("\x0E\0\0\0\2k\0\2\0\0\0\xFF\0\0"), 11},
        {ROW("\x0F\0\0\0\x0Dk\0\3\0\0\0a\xC3\0\0"), 12},
        {ROW("\x10\0\0\0\x0Ek\0\4\0\0\0\xED\xA0\x80\0\0"), 11},
        {ROW("\x09\0\0\0\x0A\xC0\x80\0\0"), 5},
        {ROW("\x14\0\0\0\3k\0\x0C\0\0\0\x10\x80\0\1\0\0\0\0\0"), 12},
        {ROW("\x0C\0\0\0\x0Bk\0a\xE9\0\0\0"), 8},
        {ROW("\x0C\0\0\0\x0Bk\0a\0\xE9\0\0"), 9},
        {ROW("\x17\0\0\0\x0Fk\0\x0F\0\0\0\2\0\0\0\xE9\0\5\0\0\0\0\0"), 15},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        bson_walk_t walk;
        slack_t slack = slack_new(rows[i].bytes, rows[i].length);
        assert_int_equal(rows[i].length, bson_length(slack.text));
        assert_true(bson_walk(slack.text, rows[i].length, false, &walk));
        const bool valid = bson_walk(slack.text, rows[i].length, true, &walk);
        if (valid != !rows[i].at || (!valid && (walk.at != rows[i].at || !strstr(walk.fault, "not UTF-8"))))
            fail_msg("row %zu: %s at %u", i, valid ? "valid" : walk.fault, walk.at);
        slack_free(&slack);
    }
}

/* 180 levels are stored, 181 are not. */
TEST(levels) {
    for (int levels = 180; levels <= 181; levels++) {
        uint8_t bytes[2000] = {5};
        uint32_t length = 5;
        bson_walk_t walk;
        for (int i = 1; i < levels; i++) {
            memmove(bytes + 7, bytes, length);
            length += 8;
            memcpy(bytes, (uint8_t[]){(uint8_t)length, (uint8_t)(length >> 8), 0, 0, 3, 'k', 0}, 7);
            bytes[length - 1] = 0;
        }
        assert_int_equal(levels == 180, bson_walk(bytes, length, false, &walk));
    }
}

/* Only in the document itself, and only where all of it is zero. */
TEST(replaced) {
    static const struct {
        const char *json;
        uint32_t replaced;
    } cases[] = {
        {"{\"t\": {\"$timestamp\": {\"t\": 0, \"i\": 0}}}", 4},
        {"{\"a\": 1, \"t\": {\"$timestamp\": {\"t\": 0, \"i\": 0}}}", 11},
        {"{\"t\": {\"$timestamp\": {\"t\": 0, \"i\": 1}}}", 0},
        {"{\"_id\": {\"$timestamp\": {\"t\": 0, \"i\": 0}}}", 0}, /* that stays */
        {"{\"a\": 1, \"_id\": {\"$timestamp\": {\"t\": 0, \"i\": 0}}}", 0},
        {"{\"_id\": {\"$timestamp\": {\"t\": 0, \"i\": 0}}, \"t\": {\"$timestamp\": {\"t\": 0, \"i\": 0}}}",
         17},
        {"{\"t\": {\"$timestamp\": {\"t\": 1, \"i\": 0}}}", 0},
        {"{\"d\": {\"t\": {\"$timestamp\": {\"t\": 0, \"i\": 0}}}}", 0},
        {"{\"n\": {\"$numberLong\": \"0\"}}", 0},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        bson_error_t problem;
        bson_walk_t walk;
        bson_t *document = bson_new_from_json((const uint8_t *)cases[i].json, -1, &problem);
        assert_non_null(document);
        assert_true(bson_walk(bson_get_data(document), document->len, false, &walk));
        assert_int_equal(cases[i].replaced, walk.replaced);
        bson_destroy(document);
    }
}

TEST(find) {
    static const struct {
        const char *text;
        size_t length, found;
        bool lies;
    } rows[] = {
        {ROW(""), 0, false},           {ROW("\5\0\0"), 0, false},       {ROW("\5\0\0\0"), 0, false},
        {ROW("\5\0\0\0\0"), 5, false}, {ROW("\5\0\0\0\0\5"), 5, false}, {ROW("\5\0\0\0\1"), 0, true},
        {ROW("\4\0\0\0\0"), 0, true},  {ROW("\0\0\0\0"), 0, true},      {ROW("\xFF\xFF\xFF\xFF"), 0, true},
        {ROW("\0\0\0\x80"), 0, true},  {ROW("\0\x40\0\1"), 0, false}, /* 16 MiB and 16 KiB */
        {ROW("\1\x40\0\1"), 0, true},  {ROW("{\"a\":1}"), 0, true},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        bool lies;
        const size_t found = bson_span_find((const uint8_t *)rows[i].text, rows[i].length, &lies);
        if (found != rows[i].found || lies != rows[i].lies)
            fail_msg("row %zu: %zu, %d", i, found, lies);
    }
}

TEST(begins) {
    static const struct {
        const char *text;
        size_t length;
        bool begins;
    } rows[] = {
        {ROW(""), false},
        {ROW("\5\0\0\0"), false},
        {ROW("\5\0\0\0\0"), true},
        {ROW("\x0C\0\0\0\x10k\0\1\0\0\0\0 and more"), true},
        {ROW("\x0C\0\0\0\x10k\0\1\0"), true}, /* as far as it is there */
        {ROW("\x0C\0\0\0\x10k"), false},
        {ROW("\x0C\0\0\0\x55k\0\1\0"), false},
        {ROW("\x0C\0\0\0\x10\1\0\1\0"), false},
        {ROW("\x5D\0\0\0\1\xFF\xFF\xFF\xFF\xFF\xFF\xFF\xFF\0"), false}, /* lzma */
        {ROW("{\"a\": 1, \"b\": 2}"), false},
        {ROW("a,b,c\n1,2,3\n"), false},
        {ROW("a\0b\0\n\0c\0d\0\n\0"), false},
        {ROW("\xFF\xFE"
             "a\0b\0c\0"),
         false}, /* UTF-16 */
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        if (bson_span_begins((const uint8_t *)rows[i].text, rows[i].length) != rows[i].begins)
            fail_msg("row %zu", i);
}

/* From any byte of a text: the next document, or one after it, and never what is none. */
TEST(search) {
    uint64_t seed = 5;
    uint8_t text[20000];
    size_t length = 0, count = 0, begins[4000];
    for (;;) {
        bson_t document = BSON_INITIALIZER;
        lab_fill(&document, &seed, 2);
        if (document.len > sizeof text - length) {
            bson_destroy(&document);
            break;
        }
        begins[count++] = length;
        memcpy(text + length, bson_get_data(&document), document.len);
        length += document.len;
        bson_destroy(&document);
    }
    for (size_t from = 0; from < begins[count - 4]; from++) {
        const size_t found = from + sample_find_document(text + from, length - from);
        size_t next = 0;
        while (begins[next] < from)
            next++;
        assert_int_equal(found, begins[next]);
    }
    assert_int_equal(7, sample_find_document((const uint8_t *)"no BSON", 7));
}
