/* progress: what the bar says of a load, at times that the test makes; how it becomes shorter; and the file for programs. */
#include "base/host.h"
#include "load/spec/progress.h"
#include "test.h"

#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static const int64_t SECOND = 1000000000;

static const progress_state_t half = {
    .bytes = 50300000, .total_bytes = 100600000, .documents = 554444, .rejected = 3};

static progress_view_t view_of(const progress_state_t *state, double share, double rate, double left_s) {
    return (progress_view_t){.state = *state, .share = share, .rate = rate, .left_s = left_s};
}

TEST(whole_line) {
    char line[PROGRESS_LINE];
    const progress_view_t view = view_of(&half, 0.5, 9240, 42.5);
    assert_string_equal(progress_line(&view, 0, line),
                        "[##########----------]  50%   50.3 MB/101 MB   554,444 docs   9.24k docs/s   3 "
                        "rejected   43 s left");
}

/* What matters most goes last: how far, what is rejected, how long it will take. */
TEST(narrow) {
    char line[PROGRESS_LINE];
    const progress_state_t clean = {.bytes = 1, .total_bytes = 2, .documents = 1};
    const progress_view_t view = view_of(&half, 0.5, 9240, 42.5), of_clean = view_of(&clean, 0.25, 555000, 3);
    assert_string_equal(progress_line(&view, 80, line),
                        "[###---]  50%   554,444 docs   9.24k docs/s   3 rejected   43 s left");
    assert_string_equal(progress_line(&view, 40, line), "50%   3 rejected   43 s left");
    assert_string_equal(progress_line(&of_clean, 40, line), "[#-----]  25%   555k docs/s   3 s left");
    assert_string_equal(progress_line(&view, 20, line), "50%   43 s left");
    for (size_t columns = 20; columns < 200; columns++)
        assert_true(strlen(progress_line(&view, columns, line)) < columns);
}

/* stdin: nobody knows how much there is. */
TEST(unknown) {
    char line[PROGRESS_LINE];
    const progress_state_t stream = {.bytes = 68400000, .documents = 764000};
    progress_t progress = {.sample_count = 0};
    progress_view(&progress, &(progress_state_t){.bytes = 0}, 0);
    const progress_view_t view = progress_view(&progress, &stream, SECOND);
    assert_true(isnan(view.share) && isnan(view.left_s));
    assert_string_equal(progress_line(&view, 0, line), "68.4 MB   764,000 docs   764k docs/s");
    assert_string_equal(progress_line(&view, 20, line), "764k docs/s");
}

static progress_view_t at(progress_t *progress, double seconds, uint64_t bytes, uint64_t documents) {
    const progress_state_t state = {.bytes = bytes, .total_bytes = 1000, .documents = documents};
    return progress_view(progress, &state, (int64_t)(seconds * 1e9));
}

/* A rate of the last half minute: a load that was fast, and is slow now, says so. */
TEST(of_late) {
    progress_t progress = {.sample_count = 0};
    progress_view_t view = {.rate = 0};
    for (int i = 0; i <= 100; i++) /* a thousand a second, for ten seconds */
        view = at(&progress, i / 10.0, (uint64_t)(5 * i), (uint64_t)(100 * i));
    assert_true(fabs(view.rate - 1000) < 1 && fabs(view.left_s - 10) < 0.1);
    for (int i = 0; i <= 1000; i++) /* ten a second */
        view = at(&progress, 10 + i / 10.0, (uint64_t)(500 + i / 10), (uint64_t)(10000 + i));
    assert_true(fabs(view.rate - 10) < 1 && fabs(view.left_s - 400) < 15);
    for (int i = 0; i <= 400; i++) /* it waits for another load */
        view = at(&progress, 110 + i / 10.0, 600, 11000);
    assert_true(view.rate < 0.001 && isnan(view.left_s));
}

TEST(beginning) {
    char line[PROGRESS_LINE];
    progress_t progress = {.sample_count = 0};
    progress_view_t view = at(&progress, 5, 0, 0);
    assert_string_equal(progress_line(&view, 0, line),
                        "[--------------------]   0%   0 B/1.00 kB   0 docs   0 docs/s");
    view = at(&progress, 5.2, 10, 100);
    assert_true(isnan(view.left_s)); /* a guess from the first moment would be far off */
}

/* --limit: of ten files only the first may be read. More was read than was there: files grow. */
TEST(limit_and_growth) {
    char line[PROGRESS_LINE];
    progress_t progress = {.sample_count = 0};
    const progress_state_t limited = {.bytes = 10, .total_bytes = 1000, .records = 900, .most_records = 1000},
                           grown = {.bytes = 1010, .total_bytes = 1000, .documents = 1};
    assert_true(fabs(progress_view(&progress, &limited, 0).share - 0.9) < 1e-9);
    const progress_view_t view = view_of(&grown, progress_view(&progress, &grown, SECOND).share, 1, NAN);
    assert_string_equal(progress_line(&view, 0, line),
                        "[####################] 100%   1.01 kB/1.00 kB   1 docs   1 docs/s");
    const progress_view_t nearly = view_of(&half, 0.9999, 1, 3600 * 3.0);
    assert_non_null(strstr(progress_line(&nearly, 0, line), "  99%"));
    assert_non_null(strstr(line, "3 h 00 min left"));
}

/* The file after a command that has shown its progress once. */
static void run_with_metrics(const char *name, int status, char text[4096]) {
    char folder[] = "/tmp/test_progress.XXXXXX", path[64];
    progress_t progress;
    err_t err;
    assert_non_null(mkdtemp(folder));
    snprintf(path, sizeof path, "%s/%s", folder, name);
    metrics_of("a\"b\\c\n");
    if (!metrics_begin(path, "load", &err))
        fail_msg("%s", err.text);
    metrics_phase("loading");
    metrics_lag(1.5);
    progress_start(&progress);
    progress_show(&progress, &half);
    progress_end(&progress);
    metrics_end(status);
    host_read_file(path, text, 4096);
    assert_int_equal(unlink(path), 0);
    assert_int_equal(rmdir(folder), 0); /* nothing else is in it */
}

TEST(metrics) {
    static const char *const there[] = {
        ("# HELP tipple_rejects_total Records that were rejected.\n# TYPE tipple_rejects_total counter\n"
         "tipple_rejects_total{command=\"load\",namespace=\"a\\\"b\\\\c\\n\"} 3\n"),
        "# TYPE tipple_running gauge\ntipple_running{command=\"load\",namespace=\"a\\\"b\\\\c\\n\"} 0\n",
        "\"} 50300000\n", "\"} 554444\n",
        "tipple_last_status{command=\"load\",namespace=\"a\\\"b\\\\c\\n\"} 4\n"};
    char text[4096];
    run_with_metrics("m.prom", 4, text);
    for (size_t i = 0; i < sizeof there / sizeof *there; i++)
        if (!strstr(text, there[i]))
            fail_msg("%s lacks %s", text, there[i]);
    assert_null(strstr(text, "phase"));
    assert_null(strstr(text, "nan"));
    run_with_metrics("m.jsonl", 0, text);
    const char *first = strstr(text, "\"last_status\": null"), *last = strstr(text, "\"last_status\": 0");
    assert_true(first && last && first < last && strstr(last, "}\n"));
    assert_non_null(
        strstr(text, "\"namespace\": \"a\\\"b\\\\c\\n\", \"phase\": \"starting\", \"running\": 1, "));
    assert_non_null(strstr(text, "\"phase\": \"loading\", \"running\": 0, \"records_total\": 0, "));
}
