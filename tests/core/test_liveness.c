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

TEST(at_once) {
    FOLLOW({0, 0, true, true, 5, true});   /* it said so itself */
    FOLLOW({0, 0, false, false, 0, true}); /* nobody lists it */
    FOLLOW({0, 0, true, false, 5, false}, {1, 0, false, false, 0, true}, {2, 0, true, false, 5, false});
}
