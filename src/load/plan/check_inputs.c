#include "load/plan/check_inputs.h"
#include "base/stop.h"
#include "base/threads.h"
#include "catalog/catalog.h"
#include "format/record/dialect.h"
#include "input/cutter.h"
#include "input/manifest.h"
#include "load/plan/guess_inputs.h"

#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum {
    FIRST_BYTES = 512, /* mostly hold a header; decompressing 4 KiB takes twice the time */
    MOST_THREADS = 8,
    FILES_A_THREAD = 200, /* for fewer a thread more is not worth its start */
};

typedef struct {
    const schema_t *schema;
    const manifest_t *manifest;
    size_t longest; /* a record that has no end after so many bytes is skipped by the cutter */
    misfits_t *misfits;
    bool *fresh; /* of inputs with columns that the format does not know, nor leaves out; or NULL */
    atomic_size_t next;
    pthread_mutex_t lock; /* of the misfits */
    team_t team;
} check_t;

/* What one thread carries from file to file. */
typedef struct {
    check_t *check;
    source_kit_t kit;
    uint8_t *text;
    size_t room;
} checker_t;

/* Can its beginning be read without what comes before it, and does it say anything? */
static bool can_check(const check_t *check, size_t at) {
    const input_file_t *file = &check->manifest->files[at];
    if (file->kind == INPUT_STREAM || (file->kind == INPUT_PLAIN && !dialect_may_refuse(check->schema)))
        return false;
    return !input_is_in_stream(file) || !at || check->manifest->files[at - 1].archive != file->archive;
}

/* Reads until the first line is there that is not blank. The cutter's first cut has that line if it begins in the first window
 * and is no longer than any record may be; else the file fits here, and its feeder may refuse it. */
static bool read_head(checker_t *checker, source_t *source, size_t *have, bool *fits, err_t *err) {
    const size_t longest = checker->check->longest;
    const bool refuses = dialect_may_refuse(checker->check->schema); /* else any text will do */
    bool whole = false, more = true;
    size_t begins, ends;
    for (size_t want = FIRST_BYTES; more && !whole && !*fits; want *= 4) {
        if (!GROW(checker->text, checker->room, want, err))
            return false;
        const ssize_t got = source_read(source, checker->text + *have, want - *have, err);
        if (got < 0)
            return false;
        *have += (size_t)got;
        /* fewer than wanted may mean that a fault comes next */
        more = got > 0 && (refuses || *have < want);
        whole = dialect_first_line(checker->check->schema, checker->text, *have, !more, &begins, &ends);
        *fits = begins >= CUTTER_WINDOW || ends - begins > longest;
    }
    return true;
}

/* True if one of the names, each of which ends with a NUL, is not left out in all inputs. */
static bool has_fresh(const schema_t *schema, const text_t *names) {
    for (const char *name = NULL; (name = text_next(names, name));)
        if (!schema_leaves_out(schema, ENCODING_NONE, (const uint8_t *)name, strlen(name)))
            return true;
    return false;
}

static bool check_file(checker_t *checker, size_t at, err_t *err) {
    const check_t *check = checker->check;
    const input_file_t *file = &check->manifest->files[at];
    bool fits = false;
    size_t have = 0;
    dialect_t dialect;
    text_t unknown = {.length = 0};
    source_t *source = source_open_in(&checker->kit, file, err);
    bool ok = source && read_head(checker, source, &have, &fits, err);
    const dialect_head_t head = {.text = checker->text,
                                 .length = have,
                                 .utf16 = ok && source_is_utf16(source),
                                 .quiet = true,
                                 .unknown = check->fresh ? &unknown : NULL};
    ok = ok && (fits || dialect_sniff_head(check->schema, &head, file->name, &dialect, err));
    if (ok && check->fresh)
        check->fresh[at] = has_fresh(check->schema, &unknown);
    text_free(&unknown);
    source_close(source);
    return ok;
}

static void take_failure(check_t *check, size_t at, err_t *err) {
    pthread_mutex_lock(&check->lock);
    bool ok = err->status == STATUS_INPUT &&
              misfits_add(check->misfits, check->manifest->files[at].name, err->text, at, err);
    pthread_mutex_unlock(&check->lock);
    if (!ok)
        team_fail(&check->team, err);
}

static void *work(void *context) {
    checker_t checker = {.check = context, .kit = {.looks = true}};
    check_t *check = context;
    err_t err;
    for (size_t at; (at = check->next++) < check->manifest->count && !stop_signal();)
        if (can_check(check, at) && !check_file(&checker, at, &err))
            take_failure(check, at, &err);
    source_kit_close(&checker.kit);
    free(checker.text);
    return NULL;
}

/* This thread, and others where there are many files. That one of those cannot be started does no harm. */
static void run(check_t *check) {
    const long cpus = sysconf(_SC_NPROCESSORS_ONLN);
    size_t useful = check->manifest->count / FILES_A_THREAD;
    err_t ignored;
    useful = useful < (size_t)cpus ? useful : (size_t)cpus;
    useful = useful < MOST_THREADS ? useful : MOST_THREADS;
    while (check->team.count + 1 < useful && team_start(&check->team, work, check, "", &ignored))
        ;
    work(check);
}

bool check_inputs_find(const schema_t *schema, const manifest_t *manifest, uint64_t longest,
                       misfits_t *misfits, bool *fresh, err_t *err) {
    check_t check = {.fresh = fresh,
                     .schema = schema,
                     .manifest = manifest,
                     .longest = longest < CUTTER_BUFFER ? CUTTER_BUFFER : (size_t)longest,
                     .misfits = misfits};
    pthread_mutex_init(&check.lock, NULL);
    team_init(&check.team);
    run(&check);
    const bool ok = team_join(&check.team, err);
    pthread_mutex_destroy(&check.lock);
    misfits_sort(misfits);
    if (stop_signal())
        return err_set(err, (status_t)(128 + stop_signal()), "interrupted; nothing was written");
    return ok;
}

bool check_inputs_is_fresh(const schema_t *schema, const uint8_t *text, size_t length) {
    const dialect_head_t head = {.text = text, .length = length, .quiet = true, .unknown = &(text_t){0}};
    dialect_t dialect;
    err_t ignored;
    const bool fresh =
        dialect_sniff_head(schema, &head, "", &dialect, &ignored) && has_fresh(schema, head.unknown);
    text_free(head.unknown);
    return fresh;
}

/* Adds the columns of the first inputs, where they are marked; where those of one cannot be added, of each alone, and it becomes a
 * misfit. */
static bool widen(schema_t *schema, manifest_t *manifest, size_t count, const check_adds_t *adds, bool *fresh,
                  misfits_t *refused, bool *more, err_t *err) {
    bool ok = guess_inputs_widen(manifest, 0, count, fresh, adds->options, schema, adds->yaml, more, err);
    const bool each = !ok && err->status == STATUS_INPUT;
    ok |= each;
    for (size_t i = 0; each && ok && i < count; i++) {
        if (guess_inputs_widen(manifest, i, i + 1, fresh, adds->options, schema, adds->yaml, more, err))
            continue;
        fresh[i] = false;
        ok = err->status == STATUS_INPUT && misfits_add(refused, manifest->files[i].name, err->text, i, err);
    }
    return ok;
}

/* Adds the columns of some inputs until none has others. Each round adds one, or is the last. */
static bool add_columns(schema_t *schema, manifest_t *manifest, const check_adds_t *adds, misfits_t *misfits,
                        err_t *err) {
    const new_columns_t then = schema->new_columns;
    const size_t count = adds->first_only && manifest->count ? 1 : manifest->count;
    misfits_t refused = {.items = NULL};
    bool *fresh = calloc(manifest->count + 1, sizeof *fresh), ok = fresh || err_memory(err, manifest->count);
    schema->new_columns = NEW_COLUMNS_IGNORE;
    for (size_t i = 0; ok && i < count; i++)
        fresh[i] = manifest->files[i].kind == INPUT_STREAM;
    for (bool more = ok; more && ok;) {
        more = false;
        misfits_free(misfits);
        ok = check_inputs_find(schema, manifest, CUTTER_RECORD, misfits, fresh, err);
        for (size_t i = 0; i < refused.count; i++)
            fresh[refused.items[i].input] = false;
        ok = ok && widen(schema, manifest, count, adds, fresh, &refused, &more, err);
    }
    schema->new_columns = then;
    if (ok && memchr(fresh, true, count)) {
        misfits_free(misfits); /* they cannot be added: now that is refused */
        ok = check_inputs_find(schema, manifest, CUTTER_RECORD, misfits, NULL, err);
    } else if (ok) {
        ok = misfits_move(&refused, misfits, err);
        misfits_sort(misfits);
    }
    misfits_free(&refused);
    free(fresh);
    return ok;
}

bool check_inputs(schema_t *schema, manifest_t *manifest, const check_adds_t *adds, bool skip,
                  misfits_t *skipped, err_t *err) {
    misfits_t misfits = {.items = NULL};
    bool ok = adds ? add_columns(schema, manifest, adds, &misfits, err)
                   : check_inputs_find(schema, manifest, CUTTER_RECORD, &misfits, NULL, err);
    ok = ok && misfits_take_out(&misfits, manifest, skip, skipped, schema->name, err);
    misfits_free(&misfits);
    return ok;
}
