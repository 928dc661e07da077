/* plan: reads the options and the inputs of a load, and checks them against each other, in the order of target_make_plan. */
#include "base/numbers.h"
#include "base/text.h"
#include "format/record/record.h"
#include "format/schema/schema.h"
#include "load/plan/inputs.h"
#include "load/rejects/reject.h"
#include "load/target/target.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* Checks that documents have this path. */
static bool check_made(const plan_t *plan, const char *option, const char *text, const char *path,
                       err_t *err) {
    suggestion_t near;
    return strcmp(path, "_id") == 0 || schema_makes(plan->schema, path, &near) ||
           err_set(err, STATUS_USAGE, "--%s %s: the documents of the format '%s' have no key '%s'%s", option,
                   text, plan->schema->name, path, near.text);
}

/* Refuses a shard key that no document has: all would go to one shard, and a shard key stays for good. */
static bool read_shard_key(plan_t *plan, err_t *err) {
    const char *text = plan->spec->shard_key;
    const shardkey_t *key = &plan->shard_key;
    plan->one_shard = text && strcmp(text, "none") == 0;
    if (!text || plan->one_shard)
        return shardkey_parse("_id", &plan->shard_key, err);
    if (!shardkey_parse(text, &plan->shard_key, err))
        return false;
    for (size_t i = 0; i < key->count; i++) {
        schema_need(plan->schema, key->fields[i].path);
        if (!check_made(plan, "shard-key", text, key->fields[i].path, err))
            return false;
    }
    return plan_check_key_of_ids(plan, key, err);
}

/* Refuses an index on a field that no document has; not in JSON: the keys of a text index are no fields. */
static bool check_index(const plan_t *plan, const char *text, const index_spec_t *index, err_t *err) {
    bson_iter_t at;
    bool ok = true;
    if (*text == '{')
        return true;
    bson_iter_init(&at, &index->keys);
    while (ok && bson_iter_next(&at))
        ok = check_made(plan, "index", text, bson_iter_key(&at), err);
    return ok;
}

/* Refuses two different indexes of one name; the same index may be asked for twice. */
static bool check_name(const plan_t *plan, const index_spec_t *index, err_t *err) {
    for (size_t i = 0; i < plan->index_count; i++) {
        const index_spec_t *before = &plan->indexes[i];
        if (strcmp(before->name, index->name) == 0 &&
            !(bson_equal(&before->keys, &index->keys) && bson_equal(&before->options, &index->options)))
            return err_set(err, STATUS_USAGE,
                           "--index %.500s: it would have the same name, %s, as --index %.500s: give one of "
                           "them another name (;name=NAME)",
                           plan->spec->indexes[plan->index_count], index->name, plan->spec->indexes[i]);
    }
    return true;
}

static bool open_format(target_t *target, err_t *err) {
    plan_t *plan = target->plan;
    const char *format = plan->spec->format;
    const guess_options_t *options = &plan->spec->guess;
    const bool ok = format ? (plan->schema = format_open(format, err)) &&
                                 (!options->bad_value_given ||
                                  schema_set_bad_value(plan->schema, options->bad_value, err))
                           : target_find_format(target, err);
    return ok && plan_take_new_columns(plan, err);
}

/* Checks that each input fits the format, which may get new columns. Then, without --format, each --type must have its column.
 * If a skipped input has added columns, the load begins again without it. */
static bool check(plan_t *plan, err_t *err) {
    const load_spec_t *spec = plan->spec;
    const schema_t *schema = plan->schema;
    misfits_t *skipped = &plan->result->skipped;
    const check_adds_t adds = {&spec->guess, &plan->format_text, spec->limit != UINT64_MAX};
    const bool may_add = !spec->format && schema_is_named(schema) && schema->new_columns == NEW_COLUMNS_ADD;
    const size_t fields = schema->field_count, files = plan->manifest.count;
    if (!check_inputs(plan->schema, &plan->manifest, may_add ? &adds : NULL, spec->skip_bad_files, skipped,
                      err) ||
        (plan->existing == EXISTING_REPLACE && !misfits_let_wait(&plan->manifest, skipped, err)))
        return false;
    plan->result->skipped_before = skipped->count;
    const char *unused = spec->format ? NULL : guess_options_unused(&spec->guess, schema);
    if (schema->field_count > fields && plan->manifest.count < files) {
        err_set(err, STATUS_INPUT, "files that are skipped have added columns to the format");
        err->again = true;
        return false;
    }
    return !unused ||
           err_set(err, STATUS_USAGE,
                   "--type '%s': neither the format that is kept nor any input has this column", unused);
}

bool target_make_plan(target_t *target, err_t *err) {
    plan_t *plan = target->plan;
    const load_spec_t *spec = plan->spec;
    const bool listed = plan->manifest.count; /* by an earlier run of this load, with copies */
    if (spec->drop && spec->reload_missing)   /* after a drop the catalog is empty */
        return err_set(err, STATUS_USAGE,
                       "--reload-missing adds to a collection that --drop would drop; give one of them");
    if (spec->drop && spec->append)
        return err_set(err, STATUS_USAGE,
                       "--append keeps the documents that --drop would drop; give one of them");
    if (!target_find_existing(target, NULL, err) || !open_format(target, err))
        return false;
    snprintf(plan->result->format, sizeof plan->result->format, "%s", plan->schema->name);
    if (spec->filter_count &&
        !(plan->filter = filter_parse(plan->schema, spec->filters, spec->filter_count, err)))
        return false;
    if (spec->id && !own_id_set(plan->schema, spec->id, err))
        return false;
    if (!read_shard_key(plan, err))
        return false;
    for (; plan->index_count < spec->index_count; plan->index_count++) {
        if (plan->index_count == PLAN_MOST_INDEXES)
            return err_set(err, STATUS_USAGE, "--index: more than %d indexes at once", PLAN_MOST_INDEXES);
        const char *text = spec->indexes[plan->index_count];
        index_spec_t *index = &plan->indexes[plan->index_count];
        if (!collection_parse_index(text, index, err))
            return false;
        if (!check_index(plan, text, index, err) || !check_name(plan, index, err)) {
            collection_free_index(index);
            return false;
        }
    }
    if (spec->rejects && !spec->dry_run && !rejects_may_use(spec->rejects, err))
        return false;
    if (spec->retry)
        return access(spec->retry, R_OK) == 0 ||
               err_set(err, STATUS_USAGE, "the reject file %s cannot be read: %m", spec->retry);
    if (plan->filter)
        filter_need(plan->filter, plan->schema);
    for (size_t i = 0; plan->schema->id && i < plan->schema->id->count; i++)
        schema_need(plan->schema, plan->schema->id->paths[i]);
    return plan_list_inputs(plan, err) && manifest_decode(&plan->manifest, plan->schema->charset) &&
           check(plan, err) && plan_take_dumps(plan, err) && (spec->id || plan_find_id(plan, err)) &&
           plan_check_copies(plan, err) && (listed || copies_make(&plan->manifest, spec->copies, err));
}

void plan_free(plan_t *plan) {
    for (size_t i = 0; i < plan->index_count; i++)
        collection_free_index(&plan->indexes[i]);
    manifest_free(&plan->manifest);
    misfits_free(&plan->misfits);
    filter_free(plan->filter);
    shardkey_free(&plan->shard_key);
    schema_destroy(plan->schema);
    free(plan->format_text);
    free(plan->retry_options);
    text_free(&plan->left_out);
    bson_destroy(plan->dumped);
    bson_destroy(plan->options);
}
