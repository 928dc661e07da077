/* dropped_made: what a drop takes away wherever the collection lies: the options with which a person has made it, and indexes. Those that
 * this load makes again, as a dump or --index tell them, are no loss. */
#include "base/ejson.h"
#include "base/log.h"
#include "load/job/job.h"
#include "server/bson_read.h"

#include <stdlib.h>
#include <string.h>

/* A load has options of its own for the first two; the last two say nothing without a validator. */
static bool is_loss(const job_t *job, const bson_t *options, const char *option) {
    const bool of_validator = strncmp(option, "validation", 10) == 0;
    return strcmp(option, "clusteredIndex") != 0 && strcmp(option, "storageEngine") != 0 &&
           strcmp(option, "autoIndexId") != 0 &&
           !(job->made_with && bson_has_field(job->made_with, option)) &&
           (!of_validator || bson_has_field(options, "validator"));
}

static bool tell_options(const job_t *job, err_t *err) {
    bson_t reply, entry, options, lost = BSON_INITIALIZER;
    bson_iter_t at;
    char *text = NULL;
    bool ok = collection_ask(job->server, job->client, &reply, err);
    if (ok && bson_read_batch(&reply, &at) && bson_read_next(&at, &entry) &&
        bson_read_field(&entry, "options", &options) && bson_iter_init(&at, &options))
        while (bson_iter_next(&at))
            if (is_loss(job, &options, bson_iter_key(&at)))
                bson_append_iter(&lost, NULL, 0, &at);
    if (!bson_empty(&lost) && !(text = ejson_print(&lost, true, NULL)))
        ok = err_memory(err, lost.len);
    if (text)
        log_warn(
            "--drop of %s takes away its options %s. If they are to be there again: set them after the load "
            "(collMod), or drop and create the collection so yourself, and leave --drop out",
            server_namespace(job->server), text);
    free(text);
    bson_destroy(&lost);
    bson_destroy(&reply);
    return ok;
}

/* One of --index gets the collation of the collection, and says nothing of it. */
static bool is_built_again(const job_t *job, const index_spec_t *index) {
    const bool collated = job->made_with && bson_has_field(job->made_with, "collation");
    index_spec_t plain = {.name = ""};
    bool again = false;
    bson_copy_to(&index->keys, &plain.keys);
    bson_init(&plain.options);
    bson_copy_to_excluding_noinit(&index->options, &plain.options, "collation", NULL);
    for (size_t i = 0; !again && i < job->index_count; i++)
        again = collection_same_index(collated && job_has_asked(job, &job->indexes[i]) ? &plain : index,
                                      &job->indexes[i]);
    collection_free_index(&plain);
    return again;
}

static bool is_of_key(const index_spec_t *index, const shardkey_t *key, bool unique) {
    index_spec_t of_key = {.name = ""};
    bson_copy_to(&key->spec, &of_key.keys);
    bson_init(&of_key.options);
    if (unique)
        BSON_APPEND_BOOL(&of_key.options, "unique", true);
    const bool same = collection_same_index(index, &of_key);
    collection_free_index(&of_key);
    return same;
}

/* Of the `_id`, or of the shard key, with which it goes; or it comes with the new one. */
static bool is_servers_own(const job_t *job, const bson_t *listed, const index_spec_t *index,
                           const sharding_t *sharding) {
    const char *wanted = job->spec->shard_key;
    shardkey_t key;
    err_t ignored;
    if (strcmp(index->name, "_id_") == 0 || bson_has_field(listed, "clustered"))
        return true;
    if (sharding && sharding->sharded && is_of_key(index, &sharding->key, sharding->unique))
        return true;
    if (!wanted || job_shards_nothing(job) || !shardkey_parse(wanted, &key, &ignored))
        return false;
    const bool own = is_of_key(index, &key, false);
    shardkey_free(&key);
    return own;
}

static void append_command(const job_t *job, const bson_t *listed, text_t *commands) {
    text_append(commands, "db.getSiblingDB(");
    ejson_append_text(commands, server_database(job->server));
    text_append(commands, ").runCommand({createIndexes: ");
    ejson_append_text(commands, server_collection(job->server));
    text_append(commands, ", indexes: [");
    ejson_append_for_shell(commands, listed);
    text_append(commands, "]})\n");
}

static bool tell_commands(const job_t *job, char *commands, size_t count) {
    char *rest = commands, *line;
    log_warn("--drop of %s takes away %zu index%s that this load does not build. If %s to be there again "
             "after the "
             "load:",
             server_namespace(job->server), count, count == 1 ? "" : "es", count == 1 ? "it is" : "they are");
    while ((line = strsep(&rest, "\n")) && *line)
        log_paste(line);
    free(commands);
    return true;
}

static bool tell_indexes(const job_t *job, const sharding_t *sharding, err_t *err) {
    text_t commands = {.length = 0};
    bson_t reply, listed;
    bson_iter_t at;
    err_t ignored;
    size_t count = 0;
    /* who may drop it may not always list its indexes */
    if (collection_ask_indexes(job->server, job->client, &reply, &ignored) && bson_read_batch(&reply, &at))
        while (bson_read_next(&at, &listed)) {
            index_spec_t index;
            if (!collection_take_index(&listed, &index, &ignored))
                continue;
            if (!is_servers_own(job, &listed, &index, sharding) && !is_built_again(job, &index)) {
                append_command(job, &listed, &commands);
                count++;
            }
            collection_free_index(&index);
        }
    bson_destroy(&reply);
    if (!count)
        return true;
    char *text = text_take(&commands, err);
    return text && tell_commands(job, text, count);
}

bool job_tell_made(const job_t *job, const sharding_t *sharding, err_t *err) {
    return !job->place.exists || job->spec->trial ||
           (tell_options(job, err) && tell_indexes(job, sharding, err));
}
