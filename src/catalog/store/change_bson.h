/* change_bson: changes of entries as statements of an update command. A statement costs the server more than what it
 * changes; so changes that are alike go together. */
#ifndef TIPPLE_CATALOG_STORE_CHANGE_BSON_H
#define TIPPLE_CATALOG_STORE_CHANGE_BSON_H

#include "catalog/store/store.h"

#include <bson/bson.h>

/* One statement {q, u, multi} for the first of these changes and those behind it that are alike; *to is empty
 * before. Returns for how many of them, at least one. */
size_t change_bson_statement(const entry_change_t *changes, size_t count, bson_t *to);

#endif
