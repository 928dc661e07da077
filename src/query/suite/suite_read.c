#include "query/suite/suite_read.h"

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
