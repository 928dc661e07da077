#include "load/target/append.h"
#include "base/document.h"
#include "base/log.h"
#include "base/numbers.h"
#include "format/record/record_id.h"
#include "server/bson_read.h"

#include <inttypes.h>

bool append_next(const append_look_t *look, int64_t *least) {
    if (look->lane >= RECORD_ID_LANES)
        return false;
    *least = record_id_make(look->lane, look->from);
    return true;
}

bool append_found(append_look_t *look, int64_t id) {
    const uint64_t number = record_id_voff(id);
    const bool before = number < look->from;
    look->lane = record_id_lane_of(id) + !before; /* what lies between has no documents */
    return !before && number < look->to;
}

/* The least number from `least` on that is an `_id`. */
static bool find_least(const job_t *job, int64_t least, bool *any, int64_t *id, err_t *err) {
    bson_t reply, document;
    bson_iter_t documents, at;
    bson_t *command = BCON_NEW("find", BCON_UTF8(server_collection(job->server)), "filter", "{", "_id", "{",
                               "$gte", BCON_INT64(least), "$lte", BCON_INT64(INT64_MAX), "}", "}", "sort",
                               "{", "_id", BCON_INT32(1), "}", "limit", BCON_INT32(1), "singleBatch",
                               BCON_BOOL(true), "projection", "{", "_id", BCON_INT32(1), "}");
    const bool ok =
        server_command(job->server, job->client, server_database(job->server), command, false, &reply, err);
    *any = ok && bson_read_batch(&reply, &documents) && bson_read_next(&documents, &document) &&
           bson_iter_init_find(&at, &document, "_id");
    /* a number of another type is an `_id` like the integer that it equals, or lies next to */
    if (*any && !element_floor(&at, id))
        *id = INT64_MAX;
    bson_destroy(&reply);
    bson_destroy(command);
    return ok;
}

static bool may_take(void *context, uint64_t first_extent, uint64_t extents, err_t *err) {
    const job_t *job = context;
    append_look_t look = {.from = first_extent * RECORD_ID_EXTENT_UNIT,
                          .to = (first_extent + extents) * RECORD_ID_EXTENT_UNIT};
    int64_t least, id;
    bool any = true;
    while (any && append_next(&look, &least)) {
        if (!find_least(job, least, &any, &id, err))
            return false;
        if (any && append_found(&look, id))
            return err_set(
                err, STATUS_USAGE,
                "%s holds a document with the _id %" PRId64
                ", which tipple did not load, and which is one of the _ids that this load would give: load "
                "into another collection, or make _ids of the data's own fields with --id",
                server_namespace(job->server), id);
    }
    return true;
}

void append_begin(job_t *job) {
    char count[UNITS_MAX];
    job->result->appended = true;
    if (job->spec->append && !job->place.empty)
        log_note("%s holds %s document%s already. What is there stays as it is%s; `tipple verify` counts "
                 "documents that no input makes as \"not ours\". Later loads need no --append",
                 server_namespace(job->server), units_count(count, job->place.count),
                 units_s(job->place.count),
                 job->existing == EXISTING_REPLACE
                     ? ", but for those whose _id a record has: its document replaces them"
                     : "");
    if (job->schema->id)
        return;
    job->store->may_take = may_take;
    job->store->may_take_context = job;
}
