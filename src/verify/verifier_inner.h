/* What verifier.c and verifier_by_id.c share: the block at hand. */
#ifndef TIPPLE_VERIFY_VERIFIER_INNER_H
#define TIPPLE_VERIFY_VERIFIER_INNER_H

#include "format/record/record_id.h"
#include "format/records.h"
#include "load/read_back/read_back.h"
#include "verify/merge.h"
#include "verify/verifier.h"

/* Documents that are asked for by their own `_id`s (verifier_by_id.c). */
typedef struct by_id by_id_t;

by_id_t *by_id_new(err_t *err);
void by_id_free(by_id_t *by_id); /* NULL is allowed */
void by_id_clear(by_id_t *by_id);

struct verifier {
    inspection_t *inspection;
    snapshot_read_t *target;
    records_t *reader;
    records_place_t place;
    inspected_t counters; /* of blocks that were compared to their end; read by others meanwhile */
    differences_t *differences;

    /* the block at hand */
    const block_t *block;
    inspected_t look;
    differences_t *found;
    record_t record; /* that the merge is at */
    int64_t record_id;
    int64_t first_id; /* of the window at hand */
    uint64_t window_offset;
    const char *why;     /* why nothing is expected at the record, or something else */
    size_t fix;          /* the next one */
    const fix_t *at_fix; /* the one at hand, which makes a document; or NULL */
    bool fixed;          /* the document that the record was fixed to was found */
    records_t *fix_reader;
    records_place_t fix_place;

    /* where the `_id`s are the data's own; else NULL */
    by_id_t *by_id;
    last_wins_t last, block_last;  /* EXISTING_REPLACE */
    verified_ids_t ids, block_ids; /* of the documents that were found, of the block at hand */
};

/* ---- verifier.c ---- */

/* The document of the fix at hand is not there, and nothing says that it was: that is no difference. */
void verifier_count_unloaded(verifier_t *verifier);
/* Frees the memory of a long document. */
void verifier_let_go(verifier_t *verifier);
/* Describes how the stored document differs. expected NULL: the document of the fix or the record at hand is made
 * again. */
bool verifier_describe(verifier_t *verifier, difference_t *difference, const uint8_t *expected,
                       uint32_t expected_length, const uint8_t *stored, uint32_t stored_length, err_t *err);

/* ---- verifier_by_id.c ---- */

/* The record at hand makes this document, which has an `_id` of its own. */
bool verifier_expect_by_id(verifier_t *verifier, const uint8_t *document, uint32_t length, err_t *err);
/* Nothing is expected of the record at hand, unless the user has fixed it. */
bool verifier_expect_fix(verifier_t *verifier, err_t *err);
/* Asks for everything that is expected. False: as compare_once. */
bool verifier_ask_by_id(verifier_t *verifier, err_t *err);

#endif
