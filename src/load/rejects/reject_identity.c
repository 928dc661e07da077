#include "load/rejects/reject_identity.h"
#include "base/text.h"

#include <string.h>
#include <xxhash.h>

uint64_t reject_identity_hash(const void *kept_bytes, size_t kept) {
    return XXH3_64bits(kept_bytes, kept);
}

/* NULL: there was none, or it was dropped. */
static const standing_input_t *find(const reject_inputs_t *inputs, uint64_t ordinal) {
    if (!inputs)
        return NULL;
    const size_t at = SEARCH_FIRST(inputs->count, i, inputs->inputs[i].ordinal < ordinal);
    return at < inputs->count && inputs->inputs[at].ordinal == ordinal ? &inputs->inputs[at] : NULL;
}

uint64_t reject_identity_ordinal(const reject_inputs_t *inputs, uint64_t ordinal) {
    const standing_input_t *input = find(inputs, ordinal);
    return input && !input->removed ? ordinal : UINT64_MAX;
}

uint64_t reject_identity_heirs(const reject_inputs_t *inputs, uint64_t ordinal) {
    const standing_input_t *input = find(inputs, ordinal);
    return input ? input->heirs : ordinal;
}

reject_identity_t reject_identity(const char *input, uint64_t ordinal, uint64_t dialect, uint64_t offset,
                                  uint64_t length, const void *kept_bytes, size_t kept) {
    return (reject_identity_t){input,  ordinal, offset, length, reject_identity_hash(kept_bytes, kept),
                               dialect};
}

bool reject_identity_equal(const reject_identity_t *a, const reject_identity_t *b) {
    return a->ordinal == b->ordinal && a->offset == b->offset && a->length == b->length &&
           a->hash == b->hash && a->dialect == b->dialect && strcmp(a->input, b->input) == 0;
}

uint64_t reject_identity_number(const reject_identity_t *identity) {
    const uint64_t numbers[] = {identity->ordinal, identity->offset, identity->length, identity->hash,
                                identity->dialect};
    return XXH3_64bits_withSeed(identity->input, strlen(identity->input),
                                XXH3_64bits(numbers, sizeof numbers));
}
