/* retry: load --retry, which loads the records of a reject file instead of inputs.
 *
 * - Holding: the pieces whose rejects are fixed are this load's until its end, so that no other load continues them, and no
 *   other --retry fixes the same records otherwise.
 * - Marks: the hash of a document is noted in the catalog before the document is sent, so that a later run recognises it, and
 *   confirmed when the document is there: that answers the reject. All noted hashes stay until one is confirmed, since a
 *   message of a killed load may still arrive: whichever document came first is the truth, and is known.
 * - Feeding: each record is a block of its own, and goes through parsing, batches and rejects like any other, under the `_id`
 *   of its first position. It is never marked as done; a second run finds it already there. */
#include "base/clock.h"
#include "base/log.h"
#include "base/stop.h"
#include "base/text.h"
#include "catalog/store/entry.h"
#include "format/record/record_id.h"
#include "load/read_back/read_back.h"
#include "load/rejects/fix_item.h"
#include "load/run/run.h"

#include <inttypes.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <xxhash.h>

enum { LOOK_MS = 500 };

/* ---- holding: which pieces ---- */

/* A piece as one number, by which pieces are sorted as the catalog has them. */
static uint64_t piece_key(uint32_t ordinal, size_t piece) {
    return (uint64_t)ordinal << 32 | piece;
}

static int by_number(const void *a, const void *b) {
    const uint64_t left = *(const uint64_t *)a, right = *(const uint64_t *)b;
    return (left > right) - (left < right);
}

/* Lists the pieces of open rejects, in order; *wanted has room for all entries. Returns how many there are, some twice. */
static size_t list_wanted(const run_t *run, uint64_t *wanted) {
    size_t count = 0;
    for (size_t i = 0; i < run->fixes.entries; i++) {
        const fix_t *fix = &run->fixes.all[i];
        const entry_t *input =
            fix->entry->cut_off ? NULL : fixes_open_input(&run->fixes, fix, run->places_before);
        if (input)
            wanted[count++] = piece_key(
                input->ordinal,
                (size_t)(entry_piece(input, fix->entry->offset / LEDGER_BLOCK_BYTES) - input->pieces));
    }
    qsort(wanted, count, sizeof *wanted, by_number);
    return count;
}

/* Takes the input as the catalog has it, whatever this host has of it. */
static bool relate(void *context, const ledger_input_t *input, view_t *view, uint32_t *version, err_t *err) {
    (void)context, (void)err;
    *view = VIEW_SAME;
    *version = input->entry.version;
    return true;
}

/* Adds the input of the wanted piece *at, and passes over its pieces; those that are not wanted are left alone. */
static bool add_input(run_t *run, const uint64_t **at, const uint64_t *end, err_t *err) {
    const uint32_t ordinal = (uint32_t)(**at >> 32);
    const entry_t *entry = entries_find(places_entries(run->places_before), ordinal);
    ledger_input_t input = {.name = entry->path, .group = run->ledger.input_count};
    if (!entry_copy(&input.entry, entry, err) || !ledger_add(&run->ledger, &input, err)) {
        entry_free(&input.entry);
        return false;
    }
    const ledger_input_t *added = &run->ledger.inputs[run->ledger.input_count - 1];
    for (uint32_t piece = 0; piece < added->work_count; piece++) {
        if (*at == end || **at != piece_key(ordinal, piece))
            ledger_skip(&run->ledger, &run->ledger.works[added->first_work + piece]);
        while (*at < end && **at == piece_key(ordinal, piece))
            ++*at;
    }
    return true;
}

static bool fill_ledger(run_t *run, err_t *err) {
    target_t *target = run->target;
    const ledger_options_t options = {.self = target->catalog.self,
                                      .generation = target->generation,
                                      .holds = true,
                                      .lease_ns = target->catalog.lease_ns,
                                      .relate = relate,
                                      .context = run};
    uint64_t *wanted = calloc(run->fixes.entries + 1, sizeof *wanted);
    if (!wanted)
        return err_memory(err, run->fixes.entries * sizeof *wanted);
    const uint64_t *at = wanted, *end = wanted + list_wanted(run, wanted);
    bool ok = true;
    ledger_init(&run->ledger, &options);
    while (ok && at < end)
        ok = add_input(run, &at, end, err);
    free(wanted);
    return ok;
}

/* ---- holding: taking and keeping ---- */

static bool nap(void *context, err_t *err) {
    ((run_t *)context)->plan->result->waited_ns += LOOK_MS * INT64_C(1000000);
    return stop_nap(LOOK_MS, err);
}

static void waits_for(void *context, const load_seen_t *load) {
    target_say_waits(((run_t *)context)->target, load, "the inputs of these records");
}

static bool run_hold_retried(run_t *run, err_t *err) {
    catalog_t *catalog = &run->target->catalog;
    catalog->context = run;
    catalog->wait = nap;
    catalog->waits_for = waits_for;
    return fill_ledger(run, err) && hold_take(catalog, &run->ledger, err);
}

bool run_keep_held(run_t *run, bool in_any_case, err_t *err) {
    if (!catalog_confirm(&run->target->catalog, &run->ledger, in_any_case, err))
        return false;
    atomic_store_explicit(&run->loading.confirmed_ns, ledger_confirmed(&run->ledger), memory_order_release);
    return true;
}

static void run_give_back_held(run_t *run) {
    err_t ignored;
    if (!hold_give_back(&run->target->catalog, &run->ledger, &ignored))
        log_detail("the inputs are this load's until others see that it has ended: %s", ignored.text);
}

/* ---- marks ---- */

/* Writes the marks of all fixes with is.written; those of one piece go into one change, because each change rewrites the whole
 * entry. */
static bool write_marks(run_t *run, err_t *err) {
    entry_change_t *changes = calloc(run->fixes.count + 1, sizeof *changes), *last = NULL;
    fix_mark_t *fixes = malloc((run->fixes.count + 1) * sizeof *fixes), *at = fixes;
    size_t count = 0;
    const work_t *held = NULL; /* the piece of the last change */
    for (size_t i = 0; changes && fixes && i < run->fixes.count; i++) {
        const fix_t *fix = run->fixes.items[i];
        if (!fix->is.written)
            continue;
        *at = fix->is.mark;
        if (held == fix->held && last->fix_count < STORE_MOST_FIXES) {
            last->fix_count++;
        } else {
            held = fix->held;
            last = &changes[count++];
            *last = ledger_fix_change(&run->ledger, held, at, 1);
        }
        at++;
    }
    const bool ok = changes && fixes ? hold_change(&run->target->catalog, &run->ledger, changes, count, err)
                                     : err_memory(err, run->fixes.count * sizeof *changes);
    free(changes);
    free(fixes);
    return ok;
}

static int compare_places(uint32_t ordinal, uint64_t offset, const fix_t *fix) {
    if (ordinal != fix->is.entry->ordinal)
        return ordinal < fix->is.entry->ordinal ? -1 : 1;
    return (offset > fix->entry->offset) - (offset < fix->entry->offset);
}

static int by_place(const void *a, const void *b) {
    const fix_t *left = *(fix_t *const *)a;
    return compare_places(left->is.entry->ordinal, left->entry->offset, *(fix_t *const *)b);
}

/* Gives each fix its generation and its piece, and sorts the fixes by input and place. */
static void sort_fixes(run_t *run) {
    fixes_t *fixes = &run->fixes;
    for (size_t i = 0; i < fixes->count; i++) {
        fix_t *fix = fixes->items[i];
        fix->is.mark.generation = run->target->generation;
        fix->held = ledger_held(&run->ledger, fix->is.entry->ordinal, fix->entry->offset);
    }
    qsort(fixes->items, fixes->count, sizeof *fixes->items, by_place);
}

/* Refuses too many marks before any is noted: an entry that has become too large could not be written any more. */
static bool check_room(const run_t *run, err_t *err) {
    const fixes_t *fixes = &run->fixes;
    for (size_t i = 0, next; i < fixes->count; i = next) {
        const entry_t *entry = fixes->items[i]->is.entry;
        size_t fresh = 0;
        for (next = i; next < fixes->count && fixes->items[next]->is.entry == entry; next++)
            fresh += fix_item_is_new(&fixes->items[next]->is);
        if (fresh && !entry_has_room(entry, 0, fresh))
            return err_set(err, STATUS_USAGE,
                           "%s: %zu more records of %s are fixed, which is more than the catalog remembers "
                           "of one input: correct them in %s itself, and load that with --reload-changed",
                           run->plan->spec->retry, fresh, entry->path, entry->path);
    }
    return true;
}

/* ---- marks: documents that earlier runs have made of the same records ---- */

/* Items whose documents are looked for. */
typedef struct {
    fix_t **items;
    size_t count;
    bool others; /* not the documents of their own fixes */
} looking_t;

static void find_none(void *context) {
    const looking_t *looking = context;
    for (size_t i = 0; i < looking->count; i++)
        looking->items[i]->there = FIX_NOTHING;
}

static bool find_noted(void *context, const uint8_t *document, uint32_t length, err_t *err) {
    const looking_t *looking = context;
    const uint64_t hash = XXH3_64bits(document, length);
    (void)err;
    for (size_t i = 0; i < looking->count; i++) {
        fix_t *fix = looking->items[i];
        if ((!looking->others || hash != fix->is.mark.hash) && fix_item_knows(&fix->is, hash))
            fix->there = hash;
    }
    return true;
}

/* Looks for documents by other `_id`s, which are not known: so the whole collection is read. */
static bool look_everywhere(run_t *run, looking_t *looking, err_t *err) {
    target_t *target = run->target;
    log_note(
        "of %zu of its records an earlier run has noted another document: all of %s is looked at for these",
        looking->count, server_namespace(target->server));
    snapshot_read_t *reader = snapshot_read_new(target->server, target->client, err);
    const bool ok = reader && snapshot_read_filtered(reader, NULL, NULL, find_none, find_noted, looking, err);
    snapshot_read_free(reader);
    return ok;
}

/* Does not send records that were fixed otherwise before, where the `_id`s are the data's own: a second document of the record
 * would have another one. */
static bool close_fixed_otherwise(run_t *run, err_t *err) {
    looking_t looking = {.items = calloc(run->fixes.count + 1, sizeof *looking.items), .others = true};
    bool ok = looking.items || err_memory(err, run->fixes.count * sizeof *looking.items);
    for (size_t i = 0; ok && i < run->fixes.count; i++)
        if (fix_item_has_others(&run->fixes.items[i]->is))
            looking.items[looking.count++] = run->fixes.items[i];
    ok = ok && (!looking.count || look_everywhere(run, &looking, err));
    for (size_t i = 0; ok && i < looking.count; i++) {
        fix_t *fix = looking.items[i];
        const record_fixes_t known = fix_item_known(&fix->is);
        if (fix->there == FIX_NOTHING &&
            (known.state != FIX_ANSWERED || known.answer->hash == fix->is.mark.hash))
            continue;
        fix->verdict = FIX_CLOSED;
        run->plan->result->fixed_otherwise++;
    }
    free(looking.items);
    return ok;
}

static bool retry_marks_note(run_t *run, err_t *err) {
    sort_fixes(run);
    if (!check_room(run, err) || (run->plan->schema->id && !close_fixed_otherwise(run, err)))
        return false;
    for (size_t i = 0; i < run->fixes.count; i++)
        if (run->fixes.items[i]->verdict == FIX_COUNTS)
            fix_item_note(&run->fixes.items[i]->is);
    return write_marks(run, err);
}

static fix_t *find_item(const run_t *run, uint32_t ordinal, uint64_t offset) {
    const size_t at =
        SEARCH_FIRST(run->fixes.count, i, compare_places(ordinal, offset, run->fixes.items[i]) > 0);
    return at < run->fixes.count && compare_places(ordinal, offset, run->fixes.items[at]) == 0
               ? run->fixes.items[at]
               : NULL;
}

/* ---- marks: settling what is there ---- */

static bool settle_item(run_t *run, fix_t *fix, snapshot_read_t **reader, err_t *err) {
    const target_t *target = run->target;
    const int64_t id = fix->id;
    looking_t looking = {.items = &fix, .count = 1};
    if (!target->plan->schema->id && fix_item_asks(&fix->is)) {
        if (!*reader && !(*reader = snapshot_read_new(target->server, target->client, err)))
            return false;
        if (!snapshot_read_all(*reader, id, id + 1, find_none, find_noted, &looking, err))
            return false;
        run->plan->result->fixed_otherwise += fix->there != FIX_NOTHING;
    }
    fix_item_settle(&fix->is, fix->there);
    return true;
}

static bool retry_marks_settle(run_t *run, const block_t *done, err_t *err) {
    snapshot_read_t *reader = NULL;
    bool ok = true;
    for (; done; done = done->next) {
        fix_t *fix = done->refusal ? NULL : find_item(run, done->piece->ordinal, done->offset);
        if (fix) {
            fix->is.stored = done->counts.of[FATE_LOADED] || done->counts.of[FATE_THERE];
            fix->is.refused = done->counts.of[FATE_REJECTED] > 0;
        }
    }
    for (size_t i = 0; ok && i < run->fixes.count; i++)
        ok = settle_item(run, run->fixes.items[i], &reader, err);
    snapshot_read_free(reader);
    const uint64_t others = run->plan->result->fixed_otherwise;
    if (ok && others)
        log_warn("%s: %" PRIu64
                 " of its records %s fixed otherwise by an earlier run; what that has loaded stays",
                 run->plan->spec->retry, others, others == 1 ? "was" : "were");
    return ok;
}

/* ---- feeding ---- */

/* Returns the file of a block; records of one input mostly follow one another, and share it. */
static active_piece_t *piece_of(run_t *run, const fix_t *fix, const retry_t *retry, err_t *err) {
    const schema_t *schema = run->plan->schema;
    active_piece_t *last = run->piece_count ? &run->pieces[run->piece_count - 1] : NULL;
    const entry_t *entry = run->places ? fixes_input(&run->fixes, fix, run->places) : NULL;
    dialect_t read_by = retry->dialect;
    read_by.bad_value = entry ? fixes_bad_value(schema, entry) : schema->bad_value;
    const dialect_t *dialect = pipeline_keep(&run->loading.pipeline, &read_by);
    if (dialect && last && last->dialect == dialect && strcmp(last->input->name, fix->entry->input) == 0 &&
        (!entry || last->ordinal == entry->ordinal))
        return last;
    input_file_t *input = run_keep(run, dialect ? ZEROED(input_file_t) : NULL, err);
    if (!input || !(input->name = run_keep(run, strdup(fix->entry->input), err)))
        return NULL;
    active_piece_t *piece = &run->pieces[run->piece_count++];
    *piece = (active_piece_t){.input = input, .dialect = dialect, .to = UINT64_MAX};
    if (entry) {
        piece->known_as = entry->path;
        piece->ordinal = entry->ordinal;
        piece->extents = entry->extents;
        piece->extent_count = entry->extent_count;
    }
    return piece;
}

/* Hands a record to the senders, in a block of its own. */
static bool feed_record(run_t *run, const fix_t *fix, const retry_t *retry, err_t *err) {
    const reject_entry_t *entry = fix->entry;
    pool_t *pool = run->loading.pipeline.pool;
    active_piece_t *piece = piece_of(run, fix, retry, err);
    block_t *block = piece ? calloc(1, sizeof *block) : NULL;
    if (!block)
        return piece && err_memory(err, sizeof *block);
    if (!pool_take(pool, retry->length, &block->buffer)) {
        free(block);
        return pool_closed(pool) || err_memory(err, retry->length);
    }
    memcpy(block->buffer.bytes, retry->bytes, retry->length);
    memset(block->buffer.bytes + retry->length, 0, POOL_SLACK);
    block->piece = piece;
    block->length = (uint32_t)retry->length;
    block->offset = entry->offset;
    block->first_line = entry->line;
    block->partial = block->by_itself = true;
    block->rejected_as = entry->has & REJECT_HAS_OF ? entry->of : 0;
    block->begun_before = true; /* it may have been fixed otherwise before */
    block->refusal = retry->refusal;
    if (fix->verdict == FIX_CONTRADICTS)
        block->refusal = "an entry before it in the reject file fixes the same record otherwise";
    block->id_base = fix->id;
    load_state_add_block(&run->loading);
    block->counted = true;
    if (!queue_push(run->loading.pipeline.queue, block, 0))
        pipeline_free_block(&run->loading.pipeline, block);
    return true;
}

/* False if the record of this entry is not to be loaded. */
static bool is_fed(const run_t *run, const fix_t *fix) {
    const char *path = run->plan->spec->retry;
    const unsigned long long line = fix->entry->at_line;
    const bool left_out = fix->is.makes == FIX_LEAVES_OUT;
    if (fix->verdict == FIX_CUT_OFF)
        log_warn("%s:%llu: this record was cut off when its load was killed, and is left out; run that load "
                 "again, which writes it again, or fix it, end its line, and delete the 'torn' line below "
                 "it, if there is one",
                 path, line);
    else if (left_out || fix->verdict == FIX_DOUBLE)
        log_detail("%s:%llu: this record was left out", path, line);
    run->plan->result->left_out += left_out && fix->verdict == FIX_COUNTS;
    return !left_out && (fix->verdict == FIX_COUNTS || fix->verdict == FIX_CONTRADICTS);
}

/* Feeds one record after the other: before the next one is read, whose text takes memory, too, it waits for room for as much. */
static bool feed(run_t *run, err_t *err) {
    const fixes_t *fixes = &run->fixes;
    bool ok = true;
    for (size_t i = 0; ok && i < fixes->entries; i++) {
        const fix_t *fix = &fixes->all[i];
        retry_t retry;
        if (stop_signal())
            return false;
        if (!is_fed(run, fix))
            continue;
        ok = fixes_record(fixes, fix, &retry, err) && feed_record(run, fix, &retry, err);
        free(retry.row);
        reject_file_pass(fix->file, fix->entry);
        if (ok)
            pool_wait(run->loading.pipeline.pool, retry.length);
    }
    return ok;
}

/* A thread of its own, because it waits for senders, and they wait for what the main thread hears from the catalog. */
static void *work(void *context) {
    run_t *run = context;
    err_t err;
    if (!feed(run, &err) && !stop_signal())
        pipeline_fail(&run->loading.pipeline, &err);
    queue_close(run->loading.pipeline.queue);
    load_state_end_feeding(&run->loading);
    return NULL;
}

static bool send_fixed(run_t *run, block_t **done, err_t *err) {
    pthread_t thread;
    if (caller_start_thread(&thread, work, run) != 0)
        return err_set(err, STATUS_HOST, "no more threads can be made; lower --threads");
    const bool ok = run_wait(run, done, err);
    if (!ok && !stop_signal())
        pipeline_fail(&run->loading.pipeline, err); /* stops senders, and whoever waits for room */
    load_state_close(&run->loading);                /* who waits for the catalog keeps the thread waiting */
    pthread_join(thread, NULL);
    return ok;
}

/* The files array never moves: blocks point into it. */
static bool read_fixes(run_t *run, err_t *err) {
    const plan_t *plan = run->plan;
    char *const paths[] = {(char *)plan->spec->retry};
    const fixes_options_t options = {.schema = plan->schema,
                                     .filter = plan->filter,
                                     .max_document = server_facts(run->target->server)->max_document_bytes,
                                     .name = plan->result->namespace,
                                     .catalog = run->target->own_catalog};
    if (!fixes_read(&run->fixes, paths, 1, run->places_before, &options, err))
        return false;
    run->pieces = calloc(run->fixes.entries + 1, sizeof *run->pieces);
    return run->pieces || err_memory(err, run->fixes.entries * sizeof *run->pieces);
}

/* Judges and notes marks while nobody else can change them. */
static bool judge(run_t *run, err_t *err) {
    if (!run_hold_retried(run, err) || !(run->places = places_read(run->target->catalog.store, err)) ||
        !fixes_judge(&run->fixes, run->places, &run->ledger, err))
        return false;
    run->plan->result->open_rejects = run->fixes.left_open;
    return retry_marks_note(run, err) && run_keep_held(run, true, err);
}

static bool settle(run_t *run, const block_t *done, err_t *err) {
    if (!retry_marks_settle(run, done, err) || !run_make_durable(run, err) || !write_marks(run, err))
        return false;
    run_give_back_held(run);
    return true;
}

bool run_prepare_again(run_t *run, err_t *err) {
    const plan_t *plan = run->plan;
    if (plan->spec->dry_run)
        return read_fixes(run, err);
    if (!(run->places_before = places_read(run->target->catalog.store, err)) || !read_fixes(run, err) ||
        !judge(run, err))
        return false;
    const uint64_t fit = plan->spec->memory / 2 / (run->fixes.longest + 1);
    if (plan->result->threads > fit)
        plan->result->threads = fit ? (uint32_t)fit : 1;
    return true;
}

bool run_load_again(run_t *run, err_t *err) {
    block_t *done = NULL;
    const bool ok = send_fixed(run, &done, err) && (run->plan->spec->dry_run || settle(run, done, err));
    load_state_free_blocks(done);
    return ok;
}
