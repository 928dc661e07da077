/* tune: what held a setting back, from what was measured beside it. */
#include "study/tune/tune.h"
#include "test.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

enum { TRIALS = 3 };

/* Two settings that differ in `direct` only, each tried three times at about this rate. */
static void make_result(tune_result_t *result, double routed, double direct) {
    static choice_t choices[] = {{.direct = false}, {.direct = true}};
    static tune_figures_t figures[2];
    const matrix_setting_t settings[] = {{.threads = 4, .batch = 100, .choice = 0},
                                         {.threads = 4, .batch = 100, .choice = 1}};
    const matrix_options_t options = {
        .precision = 0.001, .nearly = 0.03, .budget_ns = INT64_MAX, .most_trials = TRIALS};
    *result = (tune_result_t){.choices = choices,
                              .choice_count = 2,
                              .figures = figures,
                              .cluster = true,
                              .server_cpus = 4,
                              .matrix = matrix_new(settings, 2, &options)};
    for (int i = 0; i < TRIALS; i++) {
        matrix_add(result->matrix, 0, routed * (1 + 0.01 * i), 1);
        matrix_add(result->matrix, 1, direct * (1 + 0.01 * i), 1);
    }
    for (int i = 0; i < 2; i++)
        figures[i] = (tune_figures_t){
            .trials = TRIALS, .seconds = 3, .host_busy = NAN, .server_cores = NAN, .network = NAN};
}

/* client and server in cores, host as a share of its CPUs. */
static limit_t limit_of(const char *limited_by, double client, double host, double server) {
    tune_result_t result;
    make_result(&result, 1000, 1000);
    tune_figures_t *figures = &result.figures[0];
    snprintf(figures->limited_by, sizeof figures->limited_by, "%s", limited_by);
    figures->client_cores = client * 3;
    figures->host_busy = host * 3;
    figures->server_cores = server * 3;
    const limit_t limit = tune_limit(&result, 0);
    matrix_free(result.matrix);
    return limit;
}

/* A full link holds back whatever else is busy beside it. */
TEST(network) {
    static const struct {
        double share;
        limit_t limit;
    } cases[] = {{0.95, LIMIT_NETWORK}, {0.91, LIMIT_NETWORK}, {0.8, LIMIT_SERVER}, {NAN, LIMIT_SERVER}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        tune_result_t result;
        make_result(&result, 1000, 1000);
        snprintf(result.figures[0].limited_by, sizeof result.figures[0].limited_by, "server h:1 (...)");
        result.figures[0].network = cases[i].share * 3;
        assert_int_equal(tune_limit(&result, 0), cases[i].limit);
        matrix_free(result.matrix);
    }
}

TEST(limits) {
    const double cpus = (double)sysconf(_SC_NPROCESSORS_ONLN);
    const char *server = "server h:1 (...)";
    assert_int_equal(limit_of(server, 0.1, 0.3, 1), LIMIT_SERVER);
    assert_int_equal(limit_of(server, 0.1, NAN, NAN), LIMIT_SERVER);
    assert_int_equal(limit_of(server, 0.1, 0.3, 3.8), LIMIT_SERVER_CPU);
    assert_int_equal(limit_of(server, 0.8 * cpus, 0.95, 0.1), LIMIT_CLIENT);
    assert_int_equal(limit_of(server, 0.2 * cpus, 0.95, 0.1), LIMIT_HOST);
    assert_int_equal(limit_of("client CPU (70% of the threads' time ...)", 0.1, 0.3, 1), LIMIT_CLIENT);
    assert_int_equal(limit_of("input (the loader threads ...)", 0.1, 0.99, 1), LIMIT_INPUT);
    assert_int_equal(limit_of("shard s1 (of all the waiting ...)", 0.1, 0.3, 1), LIMIT_SHARD);
    assert_int_equal(limit_of("", 0.1, 0.3, 1), LIMIT_UNKNOWN);
}

/* Only what is faster beyond doubt past the routers was held back by them. */
TEST(routers) {
    for (int faster = 0; faster < 2; faster++) {
        tune_result_t result;
        make_result(&result, 1000, faster ? 1500 : 1005);
        for (int i = 0; i < 2; i++)
            snprintf(result.figures[i].limited_by, sizeof result.figures[i].limited_by, "server h:1 (...)");
        assert_int_equal(tune_limit(&result, 0), faster ? LIMIT_ROUTER : LIMIT_SERVER);
        assert_int_equal(tune_limit(&result, 1), LIMIT_SERVER);
        matrix_free(result.matrix);
    }
}

TEST(names) {
    for (int limit = LIMIT_UNKNOWN; limit <= LIMIT_SERVER; limit++)
        assert_non_null(tune_limit_name((limit_t)limit));
}
