/* reject_known: a set of rejected records, by their identity. One thread at a time. */
#ifndef TIPPLE_LOAD_REJECTS_REJECT_KNOWN_H
#define TIPPLE_LOAD_REJECTS_REJECT_KNOWN_H

#include "load/rejects/reject_identity.h"

typedef struct {
    reject_identity_t is;
    uint64_t from; /* only for inputs of this ordinal on: others have an entry of their own */
} reject_known_place_t;

typedef struct {
    reject_known_place_t *places; /* a hash table; a free place has no input */
    size_t count, room;
    char **names; /* owned: what the identities' inputs point to */
    size_t name_count, name_room;
} reject_known_t; /* zeroed: an empty set */

/* False: out of memory. The identity's input is copied. */
bool reject_known_add(reject_known_t *known, const reject_identity_t *identity);
/* The same of an entry of an input that is not there any more: it is one of those from this ordinal on. */
bool reject_known_add_gone(reject_known_t *known, const reject_identity_t *identity, uint64_t from);
bool reject_known_has(const reject_known_t *known, const reject_identity_t *identity);
/* Is it an entry of this very input, or one that may be of it? */
bool reject_known_has_of(const reject_known_t *known, const reject_identity_t *identity);
void reject_known_free(reject_known_t *known); /* and it is empty */

#endif
