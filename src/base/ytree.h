/* ytree: a YAML document as a small tree that remembers where each node stood, for messages with line and
 * column. Read by libyaml; anchors, aliases, tags and several documents are refused. A tree is read-only and
 * may be shared by threads; nodes live as long as their tree. */
#ifndef TIPPLE_BASE_YTREE_H
#define TIPPLE_BASE_YTREE_H

#include "base/err.h"

#include <stdint.h>

typedef enum { YNODE_SCALAR, YNODE_LIST, YNODE_MAP } ynode_kind_t;

typedef struct ynode ynode_t;
struct ynode {
    ynode_kind_t kind;
    int line, column; /* from 1 */
    const char *key;  /* when it is a map's value: its key */
    int key_line, key_column;
    const char *text; /* a scalar's, NUL-terminated; may hold NUL inside */
    size_t length;
    bool quoted;           /* a scalar in quotes is text, whatever it looks like */
    ynode_t *first, *next; /* children of a list or map, in order; the next sibling */
    size_t count;
};

typedef struct ytree ytree_t;

/* name is used in messages ("my.yaml"). Duplicate keys in a map are an error. */
ytree_t *ytree_parse(const char *text, size_t length, const char *name, err_t *err);
void ytree_destroy(ytree_t *tree);
const ynode_t *ytree_root(const ytree_t *tree);
const char *ytree_name(const ytree_t *tree);

/* The value under a key, or NULL. */
const ynode_t *ynode_get(const ynode_t *map, const char *key);

/* "NAME:LINE:COLUMN: sentence", status 1; always false. */
bool ytree_complain(const ytree_t *tree, const ynode_t *at, err_t *err, const char *fmt, ...)
    __attribute__((format(printf, 4, 5)));

/* Refuses keys of a map that are not in the list, naming the nearest one. */
bool ytree_only_keys(const ytree_t *tree, const ynode_t *map, const char *const *keys, size_t count,
                     err_t *err);

/* Typed reads; a wrong type is complained of with its place. */
bool ytree_int(const ytree_t *tree, const ynode_t *node, int64_t least, int64_t most, int64_t *out,
               err_t *err);
bool ytree_bool(const ytree_t *tree, const ynode_t *node, bool *out, err_t *err);

#endif
