#include "base/grow.h"
#include "query/suite/suite_inner.h"

#include <stdlib.h>
#include <string.h>

static bool is_each(const suite_t *suite, const char *name) {
    for (size_t i = 0; i < suite->query_count; i++)
        if (suite->queries[i].each && yaml_item_get(suite->queries[i].each, name))
            return true;
    return false;
}

/* ROW: {COLUMN: text} */
static bool check_published(const suite_t *suite, const yaml_item_t *rows, err_t *err) {
    if (rows && !suite_want(suite, rows, YAML_ITEM_MAP, "ROW: {COLUMN: FIGURE}", err))
        return false;
    for (const yaml_item_t *row = rows ? rows->first : NULL; row; row = row->next) {
        if (!suite_want(suite, row, YAML_ITEM_MAP, "{COLUMN: FIGURE}", err))
            return false;
        for (const yaml_item_t *figure = row->first; figure; figure = figure->next)
            if (figure->kind != YAML_ITEM_SCALAR || !figure->length)
                return COMPLAIN(figure, "a published figure is a text, such as 0.3 σ 0.03");
    }
    return true;
}

static bool read_table(const suite_t *suite, const yaml_item_t *map, suite_table_t *table, err_t *err) {
    static const char *const keys[] = {"title", "rows", "columns", "show", "queries", "published"};
    static const char *const sides[] = {"query", "clients", "parallel", "reads"};
    static const char *const figures[] = {"docs_per_ms", "ops_per_second", "mean_ms", "p50_ms",
                                          "p95_ms",      "p99_ms",         "min_ms",  "max_ms"};
    if (!suite_want(suite, map, YAML_ITEM_MAP, "a table, which is a map,", err) ||
        !yaml_tree_only_keys(suite->tree, map, keys, COUNT(keys), err) ||
        !suite_read_text(suite, map, "title", &table->title, err) ||
        !suite_read_text(suite, map, "rows", &table->rows, err) ||
        !suite_read_text(suite, map, "columns", &table->columns, err) ||
        !suite_read_text(suite, map, "show", &table->show, err))
        return false;
    if (!table->title || !table->rows || !table->columns || !table->show)
        return COMPLAIN(map, "a table needs 'title', 'rows', 'columns' and 'show'");
    const char *const chosen[] = {table->rows, table->columns};
    for (size_t i = 0; i < COUNT(chosen); i++) {
        bool known = is_each(suite, chosen[i]);
        for (size_t k = 0; k < COUNT(sides); k++)
            known = known || strcmp(sides[k], chosen[i]) == 0;
        if (!known)
            return COMPLAIN(yaml_item_get(map, i ? "columns" : "rows"),
                            "'%s' is neither query, clients, parallel or reads, nor a name of an 'each'",
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
    return suite_list_of_texts(suite, table->queries, "queries", err) &&
           check_published(suite, table->published, err);
}

bool suite_read_tables(suite_t *suite, const yaml_item_t *list, err_t *err) {
    if (!list)
        return true;
    if (!suite_want(suite, list, YAML_ITEM_LIST, "a list of tables", err))
        return false;
    if (!(suite->tables = calloc(list->count + 1, sizeof *suite->tables)))
        return err_memory(err, list->count * sizeof *suite->tables);
    for (const yaml_item_t *item = list->first; item; item = item->next)
        if (!read_table(suite, item, &suite->tables[suite->table_count++], err))
            return false;
    return true;
}
