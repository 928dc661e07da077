/* removal: takes inputs out of the catalog and removes their documents, if they have any. Their numbers are never used
 * again: documents in late messages of dead loads belong to no input. */
#ifndef TIPPLE_CATALOG_REMOVAL_H
#define TIPPLE_CATALOG_REMOVAL_H

#include "catalog/others.h"

/* context: that of `others`. */
typedef struct {
    others_t others;
    /* catalog_remove: nothing refuses it any more; their documents are removed now. NULL: not told. */
    void (*begins)(void *context);
    /* Does the collection hold documents with the entry's numbers? Removes them, too. */
    bool (*look)(void *context, const entry_t *entry, bool *any, err_t *err);
    bool (*remove)(void *context, const entry_t *entry, err_t *err);
} removal_t;

/* Finishes removals that were killed: removes the documents of inputs that are out of the catalog. Every load does this
 * before it registers its own inputs. */
bool catalog_finish_removals(store_t *store, const removal_t *removal, err_t *err);

/* For a tombstone: documents with its numbers may be there again, sent by a load that did not know of the removal. The
 * next catalog_finish_removals removes them. */
bool catalog_may_remain(store_t *store, uint32_t ordinal, err_t *err);
/* Are there such documents? If so, does the same as catalog_may_remain. */
bool catalog_look_again(store_t *store, const removal_t *removal, const entry_t *entry, bool *any,
                        err_t *err);

/* An input that is to be removed. */
typedef struct {
    const entry_t *entry; /* as it was read before */
    bool documents;       /* with its documents */
    bool read;            /* records of it were read before: for who tells of it */
} removed_t;

/* Takes the inputs out of the catalog first, so that no load continues them and their numbers belong to no input. Then
 * removes their documents, until none came for a lease, which is waited once for all of them. A removal that arrives late
 * finds nothing that is needed. Refused with status 1, and all of them are left, while a load that is alive owns a piece
 * of one, and while there are documents of one that is to be removed without. After a kill, the next load or the same
 * command removes the rest. An input may be there twice. */
bool catalog_remove(store_t *store, const removed_t *inputs, size_t count, const removal_t *removal,
                    err_t *err);

#endif
