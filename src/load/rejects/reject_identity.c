#include "load/rejects/reject_identity.h"

#include <string.h>
#include <xxhash.h>

uint64_t reject_identity_hash(const void *kept_bytes, size_t kept) {
    return XXH3_64bits(kept_bytes, kept);
}

reject_identity_t reject_identity(const char *input, uint64_t dialect, uint64_t offset, uint64_t length,
                                  const void *kept_bytes, size_t kept) {
    return (reject_identity_t){input, offset, length, reject_identity_hash(kept_bytes, kept), dialect};
}

bool reject_identity_equal(const reject_identity_t *a, const reject_identity_t *b) {
    return a->offset == b->offset && a->length == b->length && a->hash == b->hash &&
           a->dialect == b->dialect && strcmp(a->input, b->input) == 0;
}

uint64_t reject_identity_number(const reject_identity_t *identity) {
    const uint64_t numbers[] = {identity->offset, identity->length, identity->hash, identity->dialect};
    return XXH3_64bits_withSeed(identity->input, strlen(identity->input),
                                XXH3_64bits(numbers, sizeof numbers));
}
