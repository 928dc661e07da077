#include "server/indexes/present_indexes.h"
#include "base/document.h"
#include "base/text.h"
#include "server/bson_read.h"
#include "server/collection.h"
#include "server/server_errors.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static bool append_key(text_t *text, const bson_iter_t *at) {
    if (text->length)
        text_append(text, ",");
    if (BSON_ITER_HOLDS_UTF8(at))
        text_print(text, "%s:%s", bson_iter_key(at), bson_iter_utf8(at, NULL));
    else if (BSON_ITER_HOLDS_NUMBER(at))
        text_print(text, "%s:%d", bson_iter_key(at), bson_iter_as_double(at) < 0 ? -1 : 1);
    return BSON_ITER_HOLDS_UTF8(at) || BSON_ITER_HOLDS_NUMBER(at);
}

/* False: --index has no word for one, or it removes documents by their age, which a drill would miss. *partial: a filter, which stands last. */
static bool append_options(text_t *text, const bson_t *options, bson_t *partial, bool *filtered) {
    bson_iter_t at;
    bool ok = bson_iter_init(&at, options);
    *filtered = false;
    while (ok && bson_iter_next(&at)) {
        const char *option = bson_iter_key(&at);
        if (strcmp(option, "unique") == 0 || strcmp(option, "sparse") == 0)
            text_print(text, "%s%s", bson_iter_as_bool(&at) ? ";" : "", bson_iter_as_bool(&at) ? option : "");
        else if (strcmp(option, "partialFilterExpression") == 0)
            ok = *filtered = bson_read_field(options, option, partial);
        else
            ok = strcmp(option, "v") == 0 || strcmp(option, "2dsphereIndexVersion") == 0;
    }
    return ok;
}

/* Some do not survive this: wildcards, and fields or names with commas, colons or semicolons in them. */
static bool reads_back(const char *spelled, const index_spec_t *index) {
    index_spec_t made;
    err_t ignored;
    if (!collection_parse_index(spelled, &made, &ignored))
        return false;
    const bool same = collection_same_keys(&made, index) && strcmp(made.name, index->name) == 0 &&
                      bson_read_true(&made.options, "unique") == bson_read_true(&index->options, "unique") &&
                      bson_read_true(&made.options, "sparse") == bson_read_true(&index->options, "sparse") &&
                      collection_same_option(&made, index, "partialFilterExpression");
    collection_free_index(&made);
    return same;
}

static bool append_index(text_t *text, const index_spec_t *index) {
    char usual[COLLECTION_INDEX_NAME];
    bson_iter_t at;
    bson_t partial;
    bool filtered;
    bool ok = bson_iter_init(&at, &index->keys);
    while (ok && bson_iter_next(&at))
        ok = append_key(text, &at);
    ok = ok && append_options(text, &index->options, &partial, &filtered);
    collection_name_index(&index->keys, usual);
    if (strcmp(usual, index->name) != 0)
        text_print(text, ";name=%s", index->name);
    if (ok && filtered) {
        text_append(text, ";partial=");
        ok = ejson_append(text, &partial, false);
    }
    return ok;
}

char *present_indexes_spell(const bson_t *listed) {
    text_t text = {.length = 0};
    index_spec_t index;
    err_t ignored;
    if (!collection_take_index(listed, &index, &ignored))
        return NULL;
    const bool ok = append_index(&text, &index);
    char *spelled = text_take_or_end(&text);
    const bool same = ok && reads_back(spelled, &index);
    collection_free_index(&index);
    if (same)
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

static void keep(const bson_t *index, present_indexes_t *indexes) {
    bson_iter_t at;
    if (is_of_id(index))
        return;
    char *text = indexes->count < PRESENT_MOST_INDEXES ? present_indexes_spell(index) : NULL;
    if (text)
        indexes->texts[indexes->count++] = text;
    else if (!indexes->other[0])
        snprintf(indexes->other, sizeof indexes->other, "%.159s",
                 bson_iter_init_find(&at, index, "name") && BSON_ITER_HOLDS_UTF8(&at)
                     ? bson_iter_utf8(&at, NULL)
                     : "without a name");
}

bool present_indexes_read(server_t *server, mongoc_client_t *client, present_indexes_t *indexes, err_t *err) {
    bson_t reply, index;
    bson_iter_t at;
    *indexes = (present_indexes_t){.count = 0};
    bool ok = collection_ask_indexes(server, client, &reply, err);
    if (ok && bson_read_batch(&reply, &at))
        while (bson_read_next(&at, &index))
            keep(&index, indexes);
    if (!ok && server_code(&reply) == CODE_NAMESPACE_NOT_FOUND)
        ok = true;
    bson_destroy(&reply);
    return ok;
}

/* {storageEngine: {wiredTiger: {configString: "block_compressor=zstd"}}}, as a load sets it, and nothing more. */
static bool is_of_compressor(const bson_t *options) {
    static const char begin[] = "block_compressor=";
    bson_t engine, wired;
    bson_iter_t config;
    if (!bson_read_field(options, "storageEngine", &engine) || bson_count_keys(&engine) != 1 ||
        !bson_read_field(&engine, "wiredTiger", &wired) || bson_count_keys(&wired) != 1 ||
        !bson_iter_init_find(&config, &wired, "configString") || !BSON_ITER_HOLDS_UTF8(&config))
        return false;
    const char *text = bson_iter_utf8(&config, NULL);
    return strncmp(text, begin, sizeof begin - 1) == 0 && !strchr(text, ',');
}

/* Options that a load sets itself, or that mean nothing without others. */
static bool is_made_again(const bson_t *options, const char *option) {
    static const char *const known[] = {"clusteredIndex", "uuid", "validationLevel", "validationAction",
                                        "autoIndexId"};
    for (size_t i = 0; i < sizeof known / sizeof *known; i++)
        if (strcmp(option, known[i]) == 0)
            return true;
    return strcmp(option, "storageEngine") == 0 && is_of_compressor(options);
}

bool present_indexes_beyond(server_t *server, mongoc_client_t *client, const bson_t *asked, char beyond[64],
                            err_t *err) {
    bson_t reply, entry, options;
    bson_iter_t at, option;
    beyond[0] = '\0';
    const bool ok = collection_ask(server, client, &reply, err);
    if (ok && bson_read_batch(&reply, &at) && bson_read_next(&at, &entry) &&
        bson_read_field(&entry, "options", &options) && bson_iter_init(&option, &options))
        while (!beyond[0] && bson_iter_next(&option))
            if (!is_made_again(&options, bson_iter_key(&option)) &&
                !(asked && bson_has_field(asked, bson_iter_key(&option))))
                snprintf(beyond, 64, "%.63s", bson_iter_key(&option));
    bson_destroy(&reply);
    return ok;
}

void present_indexes_free(present_indexes_t *indexes) {
    for (size_t i = 0; i < indexes->count; i++)
        free(indexes->texts[i]);
    indexes->count = 0;
}
