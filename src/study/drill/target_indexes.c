#include "study/drill/target_indexes.h"
#include "base/text.h"
#include "server/bson_read.h"
#include "server/collection.h"
#include "server/server_errors.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Is the index described only by fields that do not say how it was made? */
static bool is_plain(const bson_t *index) {
    static const char *const known[] = {"v", "key", "name", "ns", "background", "2dsphereIndexVersion"};
    bson_iter_t at;
    for (bool ok = bson_iter_init(&at, index); ok && bson_iter_next(&at);) {
        bool found = false;
        for (size_t i = 0; i < sizeof known / sizeof *known; i++)
            found = found || strcmp(bson_iter_key(&at), known[i]) == 0;
        if (!found)
            return false;
    }
    return true;
}

static bool append_key(text_t *text, const bson_iter_t *at) {
    if (text->length)
        text_append(text, ",");
    if (BSON_ITER_HOLDS_UTF8(at))
        text_print(text, "%s:%s", bson_iter_key(at), bson_iter_utf8(at, NULL));
    else if (BSON_ITER_HOLDS_NUMBER(at))
        text_print(text, "%s:%d", bson_iter_key(at), bson_iter_as_double(at) < 0 ? -1 : 1);
    return BSON_ITER_HOLDS_UTF8(at) || BSON_ITER_HOLDS_NUMBER(at);
}

/* Some do not survive this: wildcards, and fields with commas or colons in their names. *named: its name does. */
static bool reads_back(const char *spelled, const bson_t *keys, const char *name, bool *named) {
    index_spec_t made;
    bson_iter_t at, same;
    err_t ignored;
    if (!collection_parse_index(spelled, &made, &ignored))
        return false;
    bool ok = bson_count_keys(&made.keys) == bson_count_keys(keys);
    for (bool more = ok && bson_iter_init(&at, keys); more && bson_iter_next(&at);)
        ok = ok && bson_iter_init_find(&same, &made.keys, bson_iter_key(&at));
    *named = !name || strcmp(made.name, name) == 0;
    collection_free_index(&made);
    return ok;
}

char *target_indexes_spell(const bson_t *index) {
    text_t text = {.length = 0};
    bson_iter_t at;
    bson_t keys;
    bool named;
    const char *name = bson_iter_init_find(&at, index, "name") && BSON_ITER_HOLDS_UTF8(&at)
                           ? bson_iter_utf8(&at, NULL)
                           : NULL;
    bool ok = is_plain(index) && bson_read_field(index, "key", &keys) && bson_iter_init(&at, &keys);
    while (ok && bson_iter_next(&at))
        ok = append_key(&text, &at);
    ok = ok && text.length && reads_back(text.bytes, &keys, name, &named);
    if (ok && !named) {
        text_print(&text, ";name=%s", name);
        ok = reads_back(text.bytes, &keys, name, &named) && named;
    }
    char *spelled = text_take_or_end(&text);
    if (ok)
        return spelled;
    free(spelled);
    return NULL;
}

static bool is_of_id(const bson_t *index) {
    bson_iter_t at;
    return (bson_iter_init_find(&at, index, "name") && BSON_ITER_HOLDS_UTF8(&at) &&
            strcmp(bson_iter_utf8(&at, NULL), "_id_") == 0) ||
           bson_iter_init_find(&at, index, "clustered");
}

static void keep(const bson_t *index, target_indexes_t *indexes) {
    bson_iter_t at;
    if (is_of_id(index))
        return;
    char *text = indexes->count < TARGET_MOST_INDEXES ? target_indexes_spell(index) : NULL;
    if (text)
        indexes->texts[indexes->count++] = text;
    else if (!indexes->other[0])
        snprintf(indexes->other, sizeof indexes->other, "%.159s",
                 bson_iter_init_find(&at, index, "name") && BSON_ITER_HOLDS_UTF8(&at)
                     ? bson_iter_utf8(&at, NULL)
                     : "without a name");
}

bool target_indexes_read(server_t *server, mongoc_client_t *client, target_indexes_t *indexes, err_t *err) {
    bson_t reply, index;
    bson_iter_t at;
    *indexes = (target_indexes_t){.count = 0};
    bool ok = collection_ask_indexes(server, client, &reply, err);
    if (ok && bson_read_batch(&reply, &at))
        while (bson_read_next(&at, &index))
            keep(&index, indexes);
    if (!ok && server_code(&reply) == CODE_NAMESPACE_NOT_FOUND)
        ok = true;
    bson_destroy(&reply);
    return ok;
}

/* Options that a load sets itself, or that mean nothing without others. */
static bool is_made_again(const char *option) {
    static const char *const known[] = {"clusteredIndex",  "storageEngine",    "uuid",
                                        "validationLevel", "validationAction", "autoIndexId"};
    for (size_t i = 0; i < sizeof known / sizeof *known; i++)
        if (strcmp(option, known[i]) == 0)
            return true;
    return false;
}

bool target_indexes_beyond(server_t *server, mongoc_client_t *client, char beyond[64], err_t *err) {
    bson_t reply, entry, options;
    bson_iter_t at, option;
    beyond[0] = '\0';
    const bool ok = collection_ask(server, client, &reply, err);
    if (ok && bson_read_batch(&reply, &at) && bson_read_next(&at, &entry) &&
        bson_read_field(&entry, "options", &options) && bson_iter_init(&option, &options))
        while (!beyond[0] && bson_iter_next(&option))
            if (!is_made_again(bson_iter_key(&option)))
                snprintf(beyond, 64, "%.63s", bson_iter_key(&option));
    bson_destroy(&reply);
    return ok;
}

void target_indexes_free(target_indexes_t *indexes) {
    for (size_t i = 0; i < indexes->count; i++)
        free(indexes->texts[i]);
    indexes->count = 0;
}
