/* shards: where the documents of a load go when its target is a cluster: the collection is spread over the
 * shards before the first byte, and the map of its chunks is followed while it is loaded. */
#include "base/host.h"
#include "base/log.h"
#include "base/stop.h"
#include "load/plan/sample.h"
#include "load/run/job.h"
#include "server/cluster.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* The values of such a key are not known beforehand: some records are looked at. */
static bool sample_bounds(const job_t *job, const shardkey_t *key, size_t shards, bson_t **bounds,
                          size_t *count, err_t *err) {
    sample_t sample;
    if (!sample_take(job->schema, &job->manifest, key, &sample, err))
        return false;
    *count = cluster_sample_bounds(sample.keys, sample.count, shards, bounds);
    if (!sample.count)
        log_note("where to cut the shard key cannot be seen before the load, as of stdin, or of values of "
                 "rare types, such as decimals: the collection begins on 1 shard of %zu",
                 shards);
    else if (*count + 1 < shards)
        log_note("the shard key has too few values for %zu shards, as far as %zu records tell: the "
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

/* Where the second to the last shard's ranges begin; of *count bounds. */
static bson_t **find_bounds(const job_t *job, const shardkey_t *key, size_t shards, size_t *count,
                            err_t *err) {
    bson_t **bounds = calloc(shards, sizeof(bson_t *));
    *count = shards - 1;
    bool ok = bounds != NULL || err_memory(err, shards * sizeof *bounds);
    if (ok && !cluster_bounds(key, shards, bounds))
        ok = sample_bounds(job, key, shards, bounds, count, err);
    if (ok)
        return bounds;
    free_bounds(bounds, shards);
    return NULL;
}

static bool find_shards(const job_t *job, config_list_t *shards, err_t *err) {
    if (!cluster_shards(job->server, job->client, shards, err))
        return false;
    return shards->count || err_set(err, STATUS_USAGE,
                                    "every shard of the cluster is being drained: no chunk may be placed. "
                                    "Add a shard, or end the draining of one");
}

static bool collection_empty(job_t *job, const shardkey_t *key, err_t *err) {
    config_list_t shards;
    size_t count;
    if (!find_shards(job, &shards, err))
        return false;
    job->placed = true;
    bson_t **bounds =
        job_build_key_index(job, key, err) ? find_bounds(job, key, shards.count, &count, err) : NULL;
    const bool ok = bounds && cluster_place(job->server, job->client, key, &shards, bounds, count, err);
    free_bounds(bounds, shards.count);
    config_free(&shards);
    return ok;
}

static int64_t lease_ms(const job_t *job) {
    return job->lease_ms ? job->lease_ms : STORE_LEASE_MS;
}

/* A collection that was sharded before is taken as it is. Where not all shards will have work, its balancing stays on, so that
 * the balancer can move chunks to the others, unless a user has set zones or turned moves off. */
static void tell_uneven(job_t *job, const evenness_t *evenness, const zones_t *zones) {
    const char *name = server_namespace(job->server);
    const bool unmoved = sharding_is_fixed(route_sharding(job->loading.route)),
               fixed = zones->others || unmoved;
    char hint[300];
    snprintf(hint, sizeof hint, "Its balancing stays on, so that the balancer can move chunks to them%s",
             job->place.empty ? "; --drop would spread the empty collection before the load" : "");
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
    job->must_balance = evenness->leaving[0] || (!evenness->even && !fixed);
}

/* A failure to read here does not end the load. */
static void check_spread(job_t *job) {
    const shardkey_t of_data = shardkey_of_data(route_key(job->loading.route)),
                     *key = job->schema->id ? &of_data : route_key(job->loading.route);
    config_list_t shards;
    zones_t zones;
    err_t err;
    if (zones_read(job->server, job->client, &zones, &err) && !zones.hidden &&
        cluster_shards(job->server, job->client, &shards, &err)) {
        chunkmap_t *map = route_map(job->loading.route);
        const evenness_t evenness = cluster_evenness(map, key, &shards);
        tell_uneven(job, &evenness, &zones);
        chunkmap_free(map);
        config_free(&shards);
    }
    zones_free(&zones);
}

/* A collection that has documents, and is not sharded. */
static bool check_no_key(const job_t *job, err_t *err) {
    return !job->spec->shard_key || job->one_shard || job->spec->retry ||
           err_set(
               err, STATUS_USAGE,
               "%s is not sharded, and has documents: a load shards only what is empty. Leave --shard-key "
               "out; or shard it yourself before the load (sh.shardCollection); or --drop the collection",
               server_namespace(job->server));
}

static const char of_config[] = "a user who may read the cluster's config database (the role clusterMonitor)";

static bool refuse_direct(const char *needed, err_t *err) {
    return err_set(err, STATUS_USAGE, "--direct needs %s; leave it out", needed);
}

/* A load leaves the sharding as it is where it may not read it: the key that was asked for would be none, or another one, for good. */
static bool check_hidden(const job_t *job, err_t *err) {
    if (job->spec->direct)
        return refuse_direct(of_config, err);
    return !job->spec->shard_key || job->one_shard || job->spec->retry ||
           err_set(err, STATUS_USAGE,
                   "--shard-key %s: this user may not read how %s is sharded, and a load shards nothing "
                   "then. The role clusterManager has what it takes; or leave the option out: what is "
                   "sharded stays as it is, and the rest on one shard. Nothing was touched",
                   job->spec->shard_key, server_namespace(job->server));
}

/* Past the routers, or each thread with one of them. */
static bool open_ways(job_t *job, route_read_t read, err_t *err) {
    const load_spec_t *spec = job->spec;
    const uint32_t connections = spec->threads ? spec->threads : JOB_MOST_DEFAULT_THREADS;
    const size_t hosts = job_shard_count(job);
    if (!spec->direct) {
        routers_open(job->server, connections, &job->loading.routers);
        return true;
    }
    if (read != ROUTE_READ)
        return refuse_direct(read == ROUTE_HIDDEN    ? of_config
                             : read == ROUTE_UNCLEAR ? "chunks whose bounds can be put in order"
                                                     : "a collection that is spread over the shards",
                             err);
    /* connections a shard are as many as are needed at once; the driver watches each member with two more */
    return host_want_descriptors("--threads", (uint32_t)(connections * 3 + hosts * 16), err) &&
           (job->loading.direct =
                direct_open(job->server, job->client, job->loading.route, connections, err)) != NULL;
}

static bool check_zones(const job_t *job, const sharding_t *sharding, const zones_t *zones, err_t *err) {
    return sharding->sharded || !zones->others ||
           err_set(err, STATUS_USAGE,
                   "%s is not sharded yet, and it has %zu zone range%s (%s): a load would contradict them. "
                   "Shard the empty collection yourself (sh.shardCollection), and load into that; or take "
                   "the ranges away. Nothing was touched",
                   server_namespace(job->server), zones->others, zones->others == 1 ? "" : "s", zones->other);
}

static bool check_collation(const job_t *job, const sharding_t *sharding, err_t *err) {
    return sharding->sharded || job->spec->drop || !job->place.collated ||
           err_set(err, STATUS_USAGE,
                   "%s has a collation, and texts of a shard key are compared without one: leave it on one "
                   "shard with --shard-key none; or shard the empty collection yourself "
                   "(sh.shardCollection), and load into that. Nothing was touched",
                   server_namespace(job->server));
}

/* False: it is not sharded yet, or will not be after the drop, and something stands against sharding it. */
static bool check_sharding(const job_t *job, const sharding_t *sharding, const zones_t *zones, err_t *err) {
    config_list_t shards = {.count = 0};
    if (!check_zones(job, sharding, zones, err) || !check_collation(job, sharding, err))
        return false;
    if (sharding->sharded && !job->spec->drop)
        return true;
    const bool ok = find_shards(job, &shards, err) && job_check_new_key(job, err);
    config_free(&shards);
    return ok;
}

/* Settings of users go with a sharded collection, and cannot be named to a user who may not read them. */
static bool check_hidden_drop(const job_t *job, err_t *err) {
    bool sharded;
    return sharding_is_any(job->server, job->client, &sharded, err) &&
           (!sharded ||
            err_set(
                err, STATUS_USAGE,
                "%s is sharded, and this user may not read what a drop takes away with it: its shard key, "
                "zones that people have set, balancing that is turned off. The role clusterManager has what "
                "it takes; or drop it yourself first, if none of that is to come back. Nothing was touched",
                server_namespace(job->server)));
}

static bool check_cluster(const job_t *job, err_t *err) {
    const bool drops = job->spec->drop && job->place.exists,
               may_shard = !job->one_shard && (job->spec->drop || job->place.empty);
    sharding_t sharding;
    zones_t zones = {.hidden = false};
    if (!drops && !may_shard)
        return true;
    bool ok = sharding_read(job->server, job->client, NULL, &sharding, err) &&
              zones_read(job->server, job->client, &zones, err);
    if (ok && (sharding.hidden || zones.hidden))
        ok = (!drops || check_hidden_drop(job, err)) && (!may_shard || check_hidden(job, err));
    else
        ok = ok && (!may_shard || check_sharding(job, &sharding, &zones, err));
    sharding_free(&sharding);
    zones_free(&zones);
    return ok;
}

bool job_may_shard(const job_t *job, err_t *err) {
    const load_spec_t *spec = job->spec;
    if (server_facts(job->server)->kind == SERVER_ROUTER)
        return spec->retry || (check_cluster(job, err) && (spec->drop || job_check_present_key(job, err)));
    return (!spec->shard_key && !spec->direct) ||
           err_set(err, STATUS_USAGE, "%s goes with a sharded cluster; %s is none",
                   spec->direct ? "--direct" : "--shard-key", server_where(job->server));
}

/* ---- which of several loads places the collection ---- */

static bool comes_before(const load_seen_t *one, const load_seen_t *other) {
    return one->since_ms != other->since_ms
               ? one->since_ms < other->since_ms
               : memcmp(one->id.bytes, other->id.bytes, sizeof one->id.bytes) < 0;
}

/* True if this one is the first of all loads that run. */
static bool is_first(const job_t *job) {
    const load_seen_t *own = NULL;
    loads_t loads = {0};
    err_t ignored;
    bool first = true;
    if (!job->store->read_loads(job->store, &loads, &ignored))
        return true;
    for (size_t i = 0; i < loads.count; i++)
        own = load_id_equal(&loads.loads[i].id, &job->id) ? &loads.loads[i] : own;
    for (size_t i = 0; own && i < loads.count; i++)
        first =
            first && !(load_puts_back(&loads.loads[i], lease_ms(job)) && comes_before(&loads.loads[i], own));
    loads_free(&loads);
    return first;
}

/* Several loads may begin with the empty collection: the first of them places it, and the others give it some time. */
static route_read_t wait_for_first(job_t *job, err_t *err) {
    enum { LOOKS = 100, NAP_MS = 100 };
    route_read_t read = ROUTE_UNSHARDED;
    for (int looks = 0; looks < LOOKS && read == ROUTE_UNSHARDED && !is_first(job); looks++) {
        if (!stop_nap(NAP_MS, err))
            return ROUTE_FAILED;
        read = route_open(job->server, job->client, &job->loading.route, err);
    }
    return read;
}

static bool place(job_t *job, const shardkey_t *wanted, err_t *err) {
    bool ok = collection_empty(job, wanted, err);
    if (!ok && err->status == STATUS_USAGE) {
        const err_t why = *err;
        err_set(err, STATUS_USAGE,
                "%s could not be sharded: %.900s. With --shard-key none the collection stays on one shard",
                server_namespace(job->server), why.text);
    } else if (ok && job->was_off && !balancing_switch_off(job->server, job->client, err)) {
        log_warn("balancing of %s was off before --drop, and could not be turned off again (%s)",
                 server_namespace(job->server), err->text);
    }
    return ok;
}

bool job_open_shards(job_t *job, err_t *err) {
    route_t **route = &job->loading.route;
    const shardkey_t of_data = shardkey_of_data(&job->shard_key),
                     *wanted = job->schema->id ? &of_data : &job->shard_key;
    if (server_facts(job->server)->kind != SERVER_ROUTER)
        return true;
    route_read_t read = route_open(job->server, job->client, route, err);
    bool ok = true;
    if (read == ROUTE_UNSHARDED && !job->place.empty)
        ok = check_no_key(job, err);
    else if (read == ROUTE_UNSHARDED && !job->one_shard) {
        read = wait_for_first(job, err);
        if (read == ROUTE_UNSHARDED) {
            err_t why;
            ok = place(job, wanted, err);
            if (ok || err->status != STATUS_USAGE)
                read = route_open(job->server, job->client, route, ok ? err : &why);
            ok = ok || read == ROUTE_READ; /* another load has placed it at the same moment */
        }
    }
    if (ok && (read == ROUTE_READ || read == ROUTE_UNCLEAR))
        ok = job_check_present_key(job, err);
    if (ok && read == ROUTE_READ && !job->placed)
        check_spread(job);
    if (ok && read == ROUTE_HIDDEN && (ok = check_hidden(job, err)))
        log_note(
            "this user may not read the cluster's config database, which the role clusterMonitor may: if %s "
            "is sharded, the router sorts the batches, which is slower; if not, it stays on one shard",
            server_namespace(job->server));
    if (read == ROUTE_UNCLEAR)
        log_note("%s: the router sorts the batches, which is slower", err->text);
    return ok && read != ROUTE_FAILED && job_check_unique_ids(job, err) && open_ways(job, read, err);
}

void job_follow_shards(job_t *job) {
    err_t err;
    if (!job->loading.route)
        return;
    job->loading.stale = false;
    if (!route_refresh(job->loading.route, job->client, &err))
        log_detail("the map of the chunks could not be read again: %s", err.text);
}

void job_hold_shards(job_t *job) {
    err_t err;
    if (job->loading.route && !job->spec->dry_run && !job->must_balance &&
        !balancing_hold(job->server, job->client, job->place.uuid, &job->held, &err))
        log_note("balancing of %s may stay on while it is loaded, and move chunks: %s",
                 server_namespace(job->server), err.text);
}

/* Also of a load that ended before it had a route: another one may have left it what is to be done. One that has changed
 * nothing and may not look has nothing to put back. */
void job_close_shards(job_t *job) {
    size_t running = 0;
    restored_t restored;
    err_t err;
    if (job->spec->dry_run || !job->store || server_facts(job->server)->kind != SERVER_ROUTER ||
        (!job->placed && !job->loading.route && load_id_is_nobody(&job->id)))
        return;
    server_clean_up(job->server);
    if (!load_id_is_nobody(&job->id) && !store_mongo_leave(job->store, &job->id, &err))
        log_detail("other loads cannot be told that this one is about to end: %s", err.text);
    if (!running_others(job->store, &job->id, lease_ms(job), &running, &err)) {
        log_warn("%s: whether other loads of it are running could not be found out (%s), so its balancing "
                 "stays as it is; `tipple status` shows it, and --restore undoes what loads have changed",
                 server_namespace(job->server), err.text);
        return;
    }
    if (running)
        return; /* the last one of them does it */
    const bool ok =
        cluster_restore(job->server, job->client, job->held ? job->place.uuid : NULL, &restored, &err);
    if (restored.balanced && !job->held)
        log_note("%s: another load had turned its balancing off; it is on again",
                 server_namespace(job->server));
    if (!ok && (job->placed || job->held || !restored.hidden))
        log_warn("%s: %s; `tipple status --restore` does it, when no load of it runs",
                 server_namespace(job->server), err.text);
}

size_t job_shard_count(const job_t *job) {
    chunkmap_t *map = job->loading.route ? route_map(job->loading.route) : NULL;
    size_t count = map ? chunkmap_shards(map) : 1;
    chunkmap_free(map);
    return count;
}
