/* Documents that belong to no file: the gaps between the windows of files, and reading what is in them. */
#include "verify/stray_scan.h"
#include "base/document.h"
#include "base/stop.h"
#include "base/threads.h"
#include "load/read_back/read_back.h"

#include <bson/bson.h>
#include <stdlib.h>
#include <xxhash.h>

/* ---- gaps ---- */

/* Windows of a file whose places follow one another. */
typedef struct {
    uint64_t base;     /* voff of the first one */
    uint64_t from, to; /* in the file */
    uint32_t ordinal;
} span_t;

struct gaps {
    span_t *spans; /* by base */
    size_t count;
};

static int by_base(const void *a, const void *b) {
    const span_t *left = a, *right = b;
    return (left->base > right->base) - (left->base < right->base);
}

/* Adds a span for each extent. No window crosses the end of one. */
static void add_piece(gaps_t *gaps, const active_piece_t *piece) {
    for (size_t i = 0; i < piece->extent_count; i++) {
        const extent_t *extent = &piece->extents[i];
        uint64_t from = extent->start / RECORD_ID_BLOCK_BYTES,
                 to = (extent->start + extent->length) / RECORD_ID_BLOCK_BYTES;
        to = to < piece->blocks ? to : piece->blocks;
        if (from >= to)
            continue;
        gaps->spans[gaps->count++] =
            (span_t){.base = extent->base, .from = from, .to = to, .ordinal = piece->ordinal};
    }
}

gaps_t *gaps_new(const active_piece_t *pieces, size_t count) {
    size_t extents = 0;
    gaps_t *gaps = calloc(1, sizeof *gaps);
    for (size_t i = 0; i < count; i++)
        extents += pieces[i].extent_count;
    if (!gaps || !(gaps->spans = malloc((extents + 1) * sizeof *gaps->spans))) {
        free(gaps);
        return NULL;
    }
    for (size_t i = 0; i < count; i++)
        add_piece(gaps, &pieces[i]);
    qsort(gaps->spans, gaps->count, sizeof *gaps->spans, by_base);
    return gaps;
}

void gaps_free(gaps_t *gaps) {
    if (!gaps)
        return;
    free(gaps->spans);
    free(gaps);
}

bool gaps_each(const gaps_t *gaps, size_t from_lane, size_t to_lane, gaps_fn *take, void *context,
               err_t *err) {
    uint64_t at = gaps_lane_start(from_lane), end = gaps_lane_start(to_lane);
    for (size_t lane = from_lane; lane < to_lane; lane++) {
        /* the reversal is its own inverse, so this is (ordinal + window) modulo the lanes for every window in this
         * lane */
        uint64_t sum = record_id_lane((uint32_t)lane, 0);
        for (size_t i = 0; i < gaps->count; i++) {
            const span_t *span = &gaps->spans[i];
            uint64_t window = span->from + (sum - span->ordinal - span->from) % RECORD_ID_LANES;
            for (; window < span->to; window += RECORD_ID_LANES) {
                uint64_t first =
                    gaps_lane_start(lane) + span->base + (window - span->from) * RECORD_ID_BLOCK_BYTES;
                if ((at < first || !first) && !take(context, at, first, err))
                    return false;
                at = first + RECORD_ID_BLOCK_BYTES;
            }
        }
    }
    return (at >= end && to_lane < RECORD_ID_LANES) || take(context, at, end, err);
}

enum {
    WORTH_A_GAP = 200, /* reading the `_id`s of this many documents costs as much as asking for a gap */
    TASKS_A_THREAD = 4,
    BATCH = 50000, /* `_id`s in a reply: a megabyte for each thread */
};

/* ---- the search ---- */

/* Shared by all threads. */
typedef struct {
    const stray_scan_options_t *options;
    const active_piece_t **given; /* by their ordinals */
    gaps_t *gaps;
    bson_t *find; /* options of every find */
    size_t tasks; /* some lanes each */
    atomic_size_t next_task;
    team_t team;
    pthread_mutex_t lock; /* guards the members below */
    stray_scan_t result;
    differences_t *differences;
} search_t;

typedef struct {
    search_t *search;
    snapshot_read_t *reader;
    /* the range at hand */
    uint64_t tries;
    stray_scan_t result;
    differences_t *found;
    uint64_t window; /* of the last `_id` that was passed over, because a verifier has compared it */
} searcher_t;

/* ---- whose place is it? ---- */

static int by_ordinal(const void *a, const void *b) {
    const active_piece_t *const *left = a, *const *right = b;
    return ((*left)->ordinal > (*right)->ordinal) - ((*left)->ordinal < (*right)->ordinal);
}

static const active_piece_t *given_piece(const search_t *search, uint32_t ordinal) {
    const size_t count = search->options->piece_count,
                 at = SEARCH_FIRST(count, i, search->given[i]->ordinal < ordinal);
    return at < count && search->given[at]->ordinal == ordinal ? search->given[at] : NULL;
}

typedef enum {
    PLACE_LOOKED_AT,
    PLACE_AFTER_END,
    PLACE_OF_ANOTHER,
    PLACE_OF_NOBODY,
    PLACE_WRONG_LANE
} whose_t;

/* True if the `_id` is in no extent of any input, not even of one that was removed. */
static bool is_outside(const search_t *search, int64_t id) {
    uint64_t offset;
    return id < 0 || !places_find(search->options->places, record_id_voff(id), &offset);
}

static whose_t whose(const search_t *search, int64_t id, const active_piece_t **piece, uint64_t *offset) {
    const entry_t *entry = id < 0 ? NULL : places_find(search->options->places, record_id_voff(id), offset);
    if (!entry || entry->removed)
        return PLACE_OF_NOBODY;
    if (record_id_lane(entry->ordinal, *offset) != record_id_lane_of(id))
        return PLACE_WRONG_LANE;
    if (!(*piece = given_piece(search, entry->ordinal)))
        return PLACE_OF_ANOTHER;
    return *offset / RECORD_ID_BLOCK_BYTES < (*piece)->blocks ? PLACE_LOOKED_AT : PLACE_AFTER_END;
}

/* ---- what does not belong there ---- */

static bool report(searcher_t *searcher, difference_t *difference, const char *why, err_t *err) {
    if (!why || !differences_wants(searcher->found, difference) || difference_say_why(difference, why, err))
        return differences_add(searcher->found, difference, err);
    difference_free(difference);
    return false;
}

static bool tell_unrelated_id(searcher_t *searcher, const bson_iter_t *id, err_t *err) {
    difference_t difference = {.kind = DIFFERENCE_UNRELATED, .file = DIFFERENCE_NO_FILE, .records = 1};
    return difference_name_id(&difference, id, err) &&
           report(searcher, &difference, NULL, err); /* sorted by it */
}

static bool take_place(searcher_t *searcher, int64_t id, err_t *err) {
    static const char *const whys[] = {
        [PLACE_OF_NOBODY] = "no file of the catalog has this place",
        [PLACE_WRONG_LANE] = "tipple did not make it: its lane is not that of its place",
    };
    const search_t *search = searcher->search;
    const active_piece_t *piece = NULL;
    uint64_t offset = 0;
    if ((uint64_t)id / RECORD_ID_BLOCK_BYTES == searcher->window)
        return true;
    whose_t who = whose(search, id, &piece, &offset);
    if (who == PLACE_LOOKED_AT) {
        searcher->window = (uint64_t)id / RECORD_ID_BLOCK_BYTES;
        return true;
    }
    if (who == PLACE_OF_ANOTHER) {
        searcher->result.others++;
        return true;
    }
    if (search->options->appends && is_outside(search, id)) {
        searcher->result.not_ours++;
        return true;
    }
    difference_t difference = {
        .kind = DIFFERENCE_UNRELATED, .file = DIFFERENCE_NO_FILE, .records = 1, .id = id, .last_id = id};
    if (!piece)
        return report(searcher, &difference, whys[who], err);
    difference.kind = DIFFERENCE_EXTRA;
    difference.file = (size_t)(piece - search->options->pieces);
    difference.name = piece->input->name;
    difference.offset = offset;
    difference.end = offset + 1;
    return report(searcher, &difference,
                  verifier_why_after_end(&search->options->entries->wanted[difference.file]), err);
}

/* An `_id` that is no 64-bit integer. In a window that was compared, the verifier has reported it. */
static bool take_odd_id(searcher_t *searcher, const bson_iter_t *id, err_t *err) {
    const search_t *search = searcher->search;
    int64_t next;
    if (!element_floor(id, &next) || next < 0)
        next = -1;
    const active_piece_t *piece;
    uint64_t offset;
    if (next >= 0 && whose(search, next, &piece, &offset) == PLACE_LOOKED_AT)
        return true;
    if (!search->options->appends || !is_outside(search, next))
        return tell_unrelated_id(searcher, id, err);
    searcher->result.not_ours++;
    return true;
}

static bool take_own_id(searcher_t *searcher, const uint8_t *document, uint32_t length, const bson_iter_t *id,
                        err_t *err) {
    const stray_scan_options_t *options = searcher->search->options;
    const bool awaited =
        options->ids->awaited_count && verified_ids_take(options->ids, XXH3_64bits(document, length));
    if (awaited || verified_ids_has(options->ids, id_hash_of(id)))
        return true;
    if (options->all_files && !options->appends)
        return tell_unrelated_id(searcher, id, err);
    ++*(options->all_files ? &searcher->result.not_ours : &searcher->result.others);
    return true;
}

/* ---- reading ---- */

static bool goes_on(err_t *err) {
    return !stop_signal() || err_set(err, (status_t)(128 + stop_signal()),
                                     "interrupted while documents that belong to no file were looked for");
}

static void begin_range(void *context) {
    searcher_t *searcher = context;
    searcher->result = (stray_scan_t){.retries = searcher->tries++};
    differences_clear(searcher->found);
}

static bool take_stored(void *context, const uint8_t *document, uint32_t length, err_t *err) {
    searcher_t *searcher = context;
    bson_t whole;
    bson_iter_t id;
    if (!goes_on(err))
        return false;
    if (!bson_init_static(&whole, document, length) || !element_of(&whole, "_id", &id))
        return true;
    if (searcher->search->options->ids)
        return take_own_id(searcher, document, length, &id, err);
    return BSON_ITER_HOLDS_INT64(&id) ? take_place(searcher, bson_iter_int64(&id), err)
                                      : take_odd_id(searcher, &id, err);
}

static bool add_range(searcher_t *searcher, err_t *err) {
    search_t *search = searcher->search;
    pthread_mutex_lock(&search->lock);
    search->result.others += searcher->result.others;
    search->result.not_ours += searcher->result.not_ours;
    search->result.retries += searcher->result.retries;
    const bool ok = differences_move(search->differences, searcher->found, err);
    pthread_mutex_unlock(&search->lock);
    return ok;
}

/* 2^63 is no 64-bit integer; the `_id` before it is then in a window, and is passed over. */
static void append_bound(bson_t *options, const char *name, uint64_t at) {
    const int64_t id = at > INT64_MAX ? INT64_MAX : (int64_t)at;
    BCON_APPEND(options, name, "{", "_id", BCON_INT64(id), "}", "hint", "{", "_id", BCON_INT32(1), "}");
}

/* A filter compares values of one type only, while `min` and `max` are bounds in the order of the index. With a filter
 * a router asks only the shards that have the range, so a filter is used wherever all values are numbers. */
static bool read_range(void *context, uint64_t from, uint64_t to, err_t *err) {
    searcher_t *searcher = context;
    const bool lowest = from == gaps_lane_start(0), highest = to == gaps_lane_start(RECORD_ID_LANES);
    bson_t filter = BSON_INITIALIZER, options;
    if (!goes_on(err))
        return false;
    bson_copy_to(searcher->search->find, &options);
    if (!lowest && !highest)
        BCON_APPEND(&filter, "_id", "{", "$gte", BCON_INT64((int64_t)from), "$lt", BCON_INT64((int64_t)to),
                    "}");
    else if (!highest)
        append_bound(&options, "max", to);
    else if (!lowest)
        append_bound(&options, "min", from);
    searcher->tries = 0;
    const bool ok =
        snapshot_read_filtered(searcher->reader, &filter, &options, begin_range, take_stored, searcher, err);
    bson_destroy(&filter);
    bson_destroy(&options);
    return ok && add_range(searcher, err);
}

static void *work(void *context) {
    search_t *search = context;
    searcher_t searcher = {
        .search = search, .found = differences_new(search->options->most), .window = UINT64_MAX};
    const size_t lanes = RECORD_ID_LANES / search->tasks;
    err_t err;
    bool ok = searcher.found || err_memory(&err, 1);
    ok = ok && (searcher.reader = snapshot_read_new(search->options->server, NULL, &err));
    while (ok && !team_failed(&search->team)) {
        const size_t from = lanes * search->next_task++;
        if (from >= RECORD_ID_LANES)
            break;
        ok = gaps_each(search->gaps, from, from + lanes, read_range, &searcher, &err);
    }
    if (!ok)
        team_fail(&search->team, &err);
    snapshot_read_free(searcher.reader);
    differences_free(searcher.found);
    return NULL;
}

/* ---- the whole ---- */

static size_t power_of_two(uint64_t least) {
    size_t power = 1;
    while (power < RECORD_ID_LANES && power < least)
        power *= 2;
    return power;
}

static bool prepare(search_t *search, err_t *err) {
    const stray_scan_options_t *options = search->options;
    uint64_t windows = 0;
    if (!(search->given = malloc((options->piece_count + 1) * sizeof *search->given)))
        return err_memory(err, options->piece_count * sizeof *search->given);
    for (size_t i = 0; i < options->piece_count; i++) {
        search->given[i] = &options->pieces[i];
        windows += options->pieces[i].blocks;
    }
    qsort(search->given, options->piece_count, sizeof *search->given, by_ordinal);
    const bool between = !options->ids && options->looked_at / WORTH_A_GAP >= windows;
    search->gaps = gaps_new(options->pieces, between ? options->piece_count : 0);
    search->find = BCON_NEW("batchSize", BCON_INT32(BATCH));
    if (!options->ids || !options->ids->awaited_count)
        BCON_APPEND(search->find, "projection", "{", "_id", BCON_INT32(1), "}");
    search->tasks = options->ids ? 1 : power_of_two((uint64_t)options->threads * TASKS_A_THREAD);
    search->differences = differences_new(options->most);
    return (search->gaps && search->differences) || err_memory(err, 1);
}

static bool search_all(search_t *search, err_t *err) {
    const uint32_t threads = search->options->threads;
    err_t problem;
    team_init(&search->team);
    while (search->team.count < (search->tasks < threads ? search->tasks : threads) &&
           team_start(&search->team, work, search, "lower --threads", &problem))
        ;
    if (!search->team.count)
        team_fail(&search->team, &problem);
    return team_join(&search->team, err);
}

bool stray_scan_look(const stray_scan_options_t *options, differences_t *differences, stray_scan_t *result,
                     err_t *err) {
    search_t search = {.options = options};
    pthread_mutex_init(&search.lock, NULL);
    const bool ok = prepare(&search, err) && search_all(&search, err) &&
                    (!options->ids || verified_ids_tell_missing(options->ids, search.differences, err)) &&
                    differences_move(differences, search.differences, err);
    *result = search.result;
    free(search.given);
    gaps_free(search.gaps);
    bson_destroy(search.find);
    differences_free(search.differences);
    pthread_mutex_destroy(&search.lock);
    return ok;
}
