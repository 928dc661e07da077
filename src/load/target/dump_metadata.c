/* What --create and the metadata of a dump say of the collection: a new one is made with these options, where nothing is lost
 * by them; indexes of a dump are built as those of --index are. */
#include "base/document.h"
#include "base/log.h"
#include "format/json/json_document.h"
#include "load/job/job.h"
#include "server/bson_read.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Those of --index stand first. */
bool job_has_asked(const job_t *job, const index_spec_t *index) {
    return (size_t)(index - job->indexes) < job->spec->index_count;
}

/* What --index asks for, or was in another dump, under the name of one of this dump. NULL: nothing. */
static const index_spec_t *known_as(const job_t *job, const char *name) {
    for (size_t i = 0; i < job->index_count; i++)
        if (strcmp(job->indexes[i].name, name) == 0)
            return &job->indexes[i];
    return NULL;
}

static bool refuse_name(const job_t *job, const input_file_t *file, const index_spec_t *known, err_t *err) {
    if (job_has_asked(job, known))
        return err_set(err, STATUS_USAGE,
                       "--index %.500s: %.1000s has an index of the same name, %s, with other keys, and no "
                       "collection can have both: give yours another name (;name=NAME)",
                       job->spec->indexes[known - job->indexes], file->name, known->name);
    return err_set(
        err, STATUS_USAGE,
        "%.1000s: its index %s is not the one of that name of another input, and no collection can "
        "have both: load them into two collections, or take the metadata of one away and give its "
        "indexes by --index, under other names",
        file->name, known->name);
}

/* Of a collation --index says nothing. */
static bool same_options(const index_spec_t *index, const index_spec_t *known, bool asked) {
    return collection_same_option(index, known, "unique") && collection_same_option(index, known, "sparse") &&
           collection_same_option(index, known, "expireAfterSeconds") &&
           collection_same_option(index, known, "partialFilterExpression") &&
           (asked || collection_same_option(index, known, "collation"));
}

/* One that is known is built, and this one is left out: of --index a person may have asked for other options. */
static bool leave_out(const job_t *job, const input_file_t *file, const bson_t *index,
                      const index_spec_t *known, err_t *err) {
    const bool asked = job_has_asked(job, known);
    index_spec_t spec;
    if (!collection_take_index(index, &spec, err))
        return false;
    const bool keys = collection_same_keys(&spec, known), options = same_options(&spec, known, asked);
    collection_free_index(&spec);
    if (!keys || !(options || asked))
        return refuse_name(job, file, known, err);
    if (!options)
        log_warn("the index %s is built as --index says, with other options than those of the dump",
                 known->name);
    return true;
}

static bool add_index(job_t *job, const input_file_t *file, const bson_t *index, err_t *err) {
    index_spec_t *spec = &job->indexes[job->index_count];
    bson_iter_t iter;
    const char *name = bson_iter_init_find(&iter, index, "name") && BSON_ITER_HOLDS_UTF8(&iter)
                           ? bson_iter_utf8(&iter, NULL)
                           : "";
    /* what a clustered collection is ordered by is made with it, whatever its name */
    if (strcmp(name, "_id_") == 0 || bson_has_field(index, "clustered"))
        return true;
    const index_spec_t *known = known_as(job, name);
    if (known)
        return leave_out(job, file, index, known, err);
    if (bson_iter_init_find(&iter, index, "expireAfterSeconds")) {
        log_warn("the index %s of the dump is not built: it removes documents by their age, which `tipple "
                 "verify` would miss; build it after that",
                 name);
        return true;
    }
    if (job->index_count == JOB_MOST_INDEXES)
        return err_set(err, STATUS_USAGE, "--index and the dump: more than %d indexes at once",
                       JOB_MOST_INDEXES);
    if (!collection_take_index(index, spec, err))
        return false;
    job->index_count++;
    return true;
}

static bool add_indexes(job_t *job, const input_file_t *file, bson_iter_t *list, err_t *err) {
    bson_iter_t at;
    bool ok = true;
    if (!BSON_ITER_HOLDS_ARRAY(list) || !bson_iter_recurse(list, &at))
        return true;
    while (ok && bson_iter_next(&at)) {
        const uint8_t *bytes;
        uint32_t length;
        bson_t index;
        if (!BSON_ITER_HOLDS_DOCUMENT(&at))
            continue;
        bson_iter_document(&at, &length, &bytes);
        ok = !bson_init_static(&index, bytes, length) || add_index(job, file, &index, err);
    }
    return ok;
}

/* Servers of today make each collection as if it had these, or do not know them. */
static bool is_old(const char *option) {
    return strcmp(option, "autoIndexId") == 0 || strcmp(option, "flags") == 0 ||
           strcmp(option, "temp") == 0 || strcmp(option, "create") == 0;
}

static bool take_options(job_t *job, const input_file_t *file, bson_iter_t *found, err_t *err) {
    bson_iter_t iter;
    if (!BSON_ITER_HOLDS_DOCUMENT(found) || !bson_iter_recurse(found, &iter))
        return true;
    bson_t *options = bson_new();
    while (bson_iter_next(&iter))
        if (!is_old(bson_iter_key(&iter)))
            bson_append_iter(options, bson_iter_key(&iter), -1, &iter);
    if (!job->made_with) {
        job->made_with = options;
        return true;
    }
    const bool same = bson_equal(options, job->made_with);
    bson_destroy(options);
    return same || err_set(err, STATUS_USAGE,
                           "%.1000s: its collection had other options than that of another input: load them "
                           "one by one, or create the collection before",
                           file->name);
}

static bool read_metadata(job_t *job, const input_file_t *file, err_t *err) {
    bson_iter_t iter;
    err_t why;
    bson_t *metadata = json_document(file->metadata, &why);
    if (!metadata)
        return err_set(
            err, why.status == STATUS_USAGE ? STATUS_INPUT : why.status,
            "%.1000s: the metadata of its collection is no JSON (%.500s): get the dump again, or take the "
            "metadata away and give the indexes by --index",
            file->name, why.text);
    const bool ok =
        (!bson_iter_init_find(&iter, metadata, "options") || take_options(job, file, &iter, err)) &&
        (!bson_iter_init_find(&iter, metadata, "indexes") || add_indexes(job, file, &iter, err));
    bson_destroy(metadata);
    return ok;
}

/* The first that has it: --create, then the dump. */
static bool find_option(const job_t *job, const char *option, bson_iter_t *found) {
    return (job->asked && bson_iter_init_find(found, job->asked, option)) ||
           (job->made_with && bson_iter_init_find(found, job->made_with, option));
}

bool job_has_option(const job_t *job, const char *option) {
    bson_iter_t found;
    return find_option(job, option, &found);
}

bool job_take_dumps(job_t *job, err_t *err) {
    if (job->spec->create && !(job->asked = json_document(job->spec->create, err)))
        return false;
    for (size_t i = 0; i < job->manifest.count; i++)
        if (job->manifest.files[i].metadata && !read_metadata(job, &job->manifest.files[i], err))
            return false;
    return true;
}

void job_keep_collations(job_t *job, bool collated) {
    for (size_t i = job->spec->index_count; collated && i < job->index_count; i++)
        collection_keep_uncollated(&job->indexes[i]);
}

/* Of an existing one. */
static bool tell_options(const job_t *job, err_t *err) {
    char *text = ejson_print(job->made_with, true, NULL);
    if (!text)
        return err_memory(err, job->made_with->len);
    if (job->place.empty)
        log_warn("%s exists, and keeps its own options; the dump has these for its collection: %s",
                 server_namespace(job->server), text);
    free(text);
    return true;
}

bool job_may_make(const job_t *job, err_t *err) {
    const load_spec_t *spec = job->spec;
    const char *name = server_namespace(job->server);
    bson_iter_t found;
    if (job->place.exists && !spec->drop)
        return !job->made_with || bson_empty(job->made_with) || tell_options(job, err);
    if (find_option(job, "capped", &found) && bson_iter_as_bool(&found))
        return err_set(err, STATUS_USAGE,
                       "a capped collection throws old documents away, and then nobody can tell whether all "
                       "were loaded. Create %s as a plain collection, load it, and make it capped afterwards "
                       "(convertToCapped). Nothing was touched",
                       name);
    if (job_has_option(job, "timeseries") || job_has_option(job, "viewOn"))
        return err_set(err, STATUS_USAGE,
                       "%s would be a %s, and only a plain collection can be loaded: create it as a plain "
                       "collection, and load it. Nothing was touched",
                       name, job_has_option(job, "viewOn") ? "view" : "time series");
    if (job_has_option(job, "expireAfterSeconds"))
        return err_set(err, STATUS_USAGE,
                       "expireAfterSeconds removes documents by their age, and then nobody can tell whether "
                       "all were loaded. Create %s without that, load it, and set it afterwards (collMod). "
                       "Nothing was touched",
                       name);
    if (job_has_option(job, "collation") && server_facts(job->server)->kind == SERVER_ROUTER &&
        !job_shards_nothing(job))
        return err_set(err, STATUS_USAGE,
                       "%s would have a collation, and texts of a shard key are compared without one: leave "
                       "it on one shard with --shard-key none. Nothing was touched",
                       name);
    return true;
}
