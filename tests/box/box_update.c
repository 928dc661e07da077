/* Expressions, and what an update makes of a document. */
#include "box_inner.h"

#include <stdlib.h>
#include <string.h>
#include <sys/time.h>

static int64_t now_ms(void) {
    struct timeval now;
    gettimeofday(&now, NULL);
    return now.tv_sec * INT64_C(1000) + now.tv_usec / 1000;
}

/* ---- expressions ---- */

static void append_evaluated(bson_t *to, const char *key, const bson_iter_t *expression, const bson_t *root) {
    bson_t value;
    bson_iter_t iter;
    box_evaluate(expression, root, &value);
    if (bson_iter_init_find(&iter, &value, ""))
        bson_append_iter(to, key, -1, &iter);
    bson_destroy(&value);
}

static void evaluate_fields(const bson_iter_t *expression, const bson_t *root, bson_t *to) {
    bson_iter_t each;
    bson_iter_recurse(expression, &each);
    while (bson_iter_next(&each))
        append_evaluated(to, bson_iter_key(&each), &each, root);
}

/* The arguments of an operator, evaluated, as {"0": ..., "1": ...}. */
static void arguments_of(const bson_iter_t *operand, const bson_t *root, bson_t *arguments) {
    bson_init(arguments);
    if (BSON_ITER_HOLDS_ARRAY(operand))
        evaluate_fields(operand, root, arguments);
    else
        append_evaluated(arguments, "0", operand, root);
}

static int64_t whole(const bson_iter_t *iter) {
    return BSON_ITER_HOLDS_DATE_TIME(iter) ? bson_iter_date_time(iter) : bson_iter_as_int64(iter);
}

static void element_at(const bson_iter_t *list, int64_t index, bson_t *value) {
    bson_iter_t each;
    bson_iter_recurse(list, &each);
    while (bson_iter_next(&each))
        if (index-- == 0) {
            bson_append_iter(value, "", 0, &each);
            return;
        }
}

/* {$arrayElemAt: [{$literal: [...]}, INDEX]}: a long list is not copied for each document. */
static bool element_of_literal(const bson_iter_t *operand, const bson_t *root, bson_t *value) {
    bson_iter_t arguments, list, at;
    bson_t index;
    if (!bson_iter_recurse(operand, &arguments) || !bson_iter_find(&arguments, "0") ||
        !BSON_ITER_HOLDS_DOCUMENT(&arguments) || !bson_iter_recurse(&arguments, &list) ||
        !bson_iter_find(&list, "$literal") || !bson_iter_find(&arguments, "1"))
        return false;
    box_evaluate(&arguments, root, &index);
    if (bson_iter_init_find(&at, &index, ""))
        element_at(&list, whole(&at), value);
    bson_destroy(&index);
    return true;
}

static void merge(const bson_t *arguments, bson_t *value) {
    bson_t merged = BSON_INITIALIZER;
    bson_iter_t each, field;
    for (bson_iter_init(&each, arguments); bson_iter_next(&each);) {
        bson_t inside, next = BSON_INITIALIZER;
        box_inside(&each, &inside);
        for (bson_iter_init(&field, &merged); bson_iter_next(&field);)
            if (!bson_has_field(&inside, bson_iter_key(&field)))
                bson_append_iter(&next, NULL, 0, &field);
        bson_concat(&next, &inside);
        bson_destroy(&merged);
        bson_steal(&merged, &next);
    }
    bson_append_document(value, "", 0, &merged);
    bson_destroy(&merged);
}

/* As 4.4 does, by which an update or a delete is refused (code 16409). */
static void refuse_root(const bson_iter_t *operands) {
    bson_iter_t each;
    for (bool any = BSON_ITER_HOLDS_ARRAY(operands) && bson_iter_recurse(operands, &each);
         any && bson_iter_next(&each);)
        if (BSON_ITER_HOLDS_UTF8(&each) && strcmp(bson_iter_utf8(&each, NULL), "$$ROOT") == 0)
            box_die("MongoDB 4.4 does not compare $$ROOT itself");
}

static void operate(const char *name, const bson_iter_t *operand, const bson_t *root, bson_t *value) {
    bson_t arguments, inside;
    bson_iter_t first, second;
    if (strcmp(name, "$literal") == 0) {
        bson_append_iter(value, "", 0, operand);
        return;
    }
    if (strcmp(name, "$arrayElemAt") == 0 && element_of_literal(operand, root, value))
        return;
    arguments_of(operand, root, &arguments);
    const bool one = bson_iter_init_find(&first, &arguments, "0"),
               two = bson_iter_init_find(&second, &arguments, "1");
    if (strcmp(name, "$arrayElemAt") == 0 && one && two)
        element_at(&first, whole(&second), value);
    else if (strcmp(name, "$subtract") == 0)
        one &&two ? bson_append_int64(value, "", 0, whole(&first) - whole(&second))
                  : bson_append_null(value, "", 0);
    else if (strcmp(name, "$eq") == 0) { /* nothing is equal to nothing */
        refuse_root(operand);
        bson_append_bool(value, "", 0, one == two && (!one || box_compare(&first, &second) == 0));
    } else if (strcmp(name, "$mergeObjects") == 0)
        merge(&arguments, value);
    else if (strcmp(name, "$bsonSize") == 0 && one) {
        box_inside(&first, &inside);
        bson_append_int64(value, "", 0, inside.len);
    } else
        box_die("the expression %s is not known here, or not with these arguments", name);
    bson_destroy(&arguments);
}

static void variable(const char *text, const bson_t *root, bson_t *value) {
    bson_iter_t iter;
    if (strcmp(text, "$$ROOT") == 0)
        bson_append_document(value, "", 0, root);
    else if (strcmp(text, "$$NOW") == 0)
        bson_append_date_time(value, "", 0, now_ms());
    else if (text[1] == '$')
        box_die("the variable %s is not known here", text);
    else if (box_at(root, text + 1, &iter))
        bson_append_iter(value, "", 0, &iter);
}

void box_evaluate(const bson_iter_t *expression, const bson_t *root, bson_t *value) {
    bson_iter_t first;
    bson_t inside;
    bson_init(value);
    if (BSON_ITER_HOLDS_UTF8(expression) && bson_iter_utf8(expression, NULL)[0] == '$') {
        variable(bson_iter_utf8(expression, NULL), root, value);
    } else if (BSON_ITER_HOLDS_DOCUMENT(expression) && bson_iter_recurse(expression, &first) &&
               bson_iter_next(&first) && bson_iter_key(&first)[0] == '$') {
        operate(bson_iter_key(&first), &first, root, value);
    } else if (BSON_ITER_HOLDS_DOCUMENT(expression)) {
        bson_append_document_begin(value, "", 0, &inside);
        evaluate_fields(expression, root, &inside);
        bson_append_document_end(value, &inside);
    } else if (BSON_ITER_HOLDS_ARRAY(expression)) {
        bson_append_array_unsafe_begin(value, "", 0, &inside);
        evaluate_fields(expression, root, &inside);
        bson_append_array_end(value, &inside);
    } else {
        bson_append_iter(value, "", 0, expression);
    }
}

/* ---- setting ---- */

static void set_inside(bson_t *to, const bson_t *from, bool is_array, const char *path,
                       const bson_iter_t *value);

/* The element at the first part of the path. was: NULL, what is there now. */
static void set_here(bson_t *to, const bson_iter_t *was, const char *key, const char *rest,
                     const bson_iter_t *value) {
    static const bson_t nothing = BSON_INITIALIZER;
    bson_t inside, before;
    if (!rest) {
        bson_append_iter(to, key, -1, value);
        return;
    }
    const bool is_array = was && BSON_ITER_HOLDS_ARRAY(was);
    if (was && !is_array && !BSON_ITER_HOLDS_DOCUMENT(was))
        box_die("'%s' is no document: '%s' cannot be set in it", key, rest);
    if (was)
        box_inside(was, &before);
    (is_array ? bson_append_array_unsafe_begin : bson_append_document_begin)(to, key, -1, &inside);
    set_inside(&inside, was ? &before : &nothing, is_array, rest, value);
    (is_array ? bson_append_array_end : bson_append_document_end)(to, &inside);
}

/* value NULL: what is there is left out. */
static void set_inside(bson_t *to, const bson_t *from, bool is_array, const char *path,
                       const bson_iter_t *value) {
    char key[200];
    const size_t length = strcspn(path, ".");
    const char *rest = path[length] ? path + length + 1 : NULL;
    bson_iter_t each;
    bool found = false;
    snprintf(key, sizeof key, "%.*s", (int)length, path);
    for (bson_iter_init(&each, from); bson_iter_next(&each);)
        if (strcmp(bson_iter_key(&each), key) != 0) {
            bson_append_iter(to, NULL, 0, &each);
        } else {
            found = true;
            if (value || rest)
                set_here(to, &each, key, rest, value);
        }
    if (found || !value)
        return;
    for (size_t at = bson_count_keys(from); is_array && at < strtoul(key, NULL, 10); at++) {
        char number[24];
        snprintf(number, sizeof number, "%zu", at);
        bson_append_null(to, number, -1);
    }
    set_here(to, NULL, key, rest, value);
}

void box_set(bson_t **document, const char *path, const bson_iter_t *value) {
    bson_t *next = bson_new();
    set_inside(next, *document, false, path, value);
    bson_destroy(*document);
    *document = next;
}

/* ---- updates ---- */

static void set_now(bson_t **document, const char *path) {
    bson_t value = BSON_INITIALIZER;
    bson_iter_t iter;
    BSON_APPEND_DATE_TIME(&value, "", now_ms());
    if (bson_iter_init_find(&iter, &value, ""))
        box_set(document, path, &iter);
    bson_destroy(&value);
}

static void apply(bson_t **document, const char *name, const bson_iter_t *fields, bool inserting) {
    bson_iter_t each, there;
    bson_iter_recurse(fields, &each);
    while (bson_iter_next(&each)) {
        const char *path = bson_iter_key(&each);
        if (strcmp(name, "$set") == 0 || (strcmp(name, "$setOnInsert") == 0 && inserting))
            box_set(document, path, &each);
        else if (strcmp(name, "$unset") == 0)
            box_set(document, path, NULL);
        else if (strcmp(name, "$currentDate") == 0)
            set_now(document, path);
        else if (strcmp(name, "$max") == 0) {
            if (!box_at(*document, path, &there) || box_compare(&each, &there) > 0)
                box_set(document, path, &each);
        } else if (strcmp(name, "$setOnInsert") != 0)
            box_die("the update %s is not known here", name);
    }
}

static void apply_stage(bson_t **document, const bson_t *stage) {
    bson_t *root = bson_copy(*document);
    bson_iter_t each;
    bson_iter_init(&each, stage);
    if (!bson_iter_next(&each) || strcmp(bson_iter_key(&each), "$set") != 0)
        box_die("the stage %s is not known here in an update", bson_iter_key(&each));
    bson_t fields;
    box_inside(&each, &fields);
    for (bson_iter_init(&each, &fields); bson_iter_next(&each);) {
        bson_t value;
        bson_iter_t iter;
        box_evaluate(&each, root, &value);
        if (bson_iter_init_find(&iter, &value, ""))
            box_set(document, bson_iter_key(&each), &iter);
        bson_destroy(&value);
    }
    bson_destroy(root);
}

/* A whole document in the place of one that keeps its _id. */
static bson_t *replaced(const bson_t *document, const bson_t *by) {
    bson_t *next = bson_new();
    bson_iter_t id;
    if (!bson_has_field(by, "_id") && bson_iter_init_find(&id, document, "_id"))
        bson_append_iter(next, NULL, 0, &id);
    bson_concat(next, by);
    return next;
}

bson_t *box_updated(const bson_t *document, const bson_iter_t *update, bool inserting) {
    bson_t *next = bson_copy(document), inside;
    bson_iter_t each;
    box_inside(update, &inside);
    bson_iter_init(&each, &inside);
    while (bson_iter_next(&each)) {
        if (BSON_ITER_HOLDS_ARRAY(update)) {
            bson_t stage;
            box_inside(&each, &stage);
            apply_stage(&next, &stage);
        } else if (bson_iter_key(&each)[0] == '$') {
            apply(&next, bson_iter_key(&each), &each, inserting);
        } else {
            bson_destroy(next);
            return replaced(document, &inside);
        }
    }
    return next;
}
