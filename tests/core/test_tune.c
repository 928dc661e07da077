/* tune: which settings there are, and what held one back. */
#include "load/spec/load_options.h"
#include "study/tune/tune.h"
#include "test.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* ---- settings ---- */

static tune_list_t list_of(const char *option) {
    return (tune_list_t){.option = option, .row = load_options_find(option, TAKEN_BY_LIBRARY)};
}

/* Of a result whose lists are these, up to NULL. */
static void begin_result(tune_result_t *result, const char *threads[], const char *batches[],
                         const char *compressors[]) {
    const char **const values[] = {threads, batches, compressors};
    *result = (tune_result_t){.list_count = 3,
                              .lists = {list_of("threads"), list_of("batch"), list_of("compressor")}};
    for (size_t i = 0; i < 3; i++)
        for (; values[i][result->lists[i].count]; result->lists[i].count++)
            strcpy(result->lists[i].values[result->lists[i].count], values[i][result->lists[i].count]);
}

TEST(fills_up) {
    for (size_t shards = 0; shards <= 100; shards += 10) {
        tune_list_t lists[2] = {{.count = 0}};
        tune_fill(lists, shards);
        assert_true(lists[TUNE_THREADS].count >= 4 && lists[TUNE_THREADS].count <= 7);
        for (size_t i = 0; i < lists[TUNE_THREADS].count; i++)
            assert_int_equal(atoi(lists[TUNE_THREADS].values[i]), 1 << i);
        const int most = 1 << (lists[TUNE_THREADS].count - 1),
                  wanted = shards * 4 < 64 ? (int)shards * 4 : 64;
        assert_true(most <= 64 && (wanted < 8 || most * 2 > wanted));
        assert_int_equal(lists[TUNE_BATCH].count, 4);
    }
    tune_list_t given[2] = {{.values = {"3"}, .count = 1}, {.values = {"7", "5"}, .count = 2}};
    tune_fill(given, 50);
    assert_int_equal(given[TUNE_THREADS].count, 1);
    assert_int_equal(given[TUNE_BATCH].count, 2);
}

/* Each combination once, the cheapest first: by threads, then batch, then as the lists name them. */
TEST(combines) {
    static const struct {
        uint32_t threads, batch;
        const char *compressor, *name;
    } expected[] = {{1, 100, "zstd", "1 x 100, zstd"},   {1, 100, "none", "1 x 100, none"},
                    {1, 2000, "zstd", "1 x 2000, zstd"}, {1, 2000, "none", "1 x 2000, none"},
                    {4, 100, "zstd", "4 x 100, zstd"},   {4, 100, "none", "4 x 100, none"},
                    {4, 2000, "zstd", "4 x 2000, zstd"}, {4, 2000, "none", "4 x 2000, none"}};
    load_spec_t load;
    tune_result_t result;
    char name[TUNE_NAME];
    err_t err;
    load_spec_init(&load);
    load.direct = true;
    begin_result(&result, (const char *[]){"4", "1", NULL}, (const char *[]){"2k", "100", NULL},
                 (const char *[]){"zstd", "none", NULL});
    assert_true(tune_combine(&load, &result, &err));
    assert_int_equal(result.count, 8);
    for (size_t i = 0; i < result.count; i++) {
        const tune_setting_t *setting = &result.settings[i];
        assert_int_equal(setting->load.threads, expected[i].threads);
        assert_int_equal(setting->load.batch, expected[i].batch);
        assert_string_equal(setting->load.compressor, expected[i].compressor);
        assert_string_equal(tune_name(&result, i, name), expected[i].name);
        assert_true(setting->load.direct);
    }
    tune_free_result(&result);
}

/* A list that is not given leaves what load takes, and is in no name. */
TEST(leaves_alone) {
    load_spec_t load;
    tune_result_t result;
    char name[TUNE_NAME];
    err_t err;
    load_spec_init(&load);
    load.compressor = "zlib";
    begin_result(&result, (const char *[]){"2", NULL}, (const char *[]){"300", NULL}, (const char *[]){NULL});
    assert_true(tune_combine(&load, &result, &err));
    assert_int_equal(result.count, 1);
    assert_string_equal(result.settings[0].load.compressor, "zlib");
    assert_null(result.settings[0].values[2]);
    assert_string_equal(tune_name(&result, 0, name), "2 x 300");
    tune_free_result(&result);
}

TEST(too_many) {
    load_spec_t load;
    tune_result_t result = {.list_count = 3};
    err_t err;
    load_spec_init(&load);
    for (size_t i = 0; i < 3; i++)
        result.lists[i].count = TUNE_VALUES;
    assert_false(tune_combine(&load, &result, &err));
    assert_int_equal(err.status, STATUS_USAGE);
    assert_non_null(strstr(err.text, "4096 combinations"));
}

/* ---- limits ---- */

/* client and server in cores, host and network as shares. */
static limit_t limit_of(const char *limited_by, double client, double host, double server, double network) {
    tune_setting_t setting = {.figures = {.trials = 3,
                                          .seconds = 3,
                                          .client_cores = client * 3,
                                          .host_busy = host * 3,
                                          .server_cores = server * 3,
                                          .network = network * 3}};
    const tune_result_t result = {.settings = &setting, .count = 1, .server_cpus = 4};
    snprintf(setting.figures.limited_by, sizeof setting.figures.limited_by, "%s", limited_by);
    return tune_limit(&result, 0);
}

/* A full link holds back whatever else is busy. */
TEST(network) {
    static const struct {
        double share;
        limit_t limit;
    } cases[] = {{0.95, LIMIT_NETWORK}, {0.91, LIMIT_NETWORK}, {0.8, LIMIT_SERVER}, {NAN, LIMIT_SERVER}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        assert_int_equal(limit_of("server h:1 (...)", 0, NAN, NAN, cases[i].share), cases[i].limit);
}

TEST(limits) {
    const double cpus = (double)sysconf(_SC_NPROCESSORS_ONLN);
    const char *server = "server h:1 (...)";
    assert_int_equal(limit_of(server, 0.1, 0.3, 1, NAN), LIMIT_SERVER);
    assert_int_equal(limit_of(server, 0.1, NAN, NAN, NAN), LIMIT_SERVER);
    assert_int_equal(limit_of(server, 0.1, 0.3, 3.8, NAN), LIMIT_SERVER_CPU);
    assert_int_equal(limit_of(server, 0.8 * cpus, 0.95, 0.1, NAN), LIMIT_CLIENT);
    assert_int_equal(limit_of(server, 0.2 * cpus, 0.95, 0.1, NAN), LIMIT_HOST);
    assert_int_equal(limit_of("client CPU (70% of the threads' time ...)", 0.1, 0.3, 1, NAN), LIMIT_CLIENT);
    assert_int_equal(limit_of("input (the loader threads ...)", 0.1, 0.99, 1, NAN), LIMIT_INPUT);
    assert_int_equal(limit_of("shard s1 (of all the waiting ...)", 0.1, 0.3, 1, NAN), LIMIT_SHARD);
    assert_int_equal(limit_of("", 0.1, 0.3, 1, NAN), LIMIT_UNKNOWN);
}

TEST(names) {
    for (int limit = LIMIT_UNKNOWN; limit <= LIMIT_SERVER; limit++)
        assert_non_null(tune_limit_name((limit_t)limit));
}
