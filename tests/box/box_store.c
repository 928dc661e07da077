/* Collections: documents by _id, unique indexes, validators. */
#include "box_inner.h"

#include <ctype.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

box_collection_t *box_find_collection(box_store_t *store, const char *database, const char *name) {
    char whole[256];
    box_folds = false;
    snprintf(whole, sizeof whole, "%s.%s", database, name);
    for (size_t i = 0; i < store->count; i++)
        if (strcmp(store->collections[i].name, whole) == 0) {
            box_folds = store->collections[i].folds;
            return &store->collections[i];
        }
    return NULL;
}

bool box_is_collated(const bson_t *options) {
    bson_t collation;
    box_part(options, "collation", &collation);
    if (!bson_has_field(options, "collation") || strcmp(box_text(&collation, "locale"), "simple") == 0)
        return false;
    if (strcmp(box_text(&collation, "locale"), "en") != 0 || box_number(&collation, "strength", 3) != 2)
        box_die("of collations only 'simple' and 'en' of strength 2 are known here");
    return true;
}

box_collection_t *box_make_collection(box_store_t *store, const char *database, const char *name,
                                      const bson_t *options) {
    static const bson_t none = BSON_INITIALIZER;
    box_collection_t *collection = box_find_collection(store, database, name);
    if (collection)
        return collection;
    if (store->count == BOX_COLLECTIONS)
        box_die("no room for more collections");
    collection = &store->collections[store->count++];
    *collection = (box_collection_t){.options = bson_copy(options ? options : &none)};
    collection->folds = box_folds = box_is_collated(collection->options);
    snprintf(collection->name, sizeof collection->name, "%s.%s", database, name);
    memcpy(collection->uuid, &(uint32_t){++store->made}, sizeof store->made);
    return collection;
}

void box_drop_collection(box_store_t *store, box_collection_t *collection) {
    for (size_t i = 0; i < collection->count; i++)
        bson_destroy(collection->documents[i]);
    for (size_t i = 0; i < collection->index_count; i++)
        bson_destroy(collection->indexes[i].spec);
    free(collection->documents);
    free(collection->hashes);
    bson_destroy(collection->options);
    bson_destroy(collection->refused);
    *collection = store->collections[--store->count];
}

/* ---- where documents are ---- */

static void id_of(const bson_t *document, bson_iter_t *id) {
    if (!bson_iter_init_find(id, document, "_id"))
        box_die("a document has no _id");
}

/* Where the _id is, or belongs. */
static bool place_of_id(const box_collection_t *collection, const bson_iter_t *id, size_t *at) {
    size_t from = 0, to = collection->count;
    bson_iter_t other;
    while (from < to) {
        const size_t middle = from + (to - from) / 2;
        id_of(collection->documents[middle], &other);
        const int order = box_compare(&other, id);
        *at = middle;
        if (!order)
            return true;
        if (order < 0)
            from = middle + 1;
        else
            to = middle;
    }
    *at = from;
    return false;
}

static bool place_of(const box_collection_t *collection, const bson_t *document, size_t *at) {
    bson_iter_t id;
    id_of(document, &id);
    return place_of_id(collection, &id, at);
}

static int by_place(const void *a, const void *b) {
    const size_t x = *(const size_t *)a, y = *(const size_t *)b;
    return (x > y) - (x < y);
}

/* Those of a list of _ids. */
static size_t *places_in(const box_collection_t *collection, const bson_t *list, size_t *count) {
    size_t *places = malloc((bson_count_keys(list) + 1) * sizeof *places), found = 0;
    bson_iter_t each;
    for (bson_iter_init(&each, list); bson_iter_next(&each);)
        found += place_of_id(collection, &each, &places[found]);
    qsort(places, found, sizeof *places, by_place);
    *count = 0;
    for (size_t i = 0; i < found; i++)
        if (!i || places[i] != places[i - 1])
            places[(*count)++] = places[i];
    return places;
}

size_t *box_candidates(const box_collection_t *collection, const bson_t *filter, size_t *count) {
    bson_iter_t id, within;
    bson_t list;
    size_t from = 0;
    if (bson_iter_init_find(&id, filter, "_id")) {
        const bool is_document = BSON_ITER_HOLDS_DOCUMENT(&id) && bson_iter_recurse(&id, &within);
        if (!is_document) {
            bson_init(&list);
            bson_append_iter(&list, "0", 1, &id);
            size_t *one = places_in(collection, &list, count);
            bson_destroy(&list);
            return one;
        }
        if (bson_iter_find(&within, "$in")) {
            box_inside(&within, &list);
            return places_in(collection, &list, count);
        }
        if (bson_iter_recurse(&id, &within) && bson_iter_find(&within, "$gte"))
            place_of_id(collection, &within, &from);
    }
    size_t *places = malloc((collection->count - from + 1) * sizeof *places);
    for (*count = 0; from < collection->count; from++)
        places[(*count)++] = from;
    return places;
}

/* ---- what keeps a document out ---- */

bool box_refused(box_error_t *error, int code, bson_t *more, const char *words, ...) {
    va_list arguments;
    va_start(arguments, words);
    *error = (box_error_t){.code = code, .more = more};
    vsnprintf(error->words, sizeof error->words, words, arguments);
    va_end(arguments);
    return false;
}

static bool in_index(const bson_t *spec, const bson_t *document) {
    bson_iter_t only;
    if (!bson_iter_init_find(&only, spec, "partialFilterExpression"))
        return true;
    bson_t filter;
    box_inside(&only, &filter);
    return box_matches(document, &filter);
}

/* {path: value}; what is not there counts as null. */
static bson_t *key_of(const bson_t *spec, const bson_t *document) {
    bson_t *key = bson_new();
    bson_iter_t keys, each, value;
    if (!bson_iter_init_find(&keys, spec, "key") || !bson_iter_recurse(&keys, &each))
        box_die("an index has no key");
    while (bson_iter_next(&each))
        if (!box_at(document, bson_iter_key(&each), &value))
            BSON_APPEND_NULL(key, bson_iter_key(&each));
        else if (BSON_ITER_HOLDS_ARRAY(&value) && box_number(spec, "unique", 0))
            box_die("arrays are not known here in unique indexes");
        else
            bson_append_iter(key, bson_iter_key(&each), -1, &value);
    return key;
}

static bool same_key(const box_index_t *index, const bson_t *a, const bson_t *b) {
    const bool folded = box_folds;
    bson_t *x = key_of(index->spec, a), *y = key_of(index->spec, b);
    bson_iter_t in_x, in_y;
    bool same = true;
    box_folds = index->folds;
    for (bson_iter_init(&in_x, x), bson_iter_init(&in_y, y); bson_iter_next(&in_x) && bson_iter_next(&in_y);)
        same &= box_compare(&in_x, &in_y) == 0;
    box_folds = folded;
    bson_destroy(x);
    bson_destroy(y);
    return same;
}

static uint64_t mix(uint64_t hash, const void *bytes, size_t length) {
    for (const uint8_t *at = bytes; length--;)
        hash = (hash ^ *at++) * UINT64_C(0x100000001b3);
    return hash;
}

/* The same for what is the same to an index; 0: the document is not in it. */
static uint64_t hash_of(const box_index_t *index, const bson_t *document) {
    uint64_t hash = UINT64_C(0xcbf29ce484222325);
    bson_iter_t value;
    if (!in_index(index->spec, document))
        return 0;
    bson_t *key = key_of(index->spec, document);
    for (bson_iter_init(&value, key); bson_iter_next(&value);)
        if (BSON_ITER_HOLDS_NUMBER(&value)) {
            hash = mix(hash, &(double){bson_iter_as_double(&value)}, sizeof(double));
        } else if (BSON_ITER_HOLDS_UTF8(&value)) {
            for (const char *at = bson_iter_utf8(&value, NULL); *at; at++)
                hash = mix(hash, &(char){index->folds ? (char)tolower((unsigned char)*at) : *at}, 1);
        } else if (!BSON_ITER_HOLDS_DOCUMENT(&value)) { /* 1 and 1.0 in documents are the same, too */
            bson_t alone = BSON_INITIALIZER;
            bson_append_iter(&alone, "", 0, &value);
            hash = mix(hash, bson_get_data(&alone), alone.len);
            bson_destroy(&alone);
        }
    bson_destroy(key);
    return hash | 1;
}

static void hash_all(const box_collection_t *collection, const bson_t *document,
                     uint64_t hashes[BOX_INDEXES]) {
    for (size_t i = 0; i < collection->index_count; i++)
        hashes[i] = hash_of(&collection->indexes[i], document);
}

static bool refuse_duplicate(const box_collection_t *collection, const bson_t *spec, const bson_t *document,
                             box_error_t *error) {
    bson_t pattern, *key = key_of(spec, document);
    box_part(spec, "key", &pattern);
    bson_t *more = BCON_NEW("keyPattern", BCON_DOCUMENT(&pattern), "keyValue", BCON_DOCUMENT(key));
    bson_destroy(key);
    return box_refused(error, 11000, more, "E11000 duplicate key error collection: %.120s index: %.40s",
                       collection->name, box_text(spec, "name"));
}

static bool refuse_id(const box_collection_t *collection, const bson_t *document, box_error_t *error) {
    bson_t *spec = BCON_NEW("key", "{", "_id", BCON_INT32(1), "}", "name", "_id_");
    refuse_duplicate(collection, spec, document, error);
    bson_destroy(spec);
    return false;
}

/* Has one of the first `count` documents the same key? */
static bool is_taken(const box_collection_t *collection, size_t at, const bson_t *document, uint64_t hash,
                     size_t count, size_t but) {
    const box_index_t *index = &collection->indexes[at];
    if (!hash || !box_number(index->spec, "unique", 0) ||
        (but != SIZE_MAX && collection->hashes[but][at] &&
         same_key(index, collection->documents[but], document))) /* it keeps its key */
        return false;
    for (size_t i = 0; i < count; i++)
        if (i != but && collection->hashes[i][at] == hash &&
            same_key(index, collection->documents[i], document))
            return true;
    return false;
}

/* but: where the document is in whose place it would be, or SIZE_MAX. */
static bool may_be(const box_collection_t *collection, const bson_t *document, size_t but,
                   uint64_t hashes[BOX_INDEXES], box_error_t *error) {
    bson_t validator;
    box_part(collection->options, "validator", &validator);
    const bool refused = collection->refused && box_matches(document, collection->refused);
    if (refused || !box_matches(document, &validator))
        return box_refused(error, refused ? collection->refused_code : 121, NULL,
                           "Document failed validation");
    hash_all(collection, document, hashes);
    for (size_t i = 0; i < collection->index_count; i++)
        if (is_taken(collection, i, document, hashes[i], collection->count, but))
            return refuse_duplicate(collection, collection->indexes[i].spec, document, error);
    return true;
}

/* ---- changing ---- */

static void make_room(box_collection_t *collection) {
    if (collection->count < collection->room)
        return;
    collection->room = collection->room ? 2 * collection->room : 64;
    collection->documents = realloc(collection->documents, collection->room * sizeof(bson_t *));
    collection->hashes = realloc(collection->hashes, collection->room * sizeof *collection->hashes);
    if (!collection->documents || !collection->hashes)
        box_die("out of memory");
}

bool box_put(box_collection_t *collection, const bson_t *document, box_error_t *error) {
    size_t at;
    uint64_t hashes[BOX_INDEXES] = {0};
    if (place_of(collection, document, &at))
        return refuse_id(collection, document, error);
    if (!may_be(collection, document, SIZE_MAX, hashes, error))
        return false;
    make_room(collection);
    const size_t after = collection->count++ - at;
    memmove(collection->documents + at + 1, collection->documents + at, after * sizeof(bson_t *));
    if (collection->index_count)
        memmove(collection->hashes + at + 1, collection->hashes + at, after * sizeof *collection->hashes);
    collection->documents[at] = bson_copy(document);
    memcpy(collection->hashes[at], hashes, sizeof hashes);
    return true;
}

bool box_replace(box_collection_t *collection, size_t at, bson_t *document, box_error_t *error) {
    size_t place;
    uint64_t hashes[BOX_INDEXES] = {0};
    const bool same_id = place_of(collection, document, &place) && place == at;
    if (!same_id)
        box_refused(error, 66, NULL, "the (immutable) field '_id' was found to have been altered");
    if (!same_id || !may_be(collection, document, at, hashes, error)) {
        bson_destroy(document);
        return false;
    }
    bson_destroy(collection->documents[at]);
    collection->documents[at] = document;
    memcpy(collection->hashes[at], hashes, sizeof hashes);
    return true;
}

void box_take_out(box_collection_t *collection, size_t at) {
    bson_destroy(collection->documents[at]);
    const size_t after = --collection->count - at;
    memmove(collection->documents + at, collection->documents + at + 1, after * sizeof(bson_t *));
    if (collection->index_count)
        memmove(collection->hashes + at, collection->hashes + at + 1, after * sizeof *collection->hashes);
}

/* ---- indexes ---- */

bson_t *box_listed(const box_collection_t *collection, const bson_t *given) {
    bson_t *spec = BCON_NEW("v", BCON_INT32(2)), collation;
    bson_copy_to_excluding_noinit(given, spec, "collation", NULL);
    box_part(bson_has_field(given, "collation") ? given : collection->options, "collation", &collation);
    if (!bson_empty(&collation) && strcmp(box_text(&collation, "locale"), "simple") != 0)
        BSON_APPEND_DOCUMENT(spec, "collation", &collation);
    return spec;
}

static bool same_but_for_name(const bson_t *a, const bson_t *b) {
    bson_t x = BSON_INITIALIZER, y = BSON_INITIALIZER;
    bson_copy_to_excluding_noinit(a, &x, "name", NULL);
    bson_copy_to_excluding_noinit(b, &y, "name", NULL);
    const bool same = bson_equal(&x, &y);
    bson_destroy(&x);
    bson_destroy(&y);
    return same;
}

static void check_key(const bson_t *spec) {
    bson_t key;
    bson_iter_t each;
    box_part(spec, "key", &key);
    for (bson_iter_init(&each, &key); bson_iter_next(&each);)
        if (!BSON_ITER_HOLDS_NUMBER(&each) && strcmp(bson_iter_utf8(&each, NULL), "hashed") != 0)
            box_die("indexes of the type %s are not known here", bson_iter_utf8(&each, NULL));
}

/* True: nothing is to be built, or *error. */
static bool is_known(const box_collection_t *collection, const bson_t *spec, box_error_t *error) {
    const char *name = box_text(spec, "name");
    if (!*name)
        box_die("an index has no name");
    for (size_t i = 0; i < collection->index_count; i++) {
        const bson_t *known = collection->indexes[i].spec;
        if (bson_equal(known, spec))
            return true;
        if (strcmp(box_text(known, "name"), name) == 0)
            return !box_refused(error, 86, NULL,
                                "An existing index has the same name as the requested index");
        if (same_but_for_name(known, spec))
            return !box_refused(error, 85, NULL, "Index already exists with a different name: %.40s",
                                box_text(known, "name"));
    }
    return false;
}

void box_drop_index(box_collection_t *collection) {
    bson_destroy(collection->indexes[--collection->index_count].spec);
}

bool box_add_index(box_collection_t *collection, const bson_t *given, box_error_t *error) {
    bson_t *spec = box_listed(collection, given);
    *error = (box_error_t){.code = 0};
    if (is_known(collection, spec, error)) {
        bson_destroy(spec);
        return !error->code;
    }
    check_key(spec);
    if (collection->index_count == BOX_INDEXES)
        box_die("no room for more indexes");
    const size_t at = collection->index_count++;
    collection->indexes[at] = (box_index_t){.spec = spec, .folds = box_is_collated(spec)};
    for (size_t i = 0; i < collection->count; i++) {
        const bson_t *document = collection->documents[i];
        collection->hashes[i][at] = hash_of(&collection->indexes[at], document);
        if (is_taken(collection, at, document, collection->hashes[i][at], i, SIZE_MAX)) {
            refuse_duplicate(collection, spec, document, error);
            box_drop_index(collection);
            return false;
        }
    }
    return true;
}
