/* ledger: the states of a piece, how much is taken, blocks that are held back, and bounds of what one document holds. There
 * is no store here: entries are what a hand has written. The simulator runs all of it against a store. */
#include "catalog/ledger/ledger.h"
#include "test.h"

#include <stdlib.h>
#include <string.h>

enum { GENERATION = 3, LEASE = 100 };

static const load_id_t self = {{1}};
static err_t err;

/* ---- one input, as it is in the catalog and as this load sees it ---- */

typedef struct {
    ledger_t ledger;
    entries_t catalog; /* the one entry */
    view_t view;       /* what the comparison says */
    uint32_t version;
    bool safe;
    uint64_t text_end; /* 0: 2 MiB */
} lab_t;

static bool relate(void *context, const ledger_input_t *input, view_t *view, uint32_t *version,
                   err_t *failure) {
    const lab_t *lab = context;
    (void)input;
    (void)failure;
    *view = lab->view;
    *version = lab->version;
    return true;
}

static entry_t *entry_of(lab_t *lab) {
    return &lab->catalog.entries[0];
}

static piece_t *piece_of(lab_t *lab, size_t at) {
    return &entry_of(lab)->pieces[at];
}

static void begin(lab_t *lab, size_t pieces) {
    *lab = (lab_t){.view = VIEW_SAME, .version = 1, .safe = true};
    entry_t *entry = entries_add(&lab->catalog, &err);
    *entry = (entry_t){.ordinal = 9, .path = strdup("a"), .key = strdup("k"), .kind = strdup("plain")};
    assert_true(entry_add_version(entry, &(version_t){.size = 1000, .digest = "d", .modified_ns = 50}, &err));
    assert_true(entry_add_extent(entry, (extent_t){.base = 1 << 20, .length = 1 << 20}, &err));
    assert_true(entry_make_pieces(entry, pieces, 4, &err));
    for (size_t i = 0; i < pieces; i++)
        entry->pieces[i].generation = GENERATION;
}

static bool add_seen(lab_t *lab, int64_t modified_ns) {
    const ledger_options_t options = {.self = self,
                                      .generation = GENERATION,
                                      .safe = lab->safe,
                                      .lease_ns = LEASE,
                                      .relate = relate,
                                      .context = lab};
    ledger_input_t input = {.seen = {.size = 1000, .digest = "d", .modified_ns = modified_ns},
                            .name = "a",
                            .key = "new key",
                            .text_end = lab->text_end ? lab->text_end : 2 << 20,
                            .bytes = 1000,
                            .plain = true};
    ledger_init(&lab->ledger, &options);
    assert_true(entry_copy(&input.entry, entry_of(lab), &err));
    const bool ok = ledger_add(&lab->ledger, &input, &err);
    entry_free(&input.entry);
    return ok;
}

static void add(lab_t *lab) {
    assert_true(add_seen(lab, 50));
}

static bool read_again(lab_t *lab) {
    return ledger_read(&lab->ledger, &lab->catalog, true, &err);
}

static void end(lab_t *lab) {
    ledger_free(&lab->ledger);
    entries_free(&lab->catalog);
}

static work_t *work_of(lab_t *lab, size_t at) {
    return &lab->ledger.works[at];
}

/* What a take would believe and change; it is made in the catalog. */
static entry_change_t take(lab_t *lab) {
    take_t *takes;
    size_t count;
    assert_true(ledger_choose(&lab->ledger, 1, 1, &takes, &count, &err));
    assert_true(count >= 1);
    const entry_change_t change = takes[0].change;
    piece_t *piece = piece_of(lab, change.piece);
    if (change.progress) {
        const piece_t before = *piece;
        *piece = (piece_t){0};
        assert_true(piece_copy(piece, change.progress, &err));
        piece->from = before.from;
        piece->to = before.to;
        done_runs_free(&(done_runs_t){before.done.runs, 0, 0});
        free(before.rejects);
    }
    if (change.new_version)
        assert_true(entry_put_version(entry_of(lab), change.new_version, change.slot, &err));
    if (change.extent)
        assert_true(entry_add_extent(entry_of(lab), *change.extent, &err));
    piece->owner = change.new_owner;
    piece->epoch = change.new_epoch;
    if (!change.progress && change.new_generation)
        piece->generation = change.new_generation;
    assert_true(ledger_taken(&lab->ledger, takes, count, &lab->catalog, &err));
    takes_free(takes, count);
    return change;
}

static void settle(lab_t *lab, uint64_t from, uint64_t to) {
    const settled_block_t block = {
        .from = from, .to = to, .hash = from + 1, .counts = {.read = 2, .loaded = 2}};
    assert_true(ledger_block(&lab->ledger, work_of(lab, 0), work_of(lab, 0)->epoch, &block, &err));
}

/* ---- states ---- */

TEST(as_read) {
    static const struct {
        load_id_t owner;
        uint32_t complete, generation;
        bool unsafe, safe;
        int64_t modified, seen;
        work_state_t state;
    } rows[] = {
        {{{0}}, 0, GENERATION, false, true, 50, 50, WORK_OPEN},
        {{{2}}, 0, GENERATION, false, true, 50, 50, WORK_OTHERS},
        {{{1}}, 0, GENERATION, false, true, 50, 50, WORK_OURS},     /* registered as taken */
        {{{1}}, 0, GENERATION - 1, false, true, 50, 50, WORK_OPEN}, /* of another collection */
        {{{0}}, 1, GENERATION, false, true, 50, 50, WORK_DONE},
        {{{2}}, 1, GENERATION, false, true, 50, 50, WORK_DONE},
        {{{0}}, 1, GENERATION, false, true, 50, 51, WORK_CHECK},    /* written to since then */
        {{{0}}, 1, GENERATION, false, true, 0, 50, WORK_CHECK},     /* of two copies */
        {{{0}}, 1, GENERATION - 1, false, true, 50, 50, WORK_OPEN}, /* of another collection */
        {{{0}}, 1, GENERATION, true, true, 50, 50, WORK_OPEN},
        {{{0}}, 1, GENERATION, true, false, 50, 50, WORK_DONE},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        lab_t lab;
        begin(&lab, 1);
        lab.safe = rows[i].safe;
        piece_t *piece = piece_of(&lab, 0);
        piece->owner = rows[i].owner;
        piece->complete = rows[i].complete;
        piece->generation = rows[i].generation;
        piece->unsafe = rows[i].unsafe;
        piece->modified_ns = rows[i].modified;
        assert_true(add_seen(&lab, rows[i].seen));
        if (work_of(&lab, 0)->state != rows[i].state)
            fail_msg("row %zu: state %d", i, work_of(&lab, 0)->state);
        end(&lab);
    }
}

TEST(lost) {
    static const struct {
        load_id_t owner;
        uint32_t epoch, complete;
        bool fed;
        work_state_t state;
    } rows[] = {
        {{{2}}, 2, 0, false, WORK_OTHERS}, {{{0}}, 2, 0, false, WORK_OPEN}, {{{1}}, 2, 0, false, WORK_OPEN},
        {{{0}}, 1, 1, true, WORK_DONE}, /* our own last write, of which we did not hear */
        {{{0}}, 2, 1, true, WORK_DONE}, /* somebody else's */
        {{{1}}, 1, 0, false, WORK_OURS},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        lab_t lab;
        begin(&lab, 1);
        add(&lab);
        take(&lab);
        assert_non_null(ledger_hand_out(&lab.ledger));
        settle(&lab, 0, 2);
        if (rows[i].fed)
            ledger_fed(&lab.ledger, work_of(&lab, 0), 1, 2, 0);
        piece_t *piece = piece_of(&lab, 0);
        piece->owner = rows[i].owner;
        piece->epoch = rows[i].epoch;
        piece->complete = rows[i].complete;
        piece->modified_ns = 50;
        assert_true(read_again(&lab));
        if (work_of(&lab, 0)->state != rows[i].state)
            fail_msg("row %zu: state %d", i, work_of(&lab, 0)->state);
        /* what a piece that is not ours any more had done is not remembered */
        assert_int_equal(lab.ledger.inputs[0].entry.pieces[0].done.count, rows[i].state == WORK_OURS);
        assert_int_equal(work_of(&lab, 0)->dirty, rows[i].state == WORK_OURS);
        const settled_block_t late = {.from = 2, .to = 3, .hash = 1};
        assert_true(ledger_block(&lab.ledger, work_of(&lab, 0), 7, &late, &err));
        assert_false(done_runs_cover(&lab.ledger.inputs[0].entry.pieces[0].done, 2, 3));
        end(&lab);
    }
}

/* ---- what a take begins with ---- */

/* However often an input grows: the newest versions are kept, what was not completed since, and what a person has fixed. */
TEST(versions_have_a_bound) {
    entry_t entry = {.ordinal = 1};
    for (uint32_t number = 1; number <= 1000; number++) {
        version_t version = {.size = number, .digest = "d"};
        if (number % 100 == 7)
            version.torn = (torn_t){.offset = number, .length = 1, .hash = number};
        const uint32_t complete = number < 500 ? entry.version : number < 650 ? 498 : entry.version;
        assert_true(entry_put_version(&entry, &version, entry_next_slot(&entry, complete), &err));
        assert_int_equal(entry_newest(&entry)->number, number);
        if (number == 7 || number == 207)
            assert_true(entry_add_fix(&entry, (fix_mark_t){.offset = number, .of = number, .hash = 5}, &err));
        if (number == 107) /* of another record at its place */
            assert_true(entry_add_fix(&entry, (fix_mark_t){.offset = number, .of = 1, .hash = 5}, &err));
        if (number == 100 || number == 101 || number == 499)
            assert_int_equal(entry.version_count, number == 499 ? 102 : 100);
        if (number == 649) /* nothing from the complete one on was dropped */
            assert_true(entry_version(&entry, 498) && entry.version_count > 150);
    }
    assert_int_equal(entry_version_of(&entry, 1000, "d"), 1000);
    assert_int_equal(entry_version_of(&entry, 1, "d"), 0);
    assert_int_equal(entry_version_of(&entry, 7, "d"), 7);
    assert_int_equal(entry_version(&entry, 207)->size, 207);
    assert_null(entry_version(&entry, 107));
    bool taken[200] = {false};
    for (size_t i = 0; i < entry.version_count; i++) {
        assert_true(entry.versions[i].slot < entry.version_count && !taken[entry.versions[i].slot]);
        assert_true(!i || entry.versions[i - 1].number < entry.versions[i].number);
        taken[entry.versions[i].slot] = true;
    }
    for (uint32_t number = 950; number <= 1000; number++)
        assert_non_null(entry_version(&entry, number));
    entry_free(&entry);
}

/* Little by little, an input would get an extent each time. */
TEST(room_for_more) {
    static const struct {
        uint64_t end, text_end, length; /* MiB */
    } rows[] = {{1, 2, 1}, {31, 32, 1}, {64, 65, 4}, {1600, 1601, 100}, {64, 100, 36}};
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        lab_t lab;
        begin(&lab, 1);
        entry_of(&lab)->extents[0].length = rows[i].end << 20;
        lab.view = VIEW_GROWN;
        lab.text_end = rows[i].text_end << 20;
        assert_true(add_seen(&lab, 60));
        lab.view = VIEW_SAME;
        lab.version = 2;
        const entry_change_t change = take(&lab);
        assert_int_equal(change.slot, 1);
        assert_int_equal(entry_of(&lab)->extents[1].start, rows[i].end << 20);
        assert_int_equal(entry_of(&lab)->extents[1].length, rows[i].length << 20);
        end(&lab);
    }
}

/* ---- working ---- */

TEST(held_back) {
    lab_t lab;
    begin(&lab, 1);
    add(&lab);
    take(&lab);
    for (uint64_t i = 0; i < LEDGER_MOST_RUNS + 50; i++)
        settle(&lab, 2 * i + 1, 2 * i + 2);
    const piece_t *piece = &lab.ledger.inputs[0].entry.pieces[0];
    assert_int_equal(piece->done.count, LEDGER_MOST_RUNS);
    assert_int_equal(piece->counts.read, 2 * LEDGER_MOST_RUNS);
    ledger_fed(&lab.ledger, work_of(&lab, 0), 1, 2 * (LEDGER_MOST_RUNS + 50), 0);
    for (uint64_t i = 0; i < LEDGER_MOST_RUNS + 50; i++) {
        entry_change_t *changes;
        size_t count;
        assert_true(ledger_checkpoint(&lab.ledger, &changes, &count, &err));
        assert_false(changes[0].sets_owner); /* not as long as there are gaps, or blocks that are held back */
        free(changes);
        settle(&lab, 2 * i, 2 * i + 1);
        assert_true(piece->done.count <= LEDGER_MOST_RUNS);
    }
    assert_int_equal(piece->done.count, 1);
    assert_int_equal(piece->counts.read, 4 * (LEDGER_MOST_RUNS + 50));
    entry_change_t *changes;
    size_t count;
    assert_true(ledger_checkpoint(&lab.ledger, &changes, &count, &err));
    assert_true(changes[0].sets_owner);
    free(changes);
    end(&lab);
}

/* An entry that is full is never written beyond what a document holds; what to do depends on what it is full of. */
TEST(too_many_rejects) {
    lab_t lab;
    begin(&lab, 1);
    add(&lab);
    take(&lab);
    const reject_mark_t mark = {10, 1};
    const settled_block_t block = {.from = 0, .to = 1, .hash = 1, .rejects = &mark, .reject_count = 1};
    entry_t *entry = &lab.ledger.inputs[0].entry;
    piece_t *piece = &entry->pieces[0];
    piece->reject_count = LEDGER_MOST_REJECTS;
    assert_false(ledger_block(&lab.ledger, work_of(&lab, 0), 1, &block, &err));
    assert_int_equal(err.status, STATUS_TOO_MANY_REJECTED);
    assert_non_null(strstr(err.text, "more than 500000 rejected records, which is"));
    piece->reject_count = 300000;
    entry->fix_count = 80000;
    assert_false(ledger_block(&lab.ledger, work_of(&lab, 0), 1, &block, &err));
    assert_int_equal(err.status, STATUS_TOO_MANY_REJECTED);
    assert_non_null(strstr(err.text, "more than 300000 rejected records and 80000 notes of fixed ones"));
    assert_non_null(strstr(err.text, "--reload-changed"));
    piece->reject_count = entry->fix_count = 0;
    end(&lab);
}

/* Against a plain list that is searched from its beginning. */
TEST(many_rejects) {
    enum { PLACES = 300, TURNS = 400, MOST = 40 };
    uint64_t hash_at[PLACES] = {0}, random = 88172645463325252u;
    piece_t piece = {.to = UINT64_MAX};
    for (uint64_t turn = 1; turn <= TURNS; turn++) {
        reject_mark_t marks[MOST];
        size_t count = 0;
        for (size_t i = 0; i < MOST; i++) {
            random ^= random << 13, random ^= random >> 7, random ^= random << 17;
            const uint64_t offset = turn % 3 ? turn * 7 / 10 + i * (random % 3) : random % PLACES;
            if (random % 4 == 0 || offset >= PLACES)
                continue;
            marks[count++] = (reject_mark_t){offset, turn << 8 | i | 1};
            hash_at[offset] = turn << 8 | i | 1;
        }
        assert_true(piece_add_rejects(&piece, marks, count, &err));
        size_t at = 0;
        for (size_t offset = 0; offset < PLACES; offset++) {
            if (!hash_at[offset])
                continue;
            assert_true(at < piece.reject_count);
            assert_int_equal(piece.rejects[at].offset, offset);
            assert_int_equal(piece.rejects[at++].hash, hash_at[offset]);
        }
        assert_int_equal(at, piece.reject_count);
    }
    piece_free(&piece);
}

/* Fixes and rejects share one document with all the rest. */
TEST(room_for_fixes) {
    piece_t pieces[2] = {{.reject_count = 0}};
    const entry_t entry = {.pieces = pieces, .piece_count = 2, .version = 1};
    const entry_t fixed = {.pieces = pieces, .piece_count = 2, .version = 1, .fix_count = 60000};
    assert_true(entry_has_room(&entry, 0, 90000));
    assert_false(entry_has_room(&entry, 0, 110000));
    assert_true(entry_has_room(&fixed, 0, 30000));
    assert_false(entry_has_room(&fixed, 0, 50000));
    assert_true(entry_has_room(&fixed, 350000, 0));
    assert_false(entry_has_room(&fixed, 420000, 0));
    pieces[1].reject_count = LEDGER_MOST_REJECTS;
    assert_true(entry_has_room(&entry, 0, 40000));
    assert_false(entry_has_room(&entry, 0, 60000));
}
