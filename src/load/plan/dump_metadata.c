/* The options and indexes that --create and the metadata of a dump ask for: a new collection is made with these options, unless
 * documents could be lost by them; indexes of a dump are built as those of --index are. */
#include "base/document.h"
#include "base/log.h"
#include "format/json/json.h"
#include "load/run/job.h"
#include "server/bson_read.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Those of --index stand first. */
bool job_has_asked(const job_t *job, const index_spec_t *index) {
    return (size_t)(index - job->indexes) < job->spec->index_count;
}

/* The index of this name that --index asks for, or another dump has. NULL: there is none. */
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
    return err_set(err, STATUS_USAGE,
                   "%.1000s: the index %s is in the metadata twice, or is another one in those of another "
                   "input, and no collection can have both: load the inputs into two collections, or take "
                   "the metadata away and give the indexes by --index, under other names",
                   file->name, known->name);
}

/* One that is known is built, and this one is left out: the user may have asked by --index for other options. */
static bool leave_out(const job_t *job, const input_file_t *file, const bson_t *index,
                      const index_spec_t *known, err_t *err) {
    const bool asked = job_has_asked(job, known);
    index_spec_t spec;
    if (!collection_take_index(index, &spec, err))
        return false;
    const bool same = collection_same_index(&spec, known, asked),
               keys = same || (asked && collection_same_keys(&spec.keys, &known->keys));
    collection_free_index(&spec);
    if (!keys)
        return refuse_name(job, file, known, err);
    if (!same)
        log_warn("the index %s is built as --index says, with other options than those of the dump",
                 known->name);
    return true;
}

static bool add_index(job_t *job, const input_file_t *file, const bson_t *index, err_t *err) {
    index_spec_t *spec = &job->indexes[job->index_count];
    const char *name = bson_read_text(index, "name");
    /* what a clustered collection is ordered by is made with it, whatever its name */
    if (strcmp(name, "_id_") == 0 || bson_has_field(index, "clustered"))
        return true;
    const index_spec_t *known = known_as(job, name);
    if (known)
        return leave_out(job, file, index, known, err);
    if (bson_has_field(index, "expireAfterSeconds")) {
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

static bool refuse_metadata(const input_file_t *file, const char *what, err_t *err) {
    return err_set(err, STATUS_INPUT,
                   "%.1000s: the metadata of its collection are damaged: %s. Get the dump again, or take the "
                   "metadata away and give the indexes by --index",
                   file->name, what);
}

static bool add_indexes(job_t *job, const input_file_t *file, bson_iter_t *list, err_t *err) {
    bson_iter_t at;
    bool ok = true;
    if (!BSON_ITER_HOLDS_ARRAY(list) || !bson_iter_recurse(list, &at))
        return BSON_ITER_HOLDS_NULL(list) || refuse_metadata(file, "'indexes' is no list", err);
    while (ok && bson_iter_next(&at)) {
        bson_t index;
        ok = bson_read_document(&at, &index)
                 ? add_index(job, file, &index, err)
                 : refuse_metadata(file, "an entry of 'indexes' is no document", err);
    }
    return ok;
}

/* Servers of today make each collection as if it had those that are left out, or do not know them. */
static bool take_options(job_t *job, const input_file_t *file, bson_iter_t *found, err_t *err) {
    bson_t all;
    if (!bson_read_document(found, &all))
        return BSON_ITER_HOLDS_NULL(found) || refuse_metadata(file, "'options' is no document", err);
    bson_t *options = bson_new();
    bson_copy_to_excluding_noinit(&all, options, "autoIndexId", "flags", "temp", "create", NULL);
    if (!job->dumped) {
        job->dumped = options;
        return true;
    }
    const bool same = bson_equal(options, job->dumped);
    bson_destroy(options);
    return same || err_set(err, STATUS_USAGE,
                           "%.1000s: its collection had other options than that of another input: load them "
                           "one by one, or create the collection before",
                           file->name);
}

static bool read_metadata(job_t *job, const input_file_t *file, err_t *err) {
    bson_iter_t iter;
    err_t why;
    bson_t *metadata = json_document(file->metadata, true, &why);
    if (!metadata)
        return err_set(err, why.status == STATUS_USAGE ? STATUS_INPUT : why.status,
                       "%.1000s: the metadata of its collection is no JSON (%.500s): get the dump again, or "
                       "take the metadata away and give the indexes by --index",
                       file->name, why.text);
    const bool ok =
        (!bson_iter_init_find(&iter, metadata, "options") || take_options(job, file, &iter, err)) &&
        (!bson_iter_init_find(&iter, metadata, "indexes") || add_indexes(job, file, &iter, err));
    bson_destroy(metadata);
    return ok;
}

bool job_has_option(const job_t *job, const char *option) {
    return bson_has_field(job->options, option);
}

/* --create goes before what a dump says. */
bool job_take_dumps(job_t *job, err_t *err) {
    const load_spec_t *spec = job->spec;
    bson_iter_t at;
    if (!(job->options = spec->create ? json_document(spec->create, true, err) : bson_new()))
        return false;
    for (size_t i = 0; i < job->manifest.count; i++)
        if (job->manifest.files[i].metadata && !read_metadata(job, &job->manifest.files[i], err))
            return false;
    for (bool more = job->dumped && bson_iter_init(&at, job->dumped); more && bson_iter_next(&at);)
        if (!job_has_option(job, bson_iter_key(&at)))
            bson_append_iter(job->options, NULL, 0, &at);
    return true;
}

bool job_gets_collation(const job_t *job, const index_spec_t *index) {
    return job_has_asked(job, index) && job->spec->indexes[index - job->indexes][0] != '{';
}

void job_keep_collations(job_t *job) {
    for (size_t i = 0; job->place.collated && i < job->index_count; i++)
        if (!job_gets_collation(job, &job->indexes[i]))
            collection_keep_uncollated(&job->indexes[i]);
}

/* The collection exists. What a dump says is of no interest where the collection was loaded before. */
static void tell_kept(const job_t *job) {
    const load_spec_t *spec = job->spec;
    text_t asked = {.length = 0};
    if (spec->create || (job->place.empty && !bson_empty(job->options)))
        ejson_append(&asked, job->options, true);
    if (spec->compressor)
        text_print(&asked, "%s--compressor %s", asked.length ? " and " : "", spec->compressor);
    char *words = asked.length ? text_take_or_end(&asked) : NULL;
    if (words) /* of a collection that was loaded before the first load has warned */
        (job->place.empty ? log_warn : log_note)(
            "%s exists, and keeps its own options; these are for a new collection: %s",
            server_namespace(job->server), words);
    free(words);
}

bool job_may_make(const job_t *job, err_t *err) {
    const load_spec_t *spec = job->spec;
    const char *name = server_namespace(job->server);
    if (job->place.exists && !spec->drop) {
        tell_kept(job);
        return true;
    }
    if (bson_read_true(job->options, "capped"))
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
        return err_set(
            err, STATUS_USAGE,
            "expireAfterSeconds removes documents by their age, and then nobody can tell whether all were "
            "loaded. Create %s without that, load it, and set it afterwards (collMod). Nothing was touched",
            name);
    if (job_has_option(job, "collation") && server_facts(job->server)->kind == SERVER_ROUTER &&
        !job->one_shard)
        return err_set(err, STATUS_USAGE,
                       "%s would have a collation, and texts of a shard key are compared without one: leave "
                       "it on one shard with --shard-key none. Nothing was touched",
                       name);
    return true;
}
