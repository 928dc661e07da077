/* turns: which inputs may be loaded where later records replace earlier ones. Entries are letters:
 *     = complete   . registered, not begun   ~ begun   x removed   o complete in an earlier generation
 * and the inputs that are given: their places among the entries, '+' a new one; and, before a place, '>' one that has grown, '!' one
 * that has changed and is to be loaded again, 'v' an earlier version of it; '?' a new one that is like one of the entries, '<' one that
 * is a part of it, '(' both (of the entry before that) a part and like it; '^' a new one that is a part of a new one before it. */
#include "catalog/register/register.h"
#include "test.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { GENERATION = 3 };

static void make(entry_t *entry, uint32_t ordinal, char what) {
    err_t err;
    char path[8];
    const version_t version = {.size = 10, .digest = "d"};
    snprintf(path, sizeof path, "%u.csv", ordinal);
    *entry = (entry_t){.ordinal = ordinal, .path = strdup(path), .removed = what == 'x'};
    assert_true(entry_add_version(entry, &version, &err) && entry_make_pieces(entry, 1, 1, &err));
    piece_t *piece = &entry->pieces[0];
    piece->epoch = what != '.';
    piece->generation = what == '.' ? 0 : what == 'o' ? GENERATION - 1 : GENERATION;
    piece->complete = what == '=' || what == 'o';
}

TEST(turns) {
    static const struct {
        const char *entries, *given, *refused; /* NULL: they may be loaded */
        bool one_group;
    } cases[] = {
        {"", "+", NULL, false},
        {"=", "0", NULL, false},
        {"=", "+", NULL, false},
        {"~", "0", NULL, false},
        {"~", "+", "0.csv comes before new in the catalog", false},
        {"~", "+0", NULL, false},
        {".", "+", "0.csv comes before new in the catalog", false},
        {"x", "+", NULL, false},
        {"=~", "01", NULL, false},
        {"=~", "1", NULL, false},
        {"~=", "01", "not loaded, but 1.csv", false},
        {"~=", "1", NULL, false},
        {"~~", "01", "not loaded, but 1.csv", false},
        {"~~", "01", NULL, true},
        {"~~", "10", "not loaded, but 1.csv", false},
        {"~.", "01", NULL, false},
        {"~.", "0", NULL, false},
        {"~.", "1", "0.csv comes before 1.csv", false},
        {"=", ">0", NULL, false},
        {"==", ">1", NULL, false},
        {"==", ">0", "not loaded, but 1.csv", false},
        {"==", ">01", "has records that are", false},
        {"=x", ">0", NULL, false},
        {"oo", "01", NULL, false},
        {"oo", "0", "and 1.csv comes after", false},
        {"o=", "0", "not loaded, but 1.csv", false},
        {"oo.", "01", NULL, false},
        {"ox", "0", NULL, false},
        {"oo", "1", "0.csv comes before 1.csv", false},
        {"oo", "+", "0.csv comes before new", false},
        {"~.=", "012", "2.csv, which comes after it", false},
        {"=.", "0!1", NULL, false}, /* it becomes the last one */
        {"~", "!0", NULL, false},
        {"=~", "!1", NULL, false},
        {"~.", "0!1", NULL, false},
        {"~.", "!01", NULL, false},
        {"==", "!0", NULL, false},
        {"=.", "!0", "1.csv comes before 0.csv", false},
        {"~.", "!1", "0.csv comes before 1.csv", false},
        {"=", "?0", NULL, false},
        {"==", "?1", NULL, false},
        {"==", "?0", "new has the content of 0.csv, which was loaded before 1.csv", false},
        {"=x", "?0", NULL, false},
        {"=o", "?0", "before 1.csv", false},
        {"=o=", "?1", "before 2.csv", false},
        {"=", "+?0", "new has the content of 0.csv, which was loaded before new", false},
        {"=", "?0+", NULL, false},
        {"=", "<0", "new is the beginning of 0.csv, or an earlier version",
         false}, /* of the newest one, too */
        {"==", "<1", "`tipple forget` 1.csv#1", false},
        {"==", "(1", "new is the beginning of 0.csv", false},
        {"=", "0+^", "new is the beginning of new, and comes after it", false},
        {"~", "v0", "0.csv is an earlier version", false},
        {"o", "v0", "0.csv is an earlier version", false},
        {"=", "v0", NULL, false},
        {"=.", "v0", NULL, false},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        entries_t all = {0};
        err_t err = {.text = ""};
        wanted_t wanted[8] = {0};
        alike_t likes[8][LIKE_KINDS] = {0};
        registration_t registering = {.wanted = wanted, .generation = GENERATION};
        for (const char *at = cases[i].entries; *at; at++)
            make(entries_add(&all, &err), (uint32_t)(at - cases[i].entries), *at);
        char mark = 0;
        for (const char *at = cases[i].given; *at; at++) {
            if (*at != '+' && *at != '^' && (*at < '0' || *at > '9')) {
                mark = *at;
                continue;
            }
            alike_t *like = likes[registering.count];
            wanted_t *one = &wanted[registering.count++];
            *one = (wanted_t){.name = "new",
                              .seen = {.size = mark == '>' ? 20 : 10, .digest = "d"},
                              .like = like,
                              .changed = mark == '!',
                              .group = cases[i].one_group ? 1 : registering.count};
            const uint32_t ordinal = (uint32_t)(*at - '0');
            if (*at == '^')
                like[LIKE_PART] = (alike_t){.path = "new", .ordinal = LIKE_NEW, .before = true};
            if (mark == '?' || mark == '(')
                like[LIKE_EQUAL] = (alike_t){.path = all.entries[ordinal].path, .ordinal = ordinal};
            if (mark == '<' || mark == '(')
                like[LIKE_PART] = (alike_t){.path = all.entries[ordinal - (mark == '(')].path,
                                            .ordinal = ordinal - (mark == '(')};
            const bool new = *at == '+' || *at == '^' || (mark && strchr("?<(", mark));
            if (!new) {
                make(&one->entry, ordinal, cases[i].entries[ordinal]);
                one->name = one->entry.path;
                if (mark == 'v')
                    assert_true(
                        entry_add_version(&one->entry, &(version_t){.size = 30, .digest = "e"}, &err));
            }
            mark = 0;
        }
        const bool may = turns_check(&registering, &all, &err);
        if (may != !cases[i].refused || (!may && !strstr(err.text, cases[i].refused)))
            fail_msg("'%s', given '%s': %s", cases[i].entries, cases[i].given,
                     may ? "may be loaded" : err.text);
        for (size_t j = 0; j < registering.count; j++)
            entry_free(&wanted[j].entry);
        entries_free(&all);
    }
}
