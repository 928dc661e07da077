/* fix_item: what makes two rejected records the same (reject_identity), and what the catalog is told of a record that a user
 * fixed (fix_item). Pure: no clock, server, file or global state. Two rejects are the same if they come from the same place of
 * the same input, have the same bytes, and are read by the same dialect. */
#ifndef TIPPLE_LOAD_REJECTS_FIX_ITEM_H
#define TIPPLE_LOAD_REJECTS_FIX_ITEM_H

#include "catalog/store/entry.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef struct {
    const char *input; /* borrowed: the name by which the catalog knows the input, */
    /* and its ordinal there, since names may be alike; UINT64_MAX: no longer valid, or unknown */
    uint64_t ordinal;
    uint64_t offset;  /* of the record in the input */
    uint64_t length;  /* of the whole record */
    uint64_t hash;    /* of its bytes that are kept, mostly all */
    uint64_t dialect; /* its hash; 0: unknown */
} reject_identity_t;

/* The inputs that a catalog has or had, by ordinal. */
typedef struct {
    const standing_input_t *inputs;
    size_t count;
} reject_inputs_t;

/* Returns the ordinal, or UINT64_MAX if the input was forgotten or dropped: then only its name identifies it. NULL: always
 * UINT64_MAX. */
uint64_t reject_identity_ordinal(const reject_inputs_t *inputs, uint64_t ordinal);
/* Returns the first ordinal that may be this input, loaded again after it was removed. */
uint64_t reject_identity_heirs(const reject_inputs_t *inputs, uint64_t ordinal);

reject_identity_t reject_identity(const char *input, uint64_t ordinal, uint64_t dialect, uint64_t offset,
                                  uint64_t length, const void *kept_bytes, size_t kept);

/* Computes `hash`. The number is written into files, so it never changes. */
uint64_t reject_identity_hash(const void *kept_bytes, size_t kept);

bool reject_identity_equal(const reject_identity_t *a, const reject_identity_t *b);

/* Returns a hash for tables: equal identities have the same. */
uint64_t reject_identity_number(const reject_identity_t *identity);

/* ---- fix_item: one fixed record during --retry: which marks its entry in the catalog gets, and when ---- */

typedef struct {
    const entry_t *entry; /* the catalog's entry of its input, as read before anything was noted */
    fix_mark_t mark;      /* of its place and the collection; and of its document, if it makes one */
    bool makes_document, left_out, filtered;
    bool written; /* the mark is written with the next ones */
    bool stored;  /* its document is in the collection */
    bool refused; /* it is a reject again */
} fix_item_t;

/* Decides whether a mark is written before anything is sent. */
void fix_item_note(fix_item_t *item);

/* True if its entry does not have this mark yet. */
bool fix_item_is_new(const fix_item_t *item);

/* True if the document under its `_id` must be read, after all was sent. */
bool fix_item_asks(const fix_item_t *item);
/* True if other documents were noted or confirmed for its record. */
bool fix_item_has_others(const fix_item_t *item);
/* True if another document is confirmed. */
bool fix_item_is_answered_otherwise(const fix_item_t *item);
/* True if a document of this hash was noted before. */
bool fix_item_knows(const fix_item_t *item, uint64_t hash);
/* Decides what is confirmed. there: the hash of the document that was read, if it was noted; FIX_NOTHING: none, or not read. */
void fix_item_settle(fix_item_t *item, uint64_t there);

#endif
