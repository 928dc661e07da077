/* Differences: describing one, and keeping the first ones of each kind. */
#include "verify/difference.h"
#include "base/document.h"
#include "base/text.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- how a document differs ---- */

/* Finds the elements of a document by their keys. Mostly the one that is asked for is the next; otherwise it sorts
 * them, because arrays have hundreds of thousands. */
typedef struct {
    bson_iter_t start;
    uint32_t next;    /* its offset, after the one that was found last */
    uint32_t *sorted; /* offsets; NULL until one is not the next */
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

static bool sort_keys(keys_t *keys) {
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

/* The first one of this key. */
static bool look_up(keys_t *keys, const char *key, bson_iter_t *found) {
    if (!keys->sorted && !sort_keys(keys)) { /* memory is out */
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

static void join_path(char path[CHANGED_FIELD], const char *outer, const char *key) {
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

/* Both iterators are before their first elements. Nested documents are compared as deep as they go, which BSON
 * bounds. */
static void compare(changed_t *changed, const char *outer, const bson_iter_t *expected,
                    const bson_iter_t *stored, uint32_t *count) {
    char path[CHANGED_FIELD];
    bson_iter_t other, inner, other_inner;
    keys_t keys = {.start = *stored, .next = stored->next_off};
    for (bson_iter_t at = *expected; element_next(&at);) {
        const char *key = bson_iter_key(&at);
        join_path(path, outer, key);
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
        join_path(path, outer, key);
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

/* ---- differences ---- */

const char *const difference_names[DIFFERENCE_KINDS] = {
    [DIFFERENCE_MISSING] = "missing",       [DIFFERENCE_EXTRA] = "extra",
    [DIFFERENCE_DUPLICATED] = "duplicated", [DIFFERENCE_CHANGED] = "changed",
    [DIFFERENCE_UNRELATED] = "unrelated",
};

enum { LEAST_ROOM = 64 };

void inspected_add(inspected_t *sum, const inspected_t *more) {
    uint64_t *to = (uint64_t *)sum;
    const uint64_t *from = (const uint64_t *)more;
    for (size_t i = 0; i < sizeof *sum / sizeof *to; i++)
        __atomic_store_n(&to[i], to[i] + from[i], __ATOMIC_RELAXED);
}

/* Keeps the lowest `most`: lets in twice as many, then sorts them, joins neighbours and cuts off the rest. */
typedef struct {
    difference_t *kept;
    size_t count, room, ordered; /* ordered: how many of them are in order; the others came since */
    uint64_t documents;
} pile_t;

struct differences {
    uint64_t most;
    pile_t piles[DIFFERENCE_KINDS];
};

void difference_free(difference_t *difference) {
    free(difference->other_id);
    free(difference->why);
    free(difference->changed);
}

bool difference_say_why(difference_t *difference, const char *why, err_t *err) {
    return (difference->why = strdup(why)) != NULL || err_memory(err, strlen(why));
}

bool difference_name_id(difference_t *difference, const bson_iter_t *id, err_t *err) {
    char text[CHANGED_VALUE] = "(none)";
    if (id)
        changed_value(id, text);
    return (difference->other_id = strdup(text)) != NULL || err_memory(err, sizeof text);
}

bool difference_name_id_of(difference_t *difference, const uint8_t *document, uint32_t length, err_t *err) {
    bson_t whole;
    bson_iter_t id;
    const bool has = bson_init_static(&whole, document, length) && element_of(&whole, "_id", &id);
    return difference_name_id(difference, has ? &id : NULL, err);
}

bool difference_describe(difference_t *difference, const uint8_t *expected, uint32_t expected_length,
                         const uint8_t *stored, uint32_t stored_length, err_t *err) {
    if (!(difference->changed = malloc(sizeof *difference->changed)))
        return err_memory(err, sizeof *difference->changed);
    changed_describe(expected, expected_length, stored, stored_length, difference->changed);
    return true;
}

differences_t *differences_new(uint64_t most) {
    differences_t *differences = calloc(1, sizeof *differences);
    if (differences)
        differences->most = most;
    return differences;
}

void differences_clear(differences_t *differences) {
    for (size_t i = 0; i < DIFFERENCE_KINDS; i++) {
        pile_t *pile = &differences->piles[i];
        for (size_t j = 0; j < pile->count; j++)
            difference_free(&pile->kept[j]);
        pile->count = pile->ordered = 0;
        pile->documents = 0;
    }
}

void differences_free(differences_t *differences) {
    if (!differences)
        return;
    differences_clear(differences);
    for (size_t i = 0; i < DIFFERENCE_KINDS; i++)
        free(differences->piles[i].kept);
    free(differences);
}

static int by_place(const void *a, const void *b) {
    const difference_t *left = a, *right = b;
    if (left->file != right->file)
        return left->file < right->file ? -1 : 1;
    if (left->offset != right->offset)
        return left->offset < right->offset ? -1 : 1;
    if (left->id != right->id)
        return left->id < right->id ? -1 : 1;
    return strcmp(left->other_id ? left->other_id : "", right->other_id ? right->other_id : "");
}

/* Joins missing records that are neighbours. */
static bool join(difference_t *last, difference_t *next) {
    if (last->kind != DIFFERENCE_MISSING || last->file != next->file || last->end != next->offset ||
        last->changed || last->why || next->why || last->other_id)
        return false;
    last->end = next->end;
    last->last_line = next->last_line;
    last->last_id = next->last_id;
    last->records += next->records;
    difference_free(next);
    return true;
}

static void sort(pile_t *pile, uint64_t most) {
    size_t count = 0;
    if (pile->ordered == pile->count)
        return;
    qsort(pile->kept, pile->count, sizeof *pile->kept, by_place);
    for (size_t i = 0; i < pile->count; i++) {
        if (count && join(&pile->kept[count - 1], &pile->kept[i]))
            continue;
        if (count < most)
            pile->kept[count++] = pile->kept[i];
        else
            difference_free(&pile->kept[i]);
    }
    pile->count = pile->ordered = count;
}

static bool make_room(pile_t *pile, uint64_t most, err_t *err) {
    if (pile->count < pile->room)
        return true;
    sort(pile, most);
    if (pile->room > LEAST_ROOM && pile->count <= pile->room / 2)
        return true;
    size_t room = pile->room ? pile->room * 2 : LEAST_ROOM;
    difference_t *larger = realloc(pile->kept, room * sizeof *larger);
    if (!larger)
        return err_memory(err, room * sizeof *larger);
    pile->kept = larger;
    pile->room = room;
    return true;
}

bool differences_add(differences_t *differences, const difference_t *difference, err_t *err) {
    pile_t *pile = &differences->piles[difference->kind];
    difference_t taken = *difference;
    pile->documents += taken.records;
    if (pile->count && join(&pile->kept[pile->count - 1], &taken))
        return true;
    if (!make_room(pile, differences->most, err)) {
        difference_free(&taken);
        return false;
    }
    pile->kept[pile->count++] = taken;
    return true;
}

bool differences_wants(const differences_t *differences, const difference_t *difference) {
    const pile_t *pile = &differences->piles[difference->kind];
    return pile->ordered < differences->most ||
           (differences->most && by_place(difference, &pile->kept[differences->most - 1]) < 0);
}

bool differences_move(differences_t *to, differences_t *from, err_t *err) {
    bool ok = true;
    for (size_t i = 0; i < DIFFERENCE_KINDS; i++) {
        pile_t *pile = &from->piles[i];
        uint64_t documents = to->piles[i].documents + pile->documents;
        for (size_t j = 0; j < pile->count; j++) {
            if (ok)
                ok = differences_add(to, &pile->kept[j], err);
            else
                difference_free(&pile->kept[j]);
        }
        to->piles[i].documents = documents; /* with those that were not kept */
        pile->count = pile->ordered = 0;
    }
    differences_clear(from);
    return ok;
}

uint64_t differences_count(const differences_t *differences, difference_kind_t kind) {
    return differences->piles[kind].documents;
}

uint64_t differences_total(const differences_t *differences) {
    uint64_t total = 0;
    for (size_t i = 0; i < DIFFERENCE_KINDS; i++)
        total += differences->piles[i].documents;
    return total;
}

const difference_t *differences_of(differences_t *differences, difference_kind_t kind, size_t *count) {
    pile_t *pile = &differences->piles[kind];
    sort(pile, differences->most);
    *count = pile->count;
    return pile->kept;
}
