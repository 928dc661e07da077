/* places: all inputs of a collection's catalog at once: to which input does an `_id` belong, and which input does the
 * user mean by a name? Read once, then read-only and shared by threads.
 *
 * Several inputs may have one name, some of them removed. NAME#ORDINAL addresses one of them. */
#ifndef TIPPLE_CATALOG_PLACES_H
#define TIPPLE_CATALOG_PLACES_H

#include "base/text.h"
#include "catalog/store/store.h"

typedef struct places places_t;

places_t *places_read(store_t *store, err_t *err);
void places_free(places_t *places); /* NULL is allowed */

const entries_t *places_entries(const places_t *places);

/* ---- extents ---- */

/* The input whose extent holds this number, and the offset in it. NULL: no input's. */
const entry_t *places_find(const places_t *places, uint64_t number, uint64_t *offset);
/* True if both have the same extents. */
bool places_equal(const places_t *a, const places_t *b);

/* ---- names ---- */

/* The newest input of this name that was not removed, or NULL. further: the name may also be another one under which
 * the input was recognised. */
const entry_t *places_named(const places_t *places, const char *name, bool further);

/* Everything that may be meant by a name: all inputs that have it, and the one that it addresses as NAME#ORDINAL,
 * removed or not. *at begins as 0. NULL: no more. */
const entry_t *places_next(const places_t *places, const char *name, size_t *at);

/* The same, added up. */
typedef struct {
    const entry_t *live, *gone; /* the newest one that is there, and that was removed; or NULL */
    size_t lives;
    bool remains; /* of one that was removed there are documents left */
    bool is_sure; /* `live` is the only one, and none was removed that may have been meant instead */
} places_meant_t;
places_meant_t places_meant(const places_t *places, const char *name);

/* Appends a name that means this input, which is not removed, and no other: its own, or NAME#ORDINAL. */
void places_show(const places_t *places, const entry_t *entry, text_t *out);
/* Appends such names of all inputs that are there and may be meant by a name. */
void places_show_meant(const places_t *places, const char *name, text_t *out);

/* ---- sums ---- */

/* Sums over all inputs. If an input is not complete, a load may have sent more than it has written down. */
typedef struct {
    uint64_t removals; /* inputs whose removal was begun and has not ended: documents of them may be there */
    uint64_t files, complete, rejected, open_rejects, fixed, left_out; /* open: neither fixed nor left out */
    uint64_t loaded;
    uint64_t corrected;     /* a part of loaded: their documents were replaced when their inputs had grown */
    uint64_t already_there; /* a load that continues a killed one finds documents of that one */
} places_summary_t;
places_summary_t places_summary(const places_t *places, uint32_t generation);

#endif
