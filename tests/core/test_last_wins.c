/* last_wins: which record of an `_id` is expected, against a plain search. */
#include "test.h"
#include "verify/own_ids.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const uint32_t ordinals[] = {7, 2, 5}; /* file 1 comes first, then 2, then 0 */
static const char *const names[] = {"a", "b", "c"};

/* "f0=" is a record of file f at offset 0 that was found; "!": another document is there, "-": none. */
static void note(last_wins_t *last, uint64_t hash, const char *text) {
    err_t err;
    for (; *text; text += text[3] ? 4 : 3) {
        const last_record_t record = {.hash = hash,
                                      .offset = (uint64_t)(text[1] - '0'),
                                      .file = (uint32_t)(text[0] - 'a'),
                                      .found = text[2] == '='   ? LAST_EQUAL
                                               : text[2] == '!' ? LAST_CHANGED
                                                                : LAST_MISSING};
        const difference_t detail = {.kind = DIFFERENCE_CHANGED,
                                     .file = record.file,
                                     .offset = record.offset,
                                     .records = 1,
                                     .line = 99};
        assert_true(last_wins_note(last, &record, text[2] == '!' ? &detail : NULL, &err));
    }
}

TEST(judge) {
    static const struct {
        const char *records;
        bool all;
        const char *listed; /* kind and place; "": nothing */
        uint64_t equal, superseded, undecided;
    } cases[] = {
        {"a0=", true, "", 1, 0, 0},
        {"a0!", true, "changed a0", 0, 0, 0},
        {"a0-", true, "missing a0", 0, 0, 0},
        {"a0! a1=", true, "", 1, 1, 0},
        {"a1= a0!", true, "", 1, 1, 0},
        {"a0= a1!", true, "changed a1", 0, 1, 0}, /* an equal one is not enough if a later one differs */
        {"a0! a1= a2!", true, "changed a2", 0, 2, 0},
        {"b0! a0=", true, "", 1, 1, 0}, /* by ordinals, not by the order of the command */
        {"a0! b0=", true, "changed a0", 0, 1, 0},
        {"a0! c9=", true, "changed a0", 0, 1, 0},
        {"b9! c0=", true, "", 1, 1, 0},
        {"a0= a1=", true, "", 1, 1, 0},
        {"a0= a1! a2=", true, "", 1, 2, 0},
        {"a0- b0- c0-", true, "missing a0", 0, 2, 0},
        {"a0!", false, "", 0, 0, 1},
        {"a0-", false, "missing a0", 0, 0, 0},
        {"b0! a0=", false, "", 1, 1, 0},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        last_wins_t last = {.count = 0}, first = {.count = 0}, other = {.count = 0};
        last_judged_t judged;
        err_t err;
        char listed[80] = "";
        differences_t *differences = differences_new(10);
        note(&first, 5, "a2! a3=");
        assert_true(last_wins_move(&last, &first, &err));
        note(&other, 7, cases[i].records);
        assert_true(last_wins_move(&last, &other, &err));
        assert_int_equal(other.count, 0);
        assert_true(last_wins_judge(&last, ordinals, names, cases[i].all, differences, &judged, &err));
        for (difference_kind_t kind = 0; kind < DIFFERENCE_KINDS; kind++) {
            size_t count;
            const difference_t *kept = differences_of(differences, kind, &count);
            for (size_t j = 0; j < count; j++) {
                snprintf(listed + strlen(listed), sizeof listed - strlen(listed), "%s %c%d",
                         difference_names[kind], (char)('a' + kept[j].file), (int)kept[j].offset);
                assert_int_equal(kept[j].line, kind == DIFFERENCE_CHANGED ? 99 : 0);
                assert_int_equal(kept[j].nameless, kind != DIFFERENCE_CHANGED); /* only details have an _id */
            }
        }
        assert_string_equal(listed, cases[i].listed);
        assert_int_equal(judged.equal, cases[i].equal + 1);
        assert_int_equal(judged.superseded, cases[i].superseded + 1);
        assert_int_equal(judged.undecided, cases[i].undecided);
        differences_free(differences);
        last_wins_free(&last);
        last_wins_free(&first);
        last_wins_free(&other);
    }
}
