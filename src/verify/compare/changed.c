#include "verify/compare/changed.h"
#include "base/bson/element.h"
#include "base/ejson.h"

#include <stdio.h>
#include <string.h>

static bool find(const bson_iter_t *document, const char *key, bson_iter_t *found) {
    *found = *document;
    return element_find(found, key, strlen(key));
}

static bool is_nested(const bson_iter_t *element) {
    return BSON_ITER_HOLDS_DOCUMENT(element) || BSON_ITER_HOLDS_ARRAY(element);
}

static void join(char path[CHANGED_FIELD], const char *outer, const char *key) {
    char whole[2 * CHANGED_FIELD];
    snprintf(whole, sizeof whole, "%s%s%.*s", outer, *outer ? "." : "", CHANGED_FIELD, key);
    ejson_shorten(path, CHANGED_FIELD, whole, strlen(whole));
}

static void note(changed_t *changed, const char *path, const bson_iter_t *stored, const bson_iter_t *expected,
                 uint32_t *count) {
    if ((*count)++)
        return;
    snprintf(changed->field, sizeof changed->field, "%s", path);
    if (stored)
        ejson_print_value(stored, false, changed->stored, sizeof changed->stored);
    if (expected)
        ejson_print_value(expected, false, changed->expected, sizeof changed->expected);
}

/* Both at their first elements. Nested documents are looked into as deep as they go: BSON bounds it. */
static void compare(changed_t *changed, const char *outer, const bson_iter_t *expected,
                    const bson_iter_t *stored, uint32_t *count) {
    char path[CHANGED_FIELD];
    bson_iter_t other, inner, other_inner;
    for (bson_iter_t at = *expected; element_next(&at);) {
        const char *key = bson_iter_key(&at);
        join(path, outer, key);
        bool there = find(stored, key, &other);
        if (!there)
            note(changed, path, NULL, &at, count);
        else if (element_same(&at, &other))
            continue;
        else if (is_nested(&at) && bson_iter_type(&at) == bson_iter_type(&other) &&
                 bson_iter_recurse(&at, &inner) && bson_iter_recurse(&other, &other_inner)) {
            uint32_t before = *count;
            compare(changed, path, &inner, &other_inner, count);
            if (*count == before) /* the same fields in another order */
                note(changed, path, &other, &at, count);
        } else
            note(changed, path, &other, &at, count);
    }
    for (bson_iter_t at = *stored; element_next(&at);) {
        const char *key = bson_iter_key(&at);
        join(path, outer, key);
        if (!find(expected, key, &other))
            note(changed, path, &at, NULL, count);
    }
}

void changed_describe(const uint8_t *expected, uint32_t expected_length, const uint8_t *stored,
                      uint32_t stored_length, changed_t *changed) {
    bson_iter_t from, to;
    uint32_t count = 0;
    *changed = (changed_t){.more = 0};
    if (bson_iter_init_from_data(&from, expected, expected_length) &&
        bson_iter_init_from_data(&to, stored, stored_length))
        compare(changed, "", &from, &to, &count);
    changed->more = count ? count - 1 : 0;
}
