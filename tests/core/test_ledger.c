/* ledger: each way from one state of a piece to another, what a take believes, growth, an older copy, a
 * changed file, blocks that are held back, and what a checkpoint writes. There is no store here: entries are
 * what a hand has written. */
#include "catalog/ledger/ledger.h"
#include "test.h"

#include <stdlib.h>
#include <string.h>

enum { GENERATION = 3, LEASE = 100 };

static const load_id_t self = {{1}}, other = {{2}}, nobody;
static err_t err;

/* ---- one input, as it is in the catalog and as this load sees it ---- */

typedef struct {
    ledger_t ledger;
    entries_t catalog; /* the one entry */
    view_t view;       /* what the comparison says */
    uint32_t version;
    bool safe, holds, again;
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
                                      .holds = lab->holds,
                                      .again = lab->again,
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

static void read_loads(lab_t *lab, bool other_listed, int64_t now_ns, uint64_t own_beats) {
    load_seen_t seen = {.id = other, .beat = 1};
    const loads_t loads = {.loads = &seen, .count = other_listed};
    assert_true(ledger_read_loads(&lab->ledger, &loads, now_ns, own_beats, &err));
}

static void end(lab_t *lab) {
    ledger_free(&lab->ledger);
    entries_free(&lab->catalog);
}

static work_t *work_of(lab_t *lab, size_t at) {
    return &lab->ledger.works[at];
}

static next_t next_of(lab_t *lab) {
    next_t next;
    const load_seen_t *load;
    assert_true(ledger_next(&lab->ledger, &next, &load, &err));
    return next;
}

/* What a take would believe and change; it is made in the catalog, unless it is lost. */
static entry_change_t take(lab_t *lab, bool lost) {
    take_t *takes;
    size_t count;
    assert_true(ledger_choose(&lab->ledger, 1, 1, &takes, &count, &err));
    assert_true(count >= 1);
    const entry_change_t change = takes[0].change;
    piece_t *piece = piece_of(lab, change.piece);
    if (!lost) {
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
    }
    assert_true(ledger_taken(&lab->ledger, takes, count, &lab->catalog, &err));
    takes_free(takes, count);
    return change;
}

static void settle(lab_t *lab, size_t at, uint64_t from, uint64_t to, bool tail) {
    const settled_block_t block = {
        .from = from, .to = to, .hash = from + 1, .counts = {.read = 2, .loaded = 2}, .tail = tail};
    assert_true(ledger_block(&lab->ledger, work_of(lab, at), work_of(lab, at)->epoch, &block, &err));
}

/* Writes down all that there is; how many changes that were. */
static size_t write_down(lab_t *lab) {
    entry_change_t *changes;
    size_t count;
    assert_true(ledger_checkpoint(&lab->ledger, &changes, &count, &err));
    ledger_written(&lab->ledger, changes, count);
    free(changes);
    return count;
}

/* ---- states ---- */

TEST(open_ours_done) {
    lab_t lab;
    begin(&lab, 1);
    add(&lab);
    assert_int_equal(work_of(&lab, 0)->state, WORK_OPEN);
    assert_int_equal(next_of(&lab), NEXT_TAKE);
    const entry_change_t change = take(&lab, false);
    assert_int_equal(change.epoch, 0);
    assert_int_equal(change.new_epoch, 1);
    assert_true(load_id_is_nobody(&change.owner));
    assert_true(load_id_equal(&change.new_owner, &self));
    assert_null(change.progress);
    assert_int_equal(work_of(&lab, 0)->state, WORK_OURS);
    assert_int_equal(next_of(&lab), NEXT_WORK);
    assert_ptr_equal(ledger_hand_out(&lab.ledger), work_of(&lab, 0));
    assert_null(ledger_hand_out(&lab.ledger)); /* once */
    entry_change_t *changes;
    size_t count;
    assert_true(ledger_checkpoint(&lab.ledger, &changes, &count, &err));
    assert_int_equal(count, 0); /* nothing to be written */
    free(changes);
    settle(&lab, 0, 0, 2, false);
    ledger_fed(&lab.ledger, work_of(&lab, 0), 1, 3, 1);
    assert_true(ledger_checkpoint(&lab.ledger, &changes, &count, &err));
    assert_int_equal(count, 1); /* not complete: the last block is not settled */
    assert_false(changes[0].sets_owner);
    assert_int_equal(changes[0].version, 0);
    assert_int_equal(changes[0].epoch, 1);
    ledger_written(&lab.ledger, changes, count);
    free(changes);
    assert_int_equal(work_of(&lab, 0)->state, WORK_OURS);
    settle(&lab, 0, 2, 3, true);
    assert_true(ledger_checkpoint(&lab.ledger, &changes, &count, &err));
    assert_int_equal(count, 1);
    assert_true(changes[0].sets_owner);
    assert_true(load_id_is_nobody(&changes[0].new_owner));
    assert_int_equal(changes[0].new_epoch, 1); /* nobody takes it: its epoch stays */
    assert_int_equal(changes[0].version, 1);   /* believes that it has not grown */
    assert_int_equal(changes[0].progress->complete, 1);
    assert_int_equal(changes[0].progress->modified_ns, 50);
    assert_int_equal(changes[0].progress->tail.from, 2);
    assert_int_equal(changes[0].progress->counts.read, 2); /* without the tail */
    ledger_written(&lab.ledger, changes, count);
    free(changes);
    assert_int_equal(work_of(&lab, 0)->state, WORK_DONE);
    assert_int_equal(next_of(&lab), NEXT_END);
    end(&lab);
}

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

/* The answer to the last write says that an input is done: it is not read once more. After another write it is. */
TEST(settled_by_last_write) {
    for (int row = 0; row < 3; row++) {
        lab_t lab;
        entry_change_t *changes;
        size_t count;
        const reject_mark_t reject = {.offset = 1, .hash = 2};
        begin(&lab, 1);
        add(&lab);
        take(&lab, false);
        assert_false(ledger_is_settled(&lab.ledger, &lab.ledger.inputs[0]));
        const settled_block_t block = {.from = 0,
                                       .to = 1,
                                       .counts = {.read = 1, .rejected = row == 1},
                                       .rejects = &reject,
                                       .reject_count = row == 1};
        assert_true(ledger_block(&lab.ledger, work_of(&lab, 0), 1, &block, &err));
        ledger_fed(&lab.ledger, work_of(&lab, 0), 1, 1, 0);
        assert_true(ledger_checkpoint(&lab.ledger, &changes, &count, &err));
        assert_int_equal(count, 1);
        lab.ledger.writes++;
        assert_false(ledger_is_settled(&lab.ledger, &lab.ledger.inputs[0])); /* nobody has answered */
        ledger_written(&lab.ledger, changes, count);
        free(changes);
        lab.ledger.writes += row == 2;
        /* one with a reject is read: somebody may have fixed it */
        assert_int_equal(ledger_is_settled(&lab.ledger, &lab.ledger.inputs[0]), row == 0);
        const entries_t none = {0};
        assert_int_equal(ledger_read(&lab.ledger, &none, true, &err), row == 0);
        end(&lab);
    }
}

/* Of a large file a load takes some pieces, so that others get a share. */
TEST(portion_of_one_file) {
    static const struct {
        size_t least;
        uint64_t most_bytes;
        size_t taken;
    } rows[] = {{1, 1, 1}, {2, 1, 2}, {1, 500, 4}, {9, 1, 6}, {1, 10000, 6}};
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        lab_t lab;
        take_t *takes;
        size_t count;
        begin(&lab, 6); /* of 166 bytes each */
        add(&lab);
        assert_true(ledger_choose(&lab.ledger, rows[i].least, rows[i].most_bytes, &takes, &count, &err));
        assert_int_equal(count, rows[i].taken);
        takes_free(takes, count);
        end(&lab);
    }
}

/* Registered as taken: it is handed out as if it had been taken, and nothing else is to be written first. */
TEST(registered_as_taken) {
    static const struct {
        view_t view;
        work_state_t state;
    } rows[] = {{VIEW_SAME, WORK_OURS}, {VIEW_GROWN, WORK_OPEN}, {VIEW_OLDER, WORK_OPEN}};
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        lab_t lab;
        begin(&lab, 1);
        piece_of(&lab, 0)->owner = self;
        piece_of(&lab, 0)->epoch = 1;
        lab.view = rows[i].view;
        add(&lab);
        work_t *work = work_of(&lab, 0);
        assert_int_equal(work->state, rows[i].state);
        assert_ptr_equal(ledger_hand_out(&lab.ledger), rows[i].state == WORK_OURS ? work : NULL);
        if (rows[i].state == WORK_OURS) {
            assert_int_equal(work->epoch, 1);
            assert_int_equal(next_of(&lab), NEXT_WORK);
            assert_true(lab.ledger.inputs[0].taken);
        }
        end(&lab);
    }
}

/* Registered, and never taken: its first take writes three fields, the same for all of them, and nothing else. */
TEST(first_take_is_plain) {
    lab_t lab;
    begin(&lab, 1);
    piece_of(&lab, 0)->generation = 0;
    add(&lab);
    const entry_change_t change = take(&lab, false);
    assert_null(change.progress);
    assert_int_equal(change.uncompletes, 0);
    assert_int_equal(change.new_generation, GENERATION);
    assert_int_equal(work_of(&lab, 0)->state, WORK_OURS);
    end(&lab);
}

/* The same of an input that has grown since it was registered: it says for which collection, too. */
TEST(first_take_of_grown) {
    lab_t lab;
    begin(&lab, 1);
    piece_of(&lab, 0)->generation = 0;
    lab.view = VIEW_GROWN;
    assert_true(add_seen(&lab, 60));
    lab.view = VIEW_SAME;
    lab.version = 2;
    take(&lab, false);
    assert_int_equal(piece_of(&lab, 0)->generation, GENERATION);
    end(&lab);
}

TEST(newer_generation) {
    lab_t lab;
    begin(&lab, 1);
    piece_of(&lab, 0)->generation = GENERATION + 1;
    assert_false(add_seen(&lab, 50));
    assert_int_equal(err.status, STATUS_SERVER);
    end(&lab);
}

TEST(compared) {
    lab_t lab;
    begin(&lab, 1);
    piece_of(&lab, 0)->complete = 1;
    assert_true(add_seen(&lab, 51));
    assert_int_equal(next_of(&lab), NEXT_WORK);
    assert_ptr_equal(ledger_hand_out(&lab.ledger), work_of(&lab, 0));
    ledger_checked(&lab.ledger, work_of(&lab, 0));
    assert_int_equal(work_of(&lab, 0)->state, WORK_DONE);
    end(&lab);
}

TEST(others) {
    lab_t lab;
    begin(&lab, 1);
    piece_of(&lab, 0)->owner = other;
    piece_of(&lab, 0)->epoch = 4;
    add(&lab);
    assert_true(read_again(&lab));
    read_loads(&lab, true, 0, 0);
    assert_int_equal(next_of(&lab), NEXT_WAIT);
    read_loads(&lab, true, 10, 1);
    read_loads(&lab, true, 110, 4); /* dead */
    assert_int_equal(next_of(&lab), NEXT_TAKE);
    assert_true(read_again(&lab)); /* read after the loads: its owner may be a new one */
    assert_int_equal(next_of(&lab), NEXT_WAIT);
    read_loads(&lab, false, 120, 5);
    const entry_change_t change = take(&lab, false);
    assert_int_equal(change.epoch, 4);
    assert_true(load_id_equal(&change.owner, &other));
    assert_int_equal(work_of(&lab, 0)->state, WORK_OURS);
    assert_int_equal(work_of(&lab, 0)->epoch, 5);
    end(&lab);

    begin(&lab, 1); /* or it lets go, or completes it */
    piece_of(&lab, 0)->owner = other;
    add(&lab);
    piece_of(&lab, 0)->owner = nobody;
    assert_true(read_again(&lab));
    assert_int_equal(work_of(&lab, 0)->state, WORK_OPEN);
    piece_of(&lab, 0)->owner = other;
    assert_true(read_again(&lab));
    assert_int_equal(work_of(&lab, 0)->state, WORK_OTHERS);
    piece_of(&lab, 0)->owner = nobody;
    piece_of(&lab, 0)->complete = 1;
    piece_of(&lab, 0)->modified_ns = 50;
    assert_true(read_again(&lab));
    assert_int_equal(work_of(&lab, 0)->state, WORK_DONE);
    assert_true(work_of(&lab, 0)->by_others);
    end(&lab);
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
        take(&lab, false);
        assert_non_null(ledger_hand_out(&lab.ledger));
        settle(&lab, 0, 0, 2, false);
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

/* When was the catalog asked that has said last that all of ours is ours? */
TEST(confirmed) {
    lab_t lab;
    begin(&lab, 2);
    add(&lab);
    lab.ledger.asked_ns = 10;
    assert_int_equal(ledger_confirmed(&lab.ledger), 10); /* nothing is */
    take(&lab, false);
    lab.ledger.asked_ns = 20;
    assert_int_equal(ledger_confirmed(&lab.ledger), 10);
    take(&lab, false);
    assert_int_equal(work_of(&lab, 1)->state, WORK_OURS);
    lab.ledger.asked_ns = 30;
    settle(&lab, 1, 4, 5, false);
    assert_int_equal(write_down(&lab), 1); /* says nothing of the first one */
    assert_int_equal(work_of(&lab, 1)->confirmed_ns, 30);
    assert_int_equal(ledger_confirmed(&lab.ledger), work_of(&lab, 0)->confirmed_ns);
    assert_true(ledger_confirmed(&lab.ledger) < 30);
    lab.ledger.asked_ns = 40;
    assert_true(read_again(&lab));
    assert_int_equal(ledger_confirmed(&lab.ledger), 40);
    lab.ledger.asked_ns = 50;
    piece_of(&lab, 0)->epoch++; /* another load's */
    assert_true(read_again(&lab));
    assert_int_equal(ledger_confirmed(&lab.ledger), 50);
    lab.ledger.asked_ns = 60;
    entry_of(&lab)->removed = true;
    assert_false(read_again(&lab));
    assert_true(lab.ledger.inputs[0].removed && lab.ledger.inputs[0].taken);
    assert_int_equal(ledger_confirmed(&lab.ledger), 50);
    end(&lab);
}

TEST(take_that_was_not_made) {
    lab_t lab;
    begin(&lab, 1);
    add(&lab);
    take(&lab, true);
    assert_int_equal(work_of(&lab, 0)->state, WORK_OPEN);
    piece_of(&lab, 0)->owner = other; /* who was first */
    piece_of(&lab, 0)->epoch = 1;
    take_t *takes;
    size_t count;
    assert_true(ledger_choose(&lab.ledger, 1, 1, &takes, &count, &err));
    assert_true(ledger_taken(&lab.ledger, takes, count, &lab.catalog, &err));
    takes_free(takes, count);
    assert_int_equal(work_of(&lab, 0)->state, WORK_OTHERS);
    end(&lab);
}

/* ---- what a take begins with ---- */

TEST(begun_anew) {
    static const struct {
        bool safe, unsafe, again, anew;
        uint32_t generation;
    } rows[] = {{true, false, false, false, GENERATION},    {true, true, false, true, GENERATION},
                {false, true, false, false, GENERATION},    {true, false, true, true, GENERATION},
                {true, false, false, true, GENERATION - 1}, {false, false, false, true, GENERATION - 1}};
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        lab_t lab;
        bool is_new;
        begin(&lab, 1);
        lab.safe = rows[i].safe;
        lab.again = rows[i].again;
        assert_true(done_runs_add(&piece_of(&lab, 0)->done, 0, 1, 5, &is_new));
        piece_of(&lab, 0)->dialect = 8;
        piece_of(&lab, 0)->modified_ns = 50;
        piece_of(&lab, 0)->unsafe = rows[i].unsafe;
        piece_of(&lab, 0)->generation = rows[i].generation;
        piece_of(&lab, 0)->epoch = 1;
        add(&lab);
        const entry_change_t change = take(&lab, false);
        assert_int_equal(change.progress != NULL, rows[i].anew);
        assert_int_equal(piece_of(&lab, 0)->done.count, !rows[i].anew);
        assert_int_equal(piece_of(&lab, 0)->generation, GENERATION);
        assert_int_equal(piece_of(&lab, 0)->dialect, rows[i].generation == GENERATION ? 8 : 0);
        end(&lab);
    }
}

/* --reload-missing: a complete piece is taken once more, and is done when this run has done it, or another load since. */
TEST(again) {
    for (int by_other = 0; by_other < 2; by_other++) {
        lab_t lab;
        begin(&lab, 1);
        lab.again = true;
        piece_of(&lab, 0)->epoch = piece_of(&lab, 0)->complete = 1;
        piece_of(&lab, 0)->modified_ns = 50;
        piece_of(&lab, 0)->counts = (counts_t){.read = 7, .loaded = 7};
        add(&lab);
        assert_int_equal(work_of(&lab, 0)->state, WORK_OPEN);
        assert_int_equal(work_of(&lab, 0)->read_before, 0);
        assert_true(read_again(&lab));
        assert_int_equal(next_of(&lab), NEXT_TAKE);
        assert_non_null(take(&lab, false).progress);
        assert_int_equal(piece_of(&lab, 0)->complete, 0);
        assert_int_equal(work_of(&lab, 0)->state, WORK_OURS);
        if (by_other) {
            piece_of(&lab, 0)->owner = other;
            piece_of(&lab, 0)->epoch++;
            assert_true(read_again(&lab));
            assert_int_equal(work_of(&lab, 0)->state, WORK_OTHERS);
            piece_of(&lab, 0)->owner = nobody;
            piece_of(&lab, 0)->complete = 1;
            piece_of(&lab, 0)->modified_ns = 50;
            assert_true(read_again(&lab));
            assert_int_equal(work_of(&lab, 0)->state, WORK_DONE);
        } else {
            const work_t *work = work_of(&lab, 0);
            settle(&lab, 0, 0, 1, true);
            ledger_fed(&lab.ledger, work_of(&lab, 0), work->epoch, 1, 1);
            assert_int_equal(write_down(&lab), 1);
            assert_int_equal(work->state, WORK_DONE);
        }
        assert_int_equal(next_of(&lab), NEXT_END);
        end(&lab);
    }
}

/* A file of another time is compared first; and who works on a longer version is waited for. */
TEST(again_later) {
    lab_t lab;
    begin(&lab, 1);
    lab.again = true;
    piece_of(&lab, 0)->epoch = piece_of(&lab, 0)->complete = 1;
    piece_of(&lab, 0)->modified_ns = 49;
    piece_of(&lab, 0)->owner = other;
    add(&lab);
    assert_int_equal(work_of(&lab, 0)->state, WORK_CHECK);
    ledger_checked(&lab.ledger, work_of(&lab, 0));
    assert_int_equal(work_of(&lab, 0)->state, WORK_OTHERS);
    piece_of(&lab, 0)->owner = nobody;
    assert_true(read_again(&lab));
    assert_int_equal(work_of(&lab, 0)->state, WORK_OPEN); /* it is not compared once more */
    assert_non_null(take(&lab, false).progress);
    assert_int_equal(work_of(&lab, 0)->state, WORK_OURS);
    assert_false(work_of(&lab, 0)->again);
    end(&lab);
}

/* What was done of a piece before its end is compared while the rest is loaded; then it is begun anew. */
TEST(again_after_the_rest) {
    bool is_new;
    lab_t lab;
    begin(&lab, 1);
    lab.again = true;
    piece_of(&lab, 0)->epoch = 1;
    piece_of(&lab, 0)->modified_ns = 49;
    assert_true(done_runs_add(&piece_of(&lab, 0)->done, 0, 1, 5, &is_new));
    add(&lab);
    assert_int_equal(work_of(&lab, 0)->state, WORK_OPEN);
    assert_null(take(&lab, false).progress);
    assert_true(work_of(&lab, 0)->again);
    settle(&lab, 0, 1, 2, true);
    ledger_fed(&lab.ledger, work_of(&lab, 0), 2, 2, 1);
    assert_int_equal(write_down(&lab), 1);
    assert_int_equal(work_of(&lab, 0)->state, WORK_OPEN);
    assert_false(work_of(&lab, 0)->handed_out);
    end(&lab);
}

TEST(grown) {
    lab_t lab;
    begin(&lab, 2);
    piece_t *last = piece_of(&lab, 1);
    bool is_new;
    piece_of(&lab, 0)->complete = last->complete = 1;
    piece_of(&lab, 0)->modified_ns = last->modified_ns = 50;
    last->tail = (tail_t){.from = 5, .to = 6, .hash = 9, .counts = {.read = 1, .loaded = 1}};
    last->counts = (counts_t){.read = 7, .loaded = 7};
    assert_true(done_runs_add(&last->done, 4, 5, 5, &is_new));
    assert_true(piece_add_rejects(last, &(reject_mark_t){5 * LEDGER_BLOCK_BYTES, 1}, 1, &err));
    lab.view = VIEW_GROWN;
    assert_true(add_seen(&lab, 60));
    assert_int_equal(work_of(&lab, 1)->read_before, 7);    /* the tail is read again */
    assert_int_equal(work_of(&lab, 0)->state, WORK_CHECK); /* of an older file: compared, not taken */
    assert_int_equal(work_of(&lab, 1)->state, WORK_OPEN);
    lab.view = VIEW_SAME; /* as it will be when it is a version of its own */
    lab.version = 2;
    const entry_change_t change = take(&lab, false);
    assert_int_equal(change.piece, 1);
    assert_int_equal(change.version, 1);
    assert_true(change.no_extent_yet);
    assert_int_equal(change.extent_at, 1);
    assert_int_equal(entry_of(&lab)->version, 2);
    assert_int_equal(entry_of(&lab)->versions[1].modified_ns, 60);
    assert_int_equal(entry_of(&lab)->extents[1].start, 1 << 20);
    assert_int_equal(last->done.count, 1);   /* what was done stays done */
    assert_int_equal(last->tail.to, 0);      /* but for the last block */
    assert_int_equal(last->complete, 1);     /* for an earlier version it is complete */
    assert_int_equal(last->reject_count, 1); /* its reject stays open until it is read again */
    assert_int_equal(work_of(&lab, 1)->state, WORK_OURS);
    /* now without a reject */
    settle(&lab, 1, 5, 6, false);
    assert_int_equal(lab.ledger.inputs[0].entry.pieces[1].reject_count, 0);
    assert_int_equal(lab.ledger.inputs[0].entry.pieces[1].modified_ns,
                     0); /* of two files, until they are compared */
    settle(&lab, 1, 6, 7, true);
    ledger_fed(&lab.ledger, work_of(&lab, 1), 1, 7, 1);
    entry_change_t *changes;
    size_t count;
    assert_true(ledger_checkpoint(&lab.ledger, &changes, &count, &err));
    assert_int_equal(count, 1);
    assert_int_equal(changes[0].version, 2);
    assert_int_equal(changes[0].progress->complete, 2);
    assert_int_equal(changes[0].progress->modified_ns, 60);
    free(changes);
    end(&lab);
}

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

/* Until version 2 is dropped. */
static void grow_often(lab_t *lab, size_t piece) {
    piece_of(lab, piece)->complete = 120;
    for (int i = 0; i < 150; i++)
        assert_true(entry_put_version(entry_of(lab), &(version_t){.size = 2000, .digest = "e"},
                                      entry_next_slot(entry_of(lab), 120), &err));
    assert_null(entry_version(entry_of(lab), 2));
}

/* A load goes on where what it has seen is a version that was dropped meanwhile; a new one would find a change. */
TEST(dropped_meanwhile) {
    lab_t lab;
    begin(&lab, 2);
    assert_true(entry_add_version(entry_of(&lab), &(version_t){.size = 1500, .digest = "s"}, &err));
    lab.version = 2;
    piece_of(&lab, 1)->complete = 1;
    add(&lab);
    grow_often(&lab, 1);
    lab.view = VIEW_CHANGED; /* as nobody knows it now */
    assert_true(read_again(&lab));
    assert_int_equal(lab.ledger.inputs[0].view, VIEW_OLDER);
    end(&lab);
}

/* One that only holds the input reads no version, and so waits for none. */
TEST(dropped_while_held) {
    lab_t lab;
    begin(&lab, 1);
    assert_true(entry_add_version(entry_of(&lab), &(version_t){.size = 1500, .digest = "s"}, &err));
    lab.version = 2;
    lab.holds = true;
    add(&lab);
    grow_often(&lab, 0);
    lab.version = 152;
    assert_true(read_again(&lab));
    assert_int_equal(lab.ledger.inputs[0].view, VIEW_SAME);
    const load_seen_t *load;
    assert_true(ledger_may_hold(&lab.ledger, &load));
    end(&lab);
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
        const entry_change_t change = take(&lab, false);
        assert_int_equal(change.slot, 1);
        assert_int_equal(entry_of(&lab)->extents[1].start, rows[i].end << 20);
        assert_int_equal(entry_of(&lab)->extents[1].length, rows[i].length << 20);
        end(&lab);
    }
}

TEST(older) {
    lab_t lab;
    begin(&lab, 2);
    assert_true(entry_add_version(entry_of(&lab),
                                  &(version_t){.size = 2000, .digest = "e", .modified_ns = 70}, &err));
    lab.view = VIEW_OLDER;
    add(&lab);
    take(&lab, false);
    assert_int_equal(work_of(&lab, 0)->state, WORK_OURS); /* the first piece is the same in every version */
    assert_int_equal(work_of(&lab, 1)->state, WORK_OPEN);
    ledger_skip(&lab.ledger, work_of(&lab, 0));
    next_t next;
    const load_seen_t *load;
    assert_false(ledger_next(&lab.ledger, &next, &load, &err)); /* the rest is not here */
    assert_int_equal(err.status, STATUS_INPUT);
    piece_of(&lab, 1)->complete =
        2; /* what is here is done, but was it ever read to its end as it is here? */
    piece_of(&lab, 1)->modified_ns = 70;
    assert_true(read_again(&lab));
    assert_int_equal(work_of(&lab, 1)->state, WORK_CHECK);
    end(&lab);
}

TEST(older_that_was_complete) {
    lab_t lab;
    begin(&lab, 1);
    entry_of(&lab)->versions[0].completed_ns = 50;
    assert_true(entry_add_version(entry_of(&lab),
                                  &(version_t){.size = 2000, .digest = "e", .modified_ns = 70}, &err));
    piece_of(&lab, 0)->complete = 2;
    piece_of(&lab, 0)->modified_ns = 70;
    lab.view = VIEW_OLDER;
    add(&lab);
    assert_int_equal(next_of(&lab), NEXT_END);
    end(&lab);
}

TEST(changed) {
    lab_t lab;
    begin(&lab, 1);
    lab.view = VIEW_CHANGED;
    assert_false(add_seen(&lab, 50));
    assert_int_equal(err.status, STATUS_INPUT);
    end(&lab);

    begin(&lab, 1); /* it turns out later: another load has followed another file */
    add(&lab);
    assert_true(entry_add_version(entry_of(&lab), &(version_t){.size = 2000, .digest = "e"}, &err));
    lab.view = VIEW_CHANGED;
    assert_false(read_again(&lab));
    assert_int_equal(err.status, STATUS_INPUT);
    end(&lab);

    begin(&lab, 1);
    add(&lab);
    entry_of(&lab)->removed = true;
    assert_false(read_again(&lab));
    assert_int_equal(err.status, STATUS_SERVER);
    entry_of(&lab)->removed = false;
    entry_of(&lab)->ordinal = 10; /* the entry is gone */
    assert_false(read_again(&lab));
    assert_int_equal(err.status, STATUS_SERVER);
    end(&lab);
}

/* ---- working ---- */

TEST(held_back) {
    lab_t lab;
    begin(&lab, 1);
    add(&lab);
    take(&lab, false);
    for (uint64_t i = 0; i < LEDGER_MOST_RUNS + 50; i++)
        settle(&lab, 0, 2 * i + 1, 2 * i + 2, false);
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
        settle(&lab, 0, 2 * i, 2 * i + 1, false);
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

TEST(torn) {
    lab_t lab;
    begin(&lab, 1);
    add(&lab);
    take(&lab, false);
    work_t *work = work_of(&lab, 0);
    assert_false(ledger_torn_is_written(work, 1));
    ledger_torn(&lab.ledger, work, 2, (torn_t){7, 3, 1}); /* of an ownership that is not ours */
    assert_int_equal(work->torn.length, 0);
    ledger_torn(&lab.ledger, work, 1, (torn_t){7, 3, 1});
    assert_false(ledger_torn_is_written(work, 1));
    entry_change_t *changes;
    size_t count;
    assert_true(ledger_checkpoint(&lab.ledger, &changes, &count, &err));
    assert_int_equal(count, 1);
    assert_int_equal(changes[0].torn->offset, 7);
    assert_int_equal(changes[0].version, 1);
    assert_false(ledger_torn_is_written(work, 1)); /* it was not sent yet */
    ledger_written(&lab.ledger, changes, count);
    free(changes);
    assert_true(ledger_torn_is_written(work, 1));
    assert_false(ledger_torn_is_written(work, 2));
    end(&lab);
}

TEST(unsafe) {
    for (int safe = 0; safe < 2; safe++) {
        lab_t lab;
        begin(&lab, 1);
        lab.safe = safe;
        add(&lab);
        take(&lab, false);
        settle(&lab, 0, 0, 1, false);
        assert_int_equal(lab.ledger.inputs[0].entry.pieces[0].unsafe, !safe);
        end(&lab);
    }
}

TEST(rejects) {
    lab_t lab;
    begin(&lab, 1);
    add(&lab);
    take(&lab, false);
    const reject_mark_t first = {10, 1}, second = {LEDGER_BLOCK_BYTES + 10, 2};
    const settled_block_t block = {.from = 0, .to = 1, .hash = 1, .rejects = &first, .reject_count = 1},
                          tail = {.from = 1,
                                  .to = 2,
                                  .hash = 1,
                                  .rejects = &second,
                                  .reject_count = 1,
                                  .tail = true};
    assert_true(ledger_block(&lab.ledger, work_of(&lab, 0), 1, &block, &err));
    assert_true(ledger_block(&lab.ledger, work_of(&lab, 0), 1, &tail, &err));
    assert_int_equal(ledger_open_rejects(&lab.ledger),
                     1); /* the last block counts when all of it is settled */
    ledger_fed(&lab.ledger, work_of(&lab, 0), 1, 2, 1);
    entry_change_t *changes;
    size_t count;
    for (int turn = 0; turn < 2; turn++) { /* a second try is the same */
        assert_true(ledger_checkpoint(&lab.ledger, &changes, &count, &err));
        assert_int_equal(ledger_open_rejects(&lab.ledger), 2);
        free(changes);
    }
    assert_true(entry_add_fix(&lab.ledger.inputs[0].entry, (fix_mark_t){10, 1, 5, false, 0}, &err));
    assert_int_equal(ledger_open_rejects(&lab.ledger), 2); /* it is not there yet */
    assert_true(entry_add_fix(&lab.ledger.inputs[0].entry, (fix_mark_t){10, 1, 5, true, 0}, &err));
    assert_int_equal(ledger_open_rejects(&lab.ledger), 1);
    end(&lab);
}

/* An entry that is full is never written beyond what a document holds; what to do depends on what it is full of. */
TEST(too_many_rejects) {
    lab_t lab;
    begin(&lab, 1);
    add(&lab);
    take(&lab, false);
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
