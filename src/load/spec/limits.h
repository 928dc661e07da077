/* limits: the least and the most that a load or a verify may be asked for. The same for a command, a study and your own
 * program. Any thread. */
#ifndef TIPPLE_LOAD_SPEC_LIMITS_H
#define TIPPLE_LOAD_SPEC_LIMITS_H

#include "base/err.h"

#include <stdint.h>

enum {
    LIMITS_MOST_THREADS = 256,
    LIMITS_MOST_BATCH = 100000,
    LIMITS_LEAST_BATCH_BYTES = 4096,
    LIMITS_MOST_BATCH_BYTES = 40 << 20,
    LIMITS_LEAST_MEMORY = 16 << 20,
};
#define LIMITS_MOST_MEMORY (1ull << 40)

/* 0 threads: as many as fit the machine. Out of range: status 1. */
bool limits_check(uint32_t threads, uint64_t memory, err_t *err);
bool limits_check_batch(uint32_t documents, uint64_t bytes, err_t *err);

#endif
