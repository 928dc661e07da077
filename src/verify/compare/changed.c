#include "verify/compare/changed.h"
#include "base/document.h"
#include "base/text.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* The elements of a document by their keys: arrays have hundreds of thousands. Mostly the one that is asked for is the next. */
typedef struct {
    bson_iter_t start;
    uint32_t next;    /* where it is, behind what was found last */
    uint32_t *sorted; /* where each is; NULL until one is not the next */
    size_t count;
} keys_t;

static int by_key(const void *a, const void *b, void *raw) {
    const uint32_t left = *(const uint32_t *)a, right = *(const uint32_t *)b;
    const int order = strcmp((const char *)raw + left + 1, (const char *)raw + right + 1);
    return order ? order : (left > right) - (left < right);
}

static bool element_from(const keys_t *keys, uint32_t from, const char *key, bson_iter_t *found) {
    *found = keys->start;
    found->next_off = from;
    return element_next(found) && strcmp(bson_iter_key(found), key) == 0;
}

static bool sort(keys_t *keys) {
    size_t room = 0;
    bson_iter_t at = keys->start;
    for (keys->count = 0; element_next(&at); keys->sorted[keys->count++] = at.off) {
        if (GROW(keys->sorted, room, keys->count + 1, NULL))
            continue;
        free(keys->sorted);
        keys->sorted = NULL;
        return false;
    }
    if (keys->count)
        qsort_r(keys->sorted, keys->count, sizeof *keys->sorted, by_key, (void *)keys->start.raw);
    return true;
}

/* The first one of this key, if it is not the next one. */
static bool look_up(keys_t *keys, const char *key, bson_iter_t *found) {
    if (!keys->sorted && !sort(keys)) { /* memory is out */
        *found = keys->start;
        return element_find(found, key, strlen(key));
    }
    const char *raw = (const char *)keys->start.raw;
    const size_t at = SEARCH_FIRST(keys->count, i, strcmp(raw + keys->sorted[i] + 1, key) < 0);
    return at < keys->count && element_from(keys, keys->sorted[at], key, found);
}

static bool find(keys_t *keys, const char *key, bson_iter_t *found) {
    if (!element_from(keys, keys->next, key, found) && !look_up(keys, key, found))
        return false;
    keys->next = found->next_off;
    return true;
}

static bool is_nested(const bson_iter_t *element) {
    return BSON_ITER_HOLDS_DOCUMENT(element) || BSON_ITER_HOLDS_ARRAY(element);
}

/* Cut off after a whole character. */
static void shorten(char *out, size_t room, const char *text, size_t length) {
    static const char cut[] = "...";
    if (length >= room) {
        length = room - sizeof cut;
        while (length && ((unsigned char)text[length] & 0xC0) == 0x80)
            length--;
        memcpy(out + length, cut, sizeof cut);
    } else {
        out[length] = '\0';
    }
    memcpy(out, text, length);
}

void changed_value(const bson_iter_t *value, char out[CHANGED_VALUE]) {
    static const char before[] = "{ \"\" : ", after[] = " }";
    bson_t alone = BSON_INITIALIZER;
    size_t length;
    element_append(&alone, "", value);
    char *json = ejson_print(&alone, false, &length);
    if (json && length > sizeof before + sizeof after - 2)
        shorten(out, CHANGED_VALUE, json + sizeof before - 1,
                length - (sizeof before - 1) - (sizeof after - 1));
    else
        snprintf(out, CHANGED_VALUE, "(no JSON can show it)");
    free(json);
    bson_destroy(&alone);
}

static void join(char path[CHANGED_FIELD], const char *outer, const char *key) {
    char whole[2 * CHANGED_FIELD];
    snprintf(whole, sizeof whole, "%s%s%.*s", outer, *outer ? "." : "", CHANGED_FIELD, key);
    shorten(path, CHANGED_FIELD, whole, strlen(whole));
}

static void note(changed_t *changed, const char *path, const bson_iter_t *stored, const bson_iter_t *expected,
                 uint32_t *count) {
    if ((*count)++)
        return;
    snprintf(changed->field, sizeof changed->field, "%s", path);
    if (stored)
        changed_value(stored, changed->stored);
    if (expected)
        changed_value(expected, changed->expected);
}

/* Both at their first elements. Nested documents are looked into as deep as they go: BSON bounds it. */
static void compare(changed_t *changed, const char *outer, const bson_iter_t *expected,
                    const bson_iter_t *stored, uint32_t *count) {
    char path[CHANGED_FIELD];
    bson_iter_t other, inner, other_inner;
    keys_t keys = {.start = *stored, .next = stored->next_off};
    for (bson_iter_t at = *expected; element_next(&at);) {
        const char *key = bson_iter_key(&at);
        join(path, outer, key);
        bool there = find(&keys, key, &other);
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
    free(keys.sorted);
    keys = (keys_t){.start = *expected, .next = expected->next_off};
    for (bson_iter_t at = *stored; element_next(&at);) {
        const char *key = bson_iter_key(&at);
        join(path, outer, key);
        if (!find(&keys, key, &other))
            note(changed, path, &at, NULL, count);
    }
    free(keys.sorted);
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
