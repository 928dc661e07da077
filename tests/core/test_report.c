/* The page of a result: escaping, and what it shows. Every expectation is written by hand. That a page is there whole or
 * not at all is tested live (test_report.py), and where the disk is full (test_disk.py). */
#include "report/inner.h"
#include "test.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

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
        {"\x01 \x1f \x7f", "\\x01 \\x1f \\x7f"},
        {"\xC2\x85", "\\xc2\\x85"},                  /* a C1 control */
        {"Škoda 电 🚗", "Škoda 电 🚗"},                /* two, three and four bytes */
        {"a\u202Eb€", "a\\u202eb€"},                 /* what runs from right to left */
        {"\xFF\xFE", "\\xff\\xfe"},                  /* no UTF-8 */
        {"a\xC3", "a\\xc3"},                         /* cut off */
        {"\xC0\xBCscript>", "\\xc0\\xbcscript&gt;"}, /* '<' in too many bytes */
        {"\xED\xA0\x80", "\\xed\\xa0\\x80"},         /* a surrogate */
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        text_t out = {.length = 0};
        text_append(&out, "");
        page_words(&out, cases[i].text);
        char *text = text_take_or_end(&out);
        assert_string_equal(cases[i].expected, text);
        free(text);
    }
}

/* ---- the page ---- */

typedef struct {
    double x, y;
} point_t;

static void put_point(bson_t *to, const void *of, size_t at) {
    const point_t *point = (const point_t *)of + at;
    result_put(to, AS_NUMBER("seconds", point->x), AS_NUMBER("docs_per_second", point->y),
               AS_NUMBER("-from_seconds", 45), AS_NUMBER("-to_seconds", 90));
}

static char *page_of(const result_t *result) {
    size_t length;
    char *page = page_print(result, &length);
    assert_int_equal(strlen(page), length);
    return page;
}

static void has(const char *page, const char *words) {
    if (!strstr(page, words))
        fail_msg("not on the page: %s", words);
}

static const result_view_t line[] = {CHART("-course", "", "Rate", NULL, COLUMN("seconds", "time"),
                                           COLUMN("docs_per_second", "documents"),
                                           COLUMN("-to_seconds", "until")),
                                     {0}};

/* What is not known is no point of the line. */
TEST(broken_line) {
    static const point_t points[] = {{0, 100000}, {20, 200000}, {40, NAN},   {60, 300000},
                                     {80, NAN},   {90, NAN},    {95, 50000}, {100, 400000}};
    const err_t fine = {.text = ""};
    result_t *result = result_new("load", line);
    result_put(&result->document, AS_LIST("-course", 8, put_point, points));
    result_answer(result, "Is everything loaded?", 0, &fine, "", "");
    char *page = page_of(result);
    has(page, "d=\"M0.00,75.00h0L20.00,50.00M60.00,25.00h0M95.00,87.50h0L100.00,0.00\"/>");
    free(page);
    result_free(result);
}

static const result_view_t chart[] = {CHART("-course", "-course", "Rate", "a note on {loaded}",
                                            COLUMN("seconds", "time"),
                                            COLUMN("docs_per_second", "documents")),
                                      {0}};

TEST(page) {
    static const point_t points[] = {{0, 100000}, {45, 611000}, {90, 300000}};
    const err_t fine = {.text = ""};
    result_t *result = result_new("load", NULL);
    result_put(&result->document, AS_COUNT("loaded", 7), AS_TEXT("namespace", "mot.results"),
               AS_TEXT("-target", "h:27017"), AS_LIST("-course", 3, put_point, points),
               AS_NUMBER("rate_per_second", NAN), AS_SECONDS("seconds", 1500000000),
               AS_LIST("list", 3, put_point, points));
    result->views = chart;
    result_answer(result, "Is everything loaded?", 2, &fine, "loaded {loaded|document}", "bad");
    char *page = page_of(result);
    has(page, "<title>Is everything loaded? · mot.results</title>");
    has(page, "<span class=\"outcome fair\">done, some records rejected</span>");
    has(page, "<h1>Is everything loaded?</h1>\n<p class=\"sentence\">Loaded 7 documents.</p>");
    has(page, "<li>mot.results</li><li>h:27017</li>");
    has(page, "<p class=\"note\">a note on 7</p>");
    has(page,
        "<dl>\n<div><dt>loaded</dt><dd>7</dd></div>\n<div><dt>namespace</dt><dd>mot.results</dd></div>\n"
        "<div><dt>seconds</dt><dd>1.5 s</dd></div>\n</dl>");
    has(page, ">800k</text>");   /* the axis ends at a round number */
    has(page, ">75.0 s</text>"); /* time has steps of a clock */
    has(page, "<path class=\"line\" d=\"M0.00,87.50h0L50.00,23.62L100.00,62.50\"/>");
    has(page, "<rect class=\"band\" x=\"50.00%\" width=\"50.00%\"");
    has(page, "<td role=\"cell\" class=\"n\" data-label=\"documents\">611k</td>");
    free(page);
    result_free(result);
}

/* How a run that did not end well is answered. */
TEST(answers) {
    static const struct {
        int status;
        const char *why, *expected;
    } cases[] = {{0, "", "Fine, 7."},
                 {2, "2 records were rejected", "Fine, 7."},
                 {5, "a.csv: is damaged", "Failed: a.csv: is damaged; 7 until then."},
                 {130, "interrupted", "Interrupted; 7 until then."},
                 {143, "interrupted; load again", "Interrupted; load again; 7 until then."}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        err_t err = {.status = (status_t)cases[i].status};
        snprintf(err.text, sizeof err.text, "%s", cases[i].why);
        result_t *result = result_new("load", NULL);
        result_put(&result->document, AS_COUNT("loaded", 7), AS_SECONDS("seconds", 1500000000));
        result_answer(result, "Is it?", cases[i].status, &err, "fine, {loaded}", "{loaded} until then");
        assert_string_equal(cases[i].expected, result->answer);
        result_free(result);
    }
}

#define EVIL "</style></title><script>alert(1)</script>\" x='&"

static void put_evil(bson_t *to, const void *evil, TEST_UNUSED size_t at) {
    result_put(to, AS_TEXT(EVIL, evil), AS_TEXT("kind", evil), AS_COUNT("-from_seconds", 0),
               AS_COUNT("-to_seconds", 1), AS_COUNT("x", 1), AS_LIST("inner", 0, put_evil, evil));
}

static const result_view_t evil_views[] = {
    LINE(SHOW_PAGE, NULL, "{evil}", .command = "evil"),
    LINE(SHOW_PAGE, NULL, "{kind}" EVIL, .each = "list"),
    TABLE(SHOW_PAGE, NULL, "list", EVIL, EVIL, COLUMN("x", EVIL, .most = BAR_LARGEST), COLUMN(EVIL, "{evil}"),
          COLUMN("kind", EVIL)),
    CHART("list", "list", EVIL, EVIL, COLUMN("x", EVIL), COLUMN("x", EVIL)),
    {0}};

/* What was written into data does nothing, wherever it comes to stand. */
TEST(hostile_page) {
    static const char escaped[] =
        "&lt;/style&gt;&lt;/title&gt;&lt;script&gt;alert(1)&lt;/script&gt;&quot; x=&#39;&amp;";
    const err_t fine = {.text = ""};
    result_t *result = result_new("load", NULL);
    result_put(&result->document, AS_TEXT("namespace", EVIL), AS_TEXT("target", EVIL), AS_TEXT("evil", EVIL),
               AS_TEXT(EVIL, EVIL), AS_LIST("list", 2, put_evil, EVIL));
    result->views = evil_views;
    result_answer(result, EVIL, 0, &fine, EVIL, EVIL);
    char *page = page_of(result);
    assert_null(strstr(page, "<script"));
    assert_null(strstr(page, "alert(1)</"));
    has(page, escaped);
    has(page, "default-src 'none'; style-src 'unsafe-inline'");
    const char *end = strstr(page, "</style>");
    assert_null(strstr(end + 1, "</style>"));
    free(page);
    result_free(result);
}
