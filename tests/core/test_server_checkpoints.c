/* flushes: checkpoints of the server, from what two looks in a row say. */
#include "load/rate/server_checkpoints.h"
#include "test.h"

#include <stdint.h>

static const int64_t MS = 1000000;

static flush_sample_t sample(int64_t at_ms, bool running, double number, double recent_ms) {
    return (flush_sample_t){at_ms * MS, running, number, recent_ms};
}

TEST(compare) {
    static const struct {
        const char *what;
        bool running[2];
        double number[2], recent_ms;
        size_t count;
        int64_t began_ms, ended_ms; /* looks are at 1000 and 2000 ms */
    } cases[] = {
        {"nothing happens", {false, false}, {5, 5}, 300, 0, 0, 0},
        {"a short one between looks", {false, false}, {5, 6}, 300, 1, 1200, 1500},
        {"one begins", {false, true}, {5, 6}, 300, 0, 0, 0},
        {"one goes on", {true, true}, {6, 6}, 300, 0, 0, 0},
        {"one ends that was long", {true, false}, {6, 6}, 900, 1, 600, 1500},
        {"one ends that had just begun: it was seen", {true, false}, {6, 6}, 100, 1, 1000, 1500},
        {"one ends and another begins", {true, true}, {6, 7}, 700, 1, 800, 1500},
        {"it began before the load", {true, false}, {6, 6}, 60000, 1, 0, 1500},
        {"the server began anew", {true, false}, {6, 1}, 5, 0, 0, 0},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        static server_checkpoints_t found;
        const flush_sample_t before = sample(1000, cases[i].running[0], cases[i].number[0], 42),
                             now = sample(2000, cases[i].running[1], cases[i].number[1], cases[i].recent_ms);
        found.count = 0;
        server_checkpoints_compare(&found, &before, &now);
        if (found.count != cases[i].count)
            fail_msg("%s: %zu checkpoints", cases[i].what, found.count);
        if (found.count && (found.items[0].began_ns != cases[i].began_ms * MS ||
                            found.items[0].ended_ns != cases[i].ended_ms * MS))
            fail_msg("%s: %lld to %lld", cases[i].what, (long long)found.items[0].began_ns,
                     (long long)found.items[0].ended_ns);
    }
}

/* Not more of them than there is room for. */
TEST(many) {
    static server_checkpoints_t found;
    for (int i = 0; i < SERVER_CHECKPOINTS_MOST + 10; i++) {
        const flush_sample_t before = sample(i * 1000, false, i, 0),
                             now = sample(i * 1000 + 1000, false, i + 1, 10);
        server_checkpoints_compare(&found, &before, &now);
    }
    assert_int_equal(SERVER_CHECKPOINTS_MOST, found.count);
    assert_true(found.items[SERVER_CHECKPOINTS_MOST - 1].ended_ns ==
                ((int64_t)SERVER_CHECKPOINTS_MOST - 1) * 1000 * MS + 500 * MS);
}

/* As servers up to 6.0 say it, and as those from 7.0 on do. */
TEST(read) {
    static const struct {
        const char *json;
        bool told, running;
        double number, recent_ms;
    } cases[] = {
        {"{'wiredTiger': {'transaction': {'transaction checkpoint currently running': 1, 'transaction "
         "checkpoint "
         "generation': 10, 'transaction checkpoint most recent time (msecs)': 150}}}",
         true, true, 10, 150},
        {"{'wiredTiger': {'transaction': {'transaction begins': 4}, 'checkpoint': {'progress state': 0, "
         "'generation': "
         "{'$numberLong': '12'}, 'most recent time (msecs)': 75}}}",
         true, false, 12, 75},
        {"{'wiredTiger': {'checkpoint': {'progress state': 3, 'generation': 13, 'most recent time (msecs)': "
         "75}}}",
         true, true, 13, 75},
        {"{'wiredTiger': {}}", false, false, 0, 0},
        {"{'ok': 1, 'process': 'mongos'}", false, false, 0, 0},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        char json[512];
        flush_sample_t found;
        snprintf(json, sizeof json, "%s", cases[i].json);
        for (char *at = json; *at; at++)
            *at = *at == '\'' ? '"' : *at;
        bson_t *status = bson_new_from_json((const uint8_t *)json, -1, NULL);
        assert_non_null(status);
        assert_int_equal(cases[i].told, server_checkpoints_read(status, 77, &found));
        if (cases[i].told) {
            assert_int_equal(cases[i].running, found.running);
            assert_true(found.at_ns == 77 && found.number == cases[i].number &&
                        found.recent_ms == cases[i].recent_ms);
        }
        bson_destroy(status);
    }
}
