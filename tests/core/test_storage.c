/* storage: which settings are named, from trials that are made up here. */
#include "study/tune/storage.h"
#include "test.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { TRIALS = 4, DOCUMENTS = 1000 };

/* A setting: documents a second, bytes a document on disk (data, index), milliseconds of a scan. */
typedef struct {
    double rate, data, index, cached_ms, cold_ms; /* cold_ms 0: none */
    bool short_keys;
    int trials; /* 0: TRIALS; < 0: none */
} made_t;

/* Trials of a setting scatter by 1 % to either side. */
static storage_result_t *made(const made_t *ways, size_t count) {
    storage_result_t *result = calloc(1, sizeof *result);
    matrix_setting_t settings[STORAGE_SETTINGS] = {{.threads = 0}};
    const matrix_options_t options = {.precision = 1e-9,
                                      .nearly = STORAGE_NEARLY,
                                      .budget_ns = INT64_MAX,
                                      .most_trials = 100,
                                      .keep_all = true};
    assert_non_null(result);
    for (size_t i = 0; i < count; i++) {
        settings[i].choice = (uint32_t)i;
        result->choices[i] = (storage_choice_t){.compressor = "zstd", .short_keys = ways[i].short_keys};
    }
    result->matrix = matrix_new(settings, count, &options);
    assert_non_null(result->matrix);
    for (int trial = 0; trial < TRIALS; trial++)
        for (size_t i = 0; i < count; i++) {
            const made_t *way = &ways[i];
            storage_figures_t *figures = &result->figures[i];
            if (way->trials && trial >= way->trials)
                continue;
            matrix_add(result->matrix, i, way->rate * (1 + (trial % 2 ? 0.01 : -0.01)), 1);
            figures->documents += DOCUMENTS;
            moments_add(&figures->bson_bytes, 200.0 * DOCUMENTS);
            moments_add(&figures->data_bytes, way->data * DOCUMENTS);
            moments_add(&figures->index_bytes, way->index * DOCUMENTS);
            hist_add(&figures->cached, (int64_t)(way->cached_ms * 1e6));
            if (way->cold_ms > 0)
                hist_add(&figures->cold, (int64_t)(way->cold_ms * 1e6));
        }
    storage_judge(result);
    return result;
}

static void end(storage_result_t *result) {
    storage_free_result(result);
    free(result);
}

TEST(who_stands_out) {
    static const made_t ways[] = {
        {.rate = 1000, .data = 100, .index = 10, .cached_ms = 5, .cold_ms = 50}, /* fastest load */
        {.rate = 990, .data = 60, .index = 10, .cached_ms = 6, .cold_ms = 40},   /* nearly: recommended */
        {.rate = 500, .data = 40, .index = 0, .cached_ms = 4, .cold_ms = 30},    /* scans */
        {.rate = 100, .data = 30, .index = 9, .cached_ms = 9, .cold_ms = 60},    /* smallest */
    };
    storage_result_t *result = made(ways, 4);
    const storage_verdict_t *verdict = &result->verdict;
    assert_int_equal(verdict->fastest_load, 0);
    assert_int_equal(verdict->recommended, 1);
    assert_int_equal(verdict->recommended_long, 1);
    assert_int_equal(verdict->fastest_scan, 2);
    assert_int_equal(verdict->fastest_cold, 2);
    assert_int_equal(verdict->smallest, 3);
    assert_int_equal(result->counts.trials, 4 * TRIALS);
    assert_true(fabs(storage_each(result, 0) - 110) < 1e-9);
    assert_true(fabs(storage_share(&result->figures[3]) - 39.0 / 200) < 1e-9);
    end(result);
}

/* The format's own keys have a recommendation of their own, by the fastest of theirs. */
TEST(long_keys) {
    static const made_t ways[] = {
        {.rate = 500, .data = 100, .cached_ms = 1},
        {.rate = 495, .data = 90, .cached_ms = 1},
        {.rate = 300, .data = 20, .cached_ms = 1},
        {.rate = 1000, .data = 50, .cached_ms = 1, .short_keys = true},
        {.rate = 600, .data = 10, .cached_ms = 1, .short_keys = true},
    };
    storage_result_t *result = made(ways, 5);
    assert_int_equal(result->verdict.recommended, 3);
    assert_int_equal(result->verdict.recommended_long, 1);
    assert_int_equal(result->verdict.smallest, 4);
    assert_int_equal(result->verdict.fastest_cold, MATRIX_DONE);
    end(result);
}

/* Of what was tried less than twice nothing is said. */
TEST(too_few) {
    static const made_t ways[] = {
        {.rate = 9000, .data = 1, .cached_ms = 0.1, .trials = 1},
        {.rate = 1000, .data = 100, .cached_ms = 5},
        {.rate = 1, .data = 1, .cached_ms = 1, .trials = -1},
    };
    storage_result_t *result = made(ways, 3);
    const storage_verdict_t *verdict = &result->verdict;
    assert_true(verdict->smallest == 1 && verdict->fastest_load == 1 && verdict->fastest_scan == 1 &&
                verdict->recommended == 1);
    assert_true(isnan(storage_share(&result->figures[2])) && isnan(storage_each(result, 2)));
    end(result);
    result = made(ways, 1);
    assert_true(result->verdict.smallest == MATRIX_DONE && result->verdict.recommended == MATRIX_DONE &&
                result->verdict.recommended_long == MATRIX_DONE);
    end(result);
}

TEST(names) {
    char name[STORAGE_NAME];
    const storage_choice_t choice = {"snappy", CLUSTERED_YES, true}, other = {"none", CLUSTERED_NO, false};
    assert_string_equal(storage_name(&choice, name), "snappy, clustered, short keys");
    assert_string_equal(storage_name(&other, name), "none, plain, long keys");
}
