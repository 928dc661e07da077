/* What a cluster's config database says of a collection, and what a load changes there: zones for the moment in which
 * the collection is placed, and balancing while data comes in. cluster.h has the story. */
#include "base/log.h"
#include "base/text.h"
#include "server/bson_read.h"
#include "server/cluster.h"
#include "server/server_errors.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- config ---- */

void config_free(config_list_t *list) {
    for (size_t i = 0; i < list->count; i++)
        bson_destroy(list->documents[i]);
    free(list->documents);
    *list = (config_list_t){NULL, 0};
}

bool config_find(server_t *server, mongoc_client_t *client, const char *collection, bson_t *filter,
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
            if ((ok = GROW(list->documents, room, list->count + 1, err)))
                list->documents[list->count++] = bson_copy(document);
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
    bson_destroy(filter);
    if (!ok)
        config_free(list);
    return ok;
}

/* ---- sharding ---- */

/* An entry does not prove that a collection is sharded: from 8.0 on, a collection that was moved as a whole
 * (moveCollection) has an entry, too. */
static bool take_entry(sharding_t *sharding, const bson_t *entry, err_t *err) {
    bson_t spec;
    if (bson_read_true(entry, "dropped") || bson_read_true(entry, "unsplittable") ||
        !bson_read_field(entry, "key", &spec))
        return true;
    bson_concat(&sharding->entry, entry);
    sharding->sharded = shardkey_read(&spec, &sharding->key);
    sharding->unbalanced = bson_read_true(entry, "noBalance");
    return sharding->sharded ||
           err_set(err, STATUS_USAGE, "the shard key of %s is not understood", bson_read_text(entry, "_id"));
}

/* Destroys filter. */
static bool read_entry(server_t *server, mongoc_client_t *client, bson_t *filter, sharding_t *sharding,
                       err_t *err) {
    config_list_t list;
    *sharding = (sharding_t){.hidden = false};
    bson_init(&sharding->entry);
    bson_init(&sharding->key.spec);
    const bool ok = config_find(server, client, "collections", filter, NULL, &list, &sharding->hidden, err) &&
                    (!list.count || take_entry(sharding, list.documents[0], err));
    config_free(&list);
    return ok || sharding->hidden;
}

bool sharding_read(server_t *server, mongoc_client_t *client, const uint8_t *uuid, sharding_t *sharding,
                   err_t *err) {
    bson_t *filter = uuid ? BCON_NEW("uuid", BCON_BIN(BSON_SUBTYPE_UUID, uuid, SHARDING_UUID))
                          : BCON_NEW("_id", BCON_UTF8(server_namespace(server)));
    return read_entry(server, client, filter, sharding, err);
}

void sharding_free(sharding_t *sharding) {
    bson_destroy(&sharding->entry);
    shardkey_free(&sharding->key);
}

bool sharding_is_fixed(const sharding_t *sharding) {
    bson_iter_t at;
    return bson_iter_init_find(&at, &sharding->entry, "permitMigrations") && !bson_iter_as_bool(&at);
}

static const uint8_t *uuid_of(const sharding_t *sharding) {
    static const uint8_t none[SHARDING_UUID];
    const uint8_t *uuid = bson_read_uuid(&sharding->entry, "uuid");
    return uuid ? uuid : none;
}

bool sharding_is_any(server_t *server, mongoc_client_t *client, bool *sharded, err_t *err) {
    bson_t reply, *command = BCON_NEW("collStats", BCON_UTF8(server_collection(server)));
    const bool ok = server_ask(server, client, command, &reply, err);
    *sharded = ok && bson_read_true(&reply, "sharded");
    bson_destroy(&reply);
    return ok;
}

/* ---- shards ---- */

bool cluster_shards(server_t *server, mongoc_client_t *client, config_list_t *shards, err_t *err) {
    bson_t *staying = BCON_NEW("draining", "{", "$ne", BCON_BOOL(true), "}");
    return config_find(server, client, "shards", staying, NULL, shards, NULL, err);
}

/* ---- zones ---- */

void zones_name(const char *namespace, size_t number, char name[ZONES_NAME]) {
    snprintf(name, ZONES_NAME, "tipple.%s.%zu", namespace, number);
}

bool zones_is_own(const char *namespace, const char *zone) {
    char own[ZONES_NAME];
    const char *dot = strrchr(zone, '.');
    zones_name(namespace, dot ? strtoul(dot + 1, NULL, 10) : 0, own);
    return strcmp(own, zone) == 0;
}

/* The next of a shard's tags that is a load's. NULL: there are no more. */
static const char *next_own_tag(const char *namespace, bson_iter_t *tags) {
    while (bson_iter_next(tags))
        if (BSON_ITER_HOLDS_UTF8(tags) && zones_is_own(namespace, bson_iter_utf8(tags, NULL)))
            return bson_iter_utf8(tags, NULL);
    return NULL;
}

bool zones_read(server_t *server, mongoc_client_t *client, zones_t *zones, err_t *err) {
    const char *name = server_namespace(server);
    *zones = (zones_t){.hidden = false};
    const bool ok =
        config_find(server, client, "tags", BCON_NEW("ns", BCON_UTF8(name)), NULL, &zones->ranges,
                    &zones->hidden, err) &&
        config_find(server, client, "shards", BCON_NEW("tags", "{", "$exists", BCON_BOOL(true), "}"), NULL,
                    &zones->shards, &zones->hidden, err);
    for (size_t i = 0; i < zones->ranges.count; i++) {
        const char *zone = bson_read_text(zones->ranges.documents[i], "tag");
        if (zones_is_own(name, zone))
            zones->own_ranges++;
        else if (!zones->others++)
            zones->other = zone;
    }
    bson_iter_t tags;
    for (size_t i = 0; i < zones->shards.count; i++)
        if (bson_read_list(zones->shards.documents[i], "tags", &tags))
            while (next_own_tag(name, &tags))
                zones->own_tags++;
    return ok || zones->hidden;
}

void zones_free(zones_t *zones) {
    config_free(&zones->ranges);
    config_free(&zones->shards);
}

/* Destroys command. own: the status where a server refuses it for a reason of its own. */
static bool run(server_t *server, mongoc_client_t *client, bson_t *command, status_t own, err_t *err) {
    bson_t reply;
    const bool ok = server_command(server, client, "admin", command, false, &reply, err);
    const int code = ok ? 0 : server_code(&reply);
    const code_class_t class = code_class(code, err->text);
    if (code && (class == CODE_UNKNOWN || class == CODE_OF_DOCUMENT))
        err->status = own;
    bson_destroy(&reply);
    bson_destroy(command);
    return ok;
}

/* zone NULL: removes the range. */
static bson_t *range_command(const server_t *server, const bson_t *min, const bson_t *max, const char *zone) {
    bson_t *command = BCON_NEW("updateZoneKeyRange", BCON_UTF8(server_namespace(server)), "min",
                               BCON_DOCUMENT(min), "max", BCON_DOCUMENT(max));
    if (zone)
        BSON_APPEND_UTF8(command, "zone", zone);
    else
        BSON_APPEND_NULL(command, "zone");
    return command;
}

/* A cluster refuses to remove a tag that a range has: so ranges are removed first. */
static bool remove_zones(server_t *server, mongoc_client_t *client, restored_t *restored, err_t *err) {
    const char *name = server_namespace(server);
    zones_t zones;
    bson_iter_t tags;
    bson_t min, max;
    bool ok = zones_read(server, client, &zones, err) && !zones.hidden;
    *restored = (restored_t){.hidden = zones.hidden};
    for (size_t i = 0; ok && i < zones.ranges.count; i++) {
        const bson_t *range = zones.ranges.documents[i];
        if (!zones_is_own(name, bson_read_text(range, "tag")) || !bson_read_field(range, "min", &min) ||
            !bson_read_field(range, "max", &max))
            continue;
        ok = run(server, client, range_command(server, &min, &max, NULL), STATUS_SERVER, err);
        restored->ranges += ok;
    }
    for (size_t i = 0; ok && i < zones.shards.count; i++) {
        const bson_t *shard = zones.shards.documents[i];
        const char *tag = bson_read_list(shard, "tags", &tags) ? next_own_tag(name, &tags) : NULL;
        for (; ok && tag; tag = next_own_tag(name, &tags)) {
            ok = run(server, client,
                     BCON_NEW("removeShardFromZone", BCON_UTF8(bson_read_text(shard, "_id")), "zone",
                              BCON_UTF8(tag)),
                     STATUS_SERVER, err);
            restored->tags += ok;
        }
    }
    zones_free(&zones);
    return ok;
}

/* ---- placing ---- */

static bool set_zones(server_t *server, mongoc_client_t *client, const shardkey_t *key,
                      const config_list_t *shards, bson_t *const *bounds, size_t count, err_t *err) {
    bson_t *least = shardkey_end(key, false), *greatest = shardkey_end(key, true);
    bool ok = true;
    for (size_t i = 0; ok && i <= count; i++) {
        char zone[ZONES_NAME];
        const char *name = bson_read_text(shards->documents[i], "_id");
        zones_name(server_namespace(server), i, zone);
        ok = run(server, client, BCON_NEW("addShardToZone", BCON_UTF8(name), "zone", BCON_UTF8(zone)),
                 STATUS_USAGE, err) &&
             run(server, client,
                 range_command(server, i ? bounds[i - 1] : least, i < count ? bounds[i] : greatest, zone),
                 STATUS_USAGE, err);
    }
    bson_destroy(least);
    bson_destroy(greatest);
    return ok;
}

/* An index or an option of the collection may not go with the key, or its name may be too long: waiting would not help. */
bool cluster_place(server_t *server, mongoc_client_t *client, const shardkey_t *key,
                   const config_list_t *shards, bson_t *const *bounds, size_t count, err_t *err) {
    restored_t gone;
    err_t why;
    if (server_facts(server)->major < 6 &&
        !run(server, client, BCON_NEW("enableSharding", BCON_UTF8(server_database(server))), STATUS_USAGE,
             err))
        return false;
    if (!remove_zones(server, client, &gone, err)) /* left by a load that was killed in this function */
        return false;
    const bool ok = set_zones(server, client, key, shards, bounds, count, err) &&
                    run(server, client,
                        BCON_NEW("shardCollection", BCON_UTF8(server_namespace(server)), "key",
                                 BCON_DOCUMENT(&key->spec)),
                        STATUS_USAGE, err);
    if (!ok)
        server_clean_up(server);
    if (!remove_zones(server, client, &gone, &why))
        log_warn("%s: the zones of this load could not be removed (%s); `tipple status --restore` does it, "
                 "when no load of it runs",
                 server_namespace(server), why.text);
    return ok;
}

/* ---- balancing ---- */

/* The flag in the catalog's header: a load holds balancing of the collection of this UUID. */
typedef struct {
    bool held;
    uint8_t of[SHARDING_UUID];
} flag_t;

static bool read_flag(server_t *server, mongoc_client_t *client, flag_t *flag, err_t *err) {
    char name[300];
    bson_t reply, header;
    bson_iter_t at;
    snprintf(name, sizeof name, "%s" OWN_FILES, server_collection(server));
    bson_t *command = BCON_NEW("find", BCON_UTF8(name), "filter", "{", "_id", BCON_UTF8("catalog"), "}",
                               "limit", BCON_INT64(1), "singleBatch", BCON_BOOL(true), "readConcern", "{",
                               "level", BCON_UTF8("majority"), "}");
    const bool ok = server_ask(server, client, command, &reply, err);
    *flag = (flag_t){.held = false};
    if (ok && bson_read_batch(&reply, &at) && bson_read_next(&at, &header)) {
        const uint8_t *of = bson_read_uuid(&header, "balancingHeld");
        flag->held = of != NULL;
        if (of)
            memcpy(flag->of, of, sizeof flag->of);
    }
    bson_destroy(&reply);
    return ok;
}

/* Sets the flag or, with held false, clears it if it still names this collection. */
static bool write_flag(server_t *server, mongoc_client_t *client, const uint8_t uuid[SHARDING_UUID],
                       bool held, err_t *err) {
    char name[300];
    bson_t which = BSON_INITIALIZER;
    snprintf(name, sizeof name, "%s" OWN_FILES, server_collection(server));
    BSON_APPEND_UTF8(&which, "_id", "catalog");
    if (!held)
        BSON_APPEND_BINARY(&which, "balancingHeld", BSON_SUBTYPE_UUID, uuid, SHARDING_UUID);
    bson_t *command = BCON_NEW("update", BCON_UTF8(name), "updates", "[", "{", "q", BCON_DOCUMENT(&which),
                               "u", "{", held ? "$set" : "$unset", "{", "balancingHeld",
                               BCON_BIN(BSON_SUBTYPE_UUID, uuid, SHARDING_UUID), "}", "}", "}", "]");
    const bool ok = server_command(server, client, server_database(server), command, true, NULL, err);
    bson_destroy(command);
    bson_destroy(&which);
    return ok;
}

static bool set_balancing(server_t *server, mongoc_client_t *client, const sharding_t *sharding, bool on,
                          err_t *err) {
    const bool configure = server_facts(server)->major * 100 + server_facts(server)->minor >= 801;
    bson_t *command =
        configure
            ? BCON_NEW("configureCollectionBalancing", BCON_UTF8(bson_read_text(&sharding->entry, "_id")),
                       "enableBalancing", BCON_BOOL(on))
            : BCON_NEW("update", BCON_UTF8("collections"), "updates", "[", "{", "q", "{", "uuid",
                       BCON_BIN(BSON_SUBTYPE_UUID, uuid_of(sharding), SHARDING_UUID), "}", "u", "{", "$set",
                       "{", "noBalance", BCON_BOOL(!on), "}", "}", "}", "]");
    const bool ok =
        server_command(server, client, configure ? "admin" : "config", command, !configure, NULL, err);
    bson_destroy(command);
    return ok;
}

/* Switches balancing on again for the collection that the flag names. *balanced: balancing was off until now. The flag
 * is cleared first: another load may set it anew as soon as balancing is on. */
static bool let_go(server_t *server, mongoc_client_t *client, const flag_t *flag, bool *balanced,
                   err_t *err) {
    sharding_t sharding;
    err_t ignored;
    bool ok = sharding_read(server, client, flag->of, &sharding, err) && !sharding.hidden &&
              write_flag(server, client, flag->of, false, err);
    if (ok && sharding.unbalanced) {
        *balanced = ok = set_balancing(server, client, &sharding, true, err);
        if (!ok)
            write_flag(server, client, flag->of, true, &ignored);
    }
    sharding_free(&sharding);
    return ok;
}

bool balancing_read(server_t *server, mongoc_client_t *client, balancing_t *balancing, err_t *err) {
    flag_t flag;
    sharding_t sharding;
    *balancing = (balancing_t){.state = BALANCING_ON};
    if (!read_flag(server, client, &flag, err))
        return false;
    for (int of_name = !flag.held; of_name < 2 && balancing->state == BALANCING_ON; of_name++) {
        const bool ok = sharding_read(server, client, of_name ? NULL : flag.of, &sharding, err);
        if (ok && sharding.unbalanced)
            balancing->state = of_name ? BALANCING_OFF : BALANCING_HELD;
        balancing->renamed =
            !of_name && strcmp(bson_read_text(&sharding.entry, "_id"), server_namespace(server)) != 0;
        sharding_free(&sharding);
        if (!ok)
            return false;
    }
    return true;
}

bool balancing_hold(server_t *server, mongoc_client_t *client, const uint8_t uuid[SHARDING_UUID], bool *held,
                    err_t *err) {
    flag_t flag;
    sharding_t sharding, again;
    bool balanced;
    err_t ignored;
    *held = false;
    if (!read_flag(server, client, &flag, err) || (flag.held && memcmp(flag.of, uuid, sizeof flag.of) != 0 &&
                                                   !let_go(server, client, &flag, &balanced, err)))
        return false;
    bool ok = sharding_read(server, client, uuid, &sharding, err);
    if (ok && sharding.sharded && !sharding.unbalanced) {
        *held = (ok = write_flag(server, client, uuid, true, err)) &&
                set_balancing(server, client, &sharding, false, err);
        if (ok && !*held) { /* a command that seems to fail may have succeeded */
            *held = ok = sharding_read(server, client, uuid, &again, &ignored) && again.unbalanced;
            sharding_free(&again);
            if (!ok)
                write_flag(server, client, uuid, false, &ignored);
        }
    }
    sharding_free(&sharding);
    return ok;
}

bool balancing_switch_off(server_t *server, mongoc_client_t *client, err_t *err) {
    sharding_t sharding;
    const bool ok = sharding_read(server, client, NULL, &sharding, err) &&
                    (!sharding.sharded || set_balancing(server, client, &sharding, false, err));
    sharding_free(&sharding);
    return ok;
}

bool cluster_restore(server_t *server, mongoc_client_t *client, const uint8_t *own, restored_t *restored,
                     err_t *err) {
    flag_t flag;
    err_t why;
    if (!remove_zones(server, client, restored, &why))
        return err_set(err, why.status, "zones that loads have set could not be removed (%.900s)", why.text);
    bool ok = read_flag(server, client, &flag, &why);
    if (ok && !flag.held && own) { /* the catalog was removed, and the flag with it */
        flag.held = true;
        memcpy(flag.of, own, sizeof flag.of);
    }
    ok = ok && (!flag.held || let_go(server, client, &flag, &restored->balanced, &why));
    return ok || err_set(err, why.status, "its balancing could not be switched on again (%.900s)", why.text);
}

/* ---- route ---- */

struct route {
    server_t *server;
    sharding_t sharding;
    uint64_t newest;      /* the highest lastmod of its chunks */
    pthread_mutex_t lock; /* protects the pointer */
    chunkmap_t *map;
};

/* A chunk may move while the chunks are read: then they are read again, at most this many times. */
enum { MOST_READINGS = 20 };

/* config.chunks knows a collection by its UUID, from 5.0 on. */
static route_read_t find_chunks(const route_t *route, mongoc_client_t *client, bson_t *options,
                                config_list_t *list, err_t *err) {
    bool hidden = false;
    const uint8_t *uuid = uuid_of(&route->sharding);
    bson_t *filter = server_facts(route->server)->major >= 5
                         ? BCON_NEW("uuid", BCON_BIN(BSON_SUBTYPE_UUID, uuid, SHARDING_UUID))
                         : BCON_NEW("ns", BCON_UTF8(server_namespace(route->server)));
    const bool ok = config_find(route->server, client, "chunks", filter, options, list, &hidden, err);
    bson_destroy(options);
    return ok ? ROUTE_READ : hidden ? ROUTE_HIDDEN : ROUTE_FAILED;
}

/* The highest lastmod of all chunks: every move and every split raises it. 0: there are no chunks. */
static route_read_t read_newest(const route_t *route, mongoc_client_t *client, uint64_t *newest, err_t *err) {
    config_list_t list;
    bson_t *last = BCON_NEW("sort", "{", "lastmod", BCON_INT32(-1), "}", "limit", BCON_INT64(1));
    const route_read_t read = find_chunks(route, client, last, &list, err);
    *newest = list.count ? bson_read_timestamp(list.documents[0], "lastmod") : 0;
    config_free(&list);
    return read;
}

static route_read_t take_map(route_t *route, const config_list_t *list, uint64_t newest, err_t *err) {
    chunkmap_t *map = chunkmap_read(route->map, route->sharding.key.count, list->documents, list->count);
    if (!map) {
        err_set(err, STATUS_SERVER,
                "the %zu chunks that the cluster lists for %s are no use for finding shards: there are gaps, "
                "overlaps or none at all, or more than %d shards, or this host is out of memory",
                list->count, server_namespace(route->server), CHUNKMAP_MOST_SHARDS);
        return list->count ? ROUTE_UNCLEAR : ROUTE_FAILED;
    }
    pthread_mutex_lock(&route->lock);
    chunkmap_t *old = route->map;
    route->map = map;
    pthread_mutex_unlock(&route->lock);
    chunkmap_free(old);
    route->newest = newest;
    return ROUTE_READ;
}

/* Reads the chunks, unless none has changed since the last time. If the newest version is the same before and after, no
 * chunk has moved meanwhile. */
static route_read_t read_chunks(route_t *route, mongoc_client_t *client, err_t *err) {
    for (int reading = 0; reading < MOST_READINGS; reading++) {
        config_list_t list;
        uint64_t before, after;
        route_read_t read = read_newest(route, client, &before, err);
        if (read != ROUTE_READ || (route->map && before == route->newest))
            return read;
        read = find_chunks(route, client, BCON_NEW("sort", "{", "min", BCON_INT32(1), "}"), &list, err);
        if (read == ROUTE_READ)
            read = read_newest(route, client, &after, err);
        const bool whole = read == ROUTE_READ && after == before;
        if (whole)
            read = take_map(route, &list, after, err);
        config_free(&list);
        if (whole || read != ROUTE_READ)
            return read;
    }
    err_set(err, STATUS_SERVER, "the chunks of %s move faster than their map can be read",
            server_namespace(route->server));
    return ROUTE_FAILED;
}

route_read_t route_open(server_t *server, mongoc_client_t *client, route_t **route, err_t *err) {
    route_t *it = ZEROED(route_t);
    *route = NULL;
    if (!it)
        return err_memory(err, sizeof *it), ROUTE_FAILED;
    it->server = server;
    pthread_mutex_init(&it->lock, NULL);
    const bool ok = sharding_read(server, client, NULL, &it->sharding, err);
    const route_read_t read = !ok                    ? ROUTE_FAILED
                              : it->sharding.hidden  ? ROUTE_HIDDEN
                              : it->sharding.sharded ? read_chunks(it, client, err)
                                                     : ROUTE_UNSHARDED;
    if (read == ROUTE_READ)
        *route = it;
    else
        route_close(it);
    return read;
}

void route_close(route_t *route) {
    if (!route)
        return;
    sharding_free(&route->sharding);
    chunkmap_free(route->map);
    pthread_mutex_destroy(&route->lock);
    free(route);
}

const shardkey_t *route_key(const route_t *route) {
    return &route->sharding.key;
}

const sharding_t *route_sharding(const route_t *route) {
    return &route->sharding;
}

chunkmap_t *route_map(route_t *route) {
    pthread_mutex_lock(&route->lock);
    chunkmap_t *map = chunkmap_share(route->map);
    pthread_mutex_unlock(&route->lock);
    return map;
}

bool route_refresh(route_t *route, mongoc_client_t *client, err_t *err) {
    return read_chunks(route, client, err) == ROUTE_READ;
}

void route_version(const route_t *route, const chunkmap_t *map, size_t shard, bson_t *version) {
    static const bson_oid_t none;
    const bson_t *entry = &route->sharding.entry;
    const bson_oid_t *epoch = bson_read_oid(entry, "lastmodEpoch");
    const uint64_t newest = chunkmap_version(map, shard), made = bson_read_timestamp(entry, "timestamp");
    bson_t fields;
    BSON_APPEND_DOCUMENT_BEGIN(version, "shardVersion", &fields);
    BSON_APPEND_OID(&fields, "e", epoch ? epoch : &none);
    BSON_APPEND_TIMESTAMP(&fields, "t", (uint32_t)(made >> 32), (uint32_t)made);
    BSON_APPEND_TIMESTAMP(&fields, "v", (uint32_t)(newest >> 32), (uint32_t)newest);
    bson_append_document_end(version, &fields);
}
