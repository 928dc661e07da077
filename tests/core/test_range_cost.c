/* pays: when ranges are worth while, by what is known of server and collection. */
#include "query/split/range_cost.h"
#include "test.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

TEST(grounds) {
    const topology_t server = {.clustered = true, .count = 2e6, .by_id = true, .shards = 1, .cores = 8};
    const topology_t cluster = {
        .clustered = true, .count = 2e6, .by_id = true, .router = true, .shards = 4, .cores = 12};
    const struct {
        topology_t ground;
        uint32_t ranges;
        const char *why;
    } cases[] = {
        {server, 16, ""},
        {cluster, 16, ""},
        {{.clustered = true, .count = 2e6, .by_id = true, .shards = 1, .cores = 48}, 16, ""},
        {{.count = 2e6, .by_id = true, .shards = 1, .cores = 2}, 4, ""},
        {{.clustered = true, .count = 50000, .by_id = true, .shards = 1, .cores = 2}, 4, ""},
        {{.clustered = true, .count = 49999, .by_id = true, .shards = 1, .cores = 8},
         1,
         "fewer than 50000 documents"},
        {{.clustered = true, .count = 499999, .by_id = true, .router = true, .shards = 4, .cores = 16},
         1,
         "fewer than 500000 documents"},
        {{.clustered = true, .count = 2e6, .by_id = true, .shards = 1, .cores = 1}, 1, "one core"},
        {{.clustered = true, .count = 2e6, .by_id = true, .router = true, .shards = 4, .cores = 4},
         1,
         "all of their cores (4)"},
        {{.clustered = true, .count = 2e6, .by_id = true, .router = true, .shards = 20, .cores = 80},
         1,
         "as many cores"},
        {{.clustered = true, .count = 2e6, .router = true, .shards = 4, .cores = 16},
         1,
         "not sharded by _id"},
        {{.clustered = true,
          .count = 2e6,
          .router = true,
          .hidden = true,
          .by_id = true,
          .shards = 1,
          .cores = 4},
         1,
         "may not read"},
        {{.count = 2e6, .by_id = true, .router = true, .shards = 4, .cores = 16}, 1, "is not clustered"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        char why[RANGE_COST_WHY];
        assert_int_equal(range_cost_ranges(&cases[i].ground, why), cases[i].ranges);
        assert_true(*cases[i].why ? strstr(why, cases[i].why) != NULL : !*why);
    }
}

TEST(cores) {
    static const struct {
        const char *shards[4], *router;
        uint32_t own, cores;
    } cases[] = {
        /* a lab: all on one host */
        {{"s0/127.0.0.1:1,127.0.0.1:2", "s1/127.0.0.1:3"}, "vm", 2, 2},
        {{"s0/localhost:1", "s1/127.0.0.1:3", "s2/[::1]:5"}, "vm", 4, 4},
        /* routers beside the shards */
        {{"s0/a:1,b:1", "s1/b:1,a:1"}, "a", 8, 16},
        {{"s0/a:1", "s1/b:1", "s2/b:2", "a:4"}, "b", 8, 16},
        /* a router on another host tells nothing; neither does one that may not be asked */
        {{"s0/a:1", "s1/b:1"}, "c", 64, 4},
        {{"s0/a:1", "s1/b:1"}, "", 64, 4},
        {{"s0/a:1", "s1/b:1"}, "a", 0, 4},
        {{""}, "a", 3, 2},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        bson_t *documents[4];
        size_t count = 0;
        while (count < 4 && cases[i].shards[count]) {
            documents[count] = bson_new();
            bson_append_utf8(documents[count], "host", -1, cases[i].shards[count], -1);
            count++;
        }
        assert_int_equal(
            topology_cores((const bson_t *const *)documents, count, cases[i].router, cases[i].own),
            cases[i].cores);
        while (count)
            bson_destroy(documents[--count]);
    }
}

TEST(keys) {
    static const struct {
        const char *key;
        bool id;
    } cases[] = {{"{\"_id\": 1}", true},
                 {"{\"_id\": 1.0}", true},
                 {"{\"_id\": \"hashed\"}", false},
                 {"{\"_id\": 1, \"a\": 1}", false},
                 {"{\"a\": 1}", false},
                 {"{}", false}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        bson_t *key = bson_new_from_json((const uint8_t *)cases[i].key, -1, NULL);
        assert_int_equal(topology_is_id(key), cases[i].id);
        bson_destroy(key);
    }
}

TEST(indexes) {
    static const struct {
        const char *explained, *index;
    } cases[] = {
        {"{\"stages\": [{\"$cursor\": {\"winningPlan\": {\"stage\": \"COLLSCAN\"}}}]}", NULL},
        {"{\"winningPlan\": {\"inputStage\": {\"stage\": \"IXSCAN\", \"indexName\": \"k_1\"}}}", "k_1"},
        {"{\"winningPlan\": {\"inputStage\": {\"stage\": \"IXSCAN\", \"indexName\": \"_id_\"}}}", NULL},
        {"{\"shards\": {\"s0\": {\"a\": [{\"b\": 1}, {\"stage\": \"DISTINCT_SCAN\", \"indexName\": "
         "\"x\"}]}}}",
         "x"},
        {"{\"winningPlan\": {}, \"rejectedPlans\": [{\"indexName\": \"k_1\"}]}", NULL},
        {"{\"winningPlan\": {}, \"command\": {\"pipeline\": [{\"$match\": {\"indexName\": \"k\"}}]}}", NULL},
        {"{\"indexName\": \"k_1\"}", "k_1"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        char name[32] = "";
        bson_t *explained = bson_new_from_json((const uint8_t *)cases[i].explained, -1, NULL);
        assert_int_equal(range_cost_index(explained, name, sizeof name), cases[i].index != NULL);
        assert_string_equal(name, cases[i].index ? cases[i].index : "");
        bson_destroy(explained);
    }
}
