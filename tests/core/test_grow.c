/* grow: an array keeps what is in it, and grows seldom. */
#include "base/text.h"
#include "test.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

TEST(one_by_one) {
    uint64_t *numbers = NULL;
    size_t room = 0, before = 0, grown = 0;
    err_t err;
    for (size_t i = 0; i < 1000; i++) {
        assert_true(GROW(numbers, room, i + 1, &err));
        assert_true(room > i);
        grown += room != before;
        before = room;
        numbers[i] = i * i;
    }
    assert_true(grown <= 10);
    for (size_t i = 0; i < 1000; i++)
        assert_int_equal(numbers[i], i * i);
    free(numbers);
}

/* More than twice as many at once; and what there is room for already. */
TEST(many_at_once) {
    char *bytes = NULL;
    size_t room = 0;
    err_t err;
    assert_true(GROW(bytes, room, 0, &err));
    assert_null(bytes);
    assert_true(GROW(bytes, room, 100, &err));
    assert_int_equal(room, 100);
    memset(bytes, 'x', 100);
    char *const there = bytes;
    assert_true(GROW(bytes, room, 100, &err));
    assert_ptr_equal(bytes, there);
    assert_int_equal(room, 100);
    assert_true(GROW(bytes, room, 101, &err));
    assert_int_equal(room, 200);
    assert_int_equal(bytes[99], 'x');
    free(bytes);
}

TEST(no_memory) {
    char *bytes = NULL;
    size_t room = 0, most = SIZE_MAX / 4;
    err_t err = {.text = ""};
    assert_true(GROW(bytes, room, 10, &err));
    char *const there = bytes;
    assert_false(GROW(bytes, room, most, &err));
    assert_int_equal(err.status, STATUS_HOST);
    assert_false(GROW(bytes, room, most, NULL));
    assert_ptr_equal(bytes, there);
    assert_int_equal(room, 10);
    free(bytes);
}
