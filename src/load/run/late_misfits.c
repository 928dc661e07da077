/* late_misfits: inputs that a feeder finds to be bad: they could not be looked at before, or are damaged, or have changed. */
#include "base/log.h"
#include "base/numbers.h"
#include "load/run/job.h"

#include <stdio.h>
#include <string.h>

/* Where order decides, nothing was taken yet of files that come later in the catalog; that thread does not hand them out. */
static bool add_waiting(const job_t *job, const load_file_t *misfit, misfits_t *found, err_t *err) {
    bool ok = true;
    for (size_t i = 0; ok && job->existing == EXISTING_REPLACE && i < job->file_count; i++) {
        const load_file_t *file = &job->files[i];
        const bool later = file->work ? file->ordinal > misfit->ordinal : file > misfit;
        if (later && !(i && file[-1].input == file->input))
            ok = misfits_add_waiting(found, file->input->name, misfit->input->name, 0, err);
    }
    return ok;
}

bool job_skip_misfit(void *context, load_file_t *file, err_t *err) {
    job_t *job = context;
    misfits_t *skipped = &job->result->skipped, found = {.items = NULL};
    err_t why = *err;
    /* one that has changed may be removed with its documents, and loaded again */
    bool ok = job->spec->skip_bad_files && !(file->changed && job->spec->reload_changed);
    if (file->begun)
        err_add(&why, "; what was read of it before is loaded, and the rest is missing");
    ok =
        ok && misfits_add(&found, file->input->name, why.text, 0, err) && add_waiting(job, file, &found, err);
    /* else none is left */
    ok = ok && skipped->count - job->result->skipped_before + found.count < job->manifest.count &&
         misfits_move(&found, skipped, err);
    misfits_free(&found);
    job->ended_by = ok ? job->ended_by : file;
    return ok;
}

/* In how many inputs was something handed out? */
static size_t count_begun(const job_t *job) {
    const input_file_t *last = NULL;
    size_t begun = 0;
    for (const load_file_t *file = job->files; file < job->files + job->file_count; file++)
        if (file->begun && file->input != last) {
            last = file->input;
            begun++;
        }
    return begun;
}

void job_tell_late_misfit(const job_t *job, err_t *err) {
    const uint64_t records = job->result->counts.loaded + job->result->counts.already_there;
    const load_file_t *misfit = job->ended_by;
    const size_t begun = count_begun(job);
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
