/* text: what is appended is there, whole or not given out at all. */
#include "base/text.h"
#include "test.h"

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

static void takes(text_t *text, const char *expected) {
    err_t err;
    char *taken = text_take(text, &err);
    assert_non_null(taken);
    assert_string_equal(taken, expected);
    free(taken);
}

TEST(parts) {
    text_t text = {.length = 0};
    text_append(&text, "a");
    text_append(&text, "");
    text_append_bytes(&text, "bcd", 2);
    text_print(&text, "%s%d", "-", 12);
    assert_string_equal(text.bytes, "abc-12");
    assert_int_equal(text.length, 6);
    takes(&text, "abc-12");
    text_print(&text, "%s", "again");
    takes(&text, "again");
}

TEST(nothing) {
    text_t text = {.length = 0};
    takes(&text, "");
    text_append(&text, "x");
    text_free(&text);
    text_free(&text);
    takes(&text, "");
}

/* Of every length, so that the room ends at every place, and in one piece that is larger than twice the room. */
TEST(growth) {
    enum { MOST = 3000 };
    char expected[MOST + 1] = "";
    text_t one = {.length = 0};
    for (size_t length = 0; length < MOST; length++) {
        text_t printed = {.length = 0};
        text_print(&printed, "%s", expected);
        takes(&printed, expected);
        expected[length] = (char)('a' + length % 26);
        expected[length + 1] = '\0';
        text_append_bytes(&one, expected + length, 1);
        assert_string_equal(one.bytes, expected);
    }
    takes(&one, expected);
}

static text_t without_memory(void) {
    text_t text = {.length = 0};
    text_append(&text, "here");
    assert_false(text_grow(&text, SIZE_MAX / 4));
    return text;
}

/* What comes after what had no room is left out, however short it is; then one can begin again. */
TEST(no_memory) {
    err_t err = {.text = ""};
    text_t text = without_memory();
    text_append(&text, ".");
    text_print(&text, "%d", 1);
    assert_string_equal(text.bytes, "here");
    assert_null(text_take(&text, &err));
    assert_int_equal(err.status, STATUS_HOST);
    assert_non_null(strstr(err.text, "out of memory"));
    text_append(&text, "new");
    takes(&text, "new");
}

TEST(no_memory_at_the_end) {
    int status = 0;
    fflush(NULL);
    const pid_t child = fork();
    if (child == 0) {
        text_t text = without_memory();
        close(STDERR_FILENO);
        text_take_or_end(&text);
        _exit(0);
    }
    assert_true(child > 0 && waitpid(child, &status, 0) == child);
    assert_true(WIFEXITED(status));
    assert_int_equal(WEXITSTATUS(status), STATUS_HOST);
}
