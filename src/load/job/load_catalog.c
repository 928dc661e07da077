/* What a load has to do with the catalog, from its first look to its end. */
#include "base/clock.h"
#include "base/log.h"
#include "base/numbers/units.h"
#include "base/stop.h"
#include "catalog/removal.h"
#include "format/record/own_id.h"
#include "format/schema/schema_bad_value.h"
#include "load/before/describe_input.h"
#include "load/forget/entry_documents.h"
#include "load/job/append.h"
#include "load/job/job.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { NOTES = 3 };

/* What a gzip holds for each of its bytes, roughly: for portions of work. */
enum { EXPANDS = 5, DROP_NAP_MS = 50 };

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
                                         .accepts_other_uuid = job->spec->same_collection};
    memcpy(job->settings.uuid, job->place.uuid, sizeof job->settings.uuid);
    job->settings.empty = job->place.empty;
    job->settings.append = job->spec->append;
}

/* Loaded by the same format with another --on-bad-value? */
static bool check_bad_value(const job_t *job, const catalog_header_t *header, err_t *err) {
    bad_value_t then;
    if (!header->format || !header->format_digest ||
        strcmp(header->format_digest, job->schema->digest) == 0 ||
        !schema_digest_tells(job->schema, header->format_digest, &then))
        return true;
    return err_set(err, STATUS_USAGE,
                   "%s was loaded with --on-bad-value %s, not %s: give the same one, or load into another "
                   "collection, or start over with --drop, which drops the collection and its catalog",
                   job->settings.name, schema_bad_values[then], schema_bad_values[job->schema->bad_value]);
}

static bool check_found(job_t *job, const catalog_header_t *header, err_t *err) {
    if (!check_bad_value(job, header, err) || !catalog_check_header(header, &job->settings, err))
        return false;
    if (!header->format)
        return true;
    /* another load may have made it since it was looked at */
    if (!job->place.exists && !collection_look(job->server, job->client, &job->place, err))
        return false;
    if (!job->place.exists)
        return err_set(err, STATUS_USAGE,
                       "%s is gone, but the catalog of its loads is still there: start over with --drop",
                       server_namespace(job->server));
    return true;
}

bool job_look_at_catalog(job_t *job, err_t *err) {
    catalog_header_t header = {0};
    bool found;
    if (!store_mongo_need(&job->store, job->server, job->client, err))
        return false;
    fill_settings(job, job->spec->id, job->spec->existing);
    bool ok = job->store->read_header(job->store, &header, &found, err);
    if (ok && found)
        ok = check_found(job, &header, err);
    else if (ok && header.has_entries)
        ok = err_set(
            err, STATUS_USAGE,
            "the catalog of %s is damaged: it has entries of inputs, but its header was removed; start "
            "over with --drop",
            server_namespace(job->server));
    else if (ok && job->place.exists && !job->place.empty && !job->spec->append)
        ok = catalog_refuse_unknown_data(server_namespace(job->server), err);
    job->loading.bound = ok && found && header.format;
    if (job->loading.bound)
        ok = own_id_set(job->schema, header.id ? header.id : "", err) &&
             job_find_existing(job, header.existing ? header.existing : "", err) &&
             job_check_copies(job, err);
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

static catalog_drop_t others_of(job_t *job, int64_t lease_ms) {
    return (catalog_drop_t){.self = job->id,
                            .lease_ns = lease_ms * 1000000,
                            .now = now_of,
                            .own_beats = beats_of,
                            .wait = nap,
                            .context = job};
}

/* A --retry replaces nothing. */
static bool begin_alone(job_t *job, err_t *err) {
    const catalog_drop_t others = others_of(job, job->lease_ms);
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
    fill_settings(job, job->schema->id ? job->schema->id->text : "", existing_names[job->existing]);
    if (!catalog_open(job->store, &job->settings, &header, err))
        return false;
    job->loading.generation = header.generation;
    job->loading.bound = header.format != NULL;
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
    return job_note_dropped(job, err) && collection_drop_data(job->server, job->client, uuid, err);
}

bool job_drop(job_t *job, err_t *err) {
    catalog_header_t header = {0};
    bool found;
    if (!job->store->read_header(job->store, &header, &found, err))
        return false;
    const int64_t lease_ms = header.lease_ms ? header.lease_ms : STORE_LEASE_MS;
    catalog_header_free(&header);
    catalog_drop_t drop = others_of(job, lease_ms);
    drop.drop = drop_data;
    return beat(job, lease_ms, err) && catalog_drop(job->store, server_namespace(job->server), &drop, err);
}

/* ---- inputs ---- */

/* Notes about inputs whose names are not those of the catalog, a few at most. */
static void tell_names(const job_t *job) {
    size_t moved = 0, copies = 0, unclear = 0;
    for (size_t i = 0; i < job->registration.count; i++) {
        const wanted_t *wanted = &job->registration.wanted[i];
        if (wanted->moved && strcmp(wanted->entry.path, wanted->name) != 0 && moved++ < NOTES)
            log_note("%s is the file that was loaded as %s (%s)", wanted->name, wanted->entry.path,
                     wanted->resembles ? "it has grown since, and begins with the same content"
                                       : "same size and content");
        if (wanted->resembles > 1 && unclear++ < NOTES)
            log_warn(
                "%s begins with the content of %zu files of this name that were loaded from other folders, "
                "and "
                "are there no more: which of them it is cannot be told, so it is loaded as a new file, and "
                "those records are there twice. If that is wrong: tipple forget %s --delete",
                wanted->name, wanted->resembles, wanted->name);
        if (!wanted->moved && wanted->copy && copies++ < NOTES)
            log_note("%s has the name, size and content of another file in the catalog: both are loaded",
                     wanted->name);
    }
    if (moved > NOTES)
        log_note("... and %zu more files that were loaded from other folders", moved - NOTES);
    if (unclear > NOTES)
        log_warn("... and %zu more files that may be grown ones", unclear - NOTES);
    if (copies > NOTES)
        log_note("... and %zu more files that have an equal one", copies - NOTES);
}

/* A catalog that tells of documents, and a collection without any: somebody emptied it. Before anything is
 * registered. */
static bool check_not_emptied(job_t *job, err_t *err) {
    char count[UNITS_MAX];
    places_t *places;
    if (!job->place.empty)
        return true;
    if (!(places = places_read(job->store, err)))
        return false;
    const places_summary_t summary = places_summary(places, job->loading.generation);
    const uint64_t loaded = summary.loaded + summary.already_there;
    places_free(places);
    if (!loaded)
        return true;
    /* another load may have filled it since it was looked at */
    if (!collection_look(job->server, job->client, &job->place, err))
        return false;
    return !job->place.empty ||
           err_set(err, STATUS_USAGE,
                   "%s is empty, but its catalog says that %s documents were loaded: somebody removed them; "
                   "start over with --drop",
                   server_namespace(job->server), units_count(count, loaded));
}

static bool digest_at(void *context, size_t number, uint64_t size, char digest[33], err_t *err) {
    const job_t *job = context;
    return describe_digest_at(&job->manifest.files[number], size, digest, err);
}

static bool relate(void *context, const ledger_input_t *input, view_t *view, uint32_t *version, err_t *err) {
    job_t *job = context;
    const size_t number = (size_t)(input - job->ledger.inputs);
    return registration_relate(&input->entry, &input->seen, describe_may_grow(&job->manifest.files[number]),
                               digest_at, job, number, view, version, err);
}

static bool fill_ledger(job_t *job, err_t *err) {
    const ledger_options_t options = {.self = job->id,
                                      .generation = job->loading.generation,
                                      .safe = !job->spec->unsafe,
                                      .lease_ns = job->lease_ms * 1000000,
                                      .relate = relate,
                                      .context = job};
    ledger_init(&job->ledger, &options);
    job->ledger.asked_ns = job->registered_ns;
    for (size_t i = 0; i < job->manifest.count; i++) {
        const input_file_t *file = &job->manifest.files[i];
        wanted_t *wanted = &job->registration.wanted[i];
        ledger_input_t input = {.entry = wanted->entry,
                                .seen = wanted->seen,
                                .name = file->name,
                                .key = wanted->key,
                                .text_end = wanted->text_end,
                                .bytes = wanted->bytes,
                                .plain = file->kind == INPUT_PLAIN && !input_is_in_stream(file),
                                .stream = file->kind == INPUT_STREAM,
                                .group = wanted->group};
        wanted->entry = (entry_t){0};
        if (!ledger_add(&job->ledger, &input, err)) {
            entry_free(&input.entry);
            return false;
        }
    }
    return true;
}

/* A file for each piece, in the order of the ledger's works. */
static bool make_files(job_t *job, err_t *err) {
    ledger_t *ledger = &job->ledger;
    if (!(job->files = calloc(ledger->work_count + 1, sizeof *job->files)))
        return err_memory(err, ledger->work_count * sizeof *job->files);
    for (; job->file_count < ledger->work_count; job->file_count++) {
        work_t *work = &ledger->works[job->file_count];
        const ledger_input_t *input = &ledger->inputs[work->input];
        const piece_t *piece = &input->entry.pieces[work->piece];
        load_file_t *file = &job->files[job->file_count];
        file->input = &job->manifest.files[work->input];
        file->work = work;
        file->ordinal = input->entry.ordinal;
        file->from = piece->from;
        file->to = piece->to;
        file->may_be_torn = describe_may_grow(file->input);
        if (!(file->known_as = strdup(input->entry.path)))
            return err_memory(err, strlen(input->entry.path));
        job->result->records_skipped += work->read_before;
    }
    return true;
}

/* Inputs of which another load has begun with a longer version. All of what is here may be there; but so may be more. */
static void tell_cut_back(const job_t *job) {
    for (size_t i = 0; i < job->ledger.input_count; i++) {
        const ledger_input_t *input = &job->ledger.inputs[i];
        if (input->view == VIEW_OLDER && !entry_is_complete(&input->entry, job->loading.generation, false))
            log_warn(
                "%s was longer when another load began with it, and that load did not end: records that it "
                "sent "
                "may be in the collection. If the longer one is gone for good, --reload-changed removes them",
                input->name);
    }
}

static void count_done_inputs(job_t *job) {
    const ledger_t *ledger = &job->ledger;
    for (size_t i = 0; i < ledger->input_count; i++) {
        const ledger_input_t *input = &ledger->inputs[i];
        bool done = true;
        for (size_t j = 0; j < input->work_count; j++)
            done &= ledger->works[input->first_work + j].state == WORK_DONE ||
                    ledger->works[input->first_work + j].state == WORK_CHECK;
        job->result->files_skipped += done;
    }
}

/* ---- inputs that have changed, with --reload-changed ---- */

static bool look(void *context, const entry_t *entry, bool *any, err_t *err) {
    const job_t *job = context;
    const entry_place_t place = {job->server, job->client, job->settings.uuid};
    *any = false;
    return job->schema->id || entry_documents_look(&place, entry, 0, any, err);
}

static bool remove_documents(void *context, const entry_t *entry, err_t *err) {
    const job_t *job = context;
    const entry_place_t place = {job->server, job->client, job->settings.uuid};
    return entry_documents_remove(&place, entry, err);
}

static removal_t removal_of(job_t *job) {
    return (removal_t){.self = job->id,
                       .lease_ns = job->lease_ms * 1000000,
                       .context = job,
                       .now = now_of,
                       .own_beats = beats_of,
                       .wait = nap,
                       .look = look,
                       .remove = remove_documents};
}

bool job_remove_input(job_t *job, const entry_t *entry, bool documents, err_t *err) {
    const removal_t removal = removal_of(job);
    if (documents && job->schema->id)
        log_note(
            "%s has changed since it was loaded, and is loaded again; documents that only its old content "
            "makes stay in the collection (`tipple verify` names them)",
            entry->path);
    documents = documents && !job->schema->id;
    if (documents)
        log_note(
            "%s has changed since it was loaded: its documents are removed, which takes %lld s at least, "
            "and it is "
            "loaded again",
            entry->path, (long long)(job->lease_ms / 1000));
    step_change(&job->step, "removing %s%s", entry->path, documents ? " with its documents" : "");
    return catalog_remove(job->store, entry->ordinal, documents, &removal, err);
}

void job_tell_removed(job_t *job) {
    err_t ignored;
    for (size_t i = 0; i < job->ledger.input_count; i++) {
        const ledger_input_t *input = &job->ledger.inputs[i];
        if (input->removed && input->taken && !catalog_may_remain(job->store, input->entry.ordinal, &ignored))
            log_detail("what was sent of %s after its removal is not noted in the catalog: %s", input->name,
                       ignored.text);
    }
}

/* Of a `tipple forget --delete`, or of a load with --reload-changed. */
static bool finish_removals(job_t *job, err_t *err) {
    const removal_t removal = removal_of(job);
    if (!job->registration.remains)
        return true;
    log_note("documents of inputs that were taken out of the catalog are still there: they are removed, "
             "which takes %lld s at least",
             (long long)(job->lease_ms / 1000));
    return catalog_finish_removals(job->store, &removal, err);
}

static bool reload_changed(job_t *job, err_t *err) {
    registration_t *registration = &job->registration;
    bool any = false;
    for (size_t i = 0; i < registration->count; i++) {
        if (!registration->wanted[i].changed)
            continue;
        any = true;
        if (!job_remove_input(job, &registration->wanted[i].entry, !registration->wanted[i].unread, err))
            return false;
    }
    if (any)
        register_free(registration);
    return !any || catalog_register(job->store, registration, err);
}

/* Inputs of one compressed tar are one group. */
static bool is_of_group_before(const input_file_t *files, size_t number) {
    return number && input_is_in_stream(&files[number]) && input_is_in_stream(&files[number - 1]) &&
           files[number].archive == files[number - 1].archive;
}

static void describe_inputs(const job_t *job, wanted_t *wanted) {
    const input_file_t *files = job->manifest.files;
    for (size_t i = 0; i < job->manifest.count; i++) {
        describe_input(&files[i], &wanted[i]);
        wanted[i].reload = job->spec->reload_changed;
        wanted[i].bytes = files[i].disk_bytes * (input_kind_is_compressed(files[i].kind) ? EXPANDS : 1);
        wanted[i].group = is_of_group_before(files, i) ? wanted[i - 1].group : i;
    }
}

bool job_register_inputs(job_t *job, err_t *err) {
    registration_t *registration = &job->registration;
    describe_archive_t seen = {.path = NULL};
    *registration = (registration_t){.count = job->manifest.count,
                                     .self = job->id,
                                     .generation = job->loading.generation,
                                     .bound = job->loading.bound,
                                     .digest_at = digest_at,
                                     .file_at = describe_file_at,
                                     .holds = describe_holds,
                                     .context = job,
                                     .holds_context = &seen,
                                     .name = server_namespace(job->server)};
    if (job->existing != EXISTING_REPLACE)
        registration->portion = (portion_t){.least = JOB_LEAST_PIECES, .most_bytes = JOB_PIECE_BYTES};
    if (!(registration->wanted = calloc(registration->count + 1, sizeof *registration->wanted)))
        return err_memory(err, registration->count * sizeof *registration->wanted);
    describe_inputs(job, registration->wanted);
    job->registered_ns = clock_awake_or_not_ns();
    const bool ok = check_not_emptied(job, err) && job_check_turns(job, err) &&
                    catalog_register(job->store, registration, err);
    describe_archive_free(&seen);
    if (!ok || !finish_removals(job, err) || !reload_changed(job, err))
        return false;
    tell_names(job);
    if (!fill_ledger(job, err) ||
        (job->existing == EXISTING_REPLACE && !ledger_put_in_order(&job->ledger, err)) ||
        !make_files(job, err))
        return false;
    count_done_inputs(job);
    tell_cut_back(job);
    return true;
}

/* ---- lasting ---- */

static bool check_process(job_t *job, err_t *err) {
    char process[25];
    if (!server_process(job->server, job->client, process, err))
        return false;
    return strcmp(process, job->process) == 0 ||
           err_set(
               err, STATUS_SERVER,
               "the server at %s was restarted: what it had acknowledged a moment ago may be lost; run the "
               "same command again, which sends that once more",
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
        return err_set(err, STATUS_SERVER,
                       "%s was dropped or replaced while it was loaded: start over with --drop",
                       server_namespace(job->server));
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
