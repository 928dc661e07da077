#include "format/schema/schema_read.h"

static const struct {
    const char *key, *what;
    record_kind_t kind;
} kinds[] = {{"json", "objects", RECORDS_JSON}, {"bson", "BSON documents", RECORDS_BSON}};

static const yaml_item_t *find(const yaml_item_t *record, size_t *kind) {
    const yaml_item_t *item = NULL;
    for (*kind = 0; *kind < COUNT(kinds) && !(item = yaml_item_get(record, kinds[*kind].key));)
        ++*kind;
    return item;
}

bool schema_is_whole(const yaml_item_t *record) {
    size_t kind;
    return find(record, &kind) != NULL;
}

/* Each record brings its own fields: there is nothing to describe. */
bool schema_read_whole(reader_t *reader, const yaml_item_t *root) {
    static const char *const keys[] = {"format", "about", "record"};
    schema_t *schema = reader->schema;
    size_t kind;
    const yaml_item_t *record = yaml_item_get(root, "record"), *item = find(record, &kind);
    bool yes;
    if (!yaml_tree_only_keys(reader->tree, root, keys, COUNT(keys), reader->err) ||
        !yaml_tree_only_keys(reader->tree, record, &kinds[kind].key, 1, reader->err) ||
        !yaml_tree_bool(reader->tree, item, &yes, reader->err))
        return false;
    if (!yes)
        return COMPLAIN(item, "'%s: yes' was expected; leave '%s' out where records are no %s",
                        kinds[kind].key, kinds[kind].key, kinds[kind].what);
    schema->kind = kinds[kind].kind;
    static const own_id_t kept = {.text = "_id", .kept = true}; /* who loads them may decide otherwise */
    schema->id = &kept;
    schema->header = HEADER_NO;
    schema->surplus_field = -1;
    schema->multiline = true;
    return true;
}
