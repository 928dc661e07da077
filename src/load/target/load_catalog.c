/* load_catalog: what a load does with its catalog, from the first look to the end; and --append. */
#include "base/clock.h"
#include "base/document.h"
#include "base/log.h"
#include "base/numbers.h"
#include "base/stop.h"
#include "format/record/record.h"
#include "format/record/record_id.h"
#include "format/schema/schema.h"
#include "load/plan/format.h"
#include "load/target/target.h"
#include "server/bson_read.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

bool append_next(const append_look_t *look, int64_t *least) {
    if (look->lane >= RECORD_ID_LANES)
        return false;
    *least = record_id_make(look->lane, look->from);
    return true;
}

bool append_found(append_look_t *look, int64_t id) {
    const uint64_t number = record_id_voff(id);
    const bool before = number < look->from;
    look->lane = record_id_lane_of(id) + !before; /* the lanes in between have no documents */
    return !before && number < look->to;
}

/* Finds the least number from `least` on that is an `_id`. */
static bool find_least(const target_t *target, int64_t least, bool *any, int64_t *id, err_t *err) {
    bson_t reply, document;
    bson_iter_t documents, at;
    bson_t *command = BCON_NEW("find", BCON_UTF8(server_collection(target->server)), "filter", "{", "_id",
                               "{", "$gte", BCON_INT64(least), "$lte", BCON_INT64(INT64_MAX), "}", "}",
                               "sort", "{", "_id", BCON_INT32(1), "}", "limit", BCON_INT32(1), "singleBatch",
                               BCON_BOOL(true), "projection", "{", "_id", BCON_INT32(1), "}");
    const bool ok = server_command(target->server, target->client, server_database(target->server), command,
                                   false, &reply, err);
    *any = ok && bson_read_batch(&reply, &documents) && bson_read_next(&documents, &document) &&
           bson_iter_init_find(&at, &document, "_id");
    /* a number of another type counts as the integer that it equals, or that is below it */
    if (*any && !element_floor(&at, id))
        *id = INT64_MAX;
    bson_destroy(&reply);
    bson_destroy(command);
    return ok;
}

static bool may_take(void *context, uint64_t first_extent, uint64_t extents, err_t *err) {
    const target_t *target = context;
    append_look_t look = {.from = first_extent * RECORD_ID_EXTENT_UNIT,
                          .to = (first_extent + extents) * RECORD_ID_EXTENT_UNIT};
    int64_t least, id;
    bool any = true;
    while (any && append_next(&look, &least)) {
        if (!find_least(target, least, &any, &id, err))
            return false;
        if (any && append_found(&look, id))
            return err_set(
                err, STATUS_USAGE,
                "%s holds a document with the _id %" PRId64
                ", which tipple did not load, and which is one of the _ids that this load would give: load "
                "into another collection, or make _ids of the data's own fields with --id",
                server_namespace(target->server), id);
    }
    return true;
}

static void append_begin(target_t *target) {
    const plan_t *plan = target->plan;
    char count[UNITS_MAX];
    plan->result->appended = true;
    if (plan->spec->append && !target->place.empty)
        log_note("%s holds %s document%s already. What is there stays as it is%s; `tipple verify` counts "
                 "documents that no input makes as \"not ours\". Later loads need no --append",
                 server_namespace(target->server), units_count(count, target->place.count),
                 units_s(target->place.count),
                 plan->existing == EXISTING_REPLACE
                     ? ", except those whose _id a record has: its document replaces them"
                     : "");
    if (plan->schema->id)
        return;
    target->catalog.store->may_take = may_take;
    target->catalog.store->may_take_context = target;
}

enum { DROP_NAP_MS = 50 };

/* ---- opening ---- */

bool plan_check_copies(const plan_t *plan, err_t *err) {
    return plan->spec->copies < 2 || !plan->schema->id ||
           err_set(err, STATUS_USAGE,
                   "--copies: these documents have _ids of their own, so a copy would have the same ones");
}

/* id, existing: what the header of the collection must have; NULL: any. */
static void fill_settings(target_t *target, const char *id, const char *existing) {
    const plan_t *plan = target->plan;
    target->settings = (catalog_settings_t){.name = server_namespace(target->server),
                                            .format = plan->schema->name,
                                            .format_digest = plan->schema->digest,
                                            .id = id,
                                            .existing = existing,
                                            .format_text = plan->format_text,
                                            .filter = plan->filter ? filter_text(plan->filter) : "",
                                            .added = plan->added,
                                            .added_count = plan->added_count,
                                            .widened = plan->widened,
                                            .accepts_other_uuid = plan->spec->same_collection};
    memcpy(target->settings.uuid, target->place.uuid, sizeof target->settings.uuid);
    target->settings.empty = target->place.empty;
    target->settings.append = plan->spec->append;
}

/* Refuses documents in a collection that no load has bound: they belong to others, and are expected only with --append. A drop
 * may have come between reading the collection and reading the header, so both are repeated. */
static bool check_unfilled(target_t *target, err_t *err) {
    catalog_header_t header = {0};
    bool found;
    if (!target->place.exists || target->place.empty || target->plan->spec->append)
        return true;
    if (!collection_look(target->server, target->client, &target->place, err) ||
        !store_read_header(target->catalog.store, &header, &found, err))
        return false;
    const bool expected = found && (header.format || header.appends);
    catalog_header_free(&header);
    return expected || !target->place.exists || target->place.empty ||
           catalog_refuse_unknown_data(server_namespace(target->server), true, err);
}

static bool check_found(target_t *target, const catalog_header_t *header, err_t *err) {
    if (!kept_columns(header, target->settings.name, target->plan->schema, err) ||
        !catalog_check_header(header, &target->settings, err))
        return false;
    if (!header->format)
        return check_unfilled(target, err);
    /* another load may have made the collection since it was looked at */
    if (!target->place.exists && !collection_look(target->server, target->client, &target->place, err))
        return false;
    if (!target->place.exists)
        return catalog_refuse_gone(server_namespace(target->server), err);
    return true;
}

bool target_look_at_catalog(target_t *target, err_t *err) {
    plan_t *plan = target->plan;
    catalog_header_t header = {0};
    bool found;
    if (!store_mongo_need(&target->catalog.store, target->server, target->client, err))
        return false;
    fill_settings(target, plan->spec->id, plan->spec->existing);
    bool ok = store_read_header(target->catalog.store, &header, &found, err);
    if (!plan->format_text)
        plan->widened = header.widened;
    if (ok && found)
        ok = check_found(target, &header, err);
    else if (ok && header.has_entries)
        ok = catalog_refuse_none(server_namespace(target->server), &header, err);
    else if (ok && target->place.exists && !target->place.empty && !plan->spec->append)
        ok = catalog_refuse_unknown_data(server_namespace(target->server), false, err);
    target->bound = ok && found && header.format;
    if (target->bound)
        ok = kept_format_hold(&header, server_namespace(target->server), plan->schema, plan->spec->retry,
                              err) &&
             own_id_set(plan->schema, header.id ? header.id : "", err) &&
             target_find_existing(target, header.existing ? header.existing : "", err) &&
             plan_check_copies(plan, err);
    ok = ok && target_list_added(target, &header, err);
    catalog_header_free(&header);
    return ok;
}

bool target_enroll_as(target_t *target, bson_t *fields, err_t *err) {
    load_id_t id;
    const bool ok = store_mongo_enroll(target->catalog.store, &id, fields, err);
    bson_destroy(fields);
    if (ok)
        target->catalog.self = id;
    return ok;
}

bool target_enroll(target_t *target, err_t *err) {
    const plan_t *plan = target->plan;
    const load_spec_t *spec = plan->spec;
    bson_t *fields = BCON_NEW(
        "command", BCON_UTF8("load"), "version", BCON_UTF8(TIPPLE_VERSION), "format",
        BCON_UTF8(plan->schema->name), "filter", BCON_UTF8(plan->filter ? filter_text(plan->filter) : ""),
        "threads", BCON_INT32((int32_t)plan->result->threads), "batch", BCON_INT32((int32_t)spec->batch),
        "batchBytes", BCON_INT64((int64_t)spec->batch_bytes), "unsafe",
        BCON_BOOL(spec->unsafe && !spec->retry), "files", BCON_INT64((int64_t)plan->manifest.count));
    return target_enroll_as(target, fields, err);
}

static uint64_t documents_of(void *context) {
    target_t *target = context;
    return target->documents;
}

static int64_t now(void *context) {
    (void)context;
    return clock_awake_or_not_ns();
}

static bool nap(void *context, err_t *err) {
    (void)context;
    return stop_nap(DROP_NAP_MS, err);
}

bool target_beat(target_t *target, int64_t lease_ms, err_t *err) {
    catalog_t *catalog = &target->catalog;
    if (!target->heartbeat && !(target->heartbeat = heartbeat_start(target->server, &catalog->self, lease_ms,
                                                                    documents_of, target, err)))
        return false;
    *catalog = (catalog_t){.store = catalog->store,
                           .name = server_namespace(target->server),
                           .self = catalog->self,
                           .lease_ns = lease_ms * 1000000,
                           .context = target,
                           .now = now,
                           .own_beats = heartbeat_count(target->heartbeat),
                           .wait = nap};
    return true;
}

/* Begins to work alone (--existing replace). A --retry replaces nothing. */
static bool begin_alone(target_t *target, err_t *err) {
    const bool replaces = target->plan->existing == EXISTING_REPLACE && !target->plan->spec->retry;
    return catalog_begin_alone(&target->catalog, replaces, &target->inherited, err);
}

bool target_open_catalog(target_t *target, err_t *err) {
    const plan_t *plan = target->plan;
    catalog_header_t header = {0};
    if (plan->spec->drop && !target_list_added(target, &header, err))
        return false;
    fill_settings(target, plan->schema->id ? plan->schema->id->text : "", existing_names[plan->existing]);
    if (!catalog_open(target->catalog.store, &target->settings, &header, err))
        return false;
    target->own_ids = plan->schema->id;
    target->generation = header.generation;
    memcpy(target->own_catalog, header.own, sizeof target->own_catalog);
    target->bound = target->began_bound = header.format != NULL;
    if (header.appends || plan->spec->append)
        append_begin(target);
    const int64_t lease_ms = header.lease_ms ? header.lease_ms : STORE_LEASE_MS;
    catalog_header_free(&header);
    return target_beat(target, lease_ms, err) && begin_alone(target, err) &&
           (server_facts(target->server)->kind != SERVER_STANDALONE ||
            server_process(target->server, target->client, target->process, err));
}

/* ---- dropping ---- */

static bool drop_data(void *context, const uint8_t uuid[STORE_UUID], err_t *err) {
    target_t *target = context;
    if (!collection_drop_data(target->server, target->client, uuid, err))
        return false;
    target->touched = true;
    return true;
}

bool target_drop(target_t *target, err_t *err) {
    catalog_header_t header = {0};
    bool found;
    if (!store_read_header(target->catalog.store, &header, &found, err))
        return false;
    const int64_t lease_ms = header.lease_ms ? header.lease_ms : STORE_LEASE_MS;
    catalog_header_free(&header);
    /* a drop removes entries at its end: a user who may not is refused now, by a command that removes none */
    return target_beat(target, lease_ms, err) &&
           target->catalog.store->remove_entries(target->catalog.store, 0, err) &&
           catalog_drop(&target->catalog, drop_data, err);
}

/* ---- waiting ---- */

void target_say_waits(target_t *target, const load_seen_t *load, const char *what) {
    if (!target->waits_told && load)
        log_note("the load of process %lld on %s works on %s; this one waits until that is done, and takes "
                 "over if the other one dies",
                 (long long)load->process, load->host, what);
    else if (!target->waits_told)
        log_note("other loads work on %s; this one waits until they are done, and takes over if one of them "
                 "dies",
                 what);
    target->waits_told = true;
}

/* ---- durability ---- */

static bool check_process(target_t *target, err_t *err) {
    char process[25];
    if (!server_process(target->server, target->client, process, err))
        return false;
    return strcmp(process, target->process) == 0 ||
           err_set(err, STATUS_SERVER,
                   "the server at %s was restarted: what it had acknowledged a moment ago may be lost; run "
                   "the same command again, which sends that once more",
                   server_where(target->server));
}

bool target_make_durable(target_t *target, err_t *err) {
    const header_change_t sync = {.kind = HEADER_SYNC};
    bool changed;
    uint8_t uuid[STORE_UUID];
    /* on older servers an insert into a dropped collection silently makes a new one */
    if (!target->catalog.store->collection(target->catalog.store, uuid, err))
        return false;
    if (memcmp(uuid, target->settings.uuid, sizeof uuid) != 0)
        return err_set(
            err, STATUS_SERVER,
            "%s was dropped, replaced or given another name while it was loaded. If it is to be gone, start "
            "over with --drop; else give it its name back, and run the same command again",
            server_namespace(target->server));
    if (!target_check_unique_ids(target, err))
        return false;
    if (server_facts(target->server)->kind != SERVER_STANDALONE)
        return true;
    return target->catalog.store->change_header(target->catalog.store, &sync, &changed, err) &&
           check_process(target, err);
}

/* ---- the end ---- */

/* Ends working alone, if the fate of all messages is known; otherwise the next load waits for late messages. */
static void end_alone(target_t *target, bool sent, bool ok) {
    const plan_t *plan = target->plan;
    err_t ignored;
    const bool certain = !sent || (ok && !plan->result->retries);
    if (plan->existing != EXISTING_REPLACE || plan->spec->retry || load_id_is_nobody(&target->catalog.self) ||
        !certain || (target->inherited && !target->outlived))
        return;
    if (!catalog_end_alone(&target->catalog, &ignored))
        log_detail("the end of this load could not be noted in the catalog: %s", ignored.text);
}

void target_end(target_t *target, bson_t *fields) {
    err_t ignored;
    heartbeat_stop(target->heartbeat);
    target->heartbeat = NULL;
    if (!load_id_is_nobody(&target->catalog.self) &&
        !store_mongo_end(target->catalog.store, &target->catalog.self, fields, &ignored))
        log_detail("the load's own entry in the catalog could not be closed: %s", ignored.text);
    bson_destroy(fields);
    store_mongo_close(target->catalog.store);
    target->catalog.store = NULL;
}

void target_close_catalog(target_t *target, bool sent, const err_t *err, bool ok) {
    const load_result_t *result = target->plan->result;
    end_alone(target, sent, ok);
    target_end(target,
               BCON_NEW("status", BCON_INT32((int32_t)err->status), "error", BCON_UTF8(ok ? "" : err->text),
                        "read", BCON_INT64((int64_t)result->counts.read), "loaded",
                        BCON_INT64((int64_t)result->counts.of[FATE_LOADED]), "alreadyThere",
                        BCON_INT64((int64_t)result->counts.of[FATE_THERE]), "rejected",
                        BCON_INT64((int64_t)result->counts.of[FATE_REJECTED]), "filtered",
                        BCON_INT64((int64_t)result->counts.of[FATE_FILTERED]), "seconds",
                        BCON_DOUBLE((double)result->took_ns / 1e9), "batches",
                        BCON_INT64((int64_t)result->batches), "retries",
                        BCON_INT64((int64_t)result->retries)));
}
