/* Indexes as texts of --index and as documents of a server or a dump, and which of them are the same. Pure, except for
 * present_indexes_read. */
#include "base/document.h"
#include "base/numbers.h"
#include "base/text.h"
#include "format/json/json_document.h"
#include "server/bson_read.h"
#include "server/collection.h"
#include "server/server_errors.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define SHAPE                                                                                                \
    "FIELD:1, FIELD:-1, FIELD:hashed, FIELD:2dsphere, FIELD:2d or FIELD:text, several with commas: "         \
    "'d:1,k:-1'"

/* ---- the text of --index ---- */

static bool append_kind(bson_t *keys, const char *field, const char *kind) {
    static const char *const kinds[] = {"hashed", "2dsphere", "2d", "text"};
    if (strcmp(kind, "1") == 0 || strcmp(kind, "-1") == 0)
        return BSON_APPEND_INT32(keys, field, kind[0] == '-' ? -1 : 1);
    for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++)
        if (strcmp(kind, kinds[i]) == 0)
            return BSON_APPEND_UTF8(keys, field, kind);
    return false;
}

/* Takes "d:1" from "d:1,k:-1". */
static bool take_part(const char *text, char *part, index_spec_t *spec, err_t *err) {
    char *colon = strrchr(part, ':');
    if (!colon || colon == part || !colon[1])
        return err_set(err, STATUS_USAGE, "'%s' is no index: '%s' should be %s", text, part, SHAPE);
    *colon = '\0';
    const char *field = part, *kind = colon + 1;
    bson_iter_t iter;
    if (field[0] == '$' || field[0] == '.' || colon[-1] == '.' || strstr(field, ".."))
        return err_set(err, STATUS_USAGE, "'%s' is no index: '%s' cannot be a field's name", text, field);
    if (bson_iter_init_find(&iter, &spec->keys, field))
        return err_set(err, STATUS_USAGE, "'%s' is no index: the field '%s' is in it twice", text, field);
    if (!append_kind(&spec->keys, field, kind)) {
        static const char *const kinds[] = {"1", "-1", "hashed", "2dsphere", "2d", "text"};
        const char *near = strlen(kind) > 2 ? suggest_word(kind, kinds, sizeof kinds / sizeof *kinds) : NULL;
        if (near)
            return err_set(err, STATUS_USAGE, "'%s' is no index: '%s' is not known; did you mean '%s'?", text,
                           kind, near);
        return err_set(err, STATUS_USAGE, "'%s' is no index: '%s' should be %s", text, kind, SHAPE);
    }
    return true;
}

/* Puts more after a name, as far as there is room; returns how long it would be. */
static size_t lengthen(char name[COLLECTION_INDEX_NAME], size_t length, const char *more) {
    if (length < COLLECTION_INDEX_NAME)
        snprintf(name + length, COLLECTION_INDEX_NAME - length, "%s", more);
    return length + strlen(more);
}

/* Takes no memory: that there is none would look like a name that is too long. */
size_t collection_name_index(const bson_t *keys, char name[COLLECTION_INDEX_NAME]) {
    size_t length = 0;
    bson_iter_t at;
    name[0] = '\0';
    for (bool more = bson_iter_init(&at, keys) && bson_iter_next(&at); more; more = bson_iter_next(&at)) {
        char number[24];
        snprintf(number, sizeof number, "%lld", (long long)bson_iter_as_int64(&at));
        length = lengthen(name, length, length ? "_" : "");
        length = lengthen(name, length, bson_iter_key(&at));
        length = lengthen(name, length, "_");
        length = lengthen(name, length, BSON_ITER_HOLDS_UTF8(&at) ? bson_iter_utf8(&at, NULL) : number);
    }
    return length;
}

/* ---- what stands after its keys and a semicolon ---- */

#define INDEX_OPTIONS "unique, sparse, name=NAME, expire=SECONDS, or at last partial={...}"

static bool take_name(const char *text, const char *name, index_spec_t *spec, err_t *err) {
    if (*name && (size_t)snprintf(spec->name, sizeof spec->name, "%s", name) < sizeof spec->name)
        return true;
    return err_set(err, STATUS_USAGE, "'%s' is no index: a name has 1 to %zu bytes", text,
                   sizeof spec->name - 1);
}

static bool take_expiry(const char *text, const char *seconds, index_spec_t *spec, err_t *err) {
    uint64_t count;
    if (!units_parse_count(seconds, &count) || count > INT32_MAX)
        return err_set(err, STATUS_USAGE, "'%s' is no index: '%s' is not a number of seconds up to %d", text,
                       seconds, INT32_MAX);
    return BSON_APPEND_INT32(&spec->options, "expireAfterSeconds", (int32_t)count);
}

static bool take_partial(const char *text, const char *json, index_spec_t *spec, err_t *err) {
    err_t why;
    bson_t *filter = json_document(json, &why);
    if (!filter)
        return err_set(err, why.status,
                       "'%.500s' is no index: the filter after 'partial=' is no JSON: %.500s", text,
                       why.text);
    const bool ok = BSON_APPEND_DOCUMENT(&spec->options, "partialFilterExpression", filter);
    bson_destroy(filter);
    return ok;
}

static bool take_option(const char *text, const char *option, index_spec_t *spec, err_t *err) {
    static const char *const words[] = {"unique", "sparse", "name", "expire", "partial"};
    if (strcmp(option, "unique") == 0 || strcmp(option, "sparse") == 0)
        return BSON_APPEND_BOOL(&spec->options, option, true);
    if (strncmp(option, "name=", 5) == 0)
        return take_name(text, option + 5, spec, err);
    if (strncmp(option, "expire=", 7) == 0)
        return take_expiry(text, option + 7, spec, err);
    if (strncmp(option, "partial=", 8) == 0)
        return take_partial(text, option + 8, spec, err);
    return err_set(err, STATUS_USAGE, "'%s' is no index: '%s' is not one of " INDEX_OPTIONS "%s", text,
                   option, suggestion(option, words, sizeof words / sizeof *words).text);
}

/* A filter may contain semicolons. */
static bool take_options(const char *text, char *options, index_spec_t *spec, err_t *err) {
    while (options) {
        char *option = options;
        options = strncmp(option, "partial=", 8) == 0 ? NULL : strchr(option, ';');
        if (options)
            *options++ = '\0';
        if (!take_option(text, option, spec, err))
            return false;
    }
    return true;
}

/* As a server lists it: whether it can be built, the server will say. */
static bool take_json(const char *text, index_spec_t *spec, err_t *err) {
    err_t why;
    bson_t *index = json_document(text, &why);
    if (!index)
        return err_set(err, why.status, "'%.500s' is no index: it is no JSON: %.500s", text, why.text);
    const bool ok = collection_take_index(index, spec, &why);
    bson_destroy(index);
    return ok ||
           err_set(err, STATUS_USAGE,
                   "'%.500s' is no index: in JSON it has a key, {\"d\": 1}, and a name of 1 to %zu bytes",
                   text, sizeof spec->name - 1);
}

bool collection_parse_index(const char *text, index_spec_t *spec, err_t *err) {
    bson_init(&spec->keys);
    bson_init(&spec->options);
    spec->name[0] = '\0';
    if (*text == '{')
        return take_json(text, spec, err);
    char *copy = strdup(text), *rest = copy, *options = copy ? strchr(copy, ';') : NULL;
    if (options)
        *options++ = '\0';
    bool ok = copy || err_memory(err, strlen(text));
    if (ok && !bson_utf8_validate(text, strlen(text), false))
        ok = err_set(err, STATUS_USAGE, "an index must be named in UTF-8");
    while (ok && rest)
        ok = take_part(text, strsep(&rest, ","), spec, err);
    ok = ok && take_options(text, options, spec, err);
    if (ok && !spec->name[0] && collection_name_index(&spec->keys, spec->name) >= sizeof spec->name)
        ok =
            err_set(err, STATUS_USAGE,
                    "'%.60s...' is too long for an index: its name would have more than %zu bytes; give it a "
                    "shorter one after the fields: ';name=NAME'",
                    text, sizeof spec->name - 1);
    free(copy);
    if (!ok)
        collection_free_index(spec);
    return ok;
}

bool collection_take_index(const bson_t *index, index_spec_t *spec, err_t *err) {
    bson_iter_t iter;
    bool keys = false, named = false;
    bson_init(&spec->keys);
    bson_init(&spec->options);
    spec->name[0] = '\0';
    bson_iter_init(&iter, index);
    while (bson_iter_next(&iter)) {
        const char *key = bson_iter_key(&iter);
        if (strcmp(key, "key") == 0 && BSON_ITER_HOLDS_DOCUMENT(&iter)) {
            const uint8_t *bytes;
            uint32_t length;
            bson_t document;
            bson_iter_document(&iter, &length, &bytes);
            if ((keys = bson_init_static(&document, bytes, length)))
                bson_concat(&spec->keys, &document);
        } else if (strcmp(key, "name") == 0 && BSON_ITER_HOLDS_UTF8(&iter)) {
            named = (size_t)snprintf(spec->name, sizeof spec->name, "%s", bson_iter_utf8(&iter, NULL)) <
                    sizeof spec->name;
        } else if (strcmp(key, "ns") != 0 && strcmp(key, "background") != 0) {
            bson_append_iter(&spec->options, NULL, -1, &iter);
        }
    }
    if (keys && named && spec->name[0])
        return true;
    collection_free_index(spec);
    return err_set(err, STATUS_INPUT,
                   "an index of the dump has no keys, or a name of no byte or more than %zu: get the dump "
                   "again, or take its metadata away and give the indexes by --index",
                   sizeof spec->name - 1);
}

/* ---- two indexes compared ---- */

static bool is_text(const bson_iter_t *key) {
    return BSON_ITER_HOLDS_UTF8(key) && strcmp(bson_iter_utf8(key, NULL), "text") == 0;
}

/* A server lists `_fts` and `_ftsx` in place of the fields of a text index, and these by their weights. */
static void list(const index_spec_t *spec, bson_t *keys, bson_t *texts) {
    bson_t weights;
    bson_iter_t at;
    bson_init(keys);
    bson_init(texts);
    for (bool more = bson_iter_init(&at, &spec->keys); more && bson_iter_next(&at);) {
        if (!is_text(&at) || strcmp(bson_iter_key(&at), "_fts") == 0) {
            bson_append_iter(keys, NULL, 0, &at);
            continue;
        }
        if (bson_empty(texts))
            BCON_APPEND(keys, "_fts", BCON_UTF8("text"), "_ftsx", BCON_INT32(1));
        BSON_APPEND_INT32(texts, bson_iter_key(&at), 1);
    }
    if (bson_read_field(&spec->options, "weights", &weights))
        bson_concat(texts, &weights);
}

/* 1, 1.0 and a long 1 are one direction. */
static bool same_key(const bson_iter_t *a, const bson_iter_t *b) {
    if (strcmp(bson_iter_key(a), bson_iter_key(b)) != 0)
        return false;
    if (BSON_ITER_HOLDS_UTF8(a) && BSON_ITER_HOLDS_UTF8(b))
        return strcmp(bson_iter_utf8(a, NULL), bson_iter_utf8(b, NULL)) == 0;
    return BSON_ITER_HOLDS_NUMBER(a) && BSON_ITER_HOLDS_NUMBER(b) &&
           bson_iter_as_double(a) == bson_iter_as_double(b);
}

static bool same_in_order(const bson_t *a, const bson_t *b) {
    bson_iter_t at, other;
    bool same = bson_count_keys(a) == bson_count_keys(b) && bson_iter_init(&other, b);
    for (bool more = bson_iter_init(&at, a); same && more && bson_iter_next(&at);)
        same = bson_iter_next(&other) && same_key(&at, &other);
    return same;
}

static bool same_names(const bson_t *a, const bson_t *b) {
    bson_iter_t at, other;
    bool same = bson_count_keys(a) == bson_count_keys(b);
    for (bool more = bson_iter_init(&at, a); same && more && bson_iter_next(&at);)
        same = bson_iter_init_find(&other, b, bson_iter_key(&at));
    return same;
}

bool collection_same_keys(const index_spec_t *a, const index_spec_t *b) {
    bson_t keys[2], texts[2];
    list(a, &keys[0], &texts[0]);
    list(b, &keys[1], &texts[1]);
    const bool same = same_in_order(&keys[0], &keys[1]) && same_names(&texts[0], &texts[1]);
    for (size_t i = 0; i < 2; i++) {
        bson_destroy(&keys[i]);
        bson_destroy(&texts[i]);
    }
    return same;
}

bool collection_same_option(const index_spec_t *a, const index_spec_t *b, const char *option) {
    bson_iter_t at, other;
    const bool has = bson_iter_init_find(&at, &a->options, option),
               other_has = bson_iter_init_find(&other, &b->options, option);
    return has == other_has && (!has || element_same(&at, &other));
}

bool collection_keys_of_id(const bson_t *keys) {
    bson_iter_t at;
    return bson_count_keys(keys) == 1 && bson_iter_init_find(&at, keys, "_id") &&
           BSON_ITER_HOLDS_NUMBER(&at) && bson_iter_as_double(&at) > 0;
}

/* The index of the `_id` has the collation of its collection. */
void collection_keep_uncollated(index_spec_t *spec) {
    if (!collection_keys_of_id(&spec->keys) && !bson_has_field(&spec->options, "collation"))
        BCON_APPEND(&spec->options, "collation", "{", "locale", BCON_UTF8("simple"), "}");
}

void collection_free_index(index_spec_t *spec) {
    bson_destroy(&spec->keys);
    bson_init(&spec->keys);
    bson_destroy(&spec->options);
    bson_init(&spec->options);
}

/* ---- the indexes of a collection that is there ---- */

static bool is_index_of_id(const bson_t *index) {
    return strcmp(bson_read_text(index, "name"), "_id_") == 0 || bson_has_field(index, "clustered");
}

/* NULL: a server lists none like this. */
static char *spell(const bson_t *listed, bool collated) {
    index_spec_t index;
    err_t ignored;
    bson_t whole = BSON_INITIALIZER;
    if (!collection_take_index(listed, &index, &ignored))
        return NULL;
    if (collated)
        collection_keep_uncollated(&index);
    BSON_APPEND_DOCUMENT(&whole, "key", &index.keys);
    BSON_APPEND_UTF8(&whole, "name", index.name);
    bson_copy_to_excluding_noinit(&index.options, &whole, "v", NULL);
    char *text = ejson_print(&whole, true, NULL);
    bson_destroy(&whole);
    collection_free_index(&index);
    return text;
}

static void keep(const bson_t *index, bool collated, present_indexes_t *indexes) {
    if (is_index_of_id(index))
        return;
    char *text = indexes->count < PRESENT_MOST_INDEXES && !bson_has_field(index, "expireAfterSeconds")
                     ? spell(index, collated)
                     : NULL;
    if (text)
        indexes->texts[indexes->count++] = text;
    else if (!indexes->other[0])
        snprintf(indexes->other, sizeof indexes->other, "%.159s", bson_read_text(index, "name"));
}

bool present_indexes_read(server_t *server, mongoc_client_t *client, bool collated,
                          present_indexes_t *indexes, err_t *err) {
    bson_t reply, index;
    bson_iter_t at;
    *indexes = (present_indexes_t){.count = 0};
    bool ok = collection_ask_indexes(server, client, &reply, err);
    if (ok && bson_read_batch(&reply, &at))
        while (bson_read_next(&at, &index))
            keep(&index, collated, indexes);
    if (!ok && server_code(&reply) == CODE_NAMESPACE_NOT_FOUND)
        ok = true;
    bson_destroy(&reply);
    return ok;
}

void present_indexes_free(present_indexes_t *indexes) {
    for (size_t i = 0; i < indexes->count; i++)
        free(indexes->texts[i]);
    indexes->count = 0;
}
