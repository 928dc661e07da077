/* Inputs out of the catalog, with their documents: those that have changed, with --reload-changed, and what an earlier
 * removal has left. */
#include "base/log.h"
#include "base/numbers.h"
#include "load/forget/entry_documents.h"
#include "load/run/job.h"

enum { NOTES = 3 };

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

static void tell_own_ids(const job_t *job, const entry_t *entry) {
    log_note("%s has changed since it was loaded, and is loaded again; documents that only its old content "
             "makes stay in the collection (`tipple verify` names them)%s",
             entry->path, job->schema->id->kept ? "; records without an _id are then there twice" : "");
}

/* A lease is waited once for all of them. */
static void tell_documents(const job_t *job, const removed_t *inputs, size_t count) {
    const long long seconds = job->lease_ms / 1000;
    size_t told = 0;
    for (size_t i = 0; i < count; i++)
        if (inputs[i].documents && told++ < NOTES)
            log_note("%s has changed since it was loaded: its documents are removed, which takes %lld s at "
                     "least, and it is loaded again",
                     inputs[i].entry->path, seconds);
    if (told > NOTES)
        log_note("... and %zu more changed file%s, in the same %lld s", told - NOTES, units_s(told - NOTES),
                 seconds);
}

/* Not before it is certain: another load may work on one of them. */
static void tell(void *context) {
    job_t *job = context;
    job->touched = true;
    for (size_t i = 0; i < job->removed_count; i++)
        if (job->schema->id && job->removed[i].read)
            tell_own_ids(job, job->removed[i].entry);
    tell_documents(job, job->removed, job->removed_count);
}

static removal_t removal_of(job_t *job) {
    return (removal_t){
        .others = job_others(job, job->lease_ms), .begins = tell, .look = look, .remove = remove_documents};
}

bool job_may_remove_inputs(const job_t *job, err_t *err) {
    const entry_place_t place = {job->server, job->client, job->settings.uuid};
    return job->schema->id || entry_documents_may_remove(&place, err);
}

bool job_remove_inputs(job_t *job, removed_t *inputs, size_t count, err_t *err) {
    const removal_t removal = removal_of(job);
    bool documents = false;
    for (size_t i = 0; i < count; i++)
        documents |= inputs[i].documents = inputs[i].read && !job->schema->id;
    if (!count)
        return true;
    if (count == 1)
        step_change(&job->step, "removing %s%s", inputs->entry->path, documents ? " with its documents" : "");
    else
        step_change(&job->step, "removing %zu inputs%s", count, documents ? " with their documents" : "");
    job->removed = inputs;
    job->removed_count = count;
    const bool ok = (!documents || job_may_remove_inputs(job, err)) &&
                    catalog_remove(job->store, inputs, count, &removal, err);
    job->removed = NULL;
    job->removed_count = 0;
    return ok;
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

bool job_finish_removals(job_t *job, err_t *err) {
    const removal_t removal = removal_of(job);
    if (!job->registration.remains)
        return true;
    log_note("documents of inputs that were taken out of the catalog are still there: they are removed, "
             "which takes %lld s at least",
             (long long)(job->lease_ms / 1000));
    return catalog_finish_removals(job->store, &removal, err);
}
