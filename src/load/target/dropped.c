/* dropped: a drop takes away what users have set. Whatever this load does not make again is named before the drop, in one
 * paragraph. Only balancing that is off is off again when the collection is placed anew. */
#include "base/document.h"
#include "base/log.h"
#include "load/job/job.h"
#include "server/bson_read.h"
#include "server/cluster.h"

#include <string.h>

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

bool job_tell_dropped(job_t *job, err_t *err) {
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
