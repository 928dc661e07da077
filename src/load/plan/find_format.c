/* The format of a load without --format: the one that its catalog keeps, or one that is guessed; and of what the `_id`s
 * are made. */
#include "base/log.h"
#include "format/record/own_id.h"
#include "format/schema/schema.h"
#include "load/plan/guess_inputs.h"
#include "load/plan/kept_format.h"
#include "load/plan/uri_target.h"
#include "load/run/job.h"
#include "server/cluster.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* What cannot even be listed: a link that leads nowhere, a file that may not be read, a broken archive. */
static bool leave_out_unlisted(job_t *job, err_t *err) {
    const manifest_t *manifest = &job->manifest;
    for (size_t i = 0; i < manifest->count; i++)
        if (manifest->files[i].fault &&
            !misfits_add(&job->misfits, manifest->files[i].name, manifest->files[i].fault, i, err))
            return false;
    return misfits_take_out(&job->misfits, &job->manifest, job->spec->skip_bad_files, &job->result->skipped,
                            NULL, err);
}

bool job_list_inputs(job_t *job, err_t *err) {
    const load_spec_t *spec = job->spec;
    if (job->manifest.count)
        return true;
    char *target = uri_target(spec->uri);
    const manifest_options_t options = {
        .input_name = spec->input_name, .pushed = spec->pushed, .target = target, .keeps_bad = true};
    const bool ok = manifest_build(&job->manifest, spec->inputs, spec->input_count, &options, err);
    free(target);
    job->manifest.passes_bad = spec->skip_bad_files;
    return ok && leave_out_unlisted(job, err);
}

/* The values of the shard key decide where a document is, so that each header must have them. */
static bool need_shard_key(job_t *job, err_t *err) {
    sharding_t sharding;
    if (server_facts(job->server)->kind != SERVER_ROUTER)
        return true;
    const bool ok = sharding_read(job->server, job->client, NULL, &sharding, err);
    for (size_t i = 0; ok && sharding.sharded && i < sharding.key.count; i++)
        schema_need(job->schema, sharding.key.fields[i].path);
    sharding_free(&sharding);
    return ok;
}

static bool find_kept(job_t *job, err_t *err) {
    if (!job_connect(job, err) || !store_mongo_need(&job->store, job->server, job->client, err))
        return false;
    if (job->spec->drop)
        return true;
    if (job->spec->retry && !job_may_retry(job, err))
        return false;
    return kept_format(job->store, server_namespace(job->server), job->spec->retry != NULL, &job->schema,
                       &job->format_text, &job->widened, err) &&
           (!job->schema || need_shard_key(job, err));
}

/* What was guessed before this load. A format that is kept stays; then it has to be the same. */
static bool take_guessed(job_t *job, err_t *err) {
    const char *text = job->spec->guessed;
    schema_t *schema = schema_parse_guessed(text, "the format that was guessed", err);
    if (!schema)
        return false;
    if (!job->schema) {
        job->schema = schema;
        return (job->format_text = strdup(text)) || err_memory(err, strlen(text));
    }
    const bool same = strcmp(schema->digest, job->schema->digest) == 0;
    schema_destroy(schema);
    return same || err_set(err, STATUS_USAGE,
                           "the format that is given is not the format that was kept when %s was first "
                           "loaded: " GUESS_ANEW,
                           server_namespace(job->server));
}

bool job_find_format(job_t *job, err_t *err) {
    const load_spec_t *spec = job->spec;
    guessed_t guessed = {.yaml = NULL};
    if ((!spec->retry && !job_list_inputs(job, err)) || !find_kept(job, err))
        return false;
    const bool kept = job->schema;
    if (kept)
        log_detail("no --format: by the one that the catalog keeps:\n%s", job->format_text);
    if (spec->guessed && !take_guessed(job, err))
        return false;
    if (job->schema)
        return kept_format_agrees(job->schema, job->format_text, &spec->guess,
                                  kept ? NULL : "the format that is given", server_namespace(job->server),
                                  err);
    const bool ok = (job->schema = guess_inputs_open(&job->manifest, &spec->guess, &guessed, err)) != NULL;
    job->format_text = guessed.yaml;
    guessed.yaml = NULL;
    guessed_free(&guessed);
    job->result->guessed = ok ? strdup(job->format_text) : NULL; /* for want of memory it is not named */
    return ok;
}

bool job_find_id(job_t *job, err_t *err) {
    bool seen = false, bring = false;
    if (!schema_any_fields(job->schema))
        return true;
    if (!guess_inputs_bring_id(&job->manifest, job->schema, &seen, &bring, err))
        return false;
    if (bring)
        (job->spec->trial ? log_detail : log_note)("the documents bring their own _id, and keep it");
    /* where no document was seen, both kinds are taken */
    return own_id_set(job->schema, bring || !seen ? "_id" : "", err);
}
