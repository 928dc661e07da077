/* removal: an input is taken out of the catalog for good, with its documents, or when it has none. Its
 * numbers are never used again: what late messages of dead loads may still bring is at nobody's place. */
#ifndef TIPPLE_CATALOG_REMOVAL_H
#define TIPPLE_CATALOG_REMOVAL_H

#include "catalog/store/store.h"

typedef struct {
    load_id_t self; /* a load that is alive, for as long as this takes */
    int64_t lease_ns;
    void *context;
    int64_t (*now)(void *context);
    uint64_t (*own_beats)(void *context);
    /* A moment passes. False: stop (err is set). */
    bool (*wait)(void *context, err_t *err);
    /* Does the collection hold documents with the entry's numbers? Removes them. */
    bool (*look)(void *context, const entry_t *entry, bool *any, err_t *err);
    bool (*remove)(void *context, const entry_t *entry, err_t *err);
} removal_t;

/* What a removal that was killed has left: documents of inputs that are out of the catalog. Every load does this before
 * it registers its own. */
bool catalog_finish_removals(store_t *store, const removal_t *removal, err_t *err);

/* Of a tombstone: documents with its numbers may be there again, sent by a load that did not know of the removal. The
 * next catalog_finish_removals looks. */
bool catalog_may_remain(store_t *store, uint32_t ordinal, err_t *err);
/* Are there some? Then the same. */
bool catalog_look_again(store_t *store, const removal_t *removal, const entry_t *entry, bool *any,
                        err_t *err);

/* The input is taken out first, so that nobody loads it any more and its numbers are nobody's; then its documents are
 * removed, until none came for a lease. A removal that arrives late finds nothing that anybody misses.
 * Refused with status 1 while a load that is alive owns a piece of it, and without `documents` while there
 * are some. What a kill leaves, the next load or the same command removes. */
bool catalog_remove(store_t *store, uint32_t ordinal, bool documents, const removal_t *removal, err_t *err);

#endif
