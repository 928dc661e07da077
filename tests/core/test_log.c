/* log: what is said at which level, each line whole, and never on stdout. */
#include "base/log.h"
#include "heard.h"
#include "test.h"

#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef void talk_t(void);

static const char *overhear(talk_t *talk) {
    static ear_t ear;
    listen_to(&ear, STDERR_FILENO);
    talk();
    return heard(&ear);
}

static void say_all(void) {
    log_error("error %d", 1);
    log_warn("warning %s", "two");
    log_note("note");
    log_detail("detail");
}

TEST(levels) {
    assert_int_equal(log_level(), LOG_NORMAL);
    assert_string_equal(overhear(say_all), "tipple: error 1\ntipple: warning: warning two\nnote\n");
    log_set_level(LOG_VERBOSE);
    assert_int_equal(log_level(), LOG_VERBOSE);
    assert_string_equal(overhear(say_all), "tipple: error 1\ntipple: warning: warning two\nnote\ndetail\n");
    log_set_level(LOG_QUIET);
    assert_string_equal(overhear(say_all), "tipple: error 1\ntipple: warning: warning two\n");
    log_set_level(LOG_NORMAL);
}

/* What others have named cannot begin a line, which would look like one of ours. */
static void say_forged(void) {
    log_note("there are zones (such as %s) here", "x\ntipple: all documents are lost");
    log_warn("2 of 3 files do not fit%s", "\n  a.txt\n  b.txt");
    log_error("%s", "a sentence\nThe same for tipple");
}

TEST(forged) {
    assert_string_equal(overhear(say_forged),
                        "there are zones (such as x\\x0atipple: all documents are lost) here\n"
                        "tipple: warning: 2 of 3 files do not fit\n  a.txt\n  b.txt\n"
                        "tipple: a sentence\nThe same for tipple\n");
}

static void say_much(void) {
    static char longest[20000];
    memset(longest, 'x', sizeof longest - 1);
    log_note("%s", longest);
    log_note("after");
}

/* A line may be cut, but it stays a line. */
TEST(long_lines) {
    const char *text = overhear(say_much);
    const char *end = strchr(text, '\n');
    assert_non_null(end);
    assert_true(end - text > 1000);
    assert_string_equal(end, "\nafter\n");
}

static char pasted[20000];

static void say_command(void) {
    log_paste(pasted);
}

/* A command is never cut, and nothing in it is hidden. */
TEST(command) {
    char expected[sizeof pasted + 10];
    strcpy(pasted, "sh.f(\"docker://nginx:latest\", \"ann@example.org\", \"");
    memset(pasted + strlen(pasted), 'x', sizeof pasted - strlen(pasted) - 10);
    strcat(pasted, "\")");
    snprintf(expected, sizeof expected, "    %s\n", pasted);
    assert_string_equal(overhear(say_command), expected);
}

static void say_evil(void) {
    log_warn("no column '%s'\nand \xC3\xA9", "\x1b[31mEVIL\a\xC2\x9B\xFF");
    char longest[5000];
    memset(longest, '\a', sizeof longest);
    longest[sizeof longest - 1] = '\0';
    log_note("%s", longest);
}

/* What others wrote cannot control the terminal; the line ends of a sentence of several lines are our own. */
TEST(controls) {
    const char *text = overhear(say_evil);
    const char *expected =
        "tipple: warning: no column '\\x1b[31mEVIL\\x07\\xc2\\x9b\\xff'\nand \xC3\xA9\n\\x07\\x07";
    assert_int_equal(strncmp(text, expected, strlen(expected)), 0);
    assert_null(strchr(text, '\a'));
}

static void *say_many(void *context) {
    for (int i = 0; i < 500; i++)
        log_note("thread %d says the same line again and again and again", (int)(intptr_t)context);
    return NULL;
}

static void say_at_once(void) {
    pthread_t threads[4];
    for (intptr_t i = 0; i < 4; i++)
        pthread_create(&threads[i], NULL, say_many, (void *)i);
    for (int i = 0; i < 4; i++)
        pthread_join(threads[i], NULL);
}

TEST(lines_stay_whole) {
    char *text = strdup(overhear(say_at_once)), *rest = text;
    int counts[4] = {0};
    for (char *line; (line = strsep(&rest, "\n")) && *line;) {
        char expected[100];
        int number = line[7] - '0';
        assert_uint_in_range(number, 0, 3);
        snprintf(expected, sizeof expected, "thread %d says the same line again and again and again", number);
        assert_string_equal(line, expected);
        counts[number]++;
    }
    for (int i = 0; i < 4; i++)
        assert_int_equal(counts[i], 500);
    free(text);
}

static void draw_bar(void) {
    log_bar("50%");
    log_note("between");
    log_bar("60%");
    log_bar(NULL);
    log_bar(NULL);
}

/* A line wipes the bar before it is written, so that no piece of a bar stays in it. */
TEST(bar) {
    const char *text = overhear(draw_bar);
    const char *between = strstr(text, "between\n");
    assert_non_null(between);
    if (strstr(text, "50%")) { /* there may be none off a terminal */
        assert_true(between > text && between[-1] == 'K');
        assert_non_null(strstr(between, "60%"));
        assert_int_equal(text[strlen(text) - 1], 'K');
    }
}
