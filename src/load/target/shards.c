/* shards: spreads the collection of a load over the shards of a cluster before the first byte, and follows the map of its
 * chunks while it is loaded. */
#include "base/host.h"
#include "base/log.h"
#include "base/stop.h"
#include "load/plan/inputs.h"
#include "load/target/target.h"
#include "server/cluster.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Finds bounds from a sample of records, for a key whose values are not known beforehand. */
static bool sample_bounds(const plan_t *plan, const shardkey_t *key, size_t shards, bson_t **bounds,
                          size_t *count, err_t *err) {
    sample_t sample;
    if (!sample_take(plan->schema, &plan->manifest, key, &sample, err))
        return false;
    *count = cluster_sample_bounds(sample.keys, sample.count, shards, bounds);
    if (!sample.count)
        log_note("where to cut the shard key cannot be seen before the load, as of stdin, or of values of "
                 "rare types, such as decimals: the collection begins on 1 shard of %zu",
                 shards);
    else if (*count + 1 < shards)
        log_note("the shard key has too few values for %zu shards, as far as %zu records show: the "
                 "collection begins on %zu",
                 shards, sample.count, *count + 1);
    sample_free(&sample);
    return true;
}

static void free_bounds(bson_t **bounds, size_t count) {
    for (size_t i = 0; bounds && i < count && bounds[i]; i++)
        bson_destroy(bounds[i]);
    free(bounds);
}

/* Returns the *count lower bounds of all ranges but the first. */
static bson_t **find_bounds(const plan_t *plan, const shardkey_t *key, size_t shards, size_t *count,
                            err_t *err) {
    bson_t **bounds = calloc(shards, sizeof(bson_t *));
    *count = shards - 1;
    bool ok = bounds != NULL || err_memory(err, shards * sizeof *bounds);
    if (ok && !cluster_bounds(key, shards, bounds))
        ok = sample_bounds(plan, key, shards, bounds, count, err);
    if (ok)
        return bounds;
    free_bounds(bounds, shards);
    return NULL;
}

static bool find_shards(const target_t *target, config_list_t *shards, err_t *err) {
    if (!cluster_shards(target->server, target->client, shards, err))
        return false;
    return shards->count || err_set(err, STATUS_USAGE,
                                    "every shard of the cluster is being drained: no chunk may be placed. "
                                    "Add a shard, or end the draining of one");
}

/* Places the empty collection over the shards. */
static bool collection_empty(target_t *target, const shardkey_t *key, err_t *err) {
    config_list_t shards;
    size_t count;
    if (!find_shards(target, &shards, err))
        return false;
    target->placed = true;
    bson_t **bounds = target_build_key_index(target, key, err)
                          ? find_bounds(target->plan, key, shards.count, &count, err)
                          : NULL;
    const bool ok = bounds && cluster_place(target->server, target->client, key, &shards, bounds, count, err);
    free_bounds(bounds, shards.count);
    config_free(&shards);
    return ok;
}

static int64_t lease_ms(const target_t *target) {
    return target->catalog.lease_ns ? target->catalog.lease_ns / 1000000 : STORE_LEASE_MS;
}

/* Reports how uneven a collection is that was sharded before; it is taken as it is. If not all shards will have work, balancing
 * stays on, so that chunks can move to the others, unless a user has set zones or turned moves off. */
static void tell_uneven(target_t *target, const evenness_t *evenness, const zones_t *zones) {
    const char *name = server_namespace(target->server);
    const bool unmoved = sharding_is_fixed(route_sharding(target->route)), fixed = zones->others || unmoved;
    char hint[300];
    snprintf(hint, sizeof hint, "Its balancing stays on, so that the balancer can move chunks to them%s",
             target->place.empty ? "; --drop would spread the empty collection before the load" : "");
    if (zones->others)
        snprintf(hint, sizeof hint,
                 "It has zones that a user has set (such as %s), so chunks stay where they are",
                 zones->other);
    else if (unmoved)
        snprintf(
            hint, sizeof hint,
            "A user has turned moves of its chunks off (sh.disableMigrations), so they stay where they are");
    if (!evenness->even)
        log_note("%s: %zu of %zu shards have chunks, and %.0f%% of %s is for %s: the others will wait. %s",
                 name, evenness->owners, evenness->shards, 100 * evenness->most,
                 evenness->known ? "what will be loaded" : "the chunks", evenness->name, hint);
    if (evenness->leaving[0])
        log_note("%s: the shard %s is being drained and has chunks of it: its balancing is not turned off, "
                 "so that they can leave",
                 name, evenness->leaving);
    target->must_balance = evenness->leaving[0] || (!evenness->even && !fixed);
}

/* Checks how the chunks are spread. If that cannot be read, the load goes on. */
static void check_spread(target_t *target) {
    const shardkey_t of_data = shardkey_of_data(route_key(target->route)),
                     *key = target->plan->schema->id ? &of_data : route_key(target->route);
    config_list_t shards;
    zones_t zones;
    err_t err;
    if (zones_read(target->server, target->client, &zones, &err) && !zones.hidden &&
        cluster_shards(target->server, target->client, &shards, &err)) {
        chunkmap_t *map = route_map(target->route);
        const evenness_t evenness = cluster_evenness(map, key, &shards);
        tell_uneven(target, &evenness, &zones);
        chunkmap_free(map);
        config_free(&shards);
    }
    zones_free(&zones);
}

/* Refuses --shard-key for a collection that has documents and is not sharded. */
static bool check_no_key(const target_t *target, err_t *err) {
    const plan_t *plan = target->plan;
    return !plan->spec->shard_key || plan->one_shard || plan->spec->retry ||
           err_set(
               err, STATUS_USAGE,
               "%s is not sharded, and has documents: a load shards only what is empty. Leave --shard-key "
               "out; or shard it yourself before the load (sh.shardCollection); or --drop the collection",
               server_namespace(target->server));
}

static const char of_config[] = "a user who may read the cluster's config database (the role clusterMonitor)";

static bool refuse_direct(const char *needed, err_t *err) {
    return err_set(err, STATUS_USAGE, "--direct needs %s; leave it out", needed);
}

/* Refuses --shard-key and --direct if this user may not read how the collection is sharded: the load leaves the sharding as it
 * is, so the collection would have no key, or another one, for good. */
static bool check_hidden(const target_t *target, err_t *err) {
    const plan_t *plan = target->plan;
    if (plan->spec->direct)
        return refuse_direct(of_config, err);
    return !plan->spec->shard_key || plan->one_shard || plan->spec->retry ||
           err_set(err, STATUS_USAGE,
                   "--shard-key %s: this user may not read how %s is sharded, and a load shards nothing "
                   "then. The role clusterManager has what it takes; or leave the option out: what is "
                   "sharded stays as it is, and the rest on one shard. Nothing was touched",
                   plan->spec->shard_key, server_namespace(target->server));
}

/* Opens connections past the routers (--direct), or to several routers. */
static bool open_ways(target_t *target, route_read_t read, err_t *err) {
    const load_spec_t *spec = target->plan->spec;
    const uint32_t connections = spec->threads ? spec->threads : PLAN_MOST_USUAL_THREADS;
    const size_t hosts = target_shard_count(target);
    if (!spec->direct) {
        routers_open(target->server, connections, &target->routers);
        return true;
    }
    if (read != ROUTE_READ)
        return refuse_direct(read == ROUTE_HIDDEN    ? of_config
                             : read == ROUTE_UNCLEAR ? "chunks whose bounds can be put in order"
                                                     : "a collection that is spread over the shards",
                             err);
    /* each shard gets as many connections as are needed at once; the driver watches each member with two more */
    return host_want_descriptors("--threads", (uint32_t)(connections * 3 + hosts * 16), err) &&
           (target->direct = direct_open(target->server, target->client, target->route, connections, err)) !=
               NULL;
}

static bool check_zones(const target_t *target, const sharding_t *sharding, const zones_t *zones,
                        err_t *err) {
    return sharding->sharded || !zones->others ||
           err_set(err, STATUS_USAGE,
                   "%s is not sharded yet, and it has %zu zone range%s (%s): a load would contradict them. "
                   "Shard the empty collection yourself (sh.shardCollection), and load into that; or take "
                   "the ranges away. Nothing was touched",
                   server_namespace(target->server), zones->others, zones->others == 1 ? "" : "s",
                   zones->other);
}

static bool check_collation(const target_t *target, const sharding_t *sharding, err_t *err) {
    return sharding->sharded || target->plan->spec->drop || !target->place.collated ||
           err_set(err, STATUS_USAGE,
                   "%s has a collation, and texts of a shard key are compared without one: leave it on one "
                   "shard with --shard-key none; or shard the empty collection yourself "
                   "(sh.shardCollection), and load into that. Nothing was touched",
                   server_namespace(target->server));
}

/* Checks that the collection can be sharded, if it is not, or will not be after the drop. */
static bool check_sharding(const target_t *target, const sharding_t *sharding, const zones_t *zones,
                           err_t *err) {
    config_list_t shards = {.count = 0};
    if (!check_zones(target, sharding, zones, err) || !check_collation(target, sharding, err))
        return false;
    if (sharding->sharded && !target->plan->spec->drop)
        return true;
    const bool ok = find_shards(target, &shards, err) && target_check_new_key(target, err);
    config_free(&shards);
    return ok;
}

/* Refuses to drop a sharded collection whose settings this user may not read: the load could not name them. */
static bool check_hidden_drop(const target_t *target, err_t *err) {
    bool sharded;
    return sharding_is_any(target->server, target->client, &sharded, err) &&
           (!sharded ||
            err_set(
                err, STATUS_USAGE,
                "%s is sharded, and this user may not read what a drop takes away with it: its shard key, "
                "zones that people have set, balancing that is turned off. The role clusterManager has what "
                "it takes; or drop it yourself first, if none of that is to come back. Nothing was touched",
                server_namespace(target->server)));
}

static bool check_cluster(const target_t *target, err_t *err) {
    const plan_t *plan = target->plan;
    const bool drops = plan->spec->drop && target->place.exists,
               may_shard = !plan->one_shard && (plan->spec->drop || target->place.empty);
    sharding_t sharding;
    zones_t zones = {.hidden = false};
    if (!drops && !may_shard)
        return true;
    bool ok = sharding_read(target->server, target->client, NULL, &sharding, err) &&
              zones_read(target->server, target->client, &zones, err);
    if (ok && (sharding.hidden || zones.hidden))
        ok = (!drops || check_hidden_drop(target, err)) && (!may_shard || check_hidden(target, err));
    else
        ok = ok && (!may_shard || check_sharding(target, &sharding, &zones, err));
    sharding_free(&sharding);
    zones_free(&zones);
    return ok;
}

bool target_may_shard(const target_t *target, err_t *err) {
    const load_spec_t *spec = target->plan->spec;
    if (server_facts(target->server)->kind == SERVER_ROUTER)
        return spec->retry ||
               (check_cluster(target, err) && (spec->drop || target_check_present_key(target, err)));
    return (!spec->shard_key && !spec->direct) ||
           err_set(err, STATUS_USAGE, "%s goes with a sharded cluster; %s is none",
                   spec->direct ? "--direct" : "--shard-key", server_where(target->server));
}

/* ---- which of several loads places the collection ---- */

static bool comes_before(const load_seen_t *one, const load_seen_t *other) {
    return one->since_ms != other->since_ms
               ? one->since_ms < other->since_ms
               : memcmp(one->id.bytes, other->id.bytes, sizeof one->id.bytes) < 0;
}

/* True if this load is the first of all that run. */
static bool is_first(const target_t *target) {
    const load_seen_t *own = NULL;
    loads_t loads = {0};
    err_t ignored;
    bool first = true;
    if (!target->catalog.store->read_loads(target->catalog.store, &loads, &ignored))
        return true;
    for (size_t i = 0; i < loads.count; i++)
        own = load_id_equal(&loads.loads[i].id, &target->catalog.self) ? &loads.loads[i] : own;
    for (size_t i = 0; own && i < loads.count; i++)
        first = first &&
                !(load_puts_back(&loads.loads[i], lease_ms(target)) && comes_before(&loads.loads[i], own));
    loads_free(&loads);
    return first;
}

/* Gives the first of several loads some time to place the empty collection. */
static route_read_t wait_for_first(target_t *target, err_t *err) {
    enum { LOOKS = 100, NAP_MS = 100 };
    route_read_t read = ROUTE_UNSHARDED;
    for (int looks = 0; looks < LOOKS && read == ROUTE_UNSHARDED && !is_first(target); looks++) {
        if (!stop_nap(NAP_MS, err))
            return ROUTE_FAILED;
        read = route_open(target->server, target->client, &target->route, err);
    }
    return read;
}

static bool place(target_t *target, const shardkey_t *wanted, err_t *err) {
    bool ok = collection_empty(target, wanted, err);
    if (!ok && err->status == STATUS_USAGE) {
        const err_t why = *err;
        err_set(err, STATUS_USAGE,
                "%s could not be sharded: %.900s. With --shard-key none the collection stays on one shard",
                server_namespace(target->server), why.text);
    } else if (ok && target->was_off && !balancing_switch_off(target->server, target->client, err)) {
        log_warn("balancing of %s was off before --drop, and could not be turned off again (%s)",
                 server_namespace(target->server), err->text);
    }
    return ok;
}

bool target_open_shards(target_t *target, err_t *err) {
    const plan_t *plan = target->plan;
    route_t **route = &target->route;
    const shardkey_t of_data = shardkey_of_data(&plan->shard_key),
                     *wanted = plan->schema->id ? &of_data : &plan->shard_key;
    if (server_facts(target->server)->kind != SERVER_ROUTER)
        return true;
    route_read_t read = route_open(target->server, target->client, route, err);
    bool ok = true;
    if (read == ROUTE_UNSHARDED && !target->place.empty)
        ok = check_no_key(target, err);
    else if (read == ROUTE_UNSHARDED && !plan->one_shard) {
        read = wait_for_first(target, err);
        if (read == ROUTE_UNSHARDED) {
            err_t why;
            ok = place(target, wanted, err);
            if (ok || err->status != STATUS_USAGE)
                read = route_open(target->server, target->client, route, ok ? err : &why);
            ok = ok || read == ROUTE_READ; /* another load has placed it at the same time */
        }
    }
    if (ok && (read == ROUTE_READ || read == ROUTE_UNCLEAR))
        ok = target_check_present_key(target, err);
    if (ok && read == ROUTE_READ && !target->placed)
        check_spread(target);
    if (ok && read == ROUTE_HIDDEN && (ok = check_hidden(target, err)))
        log_note(
            "this user may not read the cluster's config database, which the role clusterMonitor may: if %s "
            "is sharded, the router sorts the batches, which is slower; if not, it stays on one shard",
            server_namespace(target->server));
    if (read == ROUTE_UNCLEAR)
        log_note("%s: the router sorts the batches, which is slower", err->text);
    return ok && read != ROUTE_FAILED && target_check_unique_ids(target, err) && open_ways(target, read, err);
}

void target_follow_shards(target_t *target) {
    err_t err;
    if (!target->route)
        return;
    target->stale = false;
    if (!route_refresh(target->route, target->client, &err))
        log_detail("the map of the chunks could not be read again: %s", err.text);
}

void target_hold_shards(target_t *target) {
    err_t err;
    if (target->route && !target->plan->spec->dry_run && !target->must_balance &&
        !balancing_hold(target->server, target->client, target->place.uuid, &target->held, &err))
        log_note("balancing of %s may stay on while it is loaded, and move chunks: %s",
                 server_namespace(target->server), err.text);
}

/* A load that failed before it had a route also restores, since others may have left that to it. A load that changed nothing
 * and may not look has nothing to restore. */
void target_close_shards(target_t *target) {
    size_t running = 0;
    restored_t restored;
    err_t err;
    if (target->plan->spec->dry_run || !target->catalog.store ||
        server_facts(target->server)->kind != SERVER_ROUTER ||
        (!target->placed && !target->route && load_id_is_nobody(&target->catalog.self)))
        return;
    server_clean_up(target->server);
    if (!load_id_is_nobody(&target->catalog.self) &&
        !store_mongo_leave(target->catalog.store, &target->catalog.self, &err))
        log_detail("other loads cannot learn that this one is about to end: %s", err.text);
    if (!running_others(target->catalog.store, &target->catalog.self, lease_ms(target), &running, &err)) {
        log_warn("%s: whether other loads of it are running could not be found out (%s), so its balancing "
                 "stays as it is; `tipple status` shows it, and --restore undoes what loads have changed",
                 server_namespace(target->server), err.text);
        return;
    }
    if (running)
        return; /* the last of them restores */
    const bool ok = cluster_restore(target->server, target->client, target->held ? target->place.uuid : NULL,
                                    &restored, &err);
    if (restored.balanced && !target->held)
        log_note("%s: another load had turned its balancing off; it is on again",
                 server_namespace(target->server));
    if (!ok && (target->placed || target->held || !restored.hidden))
        log_warn("%s: %s; `tipple status --restore` does it, when no load of it runs",
                 server_namespace(target->server), err.text);
}

size_t target_shard_count(const target_t *target) {
    chunkmap_t *map = target->route ? route_map(target->route) : NULL;
    size_t count = map ? chunkmap_shards(map) : 1;
    chunkmap_free(map);
    return count;
}
