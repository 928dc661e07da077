/* merge: compares the documents that a file makes with those that the target holds. Both come in ascending order of
 * `_id`. Each wrong document is reported once, with what is wrong with it. The merge knows nothing of files or servers:
 * functions of its owner give the stored documents and take the findings. One thread. */
#ifndef TIPPLE_VERIFY_MERGE_H
#define TIPPLE_VERIFY_MERGE_H

#include "base/err.h"

#include <stdint.h>

typedef enum {
    MERGE_MISSING,    /* expected, but not there */
    MERGE_EXTRA,      /* there, but not expected */
    MERGE_DUPLICATED, /* one more document with the same `_id` (on another shard) */
    MERGE_CHANGED,    /* not the document that is expected with this `_id` */
    MERGE_UNRELATED,  /* its `_id` is no 64-bit integer, so no place of any file */
} merge_kind_t;

typedef struct {
    merge_kind_t kind;
    int64_t id; /* an unrelated one has none */
    const uint8_t *expected, *stored;
    uint32_t expected_length, stored_length; /* BSON, valid until the function returns; NULL: none */
} merge_found_t;

typedef struct {
    /* Gives the next stored document, valid until the next call. 1: there is one; 0: the end; -1: err. */
    int (*next)(void *context, const uint8_t **stored, uint32_t *length, err_t *err);
    bool (*report)(void *context, const merge_found_t *found, err_t *err);
    void *context;
    uint64_t seen, same; /* stored documents so far; those that are as expected */
    /* the current stored document; NULL: no more */
    const uint8_t *stored;
    uint32_t length;
    int64_t id;
} merge_t;

bool merge_begin(merge_t *merge, err_t *err);

/* Compares the next place of the file: this document is expected there, or (NULL) none. */
bool merge_expect(merge_t *merge, int64_t id, const uint8_t *document, uint32_t length, err_t *err);

/* The same for a document that is known by its length and hash (XXH3): findings then have no `expected`. */
bool merge_expect_hash(merge_t *merge, int64_t id, uint64_t hash, uint32_t length, err_t *err);

/* Reports all remaining stored documents as MERGE_EXTRA. */
bool merge_end(merge_t *merge, err_t *err);

#endif
