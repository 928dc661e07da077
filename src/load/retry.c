#include "load/job.h"
#include "target/position.h"
#include "base/log.h"
#include "load/reject_read.h"

#include <stdlib.h>
#include <string.h>

/* A fixed record is a block of its own: the same way through parsing, batches and rejects as any other, under
 * the `_id` of its first position. It is never marked as done, and a second time finds it already there. */

typedef struct {
    job_t *job;
    size_t room; /* of job->files: blocks point into it, so it must not move */
} feeding_t;

static load_file_t *file_of(const feeding_t *feeding, const retry_t *retry, err_t *err) {
    job_t *job = feeding->job;
    load_file_t *last = job->file_count ? &job->files[job->file_count - 1] : NULL;
    const dialect_t *dialect = dialect_shelf_keep(job->shelf, &retry->dialect);
    if (dialect && last && last->dialect == dialect && strcmp(last->input->name, retry->path) == 0)
        return last;
    if (job->file_count == feeding->room) {
        err_set(err, STATUS_USAGE, "%s grew while it was read; run the same command again", job->spec->retry);
        return NULL;
    }
    load_file_t *file = &job->files[job->file_count];
    input_file_t *input = calloc(1, sizeof *input);
    if (!dialect || !input || !(input->name = strdup(retry->path))) {
        free(input);
        err_memory(err, sizeof *dialect);
        return NULL;
    }
    *file = (load_file_t){.input = input, .dialect = dialect, .to = UINT64_MAX};
    job->file_count++;
    const entry_t *entry = job->places ? places_named(job->places, retry->path) : NULL;
    if (entry) {
        file->known_as = entry->path;
        file->ordinal = entry->ordinal;
        file->extents = entry->extents;
        file->extent_count = entry->extent_count;
    }
    return file;
}

/* The record was rejected by a load whose blocks are done, and is not among their rejects: the input has been loaded
 * anew since, from other content, and what is at this place now is another record or none. */
static bool is_of_old_content(const entry_t *entry, const retry_t *retry) {
    const uint64_t block = retry->offset / LEDGER_BLOCK_BYTES;
    for (size_t i = 0; i < entry->piece_count; i++) {
        const piece_t *piece = &entry->pieces[i];
        if (block < piece->from || block >= piece->to)
            continue;
        if (!piece->complete && !done_runs_cover(&piece->done, block, block + 1))
            return false;
        for (size_t j = 0; j < piece->reject_count; j++)
            if (piece->rejects[j].offset == retry->offset)
                return retry->has_hash && piece->rejects[j].hash != retry->hash;
        return !entry_fix(entry, retry->offset);
    }
    return false;
}

/* Does the entry still say where its record belongs? */
static bool place_entry(const feeding_t *feeding, const retry_t *retry, load_file_t **file, uint64_t *voff,
                        err_t *err) {
    job_t *job = feeding->job;
    const char *path = job->spec->retry;
    unsigned long long line = retry->at_line;
    if (memchr(retry->bytes, '\n', retry->length))
        return err_set(
            err, STATUS_USAGE,
            "%s:%llu: more than one line stands below this #@ line; a record is one line, because it "
            "has one position and one _id",
            path, line);
    err->text[0] = '\0';
    if (!(*file = file_of(feeding, retry, err)))
        return false;
    if (job->places && !(*file)->known_as)
        return err_set(
            err, STATUS_USAGE,
            "%s:%llu: the file %s is not in the catalog of %s; was the record rejected by a load into "
            "another collection?",
            path, line, retry->path, server_namespace(job->server));
    if ((*file)->known_as && !load_file_number(*file, retry->offset, voff))
        return err_set(err, STATUS_USAGE,
                       "%s:%llu: offset %llu is outside of %s as the catalog has it; the #@ line was changed",
                       path, line, (unsigned long long)retry->offset, retry->path);
    if (job->places && is_of_old_content(places_named(job->places, retry->path), retry))
        return err_set(
            err, STATUS_USAGE,
            "%s:%llu: no such record of %s is rejected: the file was loaded anew since then, from other "
            "content. Delete the entry, or take the reject file of the last load",
            path, line, retry->path);
    return true;
}

static bool check(void *context, const retry_t *retry, err_t *err) {
    load_file_t *file = NULL;
    uint64_t voff;
    return !retry->length || retry->cut_off || place_entry(context, retry, &file, &voff, err);
}

static bool take(void *context, const retry_t *retry, err_t *err) {
    const feeding_t *feeding = context;
    job_t *job = feeding->job;
    load_file_t *file = NULL;
    uint64_t voff = 0;
    if (!retry->length) {
        log_detail("%s:%llu: this record was left out", job->spec->retry, (unsigned long long)retry->at_line);
        return true;
    }
    if (retry->cut_off) {
        log_warn("%s:%llu: this record was cut off when its load was killed, and is left out; run that load "
                 "again, which writes it anew, or fix it and delete the 'torn' line below it",
                 job->spec->retry, (unsigned long long)retry->at_line);
        return true;
    }
    if (!place_entry(feeding, retry, &file, &voff, err))
        return false;
    block_t *block = calloc(1, sizeof *block);
    if (!block)
        return err_memory(err, sizeof *block);
    if (!pool_take(job->loading.pool, retry->length, &block->buffer)) {
        free(block);
        return pool_closed(job->loading.pool) || err_memory(err, retry->length);
    }
    memcpy(block->buffer.bytes, retry->bytes, retry->length);
    memset(block->buffer.bytes + retry->length, 0, POOL_SLACK);
    block->file = file;
    block->length = (uint32_t)retry->length;
    block->offset = retry->offset;
    block->first_line = retry->line;
    block->partial = true;
    block->begun_before = true; /* it may have been fixed before, and otherwise */
    if (file->known_as)
        block->id_base = position_id(position_lane(file->ordinal, retry->offset), voff);
    loading_add_block(&job->loading);
    block->counted = true;
    if (!queue_push(job->loading.queue, block, 0))
        loading_free_block(&job->loading, block);
    return true;
}

static bool count(void *context, const retry_t *retry, err_t *err) {
    (void)retry, (void)err;
    ++*(size_t *)context;
    return true;
}

bool job_feed_retry(job_t *job, err_t *err) {
    size_t entries = 0;
    if (!job->spec->dry_run && !(job->places = places_read(job->store, err)))
        return false;
    /* counted first: blocks point into the array of files, which must not move; and checked first: a file
     * with a mistake in it loads nothing */
    if (!rejects_read(job->spec->retry, job->schema, count, &entries, err))
        return false;
    if (!(job->files = calloc(2 * entries + 1, sizeof *job->files)))
        return err_memory(err, entries * sizeof *job->files);
    feeding_t feeding = {job, 2 * entries};
    return rejects_read(job->spec->retry, job->schema, check, &feeding, err) &&
           (job->spec->dry_run || retry_marks_note(job, err)) &&
           rejects_read(job->spec->retry, job->schema, take, &feeding, err);
}
