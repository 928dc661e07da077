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

enum { RANGES_AT_ONCE = 100, NOTES = 3 };

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

static bool run(const target_t *target, bson_t *command, bool writes, bson_t *reply, err_t *err) {
    const bool ok = server_command(target->server, target->client, server_database(target->server), command,
                                   writes, reply, err);
    bson_destroy(command);
    return ok;
}

/* Asks for one range a command: for several, by $or, a server reads all of a clustered collection. */
bool entry_documents_look(const target_t *target, const entry_t *entry, uint64_t offset, bool *any,
                          err_t *err) {
    ranges_t ranges = {.entry = entry, .offset = offset};
    bool ok = true;
    *any = false;
    while (ok && !*any && next_range(&ranges)) {
        bson_t filter = BSON_INITIALIZER, reply, document;
        bson_iter_t documents;
        append_id_range(&filter, &ranges);
        bson_t *command = BCON_NEW("find", BCON_UTF8(server_collection(target->server)), "filter",
                                   BCON_DOCUMENT(&filter), "limit", BCON_INT32(1), "singleBatch",
                                   BCON_BOOL(true), "projection", "{", "_id", BCON_INT32(1), "}");
        bson_destroy(&filter);
        ok = run(target, command, false, &reply, err);
        *any = ok && bson_read_batch(&reply, &documents) && bson_read_next(&documents, &document);
        bson_destroy(&reply);
    }
    return ok;
}

/* Removes the documents of the next ranges. *more: there were any. */
static bool remove_some(const target_t *target, ranges_t *ranges, bool *more, err_t *err) {
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
    bson_t *command = *more ? BCON_NEW("delete", BCON_UTF8(server_collection(target->server)), "deletes",
                                       BCON_ARRAY(&deletes), "ordered", BCON_BOOL(false))
                            : NULL;
    bson_destroy(&deletes);
    if (!command)
        return true;
    server_append_uuid(target->server, target->place.exists ? target->settings.uuid : NULL, command);
    const bool ok = run(target, command, true, &reply, err);
    bson_destroy(&reply);
    return ok;
}

static bool remove_documents(void *context, const entry_t *entry, err_t *err) {
    ranges_t ranges = {.entry = entry};
    bool ok = true;
    for (bool more = true; ok && more;)
        ok = remove_some(context, &ranges, &more, err);
    return ok;
}

/* Asks the server to remove none. */
bool target_may_remove_inputs(const target_t *target, err_t *err) {
    bson_t reply;
    if (target->own_ids)
        return true;
    const bool ok =
        run(target,
            BCON_NEW("delete", BCON_UTF8(server_collection(target->server)), "deletes", "[", "{", "q", "{",
                     "_id", "{", "$in", "[", "]", "}", "}", "limit", BCON_INT32(0), "}", "]"),
            true, &reply, err);
    bson_destroy(&reply);
    return ok;
}

/* ---- removing inputs, by forget and by loads ---- */

static bool look(void *context, const entry_t *entry, bool *any, err_t *err) {
    const target_t *target = context;
    *any = false;
    return target->own_ids || entry_documents_look(target, entry, 0, any, err);
}

static void tell_own_ids(const plan_t *plan, const entry_t *entry) {
    log_note("%s has changed since it was loaded, and is loaded again; documents that only its old content "
             "makes stay in the collection (`tipple verify` names them)%s",
             entry->path, plan->schema->id->kept ? "; records without an _id are then there twice" : "");
}

/* All of them share one wait for a lease. */
static void tell_documents(const target_t *target, const removed_t *inputs, size_t count) {
    const long long seconds = target->catalog.lease_ns / 1000000000;
    size_t shown = 0;
    for (size_t i = 0; i < count; i++)
        if (inputs[i].documents && shown++ < NOTES)
            log_note("%s has changed since it was loaded: its documents are removed, which takes %lld s at "
                     "least, and it is loaded again",
                     inputs[i].entry->path, seconds);
    if (shown > NOTES)
        log_note("... and %zu more changed file%s, in the same %lld s", shown - NOTES, units_s(shown - NOTES),
                 seconds);
}

/* Reports the removal when it is certain, not before: another load may work on one of the inputs. */
static void begins(void *context) {
    target_t *target = context;
    target->touched = true;
    for (size_t i = 0; i < target->removed_count; i++)
        if (target->own_ids && target->removed[i].read)
            tell_own_ids(target->plan, target->removed[i].entry);
    tell_documents(target, target->removed, target->removed_count);
}

removal_t target_removal(target_t *target) {
    return (removal_t){
        .catalog = &target->catalog, .begins = begins, .look = look, .remove = remove_documents};
}

bool target_remove_inputs(target_t *target, removed_t *inputs, size_t count, err_t *err) {
    const removal_t removal = target_removal(target);
    bool documents = false;
    for (size_t i = 0; i < count; i++)
        documents |= inputs[i].documents = inputs[i].read && !target->own_ids;
    if (!count)
        return true;
    if (count == 1)
        step_change(&target->step, "removing %s%s", inputs->entry->path,
                    documents ? " with its documents" : "");
    else
        step_change(&target->step, "removing %zu inputs%s", count, documents ? " with their documents" : "");
    target->removed = inputs;
    target->removed_count = count;
    const bool ok =
        (!documents || target_may_remove_inputs(target, err)) && catalog_remove(inputs, count, &removal, err);
    target->removed = NULL;
    target->removed_count = 0;
    return ok;
}

/* ---- forget ---- */

typedef struct {
    const forget_spec_t *spec;
    target_t target; /* without a plan */
    places_t *places;
    int64_t lease_ms;
} forgetting_t;

/* Refuses another collection than the catalog describes: its documents may belong to others. */
static bool is_its_collection(const forgetting_t *forgetting, const catalog_header_t *header, err_t *err) {
    const collection_t *place = &forgetting->target.place;
    const char *name = server_namespace(forgetting->target.server);
    return !place->exists || !catalog_is_other(header, place->uuid) ||
           err_set(err, STATUS_USAGE,
                   "%s " CATALOG_OTHER
                   ", so its documents may be those of others. If all of them are the old ones, load an "
                   "input of it with --same-collection first; otherwise leave it as it is, or start over "
                   "with tipple load --drop, which drops the collection and its catalog",
                   name);
}

static bool open_catalog(forgetting_t *forgetting, err_t *err) {
    target_t *target = &forgetting->target;
    catalog_header_t header = {0};
    bool found = false;
    const catalog_settings_t settings = {.name = server_namespace(target->server)};
    bool ok = collection_is_whole(target->server, target->client, err) &&
              (target->catalog.store = store_mongo_open(target->server, target->client, err)) &&
              collection_look(target->server, target->client, &target->place, err) &&
              store_read_header(target->catalog.store, &header, &found, err);
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
    target->own_ids = header.id;
    forgetting->lease_ms = header.lease_ms;
    catalog_header_free(&header);
    memcpy(target->settings.uuid, target->place.uuid, sizeof target->settings.uuid);
    return ok && (forgetting->places = places_read(target->catalog.store, err));
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
    char *list = text_take_or_end(&shown);
    err_set(err, STATUS_USAGE,
            "%zu inputs in the catalog of %s could be meant by %s: %s. Give the one that is meant in "
            "this spelling; `tipple status --inputs` shows what is known of each",
            lives, server_namespace(forgetting->target.server), name, list);
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
    const bool found = manifest.count == 1 && describe_known(forgetting->target.catalog.store, &manifest,
                                                             server_namespace(forgetting->target.server),
                                                             forgetting->target.own_ids, &known, &ignored);
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

/* Returns a name that means this input and no other; to be freed. */
static char *spelling_of(const forgetting_t *forgetting, const entry_t *entry) {
    text_t shown = {.length = 0};
    places_show(forgetting->places, entry, &shown);
    return text_take_or_end(&shown);
}

/* Refuses a name that is not in the catalog. That an input was recognised under it does not suffice to remove its documents: by
 * now another file may have the name. */
static bool refuse_unknown(const forgetting_t *forgetting, const char *name, err_t *err) {
    const char *namespace = server_namespace(forgetting->target.server);
    const entry_t *entry = places_named(forgetting->places, name, true);
    if (!entry)
        return err_set(err, STATUS_USAGE,
                       "%s is not in the catalog of %s: `tipple status --inputs` shows the names that it has",
                       name, namespace);
    char *spelling = spelling_of(forgetting, entry);
    err_set(err, STATUS_USAGE,
            "%s is not in the catalog of %s by this name: a file of this name was known as the one that "
            "was loaded as %s. If that is meant, give it as %s",
            name, namespace, entry->path, spelling);
    free(spelling);
    return false;
}

/* Finds the name of an input in the catalog: what a load would call this argument, or else the argument itself. */
static bool find_input(const forgetting_t *forgetting, char *given, char **name, err_t *err) {
    const char *namespace = server_namespace(forgetting->target.server);
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

/* Names an input that may be meant, but stays: the one that was meant is already gone. */
static void tell_other(const forgetting_t *forgetting, const char *name, const entry_t *other) {
    char *spelling = spelling_of(forgetting, other);
    log_note("another input that may be meant by %s is there, and stays: give it as %s", name, spelling);
    free(spelling);
}

/* Finds out what came of an input after the removal. With --delete it looks for documents that loads sent because they did not
 * know of a removal. */
static bool look_at_rest(forgetting_t *forgetting, const removal_t *removal, forgotten_t *forgotten,
                         err_t *err) {
    const places_meant_t meant = places_meant(forgetting->places, forgotten->name);
    const entry_t *entry;
    bool late = false;
    size_t at = 0;
    while (forgetting->spec->documents && (entry = places_next(forgetting->places, forgotten->name, &at))) {
        bool any = false;
        if (entry->removed && !catalog_look_again(removal, entry, &any, err))
            return false;
        late |= any;
    }
    forgotten->outcome = meant.is_sure || meant.remains ? FORGET_DONE : late ? FORGET_LATE : FORGET_NOTHING;
    return true;
}

/* Lists what is to be removed, and returns how many inputs that are. */
static size_t list_removed(const forgetting_t *forgetting, const forgotten_t *forgotten, removed_t *inputs) {
    size_t count = 0;
    for (size_t i = 0; i < forgetting->spec->input_count; i++) {
        const places_meant_t meant = places_meant(forgetting->places, forgotten[i].name);
        if (meant.live && meant.is_sure)
            inputs[count++] = (removed_t){meant.live, .documents = forgetting->spec->documents};
        else if (meant.live)
            tell_other(forgetting, forgotten[i].name, meant.live);
    }
    return count;
}

static void tell_step(forgetting_t *forgetting, const char *name) {
    char these[40];
    const size_t count = forgetting->spec->input_count;
    snprintf(these, sizeof these, "%zu inputs", count);
    if (forgetting->spec->documents)
        step_change(&forgetting->target.step, "removing %s with %s documents, which takes %d s or more",
                    count > 1 ? these : name, count > 1 ? "their" : "its",
                    (int)(forgetting->lease_ms / 1000));
    else
        step_change(&forgetting->target.step, "removing %s", count > 1 ? these : name);
}

static bool forget_all(forgetting_t *forgetting, forgotten_t *forgotten, err_t *err) {
    target_t *target = &forgetting->target;
    const removal_t removal = target_removal(target);
    const forget_spec_t *spec = forgetting->spec;
    removed_t *inputs = calloc(spec->input_count + 1, sizeof *inputs);
    if (!inputs)
        return err_memory(err, spec->input_count * sizeof *inputs);
    tell_step(forgetting, forgotten->name);
    const size_t count = list_removed(forgetting, forgotten, inputs);
    bool ok = (!spec->documents || target_may_remove_inputs(target, err)) &&
              catalog_remove(inputs, count, &removal, err);
    for (size_t i = 0; ok && spec->documents && i < count; i++)
        ok = catalog_forget_columns(target->catalog.store, inputs[i].entry->path, err);
    free(inputs);
    for (size_t i = 0; ok && i < spec->input_count; i++)
        ok = look_at_rest(forgetting, &removal, &forgotten[i], err);
    return ok && catalog_finish_removals(&removal, err);
}

bool forget_run(const forget_spec_t *spec, forgotten_t *forgotten, err_t *err) {
    const server_options_t options = {.uri = spec->uri, .patience_ns = spec->patience_ns, .connections = 2};
    forgetting_t forgetting = {.spec = spec};
    target_t *target = &forgetting.target;
    step_begin(&target->step, "looking at the server and the catalog");
    bool ok = (target->server = server_connect(&options, err)) &&
              (target->client = server_take(target->server, err)) && open_catalog(&forgetting, err);
    for (size_t i = 0; ok && i < spec->input_count; i++)
        ok = find_input(&forgetting, spec->inputs[i], &forgotten[i].name, err);
    ok = ok &&
         target_enroll_as(
             target, BCON_NEW("command", BCON_UTF8("forget"), "version", BCON_UTF8(TIPPLE_VERSION)), err) &&
         target_beat(target, forgetting.lease_ms, err) && forget_all(&forgetting, forgotten, err);
    if (!ok && target->touched)
        err_after_change(err);
    target_end(target, BCON_NEW("status", BCON_INT32(ok ? 0 : (int32_t)err->status)));
    places_free(forgetting.places);
    step_end(&target->step);
    target_free(target);
    return ok;
}
