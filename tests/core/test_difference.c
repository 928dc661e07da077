/* difference: the first of each kind are kept in their order, whoever finds them when. */
#include "test.h"
#include "verify/difference.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void add(differences_t *differences, difference_kind_t kind, size_t file, uint64_t offset) {
    err_t err;
    difference_t difference = {.kind = kind,
                               .file = file,
                               .offset = offset,
                               .end = offset + 10,
                               .line = offset / 10 + 1,
                               .last_line = offset / 10 + 1,
                               .records = 1,
                               .id = (int64_t)offset,
                               .last_id = (int64_t)offset};
    if (kind != DIFFERENCE_MISSING)
        difference.why = strdup("so");
    assert_true(differences_add(differences, &difference, &err));
}

static const char *list(differences_t *differences, difference_kind_t kind) {
    static char text[4000];
    size_t count;
    const difference_t *kept = differences_of(differences, kind, &count);
    text[0] = '\0';
    for (size_t i = 0; i < count; i++)
        snprintf(text + strlen(text), sizeof text - strlen(text), "%s%zu:%llu-%llu", i ? " " : "",
                 kept[i].file, (unsigned long long)kept[i].line, (unsigned long long)kept[i].last_line);
    return text;
}

TEST(order) {
    differences_t *differences = differences_new(3);
    for (uint64_t i = 1000; i-- > 0;)
        add(differences, DIFFERENCE_CHANGED, i % 2, i * 20);
    assert_string_equal(list(differences, DIFFERENCE_CHANGED), "0:1-1 0:5-5 0:9-9");
    assert_int_equal(differences_count(differences, DIFFERENCE_CHANGED), 1000);
    assert_string_equal(list(differences, DIFFERENCE_EXTRA), "");
    assert_int_equal(differences_total(differences), 1000);
    add(differences, DIFFERENCE_EXTRA, 1, 50);
    assert_string_equal(list(differences, DIFFERENCE_EXTRA), "1:6-6");
    differences_clear(differences);
    assert_int_equal(differences_total(differences), 0);
    assert_string_equal(list(differences, DIFFERENCE_CHANGED), "");
    differences_free(differences);
    differences_free(NULL);
}

/* Missing neighbours are one; of other kinds they are not. */
TEST(neighbours) {
    differences_t *differences = differences_new(10);
    for (uint64_t i = 0; i < 5; i++)
        add(differences, DIFFERENCE_MISSING, 0, i * 10);
    add(differences, DIFFERENCE_MISSING, 0, 60);
    add(differences, DIFFERENCE_MISSING, 1, 70);
    assert_string_equal(list(differences, DIFFERENCE_MISSING), "0:1-5 0:7-7 1:8-8");
    add(differences, DIFFERENCE_MISSING, 0, 50); /* closes the gap */
    assert_string_equal(list(differences, DIFFERENCE_MISSING), "0:1-7 1:8-8");
    assert_int_equal(differences_count(differences, DIFFERENCE_MISSING), 8);
    err_t err;
    const difference_t fixed = {.kind = DIFFERENCE_MISSING,
                                .offset = 70,
                                .end = 80,
                                .line = 8,
                                .last_line = 8,
                                .records = 1,
                                .why = strdup("so")}; /* stays by itself */
    assert_true(differences_add(differences, &fixed, &err));
    add(differences, DIFFERENCE_MISSING, 0, 80);
    assert_string_equal(list(differences, DIFFERENCE_MISSING), "0:1-7 0:8-8 0:9-9 1:8-8");
    for (uint64_t i = 0; i < 3; i++)
        add(differences, DIFFERENCE_EXTRA, 0, i * 10);
    assert_string_equal(list(differences, DIFFERENCE_EXTRA), "0:1-1 0:2-2 0:3-3");
    differences_free(differences);
}

/* A million records of one gap need no memory. */
TEST(many) {
    differences_t *differences = differences_new(2);
    for (uint64_t i = 0; i < 1000000; i++)
        add(differences, DIFFERENCE_MISSING, 0, i * 10);
    assert_string_equal(list(differences, DIFFERENCE_MISSING), "0:1-1000000");
    assert_int_equal(differences_count(differences, DIFFERENCE_MISSING), 1000000);
    differences_free(differences);
}

TEST(move) {
    differences_t *to = differences_new(4), *from = differences_new(2);
    err_t err;
    for (int part = 3; part >= 0; part--) {
        for (uint64_t i = 0; i < 100; i++)
            add(from, DIFFERENCE_CHANGED, (size_t)part, i * 20);
        const difference_t late = {.kind = DIFFERENCE_CHANGED, .file = (size_t)part, .offset = 1999},
                           early = {.kind = DIFFERENCE_CHANGED, .file = (size_t)part, .offset = 1},
                           other = {.kind = DIFFERENCE_DUPLICATED, .file = (size_t)part};
        list(from, DIFFERENCE_CHANGED); /* sorts and cuts them */
        assert_false(differences_wants(from, &late));
        assert_true(differences_wants(from, &early)); /* it would stand before one that is kept */
        assert_true(differences_wants(from, &other));
        for (uint64_t i = 0; i < 10; i++)
            add(from, DIFFERENCE_MISSING, 0, (uint64_t)part * 100 + i * 10);
        assert_true(differences_move(to, from, &err));
        assert_int_equal(differences_total(from), 0);
    }
    assert_int_equal(differences_count(to, DIFFERENCE_CHANGED), 400);
    /* those beyond the two that a part had kept are not lost to the order: they come last */
    assert_int_equal(strncmp(list(to, DIFFERENCE_CHANGED), "0:1-1 0:3-3", 11), 0);
    assert_string_equal(list(to, DIFFERENCE_MISSING), "0:1-40");
    differences_free(to);
    differences_free(from);
}
