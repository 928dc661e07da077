/* late_misfits: inputs that a feeder finds to be bad: they could not be looked at before, or are damaged, or have changed. */
#include "base/log.h"
#include "base/numbers.h"
#include "load/job/job.h"

#include <stdio.h>
#include <string.h>

/* Parts of a file follow one another and are misfits together. */
static bool is_known(const misfits_t *skipped, const load_file_t *file) {
    for (size_t i = 0; i < skipped->count; i++)
        if (strcmp(skipped->items[i].name, file->input->name) == 0)
            return true;
    return false;
}

/* Where order decides, nothing was taken yet of files that come later in the catalog; that thread does not hand them out. */
static bool add_waiting(const job_t *job, const load_file_t *misfit, misfits_t *found, err_t *err) {
    err_t why;
    bool ok = true;
    for (size_t i = 0; ok && job->existing == EXISTING_REPLACE && i < job->file_count; i++) {
        const load_file_t *file = &job->files[i];
        if (file->ordinal <= misfit->ordinal || (i && file[-1].input == file->input))
            continue;
        misfits_wait(file->input->name, misfit->input->name, &why);
        if ((ok = misfits_add(found, file->input->name, why.text, 0, err)))
            found->items[found->count - 1].waits = true;
    }
    return ok;
}

bool job_skip_misfit(void *context, load_file_t *file, err_t *err) {
    job_t *job = context;
    misfits_t *skipped = &job->result->skipped, found = {.items = NULL};
    err_t why = *err;
    if (!job->spec->skip_bad_files ||
        (file->changed && job->spec->reload_changed)) /* its documents are removed, and it is loaded again */
        return false;
    if (is_known(skipped, file))
        return true;
    if (file->begun)
        err_add(&why, "; what was read of it before is loaded, and the rest is missing");
    bool ok = misfits_add(&found, file->input->name, why.text, 0, err) && add_waiting(job, file, &found, err);
    /* else none is left */
    ok = ok && skipped->count - job->result->skipped_before + found.count < job->manifest.count &&
         misfits_move(&found, skipped, err);
    misfits_free(&found);
    return ok;
}

/* In how many inputs was something handed out? And which one ended the load? */
static size_t count_begun(const job_t *job, const load_file_t **misfit) {
    const load_file_t *last = NULL;
    size_t begun = 0;
    *misfit = NULL;
    for (size_t i = 0; i < job->file_count; i++) {
        const load_file_t *file = &job->files[i];
        if (file->misfit && !is_known(&job->result->skipped, file))
            *misfit = file;
        if (file->begun && !(last && last->input == file->input)) {
            last = file;
            begun++;
        }
    }
    return begun;
}

void job_tell_late_misfit(const job_t *job, err_t *err) {
    const uint64_t records = job->result->counts.loaded + job->result->counts.already_there;
    const load_file_t *misfit;
    const size_t begun = count_begun(job, &misfit);
    if (err->status != STATUS_INPUT)
        return;
    if (job->manifest.count > 1 && !job->spec->skip_bad_files)
        err_add(err, "; " MISFITS_REMEDY);
    if (!misfit || job->spec->dry_run)
        return;
    char count[UNITS_MAX], more[320] = "no record was loaded before it";
    if (records)
        snprintf(more, sizeof more, "%s record%s of %zu file%s %s loaded before it",
                 units_count(count, records), records == 1 ? "" : "s", begun, begun == 1 ? "" : "s",
                 records == 1 ? "was" : "were");
    const bool header = misfits_is_header(misfit->input->name, err->text);
    err_add(err, "; %s%.80s%s%s", header ? "it does not fit the format " : "",
            header ? job->schema->name : "", header ? ", and " : "", more);
}
