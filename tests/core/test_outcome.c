/* outcome: replies written by hand, and what they prove of each document. */
#include "load/deliver/deliver.h"
#include "test.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MOST = 16 };

/* errors: "2:121 3:11000 4:11000k": entries of write errors by place and code; k: of another unique index
 * than that of
 * `_id`. proves: a letter for each document: Stored, Duplicate, Refused, in doubt (?). */
typedef struct {
    const char *what;
    reply_kind_t kind;
    int code;
    uint64_t inserted;
    const char *errors;
    int concern;
    const char *words;
    const char *proves;
    outcome_next_t next;
    bool passing; /* the server says so */
} case_t;

static uint32_t read_errors(const char *text, write_error_t *errors, const char *words) {
    uint32_t count = 0;
    for (char *end; *text; text = *end ? end + 1 : end) {
        write_error_t *error = &errors[count++];
        *error = (write_error_t){.index = (uint32_t)strtoul(text, &end, 10)};
        error->code = (int)strtol(end + 1, &end, 10);
        if (*end == 'k') {
            error->other_index = true;
            end++;
        }
        snprintf(error->words, sizeof error->words, "%s", words);
    }
    return count;
}

static verdict_t judge(const case_t *one, char *proves, write_error_t *list) {
    outcome_t outcomes[MOST];
    const write_error_t *errors[MOST];
    const uint32_t count = (uint32_t)strlen(one->proves);
    const char *words = one->words ? one->words : "";
    const reply_t reply = {.kind = one->kind,
                           .code = one->code,
                           .inserted = one->inserted,
                           .errors = list,
                           .error_count = one->errors ? read_errors(one->errors, list, words) : 0,
                           .concern_failed = one->concern != 0,
                           .concern_code = one->concern,
                           .words = words,
                           .passing = one->passing};
    const verdict_t verdict = outcome_judge(&reply, count, outcomes, errors);
    for (uint32_t i = 0; i < count; i++)
        proves[i] = "SDR?"[outcomes[i]];
    proves[count] = '\0';
    bool all_stored = strspn(proves, "S") == count && verdict.next == OUTCOME_SETTLED;
    if (outcome_is_clean(&reply, count) != all_stored)
        fail_msg("%s: the short look does not agree with the long one", one->what);
    return verdict;
}

static void check(const case_t *cases, size_t count) {
    for (size_t i = 0; i < count; i++) {
        char proves[MOST + 1];
        write_error_t list[MOST];
        const verdict_t verdict = judge(&cases[i], proves, list);
        if (verdict.next != cases[i].next)
            fail_msg("%s: next is %d", cases[i].what, (int)verdict.next);
        if (verdict.next != OUTCOME_STOP && strcmp(proves, cases[i].proves) != 0)
            fail_msg("%s: '%s', not '%s'", cases[i].what, proves, cases[i].proves);
        if (verdict.reached != (cases[i].kind != REPLY_UNSENT))
            fail_msg("%s: reached is %d", cases[i].what, verdict.reached);
    }
}

#define CHECK(cases) check(cases, sizeof(cases) / sizeof *(cases))

TEST(replies) {
    static const case_t cases[] = {
        {"all in", REPLY_GIVEN, .inserted = 3, .proves = "SSS", .next = OUTCOME_SETTLED},
        {"one document", REPLY_GIVEN, .inserted = 1, .proves = "S", .next = OUTCOME_SETTLED},
        {"nobody to send to", REPLY_UNSENT, .proves = "???", .next = OUTCOME_AGAIN},
        {"lost", REPLY_LOST, .proves = "???", .next = OUTCOME_AGAIN},
        {"the driver will not", REPLY_IMPOSSIBLE, .proves = "???", .next = OUTCOME_STOP},
        /* commands that fail */
        {"stepdown", REPLY_FAILED, 189, .proves = "???", .next = OUTCOME_AGAIN},
        {"no progress", REPLY_FAILED, 82, .proves = "???", .next = OUTCOME_AGAIN},
        {"a cursor's code", REPLY_FAILED, 43, .proves = "???", .next = OUTCOME_AGAIN},
        {"transaction too old", REPLY_FAILED, 225, .proves = "???", .next = OUTCOME_AGAIN},
        {"moving", REPLY_FAILED, 319, .proves = "???", .next = OUTCOME_AGAIN},
        {"332", REPLY_FAILED, 332, .proves = "???", .next = OUTCOME_AGAIN},
        {"a code nobody knows", REPLY_FAILED, 4711, .proves = "???", .next = OUTCOME_AGAIN},
        {"operation failed", REPLY_FAILED, 96, .proves = "???", .next = OUTCOME_AGAIN},
        {"no code at all", REPLY_FAILED, 0, .proves = "???", .next = OUTCOME_AGAIN},
        /* a document's code is none as the command's */
        {"validation of a command", REPLY_FAILED, 121, .proves = "???", .next = OUTCOME_AGAIN},
        {"bad value of a command", REPLY_FAILED, 2, .proves = "???", .next = OUTCOME_AGAIN},
        {"duplicate of a command", REPLY_FAILED, 11000, .proves = "???", .next = OUTCOME_AGAIN},
        {"not allowed", REPLY_FAILED, 13, .proves = "???", .next = OUTCOME_STOP},
        {"not allowed now", REPLY_FAILED, 13, .proves = "???", .next = OUTCOME_AGAIN, .passing = true},
        {"another collection", REPLY_FAILED, 361, .proves = "???", .next = OUTCOME_STOP},
        {"disk full", REPLY_FAILED, 14031, .proves = "???", .next = OUTCOME_STOP},
        {"disk full in words", REPLY_FAILED, 8, .words = "28: No space left on device", .proves = "???",
         .next = OUTCOME_STOP},
        {"not primary in words", REPLY_FAILED, 0, .words = "not primary", .proves = "???",
         .next = OUTCOME_AGAIN},
        {"writes are blocked", REPLY_FAILED, 371, .proves = "???", .next = OUTCOME_STOP},
    };
    CHECK(cases);
}

TEST(write_errors) {
    static const case_t cases[] = {
        {"one duplicate", REPLY_GIVEN, .inserted = 2, .errors = "1:11000", .proves = "SDS",
         .next = OUTCOME_SETTLED},
        {"all duplicates", REPLY_GIVEN, .errors = "0:11000 1:11000 2:11000", .proves = "DDD",
         .next = OUTCOME_SETTLED},
        {"listed backwards", REPLY_GIVEN, .inserted = 1, .errors = "2:11000 0:121", .proves = "RSD",
         .next = OUTCOME_SETTLED},
        {"another unique index", REPLY_GIVEN, .inserted = 2, .errors = "0:11000k", .proves = "RSS",
         .next = OUTCOME_SETTLED},
        {"both kinds of 11000", REPLY_GIVEN, .inserted = 1, .errors = "0:11000k 1:11000", .proves = "RDS",
         .next = OUTCOME_SETTLED},
        {"no progress for one", REPLY_GIVEN, .inserted = 2, .errors = "1:82", .proves = "S?S",
         .next = OUTCOME_AGAIN},
        {"a router's 332", REPLY_GIVEN, .inserted = 2, .errors = "1:332", .proves = "S?S",
         .next = OUTCOME_AGAIN},
        {"write conflict", REPLY_GIVEN, .inserted = 2, .errors = "1:112", .proves = "S?S",
         .next = OUTCOME_AGAIN},
        {"of all that a router has", REPLY_GIVEN, .errors = "0:1 1:1 2:1", .proves = "???",
         .next = OUTCOME_AGAIN},
        {"of half of it", REPLY_GIVEN, .inserted = 2, .errors = "1:146 3:146", .proves = "S?S?",
         .next = OUTCOME_AGAIN},
        {"stale for the rest", REPLY_GIVEN, .inserted = 1, .errors = "1:13388 2:13388", .proves = "S??",
         .next = OUTCOME_AGAIN},
        {"a code nobody knows", REPLY_GIVEN, .inserted = 2, .errors = "2:4711", .proves = "SS?",
         .next = OUTCOME_AGAIN},
        {"no code at all", REPLY_GIVEN, .inserted = 2, .errors = "2:0", .proves = "SS?",
         .next = OUTCOME_AGAIN},
        {"mixed", REPLY_GIVEN, .inserted = 1, .errors = "0:121 1:11000 2:82 3:4711", .proves = "RD??S",
         .next = OUTCOME_AGAIN},
        {"another collection", REPLY_GIVEN, .errors = "0:361 1:361", .proves = "??", .next = OUTCOME_STOP},
        {"not allowed", REPLY_GIVEN, .inserted = 1, .errors = "1:13", .proves = "S?", .next = OUTCOME_STOP},
        {"disk full, and nothing of the rest", REPLY_GIVEN, .inserted = 1, .errors = "1:14031",
         .proves = "S??", .next = OUTCOME_STOP},
        {"too many open files", REPLY_GIVEN, .inserted = 1, .errors = "1:264", .proves = "S?",
         .next = OUTCOME_STOP},
    };
    CHECK(cases);
}

/* Of several errors that no document is rejected for, a code that nobody knows is named, wherever it stands. */
TEST(named) {
    static const char *const errors[] = {"1:82 2:4711", "1:4711 2:82", "0:121 1:4711 2:4712",
                                         "2:4711 1:4712"};
    for (size_t i = 0; i < sizeof errors / sizeof *errors; i++) {
        char proves[MOST + 1];
        write_error_t list[MOST];
        const case_t one = {errors[i], REPLY_GIVEN, .inserted = i != 2, .errors = errors[i], .proves = "???"};
        const verdict_t verdict = judge(&one, proves, list);
        assert_int_equal(verdict.next, OUTCOME_AGAIN);
        assert_int_equal(verdict.error->code, i == 3 ? 4712 : 4711); /* the first document's */
    }
}

TEST(what_does_not_add_up) {
    static const case_t cases[] = {
        {"one too few", REPLY_GIVEN, .inserted = 2, .proves = "???", .next = OUTCOME_AGAIN},
        {"one too many", REPLY_GIVEN, .inserted = 4, .proves = "???", .next = OUTCOME_AGAIN},
        {"none", REPLY_GIVEN, .proves = "???", .next = OUTCOME_AGAIN},
        {"too few next to a refusal", REPLY_GIVEN, .inserted = 1, .errors = "0:121", .proves = "???",
         .next = OUTCOME_AGAIN},
        {"too many next to a refusal", REPLY_GIVEN, .inserted = 3, .errors = "0:121", .proves = "???",
         .next = OUTCOME_AGAIN},
        {"one document twice", REPLY_GIVEN, .inserted = 1, .errors = "0:121 0:121", .proves = "???",
         .next = OUTCOME_AGAIN},
        {"a document of another message", REPLY_GIVEN, .inserted = 2, .errors = "3:121", .proves = "???",
         .next = OUTCOME_AGAIN},
        {"an entry without a place", REPLY_GIVEN, .inserted = 2, .errors = "4294967295:121", .proves = "???",
         .next = OUTCOME_AGAIN},
        {"more errors than documents", REPLY_GIVEN, .inserted = 0, .errors = "0:121 1:121 2:121 3:121",
         .proves = "???", .next = OUTCOME_AGAIN},
    };
    CHECK(cases);
}

TEST(concerns) {
    static const case_t cases[] = {
        {"timeout", REPLY_GIVEN, .inserted = 3, .concern = 64, .proves = "???", .next = OUTCOME_AGAIN},
        {"shutdown", REPLY_GIVEN, .inserted = 3, .concern = 91, .proves = "???", .next = OUTCOME_AGAIN},
        {"nobody knows", REPLY_GIVEN, .inserted = 3, .concern = 12345, .proves = "???",
         .next = OUTCOME_AGAIN},
        {"next to a refusal", REPLY_GIVEN, .inserted = 2, .errors = "1:121", .concern = 64, .proves = "?R?",
         .next = OUTCOME_AGAIN},
        {"next to a duplicate", REPLY_GIVEN, .inserted = 2, .errors = "1:11000", .concern = 64,
         .proves = "?D?", .next = OUTCOME_AGAIN},
        {"next to duplicates only", REPLY_GIVEN, .errors = "0:11000 1:11000", .concern = 64, .proves = "DD",
         .next = OUTCOME_SETTLED},
        /* as a router before 8.0 says the same: still nothing is stored */
        {"hidden", REPLY_GIVEN, .errors = "0:11000 1:11000", .proves = "DD", .next = OUTCOME_SETTLED},
        {"too few members", REPLY_GIVEN, .inserted = 3, .concern = 100, .proves = "???",
         .next = OUTCOME_STOP},
        {"a mode nobody knows", REPLY_GIVEN, .inserted = 3, .concern = 79, .proves = "???",
         .next = OUTCOME_STOP},
    };
    CHECK(cases);
}

/* Each code of the closed list is a reject as a write error, and only so; no other code is. */
TEST(closed_list) {
    static const int listed[] = {121,   2,  10334, 16755, 16766, 17262, 17280,
                                 13027, 15, 52,    53,    61,    171,   5894900};
    for (int code = 0; code < 6000000; code = code < 20000 ? code + 1 : code + 100) {
        bool wanted = false;
        for (size_t i = 0; i < sizeof listed / sizeof *listed; i++)
            wanted |= listed[i] == code;
        if (code_rejects(code) != wanted)
            fail_msg("code %d", code);
    }
    for (size_t i = 0; i < sizeof listed / sizeof *listed; i++) {
        char errors[40], proves[MOST + 1];
        write_error_t list[MOST];
        snprintf(errors, sizeof errors, "1:%d", listed[i]);
        const case_t entry = {"entry", REPLY_GIVEN, .inserted = 1, .errors = errors, .proves = "SR"},
                     command = {"command", REPLY_FAILED, listed[i], .proves = "??"};
        assert_int_equal(judge(&entry, proves, list).next, OUTCOME_SETTLED);
        assert_string_equal(proves, "SR");
        assert_int_equal(judge(&command, proves, list).next, OUTCOME_AGAIN);
        assert_string_equal(proves, "??");
    }
}

TEST(unlisted) {
    static const case_t cases[] = {
        {"not listed", REPLY_GIVEN, .inserted = 2, .errors = "0:4712", .proves = "?SS",
         .next = OUTCOME_AGAIN},
        {"of a command", REPLY_FAILED, 4711, .proves = "???", .next = OUTCOME_AGAIN},
    };
    CHECK(cases);
    const write_error_t unknown = {.code = 4712}, known = {.code = 82}, duplicate = {.code = 11000};
    assert_true(outcome_is_unlisted(&unknown));
    assert_false(outcome_is_unlisted(&known));
    assert_false(outcome_is_unlisted(&duplicate));
}
