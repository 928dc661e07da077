/* cluster: how a collection lies on the shards of a cluster, and what a load changes there.
 *
 * What a cluster knows of itself is in its config database: which collections are sharded and how (sharding_t), which
 * shards there are, which zones its users have set (zones_t), and which shard owns which chunk (route_t). All of it is read
 * here, and nowhere else, through a router and as the majority has it. A user of the cluster may change any of it at any
 * time. Without the right to read it everything is `hidden`: a load then leaves the collection as it is.
 *
 * A load changes two things:
 * - An empty collection is placed (cluster_place): a zone for each shard is set, the collection is sharded, so that each
 *   chunk is made on its shard and none has to move, and the zones are removed again. Chunks stay where they are without
 *   their zones: a balancer moves them only when shards differ in data. A load that is killed in these milliseconds leaves
 *   zones, whose names say that they are a load's: "tipple.", the namespace, and a number. cluster_place and cluster_restore
 *   remove them.
 * - Balancing of the collection is held while data comes in: if it is on, a load writes a flag into the catalog's header,
 *   with the collection's UUID, and switches it off; the load that ends last clears the flag and switches it on again
 *   (cluster_restore). Balancing that is off without a flag was switched off by a user, and stays off. It is not held where
 *   a user has sharded the collection, and some shards have no chunks: then the balancer is what spreads it. If two loads race
 *   here, balancing may be on during a load: that costs speed and nothing else. The cluster's balancer is never changed.
 *
 * All of this belongs to the main thread, except route_map, route_version and chunk maps. */
#ifndef TIPPLE_SERVER_CLUSTER_H
#define TIPPLE_SERVER_CLUSTER_H

#include "base/text.h"
#include "server/chunks.h"
#include "server/server.h"

/* ---- the config database ---- */

typedef struct {
    bson_t **documents;
    size_t count;
} config_list_t;

/* Reads all documents of a config collection that match the filter, which it destroys; if the connection is lost, all are read again.
 * options: sort, limit; NULL for none. hidden (or NULL): set if this user may not read the collection. */
bool config_find(server_t *server, mongoc_client_t *client, const char *collection, bson_t *filter,
                 const bson_t *options, config_list_t *list, bool *hidden, err_t *err);
void config_free(config_list_t *list);

/* ---- is it sharded, and how? ---- */

enum { SHARDING_UUID = 16 };

/* Not to be copied: the key points into itself. */
typedef struct {
    bool hidden; /* this user may not read the config database: the rest is not known, and err says so */
    bool sharded;
    /* the rest: only if it is sharded */
    bool unbalanced; /* its balancing is off */
    shardkey_t key;
    bson_t entry; /* in config.collections */
} sharding_t;

/* Reads how the collection of this UUID is sharded, whatever its name; NULL: the one of the address. False: err. Free the
 * result in any case. */
bool sharding_read(server_t *server, mongoc_client_t *client, const uint8_t *uuid, sharding_t *sharding,
                   err_t *err);
void sharding_free(sharding_t *sharding);

/* True if a user has switched off moves of its chunks (sh.disableMigrations). */
bool sharding_is_fixed(const sharding_t *sharding);

/* Is the collection of the address sharded? Asks the collection's statistics, for users who may not read the config
 * database. */
bool sharding_is_any(server_t *server, mongoc_client_t *client, bool *sharded, err_t *err);

/* ---- the map of its chunks ---- */

/* The shard key and the map of the chunks, which is read again from time to time. An old map costs speed only, since the
 * router sends a document to its shard whatever batch it is in. A map is complete: all of its chunks existed together at
 * one moment. Documents that are sent to shards directly depend on that. */
typedef struct route route_t;

typedef enum {
    ROUTE_READ,      /* *route is set */
    ROUTE_UNSHARDED, /* the collection is on one shard */
    ROUTE_HIDDEN,    /* the user may not read the config database */
    ROUTE_UNCLEAR, /* its chunks make no map, for example because their bounds cannot be ordered here; err says so */
    ROUTE_FAILED, /* err says why */
} route_read_t;

route_read_t route_open(server_t *server, mongoc_client_t *client, route_t **route, err_t *err);
void route_close(route_t *route); /* NULL is allowed */

const shardkey_t *route_key(const route_t *route);
const sharding_t *route_sharding(const route_t *route);

/* The current map; any thread. Shards keep their numbers from map to map; new shards get higher numbers. Give the map back
 * by chunkmap_free. */
chunkmap_t *route_map(route_t *route);

/* Reads the chunks again if they have changed. False: it failed (err); the old map stays. */
bool route_refresh(route_t *route, mongoc_client_t *client, err_t *err);

/* {shardVersion: {e, t, v}}: with it a shard refuses (StaleConfig) documents that were sorted by a map in which the
 * shard had other chunks. The shard must be in the map; `version` must be initialised. */
void route_version(const route_t *route, const chunkmap_t *map, size_t shard, bson_t *version);

/* ---- zones ---- */

enum { ZONES_NAME = 600 };

/* The first makes the name of a load's zone from its number, the second says whether a name is one. Pure. */
void zones_name(const char *namespace, size_t number, char name[ZONES_NAME]);
bool zones_is_own(const char *namespace, const char *zone);

typedef struct {
    bool hidden; /* this user may not read the config database: the other fields are not known */
    config_list_t ranges, shards; /* the collection's ranges, and all shards that have tags */
    size_t own_ranges, own_tags;  /* left by a load that was killed */
    size_t others;                /* ranges that users have set */
    const char *other;            /* the zone of one of those */
} zones_t;

bool zones_read(server_t *server, mongoc_client_t *client, zones_t *zones, err_t *err);
void zones_free(zones_t *zones);

/* ---- placing ---- */

/* The cluster's shards that are not being drained; none if all are. */
bool cluster_shards(server_t *server, mongoc_client_t *client, config_list_t *shards, err_t *err);

/* Lower bounds of all but the first of `shards` ranges: ranges of the lanes for a key that starts with the `_id`, of
 * all hashes for a key that starts with a hashed field. False: the key's values must be known first. Pure. */
bool cluster_bounds(const shardkey_t *key, size_t shards, bson_t **bounds);

/* Chooses the bounds from a sample of keys, which it sorts: even quantiles. Returns how many; few different keys make fewer
 * bounds. Pure. */
size_t cluster_sample_bounds(bson_t **keys, size_t key_count, size_t shards, bson_t **bounds);

/* Shards an empty collection, a range a shard. bounds: `count` of them, ascending. Leaves no zones, also after a failure;
 * if they cannot be removed, it says so. */
bool cluster_place(server_t *server, mongoc_client_t *client, const shardkey_t *key,
                   const config_list_t *shards, bson_t *const *bounds, size_t count, err_t *err);

/* Will new documents reach all shards? */
typedef struct {
    size_t owners, shards; /* shards with a share of their own, and how many shards there are */
    double most;           /* the largest share, from 0 to 1 */
    char name[128];        /* the shard that has it */
    char leaving[128];     /* a shard that has chunks but is being drained; "": none */
    bool known;            /* computed from lanes; false: chunks were counted, which is only a hint */
    bool even;
} evenness_t;

evenness_t cluster_evenness(const chunkmap_t *map, const shardkey_t *key, const config_list_t *shards);

/* ---- balancing ---- */

typedef struct {
    enum {
        BALANCING_ON,
        BALANCING_HELD, /* off, by a load */
        BALANCING_OFF,  /* off, by a user */
    } state;
    bool renamed; /* the collection was renamed since a load has held balancing */
} balancing_t;

bool balancing_read(server_t *server, mongoc_client_t *client, balancing_t *balancing, err_t *err);

/* Holds balancing of the collection of this UUID, after the catalog is open. *held: it was on, and cluster_restore lets it go. What a
 * load has left held under another UUID is let go now. False: it may still be on; err says why. */
bool balancing_hold(server_t *server, mongoc_client_t *client, const uint8_t uuid[SHARDING_UUID], bool *held,
                    err_t *err);

/* Switches balancing off without a flag: a user had done so before the collection was dropped. */
bool balancing_switch_off(server_t *server, mongoc_client_t *client, err_t *err);

/* ---- after the loads ---- */

typedef struct {
    size_t ranges, tags; /* of zones that were removed */
    bool balanced;       /* a load had held balancing, and balancing is on again */
    bool hidden;         /* this user may not read the config database */
} restored_t;

/* Removes zones that loads have left and lets balancing go. The caller knows that no load of the collection runs. own: the UUID
 * of the collection that the caller itself holds, which counts even if the catalog was removed with its flag; or NULL. False:
 * not everything could be restored, which the same call does later; err says what. */
bool cluster_restore(server_t *server, mongoc_client_t *client, const uint8_t *own, restored_t *restored,
                     err_t *err);

#endif
