#ifndef TIPPLE_SERVER_CLUSTER_H
#define TIPPLE_SERVER_CLUSTER_H

#include "base/text.h"
#include "server/chunks.h"
#include "server/server.h"

#include <stdio.h>

/* config: what a cluster says about itself, read from its config database through a router. */


typedef struct {
    bson_t **documents;
    size_t count;
} config_list_t;

/* All documents of a config collection that match, as the majority has them; if the connection is lost, all are read
 * again. options: sort, limit; NULL for none. hidden (or NULL): set if it failed because this user may not read the
 * collection. */
bool config_find(server_t *server, mongoc_client_t *client, const char *collection, const bson_t *filter,
                 const bson_t *options, config_list_t *list, bool *hidden, err_t *err);
void config_free(config_list_t *list);

/* Connects to a shard itself, using config.shards; as server_beside. */
server_t *config_open_shard(const server_t *server, const config_list_t *shards, const char *name,
                            uint32_t connections, int64_t patience_ns, err_t *err);

/* sharding: is a collection sharded, by which key, under which name, and is it balanced? As the config servers have it at
 * this moment: a person may shard a collection, give its key more fields or the collection another name, at any time.
 * Main thread; needs a router. */


enum { SHARDING_NAME = 300, SHARDING_UUID = 16 };

/* Not to be copied: the key points into itself. */
typedef struct {
    bool hidden; /* this user may not read the config database: the rest is not known, and err says so */
    bool sharded;
    /* the rest: only where it is sharded */
    bool unbalanced;
    bool unique;              /* no two documents have the same key */
    bool unmerged;            /* its chunks are not to be merged (7.0) */
    bool unmoved;             /* nor to be moved, by nobody (sh.disableMigrations) */
    int64_t chunk_bytes;      /* of its chunks, where it has a size of its own; or 0 */
    char name[SHARDING_NAME]; /* by which it is called now */
    uint8_t uuid[SHARDING_UUID];
    shardkey_t key;
    /* together they identify the collection as it is sharded now */
    bson_oid_t epoch;
    uint64_t timestamp;
} sharding_t;

/* uuid: of this collection, whatever its name is; NULL: of the one that has the name in the address. False: err. The result
 * is freed in any case. */
bool sharding_read(server_t *server, mongoc_client_t *client, const uint8_t *uuid, sharding_t *sharding,
                   err_t *err);
void sharding_free(sharding_t *sharding);

/* Where it is hidden: is the collection of the address sharded at all, by its statistics, which who may read it sees? */
bool sharding_is_any(server_t *server, mongoc_client_t *client, bool *sharded, err_t *err);

/* route: how the collection is spread over the shards behind a router: its shard key and its chunks, which are read
 * again from time to time. An old map only costs speed, since the router sends a document to the right shard whatever
 * batch it is in. A map is complete: all of its chunks existed side by side at one moment. This matters because
 * documents are also sent to shards directly (see direct.h). */


typedef struct route route_t;

typedef enum {
    ROUTE_READ,      /* *route is set */
    ROUTE_UNSHARDED, /* the collection is on one shard */
    ROUTE_HIDDEN,    /* the user may not read the config database */
    ROUTE_UNCLEAR,   /* we cannot order the bounds of its chunks; err says so */
    ROUTE_FAILED,    /* err says why */
} route_read_t;

/* Main thread; needs a router. */
route_read_t route_open(server_t *server, mongoc_client_t *client, route_t **route, err_t *err);
void route_close(route_t *route); /* NULL is allowed */

const shardkey_t *route_key(const route_t *route);

/* The current map; any thread. Shards keep their numbers from map to map; new shards get higher numbers. The caller
 * gives the map back by chunkmap_free. */
chunkmap_t *route_map(route_t *route);

/* Asks whether the chunks have changed, and if so reads them again. Main thread. False: it failed (err); the old map
 * stays. */
bool route_refresh(route_t *route, mongoc_client_t *client, err_t *err);

/* {shardVersion: {e, t, v}}: with it a shard refuses (StaleConfig) documents that were sorted by a map in which the
 * shard had other chunks. The shard must be in the map; `version` must be initialised. */
void route_version(const route_t *route, const chunkmap_t *map, size_t shard, bson_t *version);

/* presplit: spreads an empty collection over the shards of a cluster, before the first byte. Zones named after the load
 * are set first. So when the collection is sharded, each shard's one chunk is made in its place, and no chunk moves.
 * Main thread only. */


typedef struct {
    char **names;
    size_t count;
} shard_names_t;

/* The cluster's shards that are not being drained, by name; none if all are being drained. It needs the right to list
 * shards, or to read the config database. */
bool presplit_shards(server_t *server, mongoc_client_t *client, shard_names_t *shards, err_t *err);
void presplit_free_shards(shard_names_t *shards);
bool presplit_may_use(const bson_t *shard); /* `shard`: an item of listShards; pure */

/* Lower bounds of all but the first of `shards` ranges: ranges of the lanes for a key that starts with the `_id`, of
 * all hashes for a key that starts with a hashed field. False: the key's values must be known first (see
 * presplit_sample). */
bool presplit_bounds(const shardkey_t *key, size_t shards, bson_t **bounds);

/* The same from keys that were seen: `bounds` are even quantiles of them. If there are few keys, there are fewer
 * bounds; *count says how many. keys must be sorted. False: out of memory. */
bool presplit_sample(bson_t **keys, size_t key_count, size_t shards, bson_t **bounds, size_t *count);

/* Sets the zones and shards the collection. bounds: `count` of them, ascending. `undo` removes all that this has set,
 * also after a failure in the middle. */
bool presplit_place(server_t *server, mongoc_client_t *client, const shardkey_t *key,
                    const shard_names_t *shards, bson_t *const *bounds, size_t count, err_t *err);

/* rights: may this user shard a collection? Asked before --drop, which destroys what could not be made again. Main
 * thread. */


/* By what connectionStatus says; pure. True also where it does not say what a user may do, or where there are no users.
 */
bool rights_to_shard(const bson_t *status, const char *namespace);

/* False: this user may not, and err names the role that may; or no answer came, and err says why. True also of a server that does
 * not know what is asked. */
bool rights_check(server_t *server, mongoc_client_t *client, err_t *err);

/* zone_notes: how many zones loads of the collection have set, or were about to set. Each load notes it in its own document of
 * NAME.tipple.loads before it sets the first one, and of which collection; whoever takes the zones away takes the notes away behind them. So a zone
 * without a note is a person's, whatever its name. Main thread. */


enum { ZONE_NOTES = 64 /* of so many loads; more are looked at when these are gone */ };

typedef struct {
    size_t count; /* the most that a load has noted */
    size_t load_count;
    bson_oid_t loads[ZONE_NOTES]; /* whose notes these are */
    size_t uuid_count;
    uint8_t uuids[ZONE_NOTES + 1]
                 [16]; /* of collections that they placed, which may have other names by now */
} zone_notes_t;

bool zone_notes_read(server_t *server, mongoc_client_t *client, zone_notes_t *notes, err_t *err);

/* The load has enrolled, and is about to set zones of the numbers below count, for the collection of this UUID. */
bool zone_notes_write(server_t *server, mongoc_client_t *client, const bson_oid_t *load, size_t count,
                      const uint8_t uuid[16], err_t *err);

/* As if a load had noted this collection. */
void zone_notes_add(zone_notes_t *notes, const uint8_t uuid[16]);

/* These notes, and not those that loads have written since. */
bool zone_notes_clear(server_t *server, mongoc_client_t *client, const zone_notes_t *notes, err_t *err);

/* zones: what a cluster's settings say about the collection: is it sharded, is it balanced, which zones does it have. A
 * load's own zones have exactly the names tipple.DATABASE.COLLECTION.0, 1, 2, ..., and a load has noted how many of them it
 * sets before it sets the first one, and for which collection; all others belong to a person, and stay. The ranges of a
 * collection go with it when a person gives it another name. Main thread. */


enum { ZONES_NAME = 600, ZONES_OTHER = 128 };

/* The name of a load's zone; and the number of which this is the name: SIZE_MAX, it is no such name. Pure. */
void zones_name(const char *namespace, size_t number, char name[ZONES_NAME]);
size_t zones_number(const char *namespace, const char *zone);

typedef struct {
    bool hidden;  /* this user may not read the config database: the other fields are not known */
    size_t noted; /* zones of lower numbers are a load's */
    bool sharded, unbalanced;
    bool unmoved; /* a person has turned all moves of its chunks off */
    /* of the collection: those of a load, and those of a person; also of collections that loads have placed and that have
     * other names by now */
    config_list_t ranges;
    config_list_t shards;        /* all shards that have tags */
    size_t own_ranges, own_tags; /* a load's */
    size_t others;               /* how many ranges a person has set */
    char other[ZONES_OTHER];     /* the zone of one of those */
    char alike
        [ZONES_NAME]; /* a tag of a shard that has the name of a load's zone and is none; "": there is none */
} zones_t;

/* placed: the UUID of a collection that is known to have been placed by a load, noted or not; or NULL. */
bool zones_read(server_t *server, mongoc_client_t *client, const uint8_t *placed, zones_t *zones, err_t *err);
void zones_free(zones_t *zones);

/* May the collection of the address be dropped? What people have set of one that is sharded goes with it: so not by a user who
 * may not read it, and would not be told. */
bool zones_may_drop(server_t *server, mongoc_client_t *client, const zones_t *zones, err_t *err);

/* The zone of a range from config.tags; the collection that it is of; and is it a load's? */
const char *zones_of_range(const bson_t *range);
const char *zones_namespace(const bson_t *range);
bool zones_is_own(const zones_t *zones, const char *namespace, const bson_t *range);

/* Called for each tag of the shards that is a load's; stops when it returns false. */
typedef bool zones_tag_fn(void *context, const char *shard, const char *zone);
bool zones_each_tag(const zones_t *zones, const char *namespace, zones_tag_fn *take, void *context);

/* balancer: while a collection is loaded its chunks stay where they are: balancing of this one collection is off.
 * Before a load turns it off it writes that into the catalog, and after it has done so it writes that, too. So the last
 * load, or a later one after a kill, turns it on again. If a person had turned it off, it stays off. The note is about the
 * collection of a UUID, whatever name it has by now, and about no other one that has its name. The balancer of the
 * cluster is never changed. Main thread. */


/* What the catalog says. */
typedef enum {
    BALANCER_NO_NOTE,
    BALANCER_BEGUN, /* a load was about to turn it off */
    BALANCER_DONE,
} balancer_note_t;

/* Whether the collection is balanced, and who turned that off. */
typedef enum {
    BALANCER_ON,
    BALANCER_OURS,     /* off, by a load */
    BALANCER_PERSONS,  /* off, by a person */
    BALANCER_IN_DOUBT, /* off: by a load that was killed at that moment, or by a person since; it stays off */
} balancer_t;
balancer_t balancer_judge(bool off, balancer_note_t note); /* pure */

/* And under which name it stands now; "": it is not sharded. */
typedef struct {
    balancer_t hold;
    char name[SHARDING_NAME];
} balancer_found_t;

/* Turns balancing of the collection of this UUID off. Call it after the catalog is open. *took: it was on, and is off now.
 * What a load of another collection of this name has noted, and left, is put back before. */
bool balancer_take(server_t *server, mongoc_client_t *client, const uint8_t uuid[16], bool *took, err_t *err);

/* here: of the collection that has the name now; noted (or NULL): of the one that loads have noted, mostly the same. */
bool balancer_look(server_t *server, mongoc_client_t *client, balancer_t *here, balancer_found_t *noted,
                   err_t *err);

/* Restores what was before the loads. took: of this collection, by balancer_take, so that it is ours although somebody has
 * removed the catalog with its note; or NULL. *found: what it was until now. */
bool balancer_release(server_t *server, mongoc_client_t *client, const uint8_t *took, balancer_found_t *found,
                      err_t *err);

/* A person had turned it off, and the collection is about to be dropped: noted in the catalog, whose header is there. */
bool balancer_note_off(server_t *server, mongoc_client_t *client, err_t *err);

/* Is there such a note? */
bool balancer_owes(server_t *server, mongoc_client_t *client, bool *owed, err_t *err);

/* If there is (*owed), turns it off again, and takes the note away. Call it when the collection is sharded again. */
bool balancer_keep_off(server_t *server, mongoc_client_t *client, bool *owed, err_t *err);

/* undo: restores what loads have changed in a cluster: the ranges of their zones, the shards' tags, balancing, also that a
 * person had turned it off before --drop. No step
 * depends on another. What cannot be restored is reported, each by itself. Main thread. */


typedef enum { UNDO_RANGES, UNDO_TAGS, UNDO_BALANCING, UNDO_KEPT_OFF, UNDO_STEPS } undo_step_t;

typedef struct {
    struct {
        size_t gone, left;
        bool unknown; /* it could not be looked up */
        err_t why;    /* of what is left or unknown */
    } steps[UNDO_STEPS];
    bool hidden;           /* unknown because this user may not read the config database */
    balancer_found_t hold; /* how balancing was, and of which collection */
} undone_t;

/* What a load has changed itself: it knows that though somebody has removed what it noted of it. */
typedef struct {
    uint8_t uuid[16]; /* of this collection */
    size_t zones;
    bool balancing;
} undo_own_t;

/* own: NULL: nothing is known but what is noted. */
void undo(server_t *server, mongoc_client_t *client, const undo_own_t *own, undone_t *undone);

/* Warns of each that is not restored; the first warning ends with a hint. False: there was one, and err says why. */
bool undo_tell(const server_t *server, const undone_t *undone, const char *hint, err_t *err);

/* balance_check: will new documents reach all shards of the cluster, and what can be done if not? An empty collection
 * that is not split yet is spread; for others, it prints the commands that a person may give. Main thread. */



typedef struct {
    size_t owners, shards; /* shards with a share of their own, and how many shards there are */
    double most;           /* the largest share, from 0 to 1 */
    char name[128];        /* the shard that has it */
    char leaving[128];     /* a shard that has chunks but is being drained; "": none */
    bool known;            /* computed from lanes; false: chunks were counted, which is only a hint */
    bool even;
} balance_check_t;

balance_check_t balance_check_of(const chunkmap_t *map, const shardkey_t *key, const shard_names_t *shards);

/* Prints lines for the mongo shell that give each shard its share of what is still to come. */
void balance_check_commands(const server_t *server, const chunkmap_t *map, const shardkey_t *key,
                            const shard_names_t *shards, text_t *out);

/* For an empty collection of one chunk: splits it at the bounds, one part for each shard. */
bool balance_check_split(server_t *server, mongoc_client_t *client, const shardkey_t *key,
                         const shard_names_t *shards, bson_t *const *bounds, size_t count, err_t *err);

#endif
