#include "catalog/store/done_runs.h"
#include "base/text.h"

#include <stdlib.h>
#include <string.h>

/* The first run that ends at or after a block. */
static size_t find(const done_runs_t *set, uint64_t block) {
    return SEARCH_FIRST(set->count, i, set->runs[i].to < block);
}

bool done_runs_would_grow(const done_runs_t *set, uint64_t from, uint64_t to) {
    size_t i = find(set, from);
    return i == set->count || set->runs[i].from > to;
}

/* Joins two runs that touch. */
static void join(done_runs_t *set, size_t first) {
    if (first + 1 >= set->count || set->runs[first].to != set->runs[first + 1].from)
        return;
    set->runs[first].to = set->runs[first + 1].to;
    set->runs[first].hash += set->runs[first + 1].hash;
    set->count--;
    memmove(&set->runs[first + 1], &set->runs[first + 2], (set->count - first - 1) * sizeof *set->runs);
}

bool done_runs_add(done_runs_t *set, uint64_t from, uint64_t to, uint64_t hash, bool *is_new) {
    size_t i = find(set, from + 1);
    *is_new = from < to && (i == set->count || set->runs[i].from >= to);
    if (!*is_new)
        return true;
    if (!GROW(set->runs, set->room, set->count + 1, NULL))
        return false;
    memmove(&set->runs[i + 1], &set->runs[i], (set->count - i) * sizeof *set->runs);
    set->runs[i] = (done_run_t){from, to, hash};
    set->count++;
    join(set, i);
    if (i)
        join(set, i - 1);
    return true;
}

const done_run_t *done_runs_find(const done_runs_t *set, uint64_t block) {
    size_t i = find(set, block + 1);
    return i < set->count && set->runs[i].from <= block ? &set->runs[i] : NULL;
}

bool done_runs_cover(const done_runs_t *set, uint64_t from, uint64_t to) {
    const done_run_t *run = done_runs_find(set, from);
    return from >= to || (run && to <= run->to);
}

bool done_runs_copy(done_runs_t *to, const done_runs_t *from) {
    done_run_t *runs = from->count ? malloc(from->count * sizeof *runs) : NULL;
    if (from->count && !runs)
        return false;
    if (from->count)
        memcpy(runs, from->runs, from->count * sizeof *runs);
    free(to->runs);
    *to = (done_runs_t){runs, from->count, from->count};
    return true;
}

void done_runs_free(done_runs_t *set) {
    free(set->runs);
    *set = (done_runs_t){0};
}
