/* verified_ids: which documents were found by their own `_id`s, as hashes; and fixed records whose documents have an `_id`
 * that nobody here knows. */
#ifndef TIPPLE_VERIFY_COMPARE_VERIFIED_IDS_H
#define TIPPLE_VERIFY_COMPARE_VERIFIED_IDS_H

#include "verify/compare/difference.h"

#include <stddef.h>
#include <stdint.h>

/* A record that a person has fixed: its document is somewhere in the collection. */
typedef struct {
    uint64_t hash; /* of the document */
    bool found;
    difference_t missing; /* if it is not found; owns nothing */
} awaited_fix_t;

/* Where the `_id`s are the data's own: which ones were found, as id_hash. */
typedef struct {
    uint64_t *hashes;
    size_t count, room;
    awaited_fix_t *awaited;
    size_t awaited_count, awaited_room;
} verified_ids_t;

bool verified_ids_note(verified_ids_t *ids, uint64_t hash, err_t *err);
bool verified_ids_await(verified_ids_t *ids, const awaited_fix_t *fix, err_t *err);
bool verified_ids_add(verified_ids_t *to, const verified_ids_t *from, err_t *err);

void verified_ids_sort(verified_ids_t *ids); /* each hash once */
/* When they are sorted: was a document of this hash found? Is one of this content awaited? Then it counts as found. */
bool verified_ids_has(const verified_ids_t *ids, uint64_t hash);
bool verified_ids_take(const verified_ids_t *ids, uint64_t content);
/* What is awaited and was not found. */
bool verified_ids_tell_missing(const verified_ids_t *ids, differences_t *differences, err_t *err);

#endif
