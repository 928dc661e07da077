/* What the ledger has read from the catalog, and what follows from it: which loads are dead, the state of each piece,
 * whose turn it is, and what the load does next. */
#include "catalog/ledger/ledger.h"
#include "base/text.h"

#include <stdlib.h>

/* ---- liveness ---- */

static watched_t *find_watched(const liveness_t *liveness, const load_id_t *load) {
    for (size_t i = 0; i < liveness->count; i++)
        if (load_id_equal(&liveness->watched[i].load.id, load))
            return &liveness->watched[i];
    return NULL;
}

static watched_t *add_watched(liveness_t *liveness, const load_seen_t *load, err_t *err) {
    if (!GROW(liveness->watched, liveness->room, liveness->count + 1, err))
        return NULL;
    watched_t *watched = &liveness->watched[liveness->count++];
    *watched = (watched_t){.load = *load};
    return watched;
}

bool liveness_update(liveness_t *liveness, const loads_t *loads, int64_t now_ns, uint64_t own_beats,
                     err_t *err) {
    for (size_t i = 0; i < liveness->count; i++)
        liveness->watched[i].listed = liveness->watched[i].alive = false;
    for (size_t i = 0; i < loads->count; i++) {
        const load_seen_t *load = &loads->loads[i];
        watched_t *watched = find_watched(liveness, &load->id);
        const bool is_new = !watched;
        if (is_new && !(watched = add_watched(liveness, load, err)))
            return false;
        const bool changed = is_new || watched->load.beat != load->beat;
        if (changed || watched->fresh) {
            watched->since_ns = now_ns;
            watched->own_beats = own_beats;
        }
        watched->fresh = changed;
        watched->load = *load;
        watched->listed = true;
        watched->alive = changed && liveness->updated && !load->ended;
        watched->dead = load->ended || (!changed && now_ns - watched->since_ns >= liveness->lease_ns &&
                                        own_beats - watched->own_beats >= LIVENESS_OWN_BEATS);
    }
    liveness->updated = true;
    return true;
}

bool liveness_is_dead(const liveness_t *liveness, const load_id_t *load) {
    const watched_t *watched = find_watched(liveness, load);
    return !watched || !watched->listed || watched->dead;
}

const load_seen_t *liveness_find(const liveness_t *liveness, const load_id_t *load) {
    const watched_t *watched = find_watched(liveness, load);
    return watched && watched->listed ? &watched->load : NULL;
}

const load_seen_t *liveness_alive(const liveness_t *liveness, const load_id_t *load) {
    const watched_t *watched = find_watched(liveness, load);
    return watched && watched->alive ? &watched->load : NULL;
}

void liveness_free(liveness_t *liveness) {
    free(liveness->watched);
    *liveness = (liveness_t){.lease_ns = liveness->lease_ns};
}

/* ---- the ledger ---- */

void ledger_init(ledger_t *ledger, const ledger_options_t *options) {
    *ledger = (ledger_t){
        .options = *options, .liveness = {.lease_ns = options->lease_ns}, .asked_ns = options->asked_ns};
}

void ledger_free(ledger_t *ledger) {
    for (size_t i = 0; i < ledger->work_count; i++)
        ledger_forget(&ledger->works[i]);
    for (size_t i = 0; i < ledger->input_count; i++)
        entry_free(&ledger->inputs[i].entry);
    free(ledger->works);
    free(ledger->order);
    free(ledger->by_ordinal);
    free(ledger->inputs);
    liveness_free(&ledger->liveness);
}

void ledger_forget(work_t *work) {
    for (size_t i = 0; i < work->held_count; i++)
        free((reject_mark_t *)work->held[i].rejects);
    free(work->held);
    free(work->tail_rejects);
    work->tail_rejects = NULL;
    work->tail_reject_count = 0;
    work->held = NULL;
    work->held_count = work->held_room = 0;
    work->handed_out = work->dirty = work->fed = work->torn_written = work->outgrown = false;
    work->tail = (tail_t){0};
    work->tail_parts = work->tail_settled = 0;
    work->torn = (torn_t){0};
    free(work->gone);
    work->gone = NULL;
    work->gone_count = work->gone_room = 0;
    work->epoch = 0;
}

piece_t *ledger_piece(const ledger_t *ledger, const work_t *work) {
    return &ledger->inputs[work->input].entry.pieces[work->piece];
}

/* Only the last piece grows with its input; the others are the same in every version. */
static bool is_last(const ledger_input_t *input, const work_t *work) {
    return work->piece + 1 == input->entry.piece_count;
}

static uint32_t wanted_version(const ledger_input_t *input, const work_t *work) {
    return is_last(input, work) ? input->version : 1;
}

/* ---- what a piece is, as it was read ---- */

/* True if the piece, as it was read, is complete. */
static bool reads_complete(const ledger_t *ledger, const work_t *work, const piece_t *read) {
    return piece_is_complete(read, wanted_version(&ledger->inputs[work->input], work),
                             ledger->options.generation, ledger->options.safe);
}

static bool is_complete(const ledger_t *ledger, const work_t *work) {
    return !ledger->options.holds && reads_complete(ledger, work, ledger_piece(ledger, work));
}

bool ledger_ends_before(const ledger_input_t *input, const piece_t *piece) {
    return input->view == VIEW_OLDER && piece == &input->entry.pieces[input->entry.piece_count - 1];
}

bool ledger_needs_check(const ledger_input_t *input, const piece_t *piece) {
    const bool ends_before = ledger_ends_before(input, piece);
    const version_t *seen = ends_before ? entry_version(&input->entry, input->version) : NULL;
    const int64_t then_ns = !ends_before ? piece->modified_ns : seen ? seen->completed_ns : 0;
    return (piece->complete || piece->done.count) && (input->stream || then_ns != input->seen.modified_ns);
}

static void follow_order(ledger_t *ledger) {
    while (ledger->order && ledger->order_from < ledger->work_count &&
           ledger->works[ledger->order[ledger->order_from]].state == WORK_DONE)
        ledger->order_from++;
}

void ledger_become(ledger_t *ledger, work_t *work, work_state_t state) {
    const size_t at = (size_t)(work - ledger->works);
    work->state = state;
    if (state != WORK_DONE && state != WORK_OURS && at < ledger->first_open)
        ledger->first_open = at;
    if ((state == WORK_OURS || state == WORK_CHECK) && at < ledger->hand_out_from)
        ledger->hand_out_from = at;
    if (state == WORK_DONE)
        follow_order(ledger);
}

void ledger_own(ledger_t *ledger, work_t *work) {
    work->epoch = ledger_piece(ledger, work)->epoch;
    work->confirmed_ns = ledger->asked_ns;
    ledger->inputs[work->input].taken = true;
    ledger_become(ledger, work, WORK_OURS);
}

/* OPEN or OTHERS. A piece that names us was taken by a command whose reply we did not get. */
static work_state_t to_be_taken(const ledger_t *ledger, const work_t *work) {
    const load_id_t *owner = &ledger_piece(ledger, work)->owner;
    return load_id_is_nobody(owner) || load_id_equal(owner, &ledger->options.self) ? WORK_OPEN : WORK_OTHERS;
}

void ledger_complete(ledger_t *ledger, work_t *work) {
    ledger_become(ledger, work, work->again ? to_be_taken(ledger, work) : WORK_DONE);
}

/* True if what was done of the piece must be compared with the text first. */
static bool must_check(const ledger_t *ledger, const work_t *work) {
    return !work->checked && ledger_needs_check(&ledger->inputs[work->input], ledger_piece(ledger, work));
}

bool ledger_believes(const ledger_t *ledger, const work_t *work) {
    const piece_t *piece = ledger_piece(ledger, work);
    const bool anew = work->again && !must_check(ledger, work);
    const bool unbelieved = anew || (ledger->options.safe && piece->unsafe);
    return piece->generation == ledger->options.generation && !unbelieved;
}

/* The state of a piece that is not ours, from what was read. */
static void classify(ledger_t *ledger, work_t *work) {
    if (work->state == WORK_DONE || work->state == WORK_CHECK)
        return;
    if (is_complete(ledger, work)) {
        work->by_others = work->state == WORK_OTHERS;
        if (must_check(ledger, work))
            ledger_become(ledger, work, WORK_CHECK);
        else
            ledger_complete(ledger, work);
    } else {
        ledger_become(ledger, work, to_be_taken(ledger, work));
    }
}

/* ---- reading ---- */

static bool relate(ledger_t *ledger, ledger_input_t *input, err_t *err) {
    const ledger_options_t *options = &ledger->options;
    /* a version that this load has seen stays one for it, even if the catalog has dropped it since; a load that only
     * holds the input reads no version */
    const uint32_t known = input->view == VIEW_GROWN || options->holds ? 0 : input->version;
    if (known && known < input->entry.version && !entry_version(&input->entry, known)) {
        input->view = VIEW_OLDER;
        return true;
    }
    if (!options->relate(options->context, input, &input->view, &input->version, err))
        return false;
    if (input->view == VIEW_GROWN)
        input->version = input->entry.version + 1;
    return input->view != VIEW_CHANGED ||
           err_set(err, STATUS_INPUT,
                   "%s has changed since it was loaded: it does not begin with the loaded content any more. "
                   "Put the old content back, or give --reload-changed, which removes its documents and "
                   "loads it again",
                   input->name);
}

/* A load that knows an earlier collection must not undo what was done for the current one. */
static bool check_generation(const ledger_t *ledger, const entry_t *entry, const char *name, err_t *err) {
    for (size_t i = 0; i < entry->piece_count; i++)
        if (entry->pieces[i].generation > ledger->options.generation)
            return err_set(err, STATUS_SERVER,
                           "the collection got another UUID while %s was loaded, and another load continues "
                           "with that: run the same command again",
                           name);
    return true;
}

/* True if the piece was registered as taken by this load, in the first portion of its new inputs, and is still ours. */
static bool was_registered_as_taken(const ledger_t *ledger, const work_t *work) {
    const piece_t *piece = ledger_piece(ledger, work);
    return load_id_equal(&piece->owner, &ledger->options.self) &&
           piece->generation == ledger->options.generation && ledger->inputs[work->input].view == VIEW_SAME;
}

/* Counts the records that this run will not read. It reads those of the tail, unless the whole piece is done for this
 * version. */
static counts_t done_before(const ledger_t *ledger, const work_t *work) {
    const piece_t *piece = ledger_piece(ledger, work);
    if (!ledger_believes(ledger, work))
        return (counts_t){.read = 0};
    return is_complete(ledger, work) ? piece_counts(piece) : piece->counts;
}

bool ledger_add(ledger_t *ledger, ledger_input_t *input, err_t *err) {
    const size_t count = input->entry.piece_count;
    if (!GROW(ledger->inputs, ledger->input_room, ledger->input_count + 1, err) ||
        !GROW(ledger->works, ledger->work_room, ledger->work_count + count, err))
        return false;
    const size_t number = ledger->input_count++;
    ledger_input_t *added = &ledger->inputs[number];
    *added = *input;
    input->entry = (entry_t){0};
    added->first_work = ledger->work_count;
    added->work_count = count;
    if (!check_generation(ledger, &added->entry, added->name, err) || !relate(ledger, added, err))
        return false;
    for (size_t i = 0; i < count; i++) {
        work_t *work = &ledger->works[ledger->work_count++];
        *work = (work_t){.input = number, .piece = (uint32_t)i, .state = WORK_OPEN};
        if (was_registered_as_taken(ledger, work)) {
            ledger_own(ledger, work);
            continue;
        }
        work->again = ledger->options.again;
        const counts_t before = done_before(ledger, work);
        work->read_before = before.read;
        work->rejected_before = before.of[FATE_REJECTED];
        classify(ledger, work);
    }
    return true;
}

/* True if the piece was seen complete, and another command is doing it again (without --unsafe, or because it is
 * removed). This run continues with what it saw, rejects included. */
static bool is_begun_anew(const ledger_t *ledger, const work_t *work, const piece_t *read) {
    return (work->state == WORK_DONE || work->state == WORK_CHECK) && is_complete(ledger, work) &&
           !reads_complete(ledger, work, read);
}

/* What we know of a piece of ours is newer than what was read, and stays. */
static void keep_own_progress(const ledger_t *ledger, const ledger_input_t *input, entry_t *read) {
    for (size_t i = 0; i < input->work_count; i++) {
        const work_t *work = &ledger->works[input->first_work + i];
        piece_t *own = ledger_piece(ledger, work), *other = &read->pieces[i], newer = *own;
        if (work->state != WORK_OURS && !is_begun_anew(ledger, work, other))
            continue;
        *own = *other;
        *other = newer;
    }
}

/* True if our write that completed the piece was made, although its reply was lost or said otherwise. */
static bool was_completed_by_us(const ledger_t *ledger, const work_t *work, const piece_t *read) {
    return work->fed && read->epoch == work->epoch && load_id_is_nobody(&read->owner) &&
           reads_complete(ledger, work, read);
}

/* Takes in an entry, of which only the ordinal is left. A piece that another load has taken from us ends the load, like an
 * input that was removed: it stays unconfirmed, so nothing more of it is sent. */
static bool read_entry(ledger_t *ledger, ledger_input_t *input, entry_t *read, err_t *err) {
    if (read->removed)
        return err_set(err, STATUS_SERVER,
                       "%s was removed from the catalog by another command while it was loaded: run the same "
                       "command again",
                       input->name);
    if (read->piece_count != input->entry.piece_count)
        return err_set(err, STATUS_SERVER,
                       "the catalog's entry of %s was changed by another program: start over with --drop",
                       input->name);
    if (!check_generation(ledger, read, input->name, err))
        return false;
    const bool another_version = read->version != input->entry.version;
    for (size_t i = 0; i < input->work_count; i++) {
        work_t *work = &ledger->works[input->first_work + i];
        const piece_t *piece = &read->pieces[i];
        if (work->state != WORK_OURS)
            continue;
        if (was_completed_by_us(ledger, work, piece)) {
            ledger_forget(work);
            ledger_complete(ledger, work);
        } else if (piece->epoch != work->epoch || !load_id_equal(&piece->owner, &ledger->options.self)) {
            return err_set(err, STATUS_SERVER,
                           "another load has taken over %s, because this one gave no sign of life for too "
                           "long: run the same command again",
                           input->name);
        } else {
            work->confirmed_ns = ledger->asked_ns;
        }
    }
    keep_own_progress(ledger, input, read);
    entry_free(&input->entry);
    input->entry = *read;
    *read = (entry_t){.ordinal = input->entry.ordinal};
    input->read_number = ledger->readings;
    if (another_version && !relate(ledger, input, err))
        return false;
    for (size_t i = 0; i < input->work_count; i++)
        if (ledger->works[input->first_work + i].state != WORK_OURS)
            classify(ledger, &ledger->works[input->first_work + i]);
    return true;
}

static int by_ordinal(const void *a, const void *b, void *context) {
    const ledger_input_t *inputs = context;
    const uint32_t left = inputs[*(const size_t *)a].entry.ordinal,
                   right = inputs[*(const size_t *)b].entry.ordinal;
    return (left > right) - (left < right);
}

/* NULL: the entry is not of our inputs. */
static ledger_input_t *input_of(ledger_t *ledger, uint32_t ordinal) {
    const size_t *sorted = ledger->by_ordinal;
    const size_t at = SEARCH_FIRST(ledger->sorted, i, ledger->inputs[sorted[i]].entry.ordinal < ordinal);
    ledger_input_t *input = at < ledger->sorted ? &ledger->inputs[sorted[at]] : NULL;
    return input && input->entry.ordinal == ordinal ? input : NULL;
}

bool ledger_begin_reading(ledger_t *ledger, int64_t asked_ns, err_t *err) {
    const size_t count = ledger->input_count;
    if (ledger->sorted < count) {
        if (!GROW(ledger->by_ordinal, ledger->by_ordinal_room, count, err))
            return false;
        for (; ledger->sorted < count; ledger->sorted++)
            ledger->by_ordinal[ledger->sorted] = ledger->sorted;
        qsort_r(ledger->by_ordinal, count, sizeof *ledger->by_ordinal, by_ordinal, ledger->inputs);
    }
    ledger->asked_ns = asked_ns;
    ledger->readings++;
    return true;
}

void ledger_note_removed(ledger_t *ledger, const entries_t *entries) {
    for (size_t i = 0; i < entries->count; i++) {
        ledger_input_t *input = input_of(ledger, entries->entries[i].ordinal);
        if (input)
            input->removed |= entries->entries[i].removed;
    }
}

bool ledger_read(ledger_t *ledger, entries_t *entries, err_t *err) {
    bool ok = true;
    for (size_t i = 0; ok && i < entries->count; i++) {
        ledger_input_t *input = input_of(ledger, entries->entries[i].ordinal);
        ok = !input || read_entry(ledger, input, &entries->entries[i], err);
    }
    return ok;
}

bool ledger_has_read_all(const ledger_t *ledger, err_t *err) {
    for (size_t i = 0; i < ledger->input_count; i++) {
        const ledger_input_t *input = &ledger->inputs[i];
        if (input->read_number != ledger->readings && !ledger_is_settled(ledger, input))
            return err_set(err, STATUS_SERVER,
                           "the catalog's entry of %s is gone: the catalog was removed or changed while it "
                           "was loaded; start over with --drop",
                           input->name);
    }
    return true;
}

/* ---- the order, where later records replace earlier ones ---- */

static uint64_t rank_of(const ledger_t *ledger, size_t number) {
    const work_t *work = &ledger->works[number];
    return (uint64_t)ledger->inputs[work->input].entry.ordinal << 32 | work->piece;
}

static int by_rank(const void *a, const void *b, void *context) {
    const uint64_t left = rank_of(context, *(const size_t *)a), right = rank_of(context, *(const size_t *)b);
    return (left > right) - (left < right);
}

bool ledger_put_in_order(ledger_t *ledger, err_t *err) {
    const size_t bytes = (ledger->work_count + 1) * sizeof *ledger->order;
    if (!(ledger->order = malloc(bytes)))
        return err_memory(err, bytes);
    for (size_t i = 0; i < ledger->work_count; i++)
        ledger->order[i] = i;
    qsort_r(ledger->order, ledger->work_count, sizeof *ledger->order, by_rank, ledger);
    follow_order(ledger);
    return true;
}

/* True for the first piece that is not DONE, and for other inputs of its group. */
static bool is_its_turn(const ledger_t *ledger, const work_t *work) {
    if (!ledger->order || ledger->order_from == ledger->work_count)
        return true;
    const work_t *turn = &ledger->works[ledger->order[ledger->order_from]];
    return turn == work || (turn->input != work->input &&
                            ledger->inputs[turn->input].group == ledger->inputs[work->input].group);
}

/* ---- what to do next ---- */

/* Every load enters itself before it takes a piece. So an owner that was read, and is not among the loads that were
 * read later, is gone. */
static bool is_owner_dead(const ledger_t *ledger, const work_t *work) {
    const ledger_input_t *input = &ledger->inputs[work->input];
    return ledger->loads_reading >= input->read_number &&
           liveness_is_dead(&ledger->liveness, &ledger_piece(ledger, work)->owner);
}

static bool is_free(const ledger_t *ledger, const work_t *work) {
    return work->state == WORK_OPEN || (work->state == WORK_OTHERS && is_owner_dead(ledger, work));
}

bool ledger_may_take(const ledger_t *ledger, const work_t *work) {
    const ledger_input_t *input = &ledger->inputs[work->input];
    if ((input->view == VIEW_OLDER && is_last(input, work)) || !is_its_turn(ledger, work))
        return false;
    return is_free(ledger, work);
}

static bool refuse_older(const ledger_t *ledger, const ledger_input_t *input, err_t *err) {
    if (ledger->options.again)
        return err_set(err, STATUS_INPUT,
                       "%s: the catalog knows a longer version (%llu bytes, here %llu): what is missing can "
                       "be loaded from that one only",
                       input->name, (unsigned long long)entry_newest(&input->entry)->size,
                       (unsigned long long)input->seen.size);
    return err_set(err, STATUS_INPUT,
                   "%s: the catalog knows a longer version (%llu bytes, here %llu) that is not loaded to its "
                   "end: run the same command where the longer one is; or, if it is lost, with "
                   "--reload-changed, which removes the documents of this input and loads it again",
                   input->name, (unsigned long long)entry_newest(&input->entry)->size,
                   (unsigned long long)input->seen.size);
}

bool ledger_next(const ledger_t *ledger, next_t *next, const load_seen_t **waits_for, err_t *err) {
    bool working = false, waiting = false;
    *waits_for = NULL;
    for (size_t i = 0; i < ledger->work_count; i++) {
        const work_t *work = &ledger->works[i];
        const ledger_input_t *input = &ledger->inputs[work->input];
        const bool older = input->view == VIEW_OLDER && is_last(input, work);
        if (ledger_may_take(ledger, work)) {
            *next = NEXT_TAKE;
            return true;
        }
        if (older && is_free(ledger, work))
            return refuse_older(ledger, input, err);
        working |= work->state == WORK_OURS || work->state == WORK_CHECK;
        if (work->state == WORK_OTHERS) {
            waiting = true;
            if (!*waits_for)
                *waits_for = liveness_find(&ledger->liveness, &ledger_piece(ledger, work)->owner);
        }
    }
    *next = working ? NEXT_WORK : waiting ? NEXT_WAIT : NEXT_END;
    return true;
}

bool ledger_is_settled(const ledger_t *ledger, const ledger_input_t *input) {
    bool settled = !entry_open_rejects(&input->entry);
    for (size_t i = 0; settled && i < input->work_count; i++) {
        const work_t *work = &ledger->works[input->first_work + i];
        settled = work->state == WORK_DONE && work->written && work->written == ledger->writes;
    }
    return settled;
}

int64_t ledger_confirmed(const ledger_t *ledger) {
    int64_t oldest_ns = ledger->asked_ns;
    for (size_t i = 0; i < ledger->work_count; i++) {
        const work_t *work = &ledger->works[i];
        if (work->state == WORK_OURS && work->confirmed_ns < oldest_ns)
            oldest_ns = work->confirmed_ns;
    }
    return oldest_ns;
}
