/* The fixes of an entry: which documents a mark accepts, and which one answers its reject. */
#include "catalog/ledger/ledger.h"
#include "catalog/ledger/standing.h"
#include "test.h"

#include <stdlib.h>
#include <string.h>

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
