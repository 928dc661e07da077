/* Collections: documents by _id, unique indexes. */
#include "box_inner.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

box_collection_t *box_find_collection(box_store_t *store, const char *database, const char *name) {
    char whole[256];
    snprintf(whole, sizeof whole, "%s.%s", database, name);
    for (size_t i = 0; i < store->count; i++)
        if (strcmp(store->collections[i].name, whole) == 0)
            return &store->collections[i];
    return NULL;
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

static bool in_index(const bson_t *spec, const bson_t *document) {
    bson_iter_t only;
    if (!bson_iter_init_find(&only, spec, "partialFilterExpression"))
        return true;
    bson_t filter;
    box_inside(&only, &filter);
    return box_matches(document, &filter);
}

/* What is not there counts as null. */
static bool same_key(const bson_t *spec, const bson_t *a, const bson_t *b) {
    bson_iter_t keys, key, x, y;
    if (!bson_iter_init_find(&keys, spec, "key") || !bson_iter_recurse(&keys, &key))
        box_die("an index has no key");
    while (bson_iter_next(&key)) {
        const bool in_a = box_at(a, bson_iter_key(&key), &x), in_b = box_at(b, bson_iter_key(&key), &y);
        if (in_a != in_b || (in_a && box_compare(&x, &y) != 0))
            return false;
    }
    return true;
}

static uint64_t mix(uint64_t hash, const void *bytes, size_t length) {
    for (const uint8_t *at = bytes; length--;)
        hash = (hash ^ *at++) * UINT64_C(0x100000001b3);
    return hash;
}

/* The same for what is the same to an index. */
static uint64_t hash_of(const bson_t *spec, const bson_t *document) {
    uint64_t hash = UINT64_C(0xcbf29ce484222325);
    bson_iter_t keys, key, value;
    if (!in_index(spec, document) || !bson_iter_init_find(&keys, spec, "key"))
        return 0;
    bson_iter_recurse(&keys, &key);
    while (bson_iter_next(&key))
        if (box_at(document, bson_iter_key(&key), &value) && BSON_ITER_HOLDS_NUMBER(&value)) {
            hash = mix(hash, &(double){bson_iter_as_double(&value)}, sizeof(double));
        } else if (box_at(document, bson_iter_key(&key), &value)) {
            bson_t alone = BSON_INITIALIZER;
            bson_append_iter(&alone, "", 0, &value);
            hash = mix(hash, bson_get_data(&alone), alone.len);
            bson_destroy(&alone);
        }
    return hash | 1;
}

static void hash_all(const box_collection_t *collection, const bson_t *document,
                     uint64_t hashes[BOX_INDEXES]) {
    for (size_t i = 0; i < collection->index_count; i++)
        hashes[i] = hash_of(collection->indexes[i].spec, document);
}

static const char *first_key(const bson_t *spec) {
    bson_iter_t keys, key;
    return bson_iter_init_find(&keys, spec, "key") && bson_iter_recurse(&keys, &key) && bson_iter_next(&key)
               ? bson_iter_key(&key)
               : "";
}

static bool refuse_duplicate(const box_collection_t *collection, const char *key, box_error_t *error) {
    *error = (box_error_t){.code = 11000, .key = key};
    snprintf(error->words, sizeof error->words, "E11000 duplicate key error collection: %.120s index: %.20s",
             collection->name, key);
    return false;
}

/* but: where the document is in whose place it would be, or SIZE_MAX. */
static bool may_be(const box_collection_t *collection, const bson_t *document, size_t but,
                   uint64_t hashes[BOX_INDEXES], box_error_t *error) {
    bson_iter_t unique;
    if (collection->refused && box_matches(document, collection->refused)) {
        *error = (box_error_t){.code = collection->refused_code};
        snprintf(error->words, sizeof error->words, "Document failed validation");
        return false;
    }
    hash_all(collection, document, hashes);
    for (size_t i = 0; i < collection->index_count; i++) {
        const bson_t *spec = collection->indexes[i].spec;
        if (!hashes[i] || !bson_iter_init_find(&unique, spec, "unique") || !bson_iter_as_bool(&unique))
            continue;
        for (size_t j = 0; j < collection->count; j++)
            if (j != but && collection->hashes[j][i] == hashes[i] &&
                same_key(spec, collection->documents[j], document))
                return refuse_duplicate(collection, first_key(spec), error);
    }
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
        return refuse_duplicate(collection, "_id", error);
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
    if (!place_of(collection, document, &place) || place != at)
        box_die("an update would change an _id");
    if (!may_be(collection, document, at, hashes, error)) {
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

void box_add_index(box_collection_t *collection, const bson_t *spec) {
    bson_iter_t name, known;
    if (!bson_iter_init_find(&name, spec, "name"))
        box_die("an index has no name");
    for (size_t i = 0; i < collection->index_count; i++)
        if (bson_iter_init_find(&known, collection->indexes[i].spec, "name") &&
            box_compare(&known, &name) == 0)
            return;
    if (collection->index_count == BOX_INDEXES)
        box_die("no room for more indexes");
    collection->indexes[collection->index_count++].spec = bson_copy(spec);
    for (size_t i = 0; i < collection->count; i++)
        collection->hashes[i][collection->index_count - 1] = hash_of(spec, collection->documents[i]);
}
