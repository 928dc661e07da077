/* merge: compares the documents that a file makes with those that the target holds. Both come in ascending order of
 * `_id`. Each wrong document is told once, with what is wrong with it. It knows nothing of files or servers:
 * functions of its owner give the stored documents and take the findings. One thread. */
#ifndef TIPPLE_LOAD_READ_BACK_MERGE_H
#define TIPPLE_LOAD_READ_BACK_MERGE_H

#include "base/err.h"

#include <stdint.h>

typedef enum {
    MERGE_MISSING,    /* expected, and not there */
    MERGE_EXTRA,      /* there, where nothing is expected */
    MERGE_DUPLICATED, /* one more document of an `_id` that is there already (on another shard) */
    MERGE_CHANGED,    /* another document than the one expected */
    MERGE_UNRELATED,  /* its `_id` is no 64-bit integer: no place of any file */
} merge_kind_t;

typedef struct {
    merge_kind_t kind;
    int64_t id; /* an unrelated one has none */
    const uint8_t *expected, *stored;
    uint32_t expected_length, stored_length; /* BSON, until the function returns; NULL where there is none */
} merge_found_t;

typedef struct {
    /* The next stored document, which lasts until the next call. 1: it is there; 0: the end; -1: err. */
    int (*next)(void *context, const uint8_t **stored, uint32_t *length, err_t *err);
    bool (*tell)(void *context, const merge_found_t *found, err_t *err);
    void *context;
    uint64_t seen, same; /* stored documents so far; those of them that are as expected */
    /* the stored document at hand; NULL: there are no more */
    const uint8_t *stored;
    uint32_t length;
    int64_t id;
} merge_t;

bool merge_begin(merge_t *merge, err_t *err);

/* The next place at which the file says what is to be there: this document, or (NULL) none. */
bool merge_expect(merge_t *merge, int64_t id, const uint8_t *document, uint32_t length, err_t *err);

/* The same of a document that is known by its length and hash (XXH3): what is found of it has no `expected`. */
bool merge_expect_hash(merge_t *merge, int64_t id, uint64_t hash, uint32_t length, err_t *err);

/* Nothing more is expected. */
bool merge_end(merge_t *merge, err_t *err);

#endif
