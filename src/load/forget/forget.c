/* forget: entry_documents, which finds and removes the documents of an input by ranges of `_id`s; and `tipple forget`, which
 * looks up all inputs before it changes anything. */
#include "load/forget/forget.h"
#include "base/clock.h"
#include "base/log.h"
#include "base/stop.h"
#include "catalog/catalog.h"
#include "catalog/places.h"
#include "catalog/store/entry_bson.h"
#include "catalog/store/store_mongo.h"
#include "format/record/record_id.h"
#include "input/file/name.h"
#include "load/plan/inputs.h"
#include "server/bson_read.h"
#include "server/collection.h"

#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

enum { RANGES_AT_ONCE = 100 };

/* ---- entry_documents ---- */

/* Ranges of `_id`s: in one lane all numbers of an extent belong to the entry. */
typedef struct {
    const entry_t *entry;
    uint64_t offset; /* of records that begin there or after it */
    size_t extent;   /* the next range is of this extent, */
    uint64_t block;  /* in the lane of this block of it */
    int64_t from, last;
} ranges_t;

static bool next_range(ranges_t *ranges) {
    for (; ranges->extent < ranges->entry->extent_count; ranges->extent++, ranges->block = 0) {
        const extent_t *extent = &ranges->entry->extents[ranges->extent];
        const uint64_t blocks = (extent->length + RECORD_ID_BLOCK_BYTES - 1) / RECORD_ID_BLOCK_BYTES,
                       before = ranges->offset > extent->start ? ranges->offset - extent->start : 0;
        if (before >= extent->length || ranges->block >= blocks || ranges->block >= RECORD_ID_LANES)
            continue;
        const uint32_t lane =
            record_id_lane(ranges->entry->ordinal, extent->start + ranges->block++ * RECORD_ID_BLOCK_BYTES);
        ranges->from = record_id_make(lane, extent->base + before);
        ranges->last = record_id_make(lane, extent->base + extent->length - 1);
        return true;
    }
    return false;
}

/* Loads make `_id`s of int64; documents of others may have other numbers. */
static void append_id_range(bson_t *to, const ranges_t *range) {
    BCON_APPEND(to, "_id", "{", "$gte", BCON_INT64(range->from), "$lte", BCON_INT64(range->last), "$type",
                BCON_UTF8("long"), "}");
}

static bool run(const entry_place_t *place, bson_t *command, bool writes, bson_t *reply, err_t *err) {
    const bool ok = server_command(place->server, place->client, server_database(place->server), command,
                                   writes, reply, err);
    bson_destroy(command);
    return ok;
}

/* Asks for one range a command: for several, by $or, a server reads all of a clustered collection. */
bool entry_documents_look(const entry_place_t *place, const entry_t *entry, uint64_t offset, bool *any,
                          err_t *err) {
    ranges_t ranges = {.entry = entry, .offset = offset};
    bool ok = true;
    *any = false;
    while (ok && !*any && next_range(&ranges)) {
        bson_t filter = BSON_INITIALIZER, reply, document;
        bson_iter_t documents;
        append_id_range(&filter, &ranges);
        bson_t *command = BCON_NEW("find", BCON_UTF8(server_collection(place->server)), "filter",
                                   BCON_DOCUMENT(&filter), "limit", BCON_INT32(1), "singleBatch",
                                   BCON_BOOL(true), "projection", "{", "_id", BCON_INT32(1), "}");
        bson_destroy(&filter);
        ok = run(place, command, false, &reply, err);
        *any = ok && bson_read_batch(&reply, &documents) && bson_read_next(&documents, &document);
        bson_destroy(&reply);
    }
    return ok;
}

/* Removes the documents of the next ranges. *more: there were any. */
static bool remove_some(const entry_place_t *place, ranges_t *ranges, bool *more, err_t *err) {
    bson_t deletes = BSON_INITIALIZER, reply;
    char text[16];
    uint32_t count = 0;
    for (; count < RANGES_AT_ONCE && next_range(ranges); count++) {
        bson_t q = BSON_INITIALIZER;
        append_id_range(&q, ranges);
        BCON_APPEND(&deletes, entry_index_key(count, text), "{", "limit", BCON_INT32(0), "q",
                    BCON_DOCUMENT(&q), "}");
        bson_destroy(&q);
    }
    *more = count > 0;
    bson_t *command = *more ? BCON_NEW("delete", BCON_UTF8(server_collection(place->server)), "deletes",
                                       BCON_ARRAY(&deletes), "ordered", BCON_BOOL(false))
                            : NULL;
    bson_destroy(&deletes);
    if (!command)
        return true;
    server_append_uuid(place->server, place->uuid, command);
    const bool ok = run(place, command, true, &reply, err);
    bson_destroy(&reply);
    return ok;
}

bool entry_documents_remove(const entry_place_t *place, const entry_t *entry, err_t *err) {
    ranges_t ranges = {.entry = entry};
    bool ok = true;
    for (bool more = true; ok && more;)
        ok = remove_some(place, &ranges, &more, err);
    return ok;
}

bool entry_documents_may_remove(const entry_place_t *place, err_t *err) {
    bson_t reply;
    const bool ok =
        run(place,
            BCON_NEW("delete", BCON_UTF8(server_collection(place->server)), "deletes", "[", "{", "q", "{",
                     "_id", "{", "$in", "[", "]", "}", "}", "limit", BCON_INT32(0), "}", "]"),
            true, &reply, err);
    bson_destroy(&reply);
    return ok;
}

/* ---- forget ---- */

enum { NAP_MS = 50 };

typedef struct {
    const forget_spec_t *spec;
    server_t *server;
    mongoc_client_t *client;
    store_t *store;
    collection_t place;
    entry_place_t documents;
    places_t *places;
    heartbeat_t *heartbeat;
    bool begun; /* inputs were taken out of the catalog */
    load_id_t id;
    int64_t lease_ms;
    step_t step;
    bool own_ids; /* `_id`s do not show the input of a document */
} forgetting_t;

static int64_t now(void *context) {
    (void)context;
    return clock_awake_or_not_ns();
}

static uint64_t no_documents(void *context) {
    (void)context;
    return 0;
}

static bool nap(void *context, err_t *err) {
    (void)context;
    return stop_nap(NAP_MS, err);
}

static bool look(void *context, const entry_t *entry, bool *any, err_t *err) {
    const forgetting_t *forgetting = context;
    *any = false;
    return forgetting->own_ids || entry_documents_look(&forgetting->documents, entry, 0, any, err);
}

static bool remove_documents(void *context, const entry_t *entry, err_t *err) {
    return entry_documents_remove(&((forgetting_t *)context)->documents, entry, err);
}

/* Refuses another collection than the catalog describes: its documents may belong to others. */
static bool is_its_collection(const forgetting_t *forgetting, const catalog_header_t *header, err_t *err) {
    const collection_t *place = &forgetting->place;
    const char *name = server_namespace(forgetting->server);
    return !place->exists || !catalog_is_other(header, place->uuid) ||
           err_set(err, STATUS_USAGE,
                   "%s " CATALOG_OTHER
                   ", so its documents may be those of others. If all of them are the old ones, load an "
                   "input of it with --same-collection first; otherwise leave it as it is, or start over "
                   "with tipple load --drop, which drops the collection and its catalog",
                   name);
}

static bool open_catalog(forgetting_t *forgetting, err_t *err) {
    catalog_header_t header = {0};
    bool found = false;
    const catalog_settings_t settings = {.name = server_namespace(forgetting->server)};
    bool ok = collection_is_whole(forgetting->server, forgetting->client, err) &&
              (forgetting->store = store_mongo_open(forgetting->server, forgetting->client, err)) &&
              collection_look(forgetting->server, forgetting->client, &forgetting->place, err) &&
              store_read_header(forgetting->store, &header, &found, err);
    if (ok && !found)
        ok = catalog_refuse_none(settings.name, &header, err);
    ok = ok && catalog_check_header(&header, &settings, err) &&
         (header.id || is_its_collection(forgetting, &header, err));
    if (ok && header.id && forgetting->spec->documents)
        ok = err_set(err, STATUS_USAGE,
                     "the _ids of %s are the data's own (--id %s), so nobody knows which of its documents an "
                     "input has made: remove them yourself, and leave --delete out",
                     settings.name, header.id);
    if (ok && header.id && strcmp(header.id, "_id") == 0)
        log_warn("documents of %s stay. Those of records that bring no _id have the places of their input as "
                 "_ids: if that is loaded again, they are there twice",
                 settings.name);
    forgetting->own_ids = header.id;
    forgetting->lease_ms = header.lease_ms;
    catalog_header_free(&header);
    forgetting->documents = (entry_place_t){forgetting->server, forgetting->client,
                                            forgetting->place.exists ? forgetting->place.uuid : NULL};
    return ok && (forgetting->places = places_read(forgetting->store, err));
}

static bool is_known(const forgetting_t *forgetting, const char *name) {
    const places_meant_t meant = places_meant(forgetting->places, name);
    return meant.lives || (forgetting->spec->documents ? meant.gone != NULL : meant.remains);
}

/* Refuses a name that several inputs may mean: a repeated command would remove the next one. */
static bool is_one(const forgetting_t *forgetting, const char *name, err_t *err) {
    const size_t lives = places_meant(forgetting->places, name).lives;
    text_t shown = {.length = 0};
    if (lives < 2)
        return true;
    places_show_meant(forgetting->places, name, &shown);
    char *list = text_take(&shown, err);
    if (list)
        err_set(err, STATUS_USAGE,
                "%zu inputs in the catalog of %s could be meant by %s: %s. Give the one that is meant in "
                "this spelling; `tipple status --inputs` shows what is known of each",
                lives, server_namespace(forgetting->server), name, list);
    free(list);
    return false;
}

/* Refuses a name whose file is known as another input today: it is unknown which is meant. */
static bool is_its_file(const forgetting_t *forgetting, const char *name, char *given, err_t *err) {
    const places_meant_t meant = places_meant(forgetting->places, name);
    const manifest_options_t options = {.input_name = NULL};
    registration_t known = {.count = 0};
    manifest_t manifest = {.count = 0};
    struct stat file;
    err_t ignored;
    if (!meant.live || entry_is_by_name(meant.live) || stat(given, &file) != 0 || !S_ISREG(file.st_mode) ||
        !manifest_build(&manifest, &given, 1, &options, &ignored))
        return true;
    const bool found = manifest.count == 1 &&
                       describe_known(forgetting->store, &manifest, server_namespace(forgetting->server),
                                      forgetting->own_ids, &known, &ignored);
    const entry_t *entry = found && known.wanted[0].entry.piece_count ? &known.wanted[0].entry : NULL;
    const bool other = entry && entry->ordinal != meant.live->ordinal;
    if (other)
        err_set(err, STATUS_USAGE,
                "what is called %s today was loaded as %s#%u, and what was loaded by this name is %s#%u: say "
                "which of them by its number",
                name, entry->path, entry->ordinal, name, meant.live->ordinal);
    register_free(&known);
    free(known.wanted);
    manifest_free(&manifest);
    return !other;
}

/* Refuses a name that is not in the catalog. That an input was recognised under it does not suffice to remove its documents: by
 * now another file may have the name. */
static bool refuse_unknown(const forgetting_t *forgetting, const char *name, err_t *err) {
    const char *namespace = server_namespace(forgetting->server);
    const entry_t *entry = places_known_as(forgetting->places, name);
    text_t shown = {.length = 0};
    if (!entry)
        return err_set(err, STATUS_USAGE,
                       "%s is not in the catalog of %s: `tipple status --inputs` shows the names that it has",
                       name, namespace);
    places_show(forgetting->places, entry, &shown);
    char *spelling = text_take(&shown, err);
    if (spelling)
        err_set(err, STATUS_USAGE,
                "%s is not in the catalog of %s by this name: a file of this name was known as the one that "
                "was loaded as %s. If that is meant, give it as %s",
                name, namespace, entry->path, spelling);
    free(spelling);
    return false;
}

/* Finds the name of an input in the catalog: what a load would call this argument, or else the argument itself. */
static bool find_input(const forgetting_t *forgetting, char *given, char **name, err_t *err) {
    const char *namespace = server_namespace(forgetting->server);
    char *clean = name_clean(given);
    *name = clean ? name_join(NULL, NULL, clean, strlen(clean)) : NULL;
    free(clean);
    if (!*name)
        return err_memory(err, strlen(given));
    const bool by_load = is_known(forgetting, *name), as_shown = is_known(forgetting, given);
    if (by_load && as_shown && strcmp(*name, given) != 0)
        return err_set(
            err, STATUS_USAGE,
            "two inputs in the catalog of %s could be meant: '%s', as a load calls a file of that name, and "
            "'%s'. For the first give '%s'; for the other one the name of its file, as a load was given it",
            namespace, *name, given, *name);
    if (!by_load && !as_shown)
        return refuse_unknown(forgetting, *name, err);
    if (!by_load) {
        free(*name);
        if (!(*name = strdup(given)))
            return err_memory(err, strlen(given));
    }
    return is_one(forgetting, *name, err) && (!by_load || is_its_file(forgetting, *name, given, err));
}

static bool find_inputs(const forgetting_t *forgetting, forgotten_t *forgotten, err_t *err) {
    const forget_spec_t *spec = forgetting->spec;
    for (size_t i = 0; i < spec->input_count; i++)
        if (!find_input(forgetting, spec->inputs[i], &forgotten[i].name, err))
            return false;
    return true;
}

static bool enroll(forgetting_t *forgetting, err_t *err) {
    bson_t *fields = BCON_NEW("command", BCON_UTF8("forget"), "version", BCON_UTF8(TIPPLE_VERSION));
    load_id_t id;
    bool ok = store_mongo_enroll(forgetting->store, &id, fields, err);
    bson_destroy(fields);
    if (!ok)
        return false;
    forgetting->id = id;
    return (forgetting->heartbeat = heartbeat_start(forgetting->server, &id, forgetting->lease_ms,
                                                    no_documents, NULL, err)) != NULL;
}

/* Looks for documents that loads sent because they did not know of a removal. */
static bool look_again(forgetting_t *forgetting, const removal_t *removal, const char *name, bool *late,
                       err_t *err) {
    *late = false;
    size_t at = 0;
    for (const entry_t *entry; (entry = places_next(forgetting->places, name, &at));) {
        bool any;
        if (!entry->removed)
            continue;
        if (!catalog_look_again(removal, entry, &any, err))
            return false;
        *late |= any;
    }
    return true;
}

/* Names an input that may be meant, but stays: the one that was meant is already gone. */
static bool tell_other(const forgetting_t *forgetting, const char *name, const entry_t *other, err_t *err) {
    text_t shown = {.length = 0};
    places_show(forgetting->places, other, &shown);
    char *spelling = text_take(&shown, err);
    if (spelling)
        log_note("another input that may be meant by %s is there, and stays: give it as %s", name, spelling);
    free(spelling);
    return spelling != NULL;
}

/* Finds out what came of an input after the removal. */
static bool look_at_rest(forgetting_t *forgetting, const removal_t *removal, forgotten_t *forgotten,
                         err_t *err) {
    const places_meant_t meant = places_meant(forgetting->places, forgotten->name);
    bool late = false;
    if (forgetting->spec->documents && !look_again(forgetting, removal, forgotten->name, &late, err))
        return false;
    forgotten->outcome = meant.is_sure || meant.remains ? FORGET_DONE : late ? FORGET_LATE : FORGET_NOTHING;
    return true;
}

static bool find_removed(const forgetting_t *forgetting, const forgotten_t *forgotten, removed_t *inputs,
                         size_t *count, err_t *err) {
    for (size_t i = 0; i < forgetting->spec->input_count; i++) {
        const places_meant_t meant = places_meant(forgetting->places, forgotten[i].name);
        if (meant.live && meant.is_sure)
            inputs[(*count)++] = (removed_t){meant.live, .documents = forgetting->spec->documents};
        else if (meant.live && !tell_other(forgetting, forgotten[i].name, meant.live, err))
            return false;
    }
    return true;
}

static void tell_step(forgetting_t *forgetting, const char *name) {
    char these[40];
    const size_t count = forgetting->spec->input_count;
    snprintf(these, sizeof these, "%zu inputs", count);
    if (forgetting->spec->documents)
        step_change(&forgetting->step, "removing %s with %s documents, which takes %d s or more",
                    count > 1 ? these : name, count > 1 ? "their" : "its",
                    (int)(forgetting->lease_ms / 1000));
    else
        step_change(&forgetting->step, "removing %s", count > 1 ? these : name);
}

static void begins(void *context) {
    ((forgetting_t *)context)->begun = true;
}

static bool forget_all(forgetting_t *forgetting, forgotten_t *forgotten, err_t *err) {
    const catalog_t catalog = {.store = forgetting->store,
                               .name = server_namespace(forgetting->server),
                               .self = forgetting->id,
                               .lease_ns = forgetting->lease_ms * 1000000,
                               .own_beats = heartbeat_count(forgetting->heartbeat),
                               .context = forgetting,
                               .now = now,
                               .wait = nap};
    const removal_t removal = {
        .catalog = &catalog, .begins = begins, .look = look, .remove = remove_documents};
    size_t count = 0;
    removed_t *inputs = calloc(forgetting->spec->input_count + 1, sizeof *inputs);
    if (!inputs)
        return err_memory(err, forgetting->spec->input_count * sizeof *inputs);
    tell_step(forgetting, forgotten->name);
    bool ok = find_removed(forgetting, forgotten, inputs, &count, err) &&
              (!forgetting->spec->documents || entry_documents_may_remove(&forgetting->documents, err)) &&
              catalog_remove(inputs, count, &removal, err);
    for (size_t i = 0; ok && forgetting->spec->documents && i < count; i++)
        ok = catalog_forget_columns(forgetting->store, inputs[i].entry->path, err);
    free(inputs);
    for (size_t i = 0; ok && i < forgetting->spec->input_count; i++)
        ok = look_at_rest(forgetting, &removal, &forgotten[i], err);
    return ok && catalog_finish_removals(&removal, err);
}

static void close_all(forgetting_t *forgetting, const err_t *err, bool ok) {
    err_t ignored;
    heartbeat_stop(forgetting->heartbeat);
    if (!load_id_is_nobody(&forgetting->id)) {
        bson_t *fields = BCON_NEW("status", BCON_INT32(ok ? 0 : (int32_t)err->status));
        store_mongo_end(forgetting->store, &forgetting->id, fields, &ignored);
        bson_destroy(fields);
    }
    places_free(forgetting->places);
    store_mongo_close(forgetting->store);
    if (forgetting->client)
        server_give(forgetting->server, forgetting->client);
    server_destroy(forgetting->server);
}

bool forget_run(const forget_spec_t *spec, forgotten_t *forgotten, err_t *err) {
    const server_options_t options = {.uri = spec->uri, .patience_ns = spec->patience_ns, .connections = 2};
    forgetting_t forgetting = {.spec = spec};
    step_begin(&forgetting.step, "looking at the server and the catalog");
    bool ok = (forgetting.server = server_connect(&options, err)) &&
              (forgetting.client = server_take(forgetting.server, err)) && open_catalog(&forgetting, err) &&
              find_inputs(&forgetting, forgotten, err) && enroll(&forgetting, err) &&
              forget_all(&forgetting, forgotten, err);
    if (!ok && forgetting.begun)
        err_after_change(err);
    close_all(&forgetting, err, ok);
    step_end(&forgetting.step);
    return ok;
}
