/* Finds the format of a load without --format, and keeps its columns and those of the inputs in step. */
#include "base/chars.h"
#include "base/clock.h"
#include "base/document.h"
#include "base/log.h"
#include "base/threads.h"
#include "catalog/catalog.h"
#include "catalog/store/store_mongo.h"
#include "format/guess/guess.h"
#include "format/record/record.h"
#include "format/records.h"
#include "format/schema/schema.h"
#include "input/source.h"
#include "load/plan/format.h"
#include "load/plan/inputs.h"
#include "load/plan/peek.h"
#include "load/spec/load_spec.h"
#include "load/target/target.h"
#include "server/cluster.h"

#include <bson/bson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- the format of a load without --format ---- */

/* Takes out inputs that cannot even be listed: a link that leads nowhere, a file that may not be read, a broken archive. */
static bool leave_out_unlisted(plan_t *plan, err_t *err) {
    const manifest_t *manifest = &plan->manifest;
    for (size_t i = 0; i < manifest->count; i++)
        if (manifest->files[i].fault &&
            !misfits_add(&plan->misfits, manifest->files[i].name, manifest->files[i].fault, i, err))
            return false;
    return misfits_take_out(&plan->misfits, &plan->manifest, plan->spec->skip_bad_files,
                            &plan->result->skipped, NULL, err);
}

bool plan_list_inputs(plan_t *plan, err_t *err) {
    const load_spec_t *spec = plan->spec;
    if (plan->manifest.count)
        return true;
    char *target = uri_target(spec->uri);
    const manifest_options_t options = {.input_name = spec->input_name,
                                        .pushed = spec->pushed,
                                        .target = target,
                                        .keeps_bad = true,
                                        .patience_ns = spec->patience_ns,
                                        .keep = spec->memory / PEEK_MEMORY_SHARE};
    const bool ok = manifest_build(&plan->manifest, spec->inputs, spec->input_count, &options, err);
    free(target);
    plan->manifest.passes_bad = spec->skip_bad_files;
    return ok && leave_out_unlisted(plan, err);
}

/* Requires the fields of the shard key of each header, since they decide where a document is. */
static bool need_shard_key(target_t *target, err_t *err) {
    sharding_t sharding;
    if (server_facts(target->server)->kind != SERVER_ROUTER)
        return true;
    const bool ok = sharding_read(target->server, target->client, NULL, &sharding, err);
    for (size_t i = 0; ok && sharding.sharded && i < sharding.key.count; i++)
        schema_need(target->plan->schema, sharding.key.fields[i].path);
    sharding_free(&sharding);
    return ok;
}

static bool find_kept(target_t *target, err_t *err) {
    plan_t *plan = target->plan;
    if (!target_connect(target, err) ||
        !store_mongo_need(&target->catalog.store, target->server, target->client, err))
        return false;
    if (plan->spec->drop)
        return true;
    if (plan->spec->retry && !target_may_retry(target, err))
        return false;
    return kept_format(target->catalog.store, server_namespace(target->server), plan->spec->retry != NULL,
                       &plan->schema, &plan->format_text, &plan->widened, err) &&
           (!plan->schema || need_shard_key(target, err));
}

/* Takes the format that was guessed before this load. If the catalog keeps a format, both must be the same. */
static bool take_guessed(target_t *target, err_t *err) {
    plan_t *plan = target->plan;
    const char *text = plan->spec->guessed;
    schema_t *schema = schema_parse_guessed(text, "the format that was guessed", err);
    if (!schema)
        return false;
    if (!plan->schema) {
        plan->schema = schema;
        return (plan->format_text = strdup(text)) || err_memory(err, strlen(text));
    }
    const bool same = strcmp(schema->digest, plan->schema->digest) == 0;
    schema_destroy(schema);
    return same || err_set(err, STATUS_USAGE,
                           "the format that is given is not the format that was kept when %s was first "
                           "loaded: " GUESS_ANEW,
                           server_namespace(target->server));
}

bool target_find_format(target_t *target, err_t *err) {
    plan_t *plan = target->plan;
    const load_spec_t *spec = plan->spec;
    guessed_t guessed = {.yaml = NULL};
    if ((!spec->retry && !plan_list_inputs(plan, err)) || !find_kept(target, err))
        return false;
    const bool kept = plan->schema;
    if (kept)
        log_detail("no --format: by the one that the catalog keeps:\n%s", plan->format_text);
    if (spec->guessed && !take_guessed(target, err))
        return false;
    if (plan->schema)
        return kept_format_agrees(plan->schema, plan->format_text, &spec->guess,
                                  kept ? NULL : "the format that is given", server_namespace(target->server),
                                  err);
    const bool ok = (plan->schema = guess_inputs_open(&plan->manifest, &spec->guess, &guessed, err)) != NULL;
    plan->format_text = guessed.yaml;
    guessed.yaml = NULL;
    guessed_free(&guessed);
    plan->result->guessed = ok ? strdup(plan->format_text) : NULL; /* out of memory: not reported */
    return ok;
}

bool plan_find_id(plan_t *plan, err_t *err) {
    bool seen = false, bring = false;
    if (!schema_any_fields(plan->schema))
        return true;
    if (!guess_inputs_bring_id(&plan->manifest, plan->schema, &seen, &bring, err))
        return false;
    if (bring)
        (plan->spec->trial ? log_detail : log_note)("the documents bring their own _id, and keep it");
    /* if no document was seen, both kinds are accepted */
    return own_id_set(plan->schema, bring || !seen ? "_id" : "", err);
}

/* ---- columns that come and go ---- */

bool plan_take_new_columns(plan_t *plan, err_t *err) {
    const load_spec_t *spec = plan->spec;
    const new_columns_t wanted = spec->new_columns;
    if (wanted && !schema_is_named(plan->schema))
        return err_set(
            err, STATUS_USAGE,
            "--new-columns is for delimited files with a header that names the columns, and the format %s is "
            "for others: leave it out",
            plan->schema->name);
    if (wanted == NEW_COLUMNS_ADD && spec->format)
        return err_set(err, STATUS_USAGE,
                       "--new-columns add is for a format that is guessed; append the field to %s, with "
                       "'optional: yes', and leave the option out",
                       spec->format);
    plan->schema->new_columns = wanted ? wanted : spec->format ? NEW_COLUMNS_IGNORE : NEW_COLUMNS_ADD;
    return true;
}

static const char *column_of(const field_t *field) {
    return field->columns.items[0].text;
}

static bool note(load_result_t *result, column_news_t news, const char *name, const char *type,
                 const char *file, err_t *err) {
    for (size_t i = 0; i < result->column_count; i++)
        if (result->columns[i].news == news && strcmp(result->columns[i].name, name) == 0) {
            result->columns[i].files++;
            return true;
        }
    if (!GROW(result->columns, result->column_room, result->column_count + 1, err))
        return false;
    column_result_t *one = &result->columns[result->column_count++];
    *one = (column_result_t){news, strdup(name), type, strdup(file), 1};
    return (one->name && one->file) || err_memory(err, strlen(name));
}

/* Notes the columns that a header lacks, and those that are left out. If one is gone and one is new, it may have been renamed. */
bool plan_note_header(plan_t *plan, const active_piece_t *piece, const dialect_t *dialect,
                      const text_t *unknown, err_t *err) {
    const schema_t *schema = plan->schema;
    const char *input = piece->input->name, *gone = NULL, *came = NULL;
    size_t gone_count = 0, came_count = 0;
    bool ok = true;
    for (size_t i = 0; ok && schema->guessed && i < schema->field_count; i++) {
        const field_t *field = &schema->fields[i];
        const bool has = dialect->column_of[i] != DIALECT_NO_FIELD,
                   fresh = i + plan->added_count >= schema->field_count;
        if (has && fresh && ++came_count)
            came = column_of(field);
        if (has || fresh || (field->optional && !field->added))
            continue;
        gone = column_of(field);
        gone_count++;
        ok = note(plan->result, COLUMN_MISSING, gone, NULL, input, err);
    }
    for (const char *name = NULL; ok && (name = text_next(unknown, name));) {
        came = name;
        came_count++;
        ok = note(plan->result, COLUMN_LEFT_OUT, *name ? name : "(no name)", NULL, input, err);
    }
    if (gone_count == 1 && came_count == 1)
        log_warn(
            "%s: the column '%s' is gone and '%s' is new: if that is another name for the same values, the "
            "documents of this file do not have them under the old key",
            input, gone, came);
    return ok;
}

bool target_leave_out_columns(target_t *target, const active_piece_t *piece, const text_t *names,
                              err_t *err) {
    plan_t *plan = target->plan;
    const char *input = piece->known_as ? piece->known_as : piece->input->name;
    bool several;
    if (plan->left_out.length == names->length &&
        memcmp(plan->left_out.bytes, names->bytes, names->length) == 0)
        return true;
    if (!target_bind(target, err) ||
        !catalog_leave_out(target->catalog.store, &target->settings, names, input, &several, err))
        return false;
    plan->left_out.length = 0;
    if (several)
        text_append_bytes(&plan->left_out, names->bytes, names->length);
    return true;
}

/* The added fields come last, in the order of their rows. */
bool target_list_added(target_t *target, const catalog_header_t *header, err_t *err) {
    plan_t *plan = target->plan;
    schema_t *schema = plan->schema;
    const char *format = plan->spec->format;
    size_t at = schema->field_count;
    while (at && schema->fields[at - 1].added)
        at--;
    if (plan->format_text && at < schema->field_count && header->format && header->widened != plan->widened)
        return catalog_refuse_lost(&target->settings, err);
    for (size_t i = 0; i < header->column_count; i++)
        at += *header->columns[i].type != '\0';
    if (at >= schema->field_count)
        return true;
    plan->added = schema_own(schema, (schema->field_count - at) * sizeof *plan->added, err);
    for (; plan->added && at < schema->field_count; at++) {
        const field_t *field = &schema->fields[at];
        const char *name = column_of(field), *type = schema_type_name(field->type),
                   *by = *field->added ? field->added
                         : format      ? format
                                       : "";
        char *digest = schema_own(schema, sizeof schema->digest, err);
        if (!digest || !note(plan->result, COLUMN_ADDED, name, type, by, err))
            return false;
        digest[0] = '\0';
        if (format && !schema_digest_of(schema, at + 1, digest))
            return err_memory(err, sizeof schema->digest);
        plan->added[plan->added_count++] = (header_column_t){name, by, type, digest, false, clock_wall_ms()};
    }
    return plan->added;
}

/* Binds the collection before a stream is read, which could not be read again by another format; but not with a filter, which
 * may let nothing pass. */
static bool bind_streams(target_t *target, err_t *err) {
    const plan_t *plan = target->plan;
    bool streams = false;
    for (size_t i = 0; i < plan->manifest.count; i++)
        streams |= plan->manifest.files[i].kind == INPUT_STREAM;
    return !streams || !plan->format_text || plan->filter || target_bind(target, err);
}

bool target_add_columns(target_t *target, err_t *err) {
    if (!target->bound)
        return bind_streams(target, err);
    return !target->plan->added_count || catalog_widen(target->catalog.store, &target->settings, err);
}
