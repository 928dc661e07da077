/* shard_key: checks what must go with the shard key that a collection has or will get: unique indexes, values of records, and
 * `_id`s that the data bring. A shard key stays for good, so this is checked before anything is touched. */
#include "base/document.h"
#include "base/log.h"
#include "base/numbers.h"
#include "format/record/record.h"
#include "load/plan/inputs.h"
#include "load/target/target.h"
#include "server/bson_read.h"
#include "server/cluster.h"

#include <stdlib.h>
#include <string.h>

/* ---- `_id`s ----
 *
 * If `_id`s are the data's own, two records may have the same one. Servers notice that only if the shard key brings both to one
 * shard. A collection may be sharded by a load, or by a user before or during it, and its shard key may get more fields. So
 * this is checked before the first byte, and each time before anything counts as done. */

static bool check_field(const plan_t *plan, const char *path, err_t *err) {
    const own_id_t *id = plan->schema->id;
    if (!own_id_decides(id, path, err))
        return false;
    if (plan->existing == EXISTING_REJECT || !id->kept || strcmp(path, "_id") == 0)
        return true;
    return err_set(err, STATUS_USAGE,
                   "--existing %s does not go with '%s' in the shard key: two documents with one _id could "
                   "be on two shards, and %s; use _id as the shard key",
                   existing_names[plan->existing], path,
                   plan->existing == EXISTING_REPLACE ? "only one of them would be replaced"
                                                      : "both would be kept");
}

bool plan_check_key_of_ids(const plan_t *plan, const shardkey_t *key, err_t *err) {
    for (size_t i = 0; plan->schema->id && i < key->count; i++)
        if (!check_field(plan, key->fields[i].path, err))
            return false;
    return true;
}

/* True if any shard key will do: documents of a dump may lie wherever they lay before. */
static bool any_key_will_do(const plan_t *plan) {
    return plan->schema->id->kept && plan->existing == EXISTING_REJECT;
}

static bool check_hidden(const target_t *target, err_t *err) {
    bool sharded;
    if (!sharding_is_any(target->server, target->client, &sharded, err))
        return false;
    return !sharded || err_set(err, STATUS_USAGE,
                               "%s is sharded, and this user may not read by which key: if that is not made "
                               "of the _id, two records with one _id could be on two shards, and nobody "
                               "would notice. The role clusterMonitor has what it takes",
                               server_namespace(target->server));
}

static bool check_now(const target_t *target, const sharding_t *sharding, err_t *err) {
    if (!sharding->sharded || plan_check_key_of_ids(target->plan, &sharding->key, err))
        return true;
    const err_t why = *err;
    char *key = ejson_print(&sharding->key.spec, true, NULL);
    err_set(err, why.status, "%s is sharded on %s: %.1000s", server_namespace(target->server),
            key ? key : "...", why.text);
    free(key);
    return false;
}

bool target_check_unique_ids(const target_t *target, err_t *err) {
    sharding_t sharding;
    if (!target->plan->schema->id || any_key_will_do(target->plan) || !target->place.exists ||
        server_facts(target->server)->kind != SERVER_ROUTER)
        return true;
    const bool ok = sharding_read(target->server, target->client, target->place.uuid, &sharding, err) &&
                    (sharding.hidden ? check_hidden(target, err) : check_now(target, &sharding, err));
    sharding_free(&sharding);
    return ok;
}

/* ---- unique indexes ----
 *
 * A shard sees only its own duplicates. So servers build a unique index of a sharded collection only if it begins with the
 * shard key, or with the `_id`. They would say so only when the index is built, after the load and after --drop. */

/* True if the index begins with `_id` or the fields of the key. Like servers, compares names only: no order, no kind. */
static bool fits(const index_spec_t *index, const shardkey_t *key) {
    bson_iter_t at;
    size_t same = 0;
    bool more = bson_iter_init(&at, &index->keys) && bson_iter_next(&at);
    if (more && strcmp(bson_iter_key(&at), "_id") == 0)
        return true;
    for (; more && same < key->count && strcmp(bson_iter_key(&at), key->fields[same].path) == 0; same++)
        more = bson_iter_next(&at);
    return same == key->count;
}

static bool check_unique_indexes(const target_t *target, const shardkey_t *key, bool present, err_t *err) {
    for (size_t i = 0; i < target->plan->index_count; i++) {
        const index_spec_t *index = &target->plan->indexes[i];
        if (!bson_read_true(&index->options, "unique") || fits(index, key))
            continue;
        char *text = ejson_print(&key->spec, true, NULL);
        err_set(err, STATUS_USAGE,
                "the unique index %s cannot be built where %s is sharded on %s: such an index has to begin "
                "with the shard key, or with _id. %s --shard-key the first fields of the index, or none; or "
                "%s. No record was loaded",
                index->name, server_namespace(target->server), text ? text : "...",
                present ? "The key stays until --drop: with that, give" : "Give",
                plan_has_asked(target->plan, index) ? "take --index without ;unique" : PLAN_NO_METADATA);
        free(text);
        return false;
    }
    return true;
}

/* ---- the index of the key ----
 *
 * A collection gets an index of its shard key when it is sharded, under the name that servers give it. A requested index of the
 * same fields that is unique, or has another name, could not be built after that. So it is built first, and servers use it for
 * the shard key. If they do not accept it, they refuse it when indexes are built, after the load. */

/* True if servers accept the index for the shard key: it must have all documents, in the order of their bytes. */
static bool may_be_of_key(const index_spec_t *index) {
    const bool simple = !bson_has_field(&index->options, "collation") ||
                        strcmp(bson_read_text(&index->options, "collation.locale"), "simple") == 0;
    return simple && !bson_read_true(&index->options, "sparse") &&
           !bson_read_true(&index->options, "hidden") &&
           !bson_has_field(&index->options, "partialFilterExpression");
}

static bool refuse_expiry(const index_spec_t *index, err_t *err) {
    return err_set(err, STATUS_USAGE,
                   "the index %s has the fields of the shard key, so that it is there before the load, and "
                   "would remove documents while they are loaded: leave expireAfterSeconds out, and set that "
                   "after the load (collMod). Nothing was touched",
                   index->name);
}

static bool is_of_key(const shardkey_t *key, const index_spec_t *index) {
    return collection_same_keys(&index->keys, &key->spec);
}

static bool check_key_index(const plan_t *plan, err_t *err) {
    const shardkey_t *key = &plan->shard_key;
    bool ok = true;
    for (size_t i = 0; ok && !key->is_id && i < plan->index_count; i++)
        ok = !bson_has_field(&plan->indexes[i].options, "expireAfterSeconds") ||
             !is_of_key(key, &plan->indexes[i]) || refuse_expiry(&plan->indexes[i], err);
    return ok;
}

bool target_build_key_index(const target_t *target, const shardkey_t *key, err_t *err) {
    const plan_t *plan = target->plan;
    collection_built_t ignored;
    bool ok = true;
    for (size_t i = 0; ok && !key->is_id && i < plan->index_count; i++)
        if (is_of_key(key, &plan->indexes[i]) && may_be_of_key(&plan->indexes[i]))
            ok = collection_build_index(target->server, target->client, &plan->indexes[i], &ignored, err);
    return ok;
}

/* ---- values ----
 *
 * If most records have no value for a field of the shard key, most documents go to one shard. So a sample of records is
 * checked. */

static size_t count_without(const sample_t *sample, const char *path) {
    bson_iter_t at;
    size_t count = 0;
    for (size_t i = 0; i < sample->count; i++)
        count += bson_iter_init_find(&at, sample->keys[i], path) && BSON_ITER_HOLDS_NULL(&at);
    return count;
}

/* Refuses a field without values if records bring their own fields, since its name may be wrong. A column that a format names
 * may be empty for a while. */
static bool judge_field(const plan_t *plan, const char *path, size_t without, size_t looked_at, err_t *err) {
    char none[UNITS_MAX], all[UNITS_MAX];
    units_count(none, without);
    units_count(all, looked_at);
    if (without == looked_at && schema_any_fields(plan->schema))
        return err_set(err, STATUS_USAGE,
                       "--shard-key %s: none of the %s records that were looked at has a value of '%s', and "
                       "all documents would go to one shard. Check the name; or shard the empty collection "
                       "yourself (sh.shardCollection), and load into that. Nothing was touched",
                       plan->spec->shard_key, all, path);
    if (without > looked_at / 2)
        log_warn("--shard-key %s: %s of the %s records that were looked at have no value of '%s': their "
                 "documents may all go to one shard, and a shard key stays for good",
                 plan->spec->shard_key, none, all, path);
    return true;
}

static bool check_key_values(const plan_t *plan, err_t *err) {
    shardkey_t key = plan->shard_key;
    sample_t sample = {NULL, 0};
    for (size_t i = 0; i < key.count; i++)
        key.fields[i].hashed = false; /* the values themselves */
    bool ok = key.is_id || (key.count == 1 && strcmp(key.fields[0].path, "_id") == 0) ||
              sample_take(plan->schema, &plan->manifest, &key, &sample, err);
    for (size_t i = 0; ok && sample.count && i < key.count; i++)
        ok = strcmp(key.fields[i].path, "_id") == 0 ||
             judge_field(plan, key.fields[i].path, count_without(&sample, key.fields[i].path), sample.count,
                         err);
    sample_free(&sample);
    return ok;
}

/* ---- all of it ---- */

bool target_check_new_key(const target_t *target, err_t *err) {
    return check_unique_indexes(target, &target->plan->shard_key, false, err) &&
           check_key_index(target->plan, err) &&
           (!target->plan->spec->shard_key || check_key_values(target->plan, err));
}

static bool refuse_key(const target_t *target, const shardkey_t *present, err_t *err) {
    char *text = ejson_print(&present->spec, true, NULL);
    err_set(err, STATUS_USAGE,
            "%s is sharded on %s already, not on --shard-key %s; leave the option out, or --drop the "
            "collection",
            server_namespace(target->server), text ? text : "...", target->plan->spec->shard_key);
    free(text);
    return false;
}

bool target_check_present_key(const target_t *target, err_t *err) {
    const plan_t *plan = target->plan;
    sharding_t sharding;
    bool ok = sharding_read(target->server, target->client, NULL, &sharding, err);
    if (ok && sharding.sharded) {
        const bool same = !plan->one_shard && collection_same_keys(&sharding.key.spec, &plan->shard_key.spec);
        ok = (same || !plan->spec->shard_key || refuse_key(target, &sharding.key, err)) &&
             check_unique_indexes(target, &sharding.key, true, err);
    }
    sharding_free(&sharding);
    return ok;
}
