/* shards: where the documents of a load go when its target is a cluster: the collection is spread over the
 * shards before the first byte, and the map of its chunks is followed while it is loaded. */
#include "base/document.h"
#include "base/host.h"
#include "base/log.h"
#include "base/stop.h"
#include "catalog/store/entry_bson.h"
#include "load/before/sample.h"
#include "load/job/job.h"
#include "server/bson_read.h"
#include "server/presplit/balance_check.h"
#include "server/presplit/presplit.h"
#include "server/presplit/rights.h"
#include "server/presplit/zone_notes.h"
#include "server/presplit/zones.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* The values of such a key are not known beforehand: some records are looked at. */
static bool sample_bounds(const job_t *job, const shardkey_t *key, size_t shards, bson_t **bounds,
                          size_t *count, err_t *err) {
    sample_t sample;
    if (!sample_take(job->schema, &job->manifest, key, &sample, err))
        return false;
    bool ok = presplit_sample(sample.keys, sample.count, shards, bounds, count) || err_memory(err, 1);
    if (ok && !sample.count)
        log_note(
            "where to cut the shard key cannot be seen before the load, as of stdin, or of values of rare "
            "types, such as decimals: the collection begins on 1 shard of %zu",
            shards);
    else if (ok && *count + 1 < shards)
        log_note(
            "the shard key has too few values for %zu shards, as far as %zu records tell: the collection "
            "begins on %zu",
            shards, sample.count, *count + 1);
    sample_free(&sample);
    return ok;
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
    if (ok && !presplit_bounds(key, shards, bounds))
        ok = sample_bounds(job, key, shards, bounds, count, err);
    if (ok)
        return bounds;
    free_bounds(bounds, shards);
    return NULL;
}

/* presplit_place for a collection that is not sharded yet, balance_check_split for one that is. */
typedef bool presplit_fn(server_t *server, mongoc_client_t *client, const shardkey_t *key,
                         const shard_names_t *shards, bson_t *const *bounds, size_t count, err_t *err);

static bool presplit_empty(job_t *job, const shardkey_t *key, const shard_names_t *shards,
                           presplit_fn *spread, err_t *err) {
    size_t count;
    bson_t **bounds = find_bounds(job, key, shards->count, &count, err);
    bool ok = bounds && spread(job->server, job->client, key, shards, bounds, count, err);
    free_bounds(bounds, shards->count);
    return ok;
}

static bool check_shards(const shard_names_t *shards, err_t *err) {
    return shards->count ||
           err_set(err, STATUS_USAGE,
                   "every shard of the cluster is being drained: no chunk may be placed. Add a shard, or end "
                   "the draining of one");
}

static bool collection_empty(job_t *job, const shardkey_t *key, err_t *err) {
    shard_names_t shards;
    if (!presplit_shards(job->server, job->client, &shards, err))
        return false;
    job->placed = true;
    bson_oid_t load;
    load_id_to_oid(&job->id, &load);
    bool ok = check_shards(&shards, err) && job_build_key_index(job, key, err) &&
              zone_notes_write(job->server, job->client, &load, shards.count, job->place.uuid, err) &&
              (job->changed.zones = shards.count) && presplit_empty(job, key, &shards, presplit_place, err);
    presplit_free_shards(&shards);
    return ok;
}

/* running: other loads, which may be about to spread what is empty. */
static void tell_uneven(job_t *job, const balance_check_t *evenness, const zones_t *zones, size_t running) {
    const char *name = server_namespace(job->server);
    char hint[300];
    snprintf(hint, sizeof hint, "`tipple status` shows the commands that fix it%s",
             job->place.empty ? "; --drop lets the load do it" : "");
    if (zones->others)
        snprintf(hint, sizeof hint,
                 "It has zones that a person has set (such as %s), so chunks stay where they are",
                 zones->other);
    else if (zones->unmoved)
        snprintf(hint, sizeof hint,
                 "A person has turned moves of its chunks off (sh.disableMigrations), so they stay where "
                 "they are");
    if (!evenness->even && running && !zones->others && !zones->unmoved)
        log_note("%s: %zu of %zu shards have chunks so far. Another load of it is running, and may be "
                 "spreading it; `tipple status` shows what came of it",
                 name, evenness->owners, evenness->shards);
    else if (!evenness->even)
        log_note("%s: %zu of %zu shards have chunks, and %.0f%% of %s is for %s: the others will wait. %s",
                 name, evenness->owners, evenness->shards, 100 * evenness->most,
                 evenness->known ? "what will be loaded" : "the chunks", evenness->name, hint);
    if (evenness->leaving[0])
        log_note(
            "%s: the shard %s is being drained and has chunks of it: its balancing is not turned off, so "
            "that they can leave",
            name, evenness->leaving);
    job->must_balance = evenness->leaving[0];
}

/* A collection that was sharded before: one that is empty and was never split is spread, unless a person has set
 * zones or turned moves off; another one is taken as it is, and a person is told when not all shards will have work. Nothing of it
 * must end the load. */
static void improve_spread(job_t *job) {
    const shardkey_t of_data = shardkey_of_data(route_key(job->loading.route)),
                     *key = job->schema->id ? &of_data : route_key(job->loading.route);
    shard_names_t shards = {NULL, 0};
    size_t running = 0;
    zones_t zones;
    err_t err;
    if (job->place.empty)
        running_others(job->store, &job->id, job_lease_ms(job), &running, &err);
    if (zones_read(job->server, job->client, NULL, &zones, &err) && !zones.hidden &&
        presplit_shards(job->server, job->client, &shards, &err)) {
        chunkmap_t *map = route_map(job->loading.route);
        bool untouched = job->place.empty && chunkmap_chunks(map) == 1 && shards.count > 1 && !zones.others &&
                         !zones.unmoved;
        if (untouched && !(presplit_empty(job, key, &shards, balance_check_split, &err) &&
                           route_refresh(job->loading.route, job->client, &err)))
            log_note("%s could not be spread over the shards: %s", server_namespace(job->server), err.text);
        chunkmap_free(map);
        map = route_map(job->loading.route);
        const balance_check_t evenness = balance_check_of(map, key, &shards);
        tell_uneven(job, &evenness, &zones, running);
        chunkmap_free(map);
        presplit_free_shards(&shards);
    }
    zones_free(&zones);
}

bool job_shards_nothing(const job_t *job) {
    return job->spec->shard_key && strcmp(job->spec->shard_key, "none") == 0;
}

/* A collection that has documents, and is not sharded. */
static bool check_no_key(const job_t *job, err_t *err) {
    return !job->spec->shard_key || job_shards_nothing(job) || job->spec->retry ||
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

/* What nobody may see, a load leaves as it is: the key that was asked for would be none, or another one, for good. */
static bool check_hidden(const job_t *job, err_t *err) {
    if (job->spec->direct)
        return refuse_direct(of_config, err);
    return !job->spec->shard_key || job_shards_nothing(job) || job->spec->retry ||
           err_set(
               err, STATUS_USAGE,
               "--shard-key %s: this user may not read how %s is sharded, and a load shards nothing then. "
               "The role clusterManager has what it takes; or leave the option out: what is sharded stays "
               "as it is, and the rest on one shard. Nothing was touched",
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
    return host_want_descriptors((uint32_t)(connections * 3 + hosts * 16), err) &&
           (job->loading.direct =
                direct_open(job->server, job->client, job->loading.route, connections, err)) != NULL;
}

/* Of the key by which it is about to be sharded. */
static bool check_wanted(const job_t *job, err_t *err) {
    shardkey_t wanted;
    if (!shardkey_parse(job->spec->shard_key ? job->spec->shard_key : "_id", &wanted, err))
        return false;
    const bool ok = job_check_unique_indexes(job, &wanted, false, err) &&
                    job_check_key_index(job, &wanted, err) &&
                    (!job->spec->shard_key || job_check_key_values(job, err));
    shardkey_free(&wanted);
    return ok;
}

static bool check_zones(const job_t *job, const zones_t *zones, bool anew, err_t *err) {
    const char *name = server_namespace(job->server);
    if (!zones->sharded && zones->others)
        return err_set(
            err, STATUS_USAGE,
            "%s is not sharded yet, and a person has set %zu zone range%s for it (%s): a load would "
            "contradict them. Shard the empty collection yourself (sh.shardCollection), and load into "
            "that; or take the ranges away. Nothing was touched",
            name, zones->others, zones->others == 1 ? "" : "s", zones->other);
    return !anew || !zones->alike[0] ||
           err_set(
               err, STATUS_USAGE,
               "a shard has the tag %s, which no load of %s has noted: a load would set one of that name, "
               "and take it away. Take it away yourself (sh.removeShardFromZone), or give --shard-key "
               "none. Nothing was touched",
               zones->alike, name);
}

static bool check_collation(const job_t *job, const zones_t *zones, err_t *err) {
    return zones->sharded || job->spec->drop || !job->place.collated ||
           err_set(err, STATUS_USAGE,
                   "%s has a collation, and texts of a shard key are compared without one: leave it on one "
                   "shard with --shard-key none; or shard the empty collection yourself "
                   "(sh.shardCollection), and load into that. Nothing was touched",
                   server_namespace(job->server));
}

/* Would nothing stand against sharding it, if it is not sharded yet, or will not be behind the drop? */
static bool check_sharding(const job_t *job, const zones_t *zones, err_t *err) {
    const bool anew = !zones->sharded || job->spec->drop;
    shard_names_t shards = {NULL, 0};
    if (zones->hidden)
        return check_hidden(job, err);
    if (!check_zones(job, zones, anew, err) || !check_collation(job, zones, err))
        return false;
    if (!anew)
        return true;
    const bool ok = collection_may_shard(server_namespace(job->server), err) &&
                    presplit_shards(job->server, job->client, &shards, err) && check_shards(&shards, err) &&
                    rights_check(job->server, job->client, err) && check_wanted(job, err);
    presplit_free_shards(&shards);
    return ok;
}

static bool check_cluster(const job_t *job, err_t *err) {
    const bool drops = job->spec->drop && job->place.exists,
               may_shard = !job_shards_nothing(job) && (job->spec->drop || job->place.empty);
    zones_t zones;
    if (!drops && !may_shard)
        return true;
    const bool ok = zones_read(job->server, job->client, NULL, &zones, err) &&
                    (!drops || zones_may_drop(job->server, job->client, &zones, err)) &&
                    (!may_shard || check_sharding(job, &zones, err));
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

/* Has another load sharded the collection at the same moment? Its zones came first, and it has a moment to go on. */
static bool was_quicker(job_t *job, route_read_t *read) {
    err_t ignored;
    for (int looks = 0; looks < 50; looks++) {
        *read = route_open(job->server, job->client, &job->loading.route, &ignored);
        if (*read != ROUTE_UNSHARDED || !stop_nap(100, &ignored))
            break;
    }
    return *read == ROUTE_READ;
}

bool job_open_shards(job_t *job, err_t *err) {
    route_t **route = &job->loading.route;
    shardkey_t wanted;
    err_t why;
    if (server_facts(job->server)->kind != SERVER_ROUTER)
        return true;
    memcpy(job->changed.uuid, job->place.uuid, sizeof job->changed.uuid);
    if (!shardkey_parse(job_shards_nothing(job) || !job->spec->shard_key ? "_id" : job->spec->shard_key,
                        &wanted, err))
        return false;
    if (job->schema->id)
        wanted = shardkey_of_data(&wanted);
    route_read_t read = route_open(job->server, job->client, route, err);
    bool ok = read != ROUTE_FAILED;
    if (read == ROUTE_READ || read == ROUTE_UNCLEAR)
        ok = job_check_present_key(job, err);
    if (read == ROUTE_READ && ok)
        improve_spread(job);
    if (read == ROUTE_UNSHARDED && !job->place.empty)
        ok = check_no_key(job, err);
    else if (read == ROUTE_UNSHARDED && !job_shards_nothing(job)) {
        job_undo_dead(job);
        ok = collection_empty(job, &wanted, err);
        if (!ok && err->status != STATUS_USAGE && was_quicker(job, &read))
            ok = job_check_present_key(job, err);
        else if (!ok && err->status == STATUS_USAGE) {
            why = *err;
            err_set(
                err, STATUS_USAGE,
                "%s could not be sharded: %.900s. With --shard-key none the collection stays on one shard",
                server_namespace(job->server), why.text);
        }
        if (ok && read != ROUTE_READ)
            ok = (read = route_open(job->server, job->client, route, err)) != ROUTE_FAILED;
    }
    if (read == ROUTE_READ)
        job_keep_off(job);
    if (read == ROUTE_HIDDEN)
        ok = ok && check_hidden(job, err);
    if (read == ROUTE_HIDDEN && ok)
        log_note("this user may not read the cluster's config database, which the role clusterMonitor may: "
                 "if %s is "
                 "sharded, the router sorts the batches, which is slower; if not, it stays on one shard",
                 server_namespace(job->server));
    if (read == ROUTE_UNCLEAR)
        log_note("%s: the router sorts the batches, which is slower", err->text);
    shardkey_free(&wanted);
    return ok && job_check_unique_ids(job, err) && open_ways(job, read, err);
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
        !balancer_take(job->server, job->client, job->place.uuid, &job->changed.balancing, &err))
        log_detail("the balancing of %s could not be turned off: %s", server_namespace(job->server),
                   err.text);
}

/* Also of a load that ended before it had a route: another one may have left it what is to be done. One that has changed
 * nothing and may not look has nothing to put back. */
void job_close_shards(job_t *job) {
    size_t running = 0;
    undone_t undone;
    err_t err;
    if (job->spec->dry_run || !job->store || server_facts(job->server)->kind != SERVER_ROUTER ||
        (!job->placed && !job->loading.route && load_id_is_nobody(&job->id)))
        return;
    server_clean_up(job->server);
    if (!load_id_is_nobody(&job->id) && !store_mongo_leave(job->store, &job->id, &err))
        log_detail("other loads cannot be told that this one is about to end: %s", err.text);
    if (!running_others(job->store, &job->id, job_lease_ms(job), &running, &err)) {
        log_warn("%s: whether other loads of it are running could not be found out (%s), so its zones and "
                 "its balancing stay as they are; `tipple status` shows them, and --restore undoes what "
                 "loads have changed",
                 server_namespace(job->server), err.text);
        return;
    }
    if (running)
        return; /* the last one of them does it */
    undo(job->server, job->client, &job->changed, &undone);
    if (undone.steps[UNDO_BALANCING].gone && !job->changed.balancing)
        log_note("%s: another load had turned its balancing off; it is on again",
                 server_namespace(job->server));
    if (job->placed || !undone.hidden)
        undo_tell(job->server, &undone, "; `tipple status --restore` does it, when no load of it runs", &err);
}

size_t job_shard_count(const job_t *job) {
    chunkmap_t *map = job->loading.route ? route_map(job->loading.route) : NULL;
    size_t count = map ? chunkmap_shards(map) : 1;
    chunkmap_free(map);
    return count;
}
