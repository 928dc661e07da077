/* choices: lists that fill themselves up, and all combinations of them. */
#include "study/choices.h"
#include "test.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

TEST(fills_up) {
    load_spec_t load;
    load_spec_init(&load);
    load.compressor = "zstd";
    load.direct = true;
    for (size_t shards = 0; shards <= 100; shards += 10) {
        choice_lists_t lists = {.thread_count = 0};
        choices_fill(&lists, &load, shards);
        assert_true(lists.thread_count >= 4 && lists.thread_count <= 7);
        for (size_t i = 0; i < lists.thread_count; i++)
            assert_int_equal(lists.threads[i], 1 << i);
        const uint32_t most = lists.threads[lists.thread_count - 1];
        assert_true(most <= 64 && (shards * 4 < 8 || most * 2 > (shards * 4 < 64 ? shards * 4 : 64)));
        assert_int_equal(lists.batch_count, 4);
        assert_int_equal(lists.clustered_count * lists.direct_count * lists.compressor_count *
                             lists.wire_count * lists.router_count * lists.concern_count,
                         1);
        assert_string_equal(lists.compressors[0], "zstd");
        assert_true(lists.direct[0]);
        assert_null(lists.wires[0]);
        assert_null(lists.concerns[0]);
    }
    choice_lists_t given = {.threads = {3}, .thread_count = 1, .batches = {7, 5}, .batch_count = 2};
    choices_fill(&given, &load, 50);
    assert_int_equal(given.thread_count, 1);
    assert_int_equal(given.batch_count, 2);
}

/* Each combination once; settings of a choice stand together, threads by threads. */
TEST(combines) {
    choice_lists_t lists = {.threads = {1, 2, 4},
                            .thread_count = 3,
                            .batches = {100, 1000},
                            .batch_count = 2,
                            .routers = {1, 2},
                            .router_count = 2,
                            .clustered = {CLUSTERED_YES, CLUSTERED_NO},
                            .clustered_count = 2,
                            .direct = {false, true},
                            .direct_count = 2,
                            .compressors = {"none", "zstd", "zlib"},
                            .compressor_count = 3,
                            .wires = {NULL},
                            .wire_count = 1,
                            .concerns = {NULL},
                            .concern_count = 1};
    choice_t *choices;
    matrix_setting_t *settings;
    size_t choice_count, cell_count;
    char name[CHOICE_NAME], other[CHOICE_NAME];
    err_t err;
    assert_true(choices_combine(&lists, &choices, &choice_count, &settings, &cell_count, &err));
    assert_int_equal(choice_count, 24);
    assert_int_equal(cell_count, 144);
    for (size_t i = 0; i < choice_count; i++)
        for (size_t j = 0; j < i; j++)
            assert_string_not_equal(choice_name(&lists, &choices[i], name),
                                    choice_name(&lists, &choices[j], other));
    for (size_t i = 0; i < cell_count; i++) {
        assert_int_equal(settings[i].choice, i / 6);
        assert_int_equal(settings[i].threads, 1 << i % 6 / 2);
        assert_int_equal(settings[i].batch, i % 2 ? 1000 : 100);
    }
    assert_string_equal(choice_name(&lists, &choices[0], name),
                        "clustered, blocks none, through routers, 1 router");
    assert_string_equal(choice_name(&lists, &choices[23], name), "plain, blocks zlib, direct, 2 routers");
    free(choices);
    free(settings);
}

TEST(checks) {
    load_spec_t load;
    err_t err;
    load_spec_init(&load);
    choice_lists_t lists = {.routers = {2, 3}, .router_count = 2};
    choices_fill(&lists, &load, 2);
    assert_true(choices_check(&lists, "mongodb://a,b,c/d.e", SERVER_ROUTER, &err));
    assert_false(choices_check(&lists, "mongodb://a,b/d.e", SERVER_ROUTER, &err));
    assert_non_null(strstr(err.text, "names 2, not 3"));
    assert_false(choices_check(&lists, "mongodb+srv://a/d.e", SERVER_ROUTER, &err));
    assert_false(choices_check(&lists, "mongodb://a,b,c/d.e", SERVER_STANDALONE, &err));
    choice_lists_t concerns = {.concerns = {"majority", "1"}, .concern_count = 2};
    choices_fill(&concerns, &load, 0);
    assert_true(choices_check(&concerns, "mongodb://a/d.e", SERVER_REPLICA_SET, &err));
    assert_true(choices_check(&concerns, "mongodb://a/d.e", SERVER_ROUTER, &err));
    assert_false(choices_check(&concerns, "mongodb://a/d.e", SERVER_STANDALONE, &err));
    assert_non_null(strstr(err.text, "nobody else to confirm"));
    choice_lists_t many = {
        .thread_count = 16, .batch_count = 16, .clustered_count = 2, .compressor_count = 4};
    choices_fill(&many, &load, 0);
    assert_false(choices_check(&many, "mongodb://a/d.e", SERVER_STANDALONE, &err));
    assert_non_null(strstr(err.text, "2048 combinations"));
}

/* Only what is less than the majority is unsafe, and stands in the URI. */
TEST(concerns) {
    static const struct {
        const char *concern;
        bool unsafe;
    } cases[] = {{NULL, false}, {"majority", false}, {"1", true}, {"3", true}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        const choice_t choice = {.concern = cases[i].concern};
        assert_int_equal(choice_is_unsafe(&choice), cases[i].unsafe);
        assert_true(choice_uri_concern(&choice) == (cases[i].unsafe ? cases[i].concern : NULL));
    }
    choice_lists_t lists = {.concerns = {"majority", "1"}, .concern_count = 2};
    load_spec_t load;
    choice_t *choices;
    matrix_setting_t *settings;
    size_t choice_count, cell_count;
    char name[CHOICE_NAME];
    err_t err;
    load_spec_init(&load);
    choices_fill(&lists, &load, 0);
    assert_true(choices_combine(&lists, &choices, &choice_count, &settings, &cell_count, &err));
    assert_int_equal(choice_count, 2);
    assert_string_equal(choice_name(&lists, &choices[0], name), "w majority");
    assert_string_equal(choice_name(&lists, &choices[1], name), "w 1");
    free(choices);
    free(settings);
}
