/* retry_marks: what the catalog is told of fixed records. The hash of a document is noted before the document
 * is sent, so that a later reading knows it, and confirmed after the document is there: then the reject is
 * answered. All that were noted stay until one of them is confirmed, since a message of a load that was killed
 * may still arrive: whichever document came first is the truth, and it is one that is known. */
#include "base/log.h"
#include "load/job.h"
#include "load/snapshot_read.h"
#include "target/position.h"

#include <stdlib.h>
#include <string.h>
#include <xxhash.h>

typedef struct {
    const fix_t *fix;
    fix_mark_t mark;
    bool written; /* whenever marks are written next */
    bool stored;  /* its document is in the collection */
    bool refused; /* its record is a reject again */
} item_t;

struct retry_marks {
    fixes_t *fixes;
    item_t *items; /* in ascending order of `_id`s */
    size_t count;
};

void retry_marks_free(retry_marks_t *marks) {
    if (!marks)
        return;
    fixes_free(marks->fixes);
    free(marks->items);
    free(marks);
}

bool retry_marks_verdict(const retry_marks_t *marks, size_t number, const retry_t *retry,
                         fix_verdict_t *verdict) {
    return fixes_verdict(marks->fixes, number, retry, verdict);
}

/* Each change rewrites the whole entry: so many marks go with one. `at` is behind the last one's. */
static size_t add_change(entry_change_t *changes, size_t count, const item_t *item, fix_mark_t *at) {
    const uint32_t ordinal = item->fix->entry->ordinal;
    entry_change_t *last = count ? &changes[count - 1] : NULL;
    *at = item->mark;
    if (last && last->ordinal == ordinal && last->fix_count < STORE_MOST_FIXES) {
        last->fix_count++;
        return count;
    }
    changes[count] = (entry_change_t){.ordinal = ordinal, .fixes = at, .fix_count = 1};
    return count + 1;
}

/* Those that are to be written. */
static bool write_marks(job_t *job, err_t *err) {
    retry_marks_t *marks = job->marks;
    entry_change_t *changes = calloc(marks->count + 1, sizeof *changes);
    fix_mark_t *fixes = malloc((marks->count + 1) * sizeof *fixes);
    size_t count = 0, used = 0;
    uint64_t changed;
    if (!changes || !fixes) {
        free(changes);
        free(fixes);
        return err_memory(err, marks->count * sizeof *changes);
    }
    for (size_t i = 0; i < marks->count; i++)
        if (marks->items[i].written)
            count = add_change(changes, count, &marks->items[i], &fixes[used++]);
    bool ok = !count || job->store->change_entries(job->store, changes, count, &changed, err);
    if (ok && count && changed != count)
        ok = err_set(
            err, STATUS_SERVER,
            "the catalog of %s was removed or changed by somebody while records were loaded again: run the "
            "same command again",
            job->result->namespace);
    free(changes);
    free(fixes);
    return ok;
}

static bool is_noted(const fix_t *fix, uint64_t hash) {
    return fix_marks_accept(fix->entry->fixes, fix->entry->fix_count, fix->offset, fix->of, hash);
}

static bool collect(job_t *job, err_t *err) {
    retry_marks_t *marks = job->marks;
    char *const paths[] = {(char *)job->spec->retry};
    const fixes_options_t options = {.schema = job->schema,
                                     .filter = job->filter,
                                     .max_record = job->spec->max_record,
                                     .max_document = server_facts(job->server)->max_document_bytes,
                                     .name = job->result->namespace};
    if (!(marks->fixes = fixes_read(paths, 1, job->places, &options, err)))
        return false;
    job->result->open_rejects = fixes_not_yet(marks->fixes);
    marks->count = fixes_count(marks->fixes);
    if (!(marks->items = calloc(marks->count + 1, sizeof *marks->items)))
        return err_memory(err, marks->count * sizeof *marks->items);
    for (size_t i = 0; i < marks->count; i++) {
        item_t *item = &marks->items[i];
        item->fix = fixes_at(marks->fixes, i);
        item->mark.offset = item->fix->offset;
        item->mark.of = item->fix->of;
        if (item->fix->document)
            item->mark.hash = XXH3_64bits(item->fix->document, item->fix->length);
    }
    return true;
}

bool retry_marks_note(job_t *job, err_t *err) {
    if (!(job->marks = calloc(1, sizeof *job->marks)))
        return err_memory(err, sizeof *job->marks);
    if (!collect(job, err))
        return false;
    for (size_t i = 0; i < job->marks->count; i++) {
        item_t *item = &job->marks->items[i];
        item->written = item->fix->document && !is_noted(item->fix, item->mark.hash);
    }
    return write_marks(job, err);
}

static item_t *find_item(retry_marks_t *marks, int64_t id) {
    size_t low = 0, high = marks->count;
    while (low < high) {
        size_t middle = (low + high) / 2;
        if (marks->items[middle].fix->id < id)
            low = middle + 1;
        else
            high = middle;
    }
    return low < marks->count && marks->items[low].fix->id == id ? &marks->items[low] : NULL;
}

/* ---- what is there ---- */

typedef struct {
    const fix_t *fix;
    uint64_t hash; /* of what is there, of all that was noted; FIX_NOTHING: none */
} noted_there_t;

static void begin_anew(void *context) {
    noted_there_t *there = context;
    there->hash = FIX_NOTHING;
}

static bool see(void *context, const uint8_t *document, uint32_t length, err_t *err) {
    noted_there_t *there = context;
    const uint64_t hash = XXH3_64bits(document, length);
    (void)err;
    if (is_noted(there->fix, hash))
        there->hash = hash;
    return true;
}

/* An earlier run has noted another fix of this record, and may have loaded it. */
static bool settle_earlier(snapshot_read_t *reader, item_t *item, size_t *others, err_t *err) {
    noted_there_t there = {.fix = item->fix};
    if (!snapshot_read_all(reader, item->fix->id, item->fix->id + 1, begin_anew, see, &there, err))
        return false;
    if (there.hash != FIX_NOTHING) {
        ++*others;
        item->mark.hash = there.hash;
        item->mark.confirmed = item->written = true;
    }
    return true;
}

static bool settle(job_t *job, item_t *item, snapshot_read_t **reader, size_t *others, err_t *err) {
    const fix_t *fix = item->fix;
    const fix_mark_t *answer = entry_answer(fix->entry, fix->offset, fix->of);
    item->written = item->mark.confirmed = false;
    if (item->stored) {
        item->mark.confirmed = item->written = !answer || answer->hash != item->mark.hash;
        return true;
    }
    if (answer && answer->hash != FIX_NOTHING)
        return true;
    if (entry_has_unsettled_fix(fix->entry, fix->offset, fix->of)) {
        if (!*reader && !(*reader = snapshot_read_new(job->server, job->client, err)))
            return false;
        if (!settle_earlier(*reader, item, others, err))
            return false;
    }
    if (!item->written && !answer && (fix->left_out || (fix->filtered && !item->refused))) {
        item->mark.hash = FIX_NOTHING;
        item->mark.confirmed = item->written = true;
    }
    return true;
}

bool retry_marks_settle(job_t *job, const block_t *done, err_t *err) {
    retry_marks_t *marks = job->marks;
    snapshot_read_t *reader = NULL;
    size_t others = 0;
    bool ok = true;
    for (; done; done = done->next) {
        item_t *item = done->refusal ? NULL : find_item(marks, done->id_base);
        if (item) {
            item->stored = done->counts.loaded || done->counts.already_there;
            item->refused = done->counts.rejected > 0;
        }
    }
    for (size_t i = 0; ok && i < marks->count; i++)
        ok = settle(job, &marks->items[i], &reader, &others, err);
    snapshot_read_free(reader);
    if (ok && others)
        log_warn("%s: %zu of its records %s fixed otherwise by an earlier run; what that has loaded stays",
                 job->spec->retry, others, others == 1 ? "was" : "were");
    return ok;
}

bool retry_marks_confirm(job_t *job, err_t *err) {
    return write_marks(job, err);
}
