/* checkpoint: settled blocks into the books. */
#include "base/log.h"
#include "load/job.h"

#include <stdio.h>
#include <stdlib.h>

static catalog_part_t *part_of(const load_file_t *file) {
    return &file->books->parts[file->part];
}

/* A block that is done for good goes into its part's books; not one of a part that was lost meanwhile. */
static bool book_block(const block_t *block, err_t *err) {
    catalog_part_t *part = part_of(block->file);
    if (part->lost || block->turn != block->file->turn)
        return true;
    part->counts.read += block->counts.read;
    part->counts.loaded += block->counts.loaded;
    part->counts.already_there += block->counts.already_there;
    part->counts.rejected += block->counts.rejected;
    part->counts.filtered += block->counts.filtered;
    block->file->dirty = true;
    return runs_add(&part->done, block->from, block->to) || err_memory(err, sizeof(run_t));
}

/* Is the part complete? Its last block was kept back until the others were done. */
static bool finish_file(load_file_t *file, bool *complete, err_t *err) {
    catalog_part_t *part = part_of(file);
    *complete = false;
    if (part->lost)
        return true;
    if (file->suspect && (!part->suspect || part->done.count)) {
        /* damaged: what was done is not, and the next run compares */
        part->suspect = file->dirty = true;
        runs_free(&part->done);
        part->counts = (counts_t){0};
    }
    if (file->completed || !file->fed)
        return true;
    if (file->tail &&
        (file->tail->from <= file->from || runs_cover(&part->done, file->from, file->tail->from))) {
        bool ok = book_block(file->tail, err);
        free(file->tail);
        file->tail = NULL;
        if (!ok)
            return false;
    }
    *complete = file->blocks <= file->from || runs_cover(&part->done, file->from, file->blocks);
    file->completed = *complete;
    return true;
}

/* Who has taken over one part has mostly taken over others: what waits in the queue need not be sent to find
 * out. */
static bool look_for_lost(job_t *job, err_t *err) {
    piece_t *pieces = malloc((job->file_count + 1) * sizeof *pieces);
    size_t count = 0;
    if (!pieces)
        return err_memory(err, job->file_count * sizeof *pieces);
    for (size_t i = 0; i < job->file_count; i++) {
        const load_file_t *file = &job->files[i];
        if (file->books && share_claimed(job->share, file) && !file->completed && !part_of(file)->lost)
            pieces[count++] = (piece_t){file->books, file->part};
    }
    bool ok = catalog_find_lost(job->catalog, pieces, count, err);
    free(pieces);
    return ok;
}

/* What another load has taken over is none of ours any more. */
static bool give_up_lost(job_t *job, err_t *err) {
    const load_file_t *first = NULL;
    size_t count = 0;
    char others[48] = "";
    bool any = false;
    for (size_t i = 0; job->share && !any && i < job->file_count; i++)
        any = job->files[i].books && part_of(&job->files[i])->lost && !job->files[i].lost;
    if (any && !look_for_lost(job, err))
        return false;
    for (size_t i = 0; i < job->file_count; i++) {
        load_file_t *file = &job->files[i];
        if (!file->books || !part_of(file)->lost || file->lost)
            continue;
        first = count++ ? first : file;
        file->lost = true;
        file->completed = file->dirty = false;
        free(file->tail);
        file->tail = NULL;
        if (job->share)
            share_lose(job->share, file);
    }
    if (count > 1)
        snprintf(others, sizeof others, " and %zu more", count - 1);
    if (count)
        log_note("another load has taken over %s%s, because this one gave no sign of life for too long",
                 first->input->name, others);
    return true;
}

/* Settled blocks into the parts; the last ones of files are kept back. */
static bool book_blocks(block_t **done, err_t *err) {
    block_t *rest = NULL;
    bool ok = true;
    while (ok && *done) {
        block_t *block = *done;
        *done = block->next;
        if (block->last && !block->partial) {
            if (block->file->tail)
                free(block->file->tail); /* of an earlier turn */
            block->file->tail = block;
            continue;
        }
        block->next = rest;
        rest = block;
        ok = block->partial || block->file->suspect || book_block(block, err);
    }
    loading_free_blocks(rest);
    return ok;
}

/* Books come after what they describe: blocks that were settled, then the barrier, then the runs. */
bool job_checkpoint(job_t *job, err_t *err) {
    block_t *done = loading_take_done(&job->loading);
    checkpoint_t *changed = NULL;
    size_t count = 0;
    bool ok = true;
    if (job->catalog && !job->spec->dry_run && !job->spec->retry) {
        changed = calloc(job->file_count + 1, sizeof *changed);
        ok = changed != NULL || err_memory(err, job->file_count * sizeof *changed);
        pthread_mutex_lock(&job->books_lock);
        ok =
            ok && (!done || (rejects_flush(job->loading.rejects, err) && catalog_barrier(job->catalog, err)));
        ok = ok && book_blocks(&done, err);
        for (size_t i = 0; ok && i < job->file_count; i++) {
            load_file_t *file = &job->files[i];
            bool complete;
            ok = finish_file(file, &complete, err);
            if (ok && (complete || file->dirty))
                changed[count++] = (checkpoint_t){{file->books, file->part}, complete, file->blocks};
            file->dirty = false;
        }
        ok = ok && (!count || catalog_checkpoint(job->catalog, changed, count, err));
        ok = ok && (!count || give_up_lost(job, err));
        pthread_mutex_unlock(&job->books_lock);
    }
    /* a reject's record has no part that could be booked, but its document must be as durable as any other */
    if (done && job->catalog && !job->spec->dry_run && job->spec->retry) {
        pthread_mutex_lock(&job->books_lock);
        ok = rejects_flush(job->loading.rejects, err) && catalog_barrier(job->catalog, err);
        pthread_mutex_unlock(&job->books_lock);
    }
    free(changed);
    loading_free_blocks(done);
    return ok;
}
