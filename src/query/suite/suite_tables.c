#include "query/suite/suite_tables.h"
#include "base/grow.h"
#include "query/suite/suite_read.h"

#include <stdlib.h>
#include <string.h>

#define COMPLAIN(at, ...) yaml_tree_complain(tree, at, err, __VA_ARGS__)

static bool is_each(const yaml_item_t *queries, const char *name) {
    for (const yaml_item_t *query = queries->first; query; query = query->next) {
        const yaml_item_t *each = yaml_item_get(query, "each");
        if (each && yaml_item_get(each, name))
            return true;
    }
    return false;
}

/* ROW: {COLUMN: text} */
static bool check_published(const yaml_tree_t *tree, const yaml_item_t *rows, err_t *err) {
    if (rows && !suite_want(tree, rows, YAML_ITEM_MAP, "ROW: {COLUMN: FIGURE}", err))
        return false;
    for (const yaml_item_t *row = rows ? rows->first : NULL; row; row = row->next) {
        if (!suite_want(tree, row, YAML_ITEM_MAP, "{COLUMN: FIGURE}", err))
            return false;
        for (const yaml_item_t *figure = row->first; figure; figure = figure->next)
            if (figure->kind != YAML_ITEM_SCALAR || !figure->length)
                return COMPLAIN(figure, "a published figure is a text, such as 0.3 σ 0.03");
    }
    return true;
}

bool suite_read_table(const yaml_tree_t *tree, const yaml_item_t *map, const yaml_item_t *queries,
                      suite_table_t *table, err_t *err) {
    static const char *const keys[] = {"title", "rows", "columns", "show", "queries", "published"};
    static const char *const sides[] = {"query", "clients", "reads"};
    static const char *const figures[] = {"docs_per_ms", "ops_per_second", "mean_ms", "p50_ms",
                                          "p95_ms",      "p99_ms",         "min_ms",  "max_ms"};
    if (!suite_want(tree, map, YAML_ITEM_MAP, "a table, which is a map,", err) ||
        !yaml_tree_only_keys(tree, map, keys, COUNT(keys), err) ||
        !suite_read_text(tree, map, "title", &table->title, err) ||
        !suite_read_text(tree, map, "rows", &table->rows, err) ||
        !suite_read_text(tree, map, "columns", &table->columns, err) ||
        !suite_read_text(tree, map, "show", &table->show, err))
        return false;
    if (!table->title || !table->rows || !table->columns || !table->show)
        return COMPLAIN(map, "a table needs 'title', 'rows', 'columns' and 'show'");
    const char *const chosen[] = {table->rows, table->columns};
    for (size_t i = 0; i < COUNT(chosen); i++) {
        bool known = is_each(queries, chosen[i]);
        for (size_t k = 0; k < COUNT(sides); k++)
            known = known || strcmp(sides[k], chosen[i]) == 0;
        if (!known)
            return COMPLAIN(yaml_item_get(map, i ? "columns" : "rows"),
                            "'%s' is neither query, clients or reads, nor a name of an 'each'",
                            chosen[i]);
    }
    bool known = false;
    for (size_t i = 0; i < COUNT(figures); i++)
        known = known || strcmp(figures[i], table->show) == 0;
    if (!known)
        return COMPLAIN(yaml_item_get(map, "show"),
                        "'%s' is not a figure: docs_per_ms, ops_per_second, mean_ms, p50_ms, "
                        "p95_ms, p99_ms, min_ms or max_ms",
                        table->show);
    table->queries = yaml_item_get(map, "queries");
    table->published = yaml_item_get(map, "published");
    return suite_list_of_texts(tree, table->queries, "queries", err) &&
           check_published(tree, table->published, err);
}
