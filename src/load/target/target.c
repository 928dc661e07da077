/* target: the deployment, the collection and its catalog. The target is checked first, so that one that must not be loaded into is left
 * as it was. */
#include "base/document.h"
#include "base/host.h"
#include "base/log.h"
#include "base/numbers.h"
#include "catalog/register/register.h"
#include "load/run/job.h"
#include "server/bson_read.h"
#include "server/cluster.h"

#include <stdio.h>
#include <string.h>

/* Each shard takes batches from several threads at once; more than this many do not come by default. */
enum { THREADS_A_SHARD = 4 };

bool job_connect(job_t *job, err_t *err) {
    const load_spec_t *spec = job->spec;
    load_result_t *result = job->result;
    server_options_t options = {.uri = spec->uri,
                                .patience_ns = spec->patience_ns,
                                .connections =
                                    (spec->threads ? result->threads : JOB_MOST_DEFAULT_THREADS) + 2,
                                .unsafe = spec->unsafe && !spec->retry};
    if (spec->unsafe && spec->max_rate_auto && !spec->retry)
        return err_set(err, STATUS_USAGE,
                       "--max-rate auto goes by the time until the majority has a batch, which --unsafe does "
                       "not wait for: give a rate, or leave one of them out");
    /* a connection a thread, the driver's own for each host, an input a feeder */
    if (!host_want_descriptors("--threads", options.connections + 12, err))
        return false;
    if (!(job->server = server_connect(&options, err)) || !(job->client = server_take(job->server, err)))
        return false;
    snprintf(result->namespace, sizeof result->namespace, "%s", server_namespace(job->server));
    snprintf(result->where, sizeof result->where, "%s", server_where(job->server));
    if (spec->unsafe && spec->retry)
        log_note("--unsafe has no effect on --retry: a fix counts only when it lasts");
    else if (spec->unsafe && !spec->trial)
        log_warn("--unsafe: only the URI's own write concern is waited for, and on a standalone not even the "
                 "journal; documents that are counted as loaded can be lost when a server dies");
    return true;
}

/* ---- --existing ---- */

bool job_find_existing(job_t *job, const char *bound, err_t *err) {
    const char *name = bound ? bound : job->spec->existing;
    return existing_named(name, &job->existing) ||
           err_set(err, STATUS_USAGE,
                   "%s was loaded with --existing %s by another version of tipple: use that version",
                   server_namespace(job->server), name);
}

static bool check_existing(const job_t *job, err_t *err) {
    const load_spec_t *spec = job->spec;
    const char *name = existing_names[job->existing];
    if (job->existing != EXISTING_REJECT && !job->schema->id)
        return err_set(err, STATUS_USAGE,
                       "--existing %s goes with _ids that are the data's own, and here they are places of "
                       "records, which no two records share: give --id FIELD, or leave it out",
                       name);
    if (job->existing == EXISTING_REPLACE && spec->unsafe && !spec->retry)
        return err_set(err, STATUS_USAGE,
                       "--existing replace does not go with --unsafe: what an election loses could not be "
                       "replaced in its order again; leave one of them out");
    return true;
}

enum { WARNINGS = 3 };

/* It was moved or copied; or it has come back, as a list does whose last change was taken back. */
static void tell_old_content(const registration_t *registering, const entries_t *all) {
    size_t told = 0;
    for (size_t i = 0; i < registering->count; i++) {
        const wanted_t *wanted = &registering->wanted[i];
        const char *since = turns_since(registering, wanted, all);
        if (since && told++ < WARNINGS)
            log_warn("%s has the name and content of %s, but another time of modification, and %s was loaded "
                     "since: nothing of it is loaded again. If its records are to be the newest, `tipple "
                     "forget` %s#%u, and load it again",
                     wanted->name, wanted->entry.path, since, wanted->entry.path, wanted->entry.ordinal);
    }
    if (told > WARNINGS)
        log_warn("... and %zu more file%s of which nothing is loaded again", told - WARNINGS,
                 units_s(told - WARNINGS));
}

bool job_check_turns(job_t *job, err_t *err) {
    registration_t *registering = &job->registration;
    if (job->existing != EXISTING_REPLACE)
        return true;
    registering->read_only = true;
    places_t *places = places_read(job->store, err);
    const bool ok = places && catalog_register(job->store, registering, err) &&
                    turns_check(registering, places_entries(places), err);
    if (ok)
        tell_old_content(registering, places_entries(places));
    register_free(registering);
    registering->read_only = false;
    places_free(places);
    return ok;
}

/* ---- what a drop takes away ----
 *
 * Whatever users have set, and this load does not make again, is named before the drop, in one paragraph. Only balancing that is off
 * is off again when the collection is placed anew. */

static void lose(text_t *lost, const char *what, const bson_t *document) {
    if (bson_empty(document))
        return;
    text_print(lost, "%s%s ", lost->length ? "\n    " : "", what);
    ejson_append(lost, document, true);
}

/* A load has options of its own for those that are left out. */
static bool lose_options(const job_t *job, text_t *lost, err_t *err) {
    bson_t reply, entry, options, others = BSON_INITIALIZER, gone = BSON_INITIALIZER;
    bson_iter_t at;
    const bool ok = collection_ask(job->server, job->client, &reply, err);
    if (ok && bson_read_batch(&reply, &at) && bson_read_next(&at, &entry) &&
        bson_read_field(&entry, "options", &options))
        bson_copy_to_excluding_noinit(&options, &others, "clusteredIndex", "storageEngine", "autoIndexId",
                                      NULL);
    for (bool more = bson_iter_init(&at, &others); more && bson_iter_next(&at);)
        if (!job_has_option(job, bson_iter_key(&at)))
            bson_append_iter(&gone, NULL, 0, &at);
    lose(lost, "options", &gone);
    bson_destroy(&others);
    bson_destroy(&gone);
    bson_destroy(&reply);
    return ok;
}

/* By --index, by a dump, or as that of the shard key. */
static bool is_made_again(const job_t *job, const index_spec_t *index) {
    const bool collated = job_has_option(job, "collation");
    for (size_t i = 0; i < job->index_count; i++)
        if (collection_same_index(index, &job->indexes[i],
                                  collated && job_gets_collation(job, &job->indexes[i])))
            return true;
    index_spec_t of_key = {.keys = job->shard_key.spec, .options = BSON_INITIALIZER};
    return collection_same_index(index, &of_key, false);
}

/* Users who may drop it may not always list its indexes. */
static void lose_indexes(const job_t *job, text_t *lost) {
    bson_t reply, listed;
    bson_iter_t at;
    err_t ignored;
    if (collection_ask_indexes(job->server, job->client, &reply, &ignored) && bson_read_batch(&reply, &at))
        while (bson_read_next(&at, &listed)) {
            index_spec_t index;
            const bool known = collection_take_index(&listed, &index, &ignored);
            if (known && strcmp(index.name, "_id_") != 0 && !bson_has_field(&listed, "clustered") &&
                !is_made_again(job, &index))
                lose(lost, "index", &listed);
            collection_free_index(&index);
        }
    bson_destroy(&reply);
}

/* Its key, unless another one is asked for; the size of its chunks, and whether they are not merged or moved. */
static void lose_sharding(const job_t *job, text_t *lost, const sharding_t *sharding) {
    static const char *const settings[] = {"maxChunkSizeBytes", "enableAutoMerge", "permitMigrations"};
    bson_t gone = BSON_INITIALIZER;
    bson_iter_t at;
    if (!job->spec->shard_key && !sharding->key.is_id)
        BSON_APPEND_DOCUMENT(&gone, "key", &sharding->key.spec);
    for (size_t i = 0; i < COUNT(settings); i++)
        if (bson_iter_init_find(&at, &sharding->entry, settings[i]) && bson_iter_as_bool(&at) == (i == 0))
            bson_append_iter(&gone, NULL, 0, &at);
    lose(lost, "sharding", &gone);
    bson_destroy(&gone);
}

static bool lose_in_cluster(job_t *job, text_t *lost, err_t *err) {
    const char *name = server_namespace(job->server);
    zones_t zones = {.hidden = false};
    sharding_t sharding;
    balancing_t balancing;
    const bool ok = sharding_read(job->server, job->client, NULL, &sharding, err) &&
                    zones_read(job->server, job->client, &zones, err) &&
                    balancing_read(job->server, job->client, &balancing, err);
    if (ok && sharding.sharded)
        lose_sharding(job, lost, &sharding);
    for (size_t i = 0; i < zones.ranges.count; i++)
        if (!zones_is_own(name, bson_read_text(zones.ranges.documents[i], "tag")))
            lose(lost, "zone range", zones.ranges.documents[i]);
    /* a load may hold another collection, which had this name before */
    job->was_off = ok && sharding.unbalanced && (balancing.state == BALANCING_OFF || balancing.renamed);
    sharding_free(&sharding);
    zones_free(&zones);
    return ok;
}

static bool tell_dropped(job_t *job, err_t *err) {
    text_t lost = {.length = 0};
    const bool ok = (server_facts(job->server)->kind != SERVER_ROUTER || lose_in_cluster(job, &lost, err)) &&
                    lose_options(job, &lost, err);
    lose_indexes(job, &lost);
    if (ok && lost.length && !job->spec->trial) {
        log_warn("--drop of %s takes away settings that this load does not make again. Set again what is "
                 "still needed after the load:",
                 server_namespace(job->server));
        log_paste(lost.bytes);
    }
    text_free(&lost);
    return ok;
}

/* ---- all of it ---- */

static bool drop_target(job_t *job, err_t *err) {
    const bool any = job->place.exists && !job->place.empty;
    job_enter(job, TIMELINE_DROPPING);
    bool ok = tell_dropped(job, err) && job_drop(job, err);
    job->drop_done = ok;
    job->dropped = ok && any;
    return ok;
}

static bool make_target(job_t *job, err_t *err) {
    const load_spec_t *spec = job->spec;
    const collection_options_t options = {
        .own_ids = job->schema->id != NULL, .compressor = spec->compressor, .options = job->options};
    job_enter(job, TIMELINE_CREATING);
    if (!spec->retry && !collection_make(job->server, job->client, &options, &job->place, err))
        return false;
    job_keep_collations(job);
    job->result->clustered = job->place.clustered;
    if (server_facts(job->server)->kind == SERVER_ROUTER)
        job_enter(job, TIMELINE_PLACING);
    if (!job_open_shards(job, err))
        return false;
    job_enter(job, TIMELINE_LOOKING);
    uint32_t useful = (uint32_t)job_shard_count(job) * THREADS_A_SHARD;
    useful = useful < JOB_MOST_DEFAULT_THREADS ? useful : JOB_MOST_DEFAULT_THREADS;
    if (job->existing == EXISTING_REPLACE)
        job->result->threads = 1; /* documents are replaced in the order of their records */
    else if (!spec->threads && useful > job->result->threads)
        job->result->threads = useful;
    return true;
}

bool job_may_retry(job_t *job, err_t *err) {
    if (!job->place.exists && !collection_look(job->server, job->client, &job->place, err))
        return false;
    return job->place.exists ||
           err_set(err, STATUS_USAGE,
                   "%s does not exist, so there is nothing to load again into; check --uri",
                   server_namespace(job->server));
}

/* The load is written down before the header is read again: so whoever drops the collection sees one of both. */
bool job_open_target(job_t *job, err_t *err) {
    const load_spec_t *spec = job->spec;
    if (!collection_is_whole(job->server, job->client, err) ||
        !collection_look(job->server, job->client, &job->place, err))
        return false;
    if (spec->retry && !job_may_retry(job, err))
        return false;
    job->result->clustered = job->place.clustered;
    if (job->place.expiry[0] && !spec->drop)
        log_warn("the server removes documents from %s by %s, in time also those of this load: status 0 says "
                 "that they were there, and `tipple verify` names those that are not there any more",
                 server_namespace(job->server), job->place.expiry);
    if (!spec->retry && !job_may_make(job, err))
        return false;
    if (!job_may_shard(job, err))
        return false;
    if ((!spec->drop && !job_look_at_catalog(job, err)) || !check_existing(job, err) ||
        !job_check_key_of_ids(job, &job->shard_key, err) || (!spec->drop && !job_check_unique_ids(job, err)))
        return false;
    if (spec->dry_run)
        return true;
    if (!store_mongo_need(&job->store, job->server, job->client, err))
        return false;
    return job_enroll(job, err) && (!spec->drop || drop_target(job, err)) && make_target(job, err) &&
           job_open_catalog(job, err);
}
