/* reject_identity: when are two rejected records the same one? When they come from the same place of the same
 * input, have the same bytes, and are read by the same dialect. It uses no files and
 * keeps no state. Any thread. */
#ifndef TIPPLE_LOAD_REJECTS_REJECT_IDENTITY_H
#define TIPPLE_LOAD_REJECTS_REJECT_IDENTITY_H

#include "catalog/store/entry.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef struct {
    const char *input; /* borrowed: the name by which the catalog knows the input, */
    uint64_t ordinal;  /* and its ordinal there: names may be alike; UINT64_MAX: it says nothing (any more) */
    uint64_t offset;   /* of the record in the input */
    uint64_t length;   /* of the whole record */
    uint64_t hash;     /* of those of its bytes that are kept, mostly all */
    uint64_t dialect;  /* its hash; 0: not known */
} reject_identity_t;

/* The inputs that a catalog has, or had, by ordinal. */
typedef struct {
    const standing_input_t *inputs;
    size_t count;
} reject_inputs_t;

/* An input that was forgotten, or dropped, is one that was loaded by its name since. NULL: ordinals say nothing. */
uint64_t reject_identity_ordinal(const reject_inputs_t *inputs, uint64_t ordinal);
/* The first one that may be this one, where it is not there any more. */
uint64_t reject_identity_heirs(const reject_inputs_t *inputs, uint64_t ordinal);

reject_identity_t reject_identity(const char *input, uint64_t ordinal, uint64_t dialect, uint64_t offset,
                                  uint64_t length, const void *kept_bytes, size_t kept);

/* What `hash` is made of. The number is written into files, so it never changes. */
uint64_t reject_identity_hash(const void *kept_bytes, size_t kept);

bool reject_identity_equal(const reject_identity_t *a, const reject_identity_t *b);

/* Equal ones have the same number: for hash tables. */
uint64_t reject_identity_number(const reject_identity_t *identity);

#endif
