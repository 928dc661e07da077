/* places: all inputs of a collection's catalog at once, to find to which input an `_id` belongs. Read once, then
 * read-only and shared by threads. */
#ifndef TIPPLE_CATALOG_PLACES_H
#define TIPPLE_CATALOG_PLACES_H

#include "base/text.h"
#include "catalog/store/store.h"

typedef struct places places_t;

places_t *places_read(store_t *store, err_t *err);
void places_free(places_t *places); /* NULL is allowed */

size_t places_inputs(const places_t *places); /* without those that were removed */
const entries_t *places_entries(const places_t *places);
/* The newest input of this name; NULL: none. */
const entry_t *places_named(const places_t *places, const char *name);
/* The newest input that is there and was recognised under this name, which is not its own; NULL: none. */
const entry_t *places_known_as(const places_t *places, const char *name);

/* What a person may mean by a name: all inputs that have it, and the one that it addresses as NAME#ORDINAL, removed or
 * not. *at: 0, then as it was left. NULL: no more. */
const entry_t *places_next(const places_t *places, const char *name, size_t *at);

/* The same, added up. */
typedef struct {
    const entry_t *live, *gone; /* the newest that is there, and that was removed; NULL: none */
    size_t lives;
    bool remains; /* of one that was removed there are documents left */
    bool is_sure; /* `live` is the only one, and none was removed that may have been meant instead */
} places_meant_t;
places_meant_t places_meant(const places_t *places, const char *name);

/* Do both have the same extents? */
bool places_equal(const places_t *a, const places_t *b);

/* The input whose extent holds this number, and the offset in it. NULL: no input's. */
const entry_t *places_find(const places_t *places, uint64_t number, uint64_t *offset);

/* Sums over all inputs. Of one that is not complete a load may have sent more than it has written down. */
typedef struct {
    uint64_t removals; /* inputs whose removal was begun, and has not ended: documents of them may be there */
    uint64_t files, complete, rejected, open_rejects, fixed, left_out; /* open: neither of the others */
    uint64_t loaded,
        corrected,     /* a part of loaded: their documents were replaced when their inputs had grown */
        already_there; /* a load that goes on behind a killed one finds documents of that one there */
} places_summary_t;
places_summary_t places_summary(const places_t *places, uint32_t generation);

/* places_show: how a person names one input where its own name may mean several. */

/* A name by which surely this input, which is not removed, is meant: its own, or else NAME#ORDINAL. */
void places_show(const places_t *places, const entry_t *entry, text_t *out);
/* So all that are there and that may be meant by a name. */
void places_show_meant(const places_t *places, const char *name, text_t *out);

#endif
