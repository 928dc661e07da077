/* id_hash: a hash of an `_id` that is the same for all that a server takes for one: 1, 1.0 and NumberLong(1). */
#ifndef TIPPLE_VERIFY_OWN_IDS_H
#define TIPPLE_VERIFY_OWN_IDS_H

#include "verify/difference.h"

#include <bson/bson.h>

/* Of a document's `_id`; 0: it has none. Numbers within documents may have another hash than their equals: who finds
 * nothing by the hash has to ask the server for the `_id` itself. */
uint64_t id_hash(const uint8_t *document, uint32_t length);
uint64_t id_hash_of(const bson_iter_t *id);

/* last_wins: where records replace documents (--existing replace), only the last record of an `_id` is expected to be
 * found: last in the order of the inputs' numbers in the catalog, and within an input in its own order. What is found of
 * each record is noted, and judged at the end. Belongs to one thread. */

typedef enum { LAST_EQUAL, LAST_CHANGED, LAST_MISSING } last_found_t;

typedef struct {
    uint64_t hash, offset; /* of its `_id`; in its file */
    uint32_t file;         /* as difference_t numbers it */
    uint32_t detail;       /* where in details; UINT32_MAX: nowhere */
    last_found_t found;
} last_record_t;

typedef struct {
    last_record_t *records;
    size_t count, room;
    difference_t *details; /* of the first ones that are not equal */
    size_t detail_count, detail_room;
} last_wins_t;

/* So many differences are described at most: nearly all of them are none in the end. */
enum { LAST_MOST_DETAILS = 1000 };

/* detail: what would be told; owned from now on, also after a failure. NULL: it was not worth it. */
bool last_wins_note(last_wins_t *last, const last_record_t *record, const difference_t *detail, err_t *err);
bool last_wins_move(last_wins_t *to, last_wins_t *from, err_t *err); /* `from` is empty afterwards */
void last_wins_clear(last_wins_t *last);
void last_wins_free(last_wins_t *last); /* what it holds */

typedef struct {
    uint64_t equal;      /* `_id`s whose last record was found */
    uint64_t superseded; /* records that a later one of the same `_id` has replaced */
    uint64_t undecided;  /* `_id`s of which that is not known, since not all records were looked at */
} last_judged_t;

/* Adds what differs. ordinals, names: of the files, by their numbers. all: each record was looked at. */
bool last_wins_judge(last_wins_t *last, const uint32_t *ordinals, const char *const *names, bool all,
                     differences_t *differences, last_judged_t *judged, err_t *err);

/* verified_ids: which documents were found by their own `_id`s, as hashes; and fixed records whose documents have an `_id`
 * that nobody here knows. */

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
