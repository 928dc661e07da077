/* retry_hold: the pieces of inputs whose rejects are fixed are this load's until its end: no other load goes on with them
 * meanwhile, and no other --retry fixes the same records otherwise. */
#include "base/clock.h"
#include "base/log.h"
#include "base/stop.h"
#include "base/text.h"
#include "catalog/store/entry.h"
#include "load/run/job.h"

#include <stdlib.h>

enum { LOOK_MS = 500 };

typedef struct {
    uint32_t ordinal, piece;
} wanted_piece_t;

typedef struct {
    const places_t *places;
    const char *catalog;
    wanted_piece_t *pieces;
    size_t count, room;
} wanting_t;

/* ---- which ---- */

/* Entries of one piece mostly follow one another. */
static bool is_last(const wanting_t *wanting, uint32_t ordinal, uint32_t piece) {
    const size_t count = wanting->count;
    return count && wanting->pieces[count - 1].ordinal == ordinal &&
           wanting->pieces[count - 1].piece == piece;
}

static bool want(wanting_t *wanting, const reject_head_t *retry, err_t *err) {
    const entry_t *entry = retry->cut_off ? NULL : fixes_input(wanting->places, retry, wanting->catalog);
    const uint64_t block = retry->offset / LEDGER_BLOCK_BYTES;
    uint64_t of;
    if (!entry ||
        standing_of_reject(entry, retry->offset, retry->has_hash ? &retry->hash : NULL, &of) != STANDING_OPEN)
        return true;
    uint32_t piece = 0;
    while (block >= entry->pieces[piece].to)
        piece++;
    if (is_last(wanting, entry->ordinal, piece))
        return true;
    if (!GROW(wanting->pieces, wanting->room, wanting->count + 1, err))
        return false;
    wanting->pieces[wanting->count++] = (wanted_piece_t){entry->ordinal, piece};
    return true;
}

static int by_place(const void *a, const void *b) {
    const wanted_piece_t *left = a, *right = b;
    if (left->ordinal != right->ordinal)
        return left->ordinal < right->ordinal ? -1 : 1;
    return (left->piece > right->piece) - (left->piece < right->piece);
}

/* As the catalog has it, whatever there is of it on this host. */
static bool relate(void *context, const ledger_input_t *input, view_t *view, uint32_t *version, err_t *err) {
    (void)context, (void)err;
    *view = VIEW_SAME;
    *version = input->entry.version;
    return true;
}

/* The input of the next ones that are wanted: its other pieces are left alone. */
static bool add_input(job_t *job, const wanting_t *wanting, size_t *at, err_t *err) {
    const uint32_t ordinal = wanting->pieces[*at].ordinal;
    const entry_t *entry = entries_find(places_entries(wanting->places), ordinal);
    ledger_input_t input = {.name = entry->path, .group = job->ledger.input_count};
    if (!entry_copy(&input.entry, entry, err) || !ledger_add(&job->ledger, &input, err)) {
        entry_free(&input.entry);
        return false;
    }
    const ledger_input_t *added = &job->ledger.inputs[job->ledger.input_count - 1];
    for (uint32_t piece = 0; piece < added->work_count; piece++) {
        while (*at < wanting->count && wanting->pieces[*at].ordinal == ordinal &&
               wanting->pieces[*at].piece < piece)
            ++*at;
        if (*at == wanting->count || wanting->pieces[*at].ordinal != ordinal ||
            wanting->pieces[*at].piece != piece)
            ledger_skip(&job->ledger, &job->ledger.works[added->first_work + piece]);
    }
    while (*at < wanting->count && wanting->pieces[*at].ordinal == ordinal)
        ++*at;
    return true;
}

static bool fill_ledger(job_t *job, wanting_t *wanting, err_t *err) {
    const ledger_options_t options = {.self = job->id,
                                      .generation = job->loading.generation,
                                      .holds = true,
                                      .lease_ns = job->lease_ms * 1000000,
                                      .relate = relate,
                                      .context = job};
    bool ok = true;
    ledger_init(&job->ledger, &options);
    if (wanting->count)
        qsort(wanting->pieces, wanting->count, sizeof *wanting->pieces, by_place);
    for (size_t at = 0; ok && at < wanting->count;)
        ok = add_input(job, wanting, &at, err);
    return ok;
}

/* ---- taking and keeping ---- */

static int64_t now(void *context) {
    (void)context;
    return clock_awake_or_not_ns();
}

static uint64_t own_beats(void *context) {
    return heartbeat_count(((const job_t *)context)->heartbeat);
}

static bool nap(void *context, err_t *err) {
    ((job_t *)context)->result->waited_ns += LOOK_MS * INT64_C(1000000);
    return stop_nap(LOOK_MS, err);
}

static void waits_for(void *context, const load_seen_t *load) {
    job_t *job = context;
    if (!job->waits_told)
        log_note("the load of process %lld on %s works on the inputs of these records; this one waits until "
                 "that is done, and takes over if the other one dies",
                 (long long)load->process, load->host);
    job->waits_told = true;
}

static hold_t hold_of(job_t *job) {
    const others_t others = {.self = job->id,
                             .lease_ns = job->lease_ms * 1000000,
                             .context = job,
                             .now = now,
                             .own_beats = own_beats,
                             .wait = nap,
                             .waits_for = waits_for};
    return (hold_t){.store = job->store, .ledger = &job->ledger, .others = others};
}

bool job_hold_retried(job_t *job, err_t *err) {
    const hold_t hold = hold_of(job);
    wanting_t wanting = {.catalog = job->own_catalog};
    if (!(wanting.places = job->places_before = places_read(job->store, err)))
        return false;
    bool ok = retry_marks_read(job, err);
    for (size_t i = 0; ok && i < fixes_entries(job->fixes); i++)
        ok = want(&wanting, fixes_head(job->fixes, i), err);
    ok = ok && fill_ledger(job, &wanting, err) && hold_take(&hold, err);
    free(wanting.pieces);
    return ok;
}

bool job_keep_held(job_t *job, bool in_any_case, err_t *err) {
    const hold_t hold = hold_of(job);
    if (!hold_confirm(&hold, in_any_case, err))
        return false;
    atomic_store_explicit(&job->loading.confirmed_ns, ledger_confirmed(&job->ledger), memory_order_release);
    return true;
}

bool job_change_held(job_t *job, const entry_change_t *changes, size_t count, err_t *err) {
    const hold_t hold = hold_of(job);
    return hold_change(&hold, changes, count, err);
}

void job_give_back_held(job_t *job) {
    const hold_t hold = hold_of(job);
    err_t ignored;
    if (!hold_give_back(&hold, &ignored))
        log_detail("the inputs are this load's until others see that it has ended: %s", ignored.text);
}
