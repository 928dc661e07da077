/* What a box does as the router of a cluster of two shards, s0 and s1, whose documents it keeps in one place: zones and
 * chunks are written into the config database, where whoever asks finds them. */
#include "box_inner.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef struct {
    bson_t **documents;
    size_t count;
} found_t;

static box_collection_t *config(const call_t *call, const char *name) {
    return box_make_collection(&call->box->store, "config", name, NULL);
}

static void put(const call_t *call, const char *collection, bson_t *document) {
    box_error_t error;
    if (!box_put(config(call, collection), document, &error))
        box_die("config.%s: %s", collection, error.words);
    bson_destroy(document);
}

static void view_of(const bson_t *document, const char *field, bson_t *view) {
    bson_iter_t iter;
    if (!bson_iter_init_find(&iter, document, field))
        box_die("there is no '%s' in the command to the cluster", field);
    box_inside(&iter, view);
}

/* Are these fields of both the same? */
static bool same(const bson_t *a, const char *of_a, const bson_t *b, const char *of_b) {
    bson_iter_t x, y;
    return box_at(a, of_a, &x) && box_at(b, of_b, &y) && box_compare(&x, &y) == 0;
}

void box_begin_cluster(box_t *box) {
    const call_t call = {.box = box};
    for (int i = 0; i < 2; i++) {
        char id[8], host[64];
        snprintf(id, sizeof id, "s%d", i);
        snprintf(host, sizeof host, "s%d/127.0.0.1:%u", i, box->port);
        put(&call, "shards", BCON_NEW("_id", BCON_UTF8(id), "host", BCON_UTF8(host), "state", BCON_INT32(1)));
    }
}

/* ---- zones ---- */

static void list_shards(const call_t *call) {
    const box_collection_t *shards = config(call, "shards");
    bson_t list;
    BSON_APPEND_ARRAY_UNSAFE_BEGIN(call->reply, "shards", &list);
    for (size_t i = 0; i < shards->count; i++) {
        char key[24];
        snprintf(key, sizeof key, "%zu", i);
        BSON_APPEND_DOCUMENT(&list, key, shards->documents[i]);
    }
    bson_append_array_end(call->reply, &list);
}

/* The shard's tags with this one among them, or without it. */
static void set_tag(const call_t *call, bool with) {
    box_collection_t *shards = config(call, "shards");
    box_error_t error;
    bson_iter_t tags, each;
    for (size_t i = 0; i < shards->count; i++) {
        bson_t *next = bson_new(), list;
        if (strcmp(box_text(shards->documents[i], "_id"), call->target) != 0) {
            bson_destroy(next);
            continue;
        }
        bson_copy_to_excluding_noinit(shards->documents[i], next, "tags", NULL);
        BSON_APPEND_ARRAY_UNSAFE_BEGIN(next, "tags", &list);
        char key[24] = "0";
        uint32_t count = 0;
        if (bson_iter_init_find(&tags, shards->documents[i], "tags") && bson_iter_recurse(&tags, &each))
            while (bson_iter_next(&each))
                if (strcmp(bson_iter_utf8(&each, NULL), box_text(call->command, "zone")) != 0) {
                    bson_append_iter(&list, key, -1, &each);
                    snprintf(key, sizeof key, "%u", ++count);
                }
        if (with)
            BSON_APPEND_UTF8(&list, key, box_text(call->command, "zone"));
        bson_append_array_end(next, &list);
        box_replace(shards, i, next, &error);
    }
}

static void add_shard_to_zone(const call_t *call) {
    set_tag(call, true);
}

/* The number of documents of config.NAME in which the field is this text. */
static size_t count_of(const call_t *call, const char *name, const char *field, const char *wanted) {
    const box_collection_t *list = config(call, name);
    bson_t *filter = BCON_NEW(field, BCON_UTF8(wanted));
    size_t count = 0;
    for (size_t i = 0; i < list->count; i++)
        count += box_matches(list->documents[i], filter);
    bson_destroy(filter);
    return count;
}

static void remove_shard_from_zone(const call_t *call) {
    const char *zone = box_text(call->command, "zone");
    if (count_of(call, "tags", "tag", zone) && count_of(call, "shards", "tags", zone) == 1)
        box_fail(call->reply, 163, "cannot remove a shard from zone if a chunk range is associated with it");
    else
        set_tag(call, false);
}

static void update_zone_key_range(const call_t *call) {
    box_collection_t *tags = config(call, "tags");
    bson_t min, max;
    bson_oid_t oid;
    bson_oid_init(&oid, NULL);
    view_of(call->command, "min", &min);
    view_of(call->command, "max", &max);
    for (size_t i = tags->count; i-- > 0;)
        if (strcmp(box_text(tags->documents[i], "ns"), call->target) == 0 &&
            same(tags->documents[i], "min", call->command, "min"))
            box_take_out(tags, i);
    if (*box_text(call->command, "zone"))
        put(call, "tags",
            BCON_NEW("_id", BCON_OID(&oid), "ns", BCON_UTF8(call->target), "min", BCON_DOCUMENT(&min), "max",
                     BCON_DOCUMENT(&max), "tag", BCON_UTF8(box_text(call->command, "zone"))));
}

/* ---- chunks ---- */

static const char *shard_of_tag(const call_t *call, const char *tag) {
    const box_collection_t *shards = config(call, "shards");
    bson_t *filter = BCON_NEW("tags", BCON_UTF8(tag));
    const char *name = "s0";
    for (size_t i = 0; i < shards->count; i++)
        if (box_matches(shards->documents[i], filter))
            name = box_text(shards->documents[i], "_id");
    bson_destroy(filter);
    return name;
}

static void put_chunk(const call_t *call, const uint8_t uuid[16], const bson_t *min, const bson_t *max,
                      const char *shard) {
    bson_oid_t oid;
    bson_oid_init(&oid, NULL);
    put(call, "chunks",
        BCON_NEW("_id", BCON_OID(&oid), "uuid", BCON_BIN(BSON_SUBTYPE_UUID, uuid, 16), "min",
                 BCON_DOCUMENT(min), "max", BCON_DOCUMENT(max), "shard", BCON_UTF8(shard), "lastmod",
                 BCON_TIMESTAMP(++call->box->moves, 0)));
}

static box_collection_t *sharded(const call_t *call) {
    char database[64];
    const size_t length = strcspn(call->target, ".");
    snprintf(database, sizeof database, "%.*s", (int)length, call->target);
    return box_make_collection(&call->box->store, database, call->target + length + 1, NULL);
}

/* {a: END, b: END} */
static void end_of(const bson_t *key, bool greatest, bson_t *end) {
    bson_iter_t each;
    bson_init(end);
    for (bson_iter_init(&each, key); bson_iter_next(&each);)
        (greatest ? bson_append_maxkey : bson_append_minkey)(end, bson_iter_key(&each), -1);
}

static void shard_collection(const call_t *call) {
    const box_collection_t *tags = config(call, "tags");
    uint8_t uuid[16];
    size_t chunks = 0;
    bson_t key, least, greatest;
    bson_oid_t epoch;
    memcpy(uuid, sharded(call)->uuid, sizeof uuid);
    view_of(call->command, "key", &key);
    bson_oid_init(&epoch, NULL);
    put(call, "collections",
        BCON_NEW("_id", BCON_UTF8(call->target), "lastmodEpoch", BCON_OID(&epoch), "timestamp",
                 BCON_TIMESTAMP(7, 1), "uuid", BCON_BIN(BSON_SUBTYPE_UUID, uuid, 16), "key",
                 BCON_DOCUMENT(&key)));
    for (size_t i = 0; i < tags->count; i++) {
        bson_t min, max;
        if (strcmp(box_text(tags->documents[i], "ns"), call->target) != 0)
            continue;
        view_of(tags->documents[i], "min", &min);
        view_of(tags->documents[i], "max", &max);
        put_chunk(call, uuid, &min, &max, shard_of_tag(call, box_text(tags->documents[i], "tag")));
        chunks++;
    }
    if (chunks)
        return;
    end_of(&key, false, &least);
    end_of(&key, true, &greatest);
    put_chunk(call, uuid, &least, &greatest, "s0");
    bson_destroy(&least);
    bson_destroy(&greatest);
}

/* The chunk that has this key, or begins with it. */
static size_t chunk_at(const call_t *call, const box_collection_t *chunks, const char *path) {
    bson_iter_t key, min, max;
    bson_t *filter = BCON_NEW("uuid", BCON_BIN(BSON_SUBTYPE_UUID, sharded(call)->uuid, 16));
    for (size_t i = 0; i < chunks->count; i++)
        if (box_matches(chunks->documents[i], filter) && box_at(call->command, path, &key) &&
            box_at(chunks->documents[i], "min", &min) && box_at(chunks->documents[i], "max", &max) &&
            box_compare(&min, &key) <= 0 && box_compare(&key, &max) < 0) {
            bson_destroy(filter);
            return i;
        }
    box_die("no chunk has the key of a %s", call->name);
}

static void split(const call_t *call) {
    box_collection_t *chunks = config(call, "chunks");
    const size_t at = chunk_at(call, chunks, "middle");
    bson_t *old = bson_copy(chunks->documents[at]), min, max, middle;
    view_of(old, "min", &min);
    view_of(old, "max", &max);
    view_of(call->command, "middle", &middle);
    box_take_out(chunks, at);
    put_chunk(call, sharded(call)->uuid, &min, &middle, box_text(old, "shard"));
    put_chunk(call, sharded(call)->uuid, &middle, &max, box_text(old, "shard"));
    bson_destroy(old);
}

static void move_chunk(const call_t *call) {
    box_collection_t *chunks = config(call, "chunks");
    const size_t at = chunk_at(call, chunks, "bounds.0");
    bson_t *old = bson_copy(chunks->documents[at]), min, max;
    view_of(old, "min", &min);
    view_of(old, "max", &max);
    box_take_out(chunks, at);
    put_chunk(call, sharded(call)->uuid, &min, &max, box_text(call->command, "to"));
    bson_destroy(old);
}

static void take_all(const call_t *call, const char *name, bson_t *filter) {
    box_delete_from(config(call, name), filter, 0);
    bson_destroy(filter);
}

void box_drop_shards(box_t *box, const box_collection_t *collection) {
    const call_t call = {.box = box};
    if (box->kind != BOX_ROUTER)
        return;
    take_all(&call, "collections", BCON_NEW("_id", BCON_UTF8(collection->name)));
    take_all(&call, "chunks", BCON_NEW("uuid", BCON_BIN(BSON_SUBTYPE_UUID, collection->uuid, 16)));
    take_all(&call, "tags", BCON_NEW("ns", BCON_UTF8(collection->name)));
}

bool box_run_cluster(const call_t *call) {
    static const struct {
        const char *name;
        void (*run)(const call_t *call);
        const char *fields;
    } commands[] = {{"listShards", list_shards, ""},
                    {"addShardToZone", add_shard_to_zone, "zone"},
                    {"removeShardFromZone", remove_shard_from_zone, "zone"},
                    {"updateZoneKeyRange", update_zone_key_range, "min max zone"},
                    {"shardCollection", shard_collection, "key"},
                    {"split", split, "middle"},
                    {"moveChunk", move_chunk, "bounds to"}};
    for (size_t i = 0; i < sizeof commands / sizeof *commands; i++)
        if (strcmp(commands[i].name, call->name) == 0) {
            if (!box_begin_command(call, commands[i].fields))
                return true;
            commands[i].run(call);
            if (!bson_has_field(call->reply, "ok"))
                BSON_APPEND_DOUBLE(call->reply, "ok", 1);
            return true;
        }
    return false;
}
