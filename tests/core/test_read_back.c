/* read_back: what is there of a block's records, against ranges written by hand. */
#include "load/read_back/read_back.h"
#include "test.h"

#include <bson/bson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <xxhash.h>

static void build(bson_t *document, int64_t id, char content) {
    const char text[2] = {content, 0};
    bson_init(document);
    BSON_APPEND_INT64(document, "_id", id);
    BSON_APPEND_UTF8(document, "x", text);
}

/* A person has put documents with an 'h' there. */
static bool accepts(void *context, uint64_t hash) {
    bson_t document;
    build(&document, *(const int64_t *)context, 'h');
    const bool is = XXH3_64bits(bson_get_data(&document), document.len) == hash;
    bson_destroy(&document);
    return is;
}

/* stored, records: "7a": the document 7 with the content a; "7-": a record that no document is made of.
 * found: for each record nothing, same, other, accepted. */
static void check(const char *stored, const char *records, const char *found, bool hook) {
    err_t err;
    read_back_t *range = read_back_new(&err);
    for (int round = 0; round < 2; round++) { /* the first time it was cut short */
        read_back_clear(range);
        char *end;
        for (const char *at = stored; *at; at = *end ? end + 1 : end) {
            bson_t document;
            const int64_t id = strtoll(at, &end, 10);
            build(&document, id, *end++);
            assert_true(read_back_keep(range, bson_get_data(&document), document.len, &err));
            bson_destroy(&document);
        }
    }
    assert_true(read_back_ready(range, &err));
    assert_int_equal(read_back_any(range), *stored != '\0');
    char *end, said[40] = "";
    for (const char *at = records; *at; at = *end ? end + 1 : end) {
        bson_t document;
        read_back_found_t one;
        int64_t id = strtoll(at, &end, 10);
        const bool any = *end != '-';
        build(&document, id, *end);
        end++;
        assert_true(read_back_look(range, id, any ? bson_get_data(&document) : NULL, any ? document.len : 0,
                                   hook ? accepts : NULL, &id, &one, &err));
        strncat(said, &"nsoa"[one], 1);
        bson_destroy(&document);
    }
    if (strcmp(said, found) != 0)
        fail_msg("%s against %s: '%s', not '%s'", records, stored, said, found);
    read_back_free(range);
}

TEST(by_hand) {
    check("", "1a 2b", "nn", false);
    check("1a 2b", "1a 2b", "ss", false);
    check("2b", "1a 2b 3c", "nsn", false);
    check("1a 2x 3c", "1a 2b 3c", "sos", false);
    /* where no record begins, nothing is said */
    check("1a 2x 3c", "1a 3c", "ss", false);
    check("2x", "1a 3c", "nn", false);
}

/* The same `_id` on several shards: one that is equal is enough. */
TEST(several) {
    check("1x 1a 2b", "1a 2b", "ss", false);
    check("1a 1x 2b", "1a 2b", "ss", false);
    check("1x 1y 2b", "1a 2b", "os", false);
    check("1a 1a", "1a", "s", false);
}

TEST(rejects) {
    check("1a 2x", "1a 2- 3c", "son", false);
    check("1a", "1a 2- 3c", "snn", false);
}

TEST(accepted) {
    check("1a 2h", "1a 2- 3c", "san", true);
    check("1h 2x 3c", "1a 2b 3c", "aos", true);
    check("1x 1h", "1a", "a", true);
    check("1h 1x", "1a", "a", true);
    check("1h 1a", "1a", "s", true);
    check("1h", "1a", "o", false);
    check("2h", "1a 3c", "nn", true);
}

/* Documents at places that nobody looked at. */
static void check_end(const char *stored, int64_t known, int64_t expected) {
    err_t err;
    read_back_t *range = read_back_new(&err);
    for (const char *at = stored; *at; at++) {
        bson_t document;
        build(&document, *at - '0', 'a');
        assert_true(read_back_keep(range, bson_get_data(&document), document.len, &err));
        bson_destroy(&document);
    }
    assert_true(read_back_ready(range, &err));
    static const int64_t records[] = {3, 5};
    for (size_t i = 0; i < 2; i++) {
        read_back_found_t found;
        assert_true(read_back_look(range, records[i], NULL, 0, NULL, NULL, &found, &err));
    }
    int64_t stray = -1;
    bool any;
    assert_true(read_back_end(range, known, &any, &stray, &err));
    assert_int_equal(any, expected >= 0);
    if (any)
        assert_int_equal(stray, expected);
    read_back_free(range);
}

TEST(strays) {
    check_end("35", -1, -1);
    check_end("", -1, -1);
    check_end("33557", 7, -1);
    check_end("1356", -1, 1);
    check_end("345", -1, 4);
    check_end("3578", 7, 8);
    check_end("79", -1, 7);
}
