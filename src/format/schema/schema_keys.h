/* schema_keys: the keys of a format file, by the part of it in which they stand. By these tables files are read, and
 * docs/format-keys.md is made of them (tests/core/test_format_keys.c). */
#ifndef TIPPLE_FORMAT_SCHEMA_SCHEMA_KEYS_H
#define TIPPLE_FORMAT_SCHEMA_SCHEMA_KEYS_H

#include <stddef.h>

typedef enum {
    KEYS_FILE,
    KEYS_JSON_FILE,
    KEYS_BSON_FILE,
    KEYS_RECORD,
    KEYS_FIELD,
    KEYS_SURPLUS,
    KEYS_MADE,
    KEYS_JSON_FIELD,
    KEYS_FIXED_RECORD,
    KEYS_FIXED_FIELD,
    KEYS_PART,
    KEYS_SECTION,
    KEYS_PARTS
} keys_part_t;

enum { KEYS_MOST = 20 };

typedef struct {
    const char *title;
    struct {
        const char *key, *is;
    } keys[KEYS_MOST]; /* up to a NULL */
} schema_keys_t;

extern const schema_keys_t schema_keys[KEYS_PARTS];

/* Returns how many. */
size_t schema_keys_of(keys_part_t part, const char *keys[KEYS_MOST]);

/* What to do instead of a key, or of a value of `make` or `on_bad_value`, that was removed; NULL: it was not. */
typedef enum { GONE_KEY, GONE_MADE, GONE_BAD_VALUE } gone_part_t;
const char *schema_gone(gone_part_t part, const char *word);

#endif
