/* drill: which query is the first one, and whether it was quick enough. */
#include "study/drill/drill.h"
#include "test.h"

#include <math.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

/* ---- the first query ---- */

static void chooses(const char *words, const char *format, const char *expected) {
    first_query_t chosen;
    char name[1400];
    err_t err = {.text = ""};
    if (!first_query_choose(words, format, &chosen, &err))
        fail_msg("%s: %s", words ? words : "", err.text);
    assert_string_equal(first_query_name(&chosen, name), expected);
}

static void refuses(const char *words, const char *why) {
    first_query_t chosen;
    err_t err = {.text = ""};
    assert_false(first_query_choose(words, "mot", &chosen, &err));
    assert_int_equal(err.status, STATUS_USAGE);
    if (!strstr(err.text, why))
        fail_msg("'%s' does not speak of '%s'", err.text, why);
}

TEST(first_query) {
    chooses(NULL, "mot", "mot greenness");
    chooses(NULL, "isd", "isd extremes");
    chooses(NULL, "obd", "one document by its _id"); /* each has values to choose from */
    chooses(NULL, "ycsb", "one document by its _id");
    chooses(NULL, "mot-item", "one document by its _id");
    chooses("mot", "isd", "mot greenness");
    chooses("mot:by-make", "mot", "mot by-make");
    chooses("obd:group", "mot", "obd group");
    chooses("isd:station-latency", "isd", "isd station-latency"); /* drawn, but asked for */
    refuses("mott", "did you mean 'mot'");
    refuses("mot:nothing", "has no query 'nothing'");
    refuses("obd", "obd:NAME");
    refuses(":x", "is not SUITE or");
    refuses("./none:a.yaml/b.yaml", "none:a.yaml/b.yaml");
}

/* ---- what is left ---- */

TEST(left_open) {
    static drill_result_t result;
    result = (drill_result_t){.pass = {.reached = DRILL_LOAD}};
    result.pass.phases[DRILL_DROP].came = true;
    assert_false(drill_left_open(&result)); /* only predicted */
    result.drilled = true;
    assert_true(drill_left_open(&result));
    result.scratch = true;
    assert_false(drill_left_open(&result));
    result.scratch = false;
    result.pass.loaded = true;
    assert_false(drill_left_open(&result)); /* only verify or the query were stopped */
    result.pass.loaded = false;
    result.pass.phases[DRILL_DROP].came = false;
    assert_false(drill_left_open(&result));
}

/* ---- soon enough? ---- */

TEST(within) {
    static const struct {
        bool finished;
        double measured, mid, high, within, seconds;
        bool is;
    } cases[] = {
        {true, 10, 5, 6, 10, 10, true},      {true, 10, 5, 6, 9.9, 10, false},
        {true, 10, NAN, NAN, 11, 10, true},  {false, 0, 5, 6, 6, 6, true},
        {false, 0, 5, 6, 5.5, 6, false},     {false, 0, 5, NAN, 5, 5, true},
        {false, 0, NAN, NAN, 5, NAN, false},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        static drill_result_t result;
        double seconds;
        result = (drill_result_t){.pass = {.finished = cases[i].finished,
                                           .verified_ns = (int64_t)(cases[i].measured * 1e9),
                                           .verified = {NAN, cases[i].mid, cases[i].high}}};
        assert_int_equal(drill_is_within(&result, cases[i].within, &seconds), cases[i].is);
        assert_true(seconds == cases[i].seconds || (isnan(seconds) && isnan(cases[i].seconds)));
    }
}
