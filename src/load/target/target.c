/* target: connects, and opens the collection and its catalog, in the order of target_open: all checks come before the
 * first change. */
#include "base/document.h"
#include "base/host.h"
#include "base/log.h"
#include "base/numbers.h"
#include "catalog/register/register.h"
#include "load/plan/peek.h"
#include "load/rejects/reject.h"
#include "load/target/target.h"
#include "server/bson_read.h"
#include "server/cluster.h"

#include <stdio.h>
#include <string.h>

/* Each shard takes batches from several threads at once: by default from at most this many. */
enum { THREADS_A_SHARD = 4 };

bool target_connect(target_t *target, err_t *err) {
    const load_spec_t *spec = target->plan->spec;
    load_result_t *result = target->plan->result;
    server_options_t options = {.uri = spec->uri,
                                .patience_ns = spec->patience_ns,
                                .connections =
                                    (spec->threads ? result->threads : PLAN_MOST_USUAL_THREADS) + 2,
                                .unsafe = spec->unsafe && !spec->retry};
    if (spec->unsafe && spec->max_rate_auto && !spec->retry)
        return err_set(err, STATUS_USAGE,
                       "--max-rate auto goes by the time until the majority has a batch, which --unsafe does "
                       "not wait for: give a rate, or leave one of them out");
    /* a connection for each thread, the driver's own for each host, an input for each feeder */
    if (!host_want_descriptors("--threads", options.connections + 12, err))
        return false;
    if (!(target->server = server_connect(&options, err)) ||
        !(target->client = server_take(target->server, err)))
        return false;
    snprintf(result->namespace, sizeof result->namespace, "%s", server_namespace(target->server));
    snprintf(result->where, sizeof result->where, "%s", server_where(target->server));
    if (spec->unsafe && spec->retry)
        log_note("--unsafe has no effect on --retry: a fix counts only when it lasts");
    else if (spec->unsafe && !spec->trial)
        log_warn("--unsafe: only the URI's own write concern is waited for, and on a standalone not even the "
                 "journal; documents that are counted as loaded can be lost when a server dies");
    return true;
}

/* ---- --existing ---- */

bool target_find_existing(target_t *target, const char *bound, err_t *err) {
    const char *name = bound ? bound : target->plan->spec->existing;
    return existing_named(name, &target->plan->existing) ||
           err_set(err, STATUS_USAGE,
                   "%s was loaded with --existing %s by another version of tipple: use that version",
                   server_namespace(target->server), name);
}

static bool check_existing(const plan_t *plan, err_t *err) {
    const load_spec_t *spec = plan->spec;
    const char *name = existing_names[plan->existing];
    if (plan->existing != EXISTING_REJECT && !plan->schema->id)
        return err_set(err, STATUS_USAGE,
                       "--existing %s goes with _ids that are the data's own, and here they are places of "
                       "records, which no two records share: give --id FIELD, or leave it out",
                       name);
    if (plan->existing == EXISTING_REPLACE && spec->unsafe && !spec->retry)
        return err_set(err, STATUS_USAGE,
                       "--existing replace does not go with --unsafe: what an election loses could not be "
                       "replaced in its order again; leave one of them out");
    return true;
}

/* ---- what a drop takes away ----
 *
 * Settings of users that this load does not make again are named before the drop. Only balancing that was off is turned off
 * again. */

static void lose(text_t *lost, const char *what, const bson_t *document) {
    if (bson_empty(document))
        return;
    text_print(lost, "%s%s ", lost->length ? "\n    " : "", what);
    ejson_append(lost, document, true);
}

/* Leaves out options that the load decides itself. */
static bool lose_options(const target_t *target, text_t *lost, err_t *err) {
    bson_t reply, entry, options, others = BSON_INITIALIZER, gone = BSON_INITIALIZER;
    bson_iter_t at;
    const bool ok = collection_ask(target->server, target->client, &reply, err);
    if (ok && bson_read_batch(&reply, &at) && bson_read_next(&at, &entry) &&
        bson_read_field(&entry, "options", &options))
        bson_copy_to_excluding_noinit(&options, &others, "clusteredIndex", "storageEngine", "autoIndexId",
                                      NULL);
    for (bool more = bson_iter_init(&at, &others); more && bson_iter_next(&at);)
        if (!plan_has_option(target->plan, bson_iter_key(&at)))
            bson_append_iter(&gone, NULL, 0, &at);
    lose(lost, "options", &gone);
    bson_destroy(&others);
    bson_destroy(&gone);
    bson_destroy(&reply);
    return ok;
}

/* True if the load makes this index again: for --index, for a dump, or for the shard key. */
static bool is_made_again(const plan_t *plan, const index_spec_t *index) {
    const bool collated = plan_has_option(plan, "collation");
    for (size_t i = 0; i < plan->index_count; i++)
        if (collection_same_index(index, &plan->indexes[i],
                                  collated && plan_gets_collation(plan, &plan->indexes[i])))
            return true;
    index_spec_t of_key = {.keys = plan->shard_key.spec, .options = BSON_INITIALIZER};
    return collection_same_index(index, &of_key, false);
}

/* Names nothing if this user may drop the collection but not list its indexes. */
static void lose_indexes(const target_t *target, text_t *lost) {
    bson_t reply, listed;
    bson_iter_t at;
    err_t ignored;
    if (collection_ask_indexes(target->server, target->client, &reply, &ignored) &&
        bson_read_batch(&reply, &at))
        while (bson_read_next(&at, &listed)) {
            index_spec_t index;
            const bool known = collection_take_index(&listed, &index, &ignored);
            if (known && strcmp(index.name, "_id_") != 0 && !bson_has_field(&listed, "clustered") &&
                !is_made_again(target->plan, &index))
                lose(lost, "index", &listed);
            collection_free_index(&index);
        }
    bson_destroy(&reply);
}

/* Names the shard key, unless --shard-key gives one; the size of chunks; and that chunks are not merged or moved. */
static void lose_sharding(const plan_t *plan, text_t *lost, const sharding_t *sharding) {
    static const char *const settings[] = {"maxChunkSizeBytes", "enableAutoMerge", "permitMigrations"};
    bson_t gone = BSON_INITIALIZER;
    bson_iter_t at;
    if (!plan->spec->shard_key && !sharding->key.is_id)
        BSON_APPEND_DOCUMENT(&gone, "key", &sharding->key.spec);
    for (size_t i = 0; i < COUNT(settings); i++)
        if (bson_iter_init_find(&at, &sharding->entry, settings[i]) && bson_iter_as_bool(&at) == (i == 0))
            bson_append_iter(&gone, NULL, 0, &at);
    lose(lost, "sharding", &gone);
    bson_destroy(&gone);
}

static bool lose_in_cluster(target_t *target, text_t *lost, err_t *err) {
    const char *name = server_namespace(target->server);
    zones_t zones = {.hidden = false};
    sharding_t sharding;
    balancing_t balancing;
    const bool ok = sharding_read(target->server, target->client, NULL, &sharding, err) &&
                    zones_read(target->server, target->client, &zones, err) &&
                    balancing_read(target->server, target->client, &balancing, err);
    if (ok && sharding.sharded)
        lose_sharding(target->plan, lost, &sharding);
    for (size_t i = 0; i < zones.ranges.count; i++)
        if (!zones_is_own(name, bson_read_text(zones.ranges.documents[i], "tag")))
            lose(lost, "zone range", zones.ranges.documents[i]);
    /* renamed: what a load holds is another collection, which had this name before */
    target->was_off = ok && sharding.unbalanced && (balancing.state == BALANCING_OFF || balancing.renamed);
    sharding_free(&sharding);
    zones_free(&zones);
    return ok;
}

static bool tell_dropped(target_t *target, err_t *err) {
    text_t lost = {.length = 0};
    const bool ok =
        (server_facts(target->server)->kind != SERVER_ROUTER || lose_in_cluster(target, &lost, err)) &&
        lose_options(target, &lost, err);
    lose_indexes(target, &lost);
    if (ok && lost.length && !target->plan->spec->trial) {
        log_warn("--drop of %s takes away settings that this load does not make again. Set again what is "
                 "still needed after the load:",
                 server_namespace(target->server));
        log_paste(lost.bytes);
    }
    text_free(&lost);
    return ok;
}

/* ---- all of it ---- */

void target_enter(target_t *target, timeline_phase_t phase) {
    timeline_enter(&target->plan->result->course, phase);
    metrics_phase(timeline_phase_name(phase));
    step_change(&target->step, "%s", phase == TIMELINE_LOADING ? "" : timeline_phase_name(phase));
}

static bool drop_target(target_t *target, err_t *err) {
    const bool any = target->place.exists && !target->place.empty;
    target_enter(target, TIMELINE_DROPPING);
    bool ok = tell_dropped(target, err) && target_drop(target, err);
    target->drop_done = ok;
    target->dropped = ok && any;
    return ok;
}

static bool make_target(target_t *target, err_t *err) {
    const plan_t *plan = target->plan;
    const load_spec_t *spec = plan->spec;
    const collection_options_t options = {
        .own_ids = plan->schema->id != NULL, .compressor = spec->compressor, .options = plan->options};
    target_enter(target, TIMELINE_CREATING);
    if (!spec->retry && !collection_make(target->server, target->client, &options, &target->place, err))
        return false;
    target_keep_collations(target);
    plan->result->clustered = target->place.clustered;
    if (server_facts(target->server)->kind == SERVER_ROUTER)
        target_enter(target, TIMELINE_PLACING);
    if (!target_open_shards(target, err))
        return false;
    target_enter(target, TIMELINE_LOOKING);
    uint32_t useful = (uint32_t)target_shard_count(target) * THREADS_A_SHARD;
    useful = useful < PLAN_MOST_USUAL_THREADS ? useful : PLAN_MOST_USUAL_THREADS;
    if (plan->existing == EXISTING_REPLACE)
        plan->result->threads = 1; /* documents are replaced in the order of their records */
    else if (!spec->threads && useful > plan->result->threads)
        plan->result->threads = useful;
    return true;
}

bool target_may_retry(target_t *target, err_t *err) {
    if (!target->place.exists && !collection_look(target->server, target->client, &target->place, err))
        return false;
    return target->place.exists ||
           err_set(err, STATUS_USAGE,
                   "%s does not exist, so there is nothing to load again into; check --uri",
                   server_namespace(target->server));
}

/* Enrols this load before it reads the header again: so a load that drops sees this one, or this one sees the drop. */
bool target_open(target_t *target, err_t *err) {
    const plan_t *plan = target->plan;
    const load_spec_t *spec = plan->spec;
    if (!collection_is_whole(target->server, target->client, err) ||
        !collection_look(target->server, target->client, &target->place, err))
        return false;
    if (spec->retry && !target_may_retry(target, err))
        return false;
    plan->result->clustered = target->place.clustered;
    if (target->place.expiry[0] && !spec->drop)
        log_warn("the server removes documents from %s by %s, in time also those of this load: status 0 says "
                 "that they were there, and `tipple verify` names those that are not there any more",
                 server_namespace(target->server), target->place.expiry);
    if (!spec->retry && !target_may_make(target, err))
        return false;
    if (!target_may_shard(target, err))
        return false;
    if ((!spec->drop && !target_look_at_catalog(target, err)) || !check_existing(plan, err) ||
        !plan_check_key_of_ids(plan, &plan->shard_key, err) ||
        (!spec->drop && !target_check_unique_ids(target, err)))
        return false;
    /* a trial has a collection of its own */
    const bool binds = !spec->retry && !target->bound && !spec->trial &&
                       !rejects_may_be_many(spec->max_rejects, spec->max_rejects_percent);
    if ((binds || spec->drop) &&
        !peek_try(plan->schema, &plan->manifest, spec->limit, spec->drop ? "dropped" : "written", err))
        return false;
    if (spec->dry_run)
        return true;
    if (!store_mongo_need(&target->catalog.store, target->server, target->client, err))
        return false;
    return target_enroll(target, err) && (!spec->drop || drop_target(target, err)) &&
           make_target(target, err) && target_open_catalog(target, err);
}

bool target_build_indexes(target_t *target, err_t *err) {
    const plan_t *plan = target->plan;
    load_result_t *result = plan->result;
    bool ok = true, more = true;
    if (plan->index_count)
        target_enter(target, TIMELINE_INDEXES);
    for (size_t i = 0; more && i < plan->index_count; i++) {
        built_index_t *index = &result->indexes[result->index_count];
        collection_built_t built;
        err_t why;
        snprintf(index->keys, sizeof index->keys, "%s",
                 i < plan->spec->index_count && plan->spec->indexes[i][0] != '{' ? plan->spec->indexes[i]
                                                                                 : plan->indexes[i].name);
        log_detail("building the index %s", index->keys);
        step_change(&target->step, "building the index %s", index->keys);
        if (collection_build_index(target->server, target->client, &plan->indexes[i], &built, &why)) {
            index->took_ns = built.took_ns;
            result->index_count++;
            continue;
        }
        more = built.refused;
        if (ok)
            *err = why;
        else
            err_add(err, "\n%s", why.text);
        ok = false;
    }
    return ok;
}

void target_free(target_t *target) {
    route_close(target->route);
    direct_close(target->direct);
    routers_close(&target->routers);
    server_give(target->server, target->client);
    server_destroy(target->server);
}
