/* own_ids: what verifiers note where the `_id`s are the data's own, so that it can be judged when all blocks were
 * compared: which documents were found, which fixed records are still awaited, and what was found of each record of an
 * `_id`. Notes belong to one thread; they are put together at the end. */
#ifndef TIPPLE_VERIFY_OWN_IDS_H
#define TIPPLE_VERIFY_OWN_IDS_H

#include "verify/difference.h"

#include <bson/bson.h>

/* ---- a hash of an `_id` that is the same for all `_id`s that a server takes for one: 1, 1.0 and NumberLong(1) ---- */

/* The hash of a document's `_id`; 0: it has none. Numbers within documents may have another hash than their equals: if
 * nothing is found by the hash, ask the server for the `_id` itself. */
uint64_t id_hash(const uint8_t *document, uint32_t length);
uint64_t id_hash_of(const bson_iter_t *id);

/* ---- verified_ids: which documents were found ---- */

/* A record that the user has fixed: its document is somewhere in the collection, under an `_id` that is not known
 * here. */
typedef struct {
    uint64_t hash; /* of the document */
    bool found;
    difference_t missing; /* if it is not found; owns nothing */
} awaited_fix_t;

typedef struct {
    uint64_t *hashes; /* of the `_id`s that were found */
    size_t count, room;
    awaited_fix_t *awaited;
    size_t awaited_count, awaited_room;
} verified_ids_t;

bool verified_ids_note(verified_ids_t *ids, uint64_t hash, err_t *err);
bool verified_ids_await(verified_ids_t *ids, const awaited_fix_t *fix, err_t *err);
bool verified_ids_add(verified_ids_t *to, const verified_ids_t *from, err_t *err);
void verified_ids_sort(verified_ids_t *ids); /* each hash once */

/* After verified_ids_sort: */
bool verified_ids_has(const verified_ids_t *ids, uint64_t hash);
/* True if a document of this content is awaited; then it counts as found. */
bool verified_ids_take(const verified_ids_t *ids, uint64_t content);
/* Adds the awaited documents that were not found. */
bool verified_ids_tell_missing(const verified_ids_t *ids, differences_t *differences, err_t *err);

/* ---- last_wins: with --existing replace only the last record of an `_id` is expected ---- */

/* Last in the order of the inputs' ordinals, and within an input in its own order. */
typedef enum { LAST_EQUAL, LAST_CHANGED, LAST_MISSING } last_found_t;

typedef struct {
    uint64_t hash, offset; /* of its `_id`; in its file */
    uint32_t file;         /* as difference_t numbers it */
    uint32_t detail;       /* index in details; UINT32_MAX: none */
    last_found_t found;
} last_record_t;

typedef struct {
    last_record_t *records;
    size_t count, room;
    difference_t *details; /* of the first ones that are not equal */
    size_t detail_count, detail_room;
} last_wins_t;

/* How many differences are described at most: nearly all of them turn out to be none. */
enum { LAST_MOST_DETAILS = 1000 };

/* detail: the difference, if it is one; owned from now on, also after a failure. NULL: not described. */
bool last_wins_note(last_wins_t *last, const last_record_t *record, const difference_t *detail, err_t *err);
bool last_wins_move(last_wins_t *to, last_wins_t *from, err_t *err); /* `from` is empty afterwards */
void last_wins_clear(last_wins_t *last);
void last_wins_free(last_wins_t *last); /* what it holds */

typedef struct {
    uint64_t equal;      /* `_id`s whose last record was found */
    uint64_t superseded; /* records that a later one of the same `_id` has replaced */
    uint64_t undecided;  /* `_id`s for which that is not known, because not all records were compared */
} last_judged_t;

/* Adds the differences. ordinals, names: of the files, by their numbers. all: each record was compared. */
bool last_wins_judge(last_wins_t *last, const uint32_t *ordinals, const char *const *names, bool all,
                     differences_t *differences, last_judged_t *judged, err_t *err);

#endif
