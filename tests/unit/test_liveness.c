/* liveness: who is dead, by tables of what was read and when. */
#include "catalog/ledger/liveness.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>

#include <cmocka.h>

enum { LEASE = 100 };

typedef struct {
    int64_t now;
    uint64_t own_beats;
    bool listed, ended;
    uint64_t beat;
    bool dead;
} look_t;

static const load_id_t other = {{7}};

static void follow(const look_t *looks, size_t count) {
    liveness_t liveness = {.lease_ns = LEASE};
    for (size_t i = 0; i < count; i++) {
        const look_t *look = &looks[i];
        load_seen_t seen = {.id = other, .beat = look->beat, .ended = look->ended};
        const loads_t loads = {.loads = &seen, .count = look->listed};
        err_t err;
        assert_true(liveness_update(&liveness, &loads, look->now, look->own_beats, &err));
        if (liveness_is_dead(&liveness, &other) != look->dead)
            fail_msg("look %zu: %s", i, look->dead ? "it is dead" : "it is alive");
        assert_true((liveness_find(&liveness, &other) != NULL) == look->listed);
    }
    liveness_free(&liveness);
}

#define FOLLOW(...)                                                                                          \
    do {                                                                                                     \
        const look_t looks[] = {__VA_ARGS__};                                                                \
        follow(looks, sizeof looks / sizeof *looks);                                                         \
    } while (0)

static void test_a_whole_lease(void **state) {
    (void)state;
    /* a beat counts from the look after the one that read it */
    FOLLOW({0, 0, true, false, 5, false}, {10, 1, true, false, 5, false}, {109, 9, true, false, 5, false},
           {110, 9, true, false, 5, true});
    /* a new beat begins anew, also of one that passed for dead */
    FOLLOW({0, 0, true, false, 5, false}, {10, 1, true, false, 5, false}, {110, 9, true, false, 5, true},
           {120, 10, true, false, 6, false}, {130, 11, true, false, 6, false},
           {229, 20, true, false, 6, false}, {230, 20, true, false, 6, true});
}

static void test_own_beats(void **state) {
    (void)state;
    /* it may be us who hear nothing: three of our own beats since then */
    FOLLOW({0, 0, true, false, 5, false}, {10, 1, true, false, 5, false}, {500, 3, true, false, 5, false},
           {600, 4, true, false, 5, true});
}

static void test_slow_reply(void **state) {
    (void)state;
    /* however late the first look's reply came, nothing is counted from before it */
    FOLLOW({0, 0, true, false, 5, false}, {1000, 50, true, false, 5, false},
           {1099, 60, true, false, 5, false}, {1100, 60, true, false, 5, true});
    /* nor of a changed one */
    FOLLOW({0, 0, true, false, 5, false}, {10, 5, true, false, 6, false}, {2000, 50, true, false, 6, false});
}

static void test_at_once(void **state) {
    (void)state;
    FOLLOW({0, 0, true, true, 5, true});   /* it said so itself */
    FOLLOW({0, 0, false, false, 0, true}); /* nobody lists it */
    FOLLOW({0, 0, true, false, 5, false}, {1, 0, false, false, 0, true}, {2, 0, true, false, 5, false});
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_a_whole_lease),
        cmocka_unit_test(test_own_beats),
        cmocka_unit_test(test_slow_reply),
        cmocka_unit_test(test_at_once),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
