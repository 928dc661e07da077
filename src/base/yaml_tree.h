/* yaml_tree: a YAML document as a small tree that remembers the line and column of each node, for messages. libyaml
 * reads it; anchors, aliases, tags and several documents are refused. A tree is read-only and may be shared by threads;
 * nodes live as long as their tree. */
#ifndef TIPPLE_BASE_YAML_TREE_H
#define TIPPLE_BASE_YAML_TREE_H

#include "base/err.h"

#include <stdint.h>

typedef enum { YAML_ITEM_SCALAR, YAML_ITEM_LIST, YAML_ITEM_MAP } yaml_item_kind_t;

typedef struct yaml_item yaml_item_t;
struct yaml_item {
    yaml_item_kind_t kind;
    int line, column; /* from 1 */
    const char *key;  /* if it is a value of a map: its key */
    int key_line, key_column;
    const char *text; /* of a scalar: NUL-terminated; may contain NUL */
    size_t length;
    bool quoted;               /* a scalar in quotes is always text */
    yaml_item_t *first, *next; /* children of a list or map, in order; the next sibling */
    size_t count;
};

typedef struct yaml_tree yaml_tree_t;

/* `name` is used in messages ("my.yaml"). A key that is there twice, or has no value, is an error. */
yaml_tree_t *yaml_tree_parse(const char *text, size_t length, const char *name, err_t *err);

/* The same of a text to which characters were added: added[i] is the place of one of them, counted in characters. Places
 * in messages are those of the text without them. */
yaml_tree_t *yaml_tree_parse_typed(const char *text, size_t length, const size_t *added, size_t count,
                                   const char *name, err_t *err);
void yaml_tree_destroy(yaml_tree_t *tree);
const yaml_item_t *yaml_tree_root(const yaml_tree_t *tree);

/* Zeroed memory that lives as long as the tree. NULL: out of memory, and err has the sentence. */
void *yaml_tree_keep(yaml_tree_t *tree, size_t bytes, err_t *err);

/* The value under a key, or NULL. */
const yaml_item_t *yaml_item_get(const yaml_item_t *map, const char *key);

/* Sets "NAME:LINE:COLUMN: sentence" with status 1; always false. */
bool yaml_tree_complain(const yaml_tree_t *tree, const yaml_item_t *at, err_t *err, const char *fmt, ...)
    __attribute__((format(printf, 4, 5)));

/* Refuses keys of a map that are not in the list, and names the closest known key. */
bool yaml_tree_only_keys(const yaml_tree_t *tree, const yaml_item_t *map, const char *const *keys,
                         size_t count, err_t *err);

/* Typed reads. A wrong type is an error that names its place. */
bool yaml_tree_int(const yaml_tree_t *tree, const yaml_item_t *node, int64_t least, int64_t most,
                   int64_t *out, err_t *err);
bool yaml_tree_bool(const yaml_tree_t *tree, const yaml_item_t *node, bool *out, err_t *err);

#endif
