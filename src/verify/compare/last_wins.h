/* last_wins: where records replace documents (--existing replace), only the last record of an `_id` is expected to be
 * found: last in the order of the inputs' numbers in the catalog, and within an input in its own order. What is found of
 * each record is noted, and judged at the end. Belongs to one thread. */
#ifndef TIPPLE_VERIFY_COMPARE_LAST_WINS_H
#define TIPPLE_VERIFY_COMPARE_LAST_WINS_H

#include "verify/compare/difference.h"

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

#endif
