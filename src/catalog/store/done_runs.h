/* done_runs: which blocks of a piece are done, as runs [from, to) of block numbers, each with a hash of its blocks. The
 * hash is a sum, so the order in which blocks come does not matter. It is compared when the same text is read again.
 * Not thread-safe. */
#ifndef TIPPLE_CATALOG_STORE_DONE_RUNS_H
#define TIPPLE_CATALOG_STORE_DONE_RUNS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef struct {
    uint64_t from, to;
    uint64_t hash;
} done_run_t;

typedef struct {
    done_run_t *runs; /* ascending, never touching */
    size_t count, room;
} done_runs_t;

/* If the block is already in the set, nothing changes and *is_new is false. Returns false when memory is out. */
bool done_runs_add(done_runs_t *set, uint64_t from, uint64_t to, uint64_t hash, bool *is_new);

/* Would adding this block add a run? */
bool done_runs_would_grow(const done_runs_t *set, uint64_t from, uint64_t to);
bool done_runs_cover(const done_runs_t *set, uint64_t from, uint64_t to);
/* The run that holds this block; NULL: none. */
const done_run_t *done_runs_find(const done_runs_t *set, uint64_t block);
bool done_runs_copy(done_runs_t *to, const done_runs_t *from); /* false: out of memory */
void done_runs_free(done_runs_t *set);

#endif
