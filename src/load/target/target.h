/* target: where a load goes: the server, the collection, its catalog, and what this load is in there. The main thread owns it;
 * senders read the server, its routes, `bound`, `generation` and the UUID, and mark the route `stale`. Invariants:
 *
 * - The target is checked first, and refused or opened as a whole: a target that must not be loaded into is left as it was.
 * - target_enroll writes this load into the catalog. Its heartbeat begins in target_drop or target_open_catalog, and ends in
 *   target_close_catalog.
 * - What has to be undone or reported at the end is noted here: what was dropped, that balancing is held. */
#ifndef TIPPLE_LOAD_TARGET_TARGET_H
#define TIPPLE_LOAD_TARGET_TARGET_H

#include "catalog/catalog.h"
#include "catalog/store/store_mongo.h"
#include "load/blocks/block.h"
#include "load/plan/plan.h"
#include "load/spec/progress.h"
#include "server/cluster.h"

typedef struct {
    plan_t *plan;
    server_t *server;
    mongoc_client_t *client;
    collection_t place;
    bool drop_done, dropped; /* --drop has ended; and it has removed documents */
    bool touched; /* something was removed or loaded: no refusal may say that nothing was touched */
    step_t step;  /* what is done besides moving data */

    /* on a cluster; senders read these as well */
    route_t *route;    /* NULL: no shards, or none that we may know of */
    routers_t routers; /* where there are several */
    direct_t *direct;  /* NULL: through the routers */
    atomic_bool stale; /* a shard has said that the chunk map is outdated */
    bool placed;       /* this load has sharded the collection, or tried to */
    bool must_balance; /* a shard being drained has chunks, or they have to be spread */
    bool held;         /* this load has turned balancing off */
    bool was_off;      /* a user had turned balancing off before --drop */

    /* the catalog */
    /* self: no load before this load is enrolled; waits by short naps unless set otherwise */
    catalog_t catalog;
    catalog_settings_t settings;
    load_id_t before; /* registration_t.before */
    bool inherited;   /* a load that replaced documents failed, and messages of it may still arrive, */
    bool outlived;    /* or no longer: a lease was waited */
    char process[25]; /* of a standalone server, when the load began */
    heartbeat_t *heartbeat;
    atomic_ullong documents;     /* loaded or already there, as last counted: for the heartbeat's thread */
    char own_catalog[STORE_OWN]; /* catalog_header_t.own */
    uint32_t generation;         /* of the collection, as the catalog counts them */
    bool began_bound;            /* the collection had a format when the catalog was opened, */
    atomic_bool bound;           /* or has this load's by now: documents may be sent */
    bool own_ids;                /* `_id`s do not show the input of a document */
    bool waits_told;
    const removed_t *removed; /* inputs that are being removed */
    size_t removed_count;
} target_t;

/* ---- target.c ---- */

bool target_connect(target_t *target, err_t *err);

/* Opens the collection and its catalog. */
bool target_open(target_t *target, err_t *err);

/* Builds the indexes, after the data; the others as well if one is refused. */
bool target_build_indexes(target_t *target, err_t *err);

void target_free(target_t *target); /* after target_close_catalog */

/* True if there is a collection to load again into (--retry). */
bool target_may_retry(target_t *target, err_t *err);

/* Sets the plan's --existing. bound: the name that the catalog has, or NULL. */
bool target_find_existing(target_t *target, const char *bound, err_t *err);

/* Begins the next phase, in the timeline and for whoever watches. */
void target_enter(target_t *target, timeline_phase_t phase);

/* ---- dump_metadata.c ---- */

/* True if a new collection can have the plan's options; before anything is changed. */
bool target_may_make(const target_t *target, err_t *err);

/* Keeps indexes without a collation uncollated, when the collection is there. */
void target_keep_collations(target_t *target);

/* ---- make_plan.c ---- */

/* Reads and checks the options and all inputs; connects where the catalog may have the format. */
bool target_make_plan(target_t *target, err_t *err);

/* ---- find_format.c ---- */

/* Finds the format of a load without --format; connects first. */
bool target_find_format(target_t *target, err_t *err);

/* Lists the columns that this load adds, after the catalog was read. */
bool target_list_added(target_t *target, const catalog_header_t *header, err_t *err);

/* Writes these columns into the catalog, when the inputs are registered. */
bool target_add_columns(target_t *target, err_t *err);

/* Notes in the catalog that columns of this file are left out. names: a NUL after each. */
bool target_leave_out_columns(target_t *target, const active_piece_t *piece, const text_t *names, err_t *err);

/* ---- shard_key.c ---- */

/* True if the present shard key, if any, brings all documents with one `_id` of the data to one shard. */
bool target_check_unique_ids(const target_t *target, err_t *err);

/* Checks that what is asked for goes with --shard-key, or else with the `_id`. */
bool target_check_new_key(const target_t *target, err_t *err);

/* The same for the present key, as far as this user may read it. */
bool target_check_present_key(const target_t *target, err_t *err);

/* Builds requested indexes that have the fields of the key, before the empty collection is sharded. */
bool target_build_key_index(const target_t *target, const shardkey_t *key, err_t *err);

/* ---- shards.c ---- */

/* Checks, before anything is touched, that --shard-key and --direct go with this server, and that spreading the collection
 * contradicts nothing that a user has set. */
bool target_may_shard(const target_t *target, err_t *err);

/* Places an empty collection over the shards, and reads the map of a sharded one; after the collection was made. */
bool target_open_shards(target_t *target, err_t *err);

/* hold turns balancing off, so that chunks stay where they are; follow reads the chunk map again; close restores zones and
 * balancing, unless another load is alive. */
void target_hold_shards(target_t *target);
void target_follow_shards(target_t *target);
void target_close_shards(target_t *target);
size_t target_shard_count(const target_t *target); /* 1 without shards */

/* ---- load_catalog.c ---- */

/* Reads the catalog, and refuses what must not be loaded into. Writes nothing. */
bool target_look_at_catalog(target_t *target, err_t *err);
bool target_open_catalog(target_t *target, err_t *err); /* after the collection was made */
bool target_enroll(target_t *target, err_t *err);       /* this load is alive from now on */
/* The same for another command. fields: of its entry; freed. */
bool target_enroll_as(target_t *target, bson_t *fields, err_t *err);
/* Starts the heartbeat, unless it runs, and completes the catalog. */
bool target_beat(target_t *target, int64_t lease_ms, err_t *err);
bool target_drop(target_t *target, err_t *err);

/* Reports, once, for which load this one waits (NULL: several), and on what that works. */
void target_say_waits(target_t *target, const load_seen_t *load, const char *what);

/* Makes durable what was acknowledged so far. Status 4 if some of it may be lost. */
bool target_make_durable(target_t *target, err_t *err);

/* Writes down how the load ended, and stops its heartbeat. sent: it may have sent something. */
void target_close_catalog(target_t *target, bool sent, const err_t *err, bool ok);
/* Ends the heartbeat and the entry of target_enroll_as, and closes the catalog. fields: are freed. */
void target_end(target_t *target, bson_t *fields);

/* ---- ../run/conduct.c ---- */

/* Binds the collection to the plan's format. */
bool target_bind(target_t *target, err_t *err);

/* ---- ../forget/forget.c ---- */

/* Takes changed inputs out of the catalog, and removes their documents, if they have any. */
bool target_remove_inputs(target_t *target, removed_t *inputs, size_t count, err_t *err);

/* True if this user may remove documents of inputs. */
bool target_may_remove_inputs(const target_t *target, err_t *err);

/* ---- next to documents of others (load_catalog.c) ----
 *
 * With --append a document of others must not have an `_id` that the load would make of a position: the main thread asks the
 * server before it takes the numbers of an extent, and so before the first write. This is the order of the questions. Pure. */

/* The `_id`s to look for: numbers in [from, to), in all lanes from `lane` on. */
typedef struct {
    uint64_t from, to;
    uint32_t lane;
} append_look_t;

/* Sets *least: the next question is for the least `_id` from there up to INT64_MAX. False: no lane is left. */
bool append_next(const append_look_t *look, int64_t *least);

/* Takes the answer. True: this `_id` is in the range. */
bool append_found(append_look_t *look, int64_t id);

#endif
