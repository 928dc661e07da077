#include "base/grow.h"
#include "base/numbers/units.h"
#include "query/suite/suite_inner.h"

#include <string.h>

const char *const suite_read_modes[] = {"primary", "primaryPreferred", "secondary", "secondaryPreferred",
                                        "nearest"};
const size_t suite_read_mode_count = COUNT(suite_read_modes);

static bool read_count(const suite_t *suite, const yaml_item_t *map, const char *key, int64_t least,
                       uint32_t *count, err_t *err) {
    const yaml_item_t *node = yaml_item_get(map, key);
    int64_t number;
    if (!node)
        return true;
    if (!yaml_tree_int(suite->tree, node, least, 1000000, &number, err))
        return false;
    *count = (uint32_t)number;
    return true;
}

static bool read_duration(const suite_t *suite, const yaml_item_t *node, int64_t *duration_ns, err_t *err) {
    return !node || (node->kind == YAML_ITEM_SCALAR && units_parse_time(node->text, duration_ns)) ||
           COMPLAIN(node, "'duration' is a time, such as 30s");
}

/* A list, not longer than there is room for choices. */
static bool is_choices(const suite_t *suite, const yaml_item_t *node, const char *example, err_t *err) {
    return suite_want(suite, node, YAML_ITEM_LIST, example, err) &&
           ((node->count && node->count <= SUITE_MOST_CHOICES) ||
            COMPLAIN(node, "from 1 to %d of them", SUITE_MOST_CHOICES));
}

static bool read_clients(suite_t *suite, const yaml_item_t *node, err_t *err) {
    suite_run_t *run = &suite->run;
    int64_t number;
    if (!node)
        return true;
    if (!is_choices(suite, node, "a list of numbers", err))
        return false;
    for (const yaml_item_t *item = node->first; item; item = item->next) {
        if (!yaml_tree_int(suite->tree, item, 1, SUITE_MOST_CLIENTS, &number, err))
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

static bool read_reads(suite_t *suite, const yaml_item_t *node, err_t *err) {
    suite_run_t *run = &suite->run;
    if (!node)
        return true;
    if (!is_choices(suite, node, "a list such as [primary, secondary]", err))
        return false;
    for (const yaml_item_t *item = node->first; item; item = item->next) {
        const char *mode = mode_named(item);
        if (!mode)
            return COMPLAIN(item,
                            "a read preference was expected here: primary, primaryPreferred, secondary, "
                            "secondaryPreferred or nearest");
        run->reads[run->reads_choices++] = mode;
    }
    return true;
}

bool suite_read_run(suite_t *suite, const yaml_item_t *map, err_t *err) {
    static const char *const keys[] = {"repeats", "warmup", "duration", "clients", "readPreference"};
    suite_run_t *run = &suite->run;
    *run = (suite_run_t){.warmups = SUITE_UNSAID};
    return !map || (suite_want(suite, map, YAML_ITEM_MAP, "a map such as {repeats: 10}", err) &&
                    yaml_tree_only_keys(suite->tree, map, keys, COUNT(keys), err) &&
                    read_count(suite, map, "repeats", 1, &run->repeats, err) &&
                    read_count(suite, map, "warmup", 0, &run->warmups, err) &&
                    read_duration(suite, yaml_item_get(map, "duration"), &run->duration_ns, err) &&
                    read_clients(suite, yaml_item_get(map, "clients"), err) &&
                    read_reads(suite, yaml_item_get(map, "readPreference"), err));
}
