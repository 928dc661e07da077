/* merge: streams written by hand, and random ones against sets. */
#include "test.h"
#include "verify/merge.h"

#include <bson/bson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* "7a": a document with the _id 7 and the content a. "7-": nothing is expected at 7. "~7a": its _id is 7.0,
 * which is no 64-bit integer. */
typedef struct {
    int64_t id;
    char content;
    bool unrelated;
} item_t;

enum { MOST = 64 };

static size_t read_items(const char *text, item_t items[MOST]) {
    size_t count = 0;
    for (char *end; *text; text = end + 1) {
        items[count].unrelated = *text == '~';
        items[count].id = strtoll(text + items[count].unrelated, &end, 10);
        items[count++].content = *end++;
        if (!*end)
            break;
    }
    return count;
}

static void build(const item_t *item, bson_t *document) {
    char content[2] = {item->content, 0};
    bson_init(document);
    if (item->unrelated)
        BSON_APPEND_DOUBLE(document, "_id", (double)item->id);
    else
        BSON_APPEND_INT64(document, "_id", item->id);
    BSON_APPEND_UTF8(document, "x", content);
}

typedef struct {
    item_t stored[MOST];
    size_t count, at, fail_at; /* fail_at: of next */
    size_t telling, fail_telling;
    uint8_t
        *bytes; /* of the document at hand: a place of its own each time, so that a late look is noticed */
    char said[4000];
} lab_t;

static int next(void *context, const uint8_t **stored, uint32_t *length, err_t *err) {
    lab_t *lab = context;
    free(lab->bytes);
    lab->bytes = NULL;
    if (lab->at == lab->fail_at)
        return err_set(err, STATUS_SERVER, "gone"), -1;
    if (lab->at == lab->count)
        return 0;
    bson_t document;
    build(&lab->stored[lab->at++], &document);
    lab->bytes = malloc(document.len);
    memcpy(lab->bytes, bson_get_data(&document), document.len);
    *stored = lab->bytes;
    *length = document.len;
    bson_destroy(&document);
    return 1;
}

static char content_of(const uint8_t *document, uint32_t length) {
    bson_iter_t at;
    assert_true(bson_iter_init_from_data(&at, document, length) && bson_iter_find(&at, "x"));
    return *bson_iter_utf8(&at, NULL);
}

static bool report(void *context, const merge_found_t *found, err_t *err) {
    static const char *const names[] = {"missing", "extra", "duplicated", "changed", "unrelated"};
    lab_t *lab = context;
    size_t used = strlen(lab->said);
    used += (size_t)snprintf(lab->said + used, sizeof lab->said - used, "%s%s", used ? ", " : "",
                             names[found->kind]);
    if (found->kind != MERGE_UNRELATED)
        used += (size_t)snprintf(lab->said + used, sizeof lab->said - used, " %lld", (long long)found->id);
    if (found->stored)
        used += (size_t)snprintf(lab->said + used, sizeof lab->said - used, " %c",
                                 content_of(found->stored, found->stored_length));
    if (found->expected)
        snprintf(lab->said + used, sizeof lab->said - used, " not %c",
                 content_of(found->expected, found->expected_length));
    return ++lab->telling != lab->fail_telling || err_set(err, STATUS_HOST, "full");
}

static bool run(lab_t *lab, const item_t *expected, size_t count, merge_t *merge, err_t *err) {
    *merge = (merge_t){.next = next, .report = report, .context = lab};
    bool ok = merge_begin(merge, err);
    for (size_t i = 0; ok && i < count; i++) {
        bson_t document;
        bool any = expected[i].content != '-';
        build(&expected[i], &document);
        ok = merge_expect(merge, expected[i].id, any ? bson_get_data(&document) : NULL,
                          any ? document.len : 0, err);
        bson_destroy(&document);
    }
    ok = ok && merge_end(merge, err);
    free(lab->bytes);
    lab->bytes = NULL;
    return ok;
}

static void check(const char *expected, const char *stored, uint64_t same, const char *said) {
    item_t items[MOST];
    lab_t lab = {.fail_at = SIZE_MAX};
    merge_t merge;
    err_t err;
    lab.count = read_items(stored, lab.stored);
    assert_true(run(&lab, items, read_items(expected, items), &merge, &err));
    assert_string_equal(lab.said, said);
    assert_int_equal(merge.same, same);
    assert_int_equal(merge.seen, lab.count);
}

TEST(by_hand) {
    check("", "", 0, "");
    check("1a 2b 9c", "1a 2b 9c", 3, "");
    check("1a 2b 3c", "", 0, "missing 1 not a, missing 2 not b, missing 3 not c");
    check("1a 2b 3c", "2b", 1, "missing 1 not a, missing 3 not c");
    check("", "1a 2b", 0, "extra 1 a, extra 2 b");
    check("2b", "1a 2b 3c", 1, "extra 1 a, extra 3 c");
    check("1a 5b", "1a 3c 4d 5b", 2, "extra 3 c, extra 4 d");
    check("1a 2b", "1a 2c", 1, "changed 2 c not b");
    check("1a 2b 3c", "1b 2b 3d", 1, "changed 1 b not a, changed 3 d not c");
    check("1a 3b", "2a 3b", 1, "missing 1 not a, extra 2 a");
}

TEST(nothing_expected) {
    check("1-", "", 0, "");
    check("1a 2- 3c", "1a 3c", 2, "");
    check("1a 2- 3c", "1a 2b 3c", 2, "extra 2 b");
    check("2-", "1a 2b 2c 3d", 0, "extra 1 a, extra 2 b, extra 2 c, extra 3 d");
}

/* The same _id on several shards, in whatever order the router gives them. */
TEST(duplicated) {
    check("1a 2b", "1a 1c 2b", 2, "duplicated 1 c not a");
    check("1a 2b", "1c 1a 2b", 2, "duplicated 1 c not a");
    check("1a", "1a 1a", 1, "duplicated 1 a not a");
    check("1a 2b", "1a 1a 1a 2b", 2, "duplicated 1 a not a, duplicated 1 a not a");
    check("1a", "1b 1c", 0, "duplicated 1 c not a, changed 1 b not a");
    check("1a", "1b 1c 1a", 1, "duplicated 1 c not a, duplicated 1 b not a");
    check("1a", "1b 1b 1b", 0, "duplicated 1 b not a, duplicated 1 b not a, changed 1 b not a");
}

TEST(unrelated) {
    check("1a", "~1b 1a", 1, "unrelated b");
    check("1a 2b", "1a ~1b 2b", 2, "unrelated b");
    check("1a 2b", "1a 2b ~3c ~3d", 2, "unrelated c, unrelated d");
    check("1a", "~1a", 0, "unrelated a, missing 1 not a");
    check("1a", "1b ~1c 1a", 1, "unrelated c, duplicated 1 b not a");
    check("", "~1a", 0, "unrelated a");
}

TEST(failures) {
    item_t expected[MOST];
    size_t count = read_items("1a 2b 4d 5- 6f", expected);
    for (size_t at = 0; at <= 7; at++) {
        lab_t lab = {.fail_at = at};
        merge_t merge;
        err_t err = {.text = ""};
        lab.count = read_items("1a 2c 2b 3x 4d 5x 6f", lab.stored);
        assert_false(run(&lab, expected, count, &merge, &err));
        assert_string_equal(err.text, "gone");
    }
    for (size_t at = 1; at <= 5; at++) {
        lab_t lab = {.fail_at = SIZE_MAX, .fail_telling = at};
        merge_t merge;
        err_t err = {.text = ""};
        lab.count = read_items("1b 1c 3x 4d 5x 6f", lab.stored);
        assert_false(run(&lab, expected, count, &merge, &err));
        assert_string_equal(err.text, "full");
        assert_int_equal(lab.telling, at);
    }
}

/* Random streams of few numbers and contents: each finding is counted once, whatever the order of equals. */
TEST(random) {
    srandom(7);
    for (int round = 0; round < 20000; round++) {
        item_t expected[MOST];
        lab_t lab = {.fail_at = SIZE_MAX};
        size_t count = 0, missing = 0, extra = 0, duplicated = 0, changed = 0, same = 0;
        for (int64_t id = 0; id < 8; id++) {
            char content = "abc-"[random() % 4];
            bool any = random() % 2, equal = false;
            size_t there = (size_t)(random() % 4 ? random() % 2 : random() % 4);
            if (any)
                expected[count++] = (item_t){id, content, false};
            for (size_t i = 0; i < there; i++) {
                char stored = "abc"[random() % 3];
                lab.stored[lab.count++] = (item_t){id, stored, false};
                equal |= any && stored == content;
            }
            if (!any || content == '-') {
                extra += there;
            } else if (!there) {
                missing++;
            } else {
                same += equal;
                changed += !equal;
                duplicated += there - 1;
            }
        }
        merge_t merge;
        err_t err;
        assert_true(run(&lab, expected, count, &merge, &err));
        size_t said[4] = {0};
        for (const char *at = lab.said; *at; at += strcspn(at, ",") + (at[strcspn(at, ",")] ? 2 : 0))
            said[*at == 'm' ? 0 : *at == 'e' ? 1 : *at == 'd' ? 2 : 3]++;
        assert_int_equal(said[0], missing);
        assert_int_equal(said[1], extra);
        assert_int_equal(said[2], duplicated);
        assert_int_equal(said[3], changed);
        assert_int_equal(merge.same, same);
    }
}
