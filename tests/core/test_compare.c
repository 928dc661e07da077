/* judge: files of an earlier run, good and bad, what of them belongs to a measurement of now, the bounds of --fail-if, and
 * what is not judged. */
#include "query/query.h"
#include "test.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static const char path[] = "earlier.json";

static bool read_text(const char *text, bson_t *then, err_t *err) {
    FILE *file = fopen(path, "w");
    assert_non_null(file);
    assert_int_equal(fwrite(text, 1, strlen(text), file), strlen(text));
    fclose(file);
    bson_init(then);
    const bool ok = compare_read(path, then, err);
    unlink(path);
    return ok;
}

/* A measurement of now, ten requests of which N found nothing, or all failed. */
static void find(const bson_t *then, const char *name, const char *with, const char *reads, uint32_t clients,
                 uint64_t empty, uint64_t failures, compared_t *compared, bool *found) {
    static tally_t tally;
    const query_t query = {.name = name};
    work_t work = {.query = &query, .reads = reads, .question = "5e1f"};
    measure_t measure = {.work = &work, .clients = clients, .found = &tally};
    tally.empty = empty;
    tally.failures = failures;
    tally.latency.moments.count = failures ? 0 : 10;
    snprintf(work.with, sizeof work.with, "%s", with);
    *found = compare_find(&(query_spec_t){.then = then}, &measure, compared);
}

#define HEAD  "{\"schema\":1,\"command\":\"query\",\"status\":0,\"suite\":\"s\",\"queries\":["
#define ASKED "\"question\":\"5e1f\",\"rounds\":[],"

static const char earlier[] = HEAD
    "\n{\"name\":\"a\",\"with\":\"\"," ASKED
    "\"reads\":null,\"rate\":0,\"clients\":1,\"n\":500,\"empty\":4,\"failures\":0,"
    "\"p50_ms\":12,\"p99_ms\":25.5,\"result\":[{\"$k\":1,\"x\":{\"$date\":\"2014-01-01T00:00:00Z\"}}]},\n"
    "{\"name\":\"a\",\"with\":\"n=10\"," ASKED
    "\"reads\":\"secondary\",\"rate\":0,\"clients\":16,\"n\":8000000000,"
    "\"empty\":0,\"failures\":0,\"p50_ms\":0.25,\"p99_ms\":1e-3},\n"
    "{\"name\":\"a\",\"with\":\"\"," ASKED
    "\"reads\":null,\"rate\":0,\"clients\":2,\"n\":3,\"empty\":3,\"failures\":0,"
    "\"p50_ms\":3,\"p99_ms\":null},\n"
    "{\"name\":\"b\",\"with\":\"\"," ASKED
    "\"rate\":0,\"clients\":1,\"n\":0,\"empty\":0,\"failures\":2,\"p50_ms\":null},\n"
    "{\"name\":\"c\",\"with\":\"\",\"question\":\"0000\",\"rounds\":[],\"rate\":0,\"clients\":1,\"n\":3,"
    "\"empty\":0,"
    "\"failures\":0,"
    "\"p50_ms\":7},\n7]}\n";

TEST(measurements) {
    static const struct {
        const char *name, *with, *reads;
        uint32_t clients;
        uint64_t empty, failures;
        double p50_ms, p99_ms;
        const char *obstacle;
    } cases[] = {
        {"a", "", NULL, 1, 0, 0, 12, 25.5, NULL},
        {"a", "", NULL, 1, 9, 0, 12, 25.5, NULL},
        {"a", "", NULL, 1, 10, 0, 12, 25.5, "another answer"},
        {"a", "", NULL, 1, 0, 1, 12, 25.5, "failed now"},
        {"a", "n=10", "secondary", 16, 0, 0, 0.25, 0.001, NULL},
        {"a", "", NULL, 2, 0, 0, 3, NAN, "another answer"},
        {"a", "", NULL, 2, 10, 0, 3, NAN, NULL},
        {"b", "", NULL, 1, 0, 0, NAN, NAN, "failed then"},
        {"c", "", NULL, 1, 0, 0, 7, NAN, "another question"},
        /* each of the four must be the same */
        {"d", "", NULL, 1, 0, 0, NAN, NAN, "new"},
        {"a", "n=1", "secondary", 16, 0, 0, NAN, NAN, "new"},
        {"a", "", "primary", 1, 0, 0, NAN, NAN, "new"},
        {"a", "", NULL, 3, 0, 0, NAN, NAN, "new"},
    };
    bson_t then;
    err_t err = {.text = ""};
    if (!read_text(earlier, &then, &err))
        fail_msg("%s", err.text);
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        compared_t compared;
        bool found;
        find(&then, cases[i].name, cases[i].with, cases[i].reads, cases[i].clients, cases[i].empty,
             cases[i].failures, &compared, &found);
        const char *obstacle = compared.obstacle ? compared.obstacle : "";
        if (strcmp(obstacle, cases[i].obstacle ? cases[i].obstacle : "") != 0)
            fail_msg("case %zu: '%s'", i, obstacle);
        assert_int_equal(found, strcmp(obstacle, "new") != 0);
        assert_true(compared.p50.then_ms == cases[i].p50_ms || isnan(cases[i].p50_ms));
        assert_true(compared.p99.then_ms == cases[i].p99_ms || isnan(cases[i].p99_ms));
        assert_int_equal(isnan(compared.p50.then_ms), isnan(cases[i].p50_ms));
        assert_int_equal(isnan(compared.p99.then_ms), isnan(cases[i].p99_ms));
    }
    bson_destroy(&then);
}

TEST(broken_files) {
    static const struct {
        const char *text, *says;
    } files[] = {
        {"", "the file is empty"},
        {"query,with,reads\n", "earlier.json is not what"},
        {HEAD, "earlier.json is not what"},
        {HEAD "{\"name\":\"a\"", "earlier.json is not what"},
        {HEAD "{\"name\":\"a\",\"result\":\"\\", "earlier.json is not what"},
        {"[1]", "'command'"},
        {"{}", "'command'"},
        {"{\"schema\":1,\"command\":\"load\"}", "'command'"},
        {"{\"command\":\"query\",\"queries\":[]}", "'schema'"},
        {"{\"schema\":2,\"command\":\"query\",\"queries\":[]}", "'schema'"},
        {"{\"schema\":1,\"command\":\"query\",\"queries\":{}}", "no list 'queries'"},
        {HEAD "{\"name\":\"a\",\"n\":5,\"p50_ms\":1}]}", "earlier.json has no rounds"},
    };
    for (size_t i = 0; i < sizeof files / sizeof *files; i++) {
        bson_t then;
        err_t err = {.text = ""};
        assert_false(read_text(files[i].text, &then, &err));
        assert_int_equal(err.status, STATUS_USAGE);
        if (!strstr(err.text, files[i].says))
            fail_msg("'%s' says '%s', and nothing of '%s'", files[i].text, err.text, files[i].says);
        bson_destroy(&then);
    }
    bson_t none = BSON_INITIALIZER;
    err_t err = {.text = ""};
    assert_false(compare_read("not-there.json", &none, &err));
    assert_non_null(strstr(err.text, "not-there.json cannot be read: No such file"));
    bson_destroy(&none);
}

/* ---- bounds ---- */

/* A thousand requests in six rounds or more, of 20.5 ms. */
static measure_t slow_one(tally_t *tally, const work_t *work, round_t *rounds, size_t count) {
    memset(tally, 0, sizeof *tally);
    for (int i = 0; i < 1000; i++)
        hist_add(&tally->latency, 20000000 + i * 1000);
    tally->failures = 3;
    for (size_t i = 0; i < count; i++)
        rounds[i] = (round_t){.n = 120, .p50_ms = 20.5, .p99_ms = 20.9};
    return (measure_t){.work = work,
                       .clients = 1,
                       .found = tally,
                       .elapsed_ns = 2000000000,
                       .rounds = rounds,
                       .round_count = count};
}

#define ROUND  "{\"n\":120,\"p50_ms\":20.5,\"p99_ms\":20.9}"
#define ROUNDS ROUND "," ROUND "," ROUND "," ROUND "," ROUND "," ROUND

static const char same[] = HEAD "{\"name\":\"a\",\"with\":\"\",\"question\":\"5e1f\","
                                "\"rate\":0,\"clients\":1,\"n\":720,\"empty\":0,\"p50_ms\":20.5,"
                                "\"p99_ms\":20.9,\"rounds\":[" ROUNDS "]}]}";

TEST(bounds) {
    static const struct {
        const char *bound, *missed; /* NULL: it is not */
        uint64_t skipped;
    } cases[] = {
        {"p50>20ms", "p50 is 20.5", 0},
        {"p50>21ms", NULL, 0},
        {"p50<20ms", NULL, 0},
        {"p99.9>20.9ms", "p99.9 is", 0},
        {"max>0.020s", "max is", 0},
        {"mean<1s", "mean is 20.5 ms", 0},
        {"ops/s<501", "ops/s is 500", 0},
        {"ops/s<500", NULL, 0},
        {"failed>2", "failed is 3", 0},
        {"failed>3", NULL, 0},
        {"skipped>0", NULL, 0},
        {"skipped>0", "skipped is 1", 1},
        {"max>1h", "max is not known", 1},
        {"p99.9>1h", NULL, 0},
        {"p99.9>1h", "p99.9 is not known", 5},
        {"p50>1.1x", NULL, 0},
        {"p50>0.9x", "p50 is 1 (1 to 1) times as long as before", 0},
        {"p50<1.1x", "p50 is 1 (", 0},
        {"p99<1.1x", "p99 is 1 (", 0},
    };
    static tally_t tally;
    round_t rounds[6];
    const query_t query = {.name = "a"};
    const work_t work = {.query = &query, .question = "5e1f"};
    bson_t then;
    err_t err = {.text = ""};
    assert_true(read_text(same, &then, &err));
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        bound_t bound;
        measure_t measure = slow_one(&tally, &work, rounds, 6);
        const query_spec_t spec = {.bounds = &bound, .bound_count = 1, .then = &then};
        tally.latency.beyond = cases[i].skipped;
        if (!query_read_bound(&bound, cases[i].bound, true, &err))
            fail_msg("%s", err.text);
        query_check_bounds(&spec, &measure);
        if (!cases[i].missed ? measure.missed != NULL
                             : !measure.missed || !strstr(measure.missed, cases[i].missed))
            fail_msg("%s: '%s'", cases[i].bound, measure.missed ? measure.missed : "");
        const bool unknown = cases[i].missed && strstr(cases[i].missed, "is not known");
        assert_int_equal(measure.verdict, !cases[i].missed ? VERDICT_KEPT
                                          : unknown        ? VERDICT_UNJUDGED
                                                           : VERDICT_MISSED);
        free(measure.missed);
    }
    /* a time of nothing is no time, unless nothing is expected */
    bson_t expected = BSON_INITIALIZER;
    work_t nothing = work;
    for (int i = 0; i < 2; i++) {
        bound_t bound;
        measure_t measure = slow_one(&tally, &nothing, rounds, 6);
        const query_spec_t spec = {.bounds = &bound, .bound_count = 1};
        assert_true(query_read_bound(&bound, "p50>1s", false, &err));
        tally.empty = tally.latency.moments.count;
        query_check_bounds(&spec, &measure);
        assert_int_equal(measure.missed != NULL, i == 0);
        free(measure.missed);
        nothing.expected = &expected;
    }
    bson_destroy(&expected);
    bson_destroy(&then);
}

/* All bounds that are missed or cannot be judged are said, and a missed one is the worse verdict. */
TEST(several_bounds) {
    static tally_t tally;
    const query_t query = {.name = "a"};
    const work_t work = {.query = &query};
    static const char *const texts[] = {"failed>2", "p50>1h", "skipped>0", "max>1ms"};
    bound_t bounds[4];
    err_t err;
    for (size_t i = 0; i < 4; i++)
        assert_true(query_read_bound(&bounds[i], texts[i], false, &err));
    measure_t measure = slow_one(&tally, &work, NULL, 0);
    tally.latency.beyond = 7;
    query_check_bounds(&(query_spec_t){.bounds = bounds, .bound_count = 4}, &measure);
    assert_string_equal(measure.missed,
                        "failed is 3 (--fail-if 'failed>2'); skipped is 7 (--fail-if 'skipped>0'); "
                        "--fail-if 'max>1ms' cannot be judged: max is not known");
    assert_int_equal(measure.verdict, VERDICT_MISSED);
    free(measure.missed);
    measure.missed = NULL;
    query_check_bounds(&(query_spec_t){.bounds = bounds + 3, .bound_count = 1}, &measure);
    assert_int_equal(measure.verdict, VERDICT_UNJUDGED);
    free(measure.missed);
}

/* ---- what is not judged ---- */

/* twin: else an earlier run, which is the same as now. */
typedef struct {
    bool twin, disturbed, then_disturbed, empty_round;
    size_t rounds, then_rounds;
    uint64_t n, then_n;    /* of the last round */
    const char *p50, *p99; /* why they are not judged; "": they are */
} judged_t;

static const judged_t judged[] = {
    {false, false, false, false, 6, 6, 120, 120, "", ""},
    {false, true, false, false, 6, 6, 120, 120, "this run was disturbed", "this run was disturbed"},
    {false, false, true, false, 6, 6, 120, 120, "the earlier run was disturbed",
     "the earlier run was disturbed"},
    {false, true, true, false, 6, 6, 120, 120, "both runs were disturbed", "both runs were disturbed"},
    {false, false, false, false, 5, 6, 120, 120, "1 more round is needed", "1 more round is needed"},
    {false, false, false, false, 2, 6, 120, 120, "4 more rounds are needed", "4 more rounds are needed"},
    {false, false, false, false, 9, 3, 120, 120, "3 more rounds are needed in the earlier run",
     "3 more rounds are needed in the earlier run"},
    {false, false, false, false, 6, 6, 99, 120, "", "100 requests a round"},
    {false, false, false, false, 6, 6, 120, 99, "", "in the earlier run"},
    {false, false, false, true, 6, 6, 120, 120, "failed or were skipped", "100 requests a round"},
    {true, false, false, false, 6, 6, 120, 120, "", ""},
    {true, true, true, false, 6, 6, 120, 120, "", ""},
    {true, false, false, false, 9, 3, 120, 120, "3 more rounds are needed", "3 more rounds are needed"},
    {true, false, false, true, 6, 6, 120, 120, "failed or were skipped", "100 requests a round"},
    {true, false, false, false, 6, 6, 120, 99, "", "100 requests a round"},
};

static void compare_one(const judged_t *one, compared_t *compared) {
    enum { MOST = 9 };
    static tally_t tallies[2];
    static const char *const flags[] = {"false", "true"};
    round_t rounds[2][MOST];
    const query_t query = {.name = "a"};
    const work_t work = {.query = &query, .question = "5e1f"};
    measure_t now = slow_one(&tallies[0], &work, rounds[0], one->rounds),
              twin = slow_one(&tallies[1], &work, rounds[1], one->then_rounds);
    char text[4000];
    int length =
        snprintf(text, sizeof text,
                 HEAD "{\"name\":\"a\",\"with\":\"\",\"question\":\"5e1f\",\"rate\":0,\"clients\":1,"
                      "\"n\":720,\"empty\":0,\"disturbed\":%s,\"p50_ms\":20.5,\"p99_ms\":20.9,\"rounds\":[",
                 flags[one->then_disturbed]);
    for (size_t i = 0; i < one->then_rounds; i++)
        length += snprintf(text + length, sizeof text - (size_t)length,
                           "%s{\"n\":%d,\"p50_ms\":20.5,\"p99_ms\":20.9}", i ? "," : "",
                           i + 1 == one->then_rounds ? (int)one->then_n : 120);
    snprintf(text + length, sizeof text - (size_t)length, "]}]}");
    rounds[0][one->rounds - 1].n = one->n;
    rounds[1][one->then_rounds - 1].n = one->then_n;
    if (one->empty_round)
        rounds[0][0] = (round_t){.n = 0, .p50_ms = NAN, .p99_ms = NAN};
    now.watched.figures.others = one->disturbed ? 0.08 : NAN;
    now.watched.figures.steal = 0.03;
    twin.watched.figures.others = one->then_disturbed ? 0.2 : 0;
    now.baseline = one->twin ? &twin : NULL;
    bson_t then;
    err_t err = {.text = ""};
    assert_true(read_text(text, &then, &err));
    assert_true(compare_find(&(query_spec_t){.then = &then}, &now, compared));
    bson_destroy(&then);
}

TEST(unjudged) {
    for (size_t i = 0; i < sizeof judged / sizeof *judged; i++) {
        compared_t compared;
        compare_one(&judged[i], &compared);
        const compared_figure_t *const pair[] = {&compared.p50, &compared.p99};
        const char *const why[] = {judged[i].p50, judged[i].p99};
        for (size_t k = 0; k < 2; k++) {
            const compared_figure_t *figure = pair[k];
            if (!strstr(figure->unjudged, why[k]) || !*why[k] != !*figure->unjudged)
                fail_msg("case %zu: '%s'", i, figure->unjudged);
            assert_int_equal(isnan(figure->ratio.ratio), *why[k] != 0);
            assert_string_equal(compare_verdict(figure), *why[k] ? "unjudged" : "undecided");
        }
        assert_int_equal(compared.disturbed, judged[i].disturbed || judged[i].then_disturbed);
    }
}

/* Whole rounds lie on one side of the other's. Twins are compared round by round: 1.2 times each is certain. */
TEST(verdicts) {
    static tally_t tallies[2];
    round_t rounds[2][6];
    const query_t query = {.name = "a"};
    const work_t work = {.query = &query};
    for (int slower = 0; slower < 2; slower++) {
        measure_t now = slow_one(&tallies[0], &work, rounds[0], 6),
                  twin = slow_one(&tallies[1], &work, rounds[1], 6);
        compared_t compared;
        for (int i = 0; i < 6; i++) {
            rounds[!slower][i] = (round_t){.n = 10, .p50_ms = 1 << i, .p99_ms = NAN};
            rounds[slower][i] = (round_t){.n = 10, .p50_ms = (1 << i) / 1.2, .p99_ms = NAN};
        }
        now.baseline = &twin;
        assert_true(compare_find(&(query_spec_t){.then = NULL}, &now, &compared));
        assert_string_equal(compare_verdict(&compared.p50), slower ? "slower" : "faster");
    }
}

/* 1.2 times, and the interval reaches from 1 to 1.6: neither bound is missed beyond doubt. */
TEST(bounds_in_doubt) {
    static const char *const texts[] = {"p50>1.1x", "p50<1.3x", "p50<1.7x", "p50>0.9x"};
    static tally_t tallies[2];
    static const double times[] = {1, 1.1, 1.2, 1.2, 1.4, 1.6};
    round_t rounds[2][6];
    const query_t query = {.name = "a"};
    const work_t work = {.query = &query};
    for (size_t i = 0; i < 4; i++) {
        measure_t now = slow_one(&tallies[0], &work, rounds[0], 6),
                  twin = slow_one(&tallies[1], &work, rounds[1], 6);
        bound_t bound;
        err_t err;
        for (size_t k = 0; k < 6; k++) {
            rounds[0][k].p50_ms = times[k];
            rounds[1][k].p50_ms = 1;
        }
        now.baseline = &twin;
        assert_true(query_read_bound(&bound, texts[i], true, &err));
        query_check_bounds(&(query_spec_t){.bounds = &bound, .bound_count = 1}, &now);
        assert_int_equal(now.verdict, i < 2 ? VERDICT_KEPT : VERDICT_MISSED);
        free(now.missed);
    }
}

TEST(broken_bounds) {
    static const char *const bounds[] = {"",         "p99",    "p99>",        "p99=20ms", "p98>20ms",
                                         "p99>20",   "p99>x",  "p95>1.1x",    "max>1.1x", "failed>x",
                                         "ops/s<1s", "p99>0x", "p99>20ms so", ">5"};
    bound_t bound;
    err_t err;
    for (size_t i = 0; i < sizeof bounds / sizeof *bounds; i++)
        if (query_read_bound(&bound, bounds[i], true, &err) || err.status != STATUS_USAGE)
            fail_msg("'%s' is taken", bounds[i]);
    assert_false(query_read_bound(&bound, "p50>1.1x", false, &err));
    assert_non_null(strstr(err.text, "--compare"));
    assert_non_null(strstr(err.text, "--against"));
}
