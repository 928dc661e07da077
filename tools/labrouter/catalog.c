#include "call.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* The first document of a find on the config database; false with found = false is a problem. */
static bool find_one(call_t *call, const char *collection, const bson_t *filter, bson_t *document,
                     bool *found) {
    bson_t reply, part;
    bson_iter_t iter, first;
    const uint8_t *data;
    uint32_t size;
    bson_t *command = BCON_NEW("find", BCON_UTF8(collection), "filter", BCON_DOCUMENT(filter), "limit",
                               BCON_INT32(1), "singleBatch", BCON_BOOL(true));
    if (!call_ask(call, "config", "config", command, &reply))
        return false;
    *found = bson_iter_init(&iter, &reply) && bson_iter_find_descendant(&iter, "cursor.firstBatch.0", &first);
    if (*found) {
        bson_iter_document(&first, &size, &data);
        bson_init_static(&part, data, size);
        bson_copy_to(&part, document);
    }
    bson_destroy(&reply);
    return true;
}

/* A document within another, borrowed; an empty one when it is not there. */
static void part_of(const bson_t *document, const char *key, bson_t *part) {
    static const uint8_t EMPTY[] = {5, 0, 0, 0, 0};
    bson_iter_t iter;
    const uint8_t *data = EMPTY;
    uint32_t size = sizeof EMPTY;
    if (bson_iter_init_find(&iter, document, key) && BSON_ITER_HOLDS_DOCUMENT(&iter))
        bson_iter_document(&iter, &size, &data);
    bson_init_static(part, data, size);
}

static const char *text_of(const bson_t *document, const char *key) {
    bson_iter_t iter;
    return bson_iter_init_find(&iter, document, key) && BSON_ITER_HOLDS_UTF8(&iter)
               ? bson_iter_utf8(&iter, NULL)
               : "";
}

/* ---- databases and collections ---- */

static bool find_database(call_t *call, const char *name, database_t *database) {
    bson_t document, version;
    bson_t *filter = BCON_NEW("_id", BCON_UTF8(name));
    const bool asked = find_one(call, "databases", filter, &document, &database->found);
    bson_destroy(filter);
    if (!asked || !database->found)
        return asked;
    snprintf(database->primary, sizeof database->primary, "%s", text_of(&document, "primary"));
    part_of(&document, "version", &version);
    bson_copy_to(&version, &database->version);
    bson_destroy(&document);
    return true;
}

bool catalog_database(call_t *call, const char *name, bool create, database_t *database) {
    database->found = false;
    if (!find_database(call, name, database))
        return false;
    if (database->found || !create)
        return true;
    bson_t reply, *command = BCON_NEW("_configsvrCreateDatabase", BCON_UTF8(name));
    call_majority(command);
    if (!call_ask(call, "config", "admin", command, &reply))
        return false;
    bson_destroy(&reply);
    return find_database(call, name, database) &&
           (database->found ||
            problem_set(call->problem, CODE_NO_SUCH_NAMESPACE, "the database %s has gone again", name));
}

void catalog_database_clean(database_t *database) {
    if (database->found)
        bson_destroy(&database->version);
}

bool catalog_collection(call_t *call, const char *namespace, collection_t *collection) {
    bson_t *filter = BCON_NEW("_id", BCON_UTF8(namespace));
    const bool asked = find_one(call, "collections", filter, &collection->document, &collection->sharded);
    bson_destroy(filter);
    if (asked && collection->sharded)
        part_of(&collection->document, "key", &collection->key);
    return asked;
}

void catalog_collection_clean(collection_t *collection) {
    if (collection->sharded)
        bson_destroy(&collection->document);
}

bool catalog_sharded(call_t *call, const char *namespace, collection_t *collection) {
    return catalog_collection(call, namespace, collection) &&
           (collection->sharded ||
            problem_set(call->problem, CODE_NOT_SHARDED, "the collection %s is not sharded", namespace));
}

/* ---- shards ---- */

void names_clean(names_t *names) {
    free(names->names);
    *names = (names_t){0};
}

static void names_add(names_t *names, const char *name) {
    names->names = realloc(names->names, (names->count + 1) * sizeof *names->names);
    snprintf(names->names[names->count++], NAME_SIZE, "%s", name);
}

static bool distinct(call_t *call, bson_t *command, names_t *names) {
    bson_t reply;
    bson_iter_t iter, value;
    if (!call_ask(call, "config", "config", command, &reply))
        return false;
    if (bson_iter_init_find(&iter, &reply, "values") && bson_iter_recurse(&iter, &value))
        while (bson_iter_next(&value))
            if (BSON_ITER_HOLDS_UTF8(&value))
                names_add(names, bson_iter_utf8(&value, NULL));
    bson_destroy(&reply);
    return true;
}

bool catalog_shards(call_t *call, names_t *names) {
    return distinct(call, BCON_NEW("distinct", "shards", "key", "_id"), names);
}

bool catalog_primary(call_t *call, const char *name, bool create, char *place) {
    database_t database;
    if (strcmp(name, "config") == 0 || strcmp(name, "admin") == 0) {
        snprintf(place, NAME_SIZE, "config");
        return true;
    }
    if (!catalog_database(call, name, create, &database))
        return false;
    snprintf(place, NAME_SIZE, "%s", database.found ? database.primary : "");
    catalog_database_clean(&database);
    return true;
}

/* The field of config.chunks that says whose chunk it is: the collection's uuid. */
static void append_uuid(const collection_t *collection, bson_t *to) {
    bson_iter_t iter;
    if (bson_iter_init_find(&iter, &collection->document, "uuid"))
        bson_append_iter(to, "uuid", -1, &iter);
}

bool catalog_owners(call_t *call, const char *namespace, bool create, names_t *names) {
    collection_t collection;
    char name[NAME_SIZE], place[NAME_SIZE];
    if (!catalog_collection(call, namespace, &collection))
        return false;
    if (collection.sharded) {
        bson_t query, *command = BCON_NEW("distinct", "chunks", "key", "shard");
        bson_append_document_begin(command, "query", -1, &query);
        append_uuid(&collection, &query);
        bson_append_document_end(command, &query);
        catalog_collection_clean(&collection);
        return distinct(call, command, names);
    }
    snprintf(name, sizeof name, "%.*s", (int)strcspn(namespace, "."), namespace);
    if (!catalog_primary(call, name, create, place))
        return false;
    if (place[0])
        names_add(names, place);
    return true;
}

/* ---- chunks ---- */

bool catalog_chunk(call_t *call, const collection_t *collection, const bson_t *key, const bson_t *max,
                   chunk_t *chunk) {
    bson_t filter = BSON_INITIALIZER, bound;
    bool found;
    append_uuid(collection, &filter);
    if (max) {
        bson_append_document(&filter, "min", -1, key);
        bson_append_document(&filter, "max", -1, max);
    } else { /* the server compares keys as it orders them */
        bson_append_document_begin(&filter, "min", -1, &bound);
        bson_append_document(&bound, "$lte", -1, key);
        bson_append_document_end(&filter, &bound);
        bson_append_document_begin(&filter, "max", -1, &bound);
        bson_append_document(&bound, "$gt", -1, key);
        bson_append_document_end(&filter, &bound);
    }
    const bool asked = find_one(call, "chunks", &filter, &chunk->document, &found);
    bson_destroy(&filter);
    if (!asked)
        return false;
    if (!found) {
        char *words = bson_as_relaxed_extended_json(key, NULL);
        problem_set(call->problem, CODE_NO_SUCH_NAMESPACE, "there is no chunk %s %s",
                    max ? "with just the bounds from" : "for", words);
        bson_free(words);
        return false;
    }
    part_of(&chunk->document, "min", &chunk->min);
    part_of(&chunk->document, "max", &chunk->max);
    chunk->shard = text_of(&chunk->document, "shard");
    return true;
}

void catalog_chunk_clean(chunk_t *chunk) {
    bson_destroy(&chunk->document);
}
