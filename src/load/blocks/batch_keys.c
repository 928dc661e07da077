#include "load/blocks/batch_keys.h"

#include <stdlib.h>

/* A slot counts only if it is of this round: so that clearing costs nothing. */
typedef struct {
    uint64_t hash, round;
} slot_t;

struct batch_keys {
    uint64_t round;
    uint64_t count; /* a power of two, and twice as many as there are documents at least */
    slot_t slots[];
};

batch_keys_t *batch_keys_new(uint32_t documents) {
    uint64_t count = 2;
    while (count < 2 * (uint64_t)documents)
        count *= 2;
    batch_keys_t *keys = calloc(1, sizeof *keys + count * sizeof *keys->slots);
    if (keys)
        *keys = (batch_keys_t){.round = 1, .count = count};
    return keys;
}

void batch_keys_free(batch_keys_t *keys) {
    free(keys);
}

bool batch_keys_add(batch_keys_t *keys, uint64_t hash) {
    uint64_t at = hash & (keys->count - 1);
    for (; keys->slots[at].round == keys->round; at = (at + 1) & (keys->count - 1))
        if (keys->slots[at].hash == hash)
            return false;
    keys->slots[at] = (slot_t){hash, keys->round};
    return true;
}

void batch_keys_clear(batch_keys_t *keys) {
    keys->round++;
}
