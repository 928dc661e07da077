#include "query/suite/suite_read.h"
#include "base/grow.h"
#include "query/suite/value.h"
#include "server/bson_read.h"
#include "server/collection.h"

#include <string.h>

#define COMPLAIN(at, ...) yaml_tree_complain(tree, at, err, __VA_ARGS__)

bool suite_want(const yaml_tree_t *tree, const yaml_item_t *node, yaml_item_kind_t kind, const char *expected,
                err_t *err) {
    return (node && node->kind == kind) || COMPLAIN(node, "%s was expected here", expected);
}

bool suite_read_text(const yaml_tree_t *tree, const yaml_item_t *map, const char *key, const char **text,
                     err_t *err) {
    const yaml_item_t *node = yaml_item_get(map, key);
    if (!node)
        return true;
    if (node->kind != YAML_ITEM_SCALAR || !node->length || strlen(node->text) != node->length)
        return COMPLAIN(node, "'%s' is a text", key);
    *text = node->text;
    return true;
}

bool suite_list_of_texts(const yaml_tree_t *tree, const yaml_item_t *node, const char *key, err_t *err) {
    if (node && !suite_want(tree, node, YAML_ITEM_LIST, "a list of names", err))
        return false;
    for (const yaml_item_t *item = node ? node->first : NULL; item; item = item->next)
        if (item->kind != YAML_ITEM_SCALAR || !item->length)
            return COMPLAIN(item, "'%s' is a list of names", key);
    return true;
}

/* ---- an index ---- */

/* An index may restrict later writes, but must never change what is there: with expireAfterSeconds a server removes
 * documents. */
static bool check_index(const yaml_tree_t *tree, const yaml_item_t *index, err_t *err) {
    static const char *const keys[] = {"key",
                                       "name",
                                       "unique",
                                       "sparse",
                                       "hidden",
                                       "partialFilterExpression",
                                       "collation",
                                       "wildcardProjection",
                                       "weights",
                                       "default_language",
                                       "language_override",
                                       "textIndexVersion",
                                       "2dsphereIndexVersion",
                                       "bits",
                                       "min",
                                       "max"};
    const yaml_item_t *key = index->kind == YAML_ITEM_MAP ? yaml_item_get(index, "key") : NULL;
    if (!key || key->kind != YAML_ITEM_MAP || !key->count)
        return COMPLAIN(index, "an index is written like {key: {ts: 1, st: 1}}");
    const yaml_item_t *expiry = yaml_item_get(index, "expireAfterSeconds");
    return expiry
               ? COMPLAIN(expiry, "the server removes documents by such an index, and a timed query does not "
                                  "write; leave expireAfterSeconds out")
               : yaml_tree_only_keys(tree, index, keys, COUNT(keys), err);
}

static bool is_flag(const char *key) {
    return strcmp(key, "unique") == 0 || strcmp(key, "sparse") == 0 || strcmp(key, "hidden") == 0;
}

static bool append_flag(const yaml_tree_t *tree, const yaml_item_t *item, bson_t *index, err_t *err) {
    bool flag;
    return yaml_tree_bool(tree, item, &flag, err) && bson_append_bool(index, item->key, -1, flag);
}

/* A server takes longer names than drivers and older servers can list. */
static bool has_name(const yaml_tree_t *tree, const yaml_item_t *node, const bson_t *index, err_t *err) {
    char name[COLLECTION_INDEX_NAME];
    bson_t key;
    const yaml_item_t *own = yaml_item_get(node, "name");
    if (own)
        return *bson_read_text(index, "name") || COMPLAIN(own, "'name' is a text");
    return (bson_read_field(index, "key", &key) && collection_name_index(&key, name) < sizeof name) ||
           COMPLAIN(node,
                    "by its keys this index would have a name of more than %zu bytes: give it a shorter one, "
                    "{key: ..., name: NAME}",
                    sizeof name - 1);
}

bool suite_read_index(const yaml_tree_t *tree, const yaml_item_t *node, bson_t *index, err_t *err) {
    bson_init(index);
    bool ok = check_index(tree, node, err);
    for (const yaml_item_t *item = ok ? node->first : NULL; ok && item; item = item->next)
        ok = is_flag(item->key) ? append_flag(tree, item, index, err)
                                : value_append(index, item->key, item, tree, NULL, err);
    return ok && has_name(tree, node, index, err);
}
