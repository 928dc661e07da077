#include "query/suite/suite_run.h"
#include "base/grow.h"
#include "base/numbers/units.h"
#include "query/suite/suite_read.h"

#include <string.h>

#define COMPLAIN(at, ...) yaml_tree_complain(tree, at, err, __VA_ARGS__)

const char *const suite_read_modes[] = {"primary", "primaryPreferred", "secondary", "secondaryPreferred",
                                        "nearest"};
const size_t suite_read_mode_count = COUNT(suite_read_modes);

static bool read_count(const yaml_tree_t *tree, const yaml_item_t *map, const char *key, int64_t least,
                       uint32_t *count, err_t *err) {
    const yaml_item_t *node = yaml_item_get(map, key);
    int64_t number;
    if (!node)
        return true;
    if (!yaml_tree_int(tree, node, least, 1000000, &number, err))
        return false;
    *count = (uint32_t)number;
    return true;
}

static bool read_duration(const yaml_tree_t *tree, const yaml_item_t *node, int64_t *duration_ns,
                          err_t *err) {
    return !node ||
           (node->kind == YAML_ITEM_SCALAR && units_parse_time(node->text, duration_ns) &&
            *duration_ns > 0) ||
           COMPLAIN(node, "'duration' is a time, such as 30s");
}

/* A list, not longer than there is room for choices. */
static bool is_choices(const yaml_tree_t *tree, const yaml_item_t *node, const char *example, err_t *err) {
    return suite_want(tree, node, YAML_ITEM_LIST, example, err) &&
           ((node->count && node->count <= SUITE_MOST_CHOICES) ||
            COMPLAIN(node, "from 1 to %d of them", SUITE_MOST_CHOICES));
}

static bool read_clients(const yaml_tree_t *tree, suite_run_t *run, const yaml_item_t *node, err_t *err) {
    int64_t number;
    if (!node)
        return true;
    if (!is_choices(tree, node, "a list of numbers", err))
        return false;
    for (const yaml_item_t *item = node->first; item; item = item->next) {
        if (!yaml_tree_int(tree, item, 1, SUITE_MOST_CLIENTS, &number, err))
            return false;
        for (size_t i = 0; i < run->client_choices; i++)
            if (run->clients[i] == number)
                return COMPLAIN(item, "%s is named twice", item->text);
        run->clients[run->client_choices++] = (uint32_t)number;
    }
    return true;
}

static const char *mode_named(const yaml_item_t *item) {
    for (size_t i = 0; item->kind == YAML_ITEM_SCALAR && i < suite_read_mode_count; i++)
        if (strcmp(suite_read_modes[i], item->text) == 0)
            return suite_read_modes[i];
    return NULL;
}

static bool read_reads(const yaml_tree_t *tree, suite_run_t *run, const yaml_item_t *node, err_t *err) {
    if (!node)
        return true;
    if (!is_choices(tree, node, "a list such as [primary, secondary]", err))
        return false;
    for (const yaml_item_t *item = node->first; item; item = item->next) {
        const char *mode = mode_named(item);
        if (!mode)
            return COMPLAIN(item,
                            "a read preference was expected here: primary, primaryPreferred, secondary, "
                            "secondaryPreferred or nearest");
        for (size_t i = 0; i < run->reads_choices; i++)
            if (run->reads[i] == mode)
                return COMPLAIN(item, "%s is named twice", mode);
        run->reads[run->reads_choices++] = mode;
    }
    return true;
}

bool suite_read_run(const yaml_tree_t *tree, const yaml_item_t *map, suite_run_t *run, err_t *err) {
    static const char *const keys[] = {"repeats", "warmup", "duration", "clients", "readPreference"};
    *run = (suite_run_t){.warmups = SUITE_UNSAID};
    return !map || (suite_want(tree, map, YAML_ITEM_MAP, "a map such as {repeats: 10}", err) &&
                    yaml_tree_only_keys(tree, map, keys, COUNT(keys), err) &&
                    read_count(tree, map, "repeats", 1, &run->repeats, err) &&
                    read_count(tree, map, "warmup", 0, &run->warmups, err) &&
                    read_duration(tree, yaml_item_get(map, "duration"), &run->duration_ns, err) &&
                    read_clients(tree, run, yaml_item_get(map, "clients"), err) &&
                    read_reads(tree, run, yaml_item_get(map, "readPreference"), err));
}

bool suite_read_query_run(const yaml_tree_t *tree, const yaml_item_t *map, suite_run_t *run, err_t *err) {
    static const char *const keys[] = {"clients"};
    return !map || (suite_want(tree, map, YAML_ITEM_MAP, "a map such as {clients: [1, 4]}", err) &&
                    yaml_tree_only_keys(tree, map, keys, COUNT(keys), err) &&
                    read_clients(tree, run, yaml_item_get(map, "clients"), err));
}
