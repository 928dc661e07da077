#include "base/conceal_bson.h"
#include "base/document.h"
#include "base/text.h"

#include <stdlib.h>

enum {
    DEEPEST = 210
}; /* a server accepts 200, and ejson prints 220: this may be in another document, such as a result */

/* A text may hold NULs: what is between them is looked through. The caller frees it. */
static char *concealed(const char *words, uint32_t length, int *shown_length) {
    text_t shown = {.length = 0};
    for (uint32_t at = 0; at <= length; at++) {
        char *piece = text_concealed(words + at);
        if (at)
            text_append_bytes(&shown, "", 1);
        text_append(&shown, piece);
        free(piece);
        at += (uint32_t)strlen(words + at);
    }
    *shown_length = (int)shown.length;
    return text_take_or_end(&shown);
}

static bool copy(bson_t *to, bson_iter_t *items, int depth);

static bool copy_items(bson_t *to, const char *key, int key_length, const bson_iter_t *at, int depth) {
    bson_iter_t items;
    bson_t inner;
    const bool array = BSON_ITER_HOLDS_ARRAY(at);
    if (depth >= DEEPEST || !bson_iter_recurse(at, &items))
        return false;
    if (array)
        bson_append_array_unsafe_begin(to, key, key_length, &inner);
    else
        bson_append_document_begin(to, key, key_length, &inner);
    const bool ok = copy(&inner, &items, depth + 1);
    return (array ? bson_append_array_end(to, &inner) : bson_append_document_end(to, &inner)) && ok;
}

/* The code's scope is a document, too. */
static bool copy_scoped(bson_t *to, const char *key, int key_length, const bson_iter_t *at, int depth) {
    uint32_t length, scope_length;
    int shown_length;
    const uint8_t *bytes;
    const char *code = bson_iter_codewscope(at, &length, &scope_length, &bytes);
    bson_t scope, shown = BSON_INITIALIZER;
    bson_iter_t items;
    char *words = concealed(code, (uint32_t)strlen(code), &shown_length);
    const bool ok = depth < DEEPEST && bson_init_static(&scope, bytes, scope_length) &&
                    bson_iter_init(&items, &scope) && copy(&shown, &items, depth + 1) &&
                    bson_append_code_with_scope(to, key, key_length, words, &shown);
    free(words);
    bson_destroy(&shown);
    return ok;
}

/* The types that are a text. */
static bool copy_text(bson_t *to, const char *key, int key_length, const bson_iter_t *at) {
    uint32_t length = 0;
    int shown_length;
    const char *options = "", *text;
    const bson_type_t type = bson_iter_type(at);
    if (type == BSON_TYPE_UTF8)
        text = bson_iter_utf8(at, &length);
    else if (type == BSON_TYPE_SYMBOL)
        text = bson_iter_symbol(at, &length);
    else if (type == BSON_TYPE_CODE)
        text = bson_iter_code(at, &length);
    else
        length = (uint32_t)strlen(text = bson_iter_regex(at, &options));
    char *shown = concealed(text, length, &shown_length);
    const bool ok = type == BSON_TYPE_UTF8     ? bson_append_utf8(to, key, key_length, shown, shown_length)
                    : type == BSON_TYPE_SYMBOL ? bson_append_symbol(to, key, key_length, shown, shown_length)
                    : type == BSON_TYPE_CODE   ? bson_append_code(to, key, key_length, shown)
                                               : bson_append_regex(to, key, key_length, shown, options);
    free(shown);
    return ok;
}

static bool copy_item(bson_t *to, const char *key, int key_length, const bson_iter_t *at, int depth) {
    switch (bson_iter_type(at)) {
    case BSON_TYPE_UTF8:
    case BSON_TYPE_SYMBOL:
    case BSON_TYPE_CODE:
    case BSON_TYPE_REGEX:
        return copy_text(to, key, key_length, at);
    case BSON_TYPE_CODEWSCOPE:
        return copy_scoped(to, key, key_length, at, depth);
    case BSON_TYPE_DOCUMENT:
    case BSON_TYPE_ARRAY:
        return copy_items(to, key, key_length, at, depth);
    default:
        return bson_append_iter(to, key, key_length, at);
    }
}

static bool copy(bson_t *to, bson_iter_t *items, int depth) {
    bool ok = true;
    while (ok && bson_iter_next(items)) {
        int key_length;
        char *key = concealed(bson_iter_key(items), bson_iter_key_len(items), &key_length);
        ok = copy_item(to, key, key_length, items, depth);
        free(key);
    }
    return ok && !items->err_off;
}

bson_t *conceal_bson(const bson_t *document) {
    bson_t *shown = bson_new();
    bson_iter_t items;
    if (bson_iter_init(&items, document) && copy(shown, &items, 0))
        return shown;
    bson_destroy(shown);
    return NULL;
}

char *conceal_bson_print(const bson_t *document) {
    bson_t *shown = conceal_bson(document);
    char *json = shown ? ejson_print(shown, true, NULL) : NULL;
    bson_destroy(shown);
    return json;
}
