/* report: the document that is built, its JSON, escaping, numbers, axes, and a file that is there whole or
 * not at all. Every expectation is written by hand. */
#include "report/file.h"
#include "report/html.h"
#include "report/json.h"
#include "report/markup.h"
#include "report/report.h"
#include "report/scale.h"
#include "test.h"

#include <math.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

/* ---- escaping ---- */

TEST(escaping) {
    static const struct {
        const char *text, *expected;
    } cases[] = {
        {"", ""},
        {"plain text, 12 %", "plain text, 12 %"},
        {"<script>alert(1)</script>", "&lt;script&gt;alert(1)&lt;/script&gt;"},
        {"a & b &amp; c", "a &amp; b &amp;amp; c"},
        {"\" onload='x' ", "&quot; onload=&#39;x&#39; "},
        {"two\nlines\tand\rmore", "two lines and more"},
        {"\x01 \x1f \x7f", "\xEF\xBF\xBD \xEF\xBF\xBD \xEF\xBF\xBD"},
        {"\xC2\x85", "\xEF\xBF\xBD"},                              /* a C1 control */
        {"Škoda 电 🚗", "Škoda 电 🚗"},                              /* two, three and four bytes */
        {"a\u202Eb€", "a\\u202eb€"},                               /* what runs from right to left */
        {"\xFF\xFE", "\xEF\xBF\xBD\xEF\xBF\xBD"},                  /* no UTF-8 */
        {"a\xC3", "a\xEF\xBF\xBD"},                                /* cut off */
        {"\xC0\xBCscript>", "\xEF\xBF\xBD\xEF\xBF\xBDscript&gt;"}, /* '<' in too many bytes */
        {"\xED\xA0\x80", "\xEF\xBF\xBD\xEF\xBF\xBD\xEF\xBF\xBD"},  /* a surrogate */
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        markup_t out = {.text.length = 0};
        markup_text(&out, cases[i].text);
        char *text = markup_take(&out, NULL);
        assert_string_equal(cases[i].expected, text);
        free(text);
    }
}

TEST(short_texts) {
    static const struct {
        const char *text;
        size_t most;
        const char *expected;
    } cases[] = {{"abcdef", 6, "abcdef"},
                 {"abcdefg", 6, "abcde…"},
                 {"ŠŠŠŠ", 3, "ŠŠ…"},
                 {"a<b", 3, "a&lt;b"},
                 {"", 3, ""}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        markup_t out = {.text.length = 0};
        markup_text_short(&out, cases[i].text, cases[i].most);
        char *text = markup_take(&out, NULL);
        assert_string_equal(cases[i].expected, text);
        free(text);
    }
}

/* ---- numbers ---- */

TEST(values) {
    static const struct {
        double value;
        const char *unit, *expected;
    } cases[] = {
        {6521004, "documents", "6,521,004"},
        {0, "documents", "0"},
        {350123, "documents/s", "350k/s"},
        {1243000, "documents/s", "1.24M/s"},
        {1.4142, "requests/s", "1.41/s"},
        {0.25, "requests/s", "0.250/s"},
        {84.25, "requests/s", "84.2/s"},
        {47, "requests/s", "47/s"},
        {412e6, "bytes/s", "412 MB/s"},
        {1.3e9, "bytes", "1.30 GB"},
        {10.74, "s", "10.7 s"},
        {0.25, "s", "250 ms"},
        {192, "s", "3:12"},
        {0.0051, "s", "5.10 ms"},
        {1.7345, "us", "1.73 µs"},
        {47.31, "ms", "47.3 ms"},
        {1640, "ms", "1.6 s"},
        {93.04, "%", "93.0 %"},
        {100, "%", "100 %"},
        {0, "%", "0 %"},
        {1.5, "cores", "1.50"},
        {NAN, "documents", "–"},
        {-3, "", "−3"},
        {2.25, "", "2.25"},
        {0.0000221, "s", "0.022 ms"},
        {1e300, "", "1e+300"},
    };
    char text[SCALE_TEXT];
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        assert_string_equal(cases[i].expected, scale_value(text, cases[i].value, cases[i].unit));
}

TEST(axis_labels) {
    static const struct {
        double value;
        const char *unit, *expected;
    } cases[] = {{0, "documents/s", "0"},
                 {200000, "documents/s", "200k"},
                 {1250000, "documents/s", "1.25M"},
                 {0.5, "s", "500 ms"},
                 {20, "s", "20 s"},
                 {90, "s", "1:30"},
                 {3600, "s", "1 h"},
                 {9000, "s", "2 h 30"},
                 {2000, "ms", "2 s"},
                 {300, "ms", "300 ms"},
                 {50, "%", "50 %"},
                 {2000000, "bytes", "2 MB"}};
    char text[SCALE_TEXT];
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        assert_string_equal(cases[i].expected, scale_short(text, cases[i].value, cases[i].unit));
}

/* ---- axes ---- */

static void expect_ticks(const scale_t *scale, const double *ticks, size_t count) {
    assert_int_equal(count, scale->count);
    for (size_t i = 0; i < count; i++)
        assert_true(fabs(scale->ticks[i] - ticks[i]) <= 1e-9 * fabs(ticks[i]));
}

#define TICKS(...) (const double[]){__VA_ARGS__}, sizeof(const double[]){__VA_ARGS__} / sizeof(double)

TEST(ticks) {
    scale_t scale;
    scale = scale_linear(0, 611000, 5, "documents/s");
    expect_ticks(&scale, TICKS(0, 200e3, 400e3, 600e3, 800e3));
    assert_true(scale.high == 800e3);
    scale = scale_linear(0, 1, 5, "");
    expect_ticks(&scale, TICKS(0, 0.2, 0.4, 0.6, 0.8, 1));
    scale = scale_exact(0, 100, 8, "s"); /* as clocks step */
    expect_ticks(&scale, TICKS(0, 15, 30, 45, 60, 75, 90));
    assert_true(scale.high == 100);
    scale = scale_exact(0, 11520, 8, "s"); /* 3 h 12 min */
    expect_ticks(&scale, TICKS(0, 1800, 3600, 5400, 7200, 9000, 10800));
    scale = scale_log(1, 90, 7);
    expect_ticks(&scale, TICKS(1, 2, 5, 10, 20, 50));
    scale = scale_log(0.5, 3000, 7);
    expect_ticks(&scale, TICKS(1, 10, 100, 1000));
    scale = scale_log(0.9, 400, 7);
    expect_ticks(&scale, TICKS(1, 3, 10, 30, 100, 300));
}

TEST(places) {
    const scale_t linear = scale_exact(0, 200, 5, ""), log = scale_log(1, 100, 7);
    assert_true(scale_place(&linear, 50) == 0.25);
    assert_true(scale_place(&linear, -1) == 0 && scale_place(&linear, 201) == 1 &&
                scale_place(&linear, NAN) == 0);
    assert_true(fabs(scale_place(&log, 10) - 0.5) < 1e-12);
    assert_true(scale_place(&log, 0) == 0);
}

/* Nothing makes an axis that cannot be drawn. */
TEST(odd_axes) {
    static const double odd[] = {0, -1, 1, 5, 1e-300, 1e300, -1e300, INFINITY, -INFINITY, NAN};
    for (size_t i = 0; i < sizeof odd / sizeof *odd; i++)
        for (size_t j = 0; j < sizeof odd / sizeof *odd; j++) {
            const scale_t scales[] = {scale_linear(odd[i], odd[j], 5, "s"),
                                      scale_exact(odd[i], odd[j], 5, ""), scale_log(odd[i], odd[j], 5)};
            for (size_t k = 0; k < 3; k++) {
                assert_true(scales[k].count <= SCALE_MOST_TICKS);
                for (size_t l = 0; l < sizeof odd / sizeof *odd; l++) {
                    const double place = scale_place(&scales[k], odd[l]);
                    assert_true(place >= 0 && place <= 1);
                }
            }
        }
}

/* ---- the document ---- */

TEST(json_texts) {
    bson_t document = BSON_INITIALIZER;
    BSON_APPEND_UTF8(&document, "a\"b", "\\ \" \n \x01 / < \xFF Š");
    BSON_APPEND_DOUBLE(&document, "n", 0.1);
    BSON_APPEND_DOUBLE(&document, "m", 265275.41964785755);
    BSON_APPEND_DOUBLE(&document, "z", -0.0);
    BSON_APPEND_INT64(&document, "i", 12345678901);
    BSON_APPEND_DATE_TIME(&document, "other", 1);
    char *json = json_print(&document, NULL);
    assert_string_equal(
        "{\n  \"a\\\"b\": \"\\\\ \\\" \\n \\u0001 / < \xEF\xBF\xBD Š\",\n  \"n\": 0.1,\n"
        "  \"m\": 265275.41964785755,\n  \"z\": 0,\n  \"i\": 12345678901,\n  \"other\": null\n}\n",
        json);
    free(json);
    bson_destroy(&document);
}

/* What somebody has written into their data does nothing, wherever it comes to stand. */
TEST(hostile_page) {
    static const char evil[] = "</style></title><script>alert(1)</script>\" x='&";
    static const char escaped[] =
        "&lt;/style&gt;&lt;/title&gt;&lt;script&gt;alert(1)&lt;/script&gt;&quot; x=&#39;&amp;";
    report_t *report = report_new(evil);
    report_head(report, evil, evil, evil);
    report_say(report, 0, "%s", evil);
    report_set_text(report, evil, evil);
    report_begin(report, REPORT_TIMELINE, evil, evil);
    report_phase(report, &(report_phase_t){evil, 0, 1, 2, 1, 3});
    report_end(report);
    report_begin(report, REPORT_LINES, evil, evil);
    report_axes(report, evil, "s", evil, evil);
    report_series(report, evil);
    report_point(report, 1, 2);
    report_band(report, evil, evil, 0, 1);
    report_band(report, "phase", evil, 0, 1);
    report_end(report);
    report_begin(report, REPORT_BARS, evil, evil);
    report_bar_column(report, evil, evil, 0);
    report_row(report);
    report_word(report, evil);
    report_end(report);
    report_begin(report, REPORT_TEXT, evil, evil);
    report_line(report, evil);
    report_end(report);
    char *page = html_print(report_document(report), NULL);
    assert_null(strstr(page, "<script"));
    assert_null(strstr(page, "alert(1)</"));
    assert_non_null(strstr(page, escaped));
    assert_non_null(strstr(page, "default-src 'none'; style-src 'unsafe-inline'"));
    const char *end = strstr(page, "</style>");
    assert_null(strstr(end + 1, "</style>"));
    free(page);
    report_free(report);
}

/* ---- files ---- */

static char folder[] = "report-XXXXXX";

static int make_folder(TEST_UNUSED void **state) {
    return mkdtemp(folder) && chdir(folder) == 0 ? 0 : -1;
}

static int drop_folder(TEST_UNUSED void **state) {
    return chdir("..") == 0 && rmdir(folder) == 0 ? 0 : -1;
}

static void expect_file(const char *path, const char *text) {
    char found[64] = "";
    FILE *file = fopen(path, "r");
    assert_non_null(file);
    assert_int_equal(strlen(text), fread(found, 1, sizeof found - 1, file));
    fclose(file);
    assert_string_equal(text, found);
}

static void put_file(const char *path, const char *text) {
    FILE *file = fopen(path, "w");
    assert_non_null(file);
    fputs(text, file);
    fclose(file);
}

static void write_file(const char *path, const char *text) {
    err_t err;
    assert_true(file_write(path, text, strlen(text), &err));
}

TEST(file) {
    err_t err = {.text = ""};
    assert_true(report_check_path("a.html", &err));
    assert_int_equal(-1, access("a.html", F_OK)); /* nothing is left of the trial */
    write_file("a.html", FILE_MARK_PAGE "old");
    assert_true(report_check_path("a.html", &err));
    expect_file("a.html", FILE_MARK_PAGE "old");
    write_file("a.html", FILE_MARK_PAGE "newer");
    expect_file("a.html", FILE_MARK_PAGE "newer");
    assert_int_equal(0, symlink("a.html", "link.json")); /* the link stays a link */
    write_file("link.json", "third");
    expect_file("a.html", "third");
    unlink("a.html");
    unlink("link.json");
}

/* What is no report is not written over: before a load, and also when it came into the place during the load. */
TEST(files_of_others) {
    static const char *const theirs[] = {"a,b\n1,2\n", "{\"a\": 1}\n", "<!DOCTYPE html>\n<html>mine",
                                         "# tipple rejects"};
    for (size_t i = 0; i < sizeof theirs / sizeof *theirs; i++) {
        err_t err = {.text = ""};
        put_file("a.json", theirs[i]);
        assert_false(report_check_path("a.json", &err));
        assert_int_equal(STATUS_USAGE, err.status);
        assert_non_null(strstr(err.text, "a.json is no report"));
        assert_false(file_write("a.json", "new", 3, &err));
        assert_int_equal(STATUS_HOST, err.status);
        expect_file("a.json", theirs[i]);
        unlink("a.json");
    }
    err_t err;
    report_t *report = report_new("load"); /* what we write, we may write again */
    report_head(report, "a.b", "h", "t");
    report_say(report, 0, "s");
    static const char *const ours[] = {"a.json", "a.html"};
    for (size_t i = 0; i < 2; i++) {
        for (int again = 0; again < 2; again++) {
            assert_true(report_check_path(ours[i], &err));
            assert_true(report_write(report, ours[i], &err));
        }
        unlink(ours[i]);
    }
    report_free(report);
    put_file("a.json", ""); /* of mktemp */
    assert_true(report_check_path("a.json", &err));
    unlink("a.json");
}

/* A file that cannot grow stands for a full disk: what was there stays, and nothing else is left. */
TEST(no_room) {
    err_t err = {.text = ""};
    assert_true(file_write("a.html", FILE_MARK_PAGE, strlen(FILE_MARK_PAGE), &err));
    const pid_t child = fork();
    if (child == 0) {
        char *large = calloc(1, 1 << 16);
        signal(SIGXFSZ, SIG_IGN);
        setrlimit(RLIMIT_FSIZE, &(struct rlimit){4096, 4096});
        const bool wrote = file_write("a.html", large, 1 << 16, &err);
        _exit(!wrote && err.status == STATUS_HOST && strstr(err.text, "a.html") ? 0 : 1);
    }
    int status;
    assert_int_equal(child, waitpid(child, &status, 0));
    assert_int_equal(0, status);
    expect_file("a.html", FILE_MARK_PAGE);
    unlink("a.html");
}

TEST_GROUP(make_folder, drop_folder);
