/* inputs: the parts of inputs.h, except `describe`. check_inputs reads first lines, in several threads for many files, and adds
 * new columns to a guessed format. */
#include "load/plan/inputs.h"
#include "base/log.h"
#include "base/stop.h"
#include "base/text.h"
#include "base/threads.h"
#include "catalog/catalog.h"
#include "format/cut/ends.h"
#include "format/guess/guess.h"
#include "format/record/dialect.h"
#include "format/records.h"
#include "input/cutter.h"
#include "input/manifest.h"
#include "input/source.h"
#include "load/plan/format.h"

#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- check_inputs ---- */

enum {
    FIRST_BYTES = 512,    /* mostly hold a header; decompressing 4 KiB takes twice the time */
    FILES_A_THREAD = 200, /* for fewer files another thread is not worth its start */
};

typedef struct {
    const schema_t *schema;
    const manifest_t *manifest;
    size_t longest; /* the cutter skips a record that is longer */
    misfits_t *misfits;
    bool *fresh; /* as in check_inputs_find */
    atomic_size_t next;
    pthread_mutex_t lock; /* of misfits and err */
    atomic_bool failed;
    err_t *err; /* the first failure */
} check_t;

/* What one thread carries from file to file. */
typedef struct {
    check_t *check;
    source_kit_t kit;
    uint8_t *text;
    size_t room;
    dialect_before_t before;
} checker_t;

/* False if an input can only be read after others, or if reading shows nothing: a plain file that its format cannot refuse. */
static bool can_check(const check_t *check, size_t at) {
    const input_file_t *file = &check->manifest->files[at];
    if (file->kind == INPUT_STREAM || (file->kind == INPUT_PLAIN && !dialect_may_refuse(check->schema)))
        return false;
    return !input_is_in_stream(file) || !at || check->manifest->files[at - 1].archive != file->archive;
}

/* Reads the first line that is not blank. *fits: the line begins after the first window or is longer than a record may be, so
 * the cutter's first cut lacks it as well. Such a file fits here, and its feeder may refuse it. */
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
        /* fewer bytes than wanted may mean that a fault comes next */
        more = got > 0 && (refuses || *have < want);
        whole = dialect_first_line(checker->check->schema, checker->text, *have, !more, &begins, &ends);
        *fits = begins >= CUTTER_WINDOW || ends - begins > longest;
    }
    return true;
}

/* True if one of the names is not left out of this collection. */
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
                                 .unknown = check->fresh ? &unknown : NULL,
                                 .before = &checker->before};
    ok = ok && (fits || dialect_sniff_head(check->schema, &head, file->name, &dialect, err));
    if (ok && check->fresh)
        check->fresh[at] = has_fresh(check->schema, &unknown);
    text_free(&unknown);
    source_close(source);
    return ok;
}

static void take_failure(check_t *check, size_t at, err_t *err) {
    pthread_mutex_lock(&check->lock);
    const bool ok = err->status == STATUS_INPUT &&
                    misfits_add(check->misfits, check->manifest->files[at].name, err->text, at, err);
    if (!ok && !check->failed)
        *check->err = *err;
    check->failed |= !ok;
    pthread_mutex_unlock(&check->lock);
}

static void *work(void *context) {
    checker_t checker = {.check = context, .kit = {.looks = true}};
    check_t *check = context;
    err_t err;
    for (size_t at; (at = check->next++) < check->manifest->count && !check->failed && !stop_signal();)
        if (can_check(check, at) && !check_file(&checker, at, &err))
            take_failure(check, at, &err);
    source_kit_close(&checker.kit);
    free(checker.text);
    return NULL;
}

bool check_inputs_find(const schema_t *schema, const manifest_t *manifest, uint64_t longest,
                       misfits_t *misfits, bool *fresh, err_t *err) {
    check_t check = {.fresh = fresh,
                     .schema = schema,
                     .manifest = manifest,
                     .longest = longest < CUTTER_BUFFER ? CUTTER_BUFFER : (size_t)longest,
                     .misfits = misfits,
                     .err = err};
    pthread_mutex_init(&check.lock, NULL);
    team_share(work, &check, manifest->count / FILES_A_THREAD, false);
    pthread_mutex_destroy(&check.lock);
    misfits_sort(misfits);
    if (stop_signal())
        return err_set(err, (status_t)(128 + stop_signal()), "interrupted; nothing was written");
    return !check.failed;
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

/* Adds the columns of marked inputs. If that fails, adds them input by input, and inputs that fail become misfits. */
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

/* Adds columns of inputs until no input has others. Each round adds at least one column, or is the last. */
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
        misfits_free(misfits); /* these columns cannot be added: now they are refused */
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

/* ---- misfits ---- */

/* Bytes of a line in a list, all of which has to fit into an err_t. */
enum { LINE_MOST = 170 };

bool misfits_add(misfits_t *misfits, const char *name, const char *reason, size_t input, err_t *err) {
    const misfit_t misfit = {strdup(name), strdup(reason), input, false};
    const bool named = (misfit.name && misfit.reason) || err_memory(err, strlen(reason));
    if (named && GROW(misfits->items, misfits->room, misfits->count + 1, err)) {
        misfits->items[misfits->count++] = misfit;
        return true;
    }
    free(misfit.name);
    free(misfit.reason);
    return false;
}

static int by_input(const void *a, const void *b) {
    const misfit_t *one = a, *other = b;
    return (one->input > other->input) - (one->input < other->input);
}

void misfits_sort(misfits_t *misfits) {
    if (misfits->count)
        qsort(misfits->items, misfits->count, sizeof *misfits->items, by_input);
}

/* Prints the first misfits that wait, or the first others, a line each. Long lines lose their middle, where folders are.
 * Returns how many there are. */
static size_t list(const misfits_t *misfits, size_t from, bool waits, char *out, size_t room) {
    const int head = LINE_MOST / 3, tail = LINE_MOST - head - 3;
    size_t used = 0, count = 0;
    out[0] = '\0';
    for (size_t i = from; i < misfits->count; i++) {
        const char *reason = misfits->items[i].reason;
        const size_t length = strlen(reason);
        if (misfits->items[i].waits != waits || count++ >= MISFITS_SHOWN)
            continue;
        const int wrote = length <= LINE_MOST || count < 4
                              ? snprintf(out + used, room - used, "\n  %.1000s", reason)
                              : snprintf(out + used, room - used, "\n  %.*s...%s", head, reason,
                                         reason + length - (size_t)tail);
        used += wrote > 0 && (size_t)wrote < room - used ? (size_t)wrote : 0;
    }
    if (count > MISFITS_SHOWN)
        snprintf(out + used, room - used, "\n  ... and %zu more", count - MISFITS_SHOWN);
    return count;
}

bool misfits_is_header(const char *name, const char *reason) {
    const size_t length = strlen(name);
    return strncmp(reason, name, length) == 0 && strncmp(reason + length, ":1:", 3) == 0;
}

/* True if an option of the command is the cause, so that no other format would help. */
static bool is_asked_for(const char *reason) {
    return strstr(reason, ", which --id, the filter") || strstr(reason, " (--new-columns refuse)");
}

/* Sets the refusal, status 5: how many of `files` do not fit, and a line for each of the first ones; for a single input its own
 * sentence. may_skip: the command takes --skip-bad-files. Always false. */
static bool misfits_refuse(const misfits_t *misfits, size_t files, const char *format, bool may_skip,
                           err_t *err) {
    static const char anew[] = "which guesses anew, or load both anew with a --format that fits both";
    const misfit_t *first = &misfits->items[0];
    const bool header = format && misfits_is_header(first->name, first->reason),
               asked = is_asked_for(first->reason),
               guessed = header && !asked && strcmp(format, GUESS_FORMAT) == 0;
    char lines[sizeof err->text - 700];
    if (files == 1 && (!header || asked))
        return err_set(err, STATUS_INPUT, "%s", first->reason);
    if (files == 1 && guessed)
        return err_set(err, STATUS_INPUT,
                       "%.3000s; it does not fit the format that was guessed from another file, and nothing "
                       "was written: load it into another collection, %s",
                       first->reason, anew);
    if (files == 1)
        return err_set(err, STATUS_INPUT,
                       "%.3000s; it does not fit the format %.80s (`tipple formats` lists the formats), and "
                       "nothing was written",
                       first->reason, format);
    const size_t bad = list(misfits, 0, false, lines, sizeof lines);
    if (!format)
        err_set(err, STATUS_INPUT, "%zu of %zu files cannot be loaded%s; nothing was written%s", bad, files,
                bad < misfits->count ? ", and the others come after it (--existing replace)" : "", lines);
    else
        err_set(err, STATUS_INPUT, "%zu of %zu files %s not fit the format %.80s; nothing was written%s", bad,
                files, bad == 1 ? "does" : "do", format, lines);
    if (guessed && may_skip)
        err_add(err, "\nLoad them into another collection, %s", anew);
    if (may_skip && misfits->count < files)
        err_add(err, "\n%s", MISFITS_REMEDY);
    return false;
}

void misfits_warn(const misfits_t *misfits, size_t from, size_t files) {
    err_t err;
    char lines[sizeof err.text - 200];
    const size_t bad = list(misfits, from, false, lines, sizeof lines);
    if (bad)
        log_warn("%zu of %zu files %s skipped%s", bad, files, bad == 1 ? "is" : "are", lines);
    const size_t waiting = list(misfits, from, true, lines, sizeof lines);
    if (waiting)
        log_warn("%zu of %zu files %s: --existing replace loads files in their order%s", waiting, files,
                 waiting == 1 ? "waits" : "wait", lines);
}

bool misfits_add_waiting(misfits_t *misfits, const char *name, const char *other, size_t input, err_t *err) {
    err_t why;
    err_set(&why, STATUS_INPUT, "%.1000s waits for %.1000s, which comes before it and was skipped", name,
            other);
    if (!misfits_add(misfits, name, why.text, input, err))
        return false;
    misfits->items[misfits->count - 1].waits = true;
    return true;
}

/* Takes misfits out of the manifest. Archives are no files, and stay. */
static void take_out(manifest_t *manifest, const misfits_t *misfits) {
    size_t left = 0, misfit = 0;
    for (size_t i = 0; i < manifest->count; i++) {
        if (misfit < misfits->count && misfits->items[misfit].input == i) {
            manifest_free_file(&manifest->files[i]);
            misfit++;
        } else {
            manifest->files[left++] = manifest->files[i];
        }
    }
    manifest->count = left;
}

bool misfits_move(misfits_t *misfits, misfits_t *to, err_t *err) {
    if (!GROW(to->items, to->room, to->count + misfits->count, err))
        return false;
    for (size_t i = 0; i < misfits->count; i++)
        to->items[to->count++] = misfits->items[i];
    misfits->count = 0;
    return true;
}

bool misfits_take_out(misfits_t *misfits, manifest_t *manifest, bool skip, misfits_t *skipped,
                      const char *format, err_t *err) {
    if (!misfits->count)
        return true;
    if (!skip)
        return misfits_refuse(misfits, manifest->count, format, skipped, err);
    const size_t files = manifest->count + skipped->count, from = skipped->count;
    if (!from || misfits->items[0].input < skipped->after)
        skipped->after = misfits->items[0].input;
    take_out(manifest, misfits);
    if (!misfits_move(misfits, skipped, err))
        return false;
    if (!manifest->count)
        return misfits_refuse(skipped, files, from ? NULL : format, true, err);
    misfits_warn(skipped, from, files);
    return true;
}

bool misfits_let_wait(manifest_t *manifest, misfits_t *skipped, err_t *err) {
    misfits_t waiting = {.items = NULL};
    bool ok = true;
    for (size_t i = skipped->after; ok && skipped->count && i < manifest->count; i++)
        ok = misfits_add_waiting(&waiting, manifest->files[i].name, skipped->items[0].name, i, err);
    ok = ok && misfits_take_out(&waiting, manifest, true, skipped, NULL, err);
    misfits_free(&waiting);
    return ok;
}

/* ---- sample ---- */

/* RECORDS: in all. Neighbours may be alike, so a plain file, where every place costs the same, is read at many places; a
 * compressed file has to be read up to the last one. */
enum { RECORDS = 2048, MOST_FILES = 32, LEAST_PLACES = 16, STEP = 4 << 20 };

/* Bytes that are read at a place; the first place of a file also has to show its dialect. */
enum { FIRST_PIECE = 64 * 1024, PIECE = 8 * 1024 };

typedef struct {
    const schema_t *schema;
    const shardkey_t *key;
    peek_t *peek;
    hashed_t *hashed;
    dialect_t dialect;
    uint8_t *text;    /* FIRST_PIECE bytes, with slack before and after */
    source_kit_t kit; /* reads a compressed tar once for all of its members */
    size_t files, most_of_a_piece, taken;
    bool failed; /* memory is out */
    sample_t *sample;
    size_t slots;
    bson_t values;
} sampler_t;

static bool keep(sampler_t *sampler) {
    sample_t *sample = sampler->sample;
    return GROW(sample->keys, sampler->slots, sample->count + 1, NULL) &&
           (sample->keys[sample->count] = bson_copy(&sampler->values)) && ++sample->count;
}

static bool see_key(void *context, const peeked_t *peeked) {
    sampler_t *sampler = context;
    if (peeked->parsed != PARSED_DOCUMENT)
        return true;
    sampler->taken++;
    if (shardkey_of(sampler->key, sampler->hashed, peeked->document, peeked->record->document_length,
                    &sampler->values))
        sampler->failed |= !keep(sampler);
    return sampler->taken < sampler->most_of_a_piece && !sampler->failed;
}

/* Takes some records of a piece of whole lines. */
static bool take_piece(sampler_t *sampler, const uint8_t *text, size_t length, bool file_start) {
    err_t ignored;
    sampler->taken = 0;
    return peek_text(sampler->peek, &sampler->dialect, text, length, file_start, see_key, sampler,
                     &ignored) != PEEK_FAULT &&
           !sampler->failed;
}

size_t sample_find_document(const uint8_t *text, size_t length) {
    enum { IN_A_ROW = 3 };
    bool lies;
    bson_walk_t walk;
    for (size_t at = 0, next, document; at < length; at++) {
        int whole = 0;
        for (next = at;
             whole < IN_A_ROW && (document = bson_span_find(text + next, length - next, &lies)) != 0 &&
             bson_walk(text + next, (uint32_t)document, false, &walk);
             next += document)
            whole++;
        if (whole == IN_A_ROW)
            return at;
    }
    return length;
}

/* Takes records of the whole lines at one place of a file. *more: the file seems to continue. False: out of memory. */
static bool look_at(sampler_t *sampler, const input_file_t *file, source_t *source, uint64_t offset,
                    bool *more) {
    err_t ignored;
    const ssize_t piece = offset ? PIECE : FIRST_PIECE;
    uint8_t *text = sampler->text + POOL_SLACK, *first = text;
    *more = false;
    if (offset && !source_skip_to(source, offset, &ignored))
        return true;
    ssize_t got = source_read(source, text, (size_t)piece, &ignored);
    if (got <= 0)
        return true;
    const bool bson = sampler->schema->kind == RECORDS_BSON;
    if (offset && bson)
        first += sample_find_document(text, (size_t)got);
    else if (offset && (first = memchr(text, '\n', (size_t)got)))
        first++;
    uint8_t *last = bson ? NULL : memrchr(text, '\n', (size_t)got);
    uint8_t *end = got < piece || !last ? text + got : last + 1;
    if (!first || first >= end)
        return true;
    memset(text + got, 0, POOL_SLACK);
    if (!offset && !dialect_sniff(sampler->schema, first, (size_t)(end - first), file->name,
                                  &sampler->dialect, &ignored))
        return true;
    *more = got == piece;
    return take_piece(sampler, first, (size_t)(end - first), offset == 0);
}

static bool look_into(sampler_t *sampler, const input_file_t *file) {
    err_t ignored;
    source_t *source = source_open_in(&sampler->kit, file, &ignored);
    bool ok = true, more = source != NULL, anywhere = input_has_places(file);
    uint64_t places = anywhere ? RECORDS / sampler->files : LEAST_PLACES;
    uint64_t step = anywhere ? file->text_bound / places : STEP;
    if (step < PIECE && anywhere) {
        places = file->text_bound / PIECE + 1;
        step = PIECE;
    }
    sampler->most_of_a_piece = (size_t)(RECORDS / sampler->files / places) + 1;
    for (uint64_t place = 0; ok && more && place < places; place++)
        ok = look_at(sampler, file, source, place * step, &more);
    if (source)
        source_close(source);
    return ok;
}

bool sample_take(const schema_t *schema, const manifest_t *manifest, const shardkey_t *key, sample_t *sample,
                 err_t *err) {
    sampler_t sampler = {.schema = schema, .key = key, .sample = sample, .kit = {.looks = true}};
    *sample = (sample_t){NULL, 0};
    bson_init(&sampler.values);
    sampler.peek = peek_new(schema, true, err);
    sampler.hashed = hashed_new();
    sampler.text = calloc(1, FIRST_PIECE + 2 * POOL_SLACK);
    bool ok = sampler.peek && sampler.hashed && sampler.text;
    size_t files = sampler.files = manifest->count < MOST_FILES ? manifest->count : MOST_FILES;
    for (size_t i = 0; ok && i < files; i++) {
        const input_file_t *file = &manifest->files[i * manifest->count / files];
        if (file->kind != INPUT_STREAM)
            ok = look_into(&sampler, file);
    }
    peek_free(sampler.peek);
    hashed_destroy(sampler.hashed);
    bson_destroy(&sampler.values);
    free(sampler.text);
    source_kit_close(&sampler.kit);
    if (!ok)
        sample_free(sample);
    return ok || err_memory(err, FIRST_PIECE);
}

void sample_free(sample_t *sample) {
    for (size_t i = 0; i < sample->count; i++)
        bson_destroy(sample->keys[i]);
    free(sample->keys);
    *sample = (sample_t){NULL, 0};
}

/* ---- copies ---- */

static const char mark[] = "!copy-";

bool copies_is_mark(const char *end) {
    const char *digits = end + sizeof mark - 1;
    return strncmp(end, mark, sizeof mark - 1) == 0 && *digits && !digits[strspn(digits, "0123456789")];
}

const char *copies_mark_of(const char *name) {
    const char *end = strrchr(name, mark[0]);
    return end && copies_is_mark(end) ? end : name + strlen(name);
}

bool copies_is_of(const char *input, const char *file) {
    const size_t length = strlen(file);
    return strncmp(input, file, length) == 0 && (!input[length] || copies_is_mark(input + length));
}

/* Copies a file. Memory that it owns is copied or left out: the metadata of a dump are read once, as is the head. */
static bool copy_file(input_file_t *to, const input_file_t *from, const char *name, err_t *err) {
    *to = *from;
    to->begun = NULL;
    to->metadata = NULL;
    to->head = (input_head_t){.bytes = NULL};
    to->object = remote_share(from->object);
    to->path = strdup(from->path);
    to->name = strdup(name);
    to->collection = from->collection ? strdup(from->collection) : NULL;
    if (to->path && to->name && (!from->collection || to->collection))
        return true;
    manifest_free_file(to);
    return err_memory(err, strlen(from->path));
}

/* Copies an archive. Members in a row that share one are read in one pass, so their copies need their own. */
static bool copy_archive(manifest_t *manifest, const input_file_t **archive, err_t *err) {
    input_file_t *made = calloc(1, sizeof *made);
    if (!made || !copy_file(made, *archive, (*archive)->name, err)) {
        free(made);
        return made ? false : err_memory(err, sizeof *made);
    }
    manifest->archives[manifest->archive_count++] = made;
    *archive = made;
    return true;
}

static bool add_copy(manifest_t *manifest, size_t number, uint32_t copy, err_t *err) {
    const input_file_t *from = &manifest->files[number];
    input_file_t *to = &manifest->files[manifest->count];
    const size_t bytes = strlen(from->name) + sizeof mark + 10;
    char *name = malloc(bytes);
    if (!name)
        return err_memory(err, bytes);
    snprintf(name, bytes, "%s%s%u", from->name, mark, copy);
    const bool made = copy_file(to, from, name, err);
    free(name);
    if (!made)
        return false;
    manifest->count++;
    if (!from->archive)
        return true;
    if (!number || from->archive != from[-1].archive)
        return copy_archive(manifest, &to->archive, err);
    to->archive = to[-1].archive;
    return true;
}

static bool check(const manifest_t *manifest, bool copied, err_t *err) {
    for (size_t i = 0; i < manifest->count; i++) {
        const input_file_t *file = &manifest->files[i];
        const char *end = strrchr(file->name, '!');
        if (end && copies_is_mark(end))
            return err_set(err, STATUS_USAGE,
                           "%s: names that end in %s are those of copies (--copies): give it another one",
                           file->name, end);
        if (copied && file->kind == INPUT_STREAM)
            return err_set(err, STATUS_USAGE,
                           "--copies: %s is a stream, which can be read only once: give files", file->name);
    }
    return true;
}

bool copies_make(manifest_t *manifest, uint32_t copies, err_t *err) {
    const size_t files = manifest->count;
    if (!check(manifest, copies > 1, err))
        return false;
    if (copies < 2 || !files)
        return true;
    size_t room = files, archive_room = manifest->archive_count;
    if (!GROW(manifest->files, room, files * copies, err) ||
        !GROW(manifest->archives, archive_room, archive_room + files * copies, err))
        return false;
    for (uint32_t copy = 2; copy <= copies; copy++)
        for (size_t i = 0; i < files; i++)
            if (!add_copy(manifest, i, copy, err))
                return false;
    return true;
}
