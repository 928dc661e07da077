/* compare: files of an earlier run, good and bad, and what of them belongs to a measurement of now. */
#include "query/run.h"
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

/* A measurement of now, ten requests of which N found nothing. */
static void find(const bson_t *then, const char *name, const char *with, const char *reads, uint32_t clients,
                 uint64_t empty, uint64_t failures, compared_t *compared, bool *found) {
    static hist_t hist;
    const query_t query = {.name = name};
    work_t work = {.query = &query, .reads = reads, .question = "5e1f"};
    measure_t measure = {
        .work = &work, .clients = clients, .hist = &hist, .empty = empty, .failures = failures};
    hist.moments.count = 10;
    snprintf(work.with, sizeof work.with, "%s", with);
    *found = compare_find(then, &measure, compared);
}

#define HEAD  "{\"schema\":1,\"command\":\"query\",\"status\":0,\"suite\":\"s\",\"queries\":["
#define ASKED "\"question\":\"5e1f\","

static const char earlier[] = HEAD
    "\n{\"name\":\"a\",\"with\":\"\"," ASKED
    "\"reads\":null,\"clients\":1,\"n\":500,\"empty\":4,\"failures\":0,"
    "\"p50_ms\":12,\"p99_ms\":25.5,\"result\":[{\"$k\":1,\"x\":{\"$date\":\"2014-01-01T00:00:00Z\"}}]},\n"
    "{\"name\":\"a\",\"with\":\"n=10\"," ASKED "\"reads\":\"secondary\",\"clients\":16,\"n\":8000000000,"
    "\"empty\":0,\"failures\":0,\"p50_ms\":0.25,\"p99_ms\":1e-3},\n"
    "{\"name\":\"a\",\"with\":\"\"," ASKED "\"reads\":null,\"clients\":2,\"n\":3,\"empty\":3,\"failures\":0,"
    "\"p50_ms\":3,\"p99_ms\":null},\n"
    "{\"name\":\"b\",\"with\":\"\"," ASKED
    "\"clients\":1,\"n\":3,\"empty\":0,\"failures\":2,\"p50_ms\":null},\n"
    "{\"name\":\"c\",\"with\":\"\",\"question\":\"0000\",\"clients\":1,\"n\":3,\"empty\":0,\"failures\":0,"
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
        {HEAD "]} {\"schema\":1}", "something follows"},
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
