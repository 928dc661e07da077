#include "study/study.h"
#include "base/document.h"
#include "base/host.h"
#include "base/log.h"
#include "base/numbers.h"
#include "base/stop.h"
#include "catalog/store/store_mongo.h"
#include "format/schema/schema.h"
#include "input/manifest.h"
#include "load/plan/format.h"
#include "load/spec/load_spec.h"
#include "server/bson_read.h"
#include "server/cluster.h"
#include "server/collection.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* A study gives no sign of life between its loads, and while it verifies hours of data. */
static const double SILENT_MS = 24 * 3600e3;

enum { ID = 12, MOST_TAIL = 40 };

char *study_place(const char *uri, const char *tail, err_t *err) {
    address_t address;
    text_t text = {.length = 0};
    if (!address_parse(&address, uri, err)) /* if this succeeds, the first '?' after the path ends the name */
        return NULL;
    address_free(&address);
    const char *path = strchr(strstr(uri, "://") + 3, '/');
    const size_t length = (size_t)(path - uri) + strcspn(path, "?");
    text_print(&text, "%.*s%s%s", (int)length, uri, tail, strcmp(uri + length, "?") == 0 ? "" : uri + length);
    return text_take(&text, err);
}

/* ---- connections ---- */

static bool connect_to(study_t *study, const char *uri, err_t *err) {
    const server_options_t options = {.uri = uri, .patience_ns = study->given->patience_ns, .connections = 2};
    study->server = server_connect(&options, err);
    study->client = study->server ? server_take(study->server, err) : NULL;
    return study->client != NULL;
}

static void disconnect(study_t *study) {
    if (study->client)
        server_give(study->server, study->client);
    server_destroy(study->server);
    study->client = NULL;
    study->server = NULL;
}

/* The scratch collection of the study with this tail and identifier. */
static bool join(study_t *study, const char *tail, const char *id, err_t *err) {
    char whole[MOST_TAIL];
    snprintf(whole, sizeof whole, "%s.%.*s", tail, ID, id);
    study->place = study_place(study->given->uri, whole, err);
    return study->place && connect_to(study, study->place, err);
}

/* ---- files and target ---- */

static bool can_be_read_again(const manifest_t *manifest, const char *why, err_t *err) {
    for (size_t i = 0; i < manifest->count; i++)
        if (manifest->files[i].kind == INPUT_STREAM)
            return err_set(err, STATUS_USAGE, "%s can be read once only, and %s: name a file",
                           strcmp(manifest->files[i].path, "-") == 0 ? "stdin" : manifest->files[i].name,
                           why);
    return true;
}

/* Of a dump, a load takes the collection of its target's name: loads into the scratch collection name it instead. */
static bool name_dumped(study_t *study, const manifest_t *manifest, err_t *err) {
    size_t dumped = 0;
    while (dumped < manifest->count && manifest->files[dumped].collection)
        dumped++;
    if (!dumped || dumped < manifest->count)
        return true;
    if (!(study->inputs = calloc(dumped, sizeof *study->inputs)))
        return err_memory(err, dumped * sizeof *study->inputs);
    for (; study->input_count < dumped; study->input_count++) {
        const input_file_t *file = &manifest->files[study->input_count];
        const bool in_archive = file->kind == INPUT_DUMP;
        text_t text = {.length = 0};
        text_print(&text, "%s%s%s", file->path, in_archive ? "!" : "", in_archive ? file->collection : "");
        if (!(study->inputs[study->input_count] = text_take(&text, err)))
            return false;
    }
    study->load.inputs = study->inputs;
    study->load.input_count = dumped;
    return true;
}

static bool find_format(study_t *study, const char *why, err_t *err) {
    const load_spec_t *load = study->given;
    const server_options_t target = {.uri = load->uri, .patience_ns = load->patience_ns, .connections = 1};
    manifest_t manifest;
    char *name = uri_target(load->uri);
    const manifest_options_t options = {.target = name, .patience_ns = load->patience_ns};
    const bool is_listed = manifest_build(&manifest, load->inputs, load->input_count, &options, err);
    free(name);
    if (!is_listed)
        return false;
    schema_t *schema = !can_be_read_again(&manifest, why, err) || !name_dumped(study, &manifest, err) ? NULL
                       : load->format
                           ? format_open(load->format, err)
                           : kept_format_or_guess(&target, &load->guess, &manifest, &study->guessed, err);
    const bool ok = schema != NULL;
    if (ok)
        snprintf(study->format, sizeof study->format, "%s", schema->name);
    study->load.guessed = study->guessed;
    schema_destroy(schema);
    manifest_free(&manifest);
    return ok;
}

/* Takes over the shard key, {st: "hashed", ts: 1} as "st:hashed,ts". A load shards an empty collection that is not
 * sharded yet. */
static bool take_key(study_t *study, bool empty, err_t *err) {
    sharding_t sharding;
    size_t used = 0;
    const bool ok = sharding_read(study->server, study->client, NULL, &sharding, err);
    if (ok && sharding.sharded)
        for (size_t i = 0; i < sharding.key.count && used < sizeof study->key; i++)
            used +=
                (size_t)snprintf(study->key + used, sizeof study->key - used, "%s%s%s", i ? "," : "",
                                 sharding.key.fields[i].path, sharding.key.fields[i].hashed ? ":hashed" : "");
    else if (ok && !sharding.hidden && !empty)
        strcpy(study->key, "none");
    study->load.shard_key = study->key[0] ? study->key : NULL;
    sharding_free(&sharding);
    return ok;
}

static bool take_settings(study_t *study, err_t *err) {
    load_spec_t *load = &study->load;
    collection_t place;
    bool ok = collection_look(study->server, study->client, &place, err);
    if (ok && place.exists && !load->create)
        ok = (load->create = study->create = collection_options_read(study->server, study->client, err));
    if (ok && place.exists && !load->shard_key && server_facts(study->server)->kind == SERVER_ROUTER)
        ok = take_key(study, place.empty, err);
    return ok;
}

/* The index of the `_id` comes with the collection. One that removes documents by their age would remove some of the
 * scratch collection, too. */
static bool take_index(study_t *study, const bson_t *listed, err_t *err) {
    const char *name = bson_read_text(listed, "name");
    bson_t index = BSON_INITIALIZER;
    if (strcmp(name, "_id_") == 0 || bson_has_field(listed, "clustered"))
        return true;
    if (bson_has_field(listed, "expireAfterSeconds")) {
        log_warn("%s has an index that removes documents by their age, %s: the drill is without it",
                 study->namespace, name);
        return true;
    }
    if (!GROW(study->indexes, study->index_room, study->index_count + 1, err))
        return false;
    bson_copy_to_excluding_noinit(listed, &index, "v", NULL);
    study->indexes[study->index_count++] = ejson_print(&index, true, NULL);
    bson_destroy(&index);
    return true;
}

static bool take_indexes(study_t *study, err_t *err) {
    bson_t reply, index;
    bson_iter_t at;
    bool ok = collection_ask_indexes(study->server, study->client, &reply, err) ||
              server_code(&reply) == CODE_NAMESPACE_NOT_FOUND;
    if (ok && bson_read_batch(&reply, &at))
        while (ok && bson_read_next(&at, &index))
            ok = take_index(study, &index, err);
    bson_destroy(&reply);
    study->load.indexes = study->indexes;
    study->load.index_count = study->index_count;
    return ok;
}

/* ---- what dead studies have left ---- */

/* By the last load into the collection. */
static bool is_dead(const study_t *study, const char *loads, bool *dead, err_t *err) {
    char here[HOST_PROCESSES];
    bson_t reply, load;
    bson_iter_t at;
    bson_t *command =
        BCON_NEW("find", BCON_UTF8(loads), "sort", "{", "_id", BCON_INT32(-1), "}", "limit", BCON_INT32(1),
                 "projection", "{", "process", BCON_BOOL(true), "processes", BCON_BOOL(true), "silent", "{",
                 "$subtract", "[", BCON_UTF8("$$NOW"), BCON_UTF8("$seen"), "]", "}", "}");
    host_processes(here);
    const bool ok = server_command(study->server, study->client, server_database(study->server), command,
                                   false, &reply, err);
    *dead = ok && bson_read_batch(&reply, &at) && bson_read_next(&at, &load) &&
            (store_mongo_is_gone(&load, here) || bson_read_number(&load, "silent") > SILENT_MS);
    bson_destroy(command);
    bson_destroy(&reply);
    return ok;
}

static void clear_zones(const study_t *study) {
    restored_t restored;
    err_t err;
    if (server_facts(study->server)->kind == SERVER_ROUTER &&
        !cluster_restore(study->server, study->client, NULL, &restored, &err) && !restored.hidden)
        log_warn("%s: %s", server_namespace(study->server), err.text);
}

static bool drop_left(const study_t *study, const char *tail, const char *id, err_t *err) {
    study_t left = {.given = study->given};
    bool ok = join(&left, tail, id, err);
    if (ok) {
        log_note("%s is left from a study that was killed: dropped", server_namespace(left.server));
        clear_zones(&left);
        ok = study_drop(&left, err);
    }
    disconnect(&left);
    study_free(&left);
    return ok;
}

/* Each study is known by its catalog: a collection of nearly this name without one is a user's. */
static bool drop_dead(const study_t *study, const char *tail, err_t *err) {
    const char *own = server_collection(study->server);
    const int length = (int)strlen(own) - ID;
    char from[300], to[300];
    bson_t reply, listed;
    bson_iter_t at;
    snprintf(from, sizeof from, "%.*s", length, own);
    snprintf(to, sizeof to, "%.*s/", length - 1, own); /* what comes after the dot */
    bson_t *command = BCON_NEW("listCollections", BCON_INT32(1), "filter", "{", "name", "{", "$gte",
                               BCON_UTF8(from), "$lt", BCON_UTF8(to), "}", "}");
    bool ok = server_command(study->server, study->client, server_database(study->server), command, false,
                             &reply, err),
         dead;
    if (ok && bson_read_batch(&reply, &at))
        while (ok && bson_read_next(&at, &listed)) {
            const char *name = bson_read_text(&listed, "name"), *id = name + length;
            if (strspn(id, "0123456789abcdef") == ID && strcmp(id + ID, OWN_LOADS) == 0)
                ok = is_dead(study, name, &dead, err) && (!dead || drop_left(study, tail, id, err));
        }
    bson_destroy(command);
    bson_destroy(&reply);
    return ok;
}

/* ---- from beginning to end ---- */

bool study_open(study_t *study, const load_spec_t *load, const char *tail, const char *why, bool indexes,
                err_t *err) {
    *study = (study_t){.given = load, .load = *load};
    bool ok = find_format(study, why, err) && connect_to(study, load->uri, err);
    if (ok) {
        snprintf(study->namespace, sizeof study->namespace, "%s", server_namespace(study->server));
        snprintf(study->where, sizeof study->where, "%s", server_where(study->server));
        snprintf(study->version, sizeof study->version, "%s", server_facts(study->server)->version);
        ok = take_settings(study, err) && (!indexes || load->index_count || take_indexes(study, err));
    }
    disconnect(study);
    return ok && study_open_scratch(study, tail, err);
}

bool study_open_scratch(study_t *study, const char *tail, err_t *err) {
    char id[25];
    bson_oid_t drawn;
    bson_oid_init(&drawn, NULL);
    bson_oid_to_string(&drawn, id);
    if (!join(study, tail, id + sizeof id - 1 - ID, err) || !drop_dead(study, tail, err)) {
        disconnect(study);
        return false;
    }
    study->load.uri = study->place;
    snprintf(study->collection, sizeof study->collection, "%s", server_namespace(study->server));
    return true;
}

bool study_drop(study_t *study, err_t *err) {
    return collection_drop(study->server, study->client, err);
}

bool study_checkpoint(study_t *study) {
    bson_error_t error;
    if (study->no_checkpoints)
        return false;
    bson_t *command = BCON_NEW("fsync", BCON_INT32(1));
    bool ok = mongoc_client_command_simple(study->client, "admin", command, NULL, NULL, &error);
    bson_destroy(command);
    study->no_checkpoints = !ok;
    if (!ok)
        log_detail("no checkpoints between trials: %s", error.message);
    return ok;
}

bool study_close(study_t *study, bool ok, err_t *err) {
    enum { TRIES = 3 };
    err_t closing;
    bool dropped = !study->server || study_drop(study, &closing);
    /* after a signal, a server that does not answer soon is given up; but a busy cluster needs time for a drop */
    for (int i = 1; !dropped && stop_signal() && i < TRIES; i++) {
        server_clean_up(study->server);
        dropped = study_drop(study, &closing);
    }
    if (!dropped)
        err_where(&closing,
                  "%s and its catalog are still there, and the next study of this target drops them",
                  study->collection);
    if (!dropped && ok)
        *err = closing;
    else if (!dropped)
        log_warn("%s", closing.text);
    disconnect(study);
    return ok && dropped;
}

void study_free(study_t *study) {
    while (study->index_count)
        free(study->indexes[--study->index_count]);
    free(study->indexes);
    while (study->input_count)
        free(study->inputs[--study->input_count]);
    free(study->inputs);
    free(study->place);
    free(study->guessed);
    free(study->create);
}

/* ---- samples ---- */

load_spec_t study_sample(const load_spec_t *setting, uint64_t records) {
    load_spec_t load = *setting;
    load.trial = load.counts_rejects = true;
    load.limit = records;
    load.max_rejects = UINT64_MAX;
    load.max_rejects_percent = -1;
    return load;
}

bool study_judge_sample(study_t *study, const counts_t *counts, const char *what, err_t *err) {
    const unsigned long long read = counts->read, rejected = counts->of[FATE_REJECTED],
                             filtered = counts->of[FATE_FILTERED];
    if (rejected && !study->told_rejects)
        log_warn(
            "%llu of %llu record%s of a sample %s rejected, and left out of it; `tipple parse` shows why",
            rejected, read, units_s(read), rejected == 1 ? "is" : "are");
    study->told_rejects = study->told_rejects || rejected;
    return counts->of[FATE_LOADED] ||
           err_set(
               err, STATUS_USAGE,
               "nothing can be %s: of %llu record%s of the sample no document came out (%llu were rejected, "
               "%llu filtered)",
               what, read, units_s(read), rejected, filtered);
}
