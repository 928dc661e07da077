/* dropped_indexes: the indexes and settings that go with a dropped collection, and that the load does not make again: a person is told,
 * with the options that do. */
#include "base/log.h"
#include "base/shell_word.h"
#include "load/job/job.h"
#include "server/indexes/present_indexes.h"

#include <stdlib.h>

static bool is_of_new_key(const job_t *job, const index_spec_t *index) {
    shardkey_t key;
    err_t ignored;
    if (!job->spec->shard_key || job_shards_nothing(job) ||
        !shardkey_parse(job->spec->shard_key, &key, &ignored))
        return false;
    const bool is = job_is_of_key(&key, index);
    shardkey_free(&key);
    return is;
}

/* Does this load build one of these fields? */
static bool is_made(const job_t *job, const char *text) {
    index_spec_t index;
    err_t ignored;
    if (!collection_parse_index(text, &index, &ignored))
        return false;
    bool made = server_facts(job->server)->kind == SERVER_ROUTER && is_of_new_key(job, &index);
    for (size_t i = 0; !made && i < job->index_count; i++)
        made = collection_same_keys(&job->indexes[i], &index);
    collection_free_index(&index);
    return made;
}

static bool tell_indexes(const job_t *job, const present_indexes_t *had, err_t *err) {
    text_t line = {.length = 0};
    for (size_t i = 0; i < had->count; i++)
        if (!is_made(job, had->texts[i]))
            shell_quote_option(&line, "--index", had->texts[i]);
    const bool any = line.length > 0;
    char *options = text_take(&line, err);
    if (options && any)
        log_warn("--drop of %s takes its indexes away. If they are to be there again, load with:%s",
                 server_namespace(job->server), options);
    free(options);
    return options != NULL;
}

bool job_tell_dropped_indexes(const job_t *job, err_t *err) {
    const char *name = server_namespace(job->server);
    present_indexes_t had;
    char beyond[64];
    bool ok = present_indexes_read(job->server, job->client, true, &had, err) && tell_indexes(job, &had, err);
    if (ok && had.other[0])
        log_warn("--drop of %s takes its index %s away, for which --index has no words", name, had.other);
    present_indexes_free(&had);
    ok = ok && present_indexes_beyond(job->server, job->client, beyond, err);
    if (ok && beyond[0] && !(job->made_with && bson_has_field(job->made_with, beyond)))
        log_warn(
            "--drop of %s takes a setting away that the load does not make again (%s). If it is to be there "
            "again: set it "
            "behind the load (collMod), or create the collection with it yourself, and load without --drop",
            name, beyond);
    return ok;
}
