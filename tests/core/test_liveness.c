/* liveness: who is dead, by tables of what was read and when. */
#include "catalog/ledger/liveness.h"
#include "test.h"

#include <string.h>

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

TEST(a_whole_lease) {
    /* a beat counts from the look after the one that read it */
    FOLLOW({0, 0, true, false, 5, false}, {10, 1, true, false, 5, false}, {109, 9, true, false, 5, false},
           {110, 9, true, false, 5, true});
    /* a new beat begins anew, also of one that passed for dead */
    FOLLOW({0, 0, true, false, 5, false}, {10, 1, true, false, 5, false}, {110, 9, true, false, 5, true},
           {120, 10, true, false, 6, false}, {130, 11, true, false, 6, false},
           {229, 20, true, false, 6, false}, {230, 20, true, false, 6, true});
}

TEST(own_beats) {
    /* it may be us who hear nothing: three of our own beats since then */
    FOLLOW({0, 0, true, false, 5, false}, {10, 1, true, false, 5, false}, {500, 3, true, false, 5, false},
           {600, 4, true, false, 5, true});
}

TEST(slow_reply) {
    /* however late the first look's reply came, nothing is counted from before it */
    FOLLOW({0, 0, true, false, 5, false}, {1000, 50, true, false, 5, false},
           {1099, 60, true, false, 5, false}, {1100, 60, true, false, 5, true});
    /* nor of a changed one */
    FOLLOW({0, 0, true, false, 5, false}, {10, 5, true, false, 6, false}, {2000, 50, true, false, 6, false});
}

TEST(at_once) {
    FOLLOW({0, 0, true, true, 5, true});   /* it said so itself */
    FOLLOW({0, 0, false, false, 0, true}); /* nobody lists it */
    FOLLOW({0, 0, true, false, 5, false}, {1, 0, false, false, 0, true}, {2, 0, true, false, 5, false});
}
