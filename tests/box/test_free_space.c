/* Free space: what is said of disks, and that a load says it. */
#include "load_lab.h"
#include "server/free_space.h"

#include <math.h>
#include <stdatomic.h>
#include <time.h>

TEST(judge) {
    static const struct {
        double left, size, to_come;
        free_space_verdict_t verdict;
    } cases[] = {
        {500, 1000, 0, FREE_SPACE_FINE},    {500, 1000, 500, FREE_SPACE_FINE},
        {500, 1000, 501, FREE_SPACE_SHORT}, {50, 1000, 0, FREE_SPACE_FINE},
        {50, 1000, 1e12, FREE_SPACE_SHORT}, {49.9, 1000, 0, FREE_SPACE_LOW},
        {49, 1000, 1e12, FREE_SPACE_LOW},   {0, 1000, 0, FREE_SPACE_LOW},
        {-5, 1000, 0, FREE_SPACE_LOW},      {6e10, 1e12, 1, FREE_SPACE_FINE},
        {4e10, 1e12, 1, FREE_SPACE_LOW},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        if (free_space_judge(cases[i].left, cases[i].size, cases[i].to_come) != cases[i].verdict)
            fail_msg("case %zu: %d", i, free_space_judge(cases[i].left, cases[i].size, cases[i].to_come));
}

TEST(needed) {
    static const struct {
        double text, size;
        bool has_oplog;
        double needed;
    } cases[] = {
        {1e9, 1e12, false, 1e9},  {5e8, 1e9, true, 1e9},      {5e9, 1e9, true, 5.99e9},
        {4e10, 1e12, true, 8e10}, {1e11, 1e12, true, 1.5e11}, {1e12, 4e12, true, 1.05e12},
        {0, 1e12, true, 0},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        if (fabs(free_space_needed(cases[i].text, cases[i].size, cases[i].has_oplog) - cases[i].needed) > 1)
            fail_msg("case %zu", i);
}

/* ---- loads ---- */

static bool has(const char *text, const char *words) {
    char first[100];
    const size_t length = strcspn(words, "|");
    snprintf(first, sizeof first, "%.*s", (int)length, words);
    return strstr(text, first) && strstr(text, words + length + (words[length] == '|'));
}

static bool says_so_far(const lab_t *lab, const char *words) {
    static char text[4096];
    const ssize_t length = pread(lab->ear.memory, text, sizeof text - 1, 0);
    text[length > 0 ? length : 0] = '\0';
    return has(text, words);
}

static const char half[] = "{\"fsUsedSize\": 100000, \"fsTotalSize\": 200000}";
static const char *awaited; /* words | more words; NULL: no warning */

/* Keeps the first batch waiting until the disks were asked for, and what is awaited was said; or nothing for a while. */
static void wait_for_words(void *context) {
    const struct timespec nap = {.tv_nsec = 10000000};
    const lab_t *lab = context;
    for (int i = 0; i < 1000 && !box_asked(lab->box, "dbStats", ""); i++)
        nanosleep(&nap, NULL);
    for (int i = 0; i < (awaited ? 1000 : 10) && !(awaited && says_so_far(lab, awaited)); i++)
        nanosleep(&nap, NULL);
}

static status_t load_with_disks(lab_t *lab, const char *stats, const char *words) {
    awaited = words;
    box_say(lab->box, "dbStats", stats);
    box_fault(lab->box, &(box_fault_t){.command = "insert",
                                       .collection = "c",
                                       .only_watches = true,
                                       .hook = wait_for_words,
                                       .context = lab});
    return lab_load(lab, "a.csv");
}

TEST(warnings) {
    static const struct {
        box_kind_t kind;
        int rows; /* of 10 bytes */
        const char *stats, *words;
    } cases[] = {
        {BOX_STANDALONE, 2000, half, NULL},
        {BOX_STANDALONE, 10000, half, " 100 kB of 200 kB free, | may need 108 kB"},
        {BOX_REPLICA_SET, 6000, half, " 100 kB of 200 kB free, | may need 128 kB"},
        {BOX_REPLICA_SET, 20, "{\"fsUsedSize\": 955000, \"fsTotalSize\": 1000000}",
         " has 45.0 kB of 1.00 MB free"},
        {BOX_STANDALONE, 10000, "{\"fsUsedSize\": 0, \"fsTotalSize\": 0}", NULL},
        {BOX_STANDALONE, 10000, "{\"fsUsedSize\": 1, \"fsTotalSize\": \"large\"}", NULL},
        /* each shard gets a part of it; one has no such database */
        {BOX_ROUTER, 10000, "{\"raw\": {\"s0/a:1\": {\"fsUsedSize\": 100000, \"fsTotalSize\": 200000}}}",
         "shard s0 has 100 kB of | may need 216 kB"},
        {BOX_ROUTER, 10000,
         "{\"raw\": {\"s0/a:1\": {\"fsUsedSize\": 100000, \"fsTotalSize\": 1000000}, "
         "\"s1/b:1\": {\"fsUsedSize\": 50000, \"fsTotalSize\": 100000}, "
         "\"s2/c:1\": {\"fsUsedSize\": 0, \"fsTotalSize\": 0}}}",
         "shard s1 has 50.0 kB of 100 kB free, | may need 108 kB"},
        {BOX_ROUTER, 10000, "{\"raw\": {\"s0/a:1\": {}, \"s1/b:1\": 7}}", NULL},
        /* one with a member that has joined since */
        {BOX_ROUTER, 10000,
         "{\"raw\": {\"s0/a:1\": {\"fsUsedSize\": 50000, \"fsTotalSize\": 100000}, \"s0/b:1\": "
         "{\"fsUsedSize\": 50000, \"fsTotalSize\": 100000}}}",
         "shard s0 has 50.0 kB of 100 kB free, | may need 216 kB"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        lab_t lab;
        lab_open(&lab, cases[i].kind);
        lab_write_rows("a.csv", 0, cases[i].rows);
        assert_status(&lab, load_with_disks(&lab, cases[i].stats, cases[i].words), STATUS_OK);
        const char *warned = strstr(lab.said, "is full");
        if (cases[i].words ? !has(lab.said, cases[i].words) : warned != NULL)
            fail_msg("case %zu: %s", i, lab.said);
        if (warned && strstr(warned + 1, "is full")) /* of one disk */
            fail_msg("case %zu: %s", i, lab.said);
        assert_int_equal(box_asked(lab.box, "dbStats", ""), 1);
        lab_close(&lab);
    }
}

/* Nothing is said of what is not known: how many records will be loaded. */
TEST(unknown) {
    for (int i = 0; i < 3; i++) {
        lab_t lab;
        lab_open(&lab, BOX_STANDALONE);
        lab_write_rows("a.csv", 0, 10000);
        lab.load.filters = (char *[]){"n>=0"};
        lab.load.filter_count = i == 0;
        lab.load.limit = i == 1 ? 9000 : lab.load.limit;
        lab.load.dry_run = i == 2;
        assert_status(&lab, load_with_disks(&lab, half, NULL), STATUS_OK);
        assert_null(strstr(lab.said, "is full"));
        assert_int_equal(box_asked(lab.box, "dbStats", ""), i < 2);
        lab_close(&lab);
    }
}

/* Nor where the user may not ask; and the load does not wait for a server that does not answer. */
TEST(refused) {
    lab_t lab;
    lab_open(&lab, BOX_REPLICA_SET);
    lab_write_rows("a.csv", 0, 6000);
    box_fault(lab.box, &(box_fault_t){.command = "dbStats",
                                      .reply = "{\"ok\": 0, \"code\": 13, \"errmsg\": \"not authorized\"}"});
    assert_status(&lab, load_with_disks(&lab, half, NULL), STATUS_OK);
    assert_string_equal(lab.said, "");
    lab_close(&lab);
}

static atomic_bool has_answered;

static void answer_late(LAB_UNUSED void *context) {
    nanosleep(&(struct timespec){.tv_sec = 1}, NULL);
    has_answered = true;
}

TEST(silent) {
    lab_t lab;
    lab_open(&lab, BOX_REPLICA_SET);
    lab_write_rows("a.csv", 0, 20);
    box_fault(lab.box, &(box_fault_t){.command = "dbStats", .only_watches = true, .hook = answer_late});
    assert_status(&lab, lab_load(&lab, "a.csv"), STATUS_OK);
    assert_false(has_answered);
    lab_close(&lab);
}

/* A server that is lost after such a figure, or where nobody knows what is to come; and one that is lost with room enough. */
TEST(lost) {
    for (int i = 0; i < 3; i++) {
        lab_t lab;
        lab_open(&lab, BOX_STANDALONE);
        lab_write_rows("a.csv", 0, 10000);
        lab.load.patience_ns = 300000000;
        lab.load.limit = i == 1 ? 9000 : lab.load.limit;
        box_fault(lab.box, &(box_fault_t){.command = "insert", .collection = "c", .after = 1, .times = 1000});
        assert_status(&lab, load_with_disks(&lab, i == 2 ? "{}" : half, i ? NULL : "is full"), STATUS_SERVER);
        if (has(lab.err.text, " before that, | had 100 kB of 200 kB free") != (i < 2))
            fail_msg("case %d: %s", i, lab.err.text);
        lab_close(&lab);
    }
}
