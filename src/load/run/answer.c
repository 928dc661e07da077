/* What feeders and senders have from the catalog: answers, and what they are to know of a piece. */
#include "base/clock.h"
#include "base/text.h"
#include "load/run/job.h"

#include <stdlib.h>
#include <string.h>

static bool copy_items(void **to, const void *from, size_t count, size_t size, err_t *err) {
    free(*to);
    *to = count ? malloc(count * size) : NULL;
    if (count && !*to)
        return err_memory(err, count * size);
    if (count)
        memcpy(*to, from, count * size);
    return true;
}

static bool copy_extents(load_file_t *file, const entry_t *entry, err_t *err) {
    file->extent_count = entry->extent_count;
    return copy_items((void **)&file->extents, entry->extents, entry->extent_count, sizeof *entry->extents,
                      err);
}

static bool extend(job_t *job, asking_t *asking) {
    load_file_t *file = asking->file;
    bool ours;
    return catalog_extend(job->store, &job->ledger, clock_awake_or_not_ns(), file->work, file->epoch,
                          asking->offset, &ours, &asking->err) &&
           ours && copy_extents(file, &job->ledger.inputs[file->work->input].entry, &asking->err);
}

bool job_bind(job_t *job, err_t *err) {
    job->loading.bound = job->loading.bound || catalog_bind(job->store, &job->settings, err);
    return job->loading.bound;
}

/* What was not to be read any more: the last block is read once more, with what comes after it. */
static void count_anew(job_t *job, work_t *work, const counts_t *last) {
    job->result->files_skipped--;
    job->result->records_skipped -= last->read;
    work->read_before -= last->read;
    work->rejected_before -= last->rejected;
    rejects_format_fits(job->loading.rejects);
}

static bool keep(job_t *job, void *memory, err_t *err) {
    if (!memory)
        return true;
    if (!GROW(job->kept, job->kept_room, job->kept_count + 1, err))
        return false;
    job->kept[job->kept_count++] = memory;
    return true;
}

/* What was cut off when earlier versions of the input ended, and what a person has fixed. */
static bool copy_marks(job_t *job, load_file_t *file, const entry_t *entry, err_t *err) {
    torn_t *torn = malloc((entry->version_count + 1) * sizeof *torn);
    if (!torn)
        return err_memory(err, entry->version_count * sizeof *torn);
    file->torn_count = 0;
    for (uint32_t i = 0; i < entry->version_count; i++)
        if (entry->versions[i].torn.length)
            torn[file->torn_count++] = entry->versions[i].torn;
    /* senders may still look at those of an ownership that was lost: they go with the load */
    const bool kept = keep(job, file->torn, err) && keep(job, file->fixes, err);
    file->torn = torn;
    file->fixes = NULL;
    file->fix_count = entry->fix_count;
    return kept &&
           copy_items((void **)&file->fixes, entry->fixes, entry->fix_count, sizeof *entry->fixes, err);
}

bool job_tell_file(job_t *job, const work_t *work, load_file_t *file, err_t *err) {
    const ledger_input_t *input = &job->ledger.inputs[work->input];
    const piece_t *piece = &input->entry.pieces[work->piece];
    if (!copy_extents(file, &input->entry, err) || !copy_marks(job, file, &input->entry, err))
        return false;
    if (!done_runs_copy(&file->done_before, &piece->done))
        return err_memory(err, piece->done.count * sizeof(done_run_t));
    file->tail = piece->tail;
    /* what was read before the collection had a format may have been read by another one, and has made no document */
    file->read_by = job->began_bound ? entry_dialect(&input->entry, job->loading.generation) : 0;
    file->only_compares = work->state == WORK_CHECK;
    file->is_older = file->only_compares && ledger_ends_before(input, piece);
    if (file->is_older && job_has_grown(job, input))
        return registration_refuse_grown(input->name, err);
    file->compares = file->done_before.count && (!input->plain || ledger_needs_check(input, piece));
    file->begun_before = work->epoch > 1;
    file->epoch = work->state == WORK_OURS ? work->epoch : 0;
    return true;
}

/* Where later records replace earlier ones, what a stream has more would come too late. */
static bool may_go_on(const job_t *job, const load_file_t *file, err_t *err) {
    return job->existing != EXISTING_REPLACE ||
           err_set(err, STATUS_INPUT,
                   "--input-name %s: the stream goes on behind what was loaded of it, and with --existing "
                   "replace only the newest input may: give the stream another --input-name",
                   file->input->name);
}

static bool go_on(job_t *job, load_file_t *file, err_t *err) {
    ledger_t *ledger = &job->ledger;
    work_t *work = file->work;
    const counts_t last = ledger->inputs[work->input].entry.pieces[work->piece].tail.counts;
    if (!may_go_on(job, file, err))
        return false;
    ledger_goes_on(ledger, work);
    if (!catalog_take(job->store, ledger, clock_awake_or_not_ns(), work, 1, 0, err))
        return false;
    if (work->state != WORK_OURS)
        return err_set(err, STATUS_SERVER,
                       "%s is being loaded by another load, too, and a stream cannot be read again: run the "
                       "same command again, with all of the stream",
                       file->input->name);
    work->handed_out = true; /* to the feeder that asks */
    count_anew(job, work, &last);
    return job_tell_file(job, work, file, err);
}

static bool answer(job_t *job, asking_t *asking) {
    asking->err.text[0] = '\0';
    return asking->what == ASK_TO_BIND        ? job_bind(job, &asking->err)
           : asking->what == ASK_FOR_NUMBERS  ? extend(job, asking)
           : asking->what == ASK_TO_LEAVE_OUT ? job_leave_out_columns(job, asking->file, &asking->err)
                                              : go_on(job, asking->file, &asking->err);
}

void job_answer(job_t *job) {
    for (asking_t *asking; (asking = load_state_take_asking(&job->loading));)
        load_state_answer(&job->loading, asking, answer(job, asking));
}
