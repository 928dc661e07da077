#include "target/claims.h"
#include "target/codes.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MOST_AT_ONCE = 1000 };

typedef struct {
    presence_t *presence;
    server_t *server;
    mongoc_client_t *client;
    char name[300];
    claim_t **asked; /* sorted by id */
    bson_oid_t *owners;
    bool *there; /* asked[i] is somebody's, ours perhaps */
    size_t count;
} asking_t;

static const char *key_of(uint32_t at, char text[16]) {
    const char *key;
    bson_uint32_to_string(at, &key, text, 16);
    return key;
}

static bool run(asking_t *asking, bson_t *command, bool writes, bson_t *reply, err_t *err) {
    bool ok = server_command(asking->server, asking->client, server_database(asking->server), command, writes,
                             reply, err);
    bson_destroy(command);
    return ok;
}

/* Those that were there before, by the reply; by a first try whose reply was lost, perhaps: to be adopted,
 * which does no harm. */
static void note_there(asking_t *asking, const bson_t *reply) {
    bson_iter_t at, errors, index;
    if (!bson_iter_init_find(&at, reply, "writeErrors") || !bson_iter_recurse(&at, &errors))
        return;
    while (bson_iter_next(&errors))
        if (bson_iter_recurse(&errors, &index) && bson_iter_find(&index, "index") &&
            (uint64_t)bson_iter_as_int64(&index) < asking->count)
            asking->there[bson_iter_as_int64(&index)] = true;
}

/* Inserts all; what is there already stays as it is. */
static bool insert_all(asking_t *asking, bool *all, err_t *err) {
    bson_t command = BSON_INITIALIZER, documents, document, reply;
    char text[16];
    BSON_APPEND_UTF8(&command, "insert", asking->name);
    BSON_APPEND_BOOL(&command, "ordered", false);
    BSON_APPEND_ARRAY_BEGIN(&command, "documents", &documents);
    for (size_t i = 0; i < asking->count; i++) {
        const char *key = key_of((uint32_t)i, text);
        BSON_APPEND_DOCUMENT_BEGIN(&documents, key, &document);
        BSON_APPEND_INT64(&document, "_id", asking->asked[i]->id);
        BSON_APPEND_OID(&document, "load", presence_id(asking->presence));
        BSON_APPEND_INT64(&document, "upto", asking->asked[i]->upto);
        bson_append_document_end(&documents, &document);
    }
    bson_append_array_end(&command, &documents);
    err_t taken = {.text = ""};
    *all = run(asking, &command, true, &reply, &taken);
    bool ok = *all || server_code(&reply) == CODE_DUPLICATE_KEY;
    if (!ok)
        *err = taken;
    note_there(asking, &reply);
    bson_destroy(&reply);
    return ok;
}

static size_t find(const asking_t *asking, int64_t id) {
    size_t low = 0, high = asking->count;
    while (low < high) {
        size_t middle = (low + high) / 2;
        if (asking->asked[middle]->id < id)
            low = middle + 1;
        else
            high = middle;
    }
    return low < asking->count && asking->asked[low]->id == id ? low : SIZE_MAX;
}

static bool is_ours(const asking_t *asking, size_t i) {
    return bson_oid_equal(&asking->owners[i], presence_id(asking->presence));
}

static void take_owner(asking_t *asking, const bson_iter_t *entry) {
    bson_iter_t field;
    bson_oid_t owner = {{0}};
    size_t i = SIZE_MAX;
    uint32_t upto = UINT32_MAX;
    for (bool ok = bson_iter_recurse(entry, &field); ok && bson_iter_next(&field);) {
        const char *key = bson_iter_key(&field);
        if (strcmp(key, "_id") == 0)
            i = find(asking, bson_iter_as_int64(&field));
        else if (strcmp(key, "load") == 0 && BSON_ITER_HOLDS_OID(&field))
            bson_oid_copy(bson_iter_oid(&field), &owner);
        else if (strcmp(key, "upto") == 0)
            upto = (uint32_t)bson_iter_as_int64(&field);
    }
    if (i == SIZE_MAX)
        return;
    bson_oid_copy(&owner, &asking->owners[i]);
    if (!is_ours(asking, i))
        asking->asked[i]->upto_then = upto;
}

static bool read_owners(asking_t *asking, err_t *err) {
    bson_t ids = BSON_INITIALIZER, reply;
    bson_iter_t at, batch;
    char text[16];
    for (size_t i = 0; i < asking->count; i++) {
        const char *key = key_of((uint32_t)i, text);
        BSON_APPEND_INT64(&ids, key, asking->asked[i]->id);
    }
    bson_t *command = BCON_NEW("find", BCON_UTF8(asking->name), "filter", "{", "_id", "{", "$in",
                               BCON_ARRAY(&ids), "}", "}", "limit", BCON_INT32(MOST_AT_ONCE), "singleBatch",
                               BCON_BOOL(true), "readConcern", "{", "level", BCON_UTF8("majority"), "}");
    bson_destroy(&ids);
    bool ok = run(asking, command, false, &reply, err);
    if (ok && bson_iter_init(&at, &reply) && bson_iter_find_descendant(&at, "cursor.firstBatch", &batch) &&
        bson_iter_recurse(&batch, &at))
        while (bson_iter_next(&at))
            take_owner(asking, &at);
    bson_destroy(&reply);
    return ok;
}

static bool is_alive(const alive_t *alive, size_t count, const bson_oid_t *load) {
    for (size_t i = 0; i < count; i++)
        if (bson_oid_equal(&alive[i].id, load))
            return true;
    return false;
}

/* Those of the dead: ours, unless somebody else is faster. */
static bool take_over(asking_t *asking, const alive_t *alive, size_t alive_count, err_t *err) {
    bson_t command = BSON_INITIALIZER, updates, statement;
    char text[16];
    uint32_t at = 0;
    BSON_APPEND_UTF8(&command, "update", asking->name);
    BSON_APPEND_BOOL(&command, "ordered", false);
    BSON_APPEND_ARRAY_BEGIN(&command, "updates", &updates);
    for (size_t i = 0; i < asking->count; i++) {
        if (is_ours(asking, i) || is_alive(alive, alive_count, &asking->owners[i]))
            continue;
        const char *key = key_of(at++, text);
        BSON_APPEND_DOCUMENT_BEGIN(&updates, key, &statement);
        BCON_APPEND(&statement, "q", "{", "_id", BCON_INT64(asking->asked[i]->id), "load",
                    BCON_OID(&asking->owners[i]), "}", "u", "{", "$set", "{", "load",
                    BCON_OID(presence_id(asking->presence)), "}", "$max", "{", "upto",
                    BCON_INT64(asking->asked[i]->upto), "}", "}");
        bson_append_document_end(&updates, &statement);
    }
    bson_append_array_end(&command, &updates);
    if (!at) {
        bson_destroy(&command);
        return true;
    }
    return run(asking, &command, true, NULL, err) && read_owners(asking, err);
}

static int by_id(const void *a, const void *b) {
    const claim_t *left = *(claim_t *const *)a, *right = *(claim_t *const *)b;
    return (left->id > right->id) - (left->id < right->id);
}

static bool ask(asking_t *asking, err_t *err) {
    alive_t *alive = NULL;
    size_t alive_count = 0;
    bool all = false, ok = insert_all(asking, &all, err);
    if (ok && !all)
        ok = read_owners(asking, err) &&
             presence_list(asking->server, asking->client, &alive, &alive_count, err) &&
             take_over(asking, alive, alive_count, err);
    free(alive);
    for (size_t i = 0; ok && i < asking->count; i++)
        asking->asked[i]->state = !all && !is_ours(asking, i) ? CLAIM_BUSY
                                  : asking->there[i]          ? CLAIM_ADOPTED
                                                              : CLAIM_NEW;
    return ok;
}

static bool take_some(presence_t *presence, claim_t *claims, size_t count, err_t *err) {
    asking_t asking = {.presence = presence,
                       .server = presence_server(presence),
                       .client = presence_client(presence),
                       .asked = malloc((count + 1) * sizeof(claim_t *)),
                       .owners = calloc(count + 1, sizeof(bson_oid_t)),
                       .there = calloc(count + 1, sizeof(bool))};
    snprintf(asking.name, sizeof asking.name, "%s.tipple.claims", server_collection(asking.server));
    bool ok = (asking.asked && asking.owners && asking.there) || err_memory(err, count * 32);
    for (size_t i = 0; ok && i < count; i++)
        if (claims[i].state == CLAIM_OPEN || claims[i].state == CLAIM_BUSY) {
            claims[i].upto_then = UINT32_MAX;
            asking.asked[asking.count++] = &claims[i];
        }
    if (ok && asking.count) {
        qsort(asking.asked, asking.count, sizeof *asking.asked, by_id);
        ok = ask(&asking, err);
    }
    free(asking.asked);
    free(asking.owners);
    free(asking.there);
    return ok;
}

bool claims_take(presence_t *presence, claim_t *claims, size_t count, err_t *err) {
    bool ok = true;
    for (size_t from = 0; ok && from < count; from += MOST_AT_ONCE)
        ok = take_some(presence, claims + from, count - from < MOST_AT_ONCE ? count - from : MOST_AT_ONCE,
                       err);
    return ok;
}
