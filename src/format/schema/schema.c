#include "format/schema/schema.h"
#include "base/numbers.h"
#include "format/schema/schema_read.h"
#include "format/values/hex.h"

#include <stdlib.h>
#include <string.h>
#include <xxhash.h>

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
        if (schema->made[i].kind >= MAKE_FILE)
            return true;
    return false;
}

schema_text_t schema_place(const make_t *made, const char *file, size_t length) {
    const char *const last = memrchr(file, '/', length), *const end = file + length, *next;
    if (made->kind == MAKE_FILE)
        return (schema_text_t){file, length};
    if (made->kind == MAKE_FOLDER)
        return (schema_text_t){last ? file : NULL, last ? (size_t)(last - file) : 0};
    for (const char *at = file; last && at < last; at = next + 1) {
        next = memchr(at, '/', (size_t)(end - at));
        const size_t name = made->text.length;
        if ((size_t)(next - at) > name && memcmp(at, made->text.text, name) == 0 && at[name] == '=')
            return (schema_text_t){at + name + 1, (size_t)(next - at) - name - 1};
    }
    return (schema_text_t){NULL, 0};
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
    const char *words[2 * SCHEMA_MOST_FIELDS + SCHEMA_MOST_MADE];
    size_t count = 0;
    for (size_t i = 0; i < schema_counted(schema); i++) {
        const field_t *field = schema_counted_field(schema, i);
        words[count++] = field->key;
        if (i < schema->field_count)
            words[count++] = field->name;
    }
    const char *near = suggest_word(path, words, count);
    const field_t *field = near ? schema_field(schema, near) : NULL;
    return field ? field->key : near;
}

bool schema_makes(const schema_t *schema, const char *path, const char **near) {
    *near = NULL;
    if (schema_any_fields(schema))
        return true;
    for (size_t i = 0; i < schema_counted(schema); i++)
        if (leads_to(path, schema_counted_field(schema, i)->key))
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

/* ---- values that do not fit ---- */

const char *const schema_bad_values[BAD_VALUES] = {
    [BAD_VALUE_TEXT] = "text", [BAD_VALUE_NULL] = "null", [BAD_VALUE_REJECT] = "reject"};

void schema_tell_bad(text_t *out, bad_value_t bad_value, bool stay, uint64_t count) {
    static const char *const became[BAD_VALUES] = {[BAD_VALUE_TEXT] = "kept as text",
                                                   [BAD_VALUE_NULL] = "stored as null",
                                                   [BAD_VALUE_REJECT] = "rejected with their records"};
    char text[UNITS_MAX];
    text_print(out, "%s: %s value%s not what %s field's type says",
               !bad_value && stay ? "kept as they are" : became[bad_value], units_count(text, count),
               count == 1 ? " that is" : "s that are", count == 1 ? "its" : "their");
}

const char *schema_refuses_bad_value(const schema_t *schema) {
    return schema->kind == RECORDS_DELIMITED || (schema->kind == RECORDS_JSON && schema->field_count) ? NULL
           : schema_any_fields(schema)
               ? "its values have the types that they are written with, so that none can be a bad one"
               : "records of fixed width keep what does not fit as text, so that each can be written again";
}

bool schema_set_bad_value(schema_t *schema, bad_value_t bad_value, err_t *err) {
    const char *refusal = schema_refuses_bad_value(schema);
    if (bad_value != BAD_VALUE_TEXT && refusal)
        return err_set(
            err, STATUS_USAGE,
            "--on-bad-value is for delimited records and JSON with types, and the format %s is neither: %s",
            schema->name, refusal);
    schema->bad_value = bad_value;
    return schema_digest(schema, err);
}

bool schema_digest_tells(const schema_t *schema, const char *digest, bad_value_t *then) {
    err_t ignored;
    for (bad_value_t value = BAD_VALUE_TEXT; value < BAD_VALUES; value++) {
        schema_t other = *schema;
        other.bad_value = value;
        if ((value && schema_refuses_bad_value(schema)) || !schema_digest(&other, &ignored) ||
            strcmp(other.digest, digest) != 0)
            continue;
        *then = value;
        return true;
    }
    return false;
}

/* ---- the digest ---- */

/* A value and its name, unless there is none: so a key that is new changes no earlier digest. */
static void digest_value(XXH3_state_t *state, const char *tag, const void *bytes, size_t length) {
    const uint64_t lengths[] = {strlen(tag), length};
    XXH3_128bits_update(state, lengths, sizeof lengths);
    XXH3_128bits_update(state, tag, lengths[0]);
    XXH3_128bits_update(state, bytes, length);
}

static bool is_zero(const uint8_t *bytes, size_t length) {
    while (length && !bytes[length - 1])
        length--;
    return !length;
}

/* What rows do not hold: the sets of `is`, and the items of `from`. */
static void digest_rest(XXH3_state_t *state, part_t part, const void *from) {
    const field_t *field = from;
    const make_t *made = from;
    if (part == PART_ENTRY && field->is)
        digest_value(state, "is", field->is, field->width * sizeof *field->is);
    for (size_t i = 0; part >= PART_MADE && part < PART_SURPLUS && i < made->from_count; i++) {
        digest_value(state, "from", made->from[i].fields, made->from[i].count * sizeof *made->from[i].fields);
        digest_value(state, "with", made->from[i].with.text, made->from[i].with.length);
    }
}

static void digest_part(XXH3_state_t *state, const schema_t *schema, part_t part, const char *from) {
    for (const row_t *row = schema_rows; row->parts; row++) {
        const void *at = from + row->at;
        if (!row->tag || !(row->parts >> part & 1) ||
            (!row->key && row->types && !(row->types >> ((const field_t *)(const void *)from)->type & 1)))
            continue;
        if (row->form == FORM_TEXTS) {
            const texts_t *texts = at;
            for (size_t i = 0; i < texts->count; i++)
                digest_value(state, row->tag, texts->items[i].text, texts->items[i].length);
        } else if (row->items) {
            const part_t items = schema_part(schema, row->items);
            const char *const *list = at;
            const size_t count = *(const size_t *)(const void *)(from + row->count_at);
            for (size_t i = 0; i < count; i++) {
                digest_value(state, row->tag, "", 0);
                digest_part(state, schema, items, *list + i * schema_parts[items].size);
            }
        } else {
            const char *const *string = at;
            const schema_text_t text = row->form == FORM_TEXT ? *(const schema_text_t *)at
                                       : row->form == FORM_BYTES
                                           ? (schema_text_t){at, is_zero(at, row->size) ? 0 : row->size}
                                           : (schema_text_t){*string, *string ? strlen(*string) : 0};
            if (text.length)
                digest_value(state, row->tag, text.text, text.length);
        }
    }
    digest_rest(state, part, from);
}

bool schema_digest(schema_t *schema, err_t *err) {
    schema_t same = *schema;
    XXH3_state_t *state = XXH3_createState();
    XXH128_canonical_t canonical;
    if (!state)
        return err_memory(err, 576);
    same.header =
        same.header == HEADER_REFUSE ? HEADER_NO : same.header; /* what is refused makes no document */
    XXH3_128bits_reset(state);
    digest_part(state, &same, schema_part(schema, PART_FILE), (const char *)&same);
    digest_part(state, &same, schema_part(schema, PART_RECORD), (const char *)&same);
    digest_part(state, &same, PART_SURPLUS, (const char *)&same);
    for (size_t i = 0; i < schema->layout_count; i++)
        digest_value(state, "layout", schema->layouts[i].fields, schema->layouts[i].count * sizeof(uint16_t));
    XXH128_canonicalFromHash(&canonical, XXH3_128bits_digest(state));
    XXH3_freeState(state);
    hex_print(canonical.digest, sizeof canonical.digest, (uint8_t *)schema->digest);
    return true;
}
