/* suite_tables: a suite's own tables. Read-only afterwards; any thread. */
#ifndef TIPPLE_QUERY_SUITE_SUITE_TABLES_H
#define TIPPLE_QUERY_SUITE_SUITE_TABLES_H

#include "base/yaml_tree.h"

/* A table to print: one measured figure, arranged by two of the things in which measurements differ. */
typedef struct {
    const char *title, *rows, *columns, *show;
    const yaml_item_t *queries; /* only these; NULL: all */
    /* row: {column: text}, as somebody published them; NULL: nothing was */
    const yaml_item_t *published;
} suite_table_t;

/* queries: of the suite; the names in their `each` may be sides of the table. */
bool suite_read_table(const yaml_tree_t *tree, const yaml_item_t *map, const yaml_item_t *queries,
                      suite_table_t *table, err_t *err);

#endif
