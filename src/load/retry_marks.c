/* retry_marks: what the catalog is told of fixed records. The mark comes before the document, so that a later
 * reading knows it, and is confirmed after the document is there: then the reject is answered. */
#include "load/fixes.h"
#include "load/job.h"
#include "target/position.h"

#include <stdlib.h>
#include <xxhash.h>

struct retry_marks {
    struct {
        uint32_t ordinal;
        int64_t id;
        fix_mark_t mark;
        bool left_out; /* nothing is to be loaded: it is confirmed as it is */
    } * items;
    size_t count;
};

void retry_marks_free(retry_marks_t *marks) {
    if (marks)
        free(marks->items);
    free(marks);
}

/* Which of them are written: all, as they are. */
static bool write_marks(job_t *job, const retry_marks_t *marks, const bool *chosen, err_t *err) {
    entry_change_t *changes = calloc(marks->count + 1, sizeof *changes);
    size_t count = 0;
    uint64_t changed;
    if (!changes)
        return err_memory(err, marks->count * sizeof *changes);
    for (size_t i = 0; i < marks->count; i++)
        if (chosen[i])
            changes[count++] =
                (entry_change_t){.ordinal = marks->items[i].ordinal, .fix = &marks->items[i].mark};
    bool ok = !count || job->store->change_entries(job->store, changes, count, &changed, err);
    if (ok && count && changed != count)
        ok = err_set(
            err, STATUS_SERVER,
            "the catalog of %s was removed or changed by somebody while records were loaded again: run the "
            "same command again",
            job->result->namespace);
    free(changes);
    return ok;
}

/* A fix that is in the collection already is not replaced by another one. */
static bool is_answered(const entry_t *entry, uint64_t offset) {
    const fix_mark_t *fix = entry_fix(entry, offset);
    return fix && fix->confirmed;
}

static void add_fix(const job_t *job, retry_marks_t *marks, const fix_t *fix) {
    uint64_t offset;
    const entry_t *entry = places_find(job->places, position_voff(fix->id), &offset);
    if (!entry || is_answered(entry, offset) || !(fix->document || fix->left_out))
        return;
    marks->items[marks->count].ordinal = entry->ordinal;
    marks->items[marks->count].id = fix->id;
    marks->items[marks->count].left_out = fix->left_out;
    marks->items[marks->count].mark =
        (fix_mark_t){.offset = offset,
                     .hash = fix->document ? XXH3_64bits(fix->document, fix->length) : 0,
                     .confirmed = fix->left_out};
    marks->count++;
}

static bool collect(const job_t *job, retry_marks_t *marks, err_t *err) {
    char *const paths[] = {(char *)job->spec->retry};
    const fixes_options_t options = {.schema = job->schema,
                                     .filter = job->filter,
                                     .max_record = job->spec->max_record,
                                     .max_document = server_facts(job->server)->max_document_bytes,
                                     .name = job->result->namespace};
    fixes_t *fixes = fixes_read(paths, 1, job->places, &options, err);
    if (!fixes)
        return false;
    const size_t count = fixes_count(fixes);
    bool ok = (marks->items = calloc(count + 1, sizeof *marks->items)) != NULL ||
              err_memory(err, count * sizeof *marks->items);
    for (size_t i = 0; ok && i < count; i++)
        add_fix(job, marks, fixes_at(fixes, i));
    fixes_free(fixes);
    return ok;
}

bool retry_marks_note(job_t *job, err_t *err) {
    retry_marks_t *marks = job->marks = calloc(1, sizeof *marks);
    if (!marks)
        return err_memory(err, sizeof *marks);
    if (!collect(job, marks, err))
        return false;
    bool *all = malloc(marks->count + 1);
    if (!all)
        return err_memory(err, marks->count);
    for (size_t i = 0; i < marks->count; i++)
        all[i] = true;
    bool ok = write_marks(job, marks, all, err);
    free(all);
    return ok;
}

/* The mark of a block's record; they are in ascending order of `_id`s. */
static size_t find_mark(const retry_marks_t *marks, int64_t id) {
    size_t low = 0, high = marks->count;
    while (low < high) {
        size_t middle = (low + high) / 2;
        if (marks->items[middle].id < id)
            low = middle + 1;
        else
            high = middle;
    }
    return low < marks->count && marks->items[low].id == id ? low : SIZE_MAX;
}

bool retry_marks_confirm(job_t *job, const block_t *done, err_t *err) {
    retry_marks_t *marks = job->marks;
    bool *chosen = calloc(marks->count + 1, sizeof *chosen);
    if (!chosen)
        return err_memory(err, marks->count);
    for (; done; done = done->next) {
        const size_t at = find_mark(marks, done->id_base);
        if (at == SIZE_MAX || !(done->counts.loaded || done->counts.already_there))
            continue;
        marks->items[at].mark.confirmed = chosen[at] = true;
    }
    bool ok = write_marks(job, marks, chosen, err);
    free(chosen);
    return ok;
}
