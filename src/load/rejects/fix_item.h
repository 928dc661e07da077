/* fix_item: what makes two rejected records the same (reject_identity), and what the catalog notes of a record that a user
 * fixed (fix_item). Pure: no clock, server, file or global state. Two rejects are the same if they come from the same place of
 * the same input, have the same bytes, and are read by the same dialect. */
#ifndef TIPPLE_LOAD_REJECTS_FIX_ITEM_H
#define TIPPLE_LOAD_REJECTS_FIX_ITEM_H

#include "catalog/store/entry.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef struct {
    uint64_t input; /* a hash of the name by which the catalog knows the input, */
    /* and its ordinal there, since names may be alike; UINT64_MAX: no longer valid, or unknown */
    uint64_t ordinal;
    uint64_t offset;  /* of the record in the input */
    uint64_t length;  /* of the whole record */
    uint64_t hash;    /* of its bytes that are kept, mostly all */
    uint64_t dialect; /* its hash; 0: unknown */
} reject_identity_t;

reject_identity_t reject_identity(const char *input, uint64_t ordinal, uint64_t dialect, uint64_t offset,
                                  uint64_t length, uint64_t hash);

/* Computes `hash`. The number is written into files, so it never changes. */
uint64_t reject_identity_hash(const void *kept_bytes, size_t kept);

/* ---- fix_item: one fixed record during --retry: which marks its entry in the catalog gets, and when ---- */

/* What an entry of a reject file makes, least first: of two entries of one record, the one that makes more counts. */
typedef enum {
    FIX_LEAVES_OUT, /* the user has deleted the record */
    FIX_FAILS,      /* it is still wrong */
    FIX_FILTERED,   /* the filter leaves its document out */
    FIX_MAKES,      /* a document */
} fix_makes_t;

typedef struct {
    const entry_t *entry; /* the catalog's entry of its input, as read before anything was noted */
    fix_mark_t mark;      /* of its place and the collection; and of its document, if it makes one */
    fix_makes_t makes;
    bool written; /* the mark is written with the next ones */
    bool stored;  /* its document is in the collection */
    bool refused; /* it is a reject again */
} fix_item_t;

/* What the catalog knew of the record. */
record_fixes_t fix_item_known(const fix_item_t *item);
/* True if a document of this hash was noted for the record. */
bool fix_item_knows(const fix_item_t *item, uint64_t hash);
/* True if other documents were noted or confirmed for it. */
bool fix_item_has_others(const fix_item_t *item);

/* True if its entry does not have this mark yet. */
bool fix_item_is_new(const fix_item_t *item);
/* Decides whether the mark is written before anything is sent. */
void fix_item_note(fix_item_t *item);

/* True if the document under its `_id` must be read, after all was sent. */
bool fix_item_asks(const fix_item_t *item);
/* Decides what is confirmed. there: the hash of the document that was read, if it was noted; FIX_NOTHING: none, or not read. */
void fix_item_settle(fix_item_t *item, uint64_t there);

#endif
