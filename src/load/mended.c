#include "load/job.h"
#include "base/log.h"

#include <stdlib.h>
#include <string.h>

/* A mended record is a block of its own: the same way through parsing, batches and rejects as any other,
 * under the
 * `_id` of its first position. It is never marked as done, and a second time finds it already there. */

static load_file_t *file_of(job_t *job, const mended_t *mended, err_t *err) {
    load_file_t *last = job->file_count ? &job->files[job->file_count - 1] : NULL;
    const dialect_t *dialect = dialect_shelf_keep(job->shelf, &mended->dialect);
    if (dialect && last && last->dialect == dialect && strcmp(last->input->name, mended->path) == 0)
        return last;
    load_file_t *file = &job->files[job->file_count];
    input_file_t *input = calloc(1, sizeof *input);
    if (!dialect || !input || !(input->name = strdup(mended->path))) {
        free(input);
        err_memory(err, sizeof *dialect);
        return NULL;
    }
    *file = (load_file_t){.input = input, .dialect = dialect, .to = UINT64_MAX};
    job->file_count++;
    pthread_mutex_lock(&job->books_lock);
    file->books = job->catalog ? catalog_find(job->catalog, mended->path, err) : NULL;
    pthread_mutex_unlock(&job->books_lock);
    return file;
}

/* Does the entry still say where its record belongs? */
static bool place_entry(job_t *job, const mended_t *mended, load_file_t **file, uint64_t *voff, err_t *err) {
    const char *path = job->spec->mended;
    unsigned long long line = mended->at_line;
    if (memchr(mended->bytes, '\n', mended->length))
        return err_set(
            err, STATUS_USAGE,
            "%s:%llu: more than one line stands below this #@ line; a mended record is one line, because it "
            "has one position and one _id",
            path, line);
    err->text[0] = '\0';
    if (!(*file = file_of(job, mended, err)))
        return false;
    if (job->catalog && !(*file)->books)
        return err->text[0]
                   ? false
                   : err_set(err, STATUS_USAGE,
                             "%s:%llu: the file %s is not in the books of %s; was the record rejected by a "
                             "load into another collection?",
                             path, line, mended->path, server_namespace(job->server));
    if ((*file)->books && !catalog_voff((*file)->books, mended->offset, voff))
        return err_set(
            err, STATUS_USAGE,
            "%s:%llu: offset %llu lies outside of %s as the books have it; the #@ line was changed", path,
            line, (unsigned long long)mended->offset, mended->path);
    return true;
}

static bool check(void *context, const mended_t *mended, err_t *err) {
    load_file_t *file = NULL;
    uint64_t voff;
    return !mended->length || place_entry(context, mended, &file, &voff, err);
}

static bool take(void *context, const mended_t *mended, err_t *err) {
    job_t *job = context;
    load_file_t *file = NULL;
    uint64_t voff = 0;
    if (!mended->length) {
        log_detail("%s:%llu: this record was left out", job->spec->mended,
                   (unsigned long long)mended->at_line);
        return true;
    }
    if (!place_entry(job, mended, &file, &voff, err))
        return false;
    block_t *block = calloc(1, sizeof *block);
    if (!block)
        return err_memory(err, sizeof *block);
    if (!pool_take(job->loading.pool, mended->length, &block->buffer)) {
        free(block);
        return pool_closed(job->loading.pool) || err_memory(err, mended->length);
    }
    memcpy(block->buffer.bytes, mended->bytes, mended->length);
    memset(block->buffer.bytes + mended->length, 0, POOL_SLACK);
    block->file = file;
    block->length = (uint32_t)mended->length;
    block->offset = mended->offset;
    block->first_line = mended->line;
    block->partial = true;
    block->begun_before = true; /* it may have been mended before, and otherwise */
    if (file->books)
        block->id_base = position_id(position_lane(file->books->ordinal, mended->offset), voff);
    if (!queue_push(job->loading.queue, block, 0)) {
        pool_give(job->loading.pool, &block->buffer);
        free(block);
    }
    return true;
}

static bool count(void *context, const mended_t *mended, err_t *err) {
    (void)mended, (void)err;
    ++*(size_t *)context;
    return true;
}

bool job_feed_mended(job_t *job, err_t *err) {
    size_t entries = 0;
    /* counted first: blocks point into the array of files, which must not move; and checked first: a file
     * with a mistake in it loads nothing */
    if (!rejects_read(job->spec->mended, job->schema, count, &entries, err))
        return false;
    if (!(job->files = calloc(2 * entries + 1, sizeof *job->files)))
        return err_memory(err, entries * sizeof *job->files);
    return rejects_read(job->spec->mended, job->schema, check, job, err) &&
           rejects_read(job->spec->mended, job->schema, take, job, err);
}
