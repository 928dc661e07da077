/* difference: what a verify has counted, and what it has found to be wrong. All differences are counted. Of each kind
 * the first ones are kept for the output: first in the order of the files, not in the order in which threads found
 * them. Missing records that are neighbours are one difference. Each thread has differences of its own; they are moved
 * into one at the end. */
#ifndef TIPPLE_VERIFY_DIFFERENCE_H
#define TIPPLE_VERIFY_DIFFERENCE_H

#include "base/err.h"

#include <bson/bson.h>
#include <stdint.h>

/* What was counted. Every member is a uint64_t: inspected_add takes them one after the other. */
typedef struct {
    uint64_t records, expected, rejected, filtered, fixed;
    uint64_t left_out; /* of the rejected: by the user, or by the filter when they were fixed */
    /* fixed records whose documents were not looked for, because their `_id`s are not known */
    uint64_t unsought;
    uint64_t unloaded;   /* records that are fixed in reject files, and do not seem to be loaded yet */
    uint64_t kept;       /* records whose `_id` another document has (--existing keep) */
    uint64_t seen, same; /* documents that were read; of those: as they should be */
    uint64_t encoded_bytes, stored_bytes;
    uint64_t blocks, retries;
} inspected_t;

/* Other threads may read the sum meanwhile: each count is whole. */
void inspected_add(inspected_t *sum, const inspected_t *more);

/* ---- how a stored document differs from the one that its record makes ---- */

enum { CHANGED_FIELD = 160, CHANGED_VALUE = 120 };

typedef struct {
    /* the first that differs, "wind.speed.rate"; "": only the order of fields does */
    char field[CHANGED_FIELD];
    /* extended JSON, shortened; "" if the field is not there */
    char stored[CHANGED_VALUE], expected[CHANGED_VALUE];
    uint32_t more; /* further fields that differ */
} changed_t;

/* One value as extended JSON, cut off with "..." if it is too long. */
void changed_value(const bson_iter_t *value, char out[CHANGED_VALUE]);
void changed_describe(const uint8_t *expected, uint32_t expected_length, const uint8_t *stored,
                      uint32_t stored_length, changed_t *changed);

/* ---- one difference ---- */

typedef enum {
    DIFFERENCE_MISSING,
    DIFFERENCE_EXTRA,
    DIFFERENCE_DUPLICATED,
    DIFFERENCE_CHANGED,
    DIFFERENCE_UNRELATED,
    DIFFERENCE_KINDS
} difference_kind_t;

extern const char *const difference_names[DIFFERENCE_KINDS]; /* "missing" */

#define DIFFERENCE_NO_FILE SIZE_MAX

typedef struct {
    difference_kind_t kind;
    size_t file;              /* its number in the run; DIFFERENCE_NO_FILE, which comes after all files */
    const char *name;         /* the file's, or NULL; outlives the difference */
    uint64_t offset, end;     /* in the file */
    uint64_t line, last_line; /* 0: not known */
    uint64_t records;         /* or documents, that it stands for */
    int64_t id, last_id;
    bool nameless;      /* its `_id` is not known */
    char *other_id;     /* an `_id` that is no 64-bit integer, as extended JSON; owned */
    char *why;          /* the rest of the sentence, or NULL; owned */
    changed_t *changed; /* or NULL; owned */
} difference_t;

/* These fill in what it owns. False: out of memory. */
bool difference_say_why(difference_t *difference, const char *why, err_t *err);
bool difference_name_id(difference_t *difference, const bson_iter_t *id, err_t *err); /* NULL: it has none */
bool difference_name_id_of(difference_t *difference, const uint8_t *document, uint32_t length, err_t *err);
bool difference_describe(difference_t *difference, const uint8_t *expected, uint32_t expected_length,
                         const uint8_t *stored, uint32_t stored_length, err_t *err);
/* Frees what a difference owns that is not added. */
void difference_free(difference_t *difference);

/* ---- all differences ---- */

typedef struct differences differences_t;

/* most: kept of each kind. NULL: out of memory. One thread at a time. */
differences_t *differences_new(uint64_t most);
void differences_free(differences_t *differences); /* NULL is allowed */

/* Takes the difference with what it owns. False: out of memory, and it was freed. */
bool differences_add(differences_t *differences, const difference_t *difference, err_t *err);

/* True if this one, whose place is known, may be kept. If not, the caller need not describe it. An `_id` that is no
 * place is a part of the order, so other_id must be filled in before. */
bool differences_wants(const differences_t *differences, const difference_t *difference);

/* Moves all of them; `from` is empty afterwards. */
bool differences_move(differences_t *to, differences_t *from, err_t *err);
void differences_clear(differences_t *differences);

uint64_t differences_count(const differences_t *differences, difference_kind_t kind); /* of documents */
uint64_t differences_total(const differences_t *differences);

/* The kept ones of a kind in their order, until the next change. */
const difference_t *differences_of(differences_t *differences, difference_kind_t kind, size_t *count);

#endif
