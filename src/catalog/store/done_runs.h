/* done_runs: which blocks of a piece are done, as runs [from, to) of block numbers, each with a hash of its
 * blocks. The hash is a sum, so it does not matter in which order blocks came; it is compared when the same
 * text is read again. Not thread-safe. */
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

/* What is in it already is left as it is: *is_new is false then. False: out of memory. */
bool done_runs_add(done_runs_t *set, uint64_t from, uint64_t to, uint64_t hash, bool *is_new);

/* Would adding this block make one run more? */
bool done_runs_would_grow(const done_runs_t *set, uint64_t from, uint64_t to);
bool done_runs_cover(const done_runs_t *set, uint64_t from, uint64_t to);
/* The run that holds this block; NULL: none. */
const done_run_t *done_runs_find(const done_runs_t *set, uint64_t block);
bool done_runs_copy(done_runs_t *to, const done_runs_t *from); /* false: out of memory */
void done_runs_free(done_runs_t *set);

#endif
