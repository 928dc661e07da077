/* change_bson: changes of entries as statements of an update command. A statement costs the server more than the change
 * itself, so equal changes share one. */
#ifndef TIPPLE_CATALOG_STORE_CHANGE_BSON_H
#define TIPPLE_CATALOG_STORE_CHANGE_BSON_H

#include "catalog/store/store.h"

#include <bson/bson.h>

/* One statement {q, u, multi} for the first of these changes and for those after it that are alike. *to must be empty.
 * Returns how many changes the statement makes, at least one. */
size_t change_bson_statement(const entry_change_t *changes, size_t count, bson_t *to);

#endif
