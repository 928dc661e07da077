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
    bson_destroy(collection->options);
    bson_destroy(collection->refused);
    *collection = store->collections[--store->count];
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
}

/* ---- what keeps a document out ---- */

static void id_of(const bson_t *document, bson_iter_t *id) {
    if (!bson_iter_init_find(id, document, "_id"))
        box_die("a document has no _id");
}

/* Where the _id is, or belongs. */
static bool place_of(const box_collection_t *collection, const bson_t *document, size_t *at) {
    size_t from = 0, to = collection->count;
    bson_iter_t id, other;
    id_of(document, &id);
    while (from < to) {
        const size_t middle = from + (to - from) / 2;
        id_of(collection->documents[middle], &other);
        const int order = box_compare(&other, &id);
        if (!order) {
            *at = middle;
            return true;
        }
        if (order < 0)
            from = middle + 1;
        else
            to = middle;
    }
    *at = from;
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

/* but: the document in whose place it would be, or NULL. */
static bool may_be(const box_collection_t *collection, const bson_t *document, const bson_t *but,
                   box_error_t *error) {
    bson_iter_t unique;
    if (collection->refused && box_matches(document, collection->refused)) {
        *error = (box_error_t){.code = collection->refused_code};
        snprintf(error->words, sizeof error->words, "Document failed validation");
        return false;
    }
    for (size_t i = 0; i < collection->index_count; i++) {
        const bson_t *spec = collection->indexes[i].spec;
        if (!bson_iter_init_find(&unique, spec, "unique") || !bson_iter_as_bool(&unique) ||
            !in_index(spec, document))
            continue;
        for (size_t j = 0; j < collection->count; j++)
            if (collection->documents[j] != but && in_index(spec, collection->documents[j]) &&
                same_key(spec, collection->documents[j], document))
                return refuse_duplicate(collection, first_key(spec), error);
    }
    return true;
}

/* ---- changing ---- */

bool box_put(box_collection_t *collection, const bson_t *document, box_error_t *error) {
    size_t at;
    if (place_of(collection, document, &at))
        return refuse_duplicate(collection, "_id", error);
    if (!may_be(collection, document, NULL, error))
        return false;
    if (collection->count == collection->room) {
        collection->room = collection->room ? 2 * collection->room : 64;
        collection->documents = realloc(collection->documents, collection->room * sizeof(bson_t *));
        if (!collection->documents)
            box_die("out of memory");
    }
    memmove(collection->documents + at + 1, collection->documents + at,
            (collection->count++ - at) * sizeof(bson_t *));
    collection->documents[at] = bson_copy(document);
    return true;
}

bool box_replace(box_collection_t *collection, size_t at, bson_t *document, box_error_t *error) {
    size_t place;
    if (!place_of(collection, document, &place) || place != at)
        box_die("an update would change an _id");
    if (!may_be(collection, document, collection->documents[at], error)) {
        bson_destroy(document);
        return false;
    }
    bson_destroy(collection->documents[at]);
    collection->documents[at] = document;
    return true;
}

void box_take_out(box_collection_t *collection, size_t at) {
    bson_destroy(collection->documents[at]);
    memmove(collection->documents + at, collection->documents + at + 1,
            (--collection->count - at) * sizeof(bson_t *));
}
