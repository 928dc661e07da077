#include "query/params.h"
#include "base/chars/escape.h"
#include "base/chars/suggest.h"
#include "base/grow.h"
#include "base/text.h"
#include "query/suite/value.h"
#include "server/bson_read.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Each name once, in the order of the suite. */
typedef struct {
    const char **names;
    size_t count, room;
} names_t;

static bool has_name(const names_t *known, const char *name) {
    for (size_t i = 0; i < known->count; i++)
        if (strcmp(known->names[i], name) == 0)
            return true;
    return false;
}

static bool add_names(names_t *known, const yaml_item_t *map, err_t *err) {
    for (const yaml_item_t *item = map ? map->first : NULL; item; item = item->next) {
        if (has_name(known, item->key))
            continue;
        if (!GROW(known->names, known->room, known->count + 1, err))
            return false;
        known->names[known->count++] = item->key;
    }
    return true;
}

/* Does a query run with each of several values of it? */
static bool is_each(const suite_t *suite, const char *name) {
    for (size_t i = 0; i < suite->query_count; i++)
        if (suite->queries[i].each && yaml_item_get(suite->queries[i].each, name))
            return true;
    return false;
}

static bool read_one(bson_t *typed, const suite_t *suite, const names_t *known, const char *text,
                     err_t *err) {
    const char *equals = strchr(text, '=');
    bson_iter_t before;
    char name[128];
    if (!equals || equals == text || equals - text >= (ptrdiff_t)sizeof name)
        return err_set(err, STATUS_USAGE, "--param: '%s' is not NAME=VALUE, such as n=1000", text);
    snprintf(name, sizeof name, "%.*s", (int)(equals - text), text);
    if (!has_name(known, name))
        return err_set(err, STATUS_USAGE, "--param: the suite %s has no parameter '%s'%s", suite->name, name,
                       suggestion(name, known->names, known->count).text);
    if (bson_iter_init_find(&before, typed, name))
        return is_each(suite, name)
                   ? err_set(err, STATUS_USAGE,
                             "--param: '%s' is given twice; several values are a list, such as %s=[10, 100]",
                             name, name)
                   : err_set(err, STATUS_USAGE, "--param: '%s' is given twice, and it has one value", name);
    return value_parse(typed, name, equals + 1, err) || err_where(err, "--param");
}

bool params_read(bson_t *typed, const suite_t *suite, char *const *texts, size_t text_count, err_t *err) {
    names_t known = {.count = 0};
    bool ok = add_names(&known, suite->params, err);
    for (size_t i = 0; ok && i < suite->query_count; i++)
        ok = add_names(&known, suite->queries[i].each, err);
    for (size_t i = 0; ok && i < text_count; i++)
        ok = read_one(typed, suite, &known, texts[i], err);
    free(known.names);
    return ok;
}

bool params_of_suite(bson_t *params, const suite_t *suite, const bson_t *typed, err_t *err) {
    for (const yaml_item_t *item = suite->params ? suite->params->first : NULL; item; item = item->next) {
        bson_iter_t given;
        if (bson_iter_init_find(&given, typed, item->key))
            bson_append_iter(params, item->key, -1, &given);
        else if (!value_append(params, item->key, item, suite->tree, NULL, err))
            return false;
    }
    return true;
}

char *params_label(const char *text) {
    char *open = text_concealed(text);
    const size_t length = strlen(open), room = 4 * length + 1;
    char *shown = bson_malloc(room);
    escape_text(shown, room, open, length);
    free(open);
    return shown;
}

/* Appends one value, under the name that it has in the suite; if it has none, under its text. */
static bool append_value(bson_t *values, const params_t *given, const yaml_item_t *item,
                         const bson_iter_t *value, const char *name) {
    char *json = bson_read_json(value);
    const char *written = BSON_ITER_HOLDS_UTF8(value) ? bson_iter_utf8(value, NULL) : json ? json : "";
    char *label = params_label(name ? name : written);
    bson_iter_t same; /* bson_has_field looks for "a.b" in documents as well */
    bool ok = !bson_iter_init_find(&same, values, label) ||
              yaml_tree_complain(given->tree, item, given->err,
                                 "two values of '%.60s' are called '%.90s'; give them names: {NAME: VALUE}",
                                 item->key, label);
    if (ok && !(bson_append_iter(values, label, -1, value) && values->len <= PARAMS_MOST_BYTES))
        ok = yaml_tree_complain(given->tree, item, given->err,
                                "the values of '%.60s' take more than %d MB together", item->key,
                                PARAMS_MOST_BYTES >> 20);
    free(json);
    bson_free(label);
    return ok;
}

/* Takes what was typed instead of an `each`: a value or a list. Each item may also be the name of a value. */
static bool typed_values(bson_t *values, const params_t *given, const yaml_item_t *item, bson_iter_t at) {
    bson_t read = BSON_INITIALIZER;
    bson_iter_t value;
    bool many = BSON_ITER_HOLDS_ARRAY(&at), ok = true;
    if (many && !(bson_iter_recurse(&at, &at) && bson_iter_next(&at)))
        ok = err_set(given->err, STATUS_USAGE, "--param: '%s' has no values", item->key);
    while (ok) {
        const yaml_item_t *named = item->kind == YAML_ITEM_MAP && BSON_ITER_HOLDS_UTF8(&at)
                                       ? yaml_item_get(item, bson_iter_utf8(&at, NULL))
                                       : NULL;
        if (named) {
            bson_reinit(&read);
            ok = value_append(&read, "v", named, given->tree, given->params, given->err) &&
                 bson_iter_init_find(&value, &read, "v");
        }
        ok = ok && append_value(values, given, item, named ? &value : &at, named ? named->key : NULL);
        if (!many || !bson_iter_next(&at))
            break;
    }
    bson_destroy(&read);
    return ok;
}

bool params_each(bson_t *values, const params_t *given, const yaml_item_t *item) {
    bson_t read = BSON_INITIALIZER;
    bson_iter_t at, value;
    bool ok = true;
    if (bson_iter_init_find(&at, given->typed, item->key))
        return typed_values(values, given, item, at);
    for (const yaml_item_t *node = item->first; ok && node; node = node->next) {
        bson_reinit(&read);
        ok = value_append(&read, "v", node, given->tree, given->params, given->err) &&
             bson_iter_init_find(&value, &read, "v") &&
             append_value(values, given, item, &value, item->kind == YAML_ITEM_MAP ? node->key : NULL);
    }
    bson_destroy(&read);
    return ok;
}

uint64_t params_each_count(const bson_t *typed, const yaml_item_t *item) {
    bson_iter_t given, value;
    uint64_t count = 0;
    if (!bson_iter_init_find(&given, typed, item->key))
        return item->count;
    if (!BSON_ITER_HOLDS_ARRAY(&given))
        return 1;
    for (bson_iter_recurse(&given, &value); bson_iter_next(&value);)
        count++;
    return count;
}
