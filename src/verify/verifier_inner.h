/* What the files of the verifier share. */
#ifndef TIPPLE_VERIFY_VERIFIER_INNER_H
#define TIPPLE_VERIFY_VERIFIER_INNER_H

#include "format/record/record_id.h"
#include "format/records.h"
#include "load/read_back/merge.h"
#include "load/read_back/snapshot_read.h"
#include "verify/verifier.h"

/* by_id: compares documents with those in the collection by their own `_id`s, some hundred at a time. It knows nothing of
 * files: what is expected goes in, what was found comes out. Belongs to one thread.
 *
 *     by_id_expect ...   each document; at last, and whenever there are enough of them:
 *     by_id_ask          asks for their `_id`s
 *     by_id_tell         what became of each, in their order
 */

typedef struct by_id by_id_t;

by_id_t *by_id_new(err_t *err);
void by_id_free(by_id_t *by_id); /* NULL is allowed */
void by_id_clear(by_id_t *by_id);

/* tag: a number of the caller's. After a long document, which is known by its hash, by_id is full. */
bool by_id_expect(by_id_t *by_id, size_t tag, const uint8_t *document, uint32_t length, err_t *err);
/* Are there so many that they are to be asked for? */
bool by_id_is_full(const by_id_t *by_id);

/* Asks. False: with snapshot_read_again it is worth another try, else err. *seen, *bytes: documents that came. */
bool by_id_ask(by_id_t *by_id, snapshot_read_t *target, uint64_t *seen, uint64_t *bytes, err_t *err);

typedef struct {
    size_t tag;
    uint64_t hash;     /* of its `_id` */
    const uint8_t *id; /* a document that begins with its `_id` */
    uint32_t id_length;
    const uint8_t *expected; /* NULL: it is long, and only its `_id` is kept */
    uint32_t expected_length;
    bool same;       /* the document is there */
    uint32_t others; /* so many others have its `_id` */
    uint8_t *other;
    uint32_t other_length; /* the first of them */
} by_id_found_t;

size_t by_id_count(const by_id_t *by_id);
by_id_found_t by_id_found(const by_id_t *by_id, size_t at);

/* The place of a record whose document is looked for by its own `_id`. */
typedef struct {
    int64_t id; /* that the place would give */
    uint64_t offset, behind, line, identity;
    const char *why;
    bool open; /* a fix that was not loaded, it seems */
} by_id_place_t;

struct verifier {
    inspection_t *inspection;
    snapshot_read_t *target;
    records_t *reader;
    records_place_t place;
    inspected_t counters; /* settled ones; read by others meanwhile */
    differences_t *differences;

    /* the look at hand */
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
    bool fixed;          /* what the record was fixed to was found */
    records_t *fix_reader;
    records_place_t fix_place;

    /* where the `_id`s are the data's own; else NULL */
    by_id_t *by_id;
    by_id_place_t *places; /* by their numbers in by_id */
    size_t place_room;
    last_wins_t last, block_last;  /* EXISTING_REPLACE */
    verified_ids_t ids, block_ids; /* of the documents that were found, of the block at hand */
};

/* verifier_found.c. The document of the fix at hand is not there, and nobody says that it was: that is no difference. */
void verifier_count_unloaded(verifier_t *verifier);
/* Of the merge: context is the verifier. */
bool verifier_take_finding(void *context, const merge_found_t *found, err_t *err);

/* verifier.c. What a long document has taken is given back: nobody needs it any more. */
void verifier_let_go(verifier_t *verifier);
/* How the stored document differs. expected NULL: it is that of the fix or the record at hand, which is made again. */
bool verifier_describe(verifier_t *verifier, difference_t *difference, const uint8_t *expected,
                       uint32_t expected_length, const uint8_t *stored, uint32_t stored_length, err_t *err);

/* verifier_by_id.c: the record at hand makes this document, by its own `_id`. */
bool verifier_expect_by_id(verifier_t *verifier, const uint8_t *document, uint32_t length, err_t *err);
/* Nothing is to be there of the record at hand, unless a person has fixed it. */
bool verifier_expect_fix(verifier_t *verifier, err_t *err);
/* All that is expected is asked for. False: as look_once. */
bool verifier_ask_by_id(verifier_t *verifier, err_t *err);

#endif
