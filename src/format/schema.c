#include "format/schema.h"
#include "base/nearest.h"
#include "builtin/builtin.h"
#include "format/schema_digest.h"
#include "format/schema_read.h"
#include "format/schema_short.h"

#include <stdlib.h>
#include <string.h>

typedef struct owned {
    struct owned *next;
    char bytes[];
} owned_t;

void *schema_keep(reader_t *reader, size_t bytes) {
    owned_t *owned = calloc(1, sizeof *owned + bytes);
    if (!owned) {
        err_memory(reader->err, bytes);
        return NULL;
    }
    owned->next = reader->schema->owned;
    reader->schema->owned = owned;
    return owned->bytes;
}

static bool read_body(reader_t *reader, const ynode_t *root) {
    const ynode_t *record = ynode_get(root, "record"), *fields = ynode_get(root, "fields");
    if (!record || !fields)
        return COMPLAIN(root, "'%s' is missing; a format file has format, record and fields",
                        !record ? "record" : "fields");
    if (!schema_want(reader, record, YNODE_MAP, "a map such as {columns: [\",\"], header: yes}"))
        return false;
    return (ynode_get(record, "fixed") ? schema_read_fixed(reader, root)
                                       : schema_read_columns(reader, root)) &&
           schema_digest(reader->schema, reader->err);
}

/* A format that is a built-in one but for its keys. */
static bool read_like(reader_t *reader, const ynode_t *like, const ynode_t *keys) {
    schema_t *schema = reader->schema;
    if (!schema_want(reader, like, YNODE_SCALAR, "a built-in format's name"))
        return false;
    const bool shortened = keys && keys->kind == YNODE_SCALAR && strcmp(keys->text, "short") == 0;
    if (keys && !shortened && (keys->kind != YNODE_SCALAR || strcmp(keys->text, "names") != 0))
        return COMPLAIN(keys, "'names' (each field's name is its key) or 'short' (a, b, ...) was expected");
    const char *names[64];
    size_t count = 0;
    for (const builtin_t *builtin = builtin_formats; builtin->name && count < 64; builtin++) {
        if (strstr(builtin->text, "\nlike:")) {
            if (strcmp(builtin->name, like->text) == 0)
                return COMPLAIN(like, "'%s' is itself like another format; name that one", like->text);
            continue;
        }
        names[count++] = builtin->name;
        if (strcmp(builtin->name, like->text) != 0)
            continue;
        if (!(schema->like = ytree_parse(builtin->text, builtin->length, builtin->name, reader->err)))
            return false;
        reader->tree = schema->like;
        reader->keys_are_names = keys && !shortened;
        return read_body(reader, ytree_root(schema->like)) &&
               (!shortened || schema_shorten(schema, reader->err));
    }
    const char *near = nearest_word(like->text, names, count);
    return COMPLAIN(like, "there is no built-in format '%s' to be like%s%s%s", like->text,
                    near ? "; did you mean '" : "", near ? near : "", near ? "'?" : "");
}

static bool read_schema(reader_t *reader) {
    static const char *const own[] = {"format", "about",    "record", "surplus", "fields",  "layouts",
                                      "like",   "document", "make",   "tail",    "sections"};
    static const char *const likes[] = {"format", "about", "like", "keys"};
    schema_t *schema = reader->schema;
    const ynode_t *root = ytree_root(schema->tree);
    if (!schema_want(reader, root, YNODE_MAP, "a format file starts with 'format: NAME'; a map"))
        return false;
    const ynode_t *format = ynode_get(root, "format"), *about = ynode_get(root, "about"),
                  *like = ynode_get(root, "like");
    if (!ytree_only_keys(reader->tree, root, like ? likes : own, like ? COUNT(likes) : COUNT(own),
                         reader->err))
        return false;
    if (!format)
        return COMPLAIN(root, "'format' is missing; a format file has format, record and fields");
    if (!schema_name(reader, format, &schema->name) ||
        (about && !schema_want(reader, about, YNODE_SCALAR, "one line")))
        return false;
    schema->about = about ? about->text : "";
    return like ? read_like(reader, like, ynode_get(root, "keys")) : read_body(reader, root);
}

schema_t *schema_parse(const char *text, size_t length, const char *name, err_t *err) {
    schema_t *schema = calloc(1, sizeof *schema);
    if (!schema) {
        err_memory(err, sizeof *schema);
        return NULL;
    }
    reader_t reader = {.schema = schema, .err = err};
    reader.tree = schema->tree = ytree_parse(text, length, name, err);
    if (!schema->tree || !read_schema(&reader)) {
        schema_destroy(schema);
        return NULL;
    }
    return schema;
}

void schema_destroy(schema_t *schema) {
    if (!schema)
        return;
    for (owned_t *owned = schema->owned; owned;) {
        owned_t *next = owned->next;
        free(owned);
        owned = next;
    }
    ytree_destroy(schema->tree);
    ytree_destroy(schema->like);
    free(schema);
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

/* The key itself, or a subdocument on the way to it. */
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

/* The name of a field stands for its key. */
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
    const char *near = nearest_word(path, words, count);
    for (size_t i = 0; near && i < count; i++)
        if (words[i] == near)
            return keys[i];
    return NULL;
}

bool schema_makes(const schema_t *schema, const char *path, const char **near) {
    *near = NULL;
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
