#include "server/chunks/sharding.h"
#include "server/bson_read.h"
#include "server/chunks/config.h"

#include <stdio.h>
#include <string.h>

/* From 8.0 on a collection that is not sharded has an entry, too, when it was moved (moveCollection). */
static bool is_sharded(const bson_t *entry) {
    return !bson_read_true(entry, "dropped") && !bson_read_true(entry, "unsplittable");
}

static bool take(sharding_t *sharding, const bson_t *entry, err_t *err) {
    bson_iter_t at;
    bson_t spec;
    const uint8_t *uuid = bson_read_uuid(entry, "uuid");
    if (!is_sharded(entry) || !bson_read_field(entry, "key", &spec))
        return true;
    if (bson_iter_init_find(&at, entry, "_id") && BSON_ITER_HOLDS_UTF8(&at))
        snprintf(sharding->name, sizeof sharding->name, "%s", bson_iter_utf8(&at, NULL));
    if (!shardkey_read(&spec, &sharding->key))
        return err_set(err, STATUS_USAGE, "the shard key of %s is not understood", sharding->name);
    sharding->sharded = true;
    sharding->unbalanced = bson_read_true(entry, "noBalance");
    sharding->unique = bson_read_true(entry, "unique");
    sharding->unmerged = bson_iter_init_find(&at, entry, "enableAutoMerge") && !bson_iter_as_bool(&at);
    sharding->unmoved = bson_iter_init_find(&at, entry, "permitMigrations") && !bson_iter_as_bool(&at);
    if (bson_iter_init_find(&at, entry, "maxChunkSizeBytes"))
        sharding->chunk_bytes = bson_iter_as_int64(&at);
    if (bson_iter_init_find(&at, entry, "lastmodEpoch") && BSON_ITER_HOLDS_OID(&at))
        bson_oid_copy(bson_iter_oid(&at), &sharding->epoch);
    sharding->timestamp = bson_read_timestamp(entry, "timestamp");
    if (uuid)
        memcpy(sharding->uuid, uuid, sizeof sharding->uuid);
    return true;
}

bool sharding_read(server_t *server, mongoc_client_t *client, const uint8_t *uuid, sharding_t *sharding,
                   err_t *err) {
    config_list_t list;
    bson_t *filter = uuid ? BCON_NEW("uuid", BCON_BIN(BSON_SUBTYPE_UUID, uuid, SHARDING_UUID), "dropped", "{",
                                     "$ne", BCON_BOOL(true), "}")
                          : BCON_NEW("_id", BCON_UTF8(server_namespace(server)));
    *sharding = (sharding_t){.hidden = false};
    bson_init(&sharding->key.spec);
    bool ok = config_find(server, client, "collections", filter, NULL, &list, &sharding->hidden, err);
    bson_destroy(filter);
    ok = ok && (!list.count || take(sharding, list.documents[0], err));
    config_free(&list);
    return ok || sharding->hidden;
}

void sharding_free(sharding_t *sharding) {
    shardkey_free(&sharding->key);
}

bool sharding_is_any(server_t *server, mongoc_client_t *client, bool *sharded, err_t *err) {
    bson_t reply, *command = BCON_NEW("collStats", BCON_UTF8(server_collection(server)));
    const bool ok = server_command(server, client, server_database(server), command, false, &reply, err);
    bson_destroy(command);
    *sharded = ok && bson_read_true(&reply, "sharded");
    bson_destroy(&reply);
    return ok;
}
