/* retry_marks: what the catalog is told of fixed records. The hash of a document is noted before the document
 * is sent, so that a later reading knows it, and confirmed after the document is there: then the reject is
 * answered. All that were noted stay until one of them is confirmed, since a message of a load that was killed
 * may still arrive: whichever document came first is the truth, and it is one that is known. */
#include "base/log.h"
#include "format/record/record_id.h"
#include "load/read_back/snapshot_read.h"
#include "load/rejects/fix_item.h"
#include "load/run/job.h"

#include <stdlib.h>
#include <string.h>
#include <xxhash.h>

typedef struct {
    const fix_t *fix;
    const work_t *held; /* the piece that it belongs to */
    fix_item_t is;
    /* with own `_id`s: the hash of another document of its record that is there; or FIX_NOTHING */
    uint64_t otherwise;
} item_t;

struct retry_marks {
    const fixes_t *fixes; /* the job's */
    item_t *items;        /* of each of the fixes, in their order */
    item_t **placed;      /* the same by input and place, as they are written */
    size_t count;
    item_t **fixed_otherwise; /* with own `_id`s: those that are not sent */
    size_t others;
};

void retry_marks_free(retry_marks_t *marks) {
    if (!marks)
        return;
    free(marks->items);
    free(marks->placed);
    free(marks->fixed_otherwise);
    free(marks);
}

bool retry_marks_verdict(const retry_marks_t *marks, size_t number, const retry_t *retry,
                         fix_verdict_t *verdict) {
    if (!fixes_verdict(marks->fixes, number, retry, verdict))
        return false;
    for (size_t i = 0; *verdict == FIX_COUNTS && i < marks->others; i++)
        if (marks->fixed_otherwise[i]->fix->number == number)
            *verdict = FIX_CLOSED;
    return true;
}

/* Each change rewrites the whole entry: so many marks go with one. `at` is behind the last one's. */
static size_t add_change(const job_t *job, entry_change_t *changes, size_t count, const item_t *item,
                         fix_mark_t *at) {
    entry_change_t *last = count ? &changes[count - 1] : NULL;
    *at = item->is.mark;
    if (last && last->ordinal == item->fix->entry->ordinal && last->piece == item->held->piece &&
        last->fix_count < STORE_MOST_FIXES) {
        last->fix_count++;
        return count;
    }
    changes[count] = ledger_fix_change(&job->ledger, item->held, at, 1);
    return count + 1;
}

/* Those that are to be written. */
static bool write_marks(job_t *job, err_t *err) {
    retry_marks_t *marks = job->marks;
    entry_change_t *changes = calloc(marks->count + 1, sizeof *changes);
    fix_mark_t *fixes = malloc((marks->count + 1) * sizeof *fixes);
    size_t count = 0, used = 0;
    if (!changes || !fixes) {
        free(changes);
        free(fixes);
        return err_memory(err, marks->count * sizeof *changes);
    }
    for (size_t i = 0; i < marks->count; i++)
        if (marks->placed[i]->is.written)
            count = add_change(job, changes, count, marks->placed[i], &fixes[used++]);
    const bool ok = job_change_held(job, changes, count, err);
    free(changes);
    free(fixes);
    return ok;
}

static int by_place(const void *a, const void *b) {
    const fix_t *left = (*(item_t *const *)a)->fix, *right = (*(item_t *const *)b)->fix;
    if (left->entry->ordinal != right->entry->ordinal)
        return left->entry->ordinal < right->entry->ordinal ? -1 : 1;
    return (left->offset > right->offset) - (left->offset < right->offset);
}

bool retry_marks_read(job_t *job, err_t *err) {
    char *const paths[] = {(char *)job->spec->retry};
    const fixes_options_t options = {.schema = job->schema,
                                     .filter = job->filter,
                                     .max_document = server_facts(job->server)->max_document_bytes,
                                     .name = job->result->namespace,
                                     .catalog = job->own_catalog,
                                     .later = true};
    return (job->fixes = fixes_read(paths, 1, job->places_before, &options, err)) != NULL;
}

static bool collect(job_t *job, err_t *err) {
    retry_marks_t *marks = job->marks;
    marks->fixes = job->fixes;
    if (!fixes_judge(job->fixes, job->places, &job->ledger, err))
        return false;
    job->result->open_rejects = fixes_left_open(marks->fixes);
    marks->count = fixes_count(marks->fixes);
    marks->items = calloc(marks->count + 1, sizeof *marks->items);
    marks->placed = calloc(marks->count + 1, sizeof(item_t *));
    if (!marks->items || !marks->placed)
        return err_memory(err, marks->count * sizeof *marks->items);
    for (size_t i = 0; i < marks->count; i++) {
        const fix_t *fix = fixes_at(marks->fixes, i);
        fix_item_t is = {
            .entry = fix->entry,
            .mark = {.offset = fix->offset, .of = fix->of, .generation = job->loading.generation},
            .makes_document = fix->length > 0,
            .left_out = fix->left_out,
            .filtered = fix->filtered};
        if (fix->length)
            is.mark.hash = fix->hash;
        marks->items[i] = (item_t){
            .fix = fix, .held = ledger_held(&job->ledger, fix->entry->ordinal, fix->offset), .is = is};
        marks->placed[i] = &marks->items[i];
    }
    if (marks->count)
        qsort(marks->placed, marks->count, sizeof(item_t *), by_place);
    return true;
}

/* Those that their entry does not have yet; entry: of this one alone. */
static size_t count_new(const retry_marks_t *marks, const entry_t *entry) {
    size_t count = 0;
    for (size_t i = 0; i < marks->count; i++)
        count += (!entry || marks->items[i].is.entry == entry) && fix_item_is_new(&marks->items[i].is);
    return count;
}

/* Before anything is noted: an entry that has become too large could not be written any more. */
static bool check_room(const retry_marks_t *marks, const char *path, err_t *err) {
    const entry_t *roomy = NULL; /* items of one entry mostly follow one another */
    const size_t all = count_new(marks, NULL);
    for (size_t i = 0; i < marks->count; i++) {
        const entry_t *entry = marks->items[i].is.entry;
        if (entry == roomy || entry_has_room(entry, 0, all))
            continue;
        roomy = entry;
        const size_t of_entry = count_new(marks, entry);
        if (of_entry && !entry_has_room(entry, 0, of_entry))
            return err_set(err, STATUS_USAGE,
                           "%s: %zu more records of %s are fixed, which is more than the catalog remembers "
                           "of one input: correct them in %s itself, and load that with --reload-changed",
                           path, of_entry, entry->path, entry->path);
    }
    return true;
}

/* ---- own `_id`s: documents of the same records, which have other `_id`s ---- */

static void forget_found(void *context) {
    const retry_marks_t *marks = context;
    for (size_t i = 0; i < marks->others; i++)
        marks->fixed_otherwise[i]->otherwise = FIX_NOTHING;
}

static bool see_any(void *context, const uint8_t *document, uint32_t length, err_t *err) {
    const retry_marks_t *marks = context;
    const uint64_t hash = XXH3_64bits(document, length);
    (void)err;
    for (size_t i = 0; i < marks->others; i++) {
        item_t *item = marks->fixed_otherwise[i];
        if (hash != item->is.mark.hash && fix_item_knows(&item->is, hash))
            item->otherwise = hash;
    }
    return true;
}

static bool list_others(retry_marks_t *marks, err_t *err) {
    item_t **others = calloc(marks->count + 1, sizeof *others);
    if (!others)
        return err_memory(err, marks->count * sizeof *others);
    for (size_t i = 0; i < marks->count; i++)
        if (fix_item_has_others(&marks->items[i].is))
            others[marks->others++] = &marks->items[i];
    marks->fixed_otherwise = others;
    return true;
}

/* Of these, the ones that another document was found of. */
static void keep_found(retry_marks_t *marks) {
    size_t kept = 0;
    for (size_t i = 0; i < marks->count; i++) {
        item_t *item = &marks->items[i];
        if (item->otherwise != FIX_NOTHING || fix_item_is_answered_otherwise(&item->is))
            marks->fixed_otherwise[kept++] = item;
    }
    marks->others = kept;
}

/* Where a record was fixed otherwise before, its document may be there by another `_id`. Which one is not known, so the
 * whole collection is looked at. */
static bool find_others(job_t *job, err_t *err) {
    retry_marks_t *marks = job->marks;
    if (!job->schema->id)
        return true;
    if (!list_others(marks, err))
        return false;
    if (!marks->others)
        return true;
    log_note(
        "of %zu of its records an earlier run has noted another document: all of %s is looked at for these",
        marks->others, server_namespace(job->server));
    snapshot_read_t *reader = snapshot_read_new(job->server, job->client, err);
    const bool ok = reader && snapshot_read_filtered(reader, NULL, NULL, forget_found, see_any, marks, err);
    snapshot_read_free(reader);
    if (ok)
        keep_found(marks);
    return ok;
}

bool retry_marks_note(job_t *job, err_t *err) {
    if (!(job->marks = calloc(1, sizeof *job->marks)))
        return err_memory(err, sizeof *job->marks);
    if (!collect(job, err) || !check_room(job->marks, job->spec->retry, err) || !find_others(job, err))
        return false;
    for (size_t i = 0; i < job->marks->count; i++)
        fix_item_note(&job->marks->items[i].is);
    for (size_t i = 0; i < job->marks->others; i++)
        job->marks->fixed_otherwise[i]->is.written = false;
    return write_marks(job, err);
}

static item_t *find_item(retry_marks_t *marks, int64_t id) {
    const size_t at = fixes_first(marks->fixes, id);
    return at < marks->count && marks->items[at].fix->id == id ? &marks->items[at] : NULL;
}

/* ---- what is there ---- */

typedef struct {
    const fix_item_t *item;
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
    if (fix_item_knows(there->item, hash))
        there->hash = hash;
    return true;
}

static bool settle(job_t *job, item_t *item, snapshot_read_t **reader, size_t *others, err_t *err) {
    const int64_t id = item->fix->id;
    noted_there_t there = {.item = &item->is, .hash = item->otherwise};
    if (!job->schema->id && fix_item_asks(&item->is)) {
        if (!*reader && !(*reader = snapshot_read_new(job->server, job->client, err)))
            return false;
        if (!snapshot_read_all(*reader, id, id + 1, begin_anew, see, &there, err))
            return false;
        *others += there.hash != FIX_NOTHING;
    }
    fix_item_settle(&item->is, there.hash);
    return true;
}

bool retry_marks_settle(job_t *job, const block_t *done, err_t *err) {
    retry_marks_t *marks = job->marks;
    snapshot_read_t *reader = NULL;
    size_t others = marks->others;
    bool ok = true;
    for (; done; done = done->next) {
        item_t *item = done->refusal ? NULL : find_item(marks, done->id_base);
        if (item) {
            item->is.stored = done->counts.loaded || done->counts.already_there;
            item->is.refused = done->counts.rejected > 0;
        }
    }
    for (size_t i = 0; ok && i < marks->count; i++)
        ok = settle(job, &marks->items[i], &reader, &others, err);
    snapshot_read_free(reader);
    job->result->fixed_otherwise = others;
    if (ok && others)
        log_warn("%s: %zu of its records %s fixed otherwise by an earlier run; what that has loaded stays",
                 job->spec->retry, others, others == 1 ? "was" : "were");
    return ok;
}

bool retry_marks_confirm(job_t *job, err_t *err) {
    return write_marks(job, err);
}
