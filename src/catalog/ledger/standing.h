/* standing: what the catalog says about an entry of a reject file. Pure. */
#ifndef TIPPLE_CATALOG_LEDGER_STANDING_H
#define TIPPLE_CATALOG_LEDGER_STANDING_H

#include "catalog/store/entry.h"

typedef enum {
    STANDING_OPEN, /* this record is rejected, or was until it was fixed */
    /* its place is not done: a load that was killed, or that is still running, has rejected it */
    STANDING_NOT_YET,
    /* the beginning of a record, cut off where the input ended; the record has grown since */
    STANDING_OUTGROWN,
    STANDING_UNKNOWN, /* no such record is rejected: the input was loaded again, from other content */
} standing_t;

/* Whose the rejects of an input are: its own, or, where it is removed, those of the inputs of its name from `heirs` on, which
 * came after that. */
typedef struct {
    uint32_t ordinal;
    bool removed;
    uint32_t heirs;
} standing_input_t;

standing_input_t standing_input(const entry_t *entry);

/* hash: of the bytes that were rejected; NULL: not known. *of: for an open record, the same hash as the catalog has
 * it. */
standing_t standing_of_reject(const entry_t *entry, uint64_t offset, const uint64_t *hash, uint64_t *of);

/* Must there be a document of the fixed record? Yes if one was seen there: the fix is confirmed, or its document was
 * found when the record's place was done again. */
bool standing_awaits_fix(const entry_t *entry, uint64_t offset, uint64_t hash);

#endif
