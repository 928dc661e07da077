/* reject_known: a set of rejected records, by their identity. One thread at a time. */
#ifndef TIPPLE_LOAD_REJECTS_REJECT_KNOWN_H
#define TIPPLE_LOAD_REJECTS_REJECT_KNOWN_H

#include "load/rejects/reject_identity.h"

typedef struct {
    reject_identity_t *places; /* a hash table; a free place has no input */
    size_t count, room;
    char **names; /* owned: what the identities' inputs point to */
    size_t name_count, name_room;
} reject_known_t; /* zeroed: an empty set */

/* False: out of memory. The identity's input is copied. */
bool reject_known_add(reject_known_t *known, const reject_identity_t *identity);
bool reject_known_has(const reject_known_t *known, const reject_identity_t *identity);
void reject_known_free(reject_known_t *known); /* and it is empty */

#endif
