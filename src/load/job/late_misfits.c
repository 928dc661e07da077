/* late_misfits: inputs that could not be looked at before the load began, and do not fit when a feeder gets
 * there. */
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

bool job_skip_misfit(void *context, load_file_t *file, err_t *err) {
    job_t *job = context;
    misfits_t *skipped = &job->result->skipped;
    if (!job->spec->skip_bad_files ||
        job->existing == EXISTING_REPLACE) /* the next ones may not come before it */
        return false;
    if (is_known(skipped, file))
        return true;
    if (skipped->count - job->result->skipped_before + 1 == job->manifest.count)
        return false; /* none is left */
    log_warn("%s; skipped", err->text);
    return misfits_add(skipped, file->input->name, err->text, skipped->count, err);
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
    if (!misfit || err->status != STATUS_INPUT || job->spec->dry_run)
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
