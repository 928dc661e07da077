#include "format/schema_digest.h"

#include <string.h>
#include <xxhash.h>

static void digest_bytes(XXH3_state_t *state, const void *bytes, size_t length) {
    uint64_t size = length;
    XXH3_128bits_update(state, &size, sizeof size);
    XXH3_128bits_update(state, bytes, length);
}

static void digest_texts(XXH3_state_t *state, const texts_t *texts) {
    digest_bytes(state, &texts->count, sizeof texts->count);
    for (size_t i = 0; i < texts->count; i++)
        digest_bytes(state, texts->items[i].text, texts->items[i].length);
}

/* Everything that decides which document a record becomes; names and comments do not. */
bool schema_digest(schema_t *schema, err_t *err) {
    XXH3_state_t *state = XXH3_createState();
    if (!state)
        return err_memory(err, 576);
    XXH3_128bits_reset(state);
    digest_bytes(state, schema->delimiters, schema->delimiter_count);
    char traits[] = {
        schema->quote,  schema->escape_double,       schema->escape_backslash,  (char)schema->header,
        schema->latin1, (char)schema->surplus_field, (char)schema->surplus_left};
    digest_bytes(state, traits, sizeof traits);
    digest_texts(state, &schema->header_words);
    for (size_t i = 0; i < schema->field_count; i++) {
        const field_t *field = &schema->fields[i];
        char kind[] = {(char)field->type, (char)field->divide, (char)field->optional};
        digest_bytes(state, field->key, strlen(field->key));
        digest_bytes(state, kind, sizeof kind);
        digest_texts(state, &field->columns);
        digest_texts(state, &field->absent);
        digest_texts(state, &field->as);
    }
    for (size_t i = 0; i < schema->layout_count; i++)
        digest_bytes(state, schema->layouts[i].fields, schema->layouts[i].count * sizeof(uint16_t));
    XXH128_canonical_t canonical;
    XXH128_canonicalFromHash(&canonical, XXH3_128bits_digest(state));
    XXH3_freeState(state);
    for (size_t i = 0; i < sizeof canonical.digest; i++) {
        schema->digest[2 * i] = "0123456789abcdef"[canonical.digest[i] >> 4];
        schema->digest[2 * i + 1] = "0123456789abcdef"[canonical.digest[i] & 15];
    }
    return true;
}
