/* runs: a set of numbers kept as half-open runs [from, to), e.g. the done blocks of a file. Not thread-safe.
 */
#ifndef TIPPLE_BASE_RUNS_H
#define TIPPLE_BASE_RUNS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef struct {
    uint64_t from, to;
} run_t;

typedef struct {
    run_t *runs; /* ascending, never touching */
    size_t count, room;
} runs_t;

bool runs_add(runs_t *set, uint64_t from, uint64_t to); /* false: out of memory */
bool runs_has(const runs_t *set, uint64_t number);
bool runs_cover(const runs_t *set, uint64_t from, uint64_t to);
uint64_t runs_total(const runs_t *set);
void runs_free(runs_t *set);

#endif
