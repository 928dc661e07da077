#include "load/share.h"
#include "base/clock.h"
#include "base/log.h"
#include "base/stop.h"

#include <stdlib.h>
#include <time.h>

/* Smaller files are claimed together with their neighbours, by the number of the group. */
enum { SMALL_BYTES = 4 << 20, GROUP = 64, PART_BITS = 16, IN_STREAM = 0xFFFF };

/* So many claims at once: more would be unfair to loads that come later, fewer would be slow. */
enum { CLAIMS_AT_ONCE = 4, LOOKS_AT_ONCE = 256 };

static const int64_t LOOK_AGAIN_NS = 500000000, NAP_NS = 20000000;

typedef enum { UNIT_OPEN, UNIT_OURS, UNIT_GIVEN, UNIT_BUSY, UNIT_DONE } unit_state_t;

/* Files that follow one another and have one claim. */
typedef struct {
    size_t first, end;
    int64_t claim;
    unit_state_t state;
} unit_t;

struct share {
    share_options_t options;
    pthread_mutex_t lock; /* of what follows */
    pthread_cond_t answered;
    unit_t *units;
    size_t count, low; /* all units before `low` are given or done */
    bool asking, stopped, told;
    int64_t looked_ns;
    share_others_t others;
};

/* The same for every load of these files. */
static int64_t claim_of(const load_file_t *file) {
    const input_file_t *input = file->input;
    uint64_t ordinal = file->books->ordinal;
    if (input->kind != INPUT_STREAM && input->disk_bytes < SMALL_BYTES && file->books->part_count == 1)
        return -(int64_t)(ordinal / GROUP) - 1;
    return (int64_t)(ordinal << PART_BITS | file->part);
}

static bool add_unit(share_t *share, size_t *room, size_t first, int64_t claim, err_t *err) {
    if (share->count == *room) {
        *room = *room ? 2 * *room : 64;
        unit_t *larger = realloc(share->units, *room * sizeof *larger);
        if (!larger)
            return err_memory(err, *room * sizeof *larger);
        share->units = larger;
    }
    share->units[share->count++] = (unit_t){.first = first, .claim = claim};
    return true;
}

static bool make_units(share_t *share, err_t *err) {
    const load_file_t *files = share->options.files;
    const input_file_t *archive = NULL;
    size_t room = 0;
    for (size_t i = 0; i < share->options.file_count; i++) {
        const input_file_t *input = files[i].input;
        bool in_stream = input_is_in_stream(input);
        int64_t claim = claim_of(&files[i]);
        if (in_stream) /* one thread reads all of them, by the claim of the first */
            claim = (int64_t)((uint64_t)files[i].books->ordinal << PART_BITS | IN_STREAM);
        bool same = share->count && (in_stream ? archive == input->archive
                                               : !archive && share->units[share->count - 1].claim == claim);
        if (!same && !add_unit(share, &room, i, claim, err))
            return false;
        archive = in_stream ? input->archive : NULL;
        share->units[share->count - 1].end = i + 1;
    }
    return true;
}

/* All of its files are done: there is nothing to claim. */
static bool is_done(const share_t *share, const unit_t *unit) {
    for (size_t i = unit->first; i < unit->end; i++) {
        const load_file_t *file = &share->options.files[i];
        if (!file->books->parts[file->part].complete)
            return false;
    }
    return true;
}

share_t *share_new(const share_options_t *options, err_t *err) {
    share_t *share = calloc(1, sizeof *share);
    if (!share) {
        err_memory(err, sizeof *share);
        return NULL;
    }
    share->options = *options;
    pthread_mutex_init(&share->lock, NULL);
    pthread_condattr_t monotonic;
    pthread_condattr_init(&monotonic);
    pthread_condattr_setclock(&monotonic, CLOCK_MONOTONIC);
    pthread_cond_init(&share->answered, &monotonic);
    pthread_condattr_destroy(&monotonic);
    if (!make_units(share, err)) {
        share_free(share);
        return NULL;
    }
    for (size_t i = 0; i < share->count; i++)
        if (is_done(share, &share->units[i]))
            share->units[i].state = UNIT_DONE;
    return share;
}

void share_free(share_t *share) {
    if (!share)
        return;
    pthread_mutex_destroy(&share->lock);
    pthread_cond_destroy(&share->answered);
    free(share->units);
    free(share);
}

bool share_begin_file(load_file_t *file, err_t *err) {
    catalog_part_t *part = &file->books->parts[file->part];
    file->skip = file->completed = part->complete;
    if (part->lost) { /* and found again, because the other load is dead */
        part->lost = false;
        file->lost = false;
        file->fed = false;
        file->turn++;
    }
    file->begun_before = part->doubtful || part->suspect;
    if (part->suspect && !file->skip)
        log_warn(
            "%s was damaged or changed when it was loaded before: its records are compared with those in "
            "the collection one by one; --drop is the clean way",
            file->input->name);
    runs_free(&file->done_before);
    for (size_t i = 0; i < part->done.count; i++)
        if (!runs_add(&file->done_before, part->done.runs[i].from, part->done.runs[i].to))
            return err_memory(err, sizeof(run_t));
    return true;
}

/* ---- asking ---- */

/* The units that are asked about, and what their claims turned out to be. */
typedef struct {
    unit_t *units[LOOKS_AT_ONCE];
    claim_t claims[LOOKS_AT_ONCE];
    size_t count;
    bool was_busy;               /* all of them are others', as far as we know */
    unit_t *done[LOOKS_AT_ONCE]; /* and these are done */
    size_t done_count;
    piece_t *pieces;
    size_t piece_count;
} question_t;

static uint32_t highest_ordinal(const share_t *share, const unit_t *unit) {
    uint32_t highest = 0;
    for (size_t i = unit->first; i < unit->end; i++)
        if (share->options.files[i].books->ordinal > highest)
            highest = share->options.files[i].books->ordinal;
    return highest;
}

static void choose(share_t *share, question_t *question) {
    bool open = false;
    question->count = 0;
    for (size_t i = share->low; i < share->count && question->count < CLAIMS_AT_ONCE; i++)
        if (share->units[i].state == UNIT_OPEN) {
            question->units[question->count++] = &share->units[i];
            open = true;
        }
    for (size_t i = share->low; !open && i < share->count && question->count < LOOKS_AT_ONCE; i++)
        if (share->units[i].state == UNIT_BUSY)
            question->units[question->count++] = &share->units[i];
    question->was_busy = !open;
    for (size_t i = 0; i < question->count; i++) {
        const unit_t *unit = question->units[i];
        question->claims[i] = (claim_t){.id = unit->claim, .upto = highest_ordinal(share, unit)};
    }
}

static bool add_pieces(const share_t *share, question_t *question, const unit_t *unit, err_t *err) {
    size_t count = question->piece_count + (unit->end - unit->first);
    piece_t *larger = realloc(question->pieces, count * sizeof *larger);
    if (!larger)
        return err_memory(err, count * sizeof *larger);
    question->pieces = larger;
    for (size_t i = unit->first; i < unit->end; i++)
        larger[question->piece_count++] =
            (piece_t){share->options.files[i].books, share->options.files[i].part};
    return true;
}

/* The pieces of all units whose claim came out like this. */
static bool gather(const share_t *share, question_t *question, claim_state_t state, err_t *err) {
    question->piece_count = 0;
    for (size_t i = 0; i < question->count; i++)
        if (question->claims[i].state == state && !add_pieces(share, question, question->units[i], err))
            return false;
    return true;
}

/* What others had may be done by now: then nobody has to claim it. */
static bool look_at_busy(share_t *share, question_t *question, err_t *err) {
    size_t left = 0;
    for (size_t i = 0; i < question->count; i++)
        if (question->was_busy && !add_pieces(share, question, question->units[i], err))
            return false;
    if (!question->piece_count ||
        !catalog_look_again(share->options.catalog, question->pieces, question->piece_count, err))
        return !question->piece_count;
    for (size_t i = 0; i < question->count; i++)
        if (!is_done(share, question->units[i])) {
            question->units[left] = question->units[i];
            question->claims[left++] = question->claims[i];
        } else {
            question->done[question->done_count++] = question->units[i];
        }
    question->count = left;
    return true;
}

/* Under the lock of the books: what is ours is begun, and what others have is looked at. */
static bool ask(share_t *share, question_t *question, err_t *err) {
    const share_options_t *options = &share->options;
    bool ok = look_at_busy(share, question, err) &&
              claims_take(options->presence, question->claims, question->count, err) &&
              gather(share, question, CLAIM_ADOPTED, err) &&
              (!question->piece_count ||
               catalog_adopt(options->catalog, question->pieces, question->piece_count, err));
    free(question->pieces);
    question->pieces = NULL;
    return ok;
}

static void count_others(share_t *share, const unit_t *unit) {
    for (size_t i = unit->first; i < unit->end; i++) {
        const load_file_t *file = &share->options.files[i];
        if (file->completed)
            continue;
        share->others.files++;
        share->others.records += file->books->parts[file->part].counts.read - file->read_before;
    }
}

/* Under our own lock: the answers. */
static bool settle(share_t *share, const question_t *question, err_t *err) {
    bool ok = true, waiting = false;
    for (size_t i = 0; i < question->done_count; i++) {
        question->done[i]->state = UNIT_DONE;
        count_others(share, question->done[i]);
    }
    for (size_t i = 0; i < question->count; i++) {
        unit_t *unit = question->units[i];
        bool done = question->claims[i].state == CLAIM_ADOPTED && is_done(share, unit);
        if (done)
            count_others(share, unit);
        unit->state = done ? UNIT_DONE : question->claims[i].state == CLAIM_BUSY ? UNIT_BUSY : UNIT_OURS;
        waiting |= unit->state == UNIT_BUSY && question->was_busy;
        for (size_t j = unit->first; ok && unit->state == UNIT_OURS && j < unit->end; j++) {
            load_file_t *file = &share->options.files[j];
            /* what was registered after the other load had claimed it is new */
            if (question->claims[i].state == CLAIM_ADOPTED &&
                file->books->ordinal <= question->claims[i].upto_then)
                file->books->parts[file->part].doubtful = true;
            ok = share_begin_file(file, err);
        }
    }
    if (waiting && !share->told)
        log_note(
            "other loads work on the rest; this one waits until they are done, and goes on if one of them "
            "dies");
    share->told |= waiting;
    return ok;
}

/* Our lock is held, and let go meanwhile. */
static bool ask_unlocked(share_t *share, err_t *err) {
    question_t *question = calloc(1, sizeof *question);
    if (!question)
        return err_memory(err, sizeof *question);
    share->asking = true;
    choose(share, question);
    pthread_mutex_unlock(&share->lock);
    pthread_mutex_lock(share->options.books_lock);
    bool ok = ask(share, question, err);
    pthread_mutex_unlock(share->options.books_lock);
    pthread_mutex_lock(&share->lock);
    ok = ok && settle(share, question, err);
    share->looked_ns = clock_now_ns();
    share->asking = false;
    pthread_cond_broadcast(&share->answered);
    free(question);
    return ok;
}

/* ---- giving ---- */

static unit_t *find(share_t *share, unit_state_t state) {
    while (share->low < share->count &&
           (share->units[share->low].state == UNIT_GIVEN || share->units[share->low].state == UNIT_DONE))
        share->low++;
    for (size_t i = share->low; i < share->count; i++)
        if (share->units[i].state == state)
            return &share->units[i];
    return NULL;
}

bool share_next(void *context, size_t *first, size_t *end, err_t *err) {
    share_t *share = context;
    unit_t *unit = NULL;
    bool ok = true, more = true;
    pthread_mutex_lock(&share->lock);
    while (ok && more && !share->stopped && !stop_signal() && !(unit = find(share, UNIT_OURS))) {
        bool open = find(share, UNIT_OPEN) != NULL;
        if (!share->asking &&
            (open || (find(share, UNIT_BUSY) && clock_now_ns() - share->looked_ns >= LOOK_AGAIN_NS))) {
            ok = ask_unlocked(share, err);
        } else if (open || share->asking || find(share, UNIT_BUSY)) {
            struct timespec until;
            clock_gettime(CLOCK_MONOTONIC, &until); /* the time of day may be set back meanwhile */
            until.tv_nsec += NAP_NS;
            until.tv_sec += until.tv_nsec / 1000000000;
            until.tv_nsec %= 1000000000;
            pthread_cond_timedwait(&share->answered, &share->lock, &until);
        } else {
            more = false;
        }
    }
    if (!ok || stop_signal() || share->stopped)
        unit = NULL;
    if (unit) {
        unit->state = UNIT_GIVEN;
        *first = unit->first;
        *end = unit->end;
    }
    pthread_mutex_unlock(&share->lock);
    return unit != NULL;
}

void share_stop(share_t *share) {
    pthread_mutex_lock(&share->lock);
    share->stopped = true;
    pthread_mutex_unlock(&share->lock);
}

/* Our lock is held. */
static unit_t *unit_of(share_t *share, const load_file_t *file) {
    const size_t at = (size_t)(file - share->options.files);
    size_t low = 0, high = share->count;
    while (low < high) {
        const size_t middle = (low + high) / 2;
        if (share->units[middle].end <= at)
            low = middle + 1;
        else
            high = middle;
    }
    return &share->units[low];
}

bool share_claimed(share_t *share, const load_file_t *file) {
    pthread_mutex_lock(&share->lock);
    const unit_state_t state = unit_of(share, file)->state;
    pthread_mutex_unlock(&share->lock);
    return state == UNIT_OURS || state == UNIT_GIVEN;
}

void share_lose(share_t *share, const load_file_t *file) {
    pthread_mutex_lock(&share->lock);
    unit_t *unit = unit_of(share, file);
    const size_t at = (size_t)(unit - share->units);
    unit->state = UNIT_BUSY;
    share->low = at < share->low ? at : share->low;
    pthread_mutex_unlock(&share->lock);
}

share_others_t share_others(share_t *share) {
    pthread_mutex_lock(&share->lock);
    share_others_t others = share->others;
    pthread_mutex_unlock(&share->lock);
    return others;
}
