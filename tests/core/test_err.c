/* err: a sentence, its status, and where it happened. */
#include "base/err.h"
#include "test.h"

#include <stdint.h>
#include <string.h>

TEST(set) {
    err_t err = {.text = "old"};
    assert_false(err_set(&err, STATUS_INPUT, "%s, offset %d: it ends too early", "a.gz", 17));
    assert_int_equal(err.status, STATUS_INPUT);
    assert_string_equal(err.text, "a.gz, offset 17: it ends too early");
    assert_false(err_set(&err, STATUS_USAGE, "another"));
    assert_int_equal(err.status, STATUS_USAGE);
    assert_string_equal(err.text, "another");
}

TEST(where) {
    err_t err;
    err_set(&err, STATUS_SERVER, "it went away");
    assert_false(err_where(&err, "shard %s", "s0"));
    assert_string_equal(err.text, "shard s0: it went away");
    assert_false(err_where(&err, "mot.results"));
    assert_string_equal(err.text, "mot.results: shard s0: it went away");
    assert_int_equal(err.status, STATUS_SERVER);
}

/* A line end that came with a name is none of ours. */
TEST(one_line) {
    err_t err;
    err_set(&err, STATUS_USAGE, "the zone %s is wrong", "x\ntipple: lost");
    assert_string_equal(err.text, "the zone x\\x0atipple: lost is wrong");
    err_add(&err, " (as %s)", "y\n");
    assert_string_equal(err.text, "the zone x\\x0atipple: lost is wrong (as y\\x0a)");
    err_where(&err, "%s", "a\nb");
    assert_string_equal(err.text, "a\\x0ab: the zone x\\x0atipple: lost is wrong (as y\\x0a)");
    err_set(&err, STATUS_USAGE, "two files%s", "\n  a\n  b");
    err_add(&err, "\nand %d more", 3);
    assert_string_equal(err.text, "two files\n  a\n  b\nand 3 more");
}

TEST(memory) {
    err_t err;
    assert_false(err_memory(&err, 4711));
    assert_int_equal(err.status, STATUS_HOST);
    assert_non_null(strstr(err.text, "4711"));
    assert_non_null(strstr(err.text, "out of memory"));
}

/* However long a name or a sentence is, nothing is written beyond the text. */
TEST(too_long) {
    static char longest[5000];
    memset(longest, 'x', sizeof longest - 1);
    struct {
        err_t err;
        char guard[64];
    } both;
    memset(&both, 'G', sizeof both);
    err_set(&both.err, STATUS_INPUT, "%s", longest);
    assert_int_equal(strlen(both.err.text), sizeof both.err.text - 1);
    err_where(&both.err, "%s", longest);
    assert_int_equal(strlen(both.err.text), sizeof both.err.text - 1);
    err_set(&both.err, STATUS_INPUT, "short");
    err_where(&both.err, "%.1590s", longest);
    assert_true(strlen(both.err.text) < sizeof both.err.text);
    for (size_t i = 0; i < sizeof both.guard; i++)
        assert_int_equal(both.guard[i], 'G');
}

/* The statuses are what the guide says: scripts depend on them. */
TEST(statuses) {
    assert_int_equal(STATUS_OK, 0);
    assert_int_equal(STATUS_USAGE, 1);
    assert_int_equal(STATUS_SOME_REJECTED, 2);
    assert_int_equal(STATUS_TOO_MANY_REJECTED, 3);
    assert_int_equal(STATUS_SERVER, 4);
    assert_int_equal(STATUS_INPUT, 5);
    assert_int_equal(STATUS_DIFFERENT, 7);
    assert_int_equal(STATUS_HOST, 8);
    assert_int_equal(STATUS_INTERRUPTED, 130);
    assert_int_equal(STATUS_TERMINATED, 143);
}
