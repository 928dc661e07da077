/* judge: files of an earlier run, good and bad, what of them belongs to a measurement of now, and the bounds of --fail-if. */
#include "query/query.h"
#include "test.h"

#include <math.h>
#include <stdio.h>
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
#define ASKED "\"question\":\"5e1f\","

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
    "{\"name\":\"c\",\"with\":\"\",\"question\":\"0000\",\"rate\":0,\"clients\":1,\"n\":3,\"empty\":0,"
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
        assert_true(compared.p50_ms == cases[i].p50_ms || isnan(cases[i].p50_ms));
        assert_true(compared.p99_ms == cases[i].p99_ms || isnan(cases[i].p99_ms));
        assert_int_equal(isnan(compared.p50_ms), isnan(cases[i].p50_ms));
        assert_int_equal(isnan(compared.p99_ms), isnan(cases[i].p99_ms));
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

static measure_t slow_one(tally_t *tally, const work_t *work) {
    memset(tally, 0, sizeof *tally);
    for (int i = 0; i < 1000; i++)
        hist_add(&tally->latency, 20000000 + i * 1000);
    tally->failures = 3;
    return (measure_t){.work = work, .clients = 1, .found = tally, .elapsed_ns = 2000000000};
}

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
        {"p50>0.9x", "p50 is 1 (", 0},
        {"p50<1.1x", "p50 is 1 (", 0},
        {"p99>1.1x", "cannot be judged", 0},
    };
    static tally_t tally;
    const query_t query = {.name = "a"};
    const work_t work = {.query = &query, .question = "5e1f"};
    bson_t then;
    err_t err = {.text = ""};
    assert_true(read_text(HEAD "{\"name\":\"a\",\"with\":\"\"," ASKED
                               "\"rate\":0,\"clients\":1,\"n\":1000,\"empty\":0,"
                               "\"p50_ms\":20.5,\"p50_ms_between\":{\"low\":20.4,\"high\":20.6},"
                               "\"p99_ms\":20.9,\"p99_ms_between\":null}]}",
                          &then, &err));
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        bound_t bound;
        measure_t measure = slow_one(&tally, &work);
        const query_spec_t spec = {.bounds = &bound, .bound_count = 1, .then = &then};
        tally.latency.beyond = cases[i].skipped;
        if (!query_read_bound(&bound, cases[i].bound, true, &err))
            fail_msg("%s", err.text);
        query_check_bounds(&spec, &measure);
        if (!cases[i].missed ? measure.missed[0] : !strstr(measure.missed, cases[i].missed))
            fail_msg("%s: '%s'", cases[i].bound, measure.missed);
    }
    /* a time of nothing is no time, unless nothing is expected */
    bson_t expected = BSON_INITIALIZER;
    work_t nothing = work;
    for (int i = 0; i < 2; i++) {
        bound_t bound;
        measure_t measure = slow_one(&tally, &nothing);
        const query_spec_t spec = {.bounds = &bound, .bound_count = 1};
        assert_true(query_read_bound(&bound, "p50>1s", false, &err));
        tally.empty = tally.latency.moments.count;
        query_check_bounds(&spec, &measure);
        assert_int_equal(measure.missed[0] != 0, i == 0);
        nothing.expected = &expected;
    }
    bson_destroy(&expected);
    bson_destroy(&then);
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
}
