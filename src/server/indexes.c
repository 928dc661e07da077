/* Indexes as texts of --index and as documents of a server or a dump, and which of them are the same. Pure. */
#include "base/document.h"
#include "base/text.h"
#include "format/json/json.h"
#include "server/bson_read.h"
#include "server/chunks.h"
#include "server/collection.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define SHAPE                                                                                                \
    "FIELD:1, FIELD:-1, FIELD:hashed, FIELD:2dsphere, FIELD:2d or FIELD:text, several with commas: "         \
    "'d:1,k:-1'"

/* ---- the text of --index ---- */

/* Takes "d:1" from "d:1,k:-1". */
static bool take_part(const char *text, const char *part, index_spec_t *spec, err_t *err) {
    static const char *const kinds[] = {"1", "-1", "hashed", "2dsphere", "2d", "text", NULL};
    enum { SHORTEST = 3 };
    const char *colon = strrchr(part, ':'), *kind = colon && strlen(colon) > SHORTEST ? colon + 1 : "";
    return key_append(&spec->keys, part, kinds, false) ||
           err_set(err, STATUS_USAGE, "'%s' is no index: '%s' should be " SHAPE "%s", text, part,
                   suggestion(kind, kinds, COUNT(kinds) - 1).text);
}

/* A server lists a number or a text for each field. */
size_t collection_name_index(const bson_t *keys, char name[COLLECTION_INDEX_NAME]) {
    size_t length = 0;
    bson_iter_t at;
    name[0] = '\0';
    for (bool more = bson_iter_init(&at, keys); more && bson_iter_next(&at);) {
        const size_t left = length < COLLECTION_INDEX_NAME ? COLLECTION_INDEX_NAME - length : 0;
        char number[24];
        snprintf(number, sizeof number, "%lld", (long long)bson_iter_as_int64(&at));
        length += (size_t)snprintf(left ? name + length : NULL, left, "%s%s_%s", length ? "_" : "",
                                   bson_iter_key(&at),
                                   BSON_ITER_HOLDS_UTF8(&at) ? bson_iter_utf8(&at, NULL) : number);
    }
    return length;
}

/* ---- what stands after its keys and a semicolon ---- */

/* length: of the name in the spec, which is cut if it is too long. */
static bool check_name(const char *text, size_t length, err_t *err) {
    return (length && length < COLLECTION_INDEX_NAME) ||
           err_set(err, STATUS_USAGE,
                   "'%.500s' is no index: its name would have %zu bytes, and 1 to %d are possible; give it "
                   "one after the fields: ';name=NAME'",
                   text, length, COLLECTION_INDEX_NAME - 1);
}

static bool take_option(const char *text, const char *option, index_spec_t *spec, err_t *err) {
    static const char *const words[] = {"unique", "sparse", "name"};
    if (strcmp(option, "unique") == 0 || strcmp(option, "sparse") == 0)
        return BSON_APPEND_BOOL(&spec->options, option, true);
    if (strncmp(option, "name=", 5) == 0)
        return check_name(text, (size_t)snprintf(spec->name, sizeof spec->name, "%s", option + 5), err);
    return err_set(
        err, STATUS_USAGE,
        "'%s' is no index: '%s' is not one of unique, sparse and name=NAME%s; an index with other "
        "options is given in JSON, such as '{\"key\": {\"d\": 1}, \"name\": \"d_1\", \"hidden\": true}'",
        text, option, suggestion(option, words, COUNT(words)).text);
}

/* As a server lists it: whether it can be built, the server will say. */
static bool take_json(const char *text, index_spec_t *spec, err_t *err) {
    err_t why;
    bson_t *index = json_document(text, true, &why);
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
    while (ok && options)
        ok = take_option(text, strsep(&options, ";"), spec, err);
    ok = ok && (spec->name[0] || check_name(text, collection_name_index(&spec->keys, spec->name), err));
    free(copy);
    if (!ok)
        collection_free_index(spec);
    return ok;
}

bool collection_take_index(const bson_t *index, index_spec_t *spec, err_t *err) {
    bson_t keys;
    const size_t length =
        (size_t)snprintf(spec->name, sizeof spec->name, "%s", bson_read_text(index, "name"));
    bson_init(&spec->keys);
    bson_init(&spec->options);
    if (!bson_read_field(index, "key", &keys) || !length || length >= sizeof spec->name)
        return err_set(
            err, STATUS_INPUT,
            "an index of the dump has no keys, no name, or a name of more than %zu bytes, which tipple does "
            "not "
            "build: '%.200s'. Take the metadata away and give the indexes by --index, under a shorter name",
            sizeof spec->name - 1, bson_read_text(index, "name"));
    bson_concat(&spec->keys, &keys);
    bson_copy_to_excluding_noinit(index, &spec->options, "key", "name", "ns", "background", NULL);
    return true;
}

/* ---- two indexes compared ---- */

/* 1, 1.0 and a long 1 are one direction. */
static bool same_key(const bson_iter_t *a, const bson_iter_t *b) {
    if (strcmp(bson_iter_key(a), bson_iter_key(b)) != 0)
        return false;
    if (BSON_ITER_HOLDS_UTF8(a) && BSON_ITER_HOLDS_UTF8(b))
        return strcmp(bson_iter_utf8(a, NULL), bson_iter_utf8(b, NULL)) == 0;
    return BSON_ITER_HOLDS_NUMBER(a) && BSON_ITER_HOLDS_NUMBER(b) &&
           bson_iter_as_double(a) == bson_iter_as_double(b);
}

bool collection_same_keys(const bson_t *a, const bson_t *b) {
    bson_iter_t at, other;
    bool same = bson_count_keys(a) == bson_count_keys(b) && bson_iter_init(&other, b);
    for (bool more = bson_iter_init(&at, a); same && more && bson_iter_next(&at);)
        same = bson_iter_next(&other) && same_key(&at, &other);
    return same;
}

static bool is_text(const bson_t *keys) {
    bson_iter_t at;
    bool text = false;
    for (bool more = bson_iter_init(&at, keys); !text && more && bson_iter_next(&at);)
        text = BSON_ITER_HOLDS_UTF8(&at) && strcmp(bson_iter_utf8(&at, NULL), "text") == 0;
    return text;
}

/* A server adds these where they are not given. */
static bool is_added(const char *option) {
    static const char *const added[] = {"v",       "2dsphereIndexVersion", "textIndexVersion",
                                        "weights", "default_language",     "language_override"};
    for (size_t i = 0; i < sizeof added / sizeof *added; i++)
        if (strcmp(option, added[i]) == 0)
            return true;
    return false;
}

/* Has `b` all options of `a`, with the same values? */
static bool has_options(const index_spec_t *a, const index_spec_t *b, bool but_collation) {
    bson_iter_t at, other;
    bool same = true;
    for (bool more = bson_iter_init(&at, &a->options); same && more && bson_iter_next(&at);) {
        const char *option = bson_iter_key(&at);
        if (!but_collation || strcmp(option, "collation") != 0)
            same = bson_iter_init_find(&other, &b->options, option) ? element_same(&at, &other)
                                                                    : is_added(option);
    }
    return same;
}

bool collection_same_index(const index_spec_t *a, const index_spec_t *b, bool but_collation) {
    const bool texts = is_text(&a->keys) && is_text(&b->keys);
    return (texts ? strcmp(a->name, b->name) == 0 : collection_same_keys(&a->keys, &b->keys)) &&
           has_options(a, b, but_collation) && has_options(b, a, but_collation);
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
    bson_destroy(&spec->options);
}
