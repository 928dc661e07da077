/* tune: which settings there are, which trials are disturbed, and what limited a setting. */
#include "load/spec/load_options.h"
#include "study/tune/tune.h"
#include "test.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* ---- settings ---- */

/* The lists of these values, each up to NULL, after those of threads and batch. */
typedef struct {
    const char *option, *values[4];
} given_t;

static void begin_result(tune_result_t *result, const char *threads[], const char *batches[],
                         const given_t *given, size_t count) {
    *result = (tune_result_t){.list_count = TUNE_BATCH + 1 + count};
    for (size_t i = 0; i < result->list_count; i++) {
        tune_list_t *list = &result->lists[i];
        const given_t *one = i > TUNE_BATCH ? &given[i - TUNE_BATCH - 1] : NULL;
        list->row = load_options_find(one ? one->option : i ? "batch" : "threads", TAKEN_BY_LIBRARY);
        for (const char *const *at = one ? one->values : i ? batches : threads; *at; at++)
            list->values[list->count++] = *at;
    }
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
    static const given_t given[] = {{"compressor", {"zstd", "none"}}, {"direct", {"true", "false"}}};
    static const struct {
        uint32_t threads, batch;
        const char *compressor;
        bool direct;
        const char *name;
    } expected[] = {{1, 100, "zstd", true, "1 x 100, zstd, direct"},
                    {1, 100, "zstd", false, "1 x 100, zstd, not direct"},
                    {1, 100, "none", true, "1 x 100, none, direct"},
                    {1, 100, "none", false, "1 x 100, none, not direct"},
                    {1, 2000, "zstd", true, "1 x 2000, zstd, direct"},
                    {1, 2000, "zstd", false, "1 x 2000, zstd, not direct"},
                    {1, 2000, "none", true, "1 x 2000, none, direct"},
                    {1, 2000, "none", false, "1 x 2000, none, not direct"},
                    {4, 100, "zstd", true, "4 x 100, zstd, direct"}};
    load_spec_t load;
    tune_result_t result;
    char name[TUNE_NAME];
    err_t err;
    load_spec_init(&load);
    begin_result(&result, (const char *[]){"4", "1", NULL}, (const char *[]){"2k", "100", NULL}, given, 2);
    assert_true(tune_combine(&load, &result, &err));
    assert_int_equal(result.count, 16);
    for (size_t i = 0; i < COUNT(expected); i++) {
        const tune_setting_t *setting = &result.settings[i];
        assert_int_equal(setting->load.threads, expected[i].threads);
        assert_int_equal(setting->load.batch, expected[i].batch);
        assert_string_equal(setting->load.compressor, expected[i].compressor);
        assert_int_equal(setting->load.direct, expected[i].direct);
        assert_string_equal(tune_name(&result, i, name), expected[i].name);
    }
    tune_free_result(&result);
}

/* What has no list stays as it is; a list of one value is in no name. */
TEST(leaves_alone) {
    static const given_t given[] = {{"direct", {"true"}}};
    load_spec_t load;
    tune_result_t result;
    char name[TUNE_NAME];
    err_t err;
    load_spec_init(&load);
    load.compressor = "zlib";
    begin_result(&result, (const char *[]){"2", NULL}, (const char *[]){"300", NULL}, given, 1);
    assert_true(tune_combine(&load, &result, &err));
    assert_int_equal(result.count, 1);
    assert_string_equal(result.settings[0].load.compressor, "zlib");
    assert_true(result.settings[0].load.direct);
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

/* ---- trials ---- */

/* A load with two threads: documents a tenth of a second after the other. */
static load_result_t *load_of(uint64_t batches, const uint64_t *documents, size_t count) {
    load_result_t *load = calloc(1, sizeof *load);
    load->threads = 2;
    load->batches = batches;
    load->moving_ns = (int64_t)(count - 1) * 100000000;
    load->counts.of[FATE_LOADED] = documents[count - 1];
    load->course.point_count = count;
    load->course.origin_ns = 1000000000;
    for (size_t i = 0; i < count; i++)
        load->course.points[i] =
            (timeline_point_t){.at_ns = (int64_t)i * 100000000, .documents = documents[i]};
    return load;
}

static bool is_disturbed(uint64_t batches, const uint64_t *documents, size_t count) {
    load_result_t *load = load_of(batches, documents, count);
    const bool disturbed = tune_is_disturbed(load);
    load->retries = 1;
    assert_true(tune_is_disturbed(load));
    free(load);
    return disturbed;
}

/* Neither the time before the first acknowledgement nor what comes after the stop counts. */
TEST(rates) {
    static const uint64_t documents[] = {0, 0, 0, 100, 200, 300, 300, 310, 310, 310, 310};
    load_result_t *load = load_of(4, documents, COUNT(documents));
    assert_true(fabs(tune_rate(load, 0) - 310) < 1e-6);
    assert_true(fabs(tune_rate(load, 1650000000) - 1000) < 1e-6);
    assert_true(fabs(tune_rate(load, 1350000000) - 310) < 1e-6); /* one acknowledgement is no rate */
    free(load);
}

/* A second without a document is a server that stood still, unless each batch takes about so long. */
TEST(disturbed) {
    enum { POINTS = 30 };
    uint64_t steady[POINTS], paused[POINTS], slow[POINTS];
    for (uint64_t i = 0; i < POINTS; i++) {
        steady[i] = 100 * i;
        paused[i] = i < 10 ? 100 * i : i < 21 ? 900 : 100 * (i - 11);
        slow[i] = i / 10 * 1000;
    }
    assert_false(is_disturbed(29, steady, POINTS));
    assert_true(is_disturbed(29, paused, POINTS));
    assert_true(is_disturbed(18, paused, POINTS));
    assert_false(is_disturbed(4, slow, POINTS));
}

/* client and server in cores, the host as a share. */
static const char *limit_of(const char *limited_by, double client, double host, double server) {
    tune_setting_t setting = {
        .figures = {
            .seconds = 3, .client_cores = client * 3, .host_busy = host * 3, .server_cores = server * 3}};
    const tune_result_t result = {.settings = &setting, .count = 1, .server_cpus = 4};
    snprintf(setting.figures.limited_by, sizeof setting.figures.limited_by, "%s", limited_by);
    return tune_limit(&result, 0);
}

TEST(limits) {
    const double cpus = (double)sysconf(_SC_NPROCESSORS_ONLN);
    const char *server = "server h:1 (...)";
    assert_string_equal(limit_of(server, 0.1, 0.3, 1), "server");
    assert_string_equal(limit_of(server, 0.1, NAN, NAN), "server");
    assert_string_equal(limit_of(server, 0.1, 0.3, 3.8), "server CPU");
    assert_string_equal(limit_of(server, 0.8 * cpus, 0.95, 0.1), "client CPU");
    assert_string_equal(limit_of(server, 0.2 * cpus, 0.95, 0.1), "host CPU");
    assert_string_equal(limit_of("client CPU (70% of the threads' time ...)", 0.1, 0.3, 1), "client CPU");
    assert_string_equal(limit_of("input (the loader threads ...)", 0.1, 0.99, 1), "input");
    assert_string_equal(limit_of("shard s1 (of all the waiting ...)", 0.1, 0.3, 1), "one shard");
    assert_string_equal(limit_of("", 0.1, 0.3, 1), "unknown");
}
