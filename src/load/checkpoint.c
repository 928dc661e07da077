/* checkpoint: settled blocks into the books. */
#include "load/job.h"

#include <stdlib.h>

/* A block that is done for good goes into its file's books. */
static bool book_block(const block_t *block, err_t *err) {
    catalog_file_t *books = block->file->books;
    books->counts.read += block->counts.read;
    books->counts.loaded += block->counts.loaded;
    books->counts.already_there += block->counts.already_there;
    books->counts.rejected += block->counts.rejected;
    books->counts.filtered += block->counts.filtered;
    block->file->dirty = true;
    return runs_add(&books->done, block->from, block->to) || err_memory(err, sizeof(run_t));
}

/* Is the file complete? Its last block was kept back until the others were done. */
static bool finish_file(load_file_t *file, bool *complete, err_t *err) {
    *complete = false;
    if (file->suspect && (!file->books->suspect || file->books->done.count)) {
        /* damaged: what was done is not, and the next run compares */
        file->books->suspect = file->dirty = true;
        runs_free(&file->books->done);
        file->books->counts = (counts_t){0};
    }
    if (file->completed || !file->fed)
        return true;
    if (file->tail && (!file->tail->from || runs_cover(&file->books->done, 0, file->tail->from))) {
        bool ok = book_block(file->tail, err);
        free(file->tail);
        file->tail = NULL;
        if (!ok)
            return false;
    }
    *complete = !file->blocks || runs_cover(&file->books->done, 0, file->blocks);
    file->completed = *complete;
    return true;
}

/* Books come after what they describe: blocks that were settled, then the barrier, then the runs. */
bool job_checkpoint(job_t *job, err_t *err) {
    block_t *done = loading_take_done(&job->loading);
    checkpoint_t *changed = NULL;
    size_t count = 0;
    bool ok = true;
    if (job->catalog && !job->spec->dry_run && !job->spec->mended) {
        changed = calloc(job->file_count + 1, sizeof *changed);
        ok = changed != NULL || err_memory(err, job->file_count * sizeof *changed);
        pthread_mutex_lock(&job->books_lock);
        ok =
            ok && (!done || (rejects_flush(job->loading.rejects, err) && catalog_barrier(job->catalog, err)));
        block_t *rest = NULL;
        while (ok && done) {
            block_t *block = done;
            done = block->next;
            if (block->last && !block->partial) {
                block->file->tail = block;
                continue;
            }
            block->next = rest;
            rest = block;
            ok = block->partial || block->file->suspect || book_block(block, err);
        }
        loading_free_blocks(rest);
        for (size_t i = 0; ok && i < job->file_count; i++) {
            load_file_t *file = &job->files[i];
            bool complete;
            ok = finish_file(file, &complete, err);
            if (ok && (complete || file->dirty))
                changed[count++] = (checkpoint_t){file->books, complete, file->blocks};
            file->dirty = false;
        }
        ok = ok && (!count || catalog_checkpoint(job->catalog, changed, count, err));
        pthread_mutex_unlock(&job->books_lock);
    }
    free(changed);
    loading_free_blocks(done);
    return ok;
}
