/* What a load has to do with the catalog, from its first look to its end. */
#include "base/clock.h"
#include "base/log.h"
#include "base/stop.h"
#include "format/record/own_id.h"
#include "format/schema/schema.h"
#include "load/plan/kept_format.h"
#include "load/run/job.h"
#include "load/target/append.h"

#include <stdlib.h>
#include <string.h>

enum { DROP_NAP_MS = 50 };

/* ---- opening ---- */

bool job_check_copies(const job_t *job, err_t *err) {
    return job->spec->copies < 2 || !job->schema->id ||
           err_set(err, STATUS_USAGE,
                   "--copies: these documents have _ids of their own, so a copy would have the same ones");
}

/* id, existing: what the collection's header must have, or NULL: it may have any. */
static void fill_settings(job_t *job, const char *id, const char *existing) {
    job->settings = (catalog_settings_t){.name = server_namespace(job->server),
                                         .format = job->schema->name,
                                         .format_digest = job->schema->digest,
                                         .id = id,
                                         .existing = existing,
                                         .format_text = job->format_text,
                                         .filter = job->filter ? filter_text(job->filter) : "",
                                         .added = job->added,
                                         .added_count = job->added_count,
                                         .widened = job->widened,
                                         .accepts_other_uuid = job->spec->same_collection};
    memcpy(job->settings.uuid, job->place.uuid, sizeof job->settings.uuid);
    job->settings.empty = job->place.empty;
    job->settings.append = job->spec->append;
}

/* No load had put a record there when the header was read: then what had been seen there before is of others, which are expected only
 * where a load was given --append. A drop may lie between both: so it is looked at once more. */
static bool check_unfilled(job_t *job, err_t *err) {
    catalog_header_t header = {0};
    bool found;
    if (!job->place.exists || job->place.empty || job->spec->append)
        return true;
    if (!collection_look(job->server, job->client, &job->place, err) ||
        !store_read_header(job->store, &header, &found, err))
        return false;
    const bool expected = found && (header.format || header.appends);
    catalog_header_free(&header);
    return expected || !job->place.exists || job->place.empty ||
           catalog_refuse_unknown_data(server_namespace(job->server), true, err);
}

static bool check_found(job_t *job, const catalog_header_t *header, err_t *err) {
    if (!kept_columns(header, job->settings.name, job->schema, err) ||
        !catalog_check_header(header, &job->settings, err))
        return false;
    if (!header->format)
        return check_unfilled(job, err);
    /* another load may have made it since it was looked at */
    if (!job->place.exists && !collection_look(job->server, job->client, &job->place, err))
        return false;
    if (!job->place.exists)
        return catalog_refuse_gone(server_namespace(job->server), err);
    return true;
}

bool job_look_at_catalog(job_t *job, err_t *err) {
    catalog_header_t header = {0};
    bool found;
    if (!store_mongo_need(&job->store, job->server, job->client, err))
        return false;
    fill_settings(job, job->spec->id, job->spec->existing);
    bool ok = store_read_header(job->store, &header, &found, err);
    if (!job->format_text)
        job->widened = header.widened;
    if (ok && found)
        ok = check_found(job, &header, err);
    else if (ok && header.has_entries)
        ok = catalog_refuse_none(server_namespace(job->server), &header, err);
    else if (ok && job->place.exists && !job->place.empty && !job->spec->append)
        ok = catalog_refuse_unknown_data(server_namespace(job->server), false, err);
    job->loading.bound = ok && found && header.format;
    if (job->loading.bound)
        ok = kept_format_hold(&header, server_namespace(job->server), job->schema, job->spec->retry, err) &&
             own_id_set(job->schema, header.id ? header.id : "", err) &&
             job_find_existing(job, header.existing ? header.existing : "", err) &&
             job_check_copies(job, err);
    ok = ok && job_list_added(job, &header, err);
    catalog_header_free(&header);
    return ok;
}

bool job_enroll(job_t *job, err_t *err) {
    const load_spec_t *spec = job->spec;
    bson_t *fields = BCON_NEW(
        "command", BCON_UTF8("load"), "version", BCON_UTF8(TIPPLE_VERSION), "format",
        BCON_UTF8(job->schema->name), "filter", BCON_UTF8(job->filter ? filter_text(job->filter) : ""),
        "threads", BCON_INT32((int32_t)job->result->threads), "batch", BCON_INT32((int32_t)spec->batch),
        "batchBytes", BCON_INT64((int64_t)spec->batch_bytes), "unsafe",
        BCON_BOOL(spec->unsafe && !spec->retry), "files", BCON_INT64((int64_t)job->manifest.count));
    load_id_t id;
    bool ok = store_mongo_enroll(job->store, &id, fields, err);
    bson_destroy(fields);
    if (ok)
        job->id = id;
    return ok;
}

static uint64_t documents_of(void *context) {
    job_t *job = context;
    return job->documents;
}

static bool beat(job_t *job, int64_t lease_ms, err_t *err) {
    job->lease_ms = lease_ms;
    return job->heartbeat || (job->heartbeat = heartbeat_start(job->server, &job->id, lease_ms, documents_of,
                                                               job, err)) != NULL;
}

static int64_t now_of(void *context) {
    (void)context;
    return clock_now_ns();
}

static uint64_t beats_of(void *context) {
    const job_t *job = context;
    return job->heartbeat ? heartbeat_count(job->heartbeat) : 0;
}

static bool nap(void *context, err_t *err) {
    (void)context;
    return stop_nap(DROP_NAP_MS, err);
}

others_t job_others(job_t *job, int64_t lease_ms) {
    return (others_t){.self = job->id,
                      .lease_ns = lease_ms * 1000000,
                      .now = now_of,
                      .own_beats = beats_of,
                      .wait = nap,
                      .context = job};
}

/* A --retry replaces nothing. */
static bool begin_alone(job_t *job, err_t *err) {
    const others_t others = job_others(job, job->lease_ms);
    const bool replaces = job->existing == EXISTING_REPLACE && !job->spec->retry;
    return catalog_begin_alone(job->store, server_namespace(job->server), &others, replaces, &job->inherited,
                               err);
}

/* Only a load that knows the fate of all of its messages says that it has ended; after any other, the next one waits for
 * messages that come late. */
static void end_alone(job_t *job, bool ok) {
    err_t ignored;
    const bool sent = job->loading.rejects != NULL, certain = !sent || (ok && !job->result->retries);
    if (job->existing != EXISTING_REPLACE || job->spec->retry || load_id_is_nobody(&job->id) || !certain ||
        (job->inherited && !job->outlived))
        return;
    if (!catalog_end_alone(job->store, &job->id, &ignored))
        log_detail("the end of this load could not be noted in the catalog: %s", ignored.text);
}

bool job_open_catalog(job_t *job, err_t *err) {
    catalog_header_t header = {0};
    if (job->spec->drop && !job_list_added(job, &header, err))
        return false;
    fill_settings(job, job->schema->id ? job->schema->id->text : "", existing_names[job->existing]);
    if (!catalog_open(job->store, &job->settings, &header, err))
        return false;
    job->loading.generation = header.generation;
    memcpy(job->own_catalog, header.own, sizeof job->own_catalog);
    job->loading.bound = job->began_bound = header.format != NULL;
    if (header.appends)
        append_begin(job);
    const int64_t lease_ms = header.lease_ms ? header.lease_ms : STORE_LEASE_MS;
    catalog_header_free(&header);
    return beat(job, lease_ms, err) && begin_alone(job, err) &&
           (server_facts(job->server)->kind != SERVER_STANDALONE ||
            server_process(job->server, job->client, job->process, err));
}

/* ---- dropping ---- */

static bool drop_data(void *context, const uint8_t uuid[STORE_UUID], err_t *err) {
    job_t *job = context;
    if (!collection_drop_data(job->server, job->client, uuid, err))
        return false;
    job->touched = true;
    return true;
}

bool job_drop(job_t *job, err_t *err) {
    catalog_header_t header = {0};
    bool found;
    if (!store_read_header(job->store, &header, &found, err))
        return false;
    const int64_t lease_ms = header.lease_ms ? header.lease_ms : STORE_LEASE_MS;
    catalog_header_free(&header);
    const others_t others = job_others(job, lease_ms);
    /* the end of a drop removes entries: whoever may not is refused before, by a command that removes none */
    return beat(job, lease_ms, err) && job->store->remove_entries(job->store, 0, err) &&
           catalog_drop(job->store, server_namespace(job->server), &others, drop_data, err);
}

/* ---- lasting ---- */

static bool check_process(job_t *job, err_t *err) {
    char process[25];
    if (!server_process(job->server, job->client, process, err))
        return false;
    return strcmp(process, job->process) == 0 ||
           err_set(err, STATUS_SERVER,
                   "the server at %s was restarted: what it had acknowledged a moment ago may be lost; run "
                   "the same command again, which sends that once more",
                   server_where(job->server));
}

bool job_make_durable(job_t *job, err_t *err) {
    const header_change_t sync = {.kind = HEADER_SYNC};
    bool changed;
    uint8_t uuid[STORE_UUID];
    if (job->loading.rejects && !rejects_flush(job->loading.rejects, err))
        return false;
    /* an insert into a collection that was dropped makes a new one on older servers, and nobody is told */
    if (!job->store->collection(job->store, uuid, err))
        return false;
    if (memcmp(uuid, job->settings.uuid, sizeof uuid) != 0)
        return err_set(
            err, STATUS_SERVER,
            "%s was dropped, replaced or given another name while it was loaded. If it is to be gone, start "
            "over with --drop; else give it its name back, and run the same command again",
            server_namespace(job->server));
    if (!job_check_unique_ids(job, err))
        return false;
    if (server_facts(job->server)->kind != SERVER_STANDALONE)
        return true;
    return job->store->change_header(job->store, &sync, &changed, err) && check_process(job, err);
}

/* ---- the end ---- */

void job_close_catalog(job_t *job, const err_t *err, bool ok) {
    const load_result_t *result = job->result;
    err_t ignored;
    end_alone(job, ok);
    heartbeat_stop(job->heartbeat);
    job->heartbeat = NULL;
    if (!load_id_is_nobody(&job->id)) {
        bson_t *fields = BCON_NEW(
            "status", BCON_INT32((int32_t)err->status), "error", BCON_UTF8(ok ? "" : err->text), "read",
            BCON_INT64((int64_t)result->counts.read), "loaded", BCON_INT64((int64_t)result->counts.loaded),
            "alreadyThere", BCON_INT64((int64_t)result->counts.already_there), "rejected",
            BCON_INT64((int64_t)result->counts.rejected), "filtered",
            BCON_INT64((int64_t)result->counts.filtered), "seconds",
            BCON_DOUBLE((double)result->took_ns / 1e9), "batches", BCON_INT64((int64_t)result->batches),
            "retries", BCON_INT64((int64_t)result->retries));
        if (!store_mongo_end(job->store, &job->id, fields, &ignored))
            log_detail("the load's own entry in the catalog could not be closed: %s", ignored.text);
        bson_destroy(fields);
    }
    register_free(&job->registration);
    free(job->registration.wanted);
    ledger_free(&job->ledger);
    store_mongo_close(job->store);
    job->store = NULL;
}
