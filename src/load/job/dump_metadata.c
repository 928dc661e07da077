/* What the metadata of a dump says of its collection: indexes are built as those of --index are; of all else is told. */
#include "base/ejson.h"
#include "base/log.h"
#include "load/job/job.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Is it asked for by --index, or was it in another dump? */
static bool is_known(const job_t *job, const char *name) {
    for (size_t i = 0; i < job->index_count; i++)
        if (strcmp(job->indexes[i].name, name) == 0)
            return true;
    return strcmp(name, "_id_") == 0;
}

static bool add_index(job_t *job, const bson_t *index, err_t *err) {
    index_spec_t *spec = &job->indexes[job->index_count];
    bson_iter_t iter;
    const char *name = bson_iter_init_find(&iter, index, "name") && BSON_ITER_HOLDS_UTF8(&iter)
                           ? bson_iter_utf8(&iter, NULL)
                           : "";
    if (is_known(job, name))
        return true;
    if (bson_iter_init_find(&iter, index, "expireAfterSeconds")) {
        log_warn("the index %s of the dump is not built: it removes documents by their age, which `tipple "
                 "verify` would "
                 "miss; build it after that",
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

static bool add_indexes(job_t *job, bson_iter_t *list, err_t *err) {
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
        ok = !bson_init_static(&index, bytes, length) || add_index(job, &index, err);
    }
    return ok;
}

static void tell_options(const input_file_t *file, bson_iter_t *found) {
    const uint8_t *bytes;
    uint32_t length;
    bson_t options;
    if (!BSON_ITER_HOLDS_DOCUMENT(found))
        return;
    bson_iter_document(found, &length, &bytes);
    if (length <= 5 || !bson_init_static(&options, bytes, length))
        return;
    char *text = ejson_print(&options, true, NULL);
    log_warn(
        "%s: the dump tells options of its collection, which are not set: %s; if they are needed, create the "
        "collection with them before it is loaded",
        file->name, text ? text : "");
    free(text);
}

static bool read_metadata(job_t *job, const input_file_t *file, err_t *err) {
    bson_t metadata;
    bson_iter_t iter;
    bson_error_t problem;
    if (!bson_init_from_json(&metadata, file->metadata, -1, &problem))
        return err_set(
            err, STATUS_INPUT,
            "%.1000s: the metadata of its collection is no JSON (%s): get the dump again, or take the "
            "metadata away and give the indexes by --index",
            file->name, problem.message);
    if (bson_iter_init_find(&iter, &metadata, "options"))
        tell_options(file, &iter);
    const bool ok = !bson_iter_init_find(&iter, &metadata, "indexes") || add_indexes(job, &iter, err);
    bson_destroy(&metadata);
    return ok;
}

bool job_take_dump_indexes(job_t *job, err_t *err) {
    for (size_t i = 0; i < job->manifest.count; i++)
        if (job->manifest.files[i].metadata && !read_metadata(job, &job->manifest.files[i], err))
            return false;
    return true;
}
