#include "base/runs.h"
#include "base/grow.h"

#include <stdlib.h>
#include <string.h>

/* The first run that ends at or after a number. */
static size_t find(const runs_t *set, uint64_t number) {
    size_t low = 0, high = set->count;
    while (low < high) {
        size_t middle = (low + high) / 2;
        if (set->runs[middle].to < number)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

bool runs_add(runs_t *set, uint64_t from, uint64_t to) {
    if (from >= to)
        return true;
    size_t i = find(set, from), j = i;
    while (j < set->count && set->runs[j].from <= to) {
        if (set->runs[j].from < from)
            from = set->runs[j].from;
        if (set->runs[j].to > to)
            to = set->runs[j].to;
        j++;
    }
    if (i == j && !GROW(set->runs, set->room, set->count + 1, NULL))
        return false;
    if (set->count > j)
        memmove(&set->runs[i + 1], &set->runs[j], (set->count - j) * sizeof *set->runs);
    set->count = set->count - (j - i) + 1;
    set->runs[i] = (run_t){from, to};
    return true;
}

bool runs_has(const runs_t *set, uint64_t number) {
    return runs_cover(set, number, number + 1);
}

bool runs_cover(const runs_t *set, uint64_t from, uint64_t to) {
    size_t i = find(set, from + 1);
    return i < set->count && set->runs[i].from <= from && to <= set->runs[i].to;
}

uint64_t runs_total(const runs_t *set) {
    uint64_t total = 0;
    for (size_t i = 0; i < set->count; i++)
        total += set->runs[i].to - set->runs[i].from;
    return total;
}

void runs_free(runs_t *set) {
    free(set->runs);
    *set = (runs_t){0};
}
