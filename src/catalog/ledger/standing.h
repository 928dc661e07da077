/* standing: what the catalog says of an entry of a reject file. Pure. */
#ifndef TIPPLE_CATALOG_LEDGER_STANDING_H
#define TIPPLE_CATALOG_LEDGER_STANDING_H

#include "catalog/store/entry.h"

typedef enum {
    STANDING_OPEN,     /* this record is rejected, or was until it was fixed */
    STANDING_NOT_YET,  /* its place is not done: a load that was killed, or is at work, has rejected it */
    STANDING_OUTGROWN, /* the beginning of a record, cut off where the input ended; that has grown since */
    STANDING_UNKNOWN,  /* no such record is rejected: the input was loaded anew, from other content */
} standing_t;

/* hash: of the bytes that were rejected; NULL: not known. *of: the same, as the catalog knows it, of one that is open. */
standing_t standing_of_reject(const entry_t *entry, uint64_t offset, const uint64_t *hash, uint64_t *of);

/* Must there be a document of what the rejected record was fixed to? One was seen there: it is confirmed, or what was noted
 * was found when its place was done again. */
bool standing_awaits_fix(const entry_t *entry, uint64_t offset, uint64_t hash);

#endif
