#include "verify/compare/verified_ids.h"
#include "base/grow.h"

#include <stdlib.h>

bool verified_ids_note(verified_ids_t *ids, uint64_t hash, err_t *err) {
    if (!GROW(ids->hashes, ids->room, ids->count + 1, err))
        return false;
    ids->hashes[ids->count++] = hash;
    return true;
}

bool verified_ids_await(verified_ids_t *ids, const awaited_fix_t *fix, err_t *err) {
    if (!GROW(ids->awaited, ids->awaited_room, ids->awaited_count + 1, err))
        return false;
    ids->awaited[ids->awaited_count++] = *fix;
    return true;
}

bool verified_ids_add(verified_ids_t *to, const verified_ids_t *from, err_t *err) {
    if (!GROW(to->hashes, to->room, to->count + from->count, err) ||
        !GROW(to->awaited, to->awaited_room, to->awaited_count + from->awaited_count, err))
        return false;
    for (size_t i = 0; i < from->count; i++)
        to->hashes[to->count++] = from->hashes[i];
    for (size_t i = 0; i < from->awaited_count; i++)
        to->awaited[to->awaited_count++] = from->awaited[i];
    return true;
}

static int by_number(const void *a, const void *b) {
    const uint64_t left = *(const uint64_t *)a, right = *(const uint64_t *)b;
    return (left > right) - (left < right);
}

static int by_hash(const void *a, const void *b) {
    return by_number(&((const awaited_fix_t *)a)->hash, &((const awaited_fix_t *)b)->hash);
}

void verified_ids_sort(verified_ids_t *ids) {
    size_t kept = 0;
    if (ids->count)
        qsort(ids->hashes, ids->count, sizeof *ids->hashes, by_number);
    for (size_t i = 0; i < ids->count; i++)
        if (!kept || ids->hashes[i] != ids->hashes[kept - 1])
            ids->hashes[kept++] = ids->hashes[i];
    ids->count = kept;
    if (ids->awaited_count)
        qsort(ids->awaited, ids->awaited_count, sizeof *ids->awaited, by_hash);
}

bool verified_ids_has(const verified_ids_t *ids, uint64_t hash) {
    return ids->count && bsearch(&hash, ids->hashes, ids->count, sizeof hash, by_number);
}

bool verified_ids_take(const verified_ids_t *ids, uint64_t content) {
    size_t from = 0, to = ids->awaited_count;
    while (from < to) {
        const size_t middle = from + (to - from) / 2;
        if (ids->awaited[middle].hash < content)
            from = middle + 1;
        else
            to = middle;
    }
    const size_t first = from;
    for (; from < ids->awaited_count && ids->awaited[from].hash == content; from++)
        ids->awaited[from].found = true;
    return from > first;
}

bool verified_ids_tell_missing(const verified_ids_t *ids, differences_t *differences, err_t *err) {
    for (size_t i = 0; i < ids->awaited_count; i++) {
        difference_t missing = ids->awaited[i].missing;
        if (!ids->awaited[i].found &&
            (!difference_say_why(&missing, "the document that it was fixed to", err) ||
             !differences_add(differences, &missing, err)))
            return false;
    }
    return true;
}
