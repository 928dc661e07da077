/* Pieces that are taken, worked on, written down, and held. */
#include "base/text.h"
#include "catalog/ledger/ledger.h"
#include "format/record/record_id.h"

#include <stdlib.h>
#include <string.h>

/* ---- taking ---- */

bool portion_has_room(const portion_t *portion, size_t group, size_t piece, uint64_t bytes) {
    return portion->count < portion->least || (portion->count && !piece && group == portion->group) ||
           (portion->most_bytes && portion->bytes + bytes <= portion->most_bytes &&
            portion->count < LEDGER_MOST_TAKES);
}

void portion_add(portion_t *portion, size_t group, uint64_t bytes) {
    portion->count++;
    portion->bytes += bytes;
    portion->group = group;
}

/* A grown input takes room for at least a share of its text, so that growing by small steps does not make an extent
 * each. */
static uint64_t more_room(const ledger_input_t *input, uint64_t end) {
    const uint64_t units = end / RECORD_ID_EXTENT_UNIT / LEDGER_EXTENT_SHARE,
                   least = units * RECORD_ID_EXTENT_UNIT, needed = input->text_end - end;
    return needed > least ? needed : least;
}

/* Makes a new version of a grown input. Its last block may have grown and does not count as done any more. */
static bool take_as_grown(const ledger_input_t *input, const piece_t *piece, take_t *take, err_t *err) {
    taken_anew_t *anew = take->anew;
    piece_t *progress = &anew->progress;
    anew->version = input->seen;
    anew->version.torn = (torn_t){0};
    anew->version.completed_ns = 0;
    take->change.version = input->entry.version;
    take->change.new_version = &anew->version;
    take->change.new_key = input->key ? input->key : input->entry.key;
    const uint64_t end = entry_extents_end(&input->entry);
    if (input->text_end > end) {
        anew->extent = (extent_t){.start = end, .length = more_room(input, end)};
        take->change.extent = &anew->extent;
        take->change.extent_at = input->entry.extent_count;
        take->change.no_extent_yet = true;
    }
    if (!take->change.progress && !piece_copy(progress, piece, err))
        return false;
    take->change.progress = progress;
    take->change.slot = entry_next_slot(&input->entry, progress->complete);
    progress->tail = (tail_t){0}; /* its rejects stay noted until its blocks are done again */
    return true;
}

/* The dialect stays, because the documents that are there were made by it. */
static uint64_t dialect_for(const ledger_t *ledger, const piece_t *piece) {
    return piece->generation == ledger->options.generation ? piece->dialect : 0;
}

static bool fill_take(const ledger_t *ledger, size_t number, take_t *take, err_t *err) {
    const work_t *work = &ledger->works[number];
    const ledger_input_t *input = &ledger->inputs[work->input];
    const piece_t *piece = ledger_piece(ledger, work);
    const bool last = work->piece + 1 == input->entry.piece_count, grown = last && input->view == VIEW_GROWN;
    *take = (take_t){.work = number};
    take->change = (entry_change_t){.ordinal = input->entry.ordinal,
                                    .piece = work->piece,
                                    .owner = piece->owner,
                                    .epoch = piece->epoch,
                                    .sets_owner = true,
                                    .new_owner = ledger->options.self,
                                    .new_epoch = piece->epoch + 1};
    if (ledger->options.holds)
        return true;
    if (!piece->epoch && !grown) { /* no load has begun it, so there is nothing to believe */
        take->change.new_generation = ledger->options.generation;
        return true;
    }
    if (!(take->anew = calloc(1, sizeof *take->anew)))
        return err_memory(err, sizeof *take->anew);
    if (!ledger_believes(ledger, work)) {
        take->anew->progress = (piece_t){.from = piece->from,
                                         .to = piece->to,
                                         .generation = ledger->options.generation,
                                         .dialect = dialect_for(ledger, piece),
                                         .bad_value = piece->bad_value};
        take->change.progress = &take->anew->progress;
        /* an earlier version may have been loaded from another file than the one here */
        take->change.uncompletes = last ? (uint32_t)input->entry.version_count : 0;
    }
    return !grown || take_as_grown(input, piece, take, err);
}

void takes_free(take_t *takes, size_t count) {
    for (size_t i = 0; i < count; i++) {
        if (takes[i].anew)
            piece_free(&takes[i].anew->progress);
        free(takes[i].anew);
    }
    free(takes);
}

static uint64_t cost(const ledger_t *ledger, const work_t *work) {
    const ledger_input_t *input = &ledger->inputs[work->input];
    return input->bytes / input->work_count;
}

bool ledger_choose(ledger_t *ledger, const work_t *only, size_t least, uint64_t most_bytes, take_t **takes,
                   size_t *count, err_t *err) {
    portion_t portion = {.least = least, .most_bytes = most_bytes};
    size_t room = 0;
    *takes = NULL;
    *count = 0;
    while (ledger->first_open < ledger->work_count && (ledger->works[ledger->first_open].state == WORK_DONE ||
                                                       ledger->works[ledger->first_open].state == WORK_OURS))
        ledger->first_open++;
    for (size_t i = ledger->first_open; i < ledger->work_count; i++) {
        work_t *work = &ledger->works[i];
        const size_t group = ledger->inputs[work->input].group;
        if (!portion_has_room(&portion, group, work->piece, cost(ledger, work)))
            break;
        if (!ledger_may_take(ledger, work) || (only && work != only))
            continue;
        if (!GROW(*takes, room, *count + 1, err) || !fill_take(ledger, i, &(*takes)[(*count)++], err))
            return false;
        ledger_forget(work);
        portion_add(&portion, group, cost(ledger, work));
    }
    return true;
}

void ledger_taken(ledger_t *ledger, const take_t *takes, size_t count) {
    for (size_t i = 0; i < count; i++) {
        work_t *work = &ledger->works[takes[i].work];
        piece_t *piece = ledger_piece(ledger, work);
        if (work->state == WORK_OPEN && load_id_equal(&piece->owner, &ledger->options.self) &&
            piece->epoch == takes[i].change.new_epoch) {
            ledger_own(ledger, work);
            /* its former owner may have written after we read it, and before we took it */
            const bool believed = ledger->options.holds || ledger_believes(ledger, work);
            if (!believed) {
                const uint64_t dialect = dialect_for(ledger, piece);
                piece_clear_progress(piece);
                piece->dialect = dialect;
                piece->generation = ledger->options.generation;
            }
            work->again &= believed; /* else it has begun anew */
        }
    }
}

work_t *ledger_hand_out(ledger_t *ledger) {
    while (ledger->hand_out_from < ledger->work_count) {
        work_t *work = &ledger->works[ledger->hand_out_from++];
        if (!work->handed_out && (work->state == WORK_OURS || work->state == WORK_CHECK)) {
            work->handed_out = true;
            return work;
        }
    }
    return NULL;
}

entry_change_t ledger_fix_change(const ledger_t *ledger, const work_t *work, const fix_mark_t *fixes,
                                 size_t count) {
    entry_change_t change = ledger_change(ledger, work);
    change.fixes = fixes;
    change.fix_count = count;
    return change;
}

/* ---- fixes whose documents are gone ---- */

/* Notes confirmed documents as gone where their records are rejected again. */
static bool note_gone(const ledger_t *ledger, work_t *work, const settled_block_t *block, err_t *err) {
    const entry_t *entry = &ledger->inputs[work->input].entry;
    for (size_t i = 0; i < block->reject_count && entry->fix_count; i++) {
        const record_fixes_t known =
            entry_fixes(entry, block->rejects[i].offset, block->rejects[i].hash, ledger->options.generation);
        if (known.state != FIX_ANSWERED)
            continue;
        if (!GROW(work->gone, work->gone_room, work->gone_count + 1, err))
            return false;
        work->gone[work->gone_count] = *known.answer;
        work->gone[work->gone_count++].confirmed = false;
    }
    return true;
}

/* Adds the changes that open these fixes again. They come before the one that says that their records are rejected
 * again. */
static bool add_reopenings(const ledger_t *ledger, const work_t *work, entry_change_t **changes, size_t *room,
                           size_t *count, err_t *err) {
    for (size_t from = 0; from < work->gone_count; from += STORE_MOST_FIXES) {
        const size_t left = work->gone_count - from;
        if (!GROW(*changes, *room, *count + 1, err))
            return false;
        entry_change_t *change = &(*changes)[(*count)++];
        *change = ledger_fix_change(ledger, work, work->gone + from,
                                    left < STORE_MOST_FIXES ? left : STORE_MOST_FIXES);
        change->reopens = true;
    }
    return true;
}

static void reopen(ledger_t *ledger, work_t *work) {
    for (size_t i = 0; i < work->gone_count; i++)
        entry_reopen_fix(&ledger->inputs[work->input].entry, &work->gone[i]);
    work->gone_count = 0;
}

/* ---- working ---- */

/* Drops the rejects that were noted when these blocks were done before. */
static void drop_rejects(piece_t *piece, uint64_t from, uint64_t to) {
    size_t kept = 0;
    for (size_t i = 0; i < piece->reject_count; i++) {
        const uint64_t block = piece->rejects[i].offset / LEDGER_BLOCK_BYTES;
        if (block < from || block >= to)
            piece->rejects[kept++] = piece->rejects[i];
    }
    piece->reject_count = kept;
}

/* A whole entry is one document, so its rejects are bounded. */
static bool may_add_rejects(const entry_t *entry, size_t count, err_t *err) {
    size_t rejects = 0;
    for (size_t i = 0; i < entry->piece_count; i++)
        rejects += entry->pieces[i].reject_count;
    if (rejects + count > LEDGER_MOST_REJECTS)
        return err_set(err, STATUS_TOO_MANY_REJECTED,
                       "stopped: %s has more than %d rejected records, which is more than the catalog "
                       "remembers of one input; is the format the right one?",
                       entry->path, LEDGER_MOST_REJECTS);
    return entry_has_room(entry, count, 0) ||
           err_set(err, STATUS_TOO_MANY_REJECTED,
                   "stopped: %s has more than %zu rejected records and %zu notes of fixed ones, which is "
                   "more than the catalog remembers of one input: fix them in %s itself, and load that with "
                   "--reload-changed",
                   entry->path, rejects, entry->fix_count, entry->path);
}

static bool hold(work_t *work, const settled_block_t *block, err_t *err) {
    if (!GROW(work->held, work->held_room, work->held_count + 1, err))
        return false;
    const size_t bytes = block->reject_count * sizeof *block->rejects;
    reject_mark_t *rejects = bytes ? malloc(bytes) : NULL;
    if (bytes && !rejects)
        return err_memory(err, bytes);
    if (bytes)
        memcpy(rejects, block->rejects, bytes);
    work->held[work->held_count] = *block;
    work->held[work->held_count++].rejects = rejects;
    return true;
}

static bool add_done(piece_t *piece, const settled_block_t *block, err_t *err) {
    bool is_new;
    /* the room first: nothing may count as done without its rejects, even when memory is out */
    if (!piece_reserve_rejects(piece, block->reject_count, err))
        return false;
    if (!done_runs_add(&piece->done, block->from, block->to, block->hash, &is_new))
        return err_memory(err, sizeof(done_run_t));
    if (!is_new)
        return true;
    counts_add(&piece->counts, &block->counts);
    drop_rejects(piece, block->from, block->to);
    return piece_add_rejects(piece, block->rejects, block->reject_count, err);
}

/* True if the block would make too many runs. */
static bool has_to_wait(const piece_t *piece, const settled_block_t *block) {
    return piece->done.count >= LEDGER_MOST_RUNS &&
           done_runs_would_grow(&piece->done, block->from, block->to);
}

/* Adds blocks that had to wait. */
static bool add_held(piece_t *piece, work_t *work, err_t *err) {
    bool again = work->held_count > 0;
    while (again) {
        again = false;
        for (size_t i = 0; i < work->held_count; i++) {
            const settled_block_t held = work->held[i];
            if (has_to_wait(piece, &held))
                continue;
            const bool ok = add_done(piece, &held, err);
            free((reject_mark_t *)held.rejects);
            work->held[i--] = work->held[--work->held_count];
            if (!ok)
                return false;
            again = true;
        }
    }
    return true;
}

/* Collects the parts of the tail. Its rejects are noted when all of it is settled. */
static bool add_tail(work_t *work, const settled_block_t *block, err_t *err) {
    tail_t *tail = &work->tail;
    if (block->reject_count) { /* the rejects first: nothing may count as settled without them */
        const size_t bytes = (work->tail_reject_count + block->reject_count) * sizeof *work->tail_rejects;
        reject_mark_t *larger = realloc(work->tail_rejects, bytes);
        if (!larger)
            return err_memory(err, bytes);
        memcpy(larger + work->tail_reject_count, block->rejects, block->reject_count * sizeof *larger);
        work->tail_rejects = larger;
        work->tail_reject_count += block->reject_count;
    }
    if (!work->tail_settled || block->from < tail->from)
        tail->from = block->from;
    if (block->to > tail->to)
        tail->to = block->to;
    tail->hash += block->hash;
    counts_add(&tail->counts, &block->counts);
    work->tail_settled++;
    return true;
}

/* The done blocks may be from another copy of the file than this block. Until both are compared, when everything is
 * fed, no load may take the piece as being from one file. */
static void note_source(piece_t *piece, const ledger_input_t *input) {
    if (!piece->done.count)
        piece->modified_ns = input->seen.modified_ns;
    else if (piece->modified_ns != input->seen.modified_ns)
        piece->modified_ns = 0;
}

bool ledger_block(ledger_t *ledger, work_t *work, const settled_block_t *block, err_t *err) {
    if (block->reject_count && !may_add_rejects(&ledger->inputs[work->input].entry, block->reject_count, err))
        return false;
    if (!note_gone(ledger, work, block, err))
        return false;
    piece_t *piece = ledger_piece(ledger, work);
    note_source(piece, &ledger->inputs[work->input]);
    work->dirty = true;
    work->outgrown |= block->outgrown;
    piece->dialect = block->dialect ? block->dialect : piece->dialect;
    if (!ledger->options.safe)
        piece->unsafe = true;
    if (block->tail)
        return add_tail(work, block, err);
    if (has_to_wait(piece, block))
        return hold(work, block, err);
    return add_done(piece, block, err) && add_held(piece, work, err);
}

void ledger_fed(work_t *work, uint64_t end_block, uint32_t tail_parts) {
    work->fed = work->dirty = true;
    work->end_block = end_block;
    work->tail_parts = tail_parts;
}

void ledger_torn(work_t *work, torn_t torn) {
    work->torn = torn;
    work->torn_written = false;
    work->dirty = true;
}

void ledger_skip(ledger_t *ledger, work_t *work) {
    work->skipped = work->state == WORK_OURS && work->dirty;
    if (work->skipped) /* ledger_written skips it */
        return;
    ledger_forget(work);
    ledger_become(ledger, work, WORK_DONE);
}

void ledger_checked(ledger_t *ledger, work_t *work) {
    if (work->state != WORK_CHECK)
        return;
    work->checked = true;
    ledger_complete(ledger, work);
}

void ledger_goes_on(ledger_t *ledger, work_t *work) {
    ledger_input_t *input = &ledger->inputs[work->input];
    if (work->state != WORK_CHECK)
        return;
    input->view = VIEW_GROWN;
    input->version = input->entry.version + 1;
    ledger_become(ledger, work, WORK_OPEN);
}

/* ---- writing down ---- */

/* True if everything from the piece's beginning to its end is done. */
static bool is_finished(const work_t *work, const piece_t *piece) {
    if (!work->fed || work->held_count || work->tail_settled < work->tail_parts)
        return false;
    const uint64_t to = work->tail_parts ? work->tail.from : work->end_block;
    return to <= piece->from || done_runs_cover(&piece->done, piece->from, to);
}

entry_change_t ledger_change(const ledger_t *ledger, const work_t *work) {
    return (entry_change_t){.ordinal = ledger->inputs[work->input].entry.ordinal,
                            .piece = work->piece,
                            .owner = ledger->options.self,
                            .epoch = work->epoch};
}

static bool is_to_be_written(const work_t *work) {
    return work->state == WORK_OURS && work->dirty;
}

bool ledger_checkpoint(ledger_t *ledger, entry_change_t **changes, size_t *count, err_t *err) {
    *changes = NULL;
    *count = 0;
    size_t room = 0;
    for (size_t i = 0; i < ledger->work_count; i++) {
        work_t *work = &ledger->works[i];
        if (!is_to_be_written(work))
            continue;
        const ledger_input_t *input = &ledger->inputs[work->input];
        piece_t *piece = ledger_piece(ledger, work);
        if (!add_reopenings(ledger, work, changes, &room, count, err) ||
            !GROW(*changes, room, *count + 1, err))
            return false;
        entry_change_t *change = &(*changes)[(*count)++];
        *change = ledger_change(ledger, work);
        change->only_piece = input->entry.piece_count == 1;
        change->progress = piece;
        change->slot = entry_newest(&input->entry)->slot;
        if (work->torn.length && !work->torn_written) {
            change->torn = &work->torn;
            change->version = input->entry.version;
        }
        if (work->outgrown) {
            change->sets_outgrown = true;
            change->version = input->entry.version;
        }
        if (is_finished(work, piece)) {
            if (!piece_reserve_rejects(piece, work->tail_reject_count, err))
                return false;
            piece->complete = input->version;
            piece->modified_ns = input->seen.modified_ns;
            piece->tail = work->tail;
            if (work->tail_parts) {
                drop_rejects(piece, work->tail.from, UINT64_MAX);
                if (!piece_add_rejects(piece, work->tail_rejects, work->tail_reject_count, err))
                    return false;
            }
            change->version = input->entry.version;
            change->sets_completed = work->piece + 1 == input->entry.piece_count;
            change->completed_ns = input->seen.modified_ns;
            change->sets_owner = true; /* free from now on */
            change->new_epoch = work->epoch;
        }
    }
    return true;
}

void ledger_written(ledger_t *ledger, const entry_change_t *changes, size_t count, int64_t asked_ns) {
    size_t at = 0;
    ledger->asked_ns = asked_ns;
    for (size_t i = 0; at < count && i < ledger->work_count; i++) {
        work_t *work = &ledger->works[i];
        if (!is_to_be_written(work))
            continue;
        while (changes[at].reopens)
            at++;
        const entry_change_t *change = &changes[at++]; /* these are in the order of the works */
        reopen(ledger, work);
        work->dirty = false;
        work->confirmed_ns = asked_ns;
        version_t *version = entry_version(&ledger->inputs[work->input].entry, change->version);
        if (change->torn) {
            work->torn_written = true;
            version->torn = work->torn;
        }
        if (work->skipped && !change->sets_owner)
            ledger_skip(ledger, work);
        if (!change->sets_owner)
            continue;
        if (change->sets_completed)
            version->completed_ns = change->completed_ns;
        ledger_piece(ledger, work)->owner = (load_id_t){{0}};
        ledger_forget(work);
        work->written = ledger->writes;
        ledger_complete(ledger, work);
    }
}

/* ---- holding ---- */

bool ledger_may_hold(const ledger_t *ledger, const load_seen_t **waits_for) {
    *waits_for = NULL;
    for (size_t i = 0; i < ledger->work_count; i++) {
        const work_t *work = &ledger->works[i];
        if (work->state == WORK_DONE || work->state == WORK_OURS || ledger_may_take(ledger, work))
            continue;
        *waits_for = liveness_find(&ledger->liveness, &ledger_piece(ledger, work)->owner);
        return false;
    }
    return true;
}

bool ledger_holds(const ledger_t *ledger) {
    bool all = true;
    for (size_t i = 0; all && i < ledger->work_count; i++)
        all = ledger->works[i].state == WORK_DONE || ledger->works[i].state == WORK_OURS;
    return all;
}

const work_t *ledger_held(const ledger_t *ledger, uint32_t ordinal, uint64_t offset) {
    const size_t at =
        SEARCH_FIRST(ledger->input_count, i, ledger->inputs[i].entry.ordinal < ordinal); /* ascending */
    if (at == ledger->input_count || ledger->inputs[at].entry.ordinal != ordinal)
        return NULL;
    const ledger_input_t *input = &ledger->inputs[at];
    const piece_t *piece = entry_piece(&input->entry, offset / LEDGER_BLOCK_BYTES);
    const work_t *work =
        piece ? &ledger->works[input->first_work + (size_t)(piece - input->entry.pieces)] : NULL;
    return work && work->state == WORK_OURS ? work : NULL;
}

bool ledger_give_back(ledger_t *ledger, entry_change_t **changes, size_t *count, err_t *err) {
    size_t room = 0;
    *changes = NULL;
    *count = 0;
    for (size_t i = 0; i < ledger->work_count; i++) {
        work_t *work = &ledger->works[i];
        if (work->state != WORK_OURS)
            continue;
        if (!GROW(*changes, room, *count + 1, err))
            return false;
        entry_change_t *change = &(*changes)[(*count)++];
        *change = ledger_change(ledger, work);
        change->sets_owner = true;
        change->new_epoch = change->epoch;
        ledger_forget(work);
        ledger_become(ledger, work, WORK_OPEN);
    }
    return true;
}
