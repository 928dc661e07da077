#include "server/chunks/config.h"
#include "base/text.h"
#include "server/command_cursor.h"
#include "server/server_errors.h"

#include <stdlib.h>
#include <string.h>

void config_free(config_list_t *list) {
    for (size_t i = 0; i < list->count; i++)
        bson_destroy(list->documents[i]);
    free(list->documents);
    *list = (config_list_t){NULL, 0};
}

static bool keep(config_list_t *list, size_t *room, const bson_t *document) {
    return GROW(list->documents, *room, list->count + 1, NULL) &&
           (list->documents[list->count] = bson_copy(document)) && ++list->count;
}

bool config_find(server_t *server, mongoc_client_t *client, const char *collection, const bson_t *filter,
                 const bson_t *options, config_list_t *list, bool *hidden, err_t *err) {
    bson_error_t error;
    const bson_t *document, *reply = NULL;
    patience_t patience = server_patience(server);
    mongoc_read_prefs_t *primary = mongoc_read_prefs_new(MONGOC_READ_PRIMARY);
    bson_t *whole = BCON_NEW("readConcern", "{", "level", BCON_UTF8("majority"), "}");
    bool ok, again;
    if (options)
        bson_concat(whole, options);
    *list = (config_list_t){NULL, 0};
    do {
        size_t room = 0;
        command_cursor_t cursor;
        command_cursor_find(&cursor, client, "config", collection, filter, whole, primary);
        config_free(list);
        ok = true;
        while (ok && command_cursor_next(&cursor, &document))
            ok = keep(list, &room, document) || err_memory(err, document->len);
        again = false;
        if (ok && command_cursor_failed(&cursor, &error, &reply)) {
            ok = false;
            again = server_again(server, client, &patience, &error, reply, "read the config database", err);
            if (hidden)
                *hidden = error.code == CODE_UNAUTHORIZED;
        }
        command_cursor_end(&cursor);
    } while (again);
    mongoc_read_prefs_destroy(primary);
    bson_destroy(whole);
    if (!ok)
        config_free(list);
    return ok;
}

/* "s0/a:1,b:2": the replica set and its members. Borrowed; NULL: unknown. */
static const char *find_host(const config_list_t *shards, const char *name) {
    bson_iter_t id, host;
    for (size_t i = 0; i < shards->count; i++)
        if (bson_iter_init_find(&id, shards->documents[i], "_id") && BSON_ITER_HOLDS_UTF8(&id) &&
            strcmp(bson_iter_utf8(&id, NULL), name) == 0)
            return bson_iter_init_find(&host, shards->documents[i], "host") && BSON_ITER_HOLDS_UTF8(&host)
                       ? bson_iter_utf8(&host, NULL)
                       : NULL;
    return NULL;
}

server_t *config_open_shard(const server_t *server, const config_list_t *shards, const char *name,
                            uint32_t connections, int64_t patience_ns, err_t *err) {
    const char *host = find_host(shards, name), *slash = host ? strchr(host, '/') : NULL;
    char *set = slash ? strndup(host, (size_t)(slash - host)) : NULL;
    if (!set) {
        err_set(err, STATUS_USAGE, "the cluster does not tell its hosts");
        return NULL;
    }
    server_t *shard = server_beside(server, slash + 1, set, connections, patience_ns, err);
    free(set);
    return shard;
}
