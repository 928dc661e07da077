#include "study/supplies.h"
#include "base/log.h"
#include "base/numbers.h"
#include "format/format.h"
#include "input/manifest.h"
#include "load/before/kept_format.h"
#include "server/cluster.h"

#include <stdio.h>
#include <string.h>

static bool can_be_read_again(const manifest_t *manifest, const char *why, err_t *err) {
    for (size_t i = 0; i < manifest->count; i++)
        if (manifest->files[i].kind == INPUT_STREAM)
            return err_set(err, STATUS_USAGE, "%s can be read once only, and %s: name a file",
                           strcmp(manifest->files[i].path, "-") == 0 ? "stdin" : manifest->files[i].name,
                           why);
    return true;
}

schema_t *supplies_find_format(const load_spec_t *load, const char *why, char **guessed, err_t *err) {
    const manifest_options_t options = {.input_name = NULL};
    const server_options_t target = {.uri = load->uri, .patience_ns = load->patience_ns, .connections = 1};
    manifest_t manifest;
    *guessed = NULL;
    if (!manifest_build(&manifest, load->inputs, load->input_count, &options, err))
        return NULL;
    schema_t *schema = !can_be_read_again(&manifest, why, err) ? NULL
                       : load->format                          ? format_open(load->format, err)
                                      : kept_format_or_guess(&target, &load->guess, &manifest, guessed, err);
    manifest_free(&manifest);
    return schema;
}

/* Writes {st: "hashed", ts: 1} as "st:hashed,ts". */
static void spell_key(const shardkey_t *key, char out[512]) {
    size_t used = 0;
    for (size_t i = 0; i < key->count && used < 512; i++)
        used += (size_t)snprintf(out + used, 512 - used, "%s%s%s", i ? "," : "", key->fields[i].path,
                                 key->fields[i].hashed ? ":hashed" : "");
}

static bool look_at_key(server_t *server, mongoc_client_t *client, load_spec_t *load, char key[512],
                        err_t *err) {
    sharding_t sharding;
    const bool ok = sharding_read(server, client, NULL, &sharding, err);
    if (ok && sharding.sharded)
        spell_key(&sharding.key, key);
    else if (ok && !sharding.hidden)
        snprintf(key, 512, "none");
    if (ok && !sharding.hidden)
        load->shard_key = key;
    sharding_free(&sharding);
    return ok;
}

bool supplies_like_target(server_t *server, mongoc_client_t *client, load_spec_t *load,
                          target_settings_t *own, err_t *err) {
    collection_t place;
    bool ok = collection_look(server, client, &place, err);
    if (ok && place.exists && !load->create) {
        load->create = own->create = collection_options_read(server, client, err);
        ok = own->create != NULL;
    }
    /* a load shards an empty collection that is not sharded yet */
    if (ok && place.exists && !load->shard_key && server_facts(server)->kind == SERVER_ROUTER) {
        ok = look_at_key(server, client, load, own->key, err);
        if (ok && load->shard_key && place.empty && strcmp(load->shard_key, "none") == 0)
            load->shard_key = NULL;
    }
    return ok;
}

bool supplies_tell_rejects(const counts_t *counts) {
    if (!counts->rejected)
        return false;
    log_warn("%llu of %llu record%s of a sample %s rejected, and left out of it; `tipple parse` shows why",
             (unsigned long long)counts->rejected, (unsigned long long)counts->read, units_s(counts->read),
             counts->rejected == 1 ? "is" : "are");
    return true;
}

void supplies_make_sample(load_spec_t *load, uint64_t records) {
    load->trial = true;
    load->limit = records;
    load->watch_flushes = false;
    load->counts_rejects = true;
    load->max_rejects = UINT64_MAX;
    load->max_rejects_percent = -1;
}

bool supplies_made_documents(const counts_t *counts, const char *what, err_t *err) {
    return counts->loaded ||
           err_set(
               err, STATUS_USAGE,
               "nothing can be %s: of %llu record%s of the sample no document came out (%llu were rejected, "
               "%llu filtered)",
               what, (unsigned long long)counts->read, units_s(counts->read),
               (unsigned long long)counts->rejected, (unsigned long long)counts->filtered);
}
