/* standing: which entries of reject files the catalog still has rejects for; and the fixes of an entry. */
#include "catalog/ledger/ledger.h"
#include "catalog/ledger/standing.h"
#include "test.h"

#include <stdlib.h>
#include <string.h>

enum { BLOCK = LEDGER_BLOCK_BYTES, AT = BLOCK + 100, TAIL = 3 * BLOCK + 5 };

/* An input of two pieces, blocks 0 and 1, and the rest: rejects with the hash 7 at AT, in the done blocks of
 * the first piece, and at TAIL, in the tail of the second. */
static entry_t input(void) {
    err_t err;
    bool is_new;
    entry_t entry = {0};
    assert_true(entry_add_version(&entry, &(version_t){.size = 4 * BLOCK}, &err));
    assert_true(entry_make_pieces(&entry, 2, 2, &err));
    for (size_t i = 0; i < 2; i++)
        entry.pieces[i].complete = 1;
    assert_true(done_runs_add(&entry.pieces[0].done, 0, 2, 1, &is_new));
    assert_true(done_runs_add(&entry.pieces[1].done, 2, 3, 1, &is_new));
    assert_true(piece_add_rejects(&entry.pieces[0], &(reject_mark_t){AT, 7}, 1, &err));
    assert_true(piece_add_rejects(&entry.pieces[1], &(reject_mark_t){TAIL, 7}, 1, &err));
    return entry;
}

enum {
    GROWN = 1,      /* a new version, of which nothing is done */
    TORN = 2,       /* the reject in the tail was the last record of the first version, without a line end */
    DONE_ANEW = 4,  /* the new version is done, without that reject */
    BEGUN = 8,      /* nothing is done yet, nor known */
    NOTED = 16,     /* a fix, not confirmed, at AT and at TAIL */
    CONFIRMED = 32, /* a fix, confirmed */
    STILL = 64,     /* the new version is done, and has the same reject */
    LEFT_OUT = 128, /* a person has left it out */
    OTHER = 256,    /* the whole record is a reject, too: another one, with the hash 8 */
};

TEST(standing) {
    static const struct {
        int what;
        uint64_t offset, hash; /* 0: not known */
        standing_t standing;
    } cases[] = {
        {0, AT, 7, STANDING_OPEN},
        {0, AT, 0, STANDING_OPEN},
        {0, AT, 8, STANDING_UNKNOWN},
        {0, AT + 1, 7, STANDING_UNKNOWN},
        {0, AT + 1, 0, STANDING_UNKNOWN},
        {0, TAIL, 7, STANDING_OPEN},
        {0, TAIL, 8, STANDING_UNKNOWN},
        {0, TAIL + 1, 7, STANDING_UNKNOWN},
        {CONFIRMED, AT, 7, STANDING_OPEN},
        {CONFIRMED, AT, 8, STANDING_UNKNOWN},
        {BEGUN, AT, 7, STANDING_NOT_YET},
        {BEGUN, AT, 0, STANDING_NOT_YET},
        {BEGUN, TAIL, 7, STANDING_NOT_YET},
        /* the input has grown: what was done stays done, the tail does not */
        {GROWN, AT, 7, STANDING_OPEN},
        {GROWN, AT + 1, 7, STANDING_UNKNOWN},
        {GROWN, TAIL, 7, STANDING_OPEN},
        {GROWN, TAIL, 8, STANDING_NOT_YET},
        {GROWN, TAIL + 9, 7, STANDING_NOT_YET},
        {GROWN | STILL, TAIL, 7, STANDING_OPEN},
        /* the last record had no line end */
        {TORN, TAIL, 7, STANDING_OPEN},
        {GROWN | TORN, TAIL, 7, STANDING_OUTGROWN},
        {GROWN | TORN, TAIL, 8, STANDING_NOT_YET},
        {GROWN | TORN, AT, 7, STANDING_OPEN},
        {GROWN | TORN | DONE_ANEW, TAIL, 7, STANDING_OUTGROWN},
        {GROWN | TORN | DONE_ANEW, TAIL, 8, STANDING_UNKNOWN},
        {GROWN | TORN | DONE_ANEW, TAIL, 0, STANDING_UNKNOWN},
        {GROWN | TORN | DONE_ANEW | NOTED, TAIL, 7, STANDING_OUTGROWN},
        {GROWN | TORN | DONE_ANEW | CONFIRMED, TAIL, 7, STANDING_OPEN}, /* it has grown by a line end */
        {GROWN | TORN | DONE_ANEW | LEFT_OUT, TAIL, 7, STANDING_OUTGROWN},
        {GROWN | TORN | DONE_ANEW | OTHER, TAIL, 7, STANDING_OUTGROWN},
        {GROWN | TORN | DONE_ANEW | OTHER, TAIL, 8, STANDING_OPEN},
        {GROWN | TORN | DONE_ANEW | OTHER | CONFIRMED, TAIL, 7, STANDING_OUTGROWN},
        {GROWN | TORN | DONE_ANEW | OTHER | CONFIRMED, TAIL, 8, STANDING_OPEN},
        {GROWN | TORN | STILL, TAIL, 7, STANDING_OPEN}, /* it has grown by a line end */
        /* fixed before its place was done: it is no reject there */
        {GROWN | DONE_ANEW | NOTED, TAIL, 7, STANDING_OPEN},
        {GROWN | DONE_ANEW | CONFIRMED, TAIL, 7, STANDING_OPEN},
        {GROWN | DONE_ANEW | LEFT_OUT, TAIL, 7, STANDING_OPEN},
        {GROWN | DONE_ANEW | NOTED, TAIL, 8, STANDING_UNKNOWN}, /* of another record */
        {GROWN | DONE_ANEW | CONFIRMED, TAIL, 8, STANDING_UNKNOWN},
        {GROWN | DONE_ANEW, TAIL, 7, STANDING_UNKNOWN},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        err_t err;
        const int what = cases[i].what;
        entry_t entry = input();
        piece_t *last = &entry.pieces[1];
        if (what & TORN)
            entry.versions[0].torn = (torn_t){TAIL, 10, 7};
        if (what & GROWN)
            assert_true(entry_add_version(&entry, &(version_t){.size = 5 * BLOCK}, &err));
        if (what & (DONE_ANEW | STILL))
            last->complete = 2;
        if (what & DONE_ANEW)
            last->reject_count = 0;
        if (what & OTHER)
            assert_true(piece_add_rejects(last, &(reject_mark_t){TAIL, 8}, 1, &err));
        for (size_t j = 0; j < 2 && what & BEGUN; j++)
            piece_clear_progress(&entry.pieces[j]);
        for (size_t j = 0; j < 2 && what & (NOTED | CONFIRMED | LEFT_OUT); j++) {
            const fix_mark_t fix = {j ? TAIL : AT, 7, what & LEFT_OUT ? FIX_NOTHING : 99, !(what & NOTED), 0};
            assert_true(entry_add_fix(&entry, fix, &err));
        }
        uint64_t of;
        const standing_t standing =
            standing_of_reject(&entry, cases[i].offset, cases[i].hash ? &cases[i].hash : NULL, &of);
        if (standing == STANDING_OPEN && of != (cases[i].hash ? cases[i].hash : 7))
            fail_msg("case %zu: of %d", i, (int)of);
        if (standing != cases[i].standing)
            fail_msg("case %zu: %d instead of %d", i, (int)standing, (int)cases[i].standing);
        entry_free(&entry);
    }
}

/* "a": a is noted; "A": it is confirmed; "-": confirmed as nothing. */
TEST(fixes) {
    static const struct {
        const char *marks, *accepted;
        char answer; /* 0: none */
    } cases[] = {
        {"", "", 0},
        {"a", "a", 0},
        {"aa", "a", 0},
        {"ab", "ab", 0},   /* either may be there */
        {"abA", "a", 'a'}, /* and then the other one can not */
        {"abB", "b", 'b'},
        {"aAb", "ab", 'a'}, /* a second fix was tried; the first one stays the answer */
        {"aAbB", "b", 'b'}, /* somebody had removed the first */
        {"-", "", '-'},
        {"--", "", '-'},
        {"ab-", "ab", '-'}, /* a late message may still bring one of them */
        {"a-A", "a", 'a'},
        {"-b", "b", '-'},
        {"-bB", "b", 'b'},
        {"aA-", "a", '-'}, /* by somebody who did not know of it: it is there, and known */
        {"abA-", "a", '-'},
        {"aA-A", "a", 'a'},
        {"aA-bB", "b", 'b'},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        err_t err;
        entry_t entry = {0};
        static const uint64_t neighbours[] = {20, 4, 9, 11};
        for (size_t j = 0; j < 4; j++)
            assert_true(entry_add_fix(&entry, (fix_mark_t){neighbours[j], 1, 'n', j % 2, 0}, &err));
        for (const char *at = cases[i].marks; *at; at++) {
            const fix_mark_t fix = {10, 1, *at == '-' ? FIX_NOTHING : (uint64_t)(*at | 32), *at < 'a', 0};
            assert_true(entry_add_fix(&entry, fix, &err));
        }
        for (char hash = 'a'; hash < 'd'; hash++)
            if (fix_marks_accept(entry.fixes, entry.fix_count, 10, 1, (uint64_t)hash) !=
                (strchr(cases[i].accepted, hash) != NULL))
                fail_msg("%s: %c", cases[i].marks, hash);
        assert_false(fix_marks_accept(entry.fixes, entry.fix_count, 10, 1, FIX_NOTHING));
        const fix_mark_t *answer = entry_answer(&entry, 10, 1);
        const uint64_t expected = cases[i].answer == '-' ? FIX_NOTHING : (uint64_t)cases[i].answer;
        if ((answer != NULL) != (cases[i].answer != 0) || (answer && answer->hash != expected))
            fail_msg("%s: another answer", cases[i].marks);
        for (size_t j = 0; j < 4; j++)
            assert_true(fix_marks_accept(entry.fixes, entry.fix_count, neighbours[j], 1, 'n') &&
                        (entry_answer(&entry, neighbours[j], 1) != NULL) == (j % 2));
        for (size_t j = 1; j < entry.fix_count; j++)
            assert_true(entry.fixes[j - 1].offset <= entry.fixes[j].offset);
        entry_free(&entry);
    }
}

/* A fix is for one record: another one at the same place is another reject. */
TEST(fixes_of_another_record) {
    err_t err;
    entry_t entry = input();
    const fix_mark_t *fixes;
    assert_int_equal(entry_open_rejects(&entry), 2);
    assert_true(entry_add_fix(&entry, (fix_mark_t){TAIL, 7, 'a', true, 0}, &err));
    assert_int_equal(entry_open_rejects(&entry), 1);
    assert_true(piece_add_rejects(&entry.pieces[1], &(reject_mark_t){TAIL, 8}, 1, &err)); /* it has grown */
    assert_int_equal(entry_open_rejects(&entry), 2);
    fixes = entry.fixes;
    assert_true(fix_marks_accept(fixes, entry.fix_count, TAIL, 7, 'a'));
    assert_false(fix_marks_accept(fixes, entry.fix_count, TAIL, 8, 'a'));
    assert_true(fix_marks_know(fixes, entry.fix_count, TAIL, 'a'));
    assert_false(fix_marks_know(fixes, entry.fix_count, TAIL, 'b'));
    assert_null(entry_answer(&entry, TAIL, 8));
    assert_true(entry_add_fix(&entry, (fix_mark_t){TAIL, 8, 'b', false, 0}, &err));
    assert_true(entry_has_unsettled_fix(&entry, TAIL, 8));
    assert_false(entry_has_unsettled_fix(&entry, TAIL, 7));
    /* a person leaves the whole record out: what its beginning was fixed to may stay */
    assert_true(entry_add_fix(&entry, (fix_mark_t){TAIL, 8, FIX_NOTHING, true, 0}, &err));
    assert_int_equal(entry_open_rejects(&entry), 1);
    fixes = entry.fixes;
    assert_true(fix_marks_accept(fixes, entry.fix_count, TAIL, 8, 'a'));
    assert_true(fix_marks_accept(fixes, entry.fix_count, TAIL, 8, 'b'));
    assert_false(fix_marks_accept(fixes, entry.fix_count, TAIL, 8, 'c'));
    /* and so is one of it confirmed, which leaves the other record's alone */
    assert_true(entry_add_fix(&entry, (fix_mark_t){TAIL, 8, 'b', true, 0}, &err));
    assert_false(fix_marks_accept(entry.fixes, entry.fix_count, TAIL, 8, 'a'));
    assert_int_equal(entry_answer(&entry, TAIL, 7)->hash, 'a');
    entry_free(&entry);
}

/* What was confirmed in a collection that was dropped answers nothing of the one after it; to leave a record out does. */
TEST(generations) {
    static const struct {
        uint32_t confirmed, piece;
        uint64_t hash;
        uint64_t open;
    } cases[] = {{1, 1, 'a', 0}, {1, 2, 'a', 1}, {2, 1, 'a', 0}, {0, 2, 'a', 0}, {1, 2, FIX_NOTHING, 0}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        err_t err;
        entry_t entry = {0};
        assert_true(entry_make_pieces(&entry, 1, 0, &err));
        entry.pieces[0].generation = cases[i].piece;
        assert_true(piece_add_rejects(&entry.pieces[0], &(reject_mark_t){10, 99}, 1, &err));
        assert_int_equal(1, entry_open_rejects(&entry));
        assert_true(
            entry_add_fix(&entry, (fix_mark_t){10, 99, cases[i].hash, true, cases[i].confirmed}, &err));
        if (entry_open_rejects(&entry) != cases[i].open)
            fail_msg("case %zu", i);
        entry_free(&entry);
    }
}
