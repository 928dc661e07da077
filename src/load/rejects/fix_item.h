/* fix_item: one fixed record while it is loaded again: what the catalog is told about it, and when. No clock, no server,
 * no files. */
#ifndef TIPPLE_LOAD_REJECTS_FIX_ITEM_H
#define TIPPLE_LOAD_REJECTS_FIX_ITEM_H

#include "catalog/store/entry.h"

typedef struct {
    const entry_t *entry; /* of its input, as it was read before anything was noted */
    fix_mark_t mark;      /* of its place, and of the collection; and of its document, where it makes one */
    bool makes_document, left_out, filtered;
    bool written; /* whenever marks are written next */
    bool stored;  /* its document is in the collection */
    bool refused; /* its record is a reject again */
} fix_item_t;

/* Before anything is sent. */
void fix_item_note(fix_item_t *item);

/* Is it a mark that its entry does not have yet? */
bool fix_item_is_new(const fix_item_t *item);

/* After all was sent: has what is there under its `_id` to be read? */
bool fix_item_asks(const fix_item_t *item);
/* Were other documents noted, or confirmed, for its record? */
bool fix_item_has_others(const fix_item_t *item);
/* Is another one confirmed? */
bool fix_item_is_answered_otherwise(const fix_item_t *item);
/* Is this the hash of a document that was noted before? */
bool fix_item_knows(const fix_item_t *item, uint64_t hash);
/* there: the hash of what was read, of all that was noted; FIX_NOTHING: none, or it was not asked for. */
void fix_item_settle(fix_item_t *item, uint64_t there);

#endif
