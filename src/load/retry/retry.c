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

typedef struct {
    uint32_t ordinal, piece;
} wanted_piece_t;

typedef struct {
    wanted_piece_t *pieces;
    size_t count, room;
} wanting_t;

/* ---- holding: which pieces ---- */

static int by_piece(const void *a, const void *b) {
    const wanted_piece_t *left = a, *right = b;
    if (left->ordinal != right->ordinal)
        return left->ordinal < right->ordinal ? -1 : 1;
    return (left->piece > right->piece) - (left->piece < right->piece);
}

/* Wants the piece of an open reject. Entries of one piece mostly follow one another. */
static bool want(const run_t *run, wanting_t *wanting, const fix_t *fix, err_t *err) {
    const entry_t *input =
        fix->entry->cut_off ? NULL : fixes_open_input(&run->fixes, fix, run->places_before);
    if (!input)
        return true;
    const piece_t *piece = entry_piece(input, fix->entry->offset / LEDGER_BLOCK_BYTES);
    const wanted_piece_t wanted = {input->ordinal, (uint32_t)(piece - input->pieces)};
    if (wanting->count && by_piece(&wanting->pieces[wanting->count - 1], &wanted) == 0)
        return true;
    if (!GROW(wanting->pieces, wanting->room, wanting->count + 1, err))
        return false;
    wanting->pieces[wanting->count++] = wanted;
    return true;
}

/* Takes the input as the catalog has it, whatever this host has of it. */
static bool relate(void *context, const ledger_input_t *input, view_t *view, uint32_t *version, err_t *err) {
    (void)context, (void)err;
    *view = VIEW_SAME;
    *version = input->entry.version;
    return true;
}

/* Adds the input of the next wanted pieces; its other pieces are left alone. */
static bool add_input(run_t *run, const wanting_t *wanting, size_t *at, err_t *err) {
    const uint32_t ordinal = wanting->pieces[*at].ordinal;
    const entry_t *entry = entries_find(places_entries(run->places_before), ordinal);
    ledger_input_t input = {.name = entry->path, .group = run->ledger.input_count};
    if (!entry_copy(&input.entry, entry, err) || !ledger_add(&run->ledger, &input, err)) {
        entry_free(&input.entry);
        return false;
    }
    const ledger_input_t *added = &run->ledger.inputs[run->ledger.input_count - 1];
    for (uint32_t piece = 0; piece < added->work_count; piece++) {
        const wanted_piece_t is = {ordinal, piece};
        const size_t before = *at;
        while (*at < wanting->count && by_piece(&wanting->pieces[*at], &is) == 0)
            ++*at;
        if (*at == before)
            ledger_skip(&run->ledger, &run->ledger.works[added->first_work + piece]);
    }
    return true;
}

static bool fill_ledger(run_t *run, wanting_t *wanting, err_t *err) {
    target_t *target = run->target;
    const ledger_options_t options = {.self = target->catalog.self,
                                      .generation = target->generation,
                                      .holds = true,
                                      .lease_ns = target->catalog.lease_ns,
                                      .relate = relate,
                                      .context = run};
    bool ok = true;
    ledger_init(&run->ledger, &options);
    if (wanting->count)
        qsort(wanting->pieces, wanting->count, sizeof *wanting->pieces, by_piece);
    for (size_t at = 0; ok && at < wanting->count;)
        ok = add_input(run, wanting, &at, err);
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
    wanting_t wanting = {.count = 0};
    bool ok = true;
    for (size_t i = 0; ok && i < run->fixes.entries; i++)
        ok = want(run, &wanting, &run->fixes.all[i], err);
    ok = ok && fill_ledger(run, &wanting, err) && hold_take(catalog, &run->ledger, err);
    free(wanting.pieces);
    return ok;
}

bool run_keep_held(run_t *run, bool in_any_case, err_t *err) {
    if (!hold_confirm(&run->target->catalog, &run->ledger, in_any_case, err))
        return false;
    atomic_store_explicit(&run->loading.confirmed_ns, ledger_confirmed(&run->ledger), memory_order_release);
    return true;
}

static bool run_change_held(run_t *run, const entry_change_t *changes, size_t count, err_t *err) {
    return hold_change(&run->target->catalog, &run->ledger, changes, count, err);
}

static void run_give_back_held(run_t *run) {
    err_t ignored;
    if (!hold_give_back(&run->target->catalog, &run->ledger, &ignored))
        log_detail("the inputs are this load's until others see that it has ended: %s", ignored.text);
}

/* ---- marks ---- */

struct retry_mark {
    const fix_t *fix;
    const work_t *held; /* its piece */
    fix_item_t is;
    uint64_t
        there; /* the hash of a document that an earlier run has made of its record; FIX_NOTHING: none was found */
};

/* Adds a mark to the last change if that is of the same piece, because each change rewrites the whole entry. `at` follows the
 * last change's marks. */
static size_t add_change(const run_t *run, entry_change_t *changes, size_t count, const retry_mark_t *item,
                         fix_mark_t *at) {
    entry_change_t *last = count ? &changes[count - 1] : NULL;
    *at = item->is.mark;
    if (last && last->ordinal == item->fix->input->ordinal && last->piece == item->held->piece &&
        last->fix_count < STORE_MOST_FIXES) {
        last->fix_count++;
        return count;
    }
    changes[count] = ledger_fix_change(&run->ledger, item->held, at, 1);
    return count + 1;
}

static bool write_marks(run_t *run, err_t *err) {
    entry_change_t *changes = calloc(run->mark_count + 1, sizeof *changes);
    fix_mark_t *fixes = malloc((run->mark_count + 1) * sizeof *fixes);
    size_t count = 0, used = 0;
    if (!changes || !fixes) {
        free(changes);
        free(fixes);
        return err_memory(err, run->mark_count * sizeof *changes);
    }
    for (size_t i = 0; i < run->mark_count; i++)
        if (run->marks[i].is.written)
            count = add_change(run, changes, count, &run->marks[i], &fixes[used++]);
    const bool ok = run_change_held(run, changes, count, err);
    free(changes);
    free(fixes);
    return ok;
}

static int compare_places(uint32_t ordinal, uint64_t offset, const fix_t *fix) {
    if (ordinal != fix->input->ordinal)
        return ordinal < fix->input->ordinal ? -1 : 1;
    return (offset > fix->entry->offset) - (offset < fix->entry->offset);
}

static int by_place(const void *a, const void *b) {
    const fix_t *left = ((const retry_mark_t *)a)->fix;
    return compare_places(left->input->ordinal, left->entry->offset, ((const retry_mark_t *)b)->fix);
}

static bool list_items(run_t *run, err_t *err) {
    const fixes_t *fixes = &run->fixes;
    run->mark_count = fixes->count;
    run->marks = calloc(run->mark_count + 1, sizeof *run->marks);
    if (!run->marks)
        return err_memory(err, run->mark_count * sizeof *run->marks);
    for (size_t i = 0; i < run->mark_count; i++) {
        const fix_t *fix = fixes->items[i];
        const fix_mark_t mark = {.offset = fix->entry->offset,
                                 .of = fix->of,
                                 .hash = fix->hash,
                                 .generation = run->target->generation};
        run->marks[i] = (retry_mark_t){.fix = fix,
                                       .held = ledger_held(&run->ledger, fix->input->ordinal, mark.offset),
                                       .is = {.entry = fix->input, .mark = mark, .makes = fix->makes}};
    }
    qsort(run->marks, run->mark_count, sizeof *run->marks, by_place);
    return true;
}

/* Counts marks that are new; entry: only marks of this one. */
static size_t count_new(const run_t *run, const entry_t *entry) {
    size_t count = 0;
    for (size_t i = 0; i < run->mark_count; i++)
        count += (!entry || run->marks[i].is.entry == entry) && fix_item_is_new(&run->marks[i].is);
    return count;
}

/* Refuses too many marks before any is noted: an entry that has become too large could not be written any more. */
static bool check_room(const run_t *run, err_t *err) {
    const entry_t *roomy = NULL; /* items of one entry mostly follow one another */
    const size_t all = count_new(run, NULL);
    for (size_t i = 0; i < run->mark_count; i++) {
        const entry_t *entry = run->marks[i].is.entry;
        if (entry == roomy || entry_has_room(entry, 0, all))
            continue;
        roomy = entry;
        const size_t of_entry = count_new(run, entry);
        if (of_entry && !entry_has_room(entry, 0, of_entry))
            return err_set(err, STATUS_USAGE,
                           "%s: %zu more records of %s are fixed, which is more than the catalog remembers "
                           "of one input: correct them in %s itself, and load that with --reload-changed",
                           run->plan->spec->retry, of_entry, entry->path, entry->path);
    }
    return true;
}

/* ---- marks: documents that earlier runs have made of the same records ---- */

/* Items whose documents are looked for. */
typedef struct {
    retry_mark_t **items;
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
        retry_mark_t *item = looking->items[i];
        if ((!looking->others || hash != item->is.mark.hash) && fix_item_knows(&item->is, hash))
            item->there = hash;
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
    looking_t looking = {.items = calloc(run->mark_count + 1, sizeof *looking.items), .others = true};
    bool ok = looking.items || err_memory(err, run->mark_count * sizeof *looking.items);
    for (size_t i = 0; ok && i < run->mark_count; i++)
        if (fix_item_has_others(&run->marks[i].is))
            looking.items[looking.count++] = &run->marks[i];
    ok = ok && (!looking.count || look_everywhere(run, &looking, err));
    for (size_t i = 0; ok && i < looking.count; i++) {
        const retry_mark_t *item = looking.items[i];
        const record_fixes_t known = fix_item_known(&item->is);
        if (item->there == FIX_NOTHING &&
            (known.state != FIX_ANSWERED || known.answer->hash == item->is.mark.hash))
            continue;
        run->fixes.all[item->fix - run->fixes.all].verdict = FIX_CLOSED;
        run->plan->result->fixed_otherwise++;
    }
    free(looking.items);
    return ok;
}

static bool retry_marks_note(run_t *run, err_t *err) {
    if (!list_items(run, err) || !check_room(run, err) ||
        (run->plan->schema->id && !close_fixed_otherwise(run, err)))
        return false;
    for (size_t i = 0; i < run->mark_count; i++)
        if (run->marks[i].fix->verdict == FIX_COUNTS)
            fix_item_note(&run->marks[i].is);
    return write_marks(run, err);
}

static retry_mark_t *find_item(const run_t *run, uint32_t ordinal, uint64_t offset) {
    const size_t at =
        SEARCH_FIRST(run->mark_count, i, compare_places(ordinal, offset, run->marks[i].fix) > 0);
    return at < run->mark_count && compare_places(ordinal, offset, run->marks[at].fix) == 0 ? &run->marks[at]
                                                                                            : NULL;
}

/* ---- marks: settling what is there ---- */

static bool settle_item(run_t *run, retry_mark_t *item, snapshot_read_t **reader, err_t *err) {
    const target_t *target = run->target;
    const int64_t id = item->fix->id;
    looking_t looking = {.items = &item, .count = 1};
    if (!target->plan->schema->id && fix_item_asks(&item->is)) {
        if (!*reader && !(*reader = snapshot_read_new(target->server, target->client, err)))
            return false;
        if (!snapshot_read_all(*reader, id, id + 1, find_none, find_noted, &looking, err))
            return false;
        run->plan->result->fixed_otherwise += item->there != FIX_NOTHING;
    }
    fix_item_settle(&item->is, item->there);
    return true;
}

static bool retry_marks_settle(run_t *run, const block_t *done, err_t *err) {
    snapshot_read_t *reader = NULL;
    bool ok = true;
    for (; done; done = done->next) {
        retry_mark_t *item = done->refusal ? NULL : find_item(run, done->piece->ordinal, done->offset);
        if (item) {
            item->is.stored = done->counts.of[FATE_LOADED] || done->counts.of[FATE_THERE];
            item->is.refused = done->counts.of[FATE_REJECTED] > 0;
        }
    }
    for (size_t i = 0; ok && i < run->mark_count; i++)
        ok = settle_item(run, &run->marks[i], &reader, err);
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
    const bool left_out = fix->makes == FIX_LEAVES_OUT;
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
