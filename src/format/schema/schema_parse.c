#include "format/schema/schema_parse.h"
#include "format/schema/schema_digest.h"
#include "format/schema/schema_read.h"

#include <stdlib.h>
#include <string.h>

static bool read_body(reader_t *reader, const yaml_item_t *root) {
    const yaml_item_t *record = yaml_item_get(root, "record"), *fields = yaml_item_get(root, "fields");
    if (!record && reader->mistake_count)
        return true; /* it may have another name */
    if (!record)
        return COMPLAIN(root, "'record' is missing; a format file has format, record and fields");
    if (!schema_want(reader, record, YAML_ITEM_MAP, "a map such as {delimiter: [\",\"], header: yes}"))
        return false;
    const bool whole = schema_is_whole(record);
    if (!fields && !whole && reader->mistake_count)
        return true;
    if (!fields && !whole)
        return COMPLAIN(root, "'fields' is missing; a format file has format, record and fields");
    return TRY(whole                            ? schema_read_whole(reader, root)
               : yaml_item_get(record, "fixed") ? schema_read_fixed(reader, root)
                                                : schema_read_columns(reader, root)) &&
           TRY(schema_read_bad_value(reader, root)) &&
           (reader->mistake_count || schema_digest(reader->schema, reader->err));
}

static bool read_schema(reader_t *reader) {
    schema_t *schema = reader->schema;
    const yaml_item_t *root = yaml_tree_root(schema->tree);
    if (!schema_want(reader, root, YAML_ITEM_MAP, "a format file starts with 'format: NAME'; a map"))
        return false;
    const yaml_item_t *format = yaml_item_get(root, "format"), *about = yaml_item_get(root, "about");
    if (!schema_only_keys(reader, root, KEYS_FILE))
        return false;
    if (!format && !reader->mistake_count)
        return COMPLAIN(root, "'format' is missing; a format file has format, record and fields");
    if ((format && !TRY(schema_name(reader, format, &schema->name))) ||
        (about && !TRY(schema_want(reader, about, YAML_ITEM_SCALAR, "one line"))))
        return false;
    schema->about = about ? about->text : "";
    return read_body(reader, root);
}

schema_t *schema_parse(const char *text, size_t length, const char *name, err_t *err) {
    schema_t *schema = calloc(1, sizeof *schema);
    if (!schema) {
        err_memory(err, sizeof *schema);
        return NULL;
    }
    reader_t reader = {.schema = schema, .err = err};
    reader.tree = schema->tree = yaml_tree_parse(text, length, name, err);
    const bool ok = schema->tree && read_schema(&reader);
    if (ok && !reader.mistake_count)
        return schema;
    if (reader.mistake_count && (ok || schema_go_on(&reader)))
        schema_tell_mistakes(&reader);
    schema_destroy(schema);
    return NULL;
}

schema_t *schema_parse_guessed(const char *text, const char *name, err_t *err) {
    schema_t *schema = schema_parse(text, strlen(text), name, err);
    if (schema)
        schema->guessed = true;
    return schema;
}
