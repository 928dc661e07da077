#include "load/spec/limits.h"

#include <inttypes.h>

static bool is_within(const char *what, uint64_t number, uint64_t least, uint64_t most, err_t *err) {
    return (number >= least && number <= most) ||
           err_set(err, STATUS_USAGE, "%s: %" PRIu64 " is out of range; it goes from %" PRIu64 " to %" PRIu64,
                   what, number, least, most);
}

bool limits_check(uint32_t threads, uint64_t memory, err_t *err) {
    return is_within("threads", threads, 0, LIMITS_MOST_THREADS, err) &&
           is_within("bytes of memory", memory, LIMITS_LEAST_MEMORY, LIMITS_MOST_MEMORY, err);
}

bool limits_check_batch(uint32_t documents, uint64_t bytes, err_t *err) {
    return is_within("documents in a batch", documents, 1, LIMITS_MOST_BATCH, err) &&
           is_within("bytes in a batch", bytes, LIMITS_LEAST_BATCH_BYTES, LIMITS_MOST_BATCH_BYTES, err);
}
