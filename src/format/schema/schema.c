#include "format/schema/schema.h"
#include "base/text.h"

#include <stdlib.h>
#include <string.h>

typedef struct owned {
    struct owned *next;
    char bytes[];
} owned_t;

void *schema_own(schema_t *schema, size_t bytes, err_t *err) {
    owned_t *owned = calloc(1, sizeof *owned + bytes);
    if (!owned) {
        err_memory(err, bytes);
        return NULL;
    }
    owned->next = schema->owned;
    schema->owned = owned;
    return owned->bytes;
}

void schema_destroy(schema_t *schema) {
    if (!schema)
        return;
    for (owned_t *owned = schema->owned; owned;) {
        owned_t *next = owned->next;
        free(owned);
        owned = next;
    }
    yaml_tree_destroy(schema->tree);
    free(schema);
}

bool schema_tells_place(const schema_t *schema) {
    for (size_t i = 0; i < schema->made_count; i++)
        if (schema->made[i].kind == MAKE_FILE)
            return true;
    return false;
}

const field_t *schema_field(const schema_t *schema, const char *name) {
    for (size_t i = 0; i < schema->made_count; i++)
        if (schema->made[i].kind != MAKE_POINT && strcmp(schema->made[i].field.name, name) == 0)
            return &schema->made[i].field;
    for (size_t i = 0; i < schema->field_count; i++)
        if (strcmp(schema->fields[i].name, name) == 0)
            return &schema->fields[i];
    for (size_t i = 0; i < schema->field_count; i++)
        if (strcmp(schema->fields[i].key, name) == 0)
            return &schema->fields[i];
    return NULL;
}

/* ---- paths of documents ---- */

/* Is it the key itself, or a subdocument that contains it? */
static bool leads_to(const char *path, const char *key) {
    const size_t length = strlen(path);
    return strncmp(path, key, length) == 0 && (!key[length] || key[length] == '.');
}

static bool is_of_section(const section_t *section, const char *path) {
    const size_t length = strlen(section->name);
    if (strncmp(path, section->name, length) != 0 || section_several(section))
        return false;
    for (size_t i = 0; path[length] == '.' && i < section->field_count; i++)
        if (leads_to(path + length + 1, section->fields[i].key))
            return true;
    return !path[length];
}

/* The closest key; a field may also be meant by its name. */
static const char *nearest_key(const schema_t *schema, const char *path) {
    const char *words[2 * SCHEMA_MOST_FIELDS + SCHEMA_MOST_MADE] = {NULL}, *keys[COUNT(words)];
    size_t count = 0;
    for (size_t i = 0; i < schema->field_count; i++) {
        keys[count] = keys[count + 1] = words[count] = schema->fields[i].key;
        words[count + 1] = schema->fields[i].name;
        count += 2;
    }
    for (size_t i = 0; i < schema->made_count; i++, count++)
        words[count] = keys[count] = schema->made[i].field.key;
    const char *near = suggest_word(path, words, count);
    for (size_t i = 0; near && i < count; i++)
        if (words[i] == near)
            return keys[i];
    return NULL;
}

bool schema_makes(const schema_t *schema, const char *path, const char **near) {
    *near = NULL;
    if (schema_any_fields(schema))
        return true;
    for (size_t i = 0; i < schema->made_count; i++)
        if (strcmp(schema->made[i].field.key, path) == 0)
            return true;
    for (size_t i = 0; i < schema->field_count; i++)
        if (leads_to(path, schema->fields[i].key))
            return true;
    for (size_t i = 0; i < schema->section_count; i++)
        if (is_of_section(&schema->sections[i], path))
            return true;
    *near = nearest_key(schema, path);
    return false;
}

int words_find(const texts_t *words, encoding_t encoding, const uint8_t *text, size_t length) {
    for (size_t i = 0; i < words->count; i++) {
        const schema_text_t *word = &words->items[i];
        if ((word->length == length && memcmp(word->text, text, length) == 0 &&
             (encoding_keeps_utf8(encoding) || !length)) ||
            (encoding && length &&
             encoding_begins(encoding, (const uint8_t *)word->text, word->length, text, length, false) ==
                 length))
            return (int)i;
    }
    return -1;
}
