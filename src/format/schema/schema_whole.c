#include "format/schema/schema_read.h"

/* Each object brings its own fields: there is nothing to describe. */
bool schema_read_json(reader_t *reader, const yaml_item_t *root) {
    static const char *const keys[] = {"format", "about", "record"}, *const record_keys[] = {"json"};
    schema_t *schema = reader->schema;
    const yaml_item_t *record = yaml_item_get(root, "record"), *json = yaml_item_get(record, "json");
    bool yes;
    if (!yaml_tree_only_keys(reader->tree, root, keys, COUNT(keys), reader->err) ||
        !yaml_tree_only_keys(reader->tree, record, record_keys, COUNT(record_keys), reader->err) ||
        !yaml_tree_bool(reader->tree, json, &yes, reader->err))
        return false;
    if (!yes)
        return COMPLAIN(json, "'json: yes' was expected; leave 'json' out where records are no objects");
    static const own_id_t kept = {.text = "_id", .kept = true}; /* who loads them may decide otherwise */
    schema->id = &kept;
    schema->kind = RECORDS_JSON;
    schema->header = HEADER_NO;
    schema->surplus_field = -1;
    schema->multiline = true;
    return true;
}
