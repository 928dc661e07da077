/* ledger: blocks that are held back, and bounds of what one document holds. There is no store here: entries are what a hand
 * has written. The simulator runs all of it against a store. */
#include "catalog/ledger/ledger.h"
#include "test.h"

#include <stdlib.h>
#include <string.h>

static const load_id_t self = {{1}};
static err_t err;

/* One input of one piece, which this load has taken. */
typedef struct {
    ledger_t ledger;
    entries_t catalog; /* the one entry */
} lab_t;

static bool relate(TEST_UNUSED void *context, TEST_UNUSED const ledger_input_t *input, view_t *view,
                   uint32_t *version, TEST_UNUSED err_t *failure) {
    *view = VIEW_SAME;
    *version = 1;
    return true;
}

static void begin(lab_t *lab) {
    take_t *takes;
    size_t count;
    *lab = (lab_t){0};
    entry_t *entry = entries_add(&lab->catalog, &err);
    *entry = (entry_t){.ordinal = 9, .path = strdup("a"), .key = strdup("k"), .kind = strdup("plain")};
    assert_true(entry_add_version(entry, &(version_t){.size = 1000, .digest = "d", .modified_ns = 50}, &err));
    assert_true(entry_add_extent(entry, (extent_t){.base = 1 << 20, .length = 1 << 20}, &err));
    assert_true(entry_make_pieces(entry, 1, 4, &err));
    ledger_init(
        &lab->ledger,
        &(ledger_options_t){
            .self = self, .generation = 3, .safe = true, .lease_ns = 100, .relate = relate, .context = lab});
    ledger_input_t input = {.seen = {.size = 1000, .digest = "d", .modified_ns = 50},
                            .name = "a",
                            .key = "new key",
                            .text_end = 2 << 20,
                            .bytes = 1000,
                            .plain = true};
    assert_true(entry_copy(&input.entry, entry, &err));
    assert_true(ledger_add(&lab->ledger, &input, &err));
    entry_free(&input.entry);
    assert_true(ledger_choose(&lab->ledger, NULL, 1, 1, &takes, &count, &err) && count == 1);
    const entry_change_t *change = &takes->change;
    entry->pieces->owner = change->new_owner;
    entry->pieces->epoch = change->new_epoch;
    entry->pieces->generation = change->new_generation;
    entries_t read = {0};
    assert_true(entry_copy(entries_add(&read, &err), entry, &err));
    assert_true(ledger_begin_reading(&lab->ledger, 0, &err) && ledger_read(&lab->ledger, &read, &err));
    ledger_taken(&lab->ledger, takes, count);
    entries_free(&read);
    takes_free(takes, count);
}

static void end(lab_t *lab) {
    ledger_free(&lab->ledger);
    entries_free(&lab->catalog);
}

static work_t *work_of(lab_t *lab, size_t at) {
    return &lab->ledger.works[at];
}

static void settle(lab_t *lab, uint64_t from, uint64_t to) {
    const settled_block_t block = {
        .from = from, .to = to, .hash = from + 1, .counts = {.read = 2, .of[FATE_LOADED] = 2}};
    assert_true(ledger_block(&lab->ledger, work_of(lab, 0), &block, &err));
}

TEST(held_back) {
    lab_t lab;
    begin(&lab);
    for (uint64_t i = 0; i < LEDGER_MOST_RUNS + 50; i++)
        settle(&lab, 2 * i + 1, 2 * i + 2);
    const piece_t *piece = &lab.ledger.inputs[0].entry.pieces[0];
    assert_int_equal(piece->done.count, LEDGER_MOST_RUNS);
    assert_int_equal(piece->counts.read, 2 * LEDGER_MOST_RUNS);
    ledger_fed(work_of(&lab, 0), 2 * (LEDGER_MOST_RUNS + 50), 0);
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

/* Blocks are settled in any order: that takes no reject away from another block, and the tail begins with its first part. */
TEST(backwards) {
    enum { ORDER = 4 };
    static const uint64_t order[ORDER] = {3, 2, 1, 0};
    lab_t lab;
    begin(&lab);
    for (size_t i = 0; i < ORDER; i++) {
        const reject_mark_t mark = {order[i] * LEDGER_BLOCK_BYTES + 10, 1};
        const settled_block_t block = {.from = order[i],
                                       .to = order[i] + 1,
                                       .hash = 1,
                                       .tail = order[i] >= 2,
                                       .rejects = &mark,
                                       .reject_count = 1};
        assert_true(ledger_block(&lab.ledger, work_of(&lab, 0), &block, &err));
    }
    ledger_fed(work_of(&lab, 0), 4, 2);
    entry_change_t *changes;
    size_t count;
    assert_true(ledger_checkpoint(&lab.ledger, &changes, &count, &err));
    assert_true(changes->sets_owner);
    assert_int_equal(changes->progress->tail.from, 2);
    assert_int_equal(changes->progress->reject_count, ORDER);
    free(changes);
    end(&lab);
}

/* Rejects of a piece are in their order, each place once, with what was rejected there last. */
TEST(rejects_of_a_piece) {
    static const reject_mark_t before[] = {{20, 1}, {50, 1}}, more[] = {{30, 2}, {60, 2}, {10, 2}, {20, 2}},
                               wanted[] = {{10, 2}, {20, 2}, {30, 2}, {50, 1}, {60, 2}};
    piece_t piece = {.from = 0};
    assert_true(piece_add_rejects(&piece, before, 2, &err) && piece_add_rejects(&piece, more, 4, &err));
    assert_int_equal(piece.reject_count, 5);
    assert_memory_equal(piece.rejects, wanted, sizeof wanted);
    piece_free(&piece);
}

/* An entry that is full is never written beyond what a document holds; what to do depends on what it is full of. */
TEST(too_many_rejects) {
    lab_t lab;
    begin(&lab);
    const reject_mark_t mark = {10, 1};
    const settled_block_t block = {.from = 0, .to = 1, .hash = 1, .rejects = &mark, .reject_count = 1};
    entry_t *entry = &lab.ledger.inputs[0].entry;
    piece_t *piece = &entry->pieces[0];
    piece->reject_count = LEDGER_MOST_REJECTS;
    assert_false(ledger_block(&lab.ledger, work_of(&lab, 0), &block, &err));
    assert_int_equal(err.status, STATUS_TOO_MANY_REJECTED);
    assert_non_null(strstr(err.text, "more than 500000 rejected records, which is"));
    piece->reject_count = 300000;
    entry->fix_count = 80000;
    assert_false(ledger_block(&lab.ledger, work_of(&lab, 0), &block, &err));
    assert_int_equal(err.status, STATUS_TOO_MANY_REJECTED);
    assert_non_null(strstr(err.text, "more than 300000 rejected records and 80000 notes of fixed ones"));
    assert_non_null(strstr(err.text, "--reload-changed"));
    piece->reject_count = entry->fix_count = 0;
    end(&lab);
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
