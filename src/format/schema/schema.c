#include "base/numbers.h"
#include "builtin/builtin.h"
#include "format/schema/schema.h"
#include "format/schema/schema_read.h"
#include "format/values/values.h"

#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <xxhash.h>

void schema_destroy(schema_t *schema) {
    for (schema_t *next; schema; schema = next) {
        next = schema->wider;
        yaml_tree_destroy(schema->tree);
        free(schema->zone);
        free(schema);
    }
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
    for (int by_key = 0; by_key < 2; by_key++)
        for (size_t i = 0; i < schema_counted(schema); i++) {
            const field_t *field = schema_counted_field(schema, i);
            if (strcmp(by_key ? field->key : field->name, name) == 0 &&
                (i < schema->field_count || schema->made[i - schema->field_count].kind != MAKE_POINT))
                return field;
        }
    return NULL;
}

zone_t *schema_read_zone(const char *name, err_t *err) {
    const char *const given = getenv("TZDIR"), *const folder =
                                                   given && *given ? given : "/usr/share/zoneinfo";
    char path[PATH_MAX];
    opened_t file;
    zone_t *zone = NULL;
    if (!*name || *name == '/' || name[strlen(name) - 1] == '/' || strstr(name, "//") || strstr(name, "..")) {
        err_set(err, STATUS_USAGE, "'%s' is not the name of a time zone, such as Europe/Berlin", name);
        return NULL;
    }
    snprintf(path, sizeof path, "%s/%s", folder, name);
    if (builtin_read("time zone", path, &file, err)) {
        file.text[file.length] = '\0';
        if (!(zone = zone_read(file.text, file.length)))
            err_set(err, STATUS_USAGE,
                    "%s is not the file of a time zone, or is damaged, or counts leap seconds", path);
        free(file.text);
    }
    if (!zone)
        err_add(err, "; zones come with the package tzdata, and TZDIR may name another folder of them");
    return zone;
}

/* ---- paths of documents ---- */

bool schema_makes(const schema_t *schema, const char *path, suggestion_t *near) {
    const char *words[2 * (SCHEMA_MOST_FIELDS + SCHEMA_MOST_MADE)];
    size_t count = 0;
    near->text[0] = 0;
    if (schema_any_fields(schema))
        return true;
    for (size_t i = 0; i < schema_counted(schema); i++) {
        const field_t *field = schema_counted_field(schema, i);
        if (schema_leads_to(path, strlen(path), field->key))
            return true;
        words[count++] = field->key;
        words[count++] = field->name;
    }
    for (size_t i = 0; i < schema->section_count; i++)
        if (schema_leads_to(schema->sections[i].name, strlen(schema->sections[i].name), path) &&
            !section_several(&schema->sections[i]))
            return true;
    const char *word = suggest_word(path, words, count);
    const field_t *field = word ? schema_field(schema, word) : NULL;
    if (word)
        snprintf(near->text, sizeof near->text, "; did you mean '%s'?", field ? field->key : word);
    return false;
}

/* ---- values that do not fit ---- */

const char *const schema_bad_values[BAD_VALUES] = {
    [BAD_VALUE_TEXT] = "text", [BAD_VALUE_NULL] = "null", [BAD_VALUE_REJECT] = "reject"};

bool schema_set_bad_value(schema_t *schema, bad_value_t bad_value, err_t *err) {
    if (bad_value != BAD_VALUE_TEXT && schema->kind != RECORDS_DELIMITED &&
        !(schema->kind == RECORDS_JSON && schema->field_count))
        return err_set(err, STATUS_USAGE,
                       "--on-bad-value is for delimited records and JSON with types, and the format %s is "
                       "neither: its values have the types that they are written with, or are kept as text",
                       schema->name);
    schema->bad_value = bad_value;
    schema->bad_value_said = true;
    return schema_digest(schema, err);
}

/* ---- the digest ---- */

/* A value and its name, unless there is none: so a key that is new changes no earlier digest. */
static void digest_value(XXH3_state_t *state, const char *tag, const void *bytes, size_t length) {
    const uint64_t lengths[] = {strlen(tag), length};
    XXH3_128bits_update(state, lengths, sizeof lengths);
    XXH3_128bits_update(state, tag, lengths[0]);
    XXH3_128bits_update(state, bytes, length);
}

static void digest_part(XXH3_state_t *state, const schema_t *schema, uint32_t part, const char *from) {
    static const uint8_t zeros[64]; /* as many as the largest member has */
    for (const row_t *row = schema_rows; row->parts; row++) {
        const void *at = from + row->at;
        const schema_text_t *text = at;
        const char *const *string = at;
        if (!row->tag || !schema_row_is_in(row, part, schema->kind) ||
            (!row->key && row->types && !(row->types >> ((const field_t *)(const void *)from)->type & 1)))
            continue;
        if (row->items) {
            const size_t count = *(const size_t *)(const void *)(from + row->count_at);
            for (size_t i = 0; i < count; i++) {
                digest_value(state, row->tag, "", 0);
                digest_part(state, schema, row->items, *string + i * row->size);
            }
        } else if (row->form == FORM_TEXTS) {
            const texts_t *texts = at;
            for (size_t i = 0; i < texts->count; i++)
                digest_value(state, row->tag, texts->items[i].text, texts->items[i].length);
        } else if (row->form == FORM_TEXT && text->length) {
            digest_value(state, row->tag, text->text, text->length);
        } else if (row->form == FORM_STRING && *string) {
            digest_value(state, row->tag, *string, strlen(*string));
        } else if (row->form == FORM_BYTES && memcmp(at, zeros, row->size) != 0) {
            digest_value(state, row->tag, at, row->size);
        }
    }
    /* what rows do not hold */
    const field_t *field = (const void *)from;
    const make_t *made = (const void *)from;
    if (part == IN_ENTRY && field->is)
        digest_value(state, "is", field->is, field->width * sizeof *field->is);
    for (size_t i = 0; part == IN_MADE && i < made->from_count; i++) {
        digest_value(state, "from", made->from[i].fields, made->from[i].count * sizeof *made->from[i].fields);
        digest_value(state, "with", made->from[i].with.text, made->from[i].with.length);
    }
}

/* Of the format with its first fields alone, and this choice of bad_value. */
static bool digest_of(const schema_t *schema, size_t fields, bad_value_t bad_value, char digest[33],
                      err_t *err) {
    schema_t part = *schema;
    XXH3_state_t *state = XXH3_createState();
    XXH128_canonical_t canonical;
    if (!state)
        return err_memory(err, 576);
    part.field_count = fields;
    part.bad_value = bad_value;
    if (schema->usual_layouts)
        schema_usual_layouts(&part, schema->layouts[0].fields, fields);
    XXH3_128bits_reset(state);
    digest_part(state, schema, IN_FILE, (const char *)&part);
    digest_part(state, schema, IN_RECORD, (const char *)&part);
    digest_part(state, schema, IN_SURPLUS, (const char *)&part);
    for (size_t i = 0; i < part.layout_count; i++)
        digest_value(state, "layout", part.layouts[i].fields, part.layouts[i].count * sizeof(uint16_t));
    XXH128_canonicalFromHash(&canonical, XXH3_128bits_digest(state));
    XXH3_freeState(state);
    digest[hex_print(canonical.digest, sizeof canonical.digest, (uint8_t *)digest)] = '\0';
    return true;
}

bool schema_digest(schema_t *schema, err_t *err) {
    schema->bound = schema->bad_value;
    return digest_of(schema, schema->field_count, schema->bound, schema->digest, err);
}

/* ---- columns that come and go ---- */

const char *const schema_new_columns[NEW_COLUMNS] = {
    [NEW_COLUMNS_ADD] = "add", [NEW_COLUMNS_IGNORE] = "ignore", [NEW_COLUMNS_REFUSE] = "refuse"};

bool schema_is_named(const schema_t *schema) {
    return schema->kind == RECORDS_DELIMITED && schema->usual_layouts &&
           (schema->header == HEADER_YES || schema->header == HEADER_WORDS);
}

void schema_usual_layouts(schema_t *schema, const uint16_t *fields, size_t count) {
    size_t needed = count;
    while (needed > 1 && schema->fields[needed - 1].optional)
        needed--;
    schema->layout_count = 0;
    if (needed < count)
        schema->layouts[schema->layout_count++] = (layout_t){fields, needed};
    schema->layouts[schema->layout_count++] = (layout_t){fields, count};
}

/* Takes the digest, of the format with its first fields alone: the others are `added`. */
static void bind_to(schema_t *schema, size_t fields, bad_value_t bound, const char *digest) {
    for (size_t i = 0; i < schema->field_count; i++)
        schema->fields[i].added = i < fields ? NULL : schema->fields[i].added ? schema->fields[i].added : "";
    if (schema->usual_layouts)
        schema_usual_layouts(schema, schema->layouts[0].fields, fields);
    memcpy(schema->digest, digest, sizeof schema->digest);
    schema->bad_value = schema->bad_value_said ? schema->bad_value : bound;
    schema->bound = bound;
}

bool schema_bind(schema_t *schema, const char *digest) {
    char is[sizeof schema->digest];
    err_t ignored;
    for (size_t fields = schema->field_count;; fields--) {
        for (bad_value_t bound = BAD_VALUE_TEXT; bound < BAD_VALUES; bound++)
            if (digest_of(schema, fields, bound, is, &ignored) && strcmp(is, digest) == 0) {
                bind_to(schema, fields, bound, is);
                return true;
            }
        if (!schema_is_named(schema) || fields < 2 || !schema->fields[fields - 1].optional)
            return false;
    }
}

bool schema_digest_of(const schema_t *schema, size_t fields, char digest[33]) {
    err_t ignored;
    return digest_of(schema, schema_is_named(schema) ? fields : schema->field_count, schema->bound, digest,
                     &ignored);
}

bool schema_extend(schema_t *schema, schema_t *wider, err_t *err) {
    schema_t *last = wider;
    field_t *fields = schema_own(schema, wider->field_count * sizeof *fields, err);
    while (last->wider)
        last = last->wider;
    last->wider = schema->wider;
    schema->wider = wider;
    if (!fields)
        return false;
    memcpy(fields, wider->fields, wider->field_count * sizeof *fields);
    memcpy(fields, schema->fields, schema->field_count * sizeof *fields);
    schema->fields = fields;
    schema->field_count = wider->field_count;
    if (schema->usual_layouts)
        schema_usual_layouts(schema, wider->layouts[0].fields, schema->field_count);
    return true;
}

void schema_need(schema_t *schema, const char *path) {
    for (size_t i = 0; i < schema->field_count; i++)
        schema->fields[i].needed |= schema_keys_clash(path, schema->fields[i].key);
}

bool schema_leaves_out(const schema_t *schema, encoding_t encoding, const uint8_t *name, size_t length) {
    return texts_find(&schema->left_out, encoding, name, length, true) >= 0;
}

schema_t *format_open(const char *name, err_t *err) {
    opened_t opened;
    if (!builtin_open(builtin_formats, "format", name, &opened, err))
        return NULL;
    schema_t *schema = schema_parse(opened.text, opened.length, name, err);
    free(opened.text);
    return schema;
}
